// SPDX-License-Identifier: GPL-3.0-or-later
// What a scan may be asked for, and its result as text.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/claims.h"
#include "analysis/scan.h"
#include "types/finite_json.h"
#include "types/metric.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<ScanOptions>& scanFields() {
    using O = ScanOptions;
    static const auto inTime = [](auto field) {
        field.automatic = [](const O&) { return std::string("as time allows"); };
        return field;
    };
    static const FieldTable<O> table = {
        fields::integer(&O::seconds, "seconds", "Seconds",
                        "about how long it may take: less time takes fewer examples, then fewer "
                        "exact effects",
                        1, 1e6),
        inTime(fields::integer(
            &O::examples, "examples", "Examples",
            "number of examples that effects are measured on, at most half of them; the others "
            "choose the parts; 0: as many as there is time for, at most 1,000, of text 32 windows",
            0, 1e6)),
        inTime(fields::integer(
            &O::exact, "exact", "Exact effects",
            "number of parts that are measured exactly; 0: groups and the strongest 5 %, "
            "at least 24, as far as there is time",
            0, 1e6)),
        fields::integer(&O::untrained, "untrained", "Untrained models",
                        "models with the same options and fresh weights that findings are compared "
                        "with; 0: none",
                        0, 64),
        inTime(fields::integer(&O::tokens, "tokens", "Tokens",
                               "of text: tokens of a window, at most; 0: all of them, of models "
                               "with 50 million parameters or more 128",
                               0, 1e6)),
        fields::text(&O::attributes, "attributes", "Attributes",
                     "a CSV file of own attributes: columns example, i, j, and one for each "
                     "attribute")};
    return table;
}

std::string partTitle(const std::string& part) {
    // "abstractor.0.rca.hook_pattern head 1": the pattern of a head is a relation.
    if (const auto first = part.find('.');
        part.find(".hook_") != std::string::npos && first + 1 < part.size() &&
        std::isdigit(static_cast<unsigned char>(part[first + 1]))) {
        const auto words = part.find(' ');
        auto title = (part.starts_with("blocks.") ? std::string("layer") : part.substr(0, first)) +
                     " " + std::to_string(std::stoll(part.substr(first + 1)) + 1);
        if (words == std::string::npos) return title;
        const auto rest = part.substr(words + 1);
        if (!rest.starts_with("head ")) return title + ", " + rest;
        return title + ", relation " + std::to_string(std::stoll(rest.substr(5)) + 1);
    }
    // After the number of the layer.
    const auto first = part.find(' ');
    const auto second = first == std::string::npos ? first : part.find(' ', first + 1);
    if (second == std::string::npos ||
        std::isdigit(static_cast<unsigned char>(part[first + 1])) == 0)
        return part;
    return part.substr(0, second) + "," + part.substr(second);
}

