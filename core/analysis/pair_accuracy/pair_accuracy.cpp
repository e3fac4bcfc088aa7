// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pair_accuracy/pair_accuracy.h"

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "analysis/open_model.h"
#include "analysis/pairs/sentence_batches.h"
#include "checkpoint/kept_weights.h"

namespace relascope::core {
namespace {

void listTokens(const SentenceBatches& batches, std::size_t sentence, int pair, bool good,
                const std::vector<double>& scores, std::vector<PairResults::Token>& to) {
    const auto& tokens = batches.tokens().sentences[sentence];
    const std::int64_t first = batches.tokens().beginning >= 0 ? 1 : 0;
    for (auto k = first; k < std::ssize(tokens.ids); ++k) {
        const auto at = static_cast<std::size_t>(k);
        to.push_back(
            {pair, good,
             std::string(batches.tokenizer().piece(static_cast<std::int32_t>(tokens.ids[at]))),
             k < tokens.from || (!tokens.words.empty() && tokens.words[at] < 0)
                 ? std::nan("")
                 : scores[tokens.words.empty() ? at - 1 : at]});
    }
}

std::vector<PairResults::Step> stepsOf(const AnalysisSubject& subject,
                                       const SentenceBatches& batches, bool mean,
                                       const std::function<void(double)>& report) {
    if (subject.run.empty())
        throw OptionError("along", "needs a run, which keeps weights along training");
    std::vector<PairResults::Step> steps;
    const auto kept = KeptWeights(subject.run).localSteps();
    for (std::size_t k = 0; k < kept.size(); ++k) {
        OpenedModel opened(subject.run, std::to_string(kept[k].step), subject.device);
        if (subject.leaveOutTrainingEdits) opened.leaveOutTrainingEdits();
        const auto model = opened.edited(batches.interventions());
        const auto scores = batches.scoreAll(*model, mean, [&](double done) {
            report((static_cast<double>(k) + done) / static_cast<double>(kept.size()));
        });
        const auto [all, phenomena] = pairAccuracies(batches, scores);
        steps.push_back({kept[k].step, all});
        for (const auto& one : phenomena) steps.push_back({kept[k].step, one});
    }
    return steps;
}

PairResults runPairs(AnalysisSubject& subject, const PairOptions& options,
                     const Watch<PairResults>& watch) {
    const SentenceBatches batches(subject, options.examples);
    const auto& tokens = batches.tokens();
    const auto model = subject.model->edited(batches.interventions());
    const bool mean = options.score == "mean";
    // Of the progress: the model itself, untrained ones, the kept steps.
    const double passes = 1.0 + static_cast<double>(options.untrained),
                 own = (options.along ? 0.1 : 1.0) / passes;
    double before = 0.0, share = own;
    const auto report = [&](double done) {
        if (watch.stop.stop_requested() ||
            (watch.progress && !watch.progress(before + share * done)))
            throw Cancelled();
    };
    std::vector<std::vector<double>> each(tokens.sentences.size());
    const auto scores = batches.scoreAll(*model, mean, report, &each);
    PairResults results;
    results.score = options.score, results.beginning = batches.beginning();
    results.leftOut = tokens.tooLong, results.firstLeftOut = tokens.firstTooLong;
    results.unknown = tokens.unknown;
    results.alike = tokens.alike, results.firstAlike = tokens.firstAlike;
    const auto all = pairScores(tokens, scores);
    auto accuracies = pairAccuracies(batches, scores);
    before = own, share = (passes - 1.0) * own;
    compareWithChance(accuracies, batches, options.untrained, mean, report);
    std::tie(results.all, results.phenomena) = std::move(accuracies);
    std::map<std::string, int> rows;
    for (const auto& one : results.phenomena)
        rows.emplace(one.phenomenon, static_cast<int>(rows.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto& pair = tokens.pairs[k];
        const auto& text = batches.data().pair(pair.index);
        const auto& score = all[k];
        const int row = rows.at(text.phenomenon);
        results.pairs.push_back({pair.index, row, text.good, text.bad[score.worst], score.good,
                                 score.bad, score.difference(), score.right(), score.tie()});
        if (static_cast<std::int64_t>(k) >= options.tokens) continue;
        const auto number = static_cast<int>(k);
        const auto bad = pair.bad[score.worst];
        listTokens(batches, pair.good, number, true, each[pair.good], results.tokens);
        listTokens(batches, bad, number, false, each[bad], results.tokens);
    }
    before = passes * own, share = 1.0 - before;
    if (options.along) results.steps = stepsOf(subject, batches, mean, report);
    return results;
}

}  // namespace

const RegisterRunner kPairsRunner("pair-accuracy",
                                  [] { return makeRunner(pairFields(), runPairs, answerOf); });

}  // namespace relascope::core
