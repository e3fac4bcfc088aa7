// SPDX-License-Identifier: GPL-3.0-or-later
// The options of pair accuracy, and its tables.
#include "analysis/pair_accuracy.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<PairOptions>& pairFields() {
    static const FieldTable<PairOptions> table = [] {
        using O = PairOptions;
        FieldTable<O> all = {
            fields::choice(&O::score, "score", "Score",
                           "the score of a sentence: the sum of the log-probabilities of its "
                           "tokens, or their mean",
                           {"sum", "mean"}),
            fields::integer(&O::examples, "examples", "Pairs each",
                            "pairs of each phenomenon, at most; 0: all", 0, 1e8),
            fields::integer(&O::tokens, "tokens", "With tokens",
                            "pairs whose tokens are listed with their scores, the first ones", 0,
                            1e8),
            fields::boolean(&O::along, "along", "Along training",
                            "and the pair accuracy at every kept step of a run")};
        all[0].spec.choiceTitles = {"Sum", "Mean per token"};
        return all;
    }();
    return table;
}

Answer answerOf(const PairResults& results) {
    using columns::derived;
    using Pair = PairResults::Pair;
    using Token = PairResults::Token;
    const NumberFormat percent{1, true}, nats{2, false, true};
    const auto accuracies = [&](bool named) {
        using Row = PairAccuracy;
        ColumnTable<Row> table;
        if (named) {
            table.push_back(columns::text(&Row::phenomenon, "phenomenon", {"Phenomenon"}));
            table.push_back(columns::text(&Row::term, "term", {"Term"}));
        }
        table.push_back(columns::integer(&Row::pairs, named ? "pairs" : "count", {"Pairs"}));
        table.push_back(columns::integer(&Row::right, "right"));
        table.push_back(columns::integer(&Row::ties, "ties",
                                         {"Ties", {}, "Equal scores, which are not right"}));
        table.push_back(columns::number(
            &Row::accuracy, "pair_accuracy",
            {"Pair accuracy", percent,
             "How often the good sentence is the more likely one; exact 95 % interval", "low",
             "high"}));
        table.push_back(columns::number(&Row::low, "low", {{}, percent}));
        table.push_back(columns::number(&Row::high, "high", {{}, percent}));
        table.push_back(columns::number(
            &Row::difference, "difference",
            {"Difference", nats, "Mean score of the good sentence less that of the wrong one, nats",
             "difference_low", "difference_high"}));
        table.push_back(columns::number(&Row::differenceLow, "difference_low", {{}, nats}));
        table.push_back(columns::number(&Row::differenceHigh, "difference_high", {{}, nats}));
        return table;
    };
    Answer answer{{factsOf(accuracies(false), results.all)}};
    auto& facts = answer.tables.front();
    const ColumnTable<PairResults> more = {
        columns::text(&PairResults::score, "score"),
        columns::text(&PairResults::beginning, "read_before",
                      {"Read before each sentence", {}, "Beginning token, which is not scored"}),
        columns::integer(&PairResults::leftOut, "left_out"),
        columns::text(&PairResults::firstLeftOut, "first_left_out"),
        columns::integer(&PairResults::unknown, "unknown_characters")};
    for (auto& column : factsOf(more, results).columns) facts.columns.push_back(std::move(column));
    answer.tables.push_back(tableOf("phenomena", "Phenomena", accuracies(true), results.phenomena));
    const ColumnTable<Pair> pairs = {
        derived<Pair>(ColumnKind::Integer, "pair", {"Pair"},
                      [](const Pair& pair) { return pair.number + 1; }),
        derived<Pair>(
            ColumnKind::Text, "phenomenon", {"Phenomenon"},
            [&](const Pair& pair) {
                return results.phenomena[static_cast<std::size_t>(pair.phenomenon)].phenomenon;
            }),
        columns::text(&Pair::good, "good", {"Good"}),
        columns::text(&Pair::bad, "bad", {"Wrong"}),
        columns::number(&Pair::goodScore, "good_score", {{}, nats}),
        columns::number(&Pair::badScore, "bad_score", {{}, nats}),
        columns::number(&Pair::difference, "difference",
                        {"Difference", {2, false, true, true}, "Score, good less wrong; nats"}),
        columns::flag(&Pair::right, "right"),
        columns::flag(&Pair::tie, "tie")};
    answer.tables.push_back(tableOf("pairs", "Pairs", pairs, results.pairs));
    const ColumnTable<Token> tokens = {
        columns::found<Token>(ColumnKind::Integer, "row",
                              [](Token& token) -> int& { return token.pair; },
                              {{}, {}, {}, {}, {}, "pairs"}),
        columns::flag(&Token::good, "good", {"Good"}),
        columns::text(&Token::text, "token", {"Token"}),
        columns::number(&Token::score, "log_probability", {"Log-probability", nats})};
    answer.tables.push_back(tableOf("tokens", "Tokens", tokens, results.tokens));
    if (results.steps.empty()) return answer;
    using Step = PairResults::Step;
    const auto of = [](double PairAccuracy::*value) {
        return [value](Step& step) -> double& { return step.accuracy.*value; };
    };
    const ColumnTable<Step> steps = {
        columns::integer(&Step::step, "step", {"Step"}),
        derived<Step>(ColumnKind::Text, "phenomenon", {"Phenomenon"},
                      [](const Step& step) { return step.accuracy.phenomenon; }),
        columns::found<Step>(ColumnKind::Number, "pair_accuracy", of(&PairAccuracy::accuracy),
                             {"Pair accuracy", percent, {}, "low", "high"}),
        columns::found<Step>(ColumnKind::Number, "low", of(&PairAccuracy::low), {{}, percent}),
        columns::found<Step>(ColumnKind::Number, "high", of(&PairAccuracy::high), {{}, percent}),
        columns::found<Step>(ColumnKind::Number, "difference", of(&PairAccuracy::difference),
                             {"Difference", nats})};
    answer.tables.push_back(tableOf("along", "Along training", steps, results.steps));
    return answer;
}

