// SPDX-License-Identifier: GPL-3.0-or-later
// The options of pair accuracy, and its tables.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "analysis/pair_accuracy/pair_accuracy.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/pair_preference.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "answers/layout.h"
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
            fields::integer(&O::untrained, "untrained", "Untrained models",
                            "models with the same options and fresh weights that score the same "
                            "pairs; with fewer than four no phenomenon is said to be preferred",
                            0, 64),
            fields::boolean(&O::along, "along", "Along training",
                            "and the pair accuracy at every kept step of a run")};
        all[0].spec.choiceTitles = {"Sum", "Mean per token"};
        return all;
    }();
    return table;
}

std::pair<Table, Table> pairTables() {
    using namespace columns;
    const NumberFormat nats{2, false, true};
    return {
        tableWith("pairs", "Pairs", integer("pair", {"Pair"}), text("phenomenon", {"Phenomenon"}),
                  text("good", {"Good"}), text("bad", {"Wrong"}), number("good_score", {{}, nats}),
                  number("bad_score", {{}, nats}),
                  number("difference",
                         {"Difference", {2, false, true, true}, "Score, good less wrong; nats"}),
                  flag("right"), flag("tie")),
        tableWith("tokens", "Tokens", integer("row", {{}, {}, {}, {}, {}, "pairs"}),
                  flag("good", {"Good"}), text("token", {"Token"}),
                  number("log_probability", {"Log-probability", nats}))};
}

namespace {

/// The phenomena alone: files have all pairs.
std::string pairText(const Answer& answer) {
    Answer shown{{answer.table("")}};
    shown.tables.push_back(answer.table("phenomena"));
    if (const auto* along = answer.find("along")) shown.tables.push_back(*along);
    auto text = plainText(shown) + "\n";
    for (const auto& sentence : answer.table("says").texts("text")) text += sentence + "\n";
    return text;
}

// In the window
// -------------------------------------------------------------------------------------------------

/// The rows of "pairs" of the phenomenon that is chosen; without one all.
std::vector<std::size_t> pairRows(const Seen& seen) {
    const auto &names = seen.answer.table("phenomena").texts("phenomenon"),
               &of = seen.answer.table("pairs").texts("phenomenon");
    const int chosen = seen.chosen[0].row;
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < of.size(); ++row)
        if (chosen < 0 || of[row] == names.at(std::size_t(chosen))) rows.push_back(row);
    return rows;
}

std::vector<Table> pairsOf(const Seen& seen) {
    auto table = seen.answer.table("pairs");
    const auto rows = pairRows(seen);
    for (auto& column : table.columns) {
        const auto take = [&](auto& values) {
            const auto all = std::exchange(values, {});
            for (const auto row : rows) values.push_back(all[row]);
        };
        column.kind == ColumnKind::Text ? take(column.texts) : take(column.numbers);
    }
    return {table};
}

/// The row of "pairs" that is chosen; -1: none.
std::int64_t chosenPair(const Seen& seen) {
    const auto rows = pairRows(seen);
    const int at = seen.chosen[1].row;
    return at >= 0 && at < std::ssize(rows) ? static_cast<std::int64_t>(rows[std::size_t(at)]) : -1;
}

/// The tokens of that pair above each other: those at the beginnings and ends that are equal stand
/// in one column, and what is not there is empty.
struct AlignedPair {
    using ScoredToken = std::pair<std::string, double>;
    std::vector<ScoredToken> good, bad;  ///< of the same number

    explicit AlignedPair(const Seen& seen) {
        const auto& table = seen.answer.table("tokens");
        const auto &rows = table.numbers("row"), &right = table.numbers("good"),
                   &scores = table.numbers("log_probability");
        const auto chosen = static_cast<double>(chosenPair(seen));
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (rows[k] == chosen)
                (right[k] != 0.0 ? good : bad).emplace_back(table.texts("token")[k], scores[k]);
        const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        auto &shorter = good.size() < bad.size() ? good : bad,
             &longer = good.size() < bad.size() ? bad : good;
        const auto front =
            std::mismatch(shorter.begin(), shorter.end(), longer.begin(), same).first;
        const auto back =
            std::mismatch(shorter.rbegin(), std::reverse_iterator(front), longer.rbegin(), same)
                .first;
        shorter.insert(back.base(), longer.size() - shorter.size(), {"", columns::kNone});
    }
    /// NaN where one of the two has no score.
    double difference(std::size_t c) const { return good[c].second - bad[c].second; }
    bool differs(std::size_t c) const { return good[c].first != bad[c].first; }
};

