// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the logit lens, and its result as tables.
#include <ostream>
#include <sstream>

#include "analysis/lens.h"
#include "answers/column_table.h"
#include "answers/lens_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<LensChoice>& lensFields() {
    using O = LensChoice;
    constexpr double all = 1e15;
    static const FieldTable<O> table = {
        fields::integer(&O::position, "position", "Position",
                        "that position alone, from 0; negative numbers count from the end", -all,
                        all),
        fields::integer(&O::top, "top", "Answers", "number of answers", 1, 1000),
        fields::texts(&O::answers, "answer", "Answer",
                      "also show the probability of this class, token or id; can be repeated")};
    return table;
}

namespace {

/// An answer among those of a cell.
struct ListedAnswer {
    std::size_t row = 0, column = 0;
    std::string k;  ///< "1" is the likeliest; "asked"
    const LensCell* cell = nullptr;
    const LensAnswer* answer = nullptr;
};

std::vector<ListedAnswer> listed(const LensResult& r) {
    std::vector<ListedAnswer> all;
    for (std::size_t row = 0; row < r.rows.size(); ++row)
        for (std::size_t c = 0; c < r.columns(); ++c) {
            const auto& cell = r.cell(row, c);
            for (std::size_t k = 0; k < cell.top.size(); ++k)
                all.push_back({row, c, std::to_string(k + 1), &cell, &cell.top[k]});
            for (const auto& answer : cell.asked) all.push_back({row, c, "asked", &cell, &answer});
        }
    return all;
}

Table cellsOf(const LensResult& r) {
    using Row = ListedAnswer;
    using columns::derived;
    const auto number = [](const char* key, const char* title, auto get) {
        return derived<Row>(ColumnKind::Number, key, {title}, get);
    };
    const ColumnTable<Row> table = {
        derived<Row>(ColumnKind::Text, "after", {"After"},
                     [&r](const Row& row) { return r.rows[row.row]; }),
        derived<Row>(ColumnKind::Integer, "position", {"Position"},
                     [&r](const Row& row) {
                         return r.whole ? columns::kNone
                                        : static_cast<double>(r.positions[row.column]);
                     }),
        derived<Row>(ColumnKind::Text, "input", {"Input"},
                     [&r](const Row& row) {
                         return row.column < r.inputs.size() ? r.inputs[row.column] : std::string();
                     }),
        derived<Row>(ColumnKind::Integer, "own_id", {},
                     [&r](const Row& row) { return r.answers[row.column].id; }),
        derived<Row>(ColumnKind::Text, "own", {"Own answer"},
                     [&r](const Row& row) { return r.answers[row.column].name; }),
        number("own_probability", "Its probability",
               [](const Row& row) { return row.cell->probability; }),
        derived<Row>(ColumnKind::Integer, "own_rank", {"Its rank"},
                     [](const Row& row) { return row.cell->rank; }),
        number("entropy", "Entropy", [](const Row& row) { return row.cell->entropy; }),
        derived<Row>(ColumnKind::Text, "k", {"k"}, [](const Row& row) { return row.k; }),
        derived<Row>(ColumnKind::Integer, "id", {}, [](const Row& row) { return row.answer->id; }),
        derived<Row>(ColumnKind::Text, "answer", {"Answer"},
                     [](const Row& row) { return row.answer->name; }),
        number("logit", "Logit", [](const Row& row) { return row.answer->logit; }),
        number("probability", "Probability",
               [](const Row& row) { return row.answer->probability; })};
    return tableOf("cells", "", table, listed(r));
}

}  // namespace

