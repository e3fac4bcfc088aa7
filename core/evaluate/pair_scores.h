// SPDX-License-Identifier: GPL-3.0-or-later
// The score of a sentence under a language model: the sum of the log-probabilities of its tokens;
// and what minimal pairs of sentences tell by it.
//
// A sentence is read behind the beginning token of its tokenizer: the one that the template puts in
// front, else the token that separates documents. Where the tokenizer has neither, the first token
// is only read. Of a pair with a prefix only what follows the prefix is scored.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "data/batches.h"
#include "data/minimal_pairs.h"
#include "types/edit_results.h"

namespace relascope::core {

/// The tokens of a sentence as they are read, with the beginning token.
struct SentenceTokens {
    std::vector<std::int64_t> ids;
    std::int64_t from = 1;  ///< the first that is scored
    /// For models that read in both directions (pseudo_likelihood.h): the number of each token's
    /// word, -1 for first and last tokens. Otherwise empty.
    std::vector<std::int64_t> words = {};
    bool operator<(const SentenceTokens& other) const {
        return std::tie(ids, from, words) < std::tie(other.ids, other.from, other.words);
    }
};

/// Minimal pairs in the tokens of a model; equal sentences are one.
struct TokenizedPairs {
    struct Pair {
        std::int64_t index = 0;             ///< in the data
        std::size_t good = 0;               ///< index into `sentences`
        std::vector<std::size_t> bad = {};  ///< indices into `sentences`
    };
    std::vector<SentenceTokens> sentences;
    std::vector<Pair> pairs;
    std::int64_t tooLong = 0;       ///< pairs left out, longer than the context of the model
    std::string firstTooLong = {};  ///< "pairs.jsonl, line 3, has 10001 tokens"
    std::int64_t unknown = 0;       ///< characters that the tokenizer does not know
    std::int64_t alike = 0;         ///< pairs of which a wrong sentence is the good one in tokens
    std::string firstAlike = {};    ///< its place
    std::int64_t beginning = -1;    ///< the token in front; -1: none
};
/// `which`: indices of pairs. `bothWays`: for models that read in both directions, with first and
/// last tokens and words. Throws Error where every pair is too long, or one has no token to score.
TokenizedPairs tokenizePairs(const PairDataset& data, const std::vector<std::int64_t>& which,
                             const Tokenizer& tokenizer, std::int64_t context,
                             bool bothWays = false);
/// The token that a sentence is read behind; -1: there is none.
std::int64_t beginningToken(const Tokenizer& tokenizer);

/// Sentences of one length as examples, so that a batch needs no padding.
struct SentenceGroup {
    std::shared_ptr<const TokenDataset> data;
    std::vector<std::size_t> sentences;  ///< indices into TokenizedPairs::sentences, by example
};
/// The groups of all sentences, the shortest ones first.
std::vector<SentenceGroup> groupedSentences(const TokenizedPairs& pairs, TokenizerPtr tokenizer);
/// The good sentences one after another, as windows of the longest one's length.
DatasetPtr goodText(const TokenizedPairs& pairs, TokenizerPtr tokenizer);
/// How many sentences of a group make a batch, whose scores are at most 64 MiB.
std::int64_t sentencesABatch(const SentenceGroup& group, std::int64_t outputs);

/// The log-probability (nats) of every token but the first, by the scores [b, n, outputs] of a
/// batch of a group.
torch::Tensor tokenScores(const torch::Tensor& scores, const Batch& batch);

/// A sentence's sum, or mean per scored token, of the log-probabilities of tokens 1, 2, ..., or,
/// with words, of all tokens.
double sentenceScore(const SentenceTokens& sentence, const std::vector<double>& tokens, bool mean);

/// A good sentence beside the most likely of the wrong ones.
struct PairScore {
    double good = 0.0, bad = 0.0;
    std::size_t worst = 0;  ///< index of the wrong one in Pair::bad
    double difference() const { return good - bad; }
    bool right() const { return good > bad; }
    bool tie() const { return good == bad; }
};
/// `scores`: the scores of all sentences.
std::vector<PairScore> pairScores(const TokenizedPairs& pairs, const std::vector<double>& scores);

/// The exact 95 % interval of a proportion (Clopper and Pearson 1934). Neither has to be whole.
std::pair<double, double> proportionInterval(double right, double all);

/// The 95 % interval of the accuracy on pairs, of which pair i is `right[i]` (0 or 1) and differs
/// in the words number `words[i]`: exact for as many draws as the pairs are worth, since those with
/// the same words are no independent ones (Korn and Graubard 1998: p (1 - p) over the variance
/// between the words, times the squared ratio of Student's t), and never narrower than the exact
/// one of all pairs. Where all or no pairs are right, they are worth as many draws as there are
/// words.
std::pair<double, double> accuracyByWords(std::span<const double> right,
                                          std::span<const std::size_t> words);

/// pairedChange() of pairs, each of weight 1, whose interval is never narrower than that of
/// Student's t between the words in which they differ.
PairedChange changeByWords(const std::string& metric, std::span<const double> base,
                           std::span<const double> edited, std::span<const std::size_t> words);

/// The scores of sentences by the frequencies of their tokens alone: sums, or means per scored
/// token, of ln((count + 1) / (all + vocabulary)).
std::vector<double> frequencyScores(const TokenizedPairs& pairs, std::span<const double> counts,
                                    bool mean);

}  // namespace relascope::core