std::string pairsRemark(const Answer& answer) {
    std::string text;
    const auto count = [&](const char* key) {
        return static_cast<std::int64_t>(answer.number(key));
    };
    const auto add = [&](const std::string& sentence) {
        text += (text.empty() ? "" : " ") + sentence;
    };
    if (const auto left = count("left_out"); left > 0)
        add(groupedNumber(left) + (left == 1 ? " pair is" : " pairs are") +
            " left out: longer than the context of the model; the first, " +
            answer.text("first_left_out") + ".");
    if (const auto unknown = count("unknown_characters"); unknown > 0)
        add(groupedNumber(unknown) + (unknown == 1 ? " character is" : " characters are") +
            " unknown to the tokenizer.");
    if (answer.has("read_before") && answer.text("read_before").empty())
        add("This tokenizer has no beginning token: the first token of a sentence is only read.");
    return text;
}

namespace {

/// The phenomena alone: files have all pairs.
std::string pairText(const Answer& answer) {
    Answer shown{{answer.table("")}};
    shown.tables.push_back(answer.table("phenomena"));
    if (const auto* along = answer.find("along")) shown.tables.push_back(*along);
    return plainText(shown);
}

}  // namespace

const Analysis& pairsAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "pair-accuracy";
        a.title = "Minimal pairs";
        a.summary = "measures how often a model prefers the good sentence of minimal pairs";
        a.purpose =
            "Minimal pairs are a good sentence and a wrong one that differs in one respect. This "
            "measures how often the model finds the good one more likely, by phenomenon, and which "
            "token makes the difference. Small models take seconds.";
        a.doing = "Scoring sentences";
        a.input = AnalysisInput::Sentences;
        a.onDemand = true;
        a = answering(a, pairFields(), OfferedIn::Row);
        a.fields.back().inRow = false;  // the view has no place for all steps
        a.terminal = pairText;
        a.remark = pairsRemark;
        return a;
    }();
    return analysis;
}

}  // namespace relascope::core
