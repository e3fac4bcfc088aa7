// SPDX-License-Identifier: GPL-3.0-or-later
// What parts carry which phenomena: the options, the decisions and the tables.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/pairs/claims.h"
#include "analysis/pairs/pair_preference.h"
#include "analysis/parts/part_rows.h"
#include "analysis/phenomena/phenomena.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "answers/layout.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<PhenomenonOptions>& phenomenonFields() {
    static const FieldTable<PhenomenonOptions> table = [] {
        using O = PhenomenonOptions;
        FieldTable<O> all = {
            fields::integer(&O::examples, "examples", "Pairs each",
                            "pairs of each phenomenon, at most; 0: all", 0, 1e8),
            fields::texts(&O::what, "what", "Parts", "which parts are taken out", partGroups()),
            fields::choice(&O::score, "score", "Score",
                           "the score of a sentence: the sum of the log-probabilities of its "
                           "tokens, or their mean",
                           {"sum", "mean"}),
            fields::integer(&O::untrained, "untrained", "Untrained models",
                            "models with the same options and fresh weights that score the same "
                            "pairs; with fewer than four nothing is said of any part",
                            0, 64)};
        all[1].spec.choiceTitles = {"Heads", "Relations",    "Relation x head",
                                    "Paths", "Feed-forward", "Library symbols"};
        all[1].spec.choiceHelp = {"Sensory, relational and cross heads, one at a time",
                                  "One relation at a time, for every head",
                                  "One relation at a time, for one head: its column of W_r",
                                  "Of a layer: attention, all relations, all symbols",
                                  "The feed-forward part of a layer",
                                  "One symbol of a library at a time"};
        all[2].spec.choiceTitles = {"Sum", "Mean per token"};
        return all;
    }();
    return table;
}

namespace {

using PhenomenonCell = Phenomena::Cell;

constexpr double kChanceOfPairs = 0.5, kCarries = 0.025;  // one tail of a 95 % interval
constexpr const char* kPairMetric = "pair_accuracy";

const PairedChange& mildest(const PhenomenonCell& cell) {
    return cell.zero.accuracy.change > cell.mean.accuracy.change ? cell.zero.accuracy
                                                                 : cell.mean.accuracy;
}
const PairedChange& harshest(const PhenomenonCell& cell) {
    return &mildest(cell) == &cell.zero.accuracy ? cell.mean.accuracy : cell.zero.accuracy;
}

}  // namespace

void findCarriers(Phenomena& found) {
    const MetricWords words(kPairMetric);
    found.least.clear(), found.findings.clear();
    for (const auto& one : found.phenomena)
        found.least.push_back(words.leastCost(one.accuracy, kChanceOfPairs));
    std::vector<double> p;
    found.comparisons = 0;
    for (auto& cell : found.cells) {
        cell.carries = false;
        const auto f = static_cast<std::size_t>(cell.phenomenon);
        const auto& phenomenon = found.phenomena[f];
        const bool usable = prefersGood(phenomenon);
        found.comparisons += usable;
        p.push_back(usable ? std::max(pAbove(words.lost(cell.zero.accuracy), found.least[f]),
                                      pAbove(words.lost(cell.mean.accuracy), found.least[f]))
                           : std::numeric_limits<double>::quiet_NaN());
    }
    const auto carries = holm(p, kCarries);
    for (std::size_t k = 0; k < found.cells.size(); ++k) found.cells[k].carries = carries[k];
    for (std::size_t f = 0; f < found.phenomena.size(); ++f) {
        const auto& phenomenon = found.phenomena[f];
        const auto name = phenomenonTitle(phenomenon.phenomenon);
        if (!prefersGood(phenomenon)) {
            found.findings.push_back(name + ": " + preferenceText(phenomenon) +
                                     ". So nothing is said of parts.");
            continue;
        }
        std::vector<const PhenomenonCell*> carriers;
        const PhenomenonCell* strongest = nullptr;
        for (const auto& cell : found.cells) {
            if (cell.phenomenon != static_cast<int>(f)) continue;
            if (cell.carries) carriers.push_back(&cell);
            if (!strongest || mildest(cell).change < mildest(*strongest).change) strongest = &cell;
        }
        std::stable_sort(carriers.begin(), carriers.end(), [](const auto* a, const auto* b) {
            return mildest(*a).change < mildest(*b).change;
        });
        for (const auto* cell : carriers) {
            const auto way = [&](const PairedChange& change) {
                return words.after(change, false) +
                       (&change == &cell->zero.accuracy ? " (zero)" : " (its mean)");
            };
            found.findings.push_back(
                name + " is carried by " + found.parts[static_cast<std::size_t>(cell->part)].part +
                ": without it pair accuracy falls from " + words.number(phenomenon.accuracy) +
                " to between " + way(mildest(*cell)) + " and " + way(harshest(*cell)) + " %.");
        }
        if (!carriers.empty() || !strongest) continue;
        // That nothing carries it is said where every interval excludes a loss that matters.
        const auto within = [&](const PairedChange& change) {
            const auto lost = words.lost(change);
            return lost.low > -found.least[f] && lost.high < found.least[f];
        };
        const bool none =
            std::all_of(found.cells.begin(), found.cells.end(), [&](const auto& cell) {
                return cell.phenomenon != static_cast<int>(f) ||
                       (within(cell.zero.accuracy) && within(cell.mean.accuracy));
            });
        const auto& most = mildest(*strongest);
        const auto part = found.parts[static_cast<std::size_t>(strongest->part)].part;
        const auto way = &most == &strongest->zero.accuracy ? "at zero" : "at its mean";
        const auto limit = words.number(found.least[f]) + words.points();
        found.findings.push_back(
            name + (none ? " is carried by no single part: taking any one of them out changes the "
                           "pair accuracy by less than " +
                               limit + ", by its whole interval."
                         : ": no part is shown to carry it. The largest loss is that of " + part +
                               " " + way + ", " + words.amount(most) + "; corrected for " +
                               groupedNumber(found.comparisons) +
                               " comparisons it is not shown to be more than " + limit + "."));
    }
}

