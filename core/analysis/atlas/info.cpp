// SPDX-License-Identifier: GPL-3.0-or-later
// What an atlas may be asked for, and its result as text.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/atlas/answer.h"
#include "analysis/atlas/atlas.h"
#include "analysis/atlas/labels.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/hypothesis.h"
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
                         "attribute")};
        for (auto& field : hypothesisFields<O>()) all.push_back(std::move(field));
        all[1].spec.choiceTitles = {"Relations", "Attention"};
        all[1].spec.choiceHelp = {"Every relation r\u1D62\u2C7C", "The attention of every head"};
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

std::string atlasLatex(const RelationAtlas& atlas) {
    std::string text = "% " + std::to_string(atlas.examples) + " " + latexText(atlas.noun) +
                       " of " + latexText(atlas.data) +
                       "; AUC with place held fixed, 95 % intervals";
    if (!atlas.metric.empty())
        text += "; change of " + latexText(atlas.metric) +
                " without the relation, and without its layer's, "
                "replaced by the mean";
    const bool uses = !atlas.metric.empty();
    text += std::string("\n\\begin{tabular}{llrr") + (uses ? "rr" : "") +
            "}\n\\toprule\nrelation & label & AUC & untrained" + (uses ? " & alone & layer" : "") +
            " \\\\\n\\midrule\n";
    for (const auto& relation : atlas.relations) {
        text += latexText(relation.name) + " & " + latexText(relation.label) + " & ";
        if (relation.attribute >= 0) {
            const auto named = namedAttribute(atlas, relation, relation.attribute);
            text += "$" + aucText(named.auc) + "$";
            if (std::isfinite(named.low))
                text +=
                    " {\\scriptsize $[" + aucText(named.low) + ", " + aucText(named.high) + "]$}";
            text += " & ";
            if (std::isfinite(named.untrainedLow))
                text += "$" + fixedField(named.untrainedLow, 2) + "$--$" +
                        fixedField(named.untrainedHigh, 2) + "$";
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

std::string symmetryText(double ratio) {
    return std::isinf(ratio)   ? "symmetric"
           : std::isnan(ratio) ? "symmetry -"
                               : numberText("symmetry %.2f", ratio);
}

std::string atlasText(const RelationAtlas& atlas) {
    std::ostringstream out;
    out << std::to_string(atlas.examples) << " " << atlas.noun << " of " << atlas.data << ", "
        << atlas.objects << " objects each; AUC with place held fixed";
    if (atlas.untrainedModels > 0) {
        out << ", beside " << atlas.untrainedModels << " untrained models";
        if (!atlas.untrainedScores.empty()) {
            const auto [low, high] =
                std::minmax_element(atlas.untrainedScores.begin(), atlas.untrainedScores.end());
            if (!atlas.metric.empty()) {
                const MetricWords words(atlas.metric);
                out << " (" << words.name() << " " << words.number(*low) << " to "
                    << words.number(*high) << words.unit() << ")";
            }
        }
    }
    if (!atlas.metric.empty())
        out << "; change of " << atlas.metric << " over " << std::to_string(atlas.usedExamples)
            << " with the relation (its layer's) replaced";
    out << "\n";
    if (!atlas.guard.empty()) out << atlas.guard << "\n";
    for (const auto& sentence : atlas.hypotheses) out << sentence << "\n";
    const bool percent = !atlas.metric.empty() && metricInfo(atlas.metric).isFraction();
    for (const auto& relation : atlas.relations) {
        out << relation.name << ": " << relation.label << "\n";
        if (relation.attribute >= 0) {
            const auto a = static_cast<std::size_t>(relation.attribute);
            const auto& fit = relation.fits[a];
            const auto named = namedAttribute(atlas, relation, relation.attribute);
            const auto proof = proofOf(atlas, relation);
            out << "  " << (proof.empty() ? named.words + " " + aucText(named.auc) : proof);
            if (std::isfinite(fit.p)) out << numberText("; p %.3f", fit.p);
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
    return out.str();
}

}  // namespace

const RegisterAnalysis kAtlas([] {
    Analysis a;
    a.name = "atlas";
    a.place = 90;
    a.title = "Relation atlas";
    a.group = AnalysisGroup::Pairs;
    a.summary =
        "says what each relation tells about pairs of objects, and whether it was learned and is "
        "used";
    a.purpose =
        "The atlas compares each relation with attributes of the two objects, such as being "
        "the same: what it tells, whether that was learned, and whether the model needs it.";
    a.progressText = "Reading relations";
    a.page = AnalysisPage::Atlas;
    a.input = AnalysisInput::Data;
    a.onDemand = a.continues = a.kept = a.acceptsCaptures = true;
    a.costText = atlasCostText;
    a.remark = [](const Answer& result) { return result.text("remark"); };
    a.check = [](const Answer& answer) { relationAtlasOf(answer); };
    a = answering(a, atlasFields(), OfferedIn::Row);
    showAbove(a, "hypothesis");
    a.latex = [](const Answer& result) { return atlasLatex(relationAtlasOf(result)); };
    a.terminal = [](const Answer& result) { return atlasText(relationAtlasOf(result)); };
    return a;
});

}  // namespace relascope::core
