// SPDX-License-Identifier: GPL-3.0-or-later
// The options of an ablation, and its table as text.
#include <algorithm>
#include <cmath>

#include "analysis/ablate/options.h"
#include "analysis/pairs/claims.h"
#include "analysis/parts/part_rows.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

const std::vector<std::string> kMetrics = {"accuracy", "loss", "mean_error"};

}  // namespace

void AblationOptions::check() const {
    const auto& groups = partGroups();
    for (const auto& group : what)
        if (std::find(groups.begin(), groups.end(), group) == groups.end())
            throw OptionError("what", unknownName("group of parts", group, groups));
    if (std::find(kMetrics.begin(), kMetrics.end(), metric) == kMetrics.end())
        throw OptionError("metric", unknownName("metric", metric, kMetrics));
    if (how.empty()) throw OptionError("how", "names no operation; give zero, mean or resample");
    for (const auto op : how)
        if (op != EditOp::Zero && op != EditOp::Mean && op != EditOp::Resample)
            throw OptionError("how",
                              unknownName("way", editOpName(op), {"zero", "mean", "resample"}));
    if (examples < 1) throw OptionError("examples", std::to_string(examples) + " is below 1");
}

const FieldTable<AblationChoice>& ablationFields() {
    static const FieldTable<AblationChoice> table = [] {
        using O = AblationChoice;
        FieldTable<O> all = {
            fields::integer(&O::examples, "examples", "Examples", "number of examples, at most", 1,
                            1e8),
            fields::choice(
                &O::metric, "metric", "Metric",
                "what is measured; auto: mean_error for models that answer with numbers, "
                "else accuracy",
                {"auto", "accuracy", "loss", "mean_error"}),
            fields::texts(&O::how, "how", "Replace by", "what replaces a part",
                          {"zero", "mean", "resample"}),
            fields::texts(&O::what, "what", "Parts", "which parts are taken out", partGroups()),
            fields::boolean(&O::cumulative, "cumulative", "Cumulative curve",
                            "then remove more and more parts, the least important first"),
            fields::boolean(&O::pairs, "part_pairs", "Pairs of parts",
                            "and the pairs of the ten strongest parts"),
            fields::boolean(&O::refit, "refit", "Fit the head anew",
                            "of features with a fitted head: also with one that is fitted anew "
                            "behind each part: whether classes can still be told"),
            fields::integer(&O::untrained, "untrained", "Untrained models",
                            "models with fresh weights that answer, too: nothing is said of the "
                            "parts of a model that answers no better",
                            0, 64)};
        all[1].spec.choiceTitles = {"Automatic", "Accuracy", "Loss", "Mean error"};
        all[2].spec.choiceTitles = {"zero", "mean", "another example"};
        all[2].spec.choiceHelp = {
            "Zero: the part adds nothing",
            "Its mean over 1,024 examples (of texts 64 windows) of the training set",
            "That of another example of the split; three draws, averaged"};
        all[3].spec.choiceTitles = {"Heads", "Relations",    "Relation x head",
                                    "Paths", "Feed-forward", "Library symbols"};
        all[3].spec.choiceHelp = {"Sensory, relational and cross heads, one at a time",
                                  "One relation at a time, for every head",
                                  "One relation at a time, for one head: its column of W_r",
                                  "Of a layer: attention, all relations, all symbols",
                                  "The feed-forward part of a layer",
                                  "One symbol of a library at a time"};
        return all;
    }();
    return table;
}

Answer answerOf(const AblationTable& table) {
    const auto claims = useClaims(table);
    ClaimedUses uses;
    for (const auto& row : claims.rows) uses.words.push_back(useWord(row));
    uses.least = claims.least;
    if (!claims.better) uses.remark = noBetterText(table.metric, table.base, table.untrained);
    return answerOf(table, uses);
}