namespace {

/// The key of the column of a phenomenon, whose name is that of the file unless another column has
/// it: "phenomenon part".
std::string keyAmong(const Table& table, std::string name) {
    while (table.find(name)) name = "phenomenon " + name;
    return name;
}

}  // namespace

Answer answerOf(const Phenomena& found) {
    using namespace columns;
    const NumberFormat percent{1, true};
    const auto& all = found.all;
    const auto facts =
        tableWith("", "", fact("pairs", all.pairs, {"Pairs"}),
                  fact("pair_accuracy", all.accuracy,
                       {"Pair accuracy", percent, "With every part", "low", "high"}),
                  fact("low", all.low, {{}, percent}), fact("high", all.high, {{}, percent}),
                  fact("frequencies", all.frequencies, {{}, percent}), fact("score", found.score),
                  fact("looks", found.comparisons));
    auto findings = textsTable("findings", "finding", found.findings);
    findings.title = "What carries which phenomenon";
    findings.columns.front().title = "Finding";

    auto parts = tableWith("parts", "Change of the pair accuracy without each part, points",
                           text("part", {"Part"}), text("group"));
    for (const auto& one : found.phenomena)
        parts.columns.push_back(number(keyAmong(parts, one.phenomenon),
                                       {phenomenonTitle(one.phenomenon),
                                        {1, true, true, false},
                                        "Change of the pair accuracy without the part, in points: "
                                        "the milder of zero and its mean"}));
    auto cells = tableWith("cells", "Cells", integer("part_row", {{}, {}, {}, {}, {}, "parts"}),
                           text("part", {"Part"}),
                           integer("phenomenon_row", {{}, {}, {}, {}, {}, "phenomena"}),
                           text("phenomenon", {"Phenomenon"}));
    for (const std::string way : {"zero", "mean"})
        for (const std::string measure : {"accuracy", "difference"})
            for (const std::string value : {"change", "low", "high"})
                cells.columns.push_back(
                    number(way + "_" + measure + "_" + value, {way + " " + measure + " " + value}));
    cells.columns.push_back(flag("carries", {"Carries"}));
    for (std::size_t k = 0; k < found.parts.size(); ++k) {
        std::vector<double> changes;
        for (std::size_t f = 0; f < found.phenomena.size(); ++f) {
            const auto& cell = found.cell(k, f);
            changes.push_back(mildest(cell).change);
            std::vector<double> numbers;
            for (const auto* way : {&cell.zero, &cell.mean})
                for (const auto* measure : {&way->accuracy, &way->difference})
                    numbers.insert(numbers.end(), {measure->change, measure->low, measure->high});
            addRow(cells, k, found.parts[k].part, f, found.phenomena[f].phenomenon, numbers,
                   cell.carries);
        }
        addRow(parts, found.parts[k].part, found.parts[k].group, changes);
    }
    return {{facts, parts, findings, accuracyTable(found.phenomena, true), cells}};
}

