// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a scan: an HTML file with its pictures inline, and the same text as Markdown.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "analysis/ablate/answer.h"
#include "analysis/atlas/labels.h"
#include "analysis/scan/scan.h"
#include "analysis/svg_picture.h"
#include "files/command_line.h"
#include "types/metric.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Way = AblationRow::Way;
using Relation = RelationAtlas::Relation;

constexpr std::pair<EditOp, const char*> kWays[] = {
    {EditOp::Zero, "z"}, {EditOp::Mean, "a"}, {EditOp::Resample, "b"}};
constexpr const char* kLines[] = {"s0", "s1", "s2", "s3", "s4", "s5"};
constexpr std::size_t kBars = 24, kRows = 200, kExamplesShown = 6;
constexpr double kNames = 230.0, kBar = 22.0;

// Text
// -------------------------------------------------------------------------------------------------

/// A sentence of a finding: what stands between asterisks is emphasised.
std::string emphasised(const std::string& sentence) {
    std::string out;
    bool open = false;
    for (const char c : escapedXml(sentence)) {
        if (c == '*')
            out += (open = !open) ? "<em>" : "</em>";
        else
            out += c;
    }
    return open ? out + "</em>" : out;
}

/// A sentence of Markdown, in which no name is a tag of HTML.
std::string plainMarkdown(const std::string& sentence) {
    std::string out;
    for (const char c : plainName(sentence))
        out += c == '<' ? std::string("&lt;") : std::string(1, c);
    return out;
}

/// A command as code of Markdown: between more backquotes than stand in it.
std::string codeSpan(const std::string& command) {
    std::size_t longest = 0, run = 0;
    for (const char c : command) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string mark(longest + 1, '`'), space = longest > 0 ? " " : "";
    return mark + space + command + space + mark;
}

/// A cell of a table of Markdown.
std::string cell(std::string text) {
    text = plainMarkdown(text);
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.replace(at, 1, "\\|");
    return text;
}

/// Values of the metric: percent, and their changes in points.
struct Numbers {
    bool percent;
    explicit Numbers(const std::string& metric) : percent(metricInfo(metric).isFraction()) {}
    std::string value(double v) const {
        if (std::isnan(v)) return "";
        return numberWithMinus(percent ? 100.0 * v : v, percent ? 1 : 3) + (percent ? " %" : "");
    }
    std::string change(double v) const {
        if (std::isnan(v)) return "";
        const double shown = percent ? 100.0 * v : v;
        const int digits = percent ? 1 : 3;
        const bool none = std::round(shown * std::pow(10.0, digits)) == 0.0;
        return (none ? "" : shown > 0 ? "+" : "") + numberWithMinus(none ? 0.0 : shown, digits);
    }
};

const Way* wayOf(const ModelScan::Component& part, EditOp how) {
    for (const auto& way : part.row.ways)
        if (way.how == how) return &way;
    return nullptr;
}

std::string changeText(const Numbers& numbers, const Way* way) {
    if (!way) return {};
    return numbers.change(way->change.change) + " [" + numbers.change(way->change.low) + ",\u00A0" +
           numbers.change(way->change.high) + "]";
}

const Relation* mapNamed(const ModelScan& scan, const std::string& name) {
    for (const auto& map : scan.atlas.relations)
        if (map.name == name) return &map;
    return nullptr;
}

struct ReportTable {
    std::vector<std::string> heads;
    std::vector<std::vector<std::string>> rows;
    std::size_t left = 0;  ///< rows that are not shown
};

