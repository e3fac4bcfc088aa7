// SPDX-License-Identifier: GPL-3.0-or-later
// What an atlas may be asked for, and its result as text.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/atlas.h"
#include "types/finite_json.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<AtlasOptions>& atlasFields() {
    static const FieldTable<AtlasOptions> table = [] {
        using O = AtlasOptions;
        FieldTable<O> all = {
            fields::integer(&O::examples, "examples", "Examples", "number of examples, at most", 2,
                            1000000),
            fields::texts(&O::what, "what", "Maps", "which maps are described",
                          {"relations", "heads"}),
            fields::integer(&O::untrained, "untrained", "Untrained models",
                            "models with the same options and fresh weights that are measured "
                            "beside it; 0: none",
                            0, 64),
            fields::integer(&O::use_examples, "use_examples", "Examples for use",
                            "number of examples that are answered without each map, of text a "
                            "32nd as many windows; 0: use is not measured",
                            0, 1000000),
            fields::boolean(
                &O::along, "along", "Along training",
                "the strongest attribute of each map at all kept steps of the run, too"),
            fields::text(&O::attributes, "attributes", "Attributes",
                         "a CSV file of own attributes: columns example, i, j, and one for each "
                         "attribute"),
            fields::text(&O::other, "other", "Other run",
                         "a run with another seed, whose maps are matched with these")};
        all[1].spec.choiceTitles = {"Relations", "Attention"};
        all[1].spec.choiceHelp = {"Every relation r_ij", "The attention of every head"};
        return all;
    }();
    return table;
}

// Text
// -------------------------------------------------------------------------------------------------

