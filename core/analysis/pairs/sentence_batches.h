// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences of minimal pairs, read by a model in batches of one length.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "analysis/edited_model.h"
#include "analysis/pairs/pair_preference.h"
#include "analysis/run_analysis.h"
#include "evaluate/pair_scores.h"

namespace relascope::core {

class SentenceBatches {
public:
    /// The pairs of the subject, at most `most` of each phenomenon (0: all), in the tokens of its
    /// model. Throws OptionError for data or a model of another kind, Error as tokenizePairs().
    SentenceBatches(AnalysisSubject& subject, std::int64_t most);

    const ModelOptions& options() const;
    const PairDataset& data() const { return *m_data; }
    const TokenizedPairs& tokens() const { return m_tokens; }
    /// The names of the phenomena, and that of each of tokens().pairs as its index.
    const std::vector<std::string>& phenomena() const { return m_phenomena; }
    const std::vector<std::size_t>& phenomenonOf() const { return m_phenomenonOf; }
    const Tokenizer& tokenizer() const { return *m_tokenizer; }
    /// The piece of text that is read first; empty: there is none.
    std::string beginning() const;
    /// What was left out and what is not known, as values of an answer, which pairsRemark() reads.
    std::vector<Column> leftOut() const;

    /// The edits of the subject with data to take means of: the training examples, or, of a model
    /// without any, the text of the good sentences.
    Interventions interventions() const;

    /// Sentences of one length, and which of tokens().sentences they are.
    struct Part {
        Batch batch;
        DatasetPtr data;
        std::vector<std::int64_t> indices;
        std::vector<std::size_t> sentences;
    };
    std::size_t parts() const { return m_parts.size(); }
    Part part(std::size_t number) const;
    /// The scores of the sentences of a part; `tokens` gets those of their tokens.
    void score(EditedModel& model, const Part& part, bool mean, std::vector<double>& scores,
               std::vector<std::vector<double>>* tokens = nullptr, Hooks* above = nullptr) const;

    /// The scores of all sentences. `report` gets the fraction that is done, and may throw.
    std::vector<double> scoreAll(EditedModel& model, bool mean,
                                 const std::function<void(double)>& report,
                                 std::vector<std::vector<double>>* tokens = nullptr) const;

    /// The number of the words in which each of tokens().pairs differs.
    const std::vector<std::size_t>& wordsOf() const { return m_wordsOf; }
    /// How often each token occurs in the training text of the model; empty: it is not known.
    std::vector<double> trainingCounts(const std::function<void(double)>& report) const;
    /// A model with the options of the subject's and fresh weights; the same for the same number.
    std::shared_ptr<ModelImpl> untrained(std::int64_t number) const;

private:
    void scoreHidden(EditedModel& model, const Part& part, bool mean, std::vector<double>& scores,
                     std::vector<std::vector<double>>* tokens, Hooks* above) const;

    std::int64_t m_mask = -1;  ///< hides words, for models that read in both directions
    AnalysisSubject& m_subject;
    PairDatasetPtr m_data;
    TokenizerPtr m_tokenizer;
    TokenizedPairs m_tokens;
    std::vector<std::string> m_phenomena;
    std::vector<std::size_t> m_phenomenonOf, m_wordsOf;
    std::vector<SentenceGroup> m_groups;
    std::vector<std::pair<std::size_t, std::int64_t>> m_parts;  ///< group and first sentence
};

/// The pair accuracy on all pairs, and on those of each phenomenon that has pairs.
using PairPreferences = std::pair<PairPreference, std::vector<PairPreference>>;
/// The pair accuracy by the scores of all sentences.
PairPreferences pairAccuracies(const SentenceBatches& batches, const std::vector<double>& scores);
/// Enters what `models` models with fresh weights and the frequencies of tokens in the training
/// text give on the same pairs.
void compareWithChance(PairPreferences& found, const SentenceBatches& batches, std::int64_t models,
                       bool mean, const std::function<void(double)>& report);

}  // namespace relascope::core
