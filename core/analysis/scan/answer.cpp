// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/scan/answer.h"

#include <algorithm>
#include <cmath>

#include "analysis/ablate/answer.h"
#include "analysis/atlas/answer.h"
#include "answers/column_table.h"
#include "types/metric.h"

namespace relascope::core {
namespace {

using columns::found;
using columns::Shown;
using Component = ModelScan::Component;
using Finding = ModelScan::Finding;

/// A part with the shown numbers of its ways, and of its map.
struct PartLine {
    Component part;
    std::string edit, label, attribute;
    double way[3][3] = {};  ///< zero, mean and another example: change, low, high
    double auc = columns::kNone;
    double finding = columns::kNone;  ///< number of the finding, from 1
};

constexpr EditOp kShownWays[] = {EditOp::Zero, EditOp::Mean, EditOp::Resample};

ColumnTable<PartLine> partColumns(const std::string& metric, double least = 0.0) {
    using R = PartLine;
    const bool percent = metricInfo(metric.empty() ? "accuracy" : metric).isFraction();
    const NumberFormat change{percent ? 1 : 3, percent, true};
    const auto text = [](const char* key, auto ref, Shown shown = {}) {
        return found<R>(ColumnKind::Text, key, ref, std::move(shown));
    };
    const auto number = [](const std::string& key, auto ref, Shown shown = {}) {
        return found<R>(ColumnKind::Number, key, ref, std::move(shown));
    };
    ColumnTable<R> all = {
        text("title", [](R& r) -> std::string& { return r.part.title; },
             {"Part", {}, "Relations together: all of a layer at once"}),
        text("part", [](R& r) -> std::string& { return r.part.row.part; }),
        text("group", [](R& r) -> std::string& { return r.part.row.group; }),
        number("estimate", [](R& r) -> double& { return r.part.estimate; },
               {"Estimate",
                {4, false, true},
                "First-order estimate of what the loss rises by without the part"}),
        number("estimate_size", [](R& r) -> double& { return r.part.estimatedSize; })};
    const std::pair<const char*, const char*> titles[] = {
        {"Zero", "Change of the metric with the part at zero"},
        {"Mean", "Change of the metric with the mean of the part in its place"},
        {"Other", "Change of the metric with the values of another example"}};
    for (std::size_t w = 0; w < 3; ++w) {
        const std::string name = editOpName(kShownWays[w]);
        const auto value = [w](std::size_t k) {
            return [w, k](R& r) -> double& { return r.way[w][k]; };
        };
        all.push_back(
            number(name + "_change", value(0),
                   {titles[w].first, change, titles[w].second, name + "_low", name + "_high"}));
        all.push_back(number(name + "_low", value(1)));
        all.push_back(number(name + "_high", value(2)));
    }
    for (auto& column : ColumnTable<R>{
             text("use", [](R& r) -> std::string& { return r.part.use; },
                  {useHeading(metric, least),
                   {},
                   "Needed: the mildest replacement costs more than this. Misleading: only another "
                   "example's values do. Harmful: it gains. Not used: none costs or gains as "
                   "much. Used: all cost something, and whether more than this is not known. "
                   "Needed together: with others of its group. Undecided: more examples are "
                   "needed."}),
             text("label", [](R& r) -> std::string& { return r.label; },
                  {"Label", {}, "What the map tells of pairs of objects"}),
             text("attribute", [](R& r) -> std::string& { return r.attribute; }),
             number("auc", [](R& r) -> double& { return r.auc; },
                    {"AUC", {}, "AUC of its strongest attribute, place held fixed"}),
             found<R>(ColumnKind::Integer, "finding", [](R& r) -> double& { return r.finding; }),
             found<R>(ColumnKind::Flag, "together", [](R& r) -> bool& { return r.part.together; }),
             number("part_norm", [](R& r) -> double& { return r.part.row.partNorm; }),
             number("stream_norm", [](R& r) -> double& { return r.part.row.streamNorm; }),
             text("edit", [](R& r) -> std::string& { return r.edit; })})
        all.push_back(std::move(column));
    return all;
}

/// A way in which a part was replaced.
struct WayLine {
    std::int64_t part = 0;
    AblationRow::Way way;
};
const ColumnTable<WayLine>& wayColumns() {
    using R = WayLine;
    const auto number = [](const char* key, auto ref) {
        return found<R>(ColumnKind::Number, key, ref);
    };
    static const ColumnTable<R> all = {
        columns::integer(&R::part, "part", {{}, {}, {}, {}, {}, "parts"}),
        found<R>(
            ColumnKind::Text, "how", [](R& r) -> EditOp& { return r.way.how; }, {}, editOpNames()),
        number("base", [](R& r) -> double& { return r.way.change.base; }),
        number("edited", [](R& r) -> double& { return r.way.change.edited; }),
        number("change", [](R& r) -> double& { return r.way.change.change; }),
        number("low", [](R& r) -> double& { return r.way.change.low; }),
        number("high", [](R& r) -> double& { return r.way.change.high; }),
        number("changed_answers", [](R& r) -> double& { return r.way.changedAnswers; })};
    return all;
}

/// What a part adds to its group.
struct AddsLine {
    std::int64_t part = 0;
    PairedChange adds;
};
const ColumnTable<AddsLine>& addsColumns() {
    using R = AddsLine;
    const auto number = [](const char* key, double PairedChange::*member) {
        return found<R>(ColumnKind::Number, key,
                        [member](R& r) -> double& { return r.adds.*member; });
    };
    static const ColumnTable<R> all = {
        columns::integer(&R::part, "part", {{}, {}, {}, {}, {}, "parts"}),
        number("base", &PairedChange::base),
        number("edited", &PairedChange::edited),
        number("change", &PairedChange::change),
        number("low", &PairedChange::low),
        number("high", &PairedChange::high)};
    return all;
}

const ColumnTable<Finding>& findingColumns() {
    using R = Finding;
    static const ColumnTable<R> all = {columns::text(&R::text, "finding", {"Finding"}),
                                       columns::text(&R::proof, "proof", {"Numbers"}),
                                       columns::text(&R::part, "part"),
                                       columns::number(&R::effect, "effect"),
                                       columns::number(&R::selectivity, "selectivity"),
                                       columns::text(&R::confirm, "confirm"),
                                       columns::integer(&R::example, "example"),
                                       columns::integer(&R::i, "i"),
                                       columns::integer(&R::j, "j"),
                                       columns::integer(&R::layer, "layer"),
                                       columns::integer(&R::index, "index"),
                                       columns::flag(&R::head, "head")};
    return all;
}

struct FindingMap {
    std::int64_t finding = 0, map = 0;
};
const ColumnTable<FindingMap>& findingMapColumns() {
    static const ColumnTable<FindingMap> all = {
        columns::integer(&FindingMap::finding, "finding", {{}, {}, {}, {}, {}, "findings"}),
        columns::integer(&FindingMap::map, "map", {{}, {}, {}, {}, {}, "relations"})};
    return all;
}

struct FindingCheck {
    std::int64_t finding = 0;
    Finding::Check check;
};
const ColumnTable<FindingCheck>& checkColumns() {
    using R = FindingCheck;
    static const ColumnTable<R> all = {
        columns::integer(&R::finding, "finding", {{}, {}, {}, {}, {}, "findings"}),
        found<R>(ColumnKind::Text, "edit", [](R& r) -> std::string& { return r.check.edit; }),
        found<R>(ColumnKind::Number, "gives", [](R& r) -> double& { return r.check.value; })};
    return all;
}

using Explanation = ModelScan::Explanation;
const ColumnTable<Explanation>& explanationColumns() {
    using R = Explanation;
    static const ColumnTable<R> all = {columns::text(&R::map, "map"),
                                       columns::text(&R::text, "text"),
                                       columns::text(&R::command, "command")};
    return all;
}

struct ExplanationBar {
    std::int64_t explanation = 0;
    Explanation::Bar bar;
};
const ColumnTable<ExplanationBar>& barColumns() {
    using R = ExplanationBar;
    const auto number = [](const char* key, auto ref) {
        return found<R>(ColumnKind::Number, key, ref);
    };
    static const ColumnTable<R> all = {
        columns::integer(&R::explanation, "explanation", {{}, {}, {}, {}, {}, "explanations"}),
        found<R>(ColumnKind::Text, "of", [](R& r) -> std::string& { return r.bar.of; }),
        found<R>(ColumnKind::Text, "label", [](R& r) -> std::string& { return r.bar.label; }),
        number("share", [](R& r) -> double& { return r.bar.share; }),
        number("low", [](R& r) -> double& { return r.bar.low; }),
        number("high", [](R& r) -> double& { return r.bar.high; }),
        number("untrained_low", [](R& r) -> double& { return r.bar.untrainedLow; }),
        number("untrained_high", [](R& r) -> double& { return r.bar.untrainedHigh; })};
    return all;
}

const ColumnTable<ModelScan>& scanFacts() {
    using R = ModelScan;
    static const ColumnTable<R> all = {columns::text(&R::data, "data"),
                                       columns::text(&R::noun, "noun"),
                                       columns::text(&R::where, "where"),
                                       columns::text(&R::heading, "heading"),
                                       columns::integer(&R::step, "of_step"),
                                       columns::text(&R::metric, "metric"),
                                       columns::number(&R::base, "base"),
                                       columns::flag(&R::text, "text"),
                                       columns::integer(&R::tokens, "tokens"),
                                       columns::integer(&R::wanted, "examples"),
                                       columns::integer(&R::measured, "measured"),
                                       columns::integer(&R::available, "available"),
                                       columns::integer(&R::different, "different"),
                                       columns::integer(&R::trainedOn, "trained_on"),
                                       columns::integer(&R::meanOf, "mean_of"),
                                       columns::flag(&R::oneAnswer, "one_answer"),
                                       columns::integer(&R::estimated, "estimated"),
                                       columns::integer(&R::choosing, "choosing"),
                                       columns::integer(&R::shift, "shift"),
                                       columns::integer(&R::exact, "exact"),
                                       columns::integer(&R::untrained, "untrained_models"),
                                       columns::integer(&R::otherExamples, "other_examples"),
                                       columns::flag(&R::along, "along"),
                                       columns::integer(&R::passes, "passes"),
                                       columns::integer(&R::allMaps, "all_maps"),
                                       columns::number(&R::least, "least_cost"),
                                       columns::integer(&R::comparisons, "looks"),
                                       columns::number(&R::expectedFalsePositives, "by_chance"),
                                       columns::text(&R::remark, "remark"),
                                       columns::text(&R::basis, "basis")};
    return all;
}

std::vector<PartLine> partLines(const ModelScan& scan) {
    std::vector<PartLine> lines;
    for (const auto& part : scan.parts) {
        PartLine line{part, editText(part.row.edit)};
        line.part.row.ways.clear(), line.part.row.adds.reset();
        for (std::size_t w = 0; w < 3; ++w) {
            std::fill_n(line.way[w], 3, columns::kNone);
            for (const auto& way : part.row.ways)
                if (way.how == kShownWays[w])
                    line.way[w][0] = way.change.change, line.way[w][1] = way.change.low,
                    line.way[w][2] = way.change.high;
        }
        for (const auto& map : scan.atlas.relations) {
            if (map.name != part.row.part) continue;
            line.label = map.label;
            if (map.attribute < 0) continue;
            const auto a = static_cast<std::size_t>(map.attribute);
            line.attribute = scan.atlas.attributes.at(a).name;
            line.auc = map.fits.at(a).auc;
        }
        for (std::size_t k = 0; k < scan.findings.size(); ++k)
            if (scan.findings[k].part == part.row.part) line.finding = static_cast<double>(k + 1);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace

Answer answerOf(const ModelScan& scan) {
    std::vector<WayLine> ways;
    for (std::size_t p = 0; p < scan.parts.size(); ++p)
        for (const auto& way : scan.parts[p].row.ways)
            ways.push_back({static_cast<std::int64_t>(p), way});
    std::vector<AddsLine> adds;
    for (std::size_t p = 0; p < scan.parts.size(); ++p)
        if (const auto& one = scan.parts[p].row.adds)
            adds.push_back({static_cast<std::int64_t>(p), *one});
    std::vector<FindingMap> maps;
    std::vector<FindingCheck> checks;
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        const auto finding = static_cast<std::int64_t>(k);
        for (const auto map : scan.findings[k].maps) maps.push_back({finding, map});
        for (const auto& check : scan.findings[k].checks) checks.push_back({finding, check});
    }
    std::vector<ExplanationBar> bars;
    for (std::size_t k = 0; k < scan.explanations.size(); ++k)
        for (const auto& bar : scan.explanations[k].bars)
            bars.push_back({static_cast<std::int64_t>(k), bar});
    Answer answer{{factsOf(scanFacts(), scan),
                   tableOf("parts", "Parts", partColumns(scan.metric, scan.least), partLines(scan)),
                   tableOf("findings", "Findings", findingColumns(), scan.findings),
                   textsTable("not_found", "text", scan.notFound),
                   tableOf("checks", "", checkColumns(), checks),
                   tableOf("finding_maps", "", findingMapColumns(), maps),
                   tableOf("ways", "", wayColumns(), ways),
                   tableOf("adds", "", addsColumns(), adds),
                   textsTable("described", "map", scan.described),
                   tableOf("explanations", "", explanationColumns(), scan.explanations),
                   tableOf("explanation_bars", "", barColumns(), bars)}};
    addAtlas(answer, scan.atlas);
    answer.complete = scan.passes >= 3 && scan.explained;
    return answer;
}

ModelScan modelScanOf(const Answer& answer) {
    auto scan = factsIn(scanFacts(), answer);
    for (auto& line : rowsOf(partColumns(scan.metric), answer.table("parts"))) {
        line.part.row.edit = editOfText(line.edit);
        scan.parts.push_back(std::move(line.part));
    }
    for (auto& line : rowsOf(wayColumns(), answer.table("ways"))) {
        line.way.change.metric = scan.metric;
        scan.parts.at(static_cast<std::size_t>(line.part)).row.ways.push_back(line.way);
    }
    for (auto& line : rowsOf(addsColumns(), answer.table("adds"))) {
        line.adds.metric = scan.metric;
        scan.parts.at(static_cast<std::size_t>(line.part)).row.adds = line.adds;
    }
    scan.findings = rowsOf(findingColumns(), answer.table("findings"));
    for (const auto& line : rowsOf(findingMapColumns(), answer.table("finding_maps")))
        scan.findings.at(static_cast<std::size_t>(line.finding)).maps.push_back(line.map);
    for (const auto& line : rowsOf(checkColumns(), answer.table("checks")))
        scan.findings.at(static_cast<std::size_t>(line.finding)).checks.push_back(line.check);
    for (const auto& finding : scan.findings)
        for (const auto index : {finding.i, finding.j, finding.layer, finding.index})
            if (index < -1 || index > std::numeric_limits<int>::max())
                throw Error("i, j, layer or index of a finding is " + std::to_string(index));
    scan.notFound = answer.table("not_found").texts("text");
    scan.described = answer.table("described").texts("map");
    scan.explained = answer.complete;
    // Results of older programs have none.
    if (answer.find("explanations")) {
        scan.explanations = rowsOf(explanationColumns(), answer.table("explanations"));
        for (auto& line : rowsOf(barColumns(), answer.table("explanation_bars")))
            scan.explanations.at(static_cast<std::size_t>(line.explanation))
                .bars.push_back(std::move(line.bar));
    }
    scan.atlas = atlasIn(answer);
    return scan;
}

std::string findingText(std::string text) {
    bool open = false;
    for (std::size_t at = 0; (at = text.find('*', at)) != std::string::npos;)
        text.replace(at, 1, (open = !open) ? "\u201C" : "\u201D");
    return text;
}

Request requestOf(const ModelScan::Finding& finding) {
    if (finding.layer < 0) return {};
    const auto kind = !finding.head ? MapKind::Relation
                      : finding.part.find("relational") != std::string::npos
                          ? MapKind::RelationalAttention
                          : MapKind::SensoryAttention;
    const int layer = static_cast<int>(finding.layer), index = static_cast<int>(finding.index);
    if (finding.example < 0) return MapLink{kind, layer, index};
    return ExampleRequest{
        finding.example,
        {kind, layer, index, 0, static_cast<int>(finding.i), static_cast<int>(finding.j)}};
}

const ModelScan::Explanation* explanationOf(const ModelScan& scan,
                                            const ModelScan::Finding& finding) {
    if (finding.maps.empty()) return nullptr;
    const auto& map = scan.atlas.relations.at(static_cast<std::size_t>(finding.maps.front()));
    for (const auto& one : scan.explanations)
        if (one.map == map.name && !one.text.empty()) return &one;
    return nullptr;
}

AblationTable measuredTable(const ModelScan& scan) {
    AblationTable table;
    table.metric = scan.metric, table.base = scan.base, table.shift = scan.shift;
    table.examples = table.wanted = scan.measured;
    table.text = scan.text, table.available = scan.available, table.different = scan.different;
    table.meanOf = scan.meanOf, table.oneAnswer = scan.oneAnswer;
    table.untrained = scan.atlas.untrainedScores;
    for (const auto& one : scan.parts)
        if (!one.row.ways.empty()) table.rows.push_back(one.row);
    return table;
}

}  // namespace relascope::core