namespace {

using Relation = RelationAtlas::Relation;
using Way = AblationRow::Way;

// Text
// -------------------------------------------------------------------------------------------------

const Relation* mapOfPart(const ModelScan& scan, const std::string& part) {
    for (const auto& map : scan.atlas.relations)
        if (map.name == part) return &map;
    return nullptr;
}

std::string scanCsv(const ModelScan& scan) {
    std::string text =
        "part,group,estimate,estimate_size,metric,base,zero_change,zero_low,zero_high,mean_change,"
        "mean_low,mean_high,resample_change,resample_low,resample_high,use,label,attribute,auc,low,"
        "high,untrained_low,untrained_high,"
        "finding\n";
    for (const auto& part : scan.parts) {
        text += csvField(part.row.part) + "," + part.row.group + "," +
                shortestField(part.estimate) + "," + shortestField(part.estimatedSize) + "," +
                scan.metric + "," + shortestField(scan.base);
        for (const auto how : {EditOp::Zero, EditOp::Mean, EditOp::Resample}) {
            const auto at = std::find_if(part.row.ways.begin(), part.row.ways.end(),
                                         [&](const Way& way) { return way.how == how; });
            if (at == part.row.ways.end())
                text += ",,,";
            else
                for (const double value : {at->change.change, at->change.low, at->change.high})
                    text += "," + shortestField(value);
        }
        const auto* map = mapOfPart(scan, part.row.part);
        text += "," + part.use + "," + (map ? csvField(map->label) : "");
        if (map && map->attribute >= 0) {
            const auto at = static_cast<std::size_t>(map->attribute);
            const auto& fit = map->fits[at];
            text += "," + csvField(scan.atlas.attributes[at].name);
            for (const double value :
                 {fit.fixed, fit.low, fit.high, fit.untrainedLow, fit.untrainedHigh})
                text += "," + shortestField(value);
        } else {
            text += ",,,,,,";
        }
        text += ",";
        for (std::size_t k = 0; k < scan.findings.size(); ++k)
            if (scan.findings[k].part == part.row.part) text += std::to_string(k + 1);
        text += "\n";
    }
    return text;
}

nlohmann::ordered_json scanJson(const ModelScan& scan) {
    using Json = nlohmann::ordered_json;
    Json findings = Json::array(), parts = Json::array();
    for (const auto& finding : scan.findings) {
        Json one = {{"finding", finding.text},
                    {"part", finding.part},
                    {"effect", finiteJson(finding.effect)},
                    {"selectivity", finiteJson(finding.selectivity)}};
        for (const auto& check : finding.checks)
            one["checks"].push_back({{"edit", check.edit}, {"gives", finiteJson(check.value)}});
        if (finding.example >= 0)
            one["best_example"] = {
                {"example", finding.example}, {"i", finding.i}, {"j", finding.j}};
        findings.push_back(std::move(one));
    }
    for (const auto& part : scan.parts) {
        Json one = {{"part", part.row.part},
                    {"group", part.row.group},
                    {"point", part.row.edit.point},
                    {"estimate", finiteJson(part.estimate)},
                    {"estimate_size", finiteJson(part.estimatedSize)},
                    {"use", part.use}};
        for (const auto& way : part.row.ways)
            one[editOpName(way.how)] = {
                {"change", finiteJson(way.change.change)},
                {"interval", {finiteJson(way.change.low), finiteJson(way.change.high)}},
                {"changed_answers", finiteJson(way.changedAnswers)}};
        parts.push_back(std::move(one));
    }
    Json json = {{"data", scan.data},
                 {"findings", std::move(findings)},
                 {"not_found", scan.notFound},
                 {"metric", scan.metric},
                 {"base", finiteJson(scan.base)},
                 {"examples", scan.wanted},
                 {"least_cost", finiteJson(scan.least)},
                 {"looks", scan.looks},
                 {"by_chance", finiteJson(scan.byChance)},
                 {"exact", scan.exact},
                 {"untrained_models", scan.untrained},
                 {"parts", std::move(parts)}};
    if (!scan.remark.empty()) json["remark"] = scan.remark;
    if (!scan.atlas.relations.empty()) json["atlas"] = atlasAnalysis().json(scan.atlas);
    return json;
}

std::string scanText(const ModelScan& scan) {
    const MetricWords words(scan.metric);
    std::string text =
        groupedNumber(scan.wanted) + " " + scan.noun + " of " + scan.data + ", " + words.name() +
        " " + words.number(scan.base) + words.unit() +
        (scan.untrained > 0 ? ", beside " + std::to_string(scan.untrained) + " untrained models"
                            : std::string()) +
        "\n";
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        text += "\n" + std::to_string(k + 1) + ". " + scan.findings[k].text + "\n";
        if (!scan.findings[k].confirm.empty()) text += "   " + scan.findings[k].confirm + "\n";
    }
    if (!scan.notFound.empty()) text += "\nNot found:\n";
    for (const auto& sentence : scan.notFound) text += "- " + sentence + "\n";
    if (scan.looks > 0) text += "\n" + looksText(scan) + "\n";
    return text;
}

}  // namespace

std::string looksText(const ModelScan& scan) {
    return "Of " + groupedNumber(scan.looks) + " parts that were measured, " +
           fixedField(scan.byChance, 1) +
           " would count as needed by chance if each were taken by itself; the words are corrected "
           "for that (Holm).";
}

const Analysis& scanAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "scan";
        a.title = "Scan";
        a.summary = "looks through a whole model and says in sentences what its parts do";
        a.doing = "Scanning";
        a.input = AnalysisInput::Data;
        a.onDemand = a.continues = true;
        a.remark = [](const AnalysisResult& result) {
            return std::any_cast<const ModelScan&>(result).remark;
        };
        a.report = [](const AnalysisResult& result, const std::string& name,
                      const std::string& subject, const std::string& command) {
            return scanReport(std::any_cast<const ModelScan&>(result), name, subject, command);
        };
        return analysisOf<ScanOptions, ModelScan>(a, scanFields(), OfferedIn::Row, scanCsv,
                                                  scanText, scanJson);
    }();
    return analysis;
}

}  // namespace relascope::core
