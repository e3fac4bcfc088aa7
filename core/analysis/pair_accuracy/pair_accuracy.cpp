// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pair_accuracy/pair_accuracy.h"

#include <cmath>
#include <functional>

#include "analysis/open_model.h"
#include "analysis/pairs/sentence_batches.h"
#include "analysis/steps_here.h"
#include "answers/column_table.h"

namespace relascope::core {
namespace {

void listTokens(const SentenceBatches& batches, std::size_t sentence, int pair, bool good,
                const std::vector<double>& scores, Table& to) {
    const auto& tokens = batches.tokens().sentences[sentence];
    const std::int64_t first = batches.tokens().beginning >= 0 ? 1 : 0;
    for (auto k = first; k < std::ssize(tokens.ids); ++k) {
        const auto at = static_cast<std::size_t>(k);
        // Those that are only read have no score; the others add up to those of sentences.
        addRow(to, pair, good, batches.tokenizer().piece(static_cast<std::int32_t>(tokens.ids[at])),
               k < tokens.from || (!tokens.words.empty() && tokens.words[at] < 0)
                   ? std::nan("")
                   : scores[tokens.words.empty() ? at - 1 : at]);
    }
}

/// The pair accuracy at the kept steps of a run, of all pairs and of each phenomenon.
Table stepsOf(const AnalysisSubject& subject, const SentenceBatches& batches, bool mean,
              const std::function<void(double)>& report) {
    const auto keeper = keeperOf(subject);
    if (keeper.empty())
        throw OptionError("along", "needs a run, which keeps weights along training");
    using namespace columns;
    const NumberFormat percent{1, true};
    auto steps = tableWith("along", "Along training", integer("step", {"Step"}),
                           text("phenomenon", {"Phenomenon"}),
                           number("pair_accuracy", {"Pair accuracy", percent, {}, "low", "high"}),
                           number("low", {{}, percent}), number("high", {{}, percent}),
                           number("difference", {"Difference", {2, false, true}}));
    const auto kept = stepsHere(keeper);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        OpenedModel opened(keeper, std::to_string(kept[k].step), subject.device);
        if (subject.leaveOutTrainingEdits) opened.leaveOutTrainingEdits();
        const auto model = opened.edited(batches.interventions());
        const auto scores = batches.scoreAll(*model, mean, [&](double done) {
            report((static_cast<double>(k) + done) / static_cast<double>(kept.size()));
        });
        auto [all, phenomena] = pairAccuracies(batches, scores);
        phenomena.insert(phenomena.begin(), all);
        for (const auto& one : phenomena)
            addRow(steps, kept[k].step, one.phenomenon, one.accuracy, one.low, one.high,
                   one.difference);
    }
    return steps;
}

Answer runPairs(AnalysisSubject& subject, const PairOptions& options, const Watch<Answer>& watch) {
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
    auto accuracies = pairAccuracies(batches, scores);
    before = own, share = (passes - 1.0) * own;
    compareWithChance(accuracies, batches, options.untrained, mean, report);
    const auto& [whole, phenomena] = accuracies;
    auto facts = accuracyTable({whole}, false);
    facts.columns.push_back(columns::fact("score", options.score));
    facts.columns.push_back(
        columns::fact("read_before", batches.beginning(),
                      {"Read before each sentence", {}, "Beginning token, which is not scored"}));
    for (auto& column : batches.leftOut()) facts.columns.push_back(std::move(column));
    auto says = textsTable("says", "text", pairSentences(phenomena));
    says.columns.front().title = "What it shows";
    auto [pairs, listed] = pairTables();
    const auto all = pairScores(tokens, scores);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto& pair = tokens.pairs[k];
        const auto& text = batches.data().pair(pair.index);
        const auto& score = all[k];
        addRow(pairs, pair.index + 1, text.phenomenon, text.good, text.bad[score.worst], score.good,
               score.bad, score.difference(), score.right(), score.tie());
        if (static_cast<std::int64_t>(k) >= options.tokens) continue;
        const auto number = static_cast<int>(k);
        const auto bad = pair.bad[score.worst];
        listTokens(batches, pair.good, number, true, each[pair.good], listed);
        listTokens(batches, bad, number, false, each[bad], listed);
    }
    before = passes * own, share = 1.0 - before;
    Answer answer{{facts, accuracyTable(phenomena, true), says, pairs, listed}};
    if (options.along) answer.tables.push_back(stepsOf(subject, batches, mean, report));
    return answer;
}

}  // namespace

const RegisterRunner kPairsRunner("pair-accuracy",
                                  [] { return makeRunner(pairFields(), runPairs); });

}  // namespace relascope::core