ReportTable partTable(const ModelScan& scan) {
    const Numbers numbers(scan.metric);
    ReportTable table{{"Part", "Estimate", "Zero", "Mean in its place", "Another example's",
                       useHeading(scan.metric, scan.least), "What it tells", "AUC", "Untrained"},
                      {},
                      scan.parts.size() - std::min(kRows, scan.parts.size())};
    for (std::size_t k = 0; k < std::min(kRows, scan.parts.size()); ++k) {
        const auto& part = scan.parts[k];
        std::vector<std::string> row = {
            part.title,
            std::isnan(part.estimate) ? "" : numberWithMinus(part.estimate, 4),
            changeText(numbers, wayOf(part, EditOp::Zero)),
            changeText(numbers, wayOf(part, EditOp::Mean)),
            changeText(numbers, wayOf(part, EditOp::Resample)),
            part.use};
        const auto* map = mapNamed(scan, part.row.part);
        row.push_back(map ? map->label : "");
        if (map && map->attribute >= 0) {
            const auto named = namedAttribute(scan.atlas, *map, map->attribute);
            row.push_back(aucText(named.auc));
            row.push_back(std::isfinite(named.untrainedLow)
                              ? fixedField(named.untrainedLow, 2) + " to " +
                                    fixedField(named.untrainedHigh, 2)
                              : "");
        } else {
            row.insert(row.end(), 2, "");
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// How each number was made.
std::vector<std::string> methods(const ModelScan& scan) {
    const Numbers numbers(scan.metric);
    const std::string examples = groupedNumber(scan.wanted) + " " + scan.noun;
    std::vector<std::string> all = {
        "Estimate: the sum of (mean \u2212 value) times the gradient of the loss, over " +
            groupedNumber(scan.estimated) + " " + scan.noun +
            ", with one forward and one backward pass a batch; what the loss rises by without the "
            "part, to first order. Parts are ordered by its absolute values of each example, which "
            "do not cancel; its sign means little.",
        "Exact: " + metricLabel(scan.metric) +
            " with the part replaced, minus that without, on the same " +
            groupedNumber(scan.measured) + " " + scan.noun +
            "; by zero, by its mean over training examples, and by that of another example. 95 % "
            "intervals by bootstrap over different examples (2,000 draws); where fewer than 25 "
            "change, exact ones. Of a relation it is r that is replaced, for all heads.",
        "Use: needed, if the mildest replacement costs at least " + numbers.change(scan.least) +
            (numbers.percent ? " points" : "") +
            ", counting the attention of the layer at zero, which takes the part out, too; "
            "misleading, if only another example's values cost as much; harmful, if the mildest "
            "one "
            "gains; not used, if none costs or gains as much; used, if all cost something; else "
            "undecided. Each by its whole interval. Needed together: its group is needed, and "
            "without the others of the group the model answers better with it than without it.",
        comparisonsText(scan)};
    if (!scan.atlas.relations.empty()) {
        all.push_back(
            "AUC: how often the map is larger on a pair that has the attribute than on one that "
            "has "
            "not, at the same places i, j (of texts at the same distance); over " +
            groupedNumber(scan.atlas.examples) + " " + scan.atlas.noun + " with " +
            std::to_string(scan.atlas.objects) +
            " objects each. 95 % intervals by bootstrap over examples.");
        all.push_back(
            "Label: an attribute with p < 0.01 by " + std::to_string(scan.atlas.permutations) +
            " permutations of examples (the largest of all maps and attributes counts), "
            "an AUC at least 0.1 from 0.5, and not explained by another attribute; with "
            "it all that do as well, or hold their own given the first. Conjunctions are asked, "
            "too (" +
            groupedNumber(scan.atlas.conjunctions) +
            " of each map), and are a label where they beat each of their members. Before that, "
            "what distance, place, one side or emptiness alone explain. Numbers are those of the "
            "words: of \"not\" and of opposites one minus the AUC.");
        if (scan.untrained > 0)
            all.push_back("Untrained: the same maps of " + std::to_string(scan.untrained) +
                          " models with the same options and fresh weights, on " +
                          groupedNumber(scan.otherExamples) +
                          " examples; all relations of a layer, or all its heads, count together.");
    }
    if (!scan.explanations.empty())
        all.push_back(
            "Shares: the mean difference of a map between pairs with the attribute and pairs "
            "without, split exactly by facts of the objects, and by parts of the streams, as in "
            "contrast; 95 % intervals by bootstrap over examples. Without a part: AUC of the score "
            "less the term of that part on both sides, and where it is measured the metric with "
            "that term taken off the score of every pair.");
    all.push_back(
        "Findings are ranked by effect times selectivity: what the metric loses, times how much of "
        "what untrained models miss of the attribute the map has.");
    return all;
}

// Pictures
// -------------------------------------------------------------------------------------------------

struct ReportFigure {
    std::string name, caption, svg;
};

/// The parts with the largest effects.
ReportFigure effectFigure(const ModelScan& scan) {
    const Numbers numbers(scan.metric);
    const std::string caption = "Change of " + metricLabel(scan.metric) +
                                (numbers.percent ? " in points" : "") +
                                " without each part: at zero (grey), with its mean in its place "
                                "(dark), and with another example's values (light); lines are 95 % "
                                "intervals.";
    SvgPicture svg("What the model loses without each part");
    std::vector<const ModelScan::Component*> parts;
    double low = 0.0, high = 0.0;
    for (const auto& part : scan.parts) {
        if (part.row.ways.empty() || parts.size() == kBars) continue;
        parts.push_back(&part);
        for (const auto& way : part.row.ways)
            for (const double v : {way.change.low, way.change.high, way.change.change})
                if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    }
    if (parts.empty() || low == high) return {};
    const double left = kNames + 10, right = SvgPicture::kWidth - 60;
    const auto at = [&](double v) { return left + (right - left) * (v - low) / (high - low); };
    const double top = 40, bottom = top + kBar * static_cast<double>(parts.size());
    svg.text((left + right) / 2, 12,
             "change of " + metricLabel(scan.metric) + (numbers.percent ? " (points)" : ""), "m",
             "middle", 11);
    // Four to ten lines at 1, 2 or 5 times a power of ten.
    double step = std::pow(10.0, std::floor(std::log10((high - low) / 2.0)));
    for (const double more : {5.0, 2.0, 1.0})
        if ((high - low) / (step * more) >= 4.0) {
            step *= more;
            break;
        }
    for (double k = std::ceil(low / step); k <= std::floor(high / step); ++k) {
        const double v = k * step;
        svg.line(at(v), top - 4, at(v), bottom);
        svg.text(at(v), top - 10, numbers.change(v), "m", "middle", 11);
    }
    double y = top;
    for (const auto* part : parts) {
        svg.text(kNames, y + 14, part->title, "t", "end");
        double line = y + 3;
        for (const auto& [how, style] : kWays)
            if (const auto* way = wayOf(*part, how)) {
                svg.bar(at(0.0), at(way->change.change), line, 5, style);
                svg.line(at(way->change.low), line + 2.5, at(way->change.high), line + 2.5, "l");
                line += 6;
            }
        y += kBar;
    }
    svg.line(at(0.0), top - 4, at(0.0), bottom, "l");
    return {"effects", caption, svg.file()};
}

/// The maps that findings name, with their AUCs and those of untrained models.
ReportFigure labelFigure(const ModelScan& scan) {
    SvgPicture svg("How well maps tell their attributes");
    const double left = kNames + 190, right = SvgPicture::kWidth - 20;
    const auto at = [&](double auc) { return left + (right - left) * auc; };
    constexpr double kTop = 40;
    double y = kTop;
    for (std::size_t k = 0; k < scan.findings.size(); ++k)
        for (const auto m : scan.findings[k].maps) {
            const auto& map = scan.atlas.relations[static_cast<std::size_t>(m)];
            if (map.labelled < 0) continue;
            const auto fit = namedAttribute(scan.atlas, map, map.labelled);
            svg.text(left - 10, y + 14,
                     std::to_string(k + 1) + ". " + partTitle(map.name) + ": " + fit.words, "t",
                     "end");
            if (std::isfinite(fit.untrainedLow))
                svg.bar(at(fit.untrainedLow), at(fit.untrainedHigh), y + 6, 8, "u");
            if (std::isfinite(fit.low)) svg.line(at(fit.low), y + 10, at(fit.high), y + 10, "l");
            svg.dot(at(fit.auc), y + 10);
            y += kBar;
        }
    if (y == kTop) return {};
    svg.text((left + right) / 2, 12, "AUC within places", "m", "middle", 11);
    for (const double auc : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        svg.line(at(auc), kTop - 4, at(auc), y);
        svg.text(at(auc), kTop - 10, fixedField(auc, 2), "m", "middle", 11);
    }
    return {"labels",
            "AUC of each map of a finding, place held fixed (dot, with its 95 % interval), and the "
            "range of untrained models (bar); 0.5 is chance.",
            svg.file()};
}

/// What separates the pairs of each finding, by facts and by parts.
ReportFigure shareFigure(const ModelScan& scan) {
    SvgPicture svg("What separates the pairs");
    double most = 1.0, least = 0.0, y = 16;
    const auto each = [&](const auto& work) {
        for (std::size_t k = 0; k < scan.findings.size(); ++k)
            if (const auto* one = explanationOf(scan, scan.findings[k])) work(k, *one);
    };
    each([&](std::size_t, const auto& one) {
        for (const auto& bar : one.bars)
            for (const double v : {bar.high, bar.share, bar.untrainedHigh})
                if (std::isfinite(v)) most = std::max(most, v);
        for (const auto& bar : one.bars)
            for (const double v : {bar.low, bar.share, bar.untrainedLow})
                if (std::isfinite(v)) least = std::min(least, v);
    });
    const double left = kNames + 190, right = SvgPicture::kWidth - 60;
    const auto at = [&](double v) { return left + (right - left) * (v - least) / (most - least); };
    bool any = false;
    each([&](std::size_t k, const auto& one) {
        any = true;
        svg.text(0, y, std::to_string(k + 1) + ". " + partTitle(one.map));
        y += 8;
        for (const auto& bar : one.bars) {
            svg.text(left - 10, y + 14, bar.label, "t", "end", 11);
            if (std::isfinite(bar.untrainedLow))
                svg.bar(at(bar.untrainedLow), at(bar.untrainedHigh), y + 2, 16, "u");
            svg.bar(at(0.0), at(bar.share), y + 6, 8, "a");
            if (std::isfinite(bar.low)) svg.line(at(bar.low), y + 10, at(bar.high), y + 10, "l");
            svg.text(right + 8, y + 14, numberWithMinus(100.0 * bar.share, 0) + " %", "m", "start",
                     11);
            y += kBar;
        }
        y += 18;
    });
    if (!any) return {};
    return {"shares",
            "Shares of the difference of each map between pairs with the attribute and pairs "
            "without, by facts of both objects and, from layer 2 on, by parts of both streams; the "
            "largest of each. Lines are 95 % intervals, wide bars the range of untrained models.",
            svg.file()};
}

/// Whether the attribute of the label holds for a pair; empty: it is not defined.
std::string holdsMark(const RelationAtlas::Pair& pair) {
    return pair.holds < 0 ? "" : pair.holds > 0 ? "\u2713" : "\u2717";
}

/// The pairs of objects on which the maps of findings are largest (or smallest: "not").
ReportFigure exampleFigure(const ModelScan& scan) {
    SvgPicture svg("Best examples");
    double y = 16;
    bool any = false;
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        const auto& finding = scan.findings[k];
        if (finding.maps.empty()) continue;
        const auto& map = scan.atlas.relations[static_cast<std::size_t>(finding.maps.front())];
        if (map.labelled < 0) continue;
        const auto& pairs = map.highest;
        if (pairs.empty()) continue;
        any = true;
        svg.text(0, y,
                 std::to_string(k + 1) + ". " + partTitle(map.name) + ": " +
                     namedAttributes(scan.atlas, map).front().words);
        y += 8;
        const auto shown = std::min(kExamplesShown, pairs.size());
        if (const auto& first = pairs.front().picture; !first.empty()) {
            // Two cards side by side are wider than high.
            const double side = std::min(96.0, 112.0 * first.height / std::max(1, first.width));
            for (std::size_t p = 0; p < shown; ++p) {
                const double x = 120.0 * static_cast<double>(p);
                const auto& picture = pairs[p].picture;
                if (picture.empty()) continue;
                svg.picture(x, y, side, picture);
                if (const auto columns = scan.atlas.columns; columns > 0) {
                    const double cell = side / static_cast<double>(columns);
                    for (const auto& [object, style] :
                         {std::pair(pairs[p].i, "i"), std::pair(pairs[p].j, "j")})
                        svg.frame(x + cell * static_cast<double>(object % columns),
                                  y + cell * static_cast<double>(object / columns), cell, style);
                }
                const auto arrow = pairs[p].text.find(" \u2190 ");
                if (const auto mark = holdsMark(pairs[p]); !mark.empty())
                    svg.text(x + 104, y + 12, mark, "t", "middle", 12);
                svg.text(x, y + side + 12, pairs[p].text.substr(0, arrow), "m", "start", 8);
                if (arrow != std::string::npos)
                    svg.text(x, y + side + 22, pairs[p].text.substr(arrow + 1), "m", "start", 8);
            }
            y += side + 46;
        } else {
            for (std::size_t p = 0; p < shown; ++p)
                svg.text(12, y += 18,
                         numberWithMinus(pairs[p].value, 2) + "  " + holdsMark(pairs[p]) + "  " +
                             validUtf8(pairs[p].text),
                         "m", "start", 12);
            y += 30;
        }
    }
    if (!any) return {};
    return {
        "examples",
        "Pairs of objects, i \u2190 j (i receives from j), on which the maps of the findings are "
        "largest, one of an example; i in a full frame, j in a dashed one. \u2713: the attribute "
        "holds, \u2717: it does not; no mark: it is not defined, as with an empty place.",
        svg.file()};
}

/// AUCs of the maps of findings along training, and the accuracy.
ReportFigure stepFigure(const ModelScan& scan) {
    const auto& steps = scan.atlas.steps;
    if (steps.size() < 3) return {};
    SvgPicture svg("Along training");
    const double left = 40, right = SvgPicture::kWidth - 210, top = 28, bottom = 228;
    const double last = std::log1p(static_cast<double>(steps.back().step));
    const auto x = [&](std::int64_t step) {
        return left + (right - left) * std::log1p(static_cast<double>(step)) / std::max(1e-9, last);
    };
    const auto y = [&](double v) { return bottom - (bottom - top) * std::clamp(v, 0.0, 1.0); };
    for (const double v : {0.0, 0.5, 1.0}) {
        svg.line(left, y(v), right, y(v));
        svg.text(left - 6, y(v) + 4, fixedField(v, 1), "m", "end", 11);
    }
    double before = -100.0;
    for (const auto& step : steps)
        if (x(step.step) - before > 44)
            svg.text(before = x(step.step), bottom + 18, std::to_string(step.step), "m", "middle",
                     11);
    const bool accuracy = !metricInfo(scan.metric).lowerIsBetter;
    svg.text(0, 12, "AUC within places" + (accuracy ? ", " + metricLabel(scan.metric) : ""), "m",
             "start", 11);
    svg.text((left + right) / 2, bottom + 36, "step, as log(step + 1)", "m", "middle", 11);
    struct Label {
        double at;
        std::string words;
        const char* style;
    };
    std::vector<Label> labels;
    for (const auto& finding : scan.findings) {
        if (finding.maps.empty()) continue;
        const auto m = static_cast<std::size_t>(finding.maps.front());
        if (scan.atlas.relations[m].labelled < 0) continue;
        std::vector<std::pair<double, double>> points;
        for (const auto& step : steps)
            if (m < step.fits.size() && std::isfinite(step.fits[m]))
                points.emplace_back(x(step.step), y(step.fits[m]));
        if (points.empty()) continue;
        const auto* style = kLines[labels.size() % std::size(kLines)];
        svg.path(points, style);
        labels.push_back({points.back().second, partTitle(scan.atlas.relations[m].name), style});
    }
    if (labels.empty()) return {};
    if (accuracy) {
        std::vector<std::pair<double, double>> points;
        for (const auto& step : steps) points.emplace_back(x(step.step), y(step.accuracy));
        svg.path(points, "q");
        labels.push_back({points.back().second, metricLabel(scan.metric), "m"});
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [](const Label& a, const Label& b) { return a.at < b.at; });
    double above = -100.0;
    for (const auto& label : labels) {
        above = std::max(label.at, above + 14.0);
        svg.text(right + 6, above + 4, label.words, label.style, "start", 11);
    }
    return {
        "training",
        "AUC of the maps of the findings at the kept steps of the run, with the accuracy of the "
        "model (dashed).",
        svg.file()};
}

// The files
// -------------------------------------------------------------------------------------------------

const char* const kPage =
    ":root{color-scheme:light dark}body{max-width:760px;margin:2em auto;padding:0 1em;"
    "font:16px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}li{margin:.5em 0}"
    "figure{margin:1.5em 0}figure svg{max-width:100%;height:auto}"
    "figcaption,.small{color:#6b6b6b;font-size:.85em}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.8em}"
    "th,td{padding:.2em .5em;text-align:right;vertical-align:top;border-bottom:1px solid #e3e3e3}"
    "th:first-child,td:first-child,td:nth-child(6),th:nth-child(6),td:nth-child(7),"
    "th:nth-child(7){text-align:left}"
    "pre{background:#f4f4f4;padding:.7em;overflow-x:auto;font-size:.85em}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1c1c1e}"
    "figcaption,.small{color:#a0a0a0}th,td{border-color:#3a3a3c}pre{background:#2c2c2e}}";

std::string introduction(const ModelScan& scan) {
    std::int64_t exact = 0;
    for (const auto& part : scan.parts) exact += !part.row.ways.empty();
    return scan.heading + ". " + groupedNumber(std::ssize(scan.parts)) + " parts estimated, " +
           groupedNumber(exact) + " measured exactly, " +
           groupedNumber(std::ssize(scan.described)) + " maps compared with " +
           groupedNumber(std::ssize(scan.atlas.attributes)) + " attributes and " +
           std::to_string(scan.untrained) +
           " untrained models. One run, one seed: whether other seeds learn the same is not "
           "measured.";
}

/// What the sentences do not explain.
const char* const kTerms =
    "AUC within places: how often a map is larger on a pair i \u2190 j (i receives from j) that "
    "has "
    "the attribute than on one that has not, both at the same places i and j; 0.5 is chance.";

/// The commands that confirm a finding, made from the words of the scan, and what each gives. The
/// edits of a scan are below those that take parts out, which a command cannot say.
std::vector<std::pair<std::string, std::string>> checksOf(const ModelScan& scan,
                                                          const ModelScan::Finding& finding,
                                                          const std::vector<std::string>& command) {
    using Words = std::vector<std::string>;
    const auto isOneOf = [](const Words& options) {
        return [options](const std::string& word) {
            return std::find(options.begin(), options.end(), word) != options.end();
        };
    };
    if (command.empty() || command[0] != "scan" ||
        std::any_of(command.begin(), command.end(), isOneOf({"--edit"})))
        return {};
    const Words subject(command.begin() + 1,
                        std::find_if(command.begin(), command.end(),
                                     isOneOf({"--seconds", "--examples", "--exact", "--untrained",
                                              "--attributes", "--tokens"})));
    std::vector<std::pair<std::string, std::string>> checks;
    Words eval = {"eval"}, contrast = {"contrast"};
    eval.insert(eval.end(), subject.begin(), subject.end());
    contrast.insert(contrast.end(), subject.begin(), subject.end());
    std::replace(eval.begin(), eval.end(), std::string("--text"), std::string("--data"));
    addWords(eval, "--examples", std::to_string(scan.measured));
    if (scan.tokens > 0) addWords(eval, "--tokens", std::to_string(scan.tokens));
    for (const auto& check : finding.checks) {
        auto words = eval;
        addWords(words, "--edit", check.edit);
        checks.emplace_back(commandLine(words), "gives " + Numbers(scan.metric).value(check.value));
    }
    if (const auto* why = explanationOf(scan, finding))
        checks.emplace_back(commandLine(contrast) + " " + why->command, "gives the shares");
    return checks;
}

std::string htmlOf(const ModelScan& scan, const std::string& subject,
                   const std::vector<std::string>& words,
                   const std::vector<ReportFigure>& figures) {
    const auto command = commandLine(words);
    const std::string title = "Scan of " + escapedXml(subject);
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<meta name=\"generator\" content=\"Relascope\"><meta name=\"command\" content=\"" +
        escapedXml(command) + "\"><title>" + title + "</title><style>" + kPage +
        "</style></head><body>\n<h1>" + title + "</h1>\n<p>" + escapedXml(introduction(scan)) +
        "</p>\n";
    for (const auto& sentence : scan.atlas.hypotheses)
        page += "<p>" + emphasised(sentence) + "</p>\n";
    page += "<h2>Findings</h2>\n";
    if (scan.findings.empty()) page += "<p>There are none.</p>\n";
    page += "<ol>\n";
    for (const auto& finding : scan.findings) {
        page += "<li><details><summary>" + emphasised(finding.text) + "</summary>";
        if (!finding.proof.empty())
            page += "<div class=\"small\">" + emphasised(finding.proof) + "</div>";
        for (const auto& [check, gives] : checksOf(scan, finding, words))
            page += "<div class=\"small\"><code>" + escapedXml(check) + "</code> " +
                    escapedXml(gives) + "</div>";
        page += "</details></li>\n";
    }
    page += "</ol>\n";
    if (!scan.atlas.relations.empty())
        page += "<p class=\"small\">" + escapedXml(kTerms) + "</p>\n";
    for (const auto& figure : figures)
        page += "<figure>" + figure.svg + "<figcaption>" + escapedXml(figure.caption) +
                "</figcaption></figure>\n";
    if (!scan.notFound.empty()) page += "<h2>What was not found</h2>\n<ul>\n";
    for (const auto& sentence : scan.notFound) page += "<li>" + emphasised(sentence) + "</li>\n";
    if (!scan.notFound.empty()) page += "</ul>\n";
    if (!scan.remark.empty()) page += "<p>" + escapedXml(scan.remark) + "</p>\n";
    const auto table = partTable(scan);
    page += "<h2>Parts</h2>\n<div class=\"wide\"><table><tr>";
    for (const auto& head : table.heads) page += "<th>" + escapedXml(head) + "</th>";
    page += "</tr>\n";
    for (const auto& row : table.rows) {
        page += "<tr>";
        for (const auto& one : row) page += "<td>" + escapedXml(one) + "</td>";
        page += "</tr>\n";
    }
    page += "</table></div>\n";
    if (table.left > 0)
        page += "<p class=\"small\">and " + groupedNumber(static_cast<std::int64_t>(table.left)) +
                " weaker parts.</p>\n";
    page += "<h2>How each number was made</h2>\n<ul class=\"small\">\n";
    for (const auto& method : methods(scan)) page += "<li>" + escapedXml(method) + "</li>\n";
    return page + "</ul>\n<h2>Again</h2>\n<pre>" + escapedXml(command) + "</pre>\n</body></html>\n";
}

std::string markdownOf(const ModelScan& scan, const std::string& subject,
                       const std::vector<std::string>& words,
                       const std::vector<ReportFigure>& figures, const std::string& name) {
    std::string page =
        "# Scan of " + plainMarkdown(subject) + "\n\n" + plainMarkdown(introduction(scan)) + "\n\n";
    for (const auto& sentence : scan.atlas.hypotheses) page += plainMarkdown(sentence) + "\n\n";
    page += "## Findings\n\n";
    if (scan.findings.empty()) page += "There are none.\n";
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        page += std::to_string(k + 1) + ". " + plainMarkdown(scan.findings[k].text) + "\n";
        if (!scan.findings[k].proof.empty())
            page += "   - " + plainMarkdown(scan.findings[k].proof) + "\n";
        for (const auto& [check, gives] : checksOf(scan, scan.findings[k], words))
            page += "   - " + codeSpan(check) + " " + gives + "\n";
    }
    if (!scan.atlas.relations.empty()) page += "\n" + std::string(kTerms) + "\n";
    page += "\n";
    for (const auto& figure : figures)
        page +=
            "![" + plainMarkdown(figure.caption) + "](" + name + "-" + figure.name + ".svg)\n\n";
    if (!scan.notFound.empty()) page += "## What was not found\n\n";
    for (const auto& sentence : scan.notFound) page += "- " + plainMarkdown(sentence) + "\n";
    if (!scan.remark.empty()) page += "\n" + plainMarkdown(scan.remark) + "\n";
    page += "\n";
    const auto table = partTable(scan);
    page += "## Parts\n\n|";
    for (const auto& head : table.heads) page += " " + head + " |";
    page += "\n|";
    for (std::size_t c = 0; c < table.heads.size(); ++c)
        page += c == 0 || c == 5 || c == 6 ? "---|" : "---:|";
    page += "\n";
    for (const auto& row : table.rows) {
        page += "|";
        for (const auto& one : row) page += " " + cell(one) + " |";
        page += "\n";
    }
    if (table.left > 0)
        page +=
            "\nand " + groupedNumber(static_cast<std::int64_t>(table.left)) + " weaker parts.\n";
    page += "\n## How each number was made\n\n";
    for (const auto& method : methods(scan)) page += "- " + plainMarkdown(method) + "\n";
    return page + "\n## Again\n\n```\n" + commandLine(words) + "\n```\n";
}

}  // namespace

std::vector<ReportFile> scanReport(const ModelScan& scan, const std::string& name,
                                   const std::string& subject,
                                   const std::vector<std::string>& command) {
    std::vector<ReportFigure> figures;
    for (auto&& figure : {effectFigure(scan), labelFigure(scan), shareFigure(scan),
                          exampleFigure(scan), stepFigure(scan)})
        if (!figure.svg.empty()) figures.push_back(figure);
    // The command names the options that the time decided, so that it gives the same numbers.
    auto again = command;
    for (const auto& [option, count] :
         {std::pair("--examples", scan.wanted), std::pair("--exact", scan.exact),
          std::pair("--untrained", scan.untrained), std::pair("--tokens", scan.tokens)})
        if (!command.empty() &&
            std::find(command.begin(), command.end(), option) == command.end() &&
            (count > 0 || !scan.text))
            addWords(again, option, std::to_string(count));
    std::vector<ReportFile> files = {
        {name + ".html", htmlOf(scan, subject, again, figures)},
        {name + ".md", markdownOf(scan, subject, again, figures, name)}};
    for (auto& figure : figures)
        files.push_back({name + "-" + figure.name + ".svg", std::move(figure.svg)});
    return files;
}

}  // namespace relascope::core
