// SPDX-License-Identifier: GPL-3.0-or-later
// Text to token ids and back. One interface for characters, GPT-2's byte-level BPE and tokenizers
// read from files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relascope::core {

/// A vocabulary of pieces of text. Immutable and therefore thread-safe. Every function accepts any
/// bytes: invalid UTF-8, NUL and very long words are encoded, never rejected.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;
    /// The name: "gpt2", "characters", or the file that the tokenizer was read from.
    virtual std::string name() const = 0;
    /// Ids are 0..size() - 1.
    virtual std::int64_t size() const = 0;
    /// The size without tokens that were added behind the vocabulary: a model need not have ids
    /// from here on.
    virtual std::int64_t ownSize() const { return size(); }
    /// Appends the ids of `text`, for training. Special tokens are never made from text
    /// ("<|endoftext|>" is spelled out).
    virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) const = 0;
    /// The ids of a text that a person has typed: special tokens in it count as such, and the first
    /// and last tokens that the tokenizer's template puts around a text are included, unless `ends`
    /// is false.
    virtual std::vector<std::int32_t> encodeTyped(std::string_view text, bool ends = true) const {
        (void)ends;
        return encode(text);
    }
    /// The words of a text that a person has typed, without first and last tokens: the number of
    /// each token's word, from 0, and in `ids` the tokens. A word is what is cut into tokens at
    /// once; here each token is one.
    virtual std::vector<std::int32_t> wordsOf(std::string_view text,
                                              std::vector<std::int32_t>& ids) const {
        ids = encodeTyped(text, false);
        std::vector<std::int32_t> words(ids.size());
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int32_t>(i);
        return words;
    }
    /// The bytes of one token, which may be a part of a character. Empty for an id without a token.
    virtual std::string_view piece(std::int32_t id) const = 0;
    /// The bytes of the first token of a text, without the blank that the tokenizer put before it.
    virtual std::string_view firstPiece(std::int32_t id) const { return piece(id); }
    /// The bytes of a token behind another one, without the blank that the tokenizer put between.
    virtual std::string_view pieceAfter(std::int32_t id, std::int32_t /*previous*/) const {
        return piece(id);
    }
    /// The id of the token that separates documents, if there is one.
    virtual std::optional<std::int32_t> endOfText() const { return std::nullopt; }
    /// The ids that end a text that is generated.
    virtual std::vector<std::int32_t> ends() const {
        const auto end = endOfText();
        return end ? std::vector{*end} : std::vector<std::int32_t>();
    }
    /// The id of all characters without a token, if there is one: their bytes are lost.
    virtual std::optional<std::int32_t> unknownToken() const { return std::nullopt; }
    /// The id of the token that stands for a hidden word, if there is one ("[MASK]", "<mask>").
    virtual std::optional<std::int32_t> maskToken() const { return std::nullopt; }
    /// Equal for tokenizers that encode alike (SHA-256, hexadecimal): key of token caches.
    virtual const std::string& fingerprint() const = 0;
    /// The largest n such that the ids of text[0, n) and of text[n, end) together are the ids of
    /// the whole text, for every continuation; 0 if there is none. For TextEncoder.
    virtual std::size_t lastCut(std::string_view) const { return 0; }

    std::vector<std::int32_t> encode(std::string_view text) const {
        std::vector<std::int32_t> ids;
        encode(text, ids);
        return ids;
    }
    /// The bytes of all ids; ids out of range are ignored.
    std::string decode(std::span<const std::int32_t> ids) const {
        std::string text;
        std::int32_t previous = -1;
        for (const auto id : ids) {
            if (id < 0 || id >= size()) continue;
            text += previous < 0 ? firstPiece(id) : pieceAfter(id, previous);
            previous = id;
        }
        return text;
    }
};
using TokenizerPtr = std::shared_ptr<const Tokenizer>;

/// GPT-2's byte-level BPE, 50257 tokens, built into the program (formats.md section 7).
TokenizerPtr gpt2Tokenizer();

/// One id a character (Unicode code point): id 0 is the unknown character, decoded as U+FFFD, then
/// come the distinct characters of `characters` (UTF-8) in code point order. Invalid bytes are
/// unknown characters.
TokenizerPtr characterTokenizer(std::string_view characters);

/// Opens "gpt2", a tokenizer.json, a vocab.json (with merges.txt beside it), a vocab.txt of
/// WordPiece, or a folder that holds one of these. Settings of the tokenizer in other files of the
/// folder are honoured (tokenizer_folder.h). Throws OptionError for an unknown name, FileError
/// naming file, field and value.
TokenizerPtr openTokenizer(const std::string& nameOrPath);

/// The tokenizer of a checkpoint: the tokenizer files next to `path` (a folder or a file), else
/// GPT-2 if `vocabulary` is 50257 or the padded 50304 and no tokenizer of another kind is there,
/// else nullptr. Pass 0 for models other than the papers', whose vocabulary tells nothing.
TokenizerPtr tokenizerBeside(const std::string& path, std::int64_t vocabulary);

/// A sentence about the tokenizer next to `path` of a kind that is not read; empty without one.
std::string otherTokenizerBeside(const std::string& path);

/// `eos_token_id` of a generation_config.json in that folder, a number or a list; empty without
/// one.
std::vector<std::int64_t> endTokensIn(const std::string& folder);

/// Throws OptionError unless the vocabulary of the tokenizer, without tokens that were added behind
/// it, is within the model's.
void requireVocabulary(const Tokenizer& tokenizer, std::int64_t vocabulary);

/// Writes a tokenizer.json in the published form (openTokenizer and the `tokenizers` library read
/// it), atomically. Throws FileError.
void writeTokenizer(const Tokenizer& tokenizer, const std::string& path);

}  // namespace relascope::core
