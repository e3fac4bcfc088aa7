// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/ablate/answer.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "answers/column_table.h"
#include "interventions/edit_json.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

/// A part in one of its ways.
struct AblationLine {
    AblationRow row;  ///< without its ways
    std::string edit, use, metric;
    AblationRow::Way way;
    std::int64_t examples = 0;
    PairedChange adds{
        "", columns::kNone, columns::kNone, columns::kNone, columns::kNone, columns::kNone};
};

/// Of a head that is fitted anew behind a part, where that was measured.
ColumnTable<AblationLine> refitColumns(bool percent) {
    using Row = AblationLine;
    const NumberFormat value{percent ? 1 : 4, percent},
        change{percent ? 1 : 4, percent, true, true};
    const auto number = [](const char* key, columns::Shown shown, double PairedChange::*member) {
        return columns::found<Row>(
            ColumnKind::Number, key,
            [member](Row& r) -> double& {
                if (!r.way.refit) r.way.refit.emplace();
                return (*r.way.refit).*member;
            },
            std::move(shown));
    };
    return {
        number("refit", {"Head fitted anew", value, "Whether classes can still be told without it"},
               &PairedChange::edited),
        number("refit_change", {"Change then", change, {}, "refit_low", "refit_high"},
               &PairedChange::change),
        number("refit_low", {}, &PairedChange::low), number("refit_high", {}, &PairedChange::high)};
}

ColumnTable<AblationLine> lineColumns(bool percent, const std::string& use = {}) {
    using Row = AblationLine;
    const auto build = [&](bool fraction) {
        const NumberFormat value{fraction ? 1 : 4, fraction},
            change{fraction ? 1 : 4, fraction, true, true};
        const auto number = [](const char* key, columns::Shown shown, auto ref) {
            return columns::found<Row>(ColumnKind::Number, key, ref, std::move(shown));
        };
        return ColumnTable<Row>{
            columns::found<Row>(ColumnKind::Text, "part",
                                [](Row& r) -> std::string& { return r.row.part; }, {"Part"}),
            columns::found<Row>(ColumnKind::Text, "group",
                                [](Row& r) -> std::string& { return r.row.group; }, {"Group"}),
            columns::derived<Row>(ColumnKind::Text, "point", {},
                                  [](const Row& r) { return r.row.edit.point; }),
            columns::found<Row>(
                ColumnKind::Text, "how", [](Row& r) -> EditOp& { return r.way.how; },
                {"Replaced by"}, editOpNames()),
            columns::text(&Row::metric, "metric"),
            number("base", {"With it", value}, [](Row& r) -> double& { return r.way.change.base; }),
            number("edited", {"Without it", value},
                   [](Row& r) -> double& { return r.way.change.edited; }),
            number("change", {"Change", change, "With its 95 % interval", "low", "high"},
                   [](Row& r) -> double& { return r.way.change.change; }),
            number("low", {}, [](Row& r) -> double& { return r.way.change.low; }),
            number("high", {}, [](Row& r) -> double& { return r.way.change.high; }),
            number("changed_answers", {"Changed answers", {1, true}},
                   [](Row& r) -> double& { return r.way.changedAnswers; }),
            number("part_norm", {"Norm"}, [](Row& r) -> double& { return r.row.partNorm; }),
            number("stream_norm", {}, [](Row& r) -> double& { return r.row.streamNorm; }),
            columns::integer(&Row::examples, "examples"),
            columns::text(&Row::use, "use",
                          {use, {}, "Whether the model needs it, beside the loss that matters"}),
            number("adds",
                   {{}, change, "What it adds to the others of its group", "adds_low", "adds_high"},
                   [](Row& r) -> double& { return r.adds.change; }),
            number("adds_low", {}, [](Row& r) -> double& { return r.adds.low; }),
            number("adds_high", {}, [](Row& r) -> double& { return r.adds.high; }),
            number("group_out", {}, [](Row& r) -> double& { return r.adds.base; }),
            columns::text(&Row::edit, "edit")};
    };
    return build(percent);
}

struct CumulativeLine {
    std::int64_t removed = 0;
    std::string part;
    EditOp how = EditOp::Mean;
    double edited = 0.0;
};

const ColumnTable<CumulativeLine>& cumulativeColumns() {
    using Row = CumulativeLine;
    static const ColumnTable<Row> all = {
        columns::integer(&Row::removed, "removed", {"Removed"}),
        columns::text(&Row::part, "part", {"Part"}),
        columns::found<Row>(
            ColumnKind::Text, "how", [](Row& r) -> EditOp& { return r.how; }, {"Replaced by"},
            editOpNames()),
        columns::number(&Row::edited, "edited", {"Metric", {4}})};
    return all;
}

ColumnTable<AblationTable::Pair> pairColumns(bool percent) {
    using Row = AblationTable::Pair;
    const NumberFormat change{percent ? 1 : 3, percent, true};
    return {columns::text(&Row::first, "first", {"Part"}),
            columns::text(&Row::second, "second", {"and"}),
            columns::number(&Row::joint, "joint_change", {"Together", change}),
            columns::number(&Row::interaction, "interaction", {"Interaction", change})};
}

const ColumnTable<AblationTable>& ablationFacts() {
    using Row = AblationTable;
    static const ColumnTable<Row> all = {
        columns::text(&Row::metric, "metric", {"Metric"}),
        columns::integer(&Row::examples, "examples", {"Examples"}),
        columns::integer(&Row::wanted, "wanted"),
        columns::number(&Row::base, "base", {"With every part", {4}}),
        columns::flag(&Row::text, "text"),
        columns::integer(&Row::available, "available"),
        columns::integer(&Row::different, "different"),
        columns::integer(&Row::meanOf, "mean_of"),
        columns::flag(&Row::oneAnswer, "one_answer"),
        columns::integer(&Row::shift, "shift")};
    return all;
}

