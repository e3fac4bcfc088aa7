// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/sentence_batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/open_model.h"
#include "analysis/pairs/pair_reading.h"
#include "answers/column_table.h"
#include "data/continue_text.h"
#include "data/text_tokens.h"
#include "evaluate/pseudo_likelihood.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::uint64_t kFreshSpeaker = 2000003;
constexpr std::int64_t kMostCountedTokens = std::int64_t{1} << 22;

/// The pairs of one phenomenon, or all.
class Scored {
public:
    Scored(std::string phenomenon, const SentenceBatches& batches)
        : m_batches(batches), m_all{std::move(phenomenon)} {}

    void add(std::size_t number, const PairScore& score) {
        const auto& pair = m_batches.tokens().pairs[number];
        ++m_all.pairs;
        m_all.right += score.right(), m_all.ties += score.tie();
        m_right.push_back(score.right() ? 1.0 : 0.0);
        m_difference.push_back(score.difference());
        const auto words = m_batches.wordsOf()[number];
        m_words.push_back(m_numbers.try_emplace(words, m_numbers.size()).first->second);
        const auto length = [&](std::size_t sentence) {
            return m_batches.tokens().sentences[sentence].ids.size();
        };
        const auto own = length(pair.good);
        const auto is = [&](auto holds) {
            return std::any_of(pair.bad.begin(), pair.bad.end(),
                               [&](std::size_t bad) { return holds(length(bad)); });
        };
        const bool unequal = is([&](std::size_t n) { return n != own; });
        m_all.unequal += unequal;
        m_all.shorter += unequal && !is([&](std::size_t n) { return n < own; });
        m_all.term = m_batches.data().pair(pair.index).term;
    }

    PairPreference accuracy() const {
        auto all = m_all;
        if (all.phenomenon.empty()) all.term.clear();
        all.words = std::ssize(m_numbers);
        all.accuracy = static_cast<double>(all.right) / static_cast<double>(all.pairs);
        std::tie(all.low, all.high) = accuracyByWords(m_right, m_words);
        const std::vector<double> zero(m_difference.size(), 0.0);
        const auto mean = changeByWords("difference", zero, m_difference, m_words);
        all.difference = mean.change, all.differenceLow = mean.low, all.differenceHigh = mean.high;
        if (all.pairs < 2)  // one has no spread
            all.differenceLow = all.differenceHigh = std::nan("");
        return all;
    }

private:
    const SentenceBatches& m_batches;
    PairPreference m_all;
    std::vector<double> m_right, m_difference;
    std::vector<std::size_t> m_words;
    std::map<std::size_t, std::size_t> m_numbers;  // of the words among those here
};

}  // namespace

SentenceBatches::SentenceBatches(AnalysisSubject& subject, std::int64_t most)
    : m_subject(subject), m_data(asPairs(subject.data)) {
    const auto& options = subject.model->options();
    m_tokenizer = subject.model->tokenizer();
    requireTokenizer(m_tokenizer, options);
    requireVocabulary(*m_tokenizer, options.outputs());
    std::vector<std::int64_t> which;
    std::map<std::string, std::size_t> places;
    for (auto& [name, indices] : byPhenomenon(*m_data, most)) {
        places.emplace(name, m_phenomena.size());
        m_phenomena.push_back(name);
        which.insert(which.end(), indices.begin(), indices.end());
    }
    std::sort(which.begin(), which.end());
    const bool both = readsBothWays(options);
    if (both) m_mask = maskToken(*subject.model);
    m_tokens = tokenizePairs(*m_data, which, *m_tokenizer, options.tokens(), both);
    std::map<std::string, std::size_t> words;
    for (const auto& tokens : m_tokens.pairs) {
        const auto& pair = m_data->pair(tokens.index);
        m_phenomenonOf.push_back(places.at(pair.phenomenon));
        m_wordsOf.push_back(words.try_emplace(differingWords(pair), words.size()).first->second);
    }
    m_groups = groupedSentences(m_tokens, m_tokenizer);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const auto size = m_groups[g].data->size();
        const auto step = sentencesABatch(m_groups[g], options.outputs());
        for (std::int64_t first = 0; first < size; first += step) m_parts.emplace_back(g, first);
    }
}

const ModelOptions& SentenceBatches::options() const {
    return m_subject.model->options();
}

std::vector<Column> SentenceBatches::leftOut() const {
    using columns::fact;
    return {fact("left_out", m_tokens.tooLong), fact("first_left_out", m_tokens.firstTooLong),
            fact("unknown_characters", m_tokens.unknown), fact("alike", m_tokens.alike),
            fact("first_alike", m_tokens.firstAlike)};
}

std::string SentenceBatches::beginning() const {
    return m_tokens.beginning < 0
               ? std::string()
               : std::string(m_tokenizer->piece(static_cast<std::int32_t>(m_tokens.beginning)));
}

Interventions SentenceBatches::interventions() const {
    auto all = m_subject.interventions;
    all.data = withOwnExamples(all.data, goodText(m_tokens, m_tokenizer));
    return all;
}

SentenceBatches::Part SentenceBatches::part(std::size_t number) const {
    const auto& [g, first] = m_parts[number];
    const auto& group = m_groups[g];
    const auto end = std::min(group.data->size(),
                              first + sentencesABatch(group, m_subject.model->options().outputs()));
    Part part{{}, group.data, {}, {}};
    for (auto i = first; i < end; ++i) {
        part.indices.push_back(i);
        part.sentences.push_back(group.sentences[static_cast<std::size_t>(i)]);
    }
    part.batch =
        makeBatch(*part.data, part.indices.data(), static_cast<std::int64_t>(part.indices.size()));
    return part;
}

