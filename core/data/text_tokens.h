// SPDX-License-Identifier: GPL-3.0-or-later
// From text files to token ids in the cache.
#pragma once

#include "data/dataset.h"
#include "data/text_files.h"
#include "data/token_file.h"
#include "types/data_options.h"

namespace relascope::core {

/// Token ids as an input of the inspector, with their pieces of text if there is a tokenizer.
ProbeSample tokenSample(const Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin);
/// A text in the tokens of this tokenizer. Unchanged if it has these tokens already, if it is no
/// text, and without a tokenizer.
ProbeSample inTokensOf(const Tokenizer* tokenizer, ProbeSample sample);

// Windows of a token sequence as examples, and how the windows of one epoch are chosen.

using TokenSequencePtr = std::shared_ptr<const TokenSequence>;

/// Tokens begin .. begin + tokens of a sequence, read as windows of `context` tokens and the next
/// one.
struct TokenRange {
    std::int64_t begin = 0, tokens = 0, context = 0;

    /// Windows side by side from the first token on.
    std::int64_t fits() const { return tokens > context ? (tokens - 1) / context : 0; }
    /// Number of windows of one round of training, the same for every offset.
    std::int64_t windowsARound() const;
    /// The start of window `number` in endless training: rounds of adjacent windows, each round
    /// with another offset. Every offset is used once before one is repeated.
    std::int64_t trainStart(std::int64_t number) const;
    /// The start of window i of `count` windows that are spread evenly over the range.
    std::int64_t evenStart(std::int64_t i, std::int64_t count) const;
};

/// Windows as a data set. Throws std::out_of_range for an invalid index.
class TokenWindows : public TokenDataset {
public:
    using Start = std::function<std::int64_t(std::int64_t)>;
    /// `start` returns where in the sequence window i of info.size begins.
    TokenWindows(TokenSequencePtr sequence, TokenizerPtr tokenizer, DatasetInfo info,
                 std::string split, std::int64_t context, Start start);

    const DatasetInfo& info() const override { return m_info; }
    ProbeSample sample(std::int64_t index) const override;
    std::int64_t context() const override { return m_context; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override;
    TokenizerPtr tokenizer() const override { return m_tokenizer; }

    const TokenSequence& sequence() const { return *m_sequence; }

private:
    TokenSequencePtr m_sequence;
    TokenizerPtr m_tokenizer;
    DatasetInfo m_info;
    std::string m_split;
    std::int64_t m_context;
    Start m_start;
};

/// Reports the fraction done of several passes, ten times a second. Throws Cancelled on request of
/// the callback or the stop token.
class TextProgress {
public:
    TextProgress(const ProgressCallback& callback, std::stop_token stop)
        : m_callback(callback), m_stop(std::move(stop)) {}
    /// The next pass takes the progress from its current value to `fraction`.
    void begin(double fraction);
    void at(double fractionOfPass);
    const std::stop_token& stop() const { return m_stop; }

private:
    const ProgressCallback& m_callback;
    std::stop_token m_stop;
    double m_from = 0.0, m_to = 0.0;
    std::int64_t m_shown = 0;  // nanoseconds of the steady clock
};

struct EncodedText {
    TokenPart tokens;
    TokenizerPtr tokenizer;
    std::string note;  ///< a sentence on bytes that are not UTF-8; empty: none
};

/// Encodes the documents of the files, or returns them from the cache. `tokenizer` is null for
/// characters.
EncodedText encodeTexts(const std::vector<TextFile>& files, const TokenizerPtr& tokenizer,
                        const std::string& field, TextProgress& progress);

/// Whether the files are unlikely to change unseen: false if they were written so recently that a
/// further change could leave the same time.
bool isSettled(const std::vector<TextFile>& files);

}  // namespace relascope::core
