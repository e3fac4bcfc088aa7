// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs: sentences beside wrong ones that differ from them in one respect (Warstadt et al.
// 2020, BLiMP). Does not include torch.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace relascope::core {

struct MinimalPair {
    std::string good;              ///< the whole sentence, with the prefix
    std::vector<std::string> bad;  ///< one or several
    std::string prefix = {};       ///< the start of all of them, which is not scored; may be empty
    std::string phenomenon = {};   ///< BLiMP's UID: "distractor_agreement_relative_clause"
    std::string field = {}, term = {};  ///< BLiMP's field ("morphology") and linguistics_term
    std::string place = {};             ///< "pairs.jsonl, line 3"; empty: generated
};

/// The names of the fields of JSON lines. Empty names: a prefix is taken from "prefix", a
/// phenomenon from "UID", else "linguistics_term", else "field", else it is the name of the file.
struct PairFields {
    std::string good = "sentence_good", bad = "sentence_bad", prefix = {}, phenomenon = {};

    /// "GOOD,BAD", "GOOD,BAD,PREFIX" or "GOOD,BAD,PREFIX,PHENOMENON"; an empty name, and an empty
    /// text, keep the usual one. Throws OptionError(`option`, ...).
    static PairFields of(std::string_view names, const std::string& option);
};

/// Minimal pairs as data. An example is a pair; as an input it is its good sentence.
class PairDataset : public Dataset {
public:
    virtual const MinimalPair& pair(std::int64_t index) const = 0;
};
using PairDatasetPtr = std::shared_ptr<const PairDataset>;

/// Pairs in memory.
class ListedPairs : public PairDataset {
public:
    /// `info`: its name, origin, task and note; the rest follows from the pairs.
    ListedPairs(DatasetInfo info, std::vector<MinimalPair> pairs);
    const DatasetInfo& info() const override { return m_info; }
    /// Throws std::out_of_range for an invalid index.
    const MinimalPair& pair(std::int64_t index) const override {
        return m_pairs.at(static_cast<std::size_t>(index));
    }
    ProbeSample sample(std::int64_t index) const override;

private:
    DatasetInfo m_info;
    std::vector<MinimalPair> m_pairs;
};

/// Reads JSON lines, or all of a folder, also packed (.gz): a sentence and a wrong one or a list of
/// these. Sentences that do not
/// all begin with their prefix are what follows it: they are joined without a blank, and
/// info().note says where letters meet. Throws FileError with
/// file, line and field; OptionError; Cancelled.
PairDatasetPtr readMinimalPairs(const std::string& path, const PairFields& fields = {},
                                const ProgressCallback& progress = {}, std::stop_token stop = {});

/// The data cast to minimal pairs. Throws OptionError when they are something else.
PairDatasetPtr asPairs(const DatasetPtr& data);

/// One object of JSON lines in the form of BLiMP, without a newline.
std::string pairLine(const MinimalPair& pair, std::int64_t number);

/// The words in which the sentences of a pair differ, in one order: what decides such a pair. Pairs
/// with the same words are no independent draws. Words that only stand elsewhere ("the author read
/// the book", "the book read the author") are all of those that changed their places.
std::string differingWords(const MinimalPair& pair);

/// The phenomena of pairs in the order in which they occur, and the indices of at most `most` pairs
/// of each (0: all), the first ones.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> byPhenomenon(const PairDataset& data,
                                                                            std::int64_t most = 0);

}  // namespace relascope::core
