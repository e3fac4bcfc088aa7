// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-level byte-pair encoding of GPT-2 (Radford et al. 2019, section 2.2), and what else a
// tokenizer.json describes: texts that are divided into words, of which each is cut into pieces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "text/piece_model.h"
#include "text/text_normalizer.h"
#include "text/text_splitter.h"
#include "text/tokenizer.h"

namespace relascope::core {

// The merges of a byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare Words
// with Subword Units", 2016): which two neighbours become one symbol, and which first.

class BytePairs {
public:
    struct Merge {
        std::int32_t left, right, result;
    };
    /// Reserves space for the given number of merges, which is also the maximum.
    explicit BytePairs(std::size_t merges);

    /// Adds the next merge, with the lowest priority so far; false if the pair already has a merge.
    bool add(Merge merge) { return add(merge, static_cast<std::int32_t>(m_merges.size())); }
    /// Adds a merge of that rank, which several may have: the leftmost of these is merged first.
    bool add(Merge merge, std::int32_t rank);
    const std::vector<Merge>& merges() const { return m_merges; }

    /// Merges the pair of lowest rank, the leftmost of equals, until no pair can be merged.
    /// Quadratic for words, n log n for runs.
    void apply(std::vector<std::int32_t>& symbols) const;

private:
    static constexpr std::int32_t kNone = 0x7fffffff;
    struct Slot {
        std::uint64_t pair;
        std::int32_t rank, result;
    };
    const Slot& slot(std::int32_t left, std::int32_t right) const;
    void applyToWord(std::vector<std::int32_t>& symbols) const;
    void applyToRun(std::vector<std::int32_t>& symbols) const;

    std::vector<Merge> m_merges;
    std::vector<Slot> m_slots;  // open addressing, at most half full
    int m_shift;
};

/// The first symbols of a vocabulary that begins with characters, not with bytes (Llama 2).
struct CharacterSymbols {
    std::unordered_map<char32_t, std::int32_t> ids;
    std::optional<std::int32_t> unknown;  ///< id of others, unless their bytes stand for them
    bool fused = false;                   ///< several unknown in a row become one
    bool bytes = false;  ///< BytePairTokenizer::Parts::byteIds stand for others, if all are there
    std::unordered_map<char32_t, std::int32_t> atEnd = {};  ///< with Parts::endOfWord
};

class BytePairTokenizer : public Tokenizer {
public:
    struct Parts {
        std::string name;
        std::vector<std::string> pieces;          ///< by id, as bytes; empty for an id without one
        std::array<std::int32_t, 256> byteIds{};  ///< the id of every single byte; -1 for none
        std::optional<CharacterSymbols> characters = {};
        BytePairs pairs{0};
        std::shared_ptr<const PieceModel> model = {};  ///< in place of symbols and `pairs`
        /// Behind the last letter of each word before it is merged (end_of_word_suffix); its pieces
        /// end in a blank here.
        std::string endOfWord = {};
        std::array<std::int32_t, 256> byteIdsAtEnd{};
        std::vector<bool> endsWord = {};    ///< by id, with endOfWord
        std::vector<std::int32_t> special;  ///< ids that are never made from text, ascending
        std::optional<std::int32_t> endOfText;
        std::vector<std::int32_t> ends = {};  ///< end a generated text; none: endOfText
        bool ranked = false;  ///< `pairs` are all that tokens can be cut into, ranked by their ids
        bool splitsWords = true;     ///< words are encoded one by one; otherwise the text is one
        bool prefixSpace = false;    ///< a space is put before a text that begins with none
        TextSplitter splitter = {};  ///< in place of GPT-2's words
        AddedTokens added = {};      ///< found in texts, beside `special`
        TextNormalizer normalizer = {};
        bool wholeWords = false;  ///< a word that is a piece is not merged (ignore_merges)
        /// Ids of added tokens that are not in the vocabulary, ascending.
        std::vector<std::int32_t> beside = {};
        std::vector<std::int32_t> first = {}, last = {};  ///< template around a typed text
        /// The texts of tokens at the beginning of a text, where they differ from `pieces`.
        std::unordered_map<std::int32_t, std::string> firstPieces = {};
        /// A decoded text loses one blank behind each of these texts: line ends.
        std::vector<std::string> blankTakenAfter = {};
        std::string source = {};  ///< the tokenizer.json, where it holds more than this
    };
    explicit BytePairTokenizer(Parts parts);
    ~BytePairTokenizer() override;

    std::string name() const override { return m_parts.name; }
    std::int64_t size() const override { return static_cast<std::int64_t>(m_parts.pieces.size()); }
    std::int64_t ownSize() const override { return m_ownSize; }
    using Tokenizer::encode;
    void encode(std::string_view text, std::vector<std::int32_t>& ids) const override;
    std::vector<std::int32_t> encodeTyped(std::string_view text, bool ends) const override;
    std::vector<std::int32_t> wordsOf(std::string_view text,
                                      std::vector<std::int32_t>& ids) const override;
    std::string_view piece(std::int32_t id) const override {
        return m_parts.pieces.at(static_cast<std::size_t>(id));
    }
    std::string_view firstPiece(std::int32_t id) const override;
    std::string_view pieceAfter(std::int32_t id, std::int32_t previous) const override;
    std::optional<std::int32_t> endOfText() const override { return m_parts.endOfText; }
    std::vector<std::int32_t> ends() const override {
        return m_parts.ends.empty() ? Tokenizer::ends() : m_parts.ends;
    }
    std::optional<std::int32_t> unknownToken() const override;
    std::optional<std::int32_t> maskToken() const override { return m_mask; }
    const std::string& fingerprint() const override { return m_fingerprint; }
    std::size_t lastCut(std::string_view text) const override;

    const Parts& parts() const { return m_parts; }

private:
    class WordCache;
    struct Encoded {
        std::vector<std::int32_t>& ids;
        std::vector<std::int32_t>* words = nullptr;  ///< the word of each id, from 0
        std::int32_t word = 0;
        void endWord() {
            if (words) words->resize(ids.size(), word++);
        }
    };
    bool endsWord(std::int32_t id) const;
    void encodeWord(std::string_view word, std::vector<std::int32_t>& symbols) const;
    void spell(std::string_view word, std::vector<std::int32_t>& symbols) const;
    void encodePlain(std::string_view text, bool begins, Encoded& to) const;
    void encodeWhole(std::string_view text, bool special, Encoded& to) const;

    Parts m_parts;
    std::int64_t m_ownSize = 0;
    std::unordered_map<std::string_view, std::int32_t> m_whole;  ///< for Parts::wholeWords
    std::optional<std::int32_t> m_mask;
    std::vector<std::string> m_padded;  ///< with Parts::endOfWord: a blank, then the piece
    std::string m_fingerprint;
    mutable std::mutex m_cacheMutex;  // a thread that finds it locked uses its own cache
    mutable std::unique_ptr<WordCache> m_cache;
};

}  // namespace relascope::core