namespace {

constexpr double kStrongestParts = 10;  // whose pairs are measured

/// Passes of one example with one part out; a mean takes one for each of `references`.
double passesOf(const AblationChoice& choice, double parts, double examples, double references) {
    const auto has = [&](const char* way) {
        return static_cast<double>(std::count(choice.how.begin(), choice.how.end(), way));
    };
    const double resample = has("resample") * AblationOptions().draws;
    // The unedited pass, and one for every draw that others take their values from.
    double passes = examples * (parts * (has("zero") + has("mean") + resample) + 1 + resample);
    passes += has("mean") * references;
    if (choice.cumulative) passes += examples * parts;
    // The pictures that a head is fitted on are usually two thirds.
    if (choice.refit) passes += 3.0 * examples * parts * static_cast<double>(choice.how.size());
    const double strongest = std::min(kStrongestParts, parts);
    if (choice.pairs) passes += examples * strongest * (strongest - 1) / 2;
    return passes;
}

std::string ablationCostText(const AnalysisCost& cost, const OptionValues& values) {
    const auto choice = structOf(ablationFields(), values);
    if (choice.how.empty())
        return "choose what replaces a part: zero, its mean, or another example";
    if (choice.what.empty()) return "choose which parts are taken out";
    int count = 0;
    for (const auto& group : choice.what)
        if (const auto at = cost.parts.find(group); at != cost.parts.end()) count += at->second;
    if (count == 0) return "this model has no such parts; choose others";
    const auto examples = std::min(choice.examples, cost.examples);
    const auto ways = choice.how.size();
    const auto references =
        std::min(EditReference::usual(cost.noun == "windows of text").examples, cost.examples);
    const double expected = cost.seconds * passesOf(choice, count, static_cast<double>(examples),
                                                    static_cast<double>(references));
    return std::to_string(count) + " parts x " + std::to_string(ways) +
           (ways == 1 ? " way on " : " ways on ") + groupedNumber(examples) + " " + cost.noun +
           ": about " + roughDuration(std::max(1.0, expected));
}

std::string latexOf(const AblationTable& table) {
    std::vector<EditOp> ways;
    for (const auto& row : table.rows)
        if (row.ways.size() > ways.size()) {
            ways.clear();
            for (const auto& way : row.ways) ways.push_back(way.how);
        }
    const bool percent = metricInfo(table.metric).format == MetricFormat::Percent;
    const auto value = [&](double x) {
        return fixedField(percent ? 100.0 * x : x, percent ? 1 : 3);
    };
    std::string text = "% change of " + latexText(table.metric) + " (" +
                       (percent ? "points" : "absolute") + ") over " +
                       std::to_string(table.examples) + " examples, 95 % intervals; base " +
                       value(table.base) + "\n\\begin{tabular}{l" + std::string(ways.size(), 'r') +
                       "}\n\\toprule\npart";
    for (const auto way : ways) text += " & " + std::string(editOpName(way));
    text += " \\\\\n\\midrule\n";
    for (const auto& row : table.rows) {
        text += latexText(row.part);
        for (const auto wanted : ways) {
            text += " & ";
            for (const auto& way : row.ways)
                if (way.how == wanted)
                    text += "$" + value(way.change.change) + "$ {\\scriptsize $[" +
                            value(way.change.low) + ", " + value(way.change.high) + "]$}";
        }
        text += " \\\\\n";
    }
    return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string ablationText(const AblationTable& table, const std::vector<std::string>& uses) {
    const bool percent = metricInfo(table.metric).format == MetricFormat::Percent;
    const double scale = percent ? 100.0 : 1.0;
    const auto change = [scale](const char* format, double value) {
        return numberText(format, std::abs(value) < 1e-12 ? 0.0 : scale * value);  // of rounding
    };
    std::string text = table.metric + numberText(" %.4g", scale * table.base) +
                       (percent ? " %" : "") + " with every part, " +
                       std::to_string(table.examples) + " examples; change" +
                       (percent ? " in points" : "") + " with each part out:\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const auto& row = table.rows[r];
        text += row.part + std::string(row.part.size() < 42 ? 42 - row.part.size() : 0, ' ');
        for (const auto& way : row.ways)
            text += std::string("  ") + editOpName(way.how) + change(" %+7.3g", way.change.change) +
                    change(" [%+.3g", way.change.low) + change(", %+.3g]", way.change.high) +
                    (way.refit ? change(", head anew %+.3g", way.refit->change) : std::string());
        text += (uses[r].empty() ? "" : "  " + uses[r]) + "\n";
    }
    if (!table.cumulative.empty())
        text +=
            std::string("removed one after another (") + editOpName(table.cumulativeWay) + "):\n";
    for (const auto& [part, value] : table.cumulative)
        text += "  " + part + std::string(part.size() < 40 ? 40 - part.size() : 0, ' ') +
                numberText(" %.4g", scale * value) + "\n";
    for (const auto& pair : table.pairs)
        text += pair.first + " and " + pair.second + change(": together %+.3g", pair.joint) +
                change(", interaction %+.3g", pair.interaction) + "\n";
    return text;
}

}  // namespace

const RegisterAnalysis kAblation([] {
    Analysis a;
    a.name = "ablate";
    a.place = 20;
    a.title = "Ablation";
    a.summary = "takes each part of a model out and measures what is lost";
    a.purpose =
        "Ablation takes each part of the model out in turn and measures what that costs: which "
        "parts the answers depend on, and which the model can do without.";
    a.progressText = "Ablating";
    a.input = AnalysisInput::Data;
    a.onDemand = a.continues = true;
    a.costText = ablationCostText;
    a.onPairs = "phenomena";
    a.remark = [](const Answer& result) { return result.text("remark"); };
    a = answering(a, ablationFields(), OfferedIn::Row);
    a.latex = [](const Answer& result) { return latexOf(ablationTableOf(result)); };
    a.terminal = [](const Answer& result) {
        const auto& answer = result;
        return ablationText(ablationTableOf(answer), usesOf(answer));
    };
    return a;
});

}  // namespace relascope::core