namespace {

std::string atlasCostText(const AnalysisCost& cost, const OptionValues& values) {
    const auto o = structOf(atlasFields(), values);
    if (o.what.empty()) return "choose relations, attention or both";
    int maps = 0;
    for (const auto& kind : o.what)
        if (const auto at = cost.parts.find(kind); at != cost.parts.end()) maps += at->second;
    if (maps == 0) return "this model has no such maps; choose others";
    const bool text = cost.noun == "windows of text";
    const auto examples = std::min(o.examples, cost.examples);
    const auto used = std::min(o.use_examples / (text ? AtlasOptions::kTextUse : 1), cost.examples);
    // Each map, and all of its layer, is replaced in three ways.
    const auto passes = static_cast<double>(
        examples + o.untrained * std::min(examples, AtlasOptions::kOther) + 3 * (maps + 2) * used);
    const double expected = cost.seconds * passes + cost.more * static_cast<double>(examples);
    return std::to_string(maps) + " maps on " + groupedNumber(examples) + " " + cost.noun +
           ": about " + roughDuration(std::max(1.0, expected)) +
           (o.along ? ", and the kept steps" : "");
}

std::string atlasCsv(const RelationAtlas& atlas) {
    std::string text =
        "relation,attribute,auc,low,high,p,plain_auc,untrained,untrained_low,untrained_high,"
        "initial,label,origin,use,mean,sd,positive,symmetry,effective_rank,weight_symmetry,weight_"
        "rank,"
        "share_place,share_example,share_receiver,share_sender,share_pair,group,appeared_after,"
        "appeared_by,match,match_correlation";
    std::vector<std::string> ways;
    if (!atlas.relations.empty())
        for (const auto& use : atlas.relations.front().uses) ways.push_back(use.how);
    for (const auto& way : ways)
        text += "," + atlas.metric + "_" + way + "," + atlas.metric + "_" + way + "_layer";
    text += "\n";
    // A row for each pair of relation and attribute, so that every number has its column.
    for (const auto& relation : atlas.relations) {
        const auto facts = [&] {
            std::string rest = "," + csvField(relation.label) + "," + relation.origin + "," +
                               csvField(relation.use);
            for (const double value :
                 {relation.values.mean, relation.values.sd, relation.values.positive,
                  relation.symmetry, relation.rank, relation.weightSymmetry, relation.weightRank})
                rest += "," + shortestField(value);
            for (std::size_t s = 0; s < 5; ++s)
                rest += "," + (s < relation.shares.size() ? shortestField(relation.shares[s]) : "");
            rest += "," + std::to_string(relation.group + 1);
            for (const auto step : {relation.appearedAfter, relation.appearedBy})
                rest += step < 0 ? std::string(",") : "," + std::to_string(step);
            rest += "," + csvField(relation.match) + ",";
            if (!relation.match.empty()) rest += shortestField(relation.matchCorrelation);
            for (std::size_t w = 0; w < ways.size(); ++w)
                rest += "," + (w < relation.uses.size()
                                   ? shortestField(relation.uses[w].change) + "," +
                                         shortestField(relation.uses[w].groupChange)
                                   : ",");
            return rest + "\n";
        }();
        if (relation.fits.empty()) text += csvField(relation.name) + ",,,,,,,,,," + facts;
        for (std::size_t a = 0; a < relation.fits.size(); ++a) {
            const auto& fit = relation.fits[a];
            text += csvField(relation.name) + "," + csvField(atlas.attributes[a].name);
            for (const double value :
                 {fit.fixed, fit.low, fit.high, fit.p, fit.plain, fit.untrained, fit.untrainedLow,
                  fit.untrainedHigh, fit.initial})
                text += "," + shortestField(value);
            text += facts;
        }
    }
    return text;
}

std::string atlasLatex(const RelationAtlas& atlas) {
    std::string text = "% " + std::to_string(atlas.examples) + " " + atlas.noun + " of " +
                       atlas.data + "; AUC with place held fixed, 95 % intervals";
    if (!atlas.metric.empty())
        text += "; change of " + atlas.metric +
                " without the relation, and without its layer's, "
                "replaced by the mean";
    const bool uses = !atlas.metric.empty();
    text += std::string("\n\\begin{tabular}{llrr") + (uses ? "rr" : "") +
            "}\n\\toprule\nrelation & label & AUC & untrained" + (uses ? " & alone & layer" : "") +
            " \\\\\n\\midrule\n";
    for (const auto& relation : atlas.relations) {
        text += latexText(relation.name) + " & " + latexText(relation.label) + " & ";
        if (relation.attribute >= 0) {
            const auto& fit = relation.fits[static_cast<std::size_t>(relation.attribute)];
            text += "$" + fixedField(fit.fixed, 3) + "$";
            if (std::isfinite(fit.low))
                text += " {\\scriptsize $[" + fixedField(fit.low, 3) + ", " +
                        fixedField(fit.high, 3) + "]$}";
            text += " & ";
            if (std::isfinite(fit.untrained))
                text += "$" + fixedField(fit.untrainedLow, 2) + "$--$" +
                        fixedField(fit.untrainedHigh, 2) + "$";
        } else {
            text += "& ";
        }
        if (uses && !relation.uses.empty())
            text += " & $" + fixedField(relation.uses.front().change, 3) + "$ & $" +
                    fixedField(relation.uses.front().groupChange, 3) + "$";
        text += " \\\\\n";
    }
    return text + "\\bottomrule\n\\end{tabular}\n";
}

nlohmann::ordered_json numbersJson(const std::vector<double>& values) {
    auto list = nlohmann::ordered_json::array();
    for (const double value : values) list.push_back(finiteJson(value));
    return list;
}

nlohmann::ordered_json distributionJson(const RelationAtlas::Distribution& d) {
    return {{"mean", finiteJson(d.mean)},
            {"sd", finiteJson(d.sd)},
            {"positive", finiteJson(d.positive)},
            {"quantiles", numbersJson(d.quantiles)},
            {"histogram",
             {{"low", finiteJson(d.low)}, {"high", finiteJson(d.high)}, {"counts", d.bins}}}};
}

nlohmann::ordered_json pairsJson(const std::vector<RelationAtlas::Pair>& pairs) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& pair : pairs)
        list.push_back({{"example", pair.example},
                        {"i", pair.i},
                        {"j", pair.j},
                        {"value", finiteJson(pair.value)},
                        {"pair", pair.text}});
    return list;
}