Answer answerOf(const LensResult& r) {
    using columns::derived;
    struct Own {
        const LensAnswer* answer = nullptr;
        double position = columns::kNone;
        std::string input = {};
    };
    std::vector<Own> own;
    for (std::size_t c = 0; c < r.columns(); ++c) {
        own.push_back({&r.answers[c]});
        if (!r.whole) own.back().position = static_cast<double>(r.positions[c]);
        if (c < r.inputs.size()) own.back().input = r.inputs[c];
    }
    const ColumnTable<Own> answers = {
        columns::integer(&Own::position, "position"),
        columns::text(&Own::input, "input"),
        derived<Own>(ColumnKind::Integer, "id", {}, [](const Own& o) { return o.answer->id; }),
        derived<Own>(ColumnKind::Text, "name", {}, [](const Own& o) { return o.answer->name; }),
        derived<Own>(ColumnKind::Number, "logit", {}, [](const Own& o) { return o.answer->logit; }),
        derived<Own>(ColumnKind::Number, "probability", {},
                     [](const Own& o) { return o.answer->probability; })};
    return {
        {cellsOf(r), tableOf("answers", "", answers, own), textsTable("layers", "after", r.rows)}};
}

namespace {

std::string percent(double probability) {
    return numberText("%.1f%%", 100.0 * probability);
}

// One column: a line for each layer.
void addColumn(std::ostream& out, const LensTable& r, std::size_t c) {
    out << (r.whole() ? "answer " : "position " + std::to_string(indexOf(r.positions[c])) + ", ");
    if (!r.inputs[c].empty()) out << quoted(r.inputs[c]) << ", answer ";
    out << quoted(r.own[c]) << " " << percent(r.ownProbabilities[c]) << "\n";
    out << cellText("after", 12) << cellText("entropy", 9, true) << cellText("own", 8, true)
        << cellText("rank", 7, true) << "  most likely\n";
    for (std::size_t row = 0; row < r.layers.size(); ++row) {
        const auto at = r.first(row, c);
        out << cellText(r.layers[row], 12) << cellText(numberText("%.3f", r.entropies[at]), 9, true)
            << cellText(percent(r.probabilityOfOwn[at]), 8, true)
            << cellText(std::to_string(indexOf(r.ranks[at])), 7, true) << " ";
        for (std::size_t k = at; k < at + r.each && !r.asked(k); ++k)
            out << " " << quoted(r.names[k]) << " " << percent(r.probabilities[k]);
        out << "\n";
    }
    // Bars of the answers that were asked for, 40 characters for a probability of 1.
    for (std::size_t k = 0; k < r.each; ++k) {
        if (!r.asked(r.first(0, c) + k)) continue;
        out << quoted(r.names[r.first(0, c) + k]) << "\n";
        for (std::size_t row = 0; row < r.layers.size(); ++row) {
            const double p = r.probabilities[r.first(row, c) + k];
            out << "  " << cellText(r.layers[row], 12) << cellText(percent(p), 7, true) << " "
                << barText('#', p, 40) << "\n";
        }
    }
}

// Many columns: a line for each position, with the most likely answer after each layer.
void addTable(std::ostream& out, const LensTable& r) {
    constexpr std::size_t wide = 15;
    out << cellText("", 5) << " " << cellText("input", wide);
    for (const auto& row : r.layers) out << cellText(row, wide);
    out << "\n";
    for (std::size_t c = 0; c < r.own.size(); ++c) {
        out << cellText(std::to_string(indexOf(r.positions[c])), 5, true) << " "
            << cellText(r.inputs[c].empty() ? "" : quoted(r.inputs[c]), wide);
        for (std::size_t row = 0; row < r.layers.size(); ++row) {
            const auto at = r.first(row, c);
            out << cellText(quoted(r.names[at]), 8)
                << cellText(percent(r.probabilities[at]), 6, true) << " ";
        }
        out << "\n";
    }
}

std::string lensText(const Answer& result) {
    std::ostringstream out;
    const LensTable r(result);
    if (r.own.size() == 1 || r.asked(r.each - 1))
        for (std::size_t c = 0; c < r.own.size(); ++c) addColumn(out, r, c);
    else
        addTable(out, r);
    return out.str();
}

}  // namespace

const Analysis& lensAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "lens";
        a.title = "Logit lens";
        a.summary = "shows what a model would answer after each layer (logit lens)";
        a.progressText = "Reading the answers after each layer";
        a = answering(a, lensFields(), OfferedIn::View);
        a.terminal = lensText;
        return a;
    }();
    return analysis;
}

}  // namespace relascope::core
