// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/sentence_batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/open_model.h"
#include "data/continue_text.h"
#include "data/text_tokens.h"
#include "evaluate/example_scores.h"
#include "types/error.h"

namespace relascope::core {
namespace {

PairAccuracy accuracyOf(const std::string& phenomenon, const std::vector<PairScore>& scores) {
    PairAccuracy all{phenomenon};
    std::vector<double> difference;
    for (const auto& score : scores) {
        ++all.pairs;
        all.right += score.right(), all.ties += score.tie();
        difference.push_back(score.difference());
    }
    const std::vector<double> zero(difference.size(), 0.0), one(difference.size(), 1.0);
    all.accuracy = static_cast<double>(all.right) / static_cast<double>(all.pairs);
    std::tie(all.low, all.high) = proportionInterval(all.right, all.pairs);
    const auto mean = pairedChange("difference", zero, difference, one);
    all.difference = mean.change, all.differenceLow = mean.low, all.differenceHigh = mean.high;
    if (all.pairs < 2) all.differenceLow = all.differenceHigh = std::nan("");  // one has no spread
    return all;
}

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
    m_tokens = tokenizePairs(*m_data, which, *m_tokenizer, options.tokens());
    for (const auto& pair : m_tokens.pairs)
        m_phenomenonOf.push_back(places.at(m_data->pair(pair.index).phenomenon));
    m_groups = groupedSentences(m_tokens, m_tokenizer);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        const auto size = m_groups[g].data->size();
        const auto step = sentencesABatch(m_groups[g], options.outputs());
        for (std::int64_t first = 0; first < size; first += step) m_parts.emplace_back(g, first);
    }
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

DatasetPtr textOfPairs(OpenedModel& model, const DatasetPtr& pairs) {
    AnalysisSubject subject;
    subject.model = &model, subject.data = pairs;
    const SentenceBatches batches(subject, 0);
    return goodText(batches.tokens(), model.tokenizer());
}

std::pair<ProbeSample, ProbeSample> samplesOfPair(const OpenedModel& model, const DatasetPtr& pairs,
                                                  std::int64_t number) {
    const auto tokenizer = model.tokenizer();
    requireTokenizer(tokenizer, model.options());
    const auto tokens =
        tokenizePairs(*asPairs(pairs), {number}, *tokenizer, model.options().tokens());
    const auto sample = [&](std::size_t sentence, const char* name) {
        const auto& ids = tokens.sentences[sentence].ids;
        return tokenSample(tokenizer.get(), ids,
                           name + (" sentence of pair " + std::to_string(number + 1)));
    };
    const auto& pair = tokens.pairs.front();
    return {sample(pair.good, "good"), sample(pair.bad.front(), "wrong")};
}

std::pair<PairAccuracy, std::vector<PairAccuracy>> pairAccuracies(
    const SentenceBatches& batches, const std::vector<double>& scores) {
    const auto all = pairScores(batches.tokens(), scores);
    std::vector<std::vector<PairScore>> byName(batches.phenomena().size());
    std::vector<std::string> terms(byName.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto f = batches.phenomenonOf()[k];
        byName[f].push_back(all[k]);
        terms[f] = batches.data().pair(batches.tokens().pairs[k].index).term;
    }
    std::pair<PairAccuracy, std::vector<PairAccuracy>> found{accuracyOf({}, all), {}};
    for (std::size_t f = 0; f < byName.size(); ++f) {
        if (byName[f].empty()) continue;  // all of them are left out
        found.second.push_back(accuracyOf(batches.phenomena()[f], byName[f]));
        found.second.back().term = terms[f];
    }
    return found;
}

}  // namespace relascope::core