void SentenceBatches::score(EditedModel& model, const Part& part, bool mean,
                            std::vector<double>& scores, std::vector<std::vector<double>>* tokens,
                            Hooks* above) const {
    if (m_mask >= 0) return scoreHidden(model, part, mean, scores, tokens, above);
    const auto each = tokenScores(model.answers(part.batch, part.data, part.indices, above),
                                  part.batch);  // [b, n]
    const auto n = static_cast<std::size_t>(each.size(1));
    const auto* value = each.const_data_ptr<double>();
    for (const auto sentence : part.sentences) {
        std::vector<double> own(value, value + n);
        value += n;
        scores[sentence] = sentenceScore(m_tokens.sentences[sentence], own, mean);
        if (tokens) (*tokens)[sentence] = std::move(own);
    }
}

void SentenceBatches::scoreHidden(EditedModel& model, const Part& part, bool mean,
                                  std::vector<double>& scores,
                                  std::vector<std::vector<double>>* tokens, Hooks* above) const {
    for (std::size_t k = 0; k < part.sentences.size(); ++k) {
        const auto& sentence = m_tokens.sentences[part.sentences[k]];
        auto own = hiddenWordScores(
            sentence.ids, hiddenRows(sentence.ids, sentence.words, m_mask, sentence.from),
            sentencesABatch({std::dynamic_pointer_cast<const TokenDataset>(part.data), {}},
                            options().outputs()),
            [&](const torch::Tensor& rows) {
                Batch batch;
                batch.kind = TargetKind::Tokens;
                batch.inputs = batch.targets = rows;
                // Edits that take values from other examples take those of the sentence's.
                const std::vector<std::int64_t> indices(static_cast<std::size_t>(rows.size(0)),
                                                        part.indices[k]);
                return model.answers(batch, part.data, indices, above);
            });
        scores[part.sentences[k]] = sentenceScore(sentence, own, mean);
        if (tokens) (*tokens)[part.sentences[k]] = std::move(own);
    }
}

std::vector<double> SentenceBatches::scoreAll(EditedModel& model, bool mean,
                                              const std::function<void(double)>& report,
                                              std::vector<std::vector<double>>* tokens) const {
    std::vector<double> scores(m_tokens.sentences.size());
    for (std::size_t p = 0; p < parts(); ++p) {
        score(model, part(p), mean, scores, tokens);
        report(static_cast<double>(p + 1) / static_cast<double>(parts()));
    }
    return scores;
}

std::vector<double> SentenceBatches::trainingCounts(
    const std::function<void(double)>& report) const {
    const auto& split = m_subject.interventions.data.split;
    if (!m_subject.model->isRun() || !split) return {};
    DatasetPtr training;
    try {
        training = split("train");
    } catch (const FileError&) {
        return {};  // the text has gone since
    }
    const auto text = std::dynamic_pointer_cast<const TokenDataset>(training);
    if (!text || text->size() == 0) return {};
    std::vector<double> counts(static_cast<std::size_t>(m_subject.model->options().outputs()));
    const auto each = text->context();
    const auto windows = std::clamp<std::int64_t>(kMostCountedTokens / each, 1, text->size());
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(each) + 1);
    for (std::int64_t w = 0; w < windows; ++w) {
        if (w % 256 == 0) report(static_cast<double>(w) / static_cast<double>(windows));
        text->read(w * text->size() / windows, tokens);  // spread over the text
        for (std::size_t k = 1; k < tokens.size(); ++k)
            if (tokens[k] >= 0 && tokens[k] < std::ssize(counts))
                ++counts[static_cast<std::size_t>(tokens[k])];
    }
    return counts;
}

std::shared_ptr<ModelImpl> SentenceBatches::untrained(std::int64_t number) const {
    return untrainedTwin(*m_subject.model, kFreshSpeaker + static_cast<std::uint64_t>(number),
                         m_subject.device);
}

PairPreferences pairAccuracies(const SentenceBatches& batches, const std::vector<double>& scores) {
    const auto all = pairScores(batches.tokens(), scores);
    Scored whole({}, batches);
    std::map<std::size_t, Scored> byName;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto f = batches.phenomenonOf()[k];
        whole.add(k, all[k]);
        byName.try_emplace(f, batches.phenomena()[f], batches).first->second.add(k, all[k]);
    }
    PairPreferences found{whole.accuracy(), {}};
    for (const auto& [f, one] : byName) found.second.push_back(one.accuracy());
    return found;
}

void compareWithChance(PairPreferences& found, const SentenceBatches& batches, std::int64_t models,
                       bool mean, const std::function<void(double)>& report) {
    const auto enter = [&](const std::vector<double>& scores, auto to) {
        const auto [all, phenomena] = pairAccuracies(batches, scores);
        to(found.first, all.accuracy);
        for (std::size_t f = 0; f < phenomena.size(); ++f)
            to(found.second[f], phenomena[f].accuracy);
    };
    const auto passes = static_cast<double>(models + 1);
    const auto counts = batches.trainingCounts([&](double done) { report(done / passes); });
    if (!counts.empty())
        enter(frequencyScores(batches.tokens(), counts, mean),
              [](PairPreference& one, double accuracy) { one.frequencies = accuracy; });
    for (std::int64_t m = 0; m < models; ++m) {
        const auto fresh = batches.untrained(m);
        EditedModel model(*fresh, batches.options());
        enter(batches.scoreAll(
                  model, mean,
                  [&](double done) { report((static_cast<double>(m + 1) + done) / passes); }),
              [](PairPreference& one, double accuracy) { one.untrained.push_back(accuracy); });
    }
}

}  // namespace relascope::core