ColumnTable<double> untrainedColumns() {
    return {columns::found<double>(ColumnKind::Number, "untrained",
                                   [](double& value) -> double& { return value; })};
}

const ColumnTable<ClaimedUses>& claimColumns() {
    using Row = ClaimedUses;
    static const ColumnTable<Row> all = {columns::number(&Row::least, "least_cost"),
                                         columns::text(&Row::remark, "remark")};
    return all;
}

}  // namespace

const std::vector<std::string>& editOpNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (int k = 0; k < kEditOps; ++k) all.emplace_back(editOpName(static_cast<EditOp>(k)));
        return all;
    }();
    return names;
}

std::string editText(const Edit& edit) {
    if (edit.point.empty()) return {};
    EditList list;
    list.edits = {edit};
    return nlohmann::ordered_json::parse(editsToJson(list)).at("edits").at(0).dump();
}

Edit editOfText(const std::string& text) {
    if (text.empty()) return {};
    const nlohmann::ordered_json file = {
        {"format", kEditFormat}, {"edits", {nlohmann::ordered_json::parse(text, nullptr, false)}}};
    return editsFromJson(file.dump(), "an answer").edits.at(0);
}

std::string useHeading(const std::string& metric, double least) {
    if (!(least > 0.0)) return "Use";
    const bool percent = metricInfo(metric).isFraction();
    return "Use (" + fixedField(percent ? 100.0 * least : least, percent ? 1 : 3) +
           (percent ? " points)" : ")");
}

Answer answerOf(const AblationTable& table, const ClaimedUses& uses) {
    std::vector<AblationLine> lines;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        AblationLine line{table.rows[r], editText(table.rows[r].edit),
                          r < uses.words.size() ? uses.words[r] : std::string(), table.metric};
        if (table.rows[r].adds) line.adds = *table.rows[r].adds;
        line.examples = table.examples;
        line.row.ways.clear();
        for (const auto& way : table.rows[r].ways) {
            line.way = way;
            lines.push_back(line);
        }
    }
    std::vector<CumulativeLine> removed;
    for (const auto& [part, edited] : table.cumulative)
        removed.push_back(
            {static_cast<std::int64_t>(removed.size()) + 1, part, table.cumulativeWay, edited});
    const bool percent = metricInfo(table.metric).isFraction();
    Answer answer{
        {factsOf(ablationFacts(), table),
         tableOf("rows", "", lineColumns(percent, useHeading(table.metric, uses.least)), lines)}};
    if (std::any_of(lines.begin(), lines.end(),
                    [](const auto& line) { return line.way.refit.has_value(); }))
        for (auto& column : tableOf("", "", refitColumns(percent), lines).columns)
            answer.tables.back().columns.push_back(std::move(column));
    for (auto& column : factsOf(claimColumns(), uses).columns)
        answer.tables.front().columns.push_back(std::move(column));
    if (!table.untrained.empty())
        answer.tables.push_back(tableOf("untrained", "", untrainedColumns(), table.untrained));
    if (!removed.empty())
        answer.tables.push_back(tableOf("cumulative", "", cumulativeColumns(), removed));
    auto pairs = table.pairs;
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        return std::abs(a.interaction) > std::abs(b.interaction);
    });
    if (!pairs.empty()) answer.tables.push_back(tableOf("pairs", "", pairColumns(percent), pairs));
    answer.complete = table.examples == table.wanted;
    return answer;
}

AblationTable ablationTableOf(const Answer& answer) {
    auto table = factsIn(ablationFacts(), answer);
    const auto& rows = answer.table("rows");
    const auto refit =
        rows.find("refit") ? rowsOf(refitColumns(true), rows) : std::vector<AblationLine>();
    std::size_t at = 0;
    for (auto& line : rowsOf(lineColumns(true), rows)) {
        if (table.rows.empty() || table.rows.back().part != line.row.part) {
            line.row.edit = editOfText(line.edit);
            if (std::isfinite(line.adds.change)) {
                line.adds.metric = table.metric;
                line.adds.edited = line.adds.base + line.adds.change;
                line.row.adds = line.adds;
            }
            table.rows.push_back(line.row);
        }
        line.way.change.metric = table.metric;
        if (at < refit.size() && std::isfinite(refit[at].way.refit->edited)) {
            line.way.refit = refit[at].way.refit;
            line.way.refit->metric = table.metric, line.way.refit->base = line.way.change.base;
        }
        ++at;
        table.rows.back().ways.push_back(line.way);
    }
    if (const auto* removed = answer.find("cumulative"))
        for (const auto& line : rowsOf(cumulativeColumns(), *removed)) {
            table.cumulative.emplace_back(line.part, line.edited);
            table.cumulativeWay = line.how;
        }
    if (const auto* untrained = answer.find("untrained"))
        table.untrained = rowsOf(untrainedColumns(), *untrained);
    if (const auto* pairs = answer.find("pairs")) table.pairs = rowsOf(pairColumns(true), *pairs);
    return table;
}

std::vector<std::string> usesOf(const Answer& answer) {
    const auto& rows = answer.table("rows");
    const auto &parts = rows.texts("part"), &uses = rows.texts("use");
    std::vector<std::string> all;
    for (std::size_t k = 0; k < parts.size(); ++k)
        if (k == 0 || parts[k] != parts[k - 1]) all.push_back(uses[k]);
    return all;
}

}  // namespace relascope::core
