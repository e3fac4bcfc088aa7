// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the logit lens, and its result as tables.
#include <ostream>
#include <sstream>

#include "analysis/lens/lens.h"
#include "analysis/lens/table.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "answers/layout.h"
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
                      "also show the probability of this class, token or id; can be repeated"),
        fields::path(fields::text(
            &O::jacobian, "jacobian", "Jacobian lens",
            "a file of matrices J by layer, .safetensors or the .pt of published ones; the "
            "answers of each layer through J are shown beside the logit lens")),
        fields::integer(&O::fitJacobian, "fit_jacobian", "Fit on texts",
                        "fit J on that many texts of the model's data and keep it beside the run; "
                        "one takes seconds to minutes",
                        0, 100'000),
        fields::path(fields::text(&O::fitText, "fit_text", "Text to fit on",
                                  "a text to fit J on; without it that of the run")),
        fields::path(fields::text(&O::save, "save", "Save as",
                                  "a .safetensors file for the J that was fitted"))};
    return table;
}

Answer answerOf(const LensResult& r) {
    using namespace columns;
    auto cells = tableWith("cells", "", text("after", {"After"}), integer("position", {"Position"}),
                           text("input", {"Input"}), integer("own_id"), text("own", {"Own answer"}),
                           number("own_probability", {"Its probability"}),
                           integer("own_rank", {"Its rank"}), number("entropy", {"Entropy"}),
                           text("k", {"k"}), integer("id"), text("answer", {"Answer"}),
                           number("logit", {"Logit"}), number("probability", {"Probability"}));
    auto answers = tableWith("answers", "", integer("position"), text("input"), integer("id"),
                             text("name"), number("logit"), number("probability"));
    const auto position = [&](std::size_t c) {
        return r.whole ? kNone : static_cast<double>(r.positions[c]);
    };
    const auto input = [&](std::size_t c) {
        return c < r.inputs.size() ? r.inputs[c] : std::string();
    };
    for (std::size_t row = 0; row < r.rows.size(); ++row)
        for (std::size_t c = 0; c < r.columns(); ++c) {
            const auto& cell = r.cell(row, c);
            // `k`: "1" is the likeliest; "asked".
            const auto list = [&](const std::string& k, const LensAnswer& one) {
                addRow(cells, r.rows[row], position(c), input(c), r.answers[c].id,
                       r.answers[c].name, cell.probability, cell.rank, cell.entropy, k, one.id,
                       one.name, one.logit, one.probability);
            };
            for (std::size_t k = 0; k < cell.top.size(); ++k)
                list(std::to_string(k + 1), cell.top[k]);
            for (const auto& one : cell.asked) list("asked", one);
        }
    for (std::size_t c = 0; c < r.columns(); ++c)
        addRow(answers, position(c), input(c), r.answers[c].id, r.answers[c].name,
               r.answers[c].logit, r.answers[c].probability);
    return {{cells, answers, textsTable("layers", "after", r.rows)}};
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

// In the window
// -------------------------------------------------------------------------------------------------

std::string quotedPiece(const std::string& name) {
    return "\u201C" + shownPiece(name) + "\u201D";
}

/// Empty where the whole input has one answer.
std::string positionText(const LensTable& r, std::size_t c) {
    if (r.whole()) return {};
    return "position " + std::to_string(indexOf(r.positions[c])) +
           (r.inputs[c].empty() ? "" : " " + quotedPiece(r.inputs[c]));
}

/// Layers by positions, and the model's own answers below. One column is a table alone.
std::vector<GridPanel> lensPanels(const Seen& seen) {
    struct Kept {
        explicit Kept(Answer of) : answer(std::move(of)), table(answer) {}
        Answer answer;
        LensTable table;
    };
    const auto kept = std::make_shared<const Kept>(seen.answer);
    const std::shared_ptr<const LensTable> r(kept, &kept->table);
    if (r->columns() <= 1) return {};
    GridPanel panel{.rows = r->layers, .lastRowApart = true};
    panel.rows.emplace_back("own answer");
    for (std::size_t c = 0; c < r->columns(); ++c) {
        panel.columns.push_back(std::to_string(indexOf(r->positions[c])));
        panel.inputs.push_back(shownPiece(r->inputs[c]));
    }
    panel.cell = [r](int row, int column) {
        const auto layer = std::size_t(row), c = std::size_t(column);
        if (layer == r->layers.size())
            return GridCell{.value = r->ownProbabilities[c], .text = shownPiece(r->own[c])};
        // Bold where the layer already gives the model's own answer.
        const auto at = r->first(layer, c);
        return GridCell{.value = r->probabilities[at],
                        .text = shownPiece(r->names[at]),
                        .emphasised = r->ranks[at] == 1.0};
    };
    panel.text = [r](int row, int column) {
        const auto layer = std::size_t(row), c = std::size_t(column);
        const auto where = positionText(*r, c) + ", ";
        const auto said = [](const std::string& name, double probability) {
            return quotedPiece(name) + " " + shownProbability(probability);
        };
        if (layer == r->layers.size())
            return where + "own answer " + said(r->own[c], r->ownProbabilities[c]);
        const auto at = r->first(layer, c);
        std::vector<std::string> top;
        for (auto k = at; k < at + r->each && !r->asked(k); ++k)
            top.push_back(said(r->names[k], r->probabilities[k]));
        return where + (row == 0 ? "" : "after ") + r->layers[layer] + ": " + joined(top) +
               "\nown answer " + said(r->own[c], r->probabilityOfOwn[at]) + ", rank " +
               std::to_string(indexOf(r->ranks[at])) + "; entropy " +
               shownDecimals(r->entropies[at], 2) + " nats";
    };
    return {panel};
}

/// The column of the chosen position.
std::size_t columnOf(const Seen& seen) {
    return static_cast<std::size_t>(std::max(0, seen.chosen[0].column));
}

std::string columnTitle(const Seen& seen) {
    const LensTable r(seen.answer);
    const auto c = columnOf(seen);
    const auto where = positionText(r, c);
    return (where.empty() ? "O" : "P" + where.substr(1) + ": o") + "wn answer " +
           quotedPiece(r.own[c]) + ", " + shownProbability(r.ownProbabilities[c]);
}

/// The likeliest answers at one position, and the place of the model's own among them.
std::vector<Table> answersAt(const Seen& seen) {
    constexpr const char* places[] = {"Likeliest", "Second", "Third", "Fourth", "Fifth"};
    const LensTable r(seen.answer);
    const auto c = columnOf(seen);
    Table table{"answers", {}, {{"layer", "Layer", {}, ColumnKind::Text}}};
    table.columns.front().texts = r.layers;
    const auto add = [&](Column of, auto take) {
        for (std::size_t row = 0; row < r.layers.size(); ++row) take(of, r.first(row, c));
        table.columns.push_back(std::move(of));
    };
    // Answers that were asked for stand behind the likeliest ones.
    for (std::size_t k = 0; k < std::min(r.each, std::size(places)); ++k) {
        if (r.asked(r.first(0, c) + k)) break;
        const auto key = "answer" + std::to_string(k + 1);
        add({key, places[k], {}, ColumnKind::Text}, [&](Column& of, std::size_t at) {
            of.texts.push_back(shownPiece(r.names[at + k]) + " " +
                               shownProbability(r.probabilities[at + k]));
        });
        add({key + " strong", {}, {}, ColumnKind::Flag}, [&](Column& of, std::size_t at) {
            of.numbers.push_back(r.ids[at + k] == r.ownIds[c]);
        });
    }
    const auto number = [&](Column of, const std::vector<double>& values) {
        add(std::move(of), [&](Column& to, std::size_t at) { to.numbers.push_back(values[at]); });
    };
    number({"rank", "Rank", "Place of the model's own answer", ColumnKind::Integer}, r.ranks);
    number({"entropy", "Entropy", "In nats", ColumnKind::Number, {2}}, r.entropies);
    number({"own",
            "Own answer",
            "Probability of the model's own answer",
            ColumnKind::Number,
            {1, true, false, true}},
           r.probabilityOfOwn);
    return {table};
}

const std::vector<double>& positionsOf(const Seen& seen) {
    return seen.answer.table("answers").numbers("position");
}

std::string lensAbout(const Seen& seen) {
    const auto count = std::ssize(positionsOf(seen));
    return count <= 1 ? ""
                      : "likeliest answer after each layer, " + groupedNumber(count) + " positions";
}

Layout lensLayout() {
    Layout::Grid grid{
        "Answers after each layer", lensPanels, {.texts = true}, Layout::Tint::Likelihood};
    // The last position is what a language model would say next.
    grid.begins = [](const Seen& seen) {
        return GridPlace{0, 0, static_cast<int>(positionsOf(seen).size()) - 1};
    };
    grid.request = [](const Seen& seen) {
        return PositionRequest{indexOf(positionsOf(seen)[columnOf(seen)])};
    };
    grid.widest = 1100, grid.widens = true;
    Layout::Tables answers{"Answers at one position", answersAt, columnTitle};
    answers.most = 1000;
    Layout layout{lensAbout, {{grid, 3}, {answers, 2}}, "Choose a sample in the inspector."};
    layout.heads = [](const Seen&) { return std::vector<Layout::Heading>{{.text = "Logit lens"}}; };
    layout.figureWidth = 900;
    return layout;
}

}  // namespace

const RegisterAnalysis kLens([] {
    Analysis a;
    a.name = "lens";
    a.place = 40;
    a.title = "Logit lens";
    a.summary = "shows what a model would answer after each layer (logit lens)";
    a.progressText = "Reading the answers after each layer";
    a = answering(a, lensFields(), OfferedIn::View);
    // A position and its answers are chosen in the view. What takes minutes is no option of a tab
    // that reads each input as it is chosen.
    for (auto& field : a.fields) field.inRow = field.spec.name == "jacobian";
    a.terminal = lensText;
    a.layout = lensLayout;
    return a;
});

}  // namespace relascope::core