namespace {

constexpr double kPairWays = 2.0;

std::string phenomenaCostText(const AnalysisCost& cost, const OptionValues& values) {
    const auto options = structOf(phenomenonFields(), values);
    if (options.what.empty()) return "choose which parts are taken out";
    int parts = 0;
    for (const auto& group : options.what)
        if (const auto at = cost.parts.find(group); at != cost.parts.end()) parts += at->second;
    if (parts == 0) return "this model has no such parts; choose others";
    return std::to_string(parts) + " parts x 2 ways on " + groupedNumber(cost.examples) + " " +
           cost.noun + ": about " +
           roughDuration(std::max(
               1.0, cost.seconds * static_cast<double>(cost.examples) * parts * kPairWays));
}

/// What was found, by phenomenon; files have all cells.
std::string phenomenaText(const Answer& answer) {
    Answer shown{{answer.table("")}};
    shown.tables.push_back(answer.table("phenomena"));
    auto text = plainText(shown) + "\n";
    for (const auto& finding : answer.table("findings").texts("finding")) text += finding + "\n";
    return text;
}

std::vector<GridPanel> changesOf(const Seen& seen) {
    const auto& names = seen.answer.table("phenomena").texts("phenomenon");
    const auto cells = std::make_shared<const Table>(seen.answer.table("cells"));
    GridPanel panel{"Change of the pair accuracy",
                    "points, the milder of zero and its mean; framed: carried",
                    seen.answer.table("parts").texts("part")};
    if (cells->rows() != panel.rows.size() * names.size())
        throw Error("the table of an answer has other cells than parts and phenomena");
    panel.columnName = "phenomenon";
    for (auto name : names) {
        std::replace(name.begin(), name.end(), '_', ' ');
        panel.inputs.push_back(name);
        panel.columns.push_back(std::to_string(panel.inputs.size()));
    }
    // What is at a place, by the key of its column.
    const auto at = [cells, across = names.size()](int row, int column) {
        return [&all = *cells, k = std::size_t(row) * across + std::size_t(column)](
                   const std::string& key) { return all.numbers(key)[k]; };
    };
    panel.cell = [at](int row, int column) {
        const auto number = at(row, column);
        const double value =
            100.0 * std::max(number("zero_accuracy_change"), number("mean_accuracy_change"));
        return GridCell{.value = value,
                        .text = fixedField(std::round(value), 0),
                        .framed = number("carries") != 0.0};
    };
    panel.text = [at, rows = panel.rows, inputs = panel.inputs](int row, int column) {
        const auto number = at(row, column);
        const auto way = [&](const char* title, const std::string& key) {
            const auto points = [&](const char* of) {
                return shownSigned(100.0 * number(key + "_accuracy_" + of), 1);
            };
            return title + points("change") + " points [" + points("low") + ", " + points("high") +
                   "], difference " + shownSigned(number(key + "_difference_change"), 2) + " nats";
        };
        return rows[std::size_t(row)] + ", " + inputs[std::size_t(column)] + ": " +
               way("zero ", "zero") + "; " + way("its mean ", "mean") +
               (number("carries") != 0.0 ? "; carried" : "");
    };
    return {panel};
}

std::string phenomenaAbout(const Seen& seen) {
    const auto& facts = seen.answer.table("");
    return "pair accuracy " + shownValue(facts, facts.column("pair_accuracy"), 0) +
           " with every part, " + groupedNumber(indexOf(seen.answer.number("pairs"))) + " pairs";
}

Layout phenomenaLayout() {
    Layout::Grid grid{"Parts and phenomena", changesOf};
    grid.style = {
        .leastCell = 20, .mostCell = 46, .rowHeight = 20, .numbersFrom = 30, .mostUpright = 200};
    grid.least = 5.0;  // noise has no strong colours
    grid.caption = "change of the pair accuracy without the part, points";
    grid.hint = [](const Seen&) { return std::string(); };
    auto says = shownSentences();
    says.least = 90;
    return {phenomenaAbout, {{grid, 3}, {says, 2}}};
}

}  // namespace

const RegisterAnalysis kPhenomena([] {
    Analysis a;
    a.name = "phenomena";
    a.place = 150;
    a.title = "Phenomena";
    a.group = AnalysisGroup::Text;
    a.summary = "measures which heads and relations carry which linguistic phenomenon";
    a.purpose =
        "Phenomena takes each head and relation of a language model out and measures how often "
        "the model still prefers the good sentence of minimal pairs: which parts carry "
        "agreement, reflexives, islands and so on, and which none.";
    a.progressText = "Taking parts out";
    a.layout = phenomenaLayout;
    a.input = AnalysisInput::Sentences;
    a.onDemand = true;
    a.costText = phenomenaCostText;
    a = answering(a, phenomenonFields(), OfferedIn::Row);
    a.terminal = phenomenaText;
    a.remark = pairsRemark;
    return a;
});

}  // namespace relascope::core