nlohmann::ordered_json atlasJson(const RelationAtlas& atlas) {
    using Json = nlohmann::ordered_json;
    Json relations = Json::array();
    const auto names = [&](const std::vector<std::int64_t>& which) {
        Json all = Json::array();
        for (const auto a : which)
            all.push_back(atlas.attributes[static_cast<std::size_t>(a)].name);
        return all;
    };
    for (const auto& relation : atlas.relations) {
        Json attributes = Json::object(), uses = Json::object();
        for (std::size_t a = 0; a < relation.fits.size(); ++a) {
            const auto& fit = relation.fits[a];
            if (atlas.attributes[a].ordered) {
                attributes[atlas.attributes[a].name] = {{"spearman", finiteJson(fit.fixed)},
                                                        {"plain_spearman", finiteJson(fit.plain)}};
                continue;
            }
            attributes[atlas.attributes[a].name] = {
                {"auc", finiteJson(fit.fixed)},
                {"interval", {finiteJson(fit.low), finiteJson(fit.high)}},
                {"p", finiteJson(fit.p)},
                {"plain_auc", finiteJson(fit.plain)},
                {"untrained", finiteJson(fit.untrained)},
                {"untrained_range", {finiteJson(fit.untrainedLow), finiteJson(fit.untrainedHigh)}},
                {"initial", finiteJson(fit.initial)}};
        }
        for (const auto& use : relation.uses)
            uses[use.how] = {
                {"change", finiteJson(use.change)},
                {"interval", {finiteJson(use.low), finiteJson(use.high)}},
                {"layer_change", finiteJson(use.groupChange)},
                {"layer_interval", {finiteJson(use.groupLow), finiteJson(use.groupHigh)}}};
        Json one = {{"relation", relation.name},
                    {"point", relation.point},
                    {"index", relation.index},
                    {"label", relation.label},
                    {"reading", relation.reading},
                    {"also", names(relation.also)},
                    {"origin", relation.origin},
                    {"use", relation.use},
                    {"values", distributionJson(relation.values)},
                    // JSON has no infinity.
                    {"symmetry", std::isinf(relation.symmetry) ? Json("symmetric")
                                                               : finiteJson(relation.symmetry)},
                    {"weight_symmetry", std::isinf(relation.weightSymmetry)
                                            ? Json("symmetric")
                                            : finiteJson(relation.weightSymmetry)},
                    {"effective_rank", finiteJson(relation.rank)},
                    {"weight_effective_rank", finiteJson(relation.weightRank)},
                    {"share_place_example_receiver_sender_pair", numbersJson(relation.shares)},
                    {"group", relation.group + 1},
                    {"attributes", std::move(attributes)}};
        if (!relation.uses.empty()) one["uses"] = std::move(uses);
        if (!relation.sent.bins.empty()) one["sent"] = distributionJson(relation.sent);
        one["highest"] = pairsJson(relation.highest);
        one["lowest"] = pairsJson(relation.lowest);
        if (!relation.head) one["near_zero"] = pairsJson(relation.nearZero);
        if (relation.appearedBy >= 0)
            one["appeared"] = {relation.appearedAfter, relation.appearedBy};
        if (!relation.match.empty())
            one["match"] = {{"relation", relation.match},
                            {"correlation", finiteJson(relation.matchCorrelation)}};
        relations.push_back(std::move(one));
    }
    Json correlation = Json::array();
    for (std::size_t l = 0; l < atlas.relations.size() && !atlas.correlation.empty(); ++l) {
        const auto row =
            atlas.correlation.begin() + static_cast<std::ptrdiff_t>(l * atlas.relations.size());
        correlation.push_back(
            numbersJson({row, row + static_cast<std::ptrdiff_t>(atlas.relations.size())}));
    }
    Json json = {{"data", atlas.data},
                 {"examples", atlas.examples},
                 {"objects", atlas.objects},
                 {"causal", atlas.causal},
                 {"permutations", atlas.permutations},
                 {"untrained_models", atlas.untrainedModels},
                 {"initial", atlas.initial}};
    if (!atlas.metric.empty()) {
        json["metric"] = atlas.metric;
        json["base"] = finiteJson(atlas.base);
        json["use_examples"] = atlas.usedExamples;
    }
    if (!atlas.remark.empty()) json["remark"] = atlas.remark;
    json["relations"] = std::move(relations);
    json["correlation_place_removed"] = std::move(correlation);
    for (const auto& join : atlas.tree)
        json["linkage"].push_back({join.first, join.second, finiteJson(join.correlation)});
    for (const auto& step : atlas.steps)
        json["steps"].push_back({{"step", step.step},
                                 {"accuracy", finiteJson(step.accuracy)},
                                 {"auc", numbersJson(step.fits)}});
    if (!atlas.otherRun.empty()) json["other_run"] = atlas.otherRun;
    for (const auto& match : atlas.matches)
        json["matches"].push_back({{"layer", match.layer},
                                   {"maps", match.heads ? "heads" : "relations"},
                                   {"matched_correlation", finiteJson(match.matched)},
                                   {"any_correlation", finiteJson(match.any)},
                                   {"explained", finiteJson(match.explained)}});
    return json;
}