std::vector<GridPanel> tokenPanels(const Seen& seen) {
    const auto pair = std::make_shared<const AlignedPair>(seen);
    if (pair->good.empty()) return {};
    GridPanel panel{.rows = {"good", "wrong", "difference"}, .lastRowApart = true};
    for (std::size_t c = 1; c <= pair->good.size(); ++c) panel.columns.push_back(std::to_string(c));
    panel.cell = [pair](int row, int column) {
        const auto c = std::size_t(column);
        const auto difference = pair->difference(c);
        if (row == 2) return GridCell{.value = difference, .text = shownSigned(difference, 2)};
        return GridCell{.value = columns::kNone,
                        .text = shownPiece((row == 0 ? pair->good : pair->bad)[c].first),
                        .emphasised = pair->differs(c)};
    };
    panel.text = [pair](int, int column) {
        const auto c = std::size_t(column);
        const auto said = [](const auto& token) {
            return "\u201C" + shownPiece(token.first) + "\u201D " + shownSigned(token.second, 2);
        };
        return "good " + said(pair->good[c]) + ", wrong " + said(pair->bad[c]) + ": difference " +
               shownSigned(pair->difference(c), 2) + " nats";
    };
    return {panel};
}

std::string pairsAbout(const Seen& seen) {
    const auto& facts = seen.answer.table("");
    const auto& before = seen.answer.text("read_before");
    const auto count = [&](const char* key) {
        return groupedNumber(static_cast<std::int64_t>(seen.answer.number(key)));
    };
    return "pair accuracy " + shownValue(facts, facts.column("pair_accuracy"), 0) + ", " +
           count("count") + " pairs, " + count("ties") + " ties; " +
           (before.empty() ? "the first token is not scored" : "behind " + shownPiece(before));
}

Request inspected(const Seen& seen) {
    const auto row = chosenPair(seen);
    if (row < 0) return {};
    const auto& pairs = seen.answer.table("pairs");
    return TextsRequest{pairs.texts("good")[std::size_t(row)],
                        pairs.texts("bad")[std::size_t(row)]};
}

Layout pairsLayout() {
    const auto phenomena = [](const Seen& seen) {
        return std::vector{seen.answer.table("phenomena")};
    };
    Layout::Tables pairs{"Pairs", pairsOf};
    pairs.first = true;
    pairs.most = 20;
    Layout::Grid tokens{"Tokens of the pair", tokenPanels, {.texts = true}};
    tokens.caption = "log-probability, good less wrong, nats";
    tokens.hint = [](const Seen& seen) -> std::string {
        if (chosenPair(seen) < 0) return {};
        return AlignedPair(seen).good.empty()
                   ? "The tokens of this pair are not listed; raise With tokens in Options."
                   : "Which token makes the difference: a column has both tokens and what the good "
                     "one gains.";
    };
    // The difference comes into view, wherever in a long sentence it is.
    tokens.begins = [](const Seen& seen) {
        const AlignedPair pair(seen);
        for (std::size_t c = 0; c < pair.good.size(); ++c)
            if (pair.differs(c)) return GridPlace{0, 2, static_cast<int>(c)};
        return GridPlace();
    };
    tokens.height = 118;
    tokens.widest = 1000;
    Layout layout{pairsAbout, {{Layout::Tables{"Phenomena", phenomena}, 3}, {pairs, 3}, {tokens}}};
    layout.file = "pairs";
    layout.button = {"Inspect this pair",
                     "The good sentence in the inspector, the wrong one as its second input B",
                     inspected};
    return layout;
}

}  // namespace

const RegisterAnalysis kPairs([] {
    Analysis a;
    a.name = "pair-accuracy";
    a.place = 140;
    a.title = "Minimal pairs";
    a.group = AnalysisGroup::Text;
    a.summary = "measures how often a model prefers the good sentence of minimal pairs";
    a.purpose =
        "Minimal pairs are a good sentence and a wrong one that differs in one respect. This "
        "measures how often the model finds the good one more likely, by phenomenon, and which "
        "token makes the difference. Small models take seconds.";
    a.progressText = "Scoring sentences";
    a.layout = pairsLayout;
    a.input = AnalysisInput::Sentences;
    a.onDemand = true;
    a = answering(a, pairFields(), OfferedIn::Row);
    a.fields.back().inRow = false;  // the view has no place for all steps
    a.terminal = pairText;
    a.remark = pairsRemark;
    return a;
});

}  // namespace relascope::core
