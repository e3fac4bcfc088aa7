// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "analysis/atlas/labels.h"
#include "analysis/scan/report_figures.h"
#include "analysis/svg_picture.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::pair<EditOp, const char*> kWays[] = {
    {EditOp::Zero, "z"}, {EditOp::Mean, "a"}, {EditOp::Resample, "b"}};
constexpr const char* kLines[] = {"s0", "s1", "s2", "s3", "s4", "s5"};
constexpr std::size_t kBars = 24, kExamplesShown = 6;
constexpr double kNames = 230.0, kBar = 22.0;

/// The parts with the largest effects.
ReportFigure effectFigure(const ModelScan& scan) {
    const ReportNumbers numbers(scan.metric);
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

}  // namespace

const AblationRow::Way* wayOf(const ModelScan::Component& part, EditOp how) {
    for (const auto& way : part.row.ways)
        if (way.how == how) return &way;
    return nullptr;
}

std::vector<ReportFigure> reportFigures(const ModelScan& scan) {
    std::vector<ReportFigure> figures = {effectFigure(scan), labelFigure(scan), shareFigure(scan),
                                         exampleFigure(scan), stepFigure(scan)};
    std::erase_if(figures, [](const ReportFigure& figure) { return figure.svg.empty(); });
    return figures;
}

}  // namespace relascope::core