std::string symmetryText(double ratio) {
    return std::isinf(ratio)   ? "symmetric"
           : std::isnan(ratio) ? "symmetry -"
                               : numberText("symmetry %.2f", ratio);
}

std::string atlasText(const RelationAtlas& atlas) {
    std::ostringstream out;
    out << std::to_string(atlas.examples) << " " << atlas.noun << " of " << atlas.data << ", "
        << atlas.objects << " objects each; AUC with place held fixed";
    if (atlas.untrainedModels > 0)
        out << ", beside " << atlas.untrainedModels << " untrained models";
    if (!atlas.metric.empty())
        out << "; change of " << atlas.metric << " over " << std::to_string(atlas.usedExamples)
            << " with the relation (its layer's) replaced";
    out << "\n";
    const bool percent = !atlas.metric.empty() && metricInfo(atlas.metric).isFraction();
    for (const auto& relation : atlas.relations) {
        out << relation.name << ": " << relation.label << "\n";
        if (relation.attribute >= 0) {
            const auto a = static_cast<std::size_t>(relation.attribute);
            const auto& fit = relation.fits[a];
            out << "  " << atlas.attributes[a].name << " " << numberText("%.3f", fit.fixed);
            if (std::isfinite(fit.low))
                out << numberText(" [%.3f", fit.low) << numberText(", %.3f]", fit.high);
            if (std::isfinite(fit.p)) out << numberText(", p %.3f", fit.p);
            if (std::isfinite(fit.untrained))
                out << numberText(", untrained %.3f", fit.untrainedLow)
                    << numberText(" to %.3f", fit.untrainedHigh);
            if (std::isfinite(fit.initial)) out << numberText(", step 0 %.3f", fit.initial);
            if (!relation.development.empty()) out << ", " << relation.development;
            out << "\n";
        }
        out << numberText("  mean %.3g", relation.values.mean)
            << numberText(", sd %.3g", relation.values.sd)
            << numberText(", above 0: %.0f %%", 100.0 * relation.values.positive) << ", "
            << symmetryText(relation.symmetry)
            << numberText(", effective rank %.2f", relation.rank);
        if (std::isfinite(relation.weightRank))
            out << numberText(" (weights %.1f)", relation.weightRank);
        out << "\n";
        if (!relation.shares.empty()) {
            out << "  variance:";
            static const char* const names[] = {" place", ", example", ", receiver", ", sender",
                                                ", pair"};
            for (std::size_t s = 0; s < 5; ++s)
                out << names[s] << numberText(" %.0f %%", 100.0 * relation.shares[s]);
            out << "\n";
        }
        for (const auto& use : relation.uses) {
            const double scale = percent ? 100.0 : 1.0;
            out << "  " << (use.how == "resample" ? "another example" : use.how) << ":"
                << numberText(percent ? " %+.1f" : " %+.3g", scale * use.change);
            if (std::isfinite(use.groupChange))
                out << numberText(percent ? " (%+.1f)" : " (%+.3g)", scale * use.groupChange);
            out << (percent ? " points\n" : "\n");
        }
    }
    for (const auto& match : atlas.matches)
        out << match.layer << (match.heads ? " heads" : " relations") << " matched with "
            << atlas.otherRun << ":" << numberText(" |correlation| %.2f", match.matched)
            << numberText(", over all assignments %.2f", match.any)
            << numberText(", R^2 of a linear map %.2f\n", match.explained);
    return out.str();
}

}  // namespace

const Analysis& atlasAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "atlas";
        a.title = "Relation atlas";
        a.summary =
            "says what each relation tells of pairs of objects, and whether it was learned and is "
            "used";
        a.doing = "Reading relations";
        a.input = AnalysisInput::Data;
        a.onDemand = a.continues = a.kept = true;
        a.costText = atlasCostText;
        a.latex = [](const AnalysisResult& result) {
            return atlasLatex(std::any_cast<const RelationAtlas&>(result));
        };
        a.remark = [](const AnalysisResult& result) {
            return std::any_cast<const RelationAtlas&>(result).remark;
        };
        return analysisOf<AtlasOptions, RelationAtlas>(a, atlasFields(), OfferedIn::Row, atlasCsv,
                                                       atlasText, atlasJson);
    }();
    return analysis;
}

}  // namespace relascope::core
