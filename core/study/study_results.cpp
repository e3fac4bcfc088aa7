// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "options/metrics.h"
#include "options/presets.h"
#include "options/published.h"
#include "study/study.h"
#include "study/study_plan.h"
#include "study/study_results.h"
#include "types/student_t.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string seriesOf(const StudyPlan& plan, const StudyCell& cell) {
    std::string name = cell.model;
    for (std::size_t i = 0; i < plan.vary.size(); ++i)
        name += ", " + lastPart(plan.vary[i].key) + "=" + cell.values[i];
    return name;
}

double meanOf(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void summarise(StudyPoint& point, const MetricInfo& metric) {
    const auto& v = point.values;
    const auto n = static_cast<double>(v.size());
    point.mean = meanOf(v);
    if (v.size() < 2) return;
    double squares = 0.0;
    for (const double x : v) squares += (x - point.mean) * (x - point.mean);
    point.error = std::sqrt(squares / (n - 1.0) / n);
    const double reach = studentT95(static_cast<int>(v.size()) - 1) * point.error;
    point.low = point.mean - reach, point.high = point.mean + reach;
    if (!metric.isFraction()) return;
    // For few seeds the interval would reach further than a fraction can be.
    point.low = std::max(0.0, point.low), point.high = std::min(1.0, point.high);
}

std::string number(double value, const char* format = "%.5g") {
    if (std::isnan(value)) return "nan";
    char text[48];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

const PublishedPoint* publishedAt(const std::vector<PublishedPoint>& curves,
                                  const StudyPoint& point) {
    for (const auto& p : curves)
        if (p.series == point.series && p.size == point.size) return &p;
    return nullptr;
}

}  // namespace

std::vector<StudyMeasure> studyMeasures(const StudyInfo& study) {
    std::vector<StudyMeasure> all;
    const auto add = [&](StudyMeasure measure) {
        if (std::find(all.begin(), all.end(), measure) == all.end())
            all.push_back(std::move(measure));
    };
    std::string shown;
    bool byChoice = false, several = false;
    for (const auto& cell : study.cells) {
        if (cell.state != CellState::Done) continue;
        shown = cell.info.metric;
        byChoice = byChoice || cell.info.keptByChoice();
        several = several || cell.info.evaluations > 1;
        for (const auto& result : cell.info.results)
            for (const auto& [metric, value] : result.values) add({metric, result.split});
    }
    if (shown.empty()) return all;
    // The values by which nothing was chosen come first: for noise they are at chance.
    if (byChoice) add({shown, kLastValidation});
    add({shown, kValidation});
    if (several) add({shown, kBestValidation});
    std::stable_partition(all.begin(), all.end(),
                          [&](const StudyMeasure& m) { return m.metric == shown; });
    return all;
}

std::string splitTitle(const StudyInfo& study, const StudyMeasure& measure) {
    bool byChoice = false;
    std::int64_t least = 0, most = 0;
    for (const auto& cell : study.cells) {
        if (cell.state != CellState::Done) continue;
        byChoice = byChoice || cell.info.keptByChoice();
        const auto count = cell.info.evaluations;
        least = most == 0 ? count : std::min(least, count);
        most = std::max(most, count);
    }
    if (measure.split == kLastValidation) return "validation, last weights";
    if (measure.split == kBestValidation)
        return std::string("validation, best of ") + (least < most ? "up to " : "") +
               std::to_string(most) + " evaluations";
    return measure.split == kValidation && byChoice ? "validation, which chose the weights"
                                                    : measure.split;
}

double studyValue(const StudyCell& cell, const StudyMeasure& measure) {
    if (cell.state != CellState::Done) return kNaN;
    if (measure.split == kValidation) return cell.info.kept.value(measure.metric);
    if (measure.split == kLastValidation) return cell.info.last.value(measure.metric);
    if (measure.split == kBestValidation) return cell.info.best(measure.metric);
    for (const auto& result : cell.info.results)
        if (result.split == measure.split) return result.value(measure.metric);
    return kNaN;
}

std::vector<StudyPoint> studyPoints(const StudyInfo& study, const StudyMeasure& measure) {
    std::vector<StudyPoint> points;
    for (const auto& cell : study.cells) {
        const double value = studyValue(cell, measure);
        if (std::isnan(value)) continue;
        const auto series = seriesOf(study.plan, cell);
        auto found = std::find_if(points.begin(), points.end(), [&](const StudyPoint& p) {
            return p.series == series && p.size == cell.size;
        });
        if (found == points.end()) {
            points.push_back({});
            found = points.end() - 1;
            found->series = series;
            found->size = cell.size;
            found->parameters = cell.info.parameters;
        }
        found->values.push_back(value);
    }
    for (auto& point : points) summarise(point, metricInfo(measure.metric));
    return points;
}

double sizeToReach(const std::vector<StudyPoint>& points, const std::string& series, double level) {
    std::map<std::int64_t, double> curve;
    for (const auto& p : points)
        if (p.series == series) curve[p.size] = p.mean;
    double beforeSize = kNaN, beforeMean = kNaN;
    for (const auto& [size, mean] : curve) {
        const auto at = static_cast<double>(size);
        if (mean >= level) {
            if (std::isnan(beforeSize)) return at;
            return beforeSize + (at - beforeSize) * (level - beforeMean) / (mean - beforeMean);
        }
        beforeSize = at, beforeMean = mean;
    }
    return kNaN;
}

namespace {

// Curves for the values of the preset, for the models of a plan.
std::vector<PublishedPoint> ofPlan(const StudyPlan& plan, std::vector<PublishedPoint> curves) {
    if (!plan.vary.empty()) return {};
    if (plan.models.empty()) return curves;
    std::erase_if(curves, [&](const PublishedPoint& p) {
        return std::find(plan.models.begin(), plan.models.end(), p.series) == plan.models.end();
    });
    return curves;
}

}  // namespace

std::vector<PublishedPoint> publishedCurves(const StudyPlan& plan, const StudyMeasure& measure) {
    return ofPlan(plan, publishedPoints(plan.preset, measure.metric, measure.split));
}

std::vector<PublishedPoint> referenceCurves(const StudyPlan& plan, const StudyMeasure& measure) {
    return ofPlan(plan, referencePoints(plan.preset, measure.metric, measure.split));
}

std::string studyCsv(const StudyInfo& study, const StudyMeasure& measure) {
    const auto points = studyPoints(study, measure);
    const auto curves = publishedCurves(study.plan, measure);
    std::string text =
        "series,train_size,split,metric,runs,mean,sem,low,high,parameters,published_mean,"
        "published_sem\n";
    for (const auto& p : points) {
        const auto* published = publishedAt(curves, p);
        text += csvField(p.series) + "," + std::to_string(p.size) + "," + csvField(measure.split) +
                "," + csvField(measure.metric) + "," + std::to_string(p.values.size()) + "," +
                number(p.mean) + "," + number(p.error) + "," + number(p.low) + "," +
                number(p.high) + "," + std::to_string(p.parameters) + "," +
                number(published ? published->mean : kNaN) + "," +
                number(published ? published->error : kNaN) + "\n";
    }
    return text;
}

std::string studyLatex(const StudyInfo& study, const StudyMeasure& measure) {
    const auto points = studyPoints(study, measure);
    std::vector<std::int64_t> sizes;
    std::vector<std::string> names;
    for (const auto& p : points) {
        if (std::find(sizes.begin(), sizes.end(), p.size) == sizes.end()) sizes.push_back(p.size);
        if (std::find(names.begin(), names.end(), p.series) == names.end())
            names.push_back(p.series);
    }
    std::sort(sizes.begin(), sizes.end());
    const bool percent = metricInfo(measure.metric).isFraction();
    std::string text = "% " + latexText(study.plan.preset) + ", " + latexText(measure.metric) +
                       " on " + latexText(splitTitle(study, measure)) +
                       (percent ? ", per cent" : "") + ": mean and standard error over seeds\n" +
                       "\\begin{tabular}{lr" + std::string(sizes.size(), 'c') + "}\n\\toprule\n" +
                       "model & parameters";
    for (const auto size : sizes) text += " & " + std::to_string(size);
    text += " \\\\\n\\midrule\n";
    for (const auto& name : names) {
        std::int64_t parameters = 0;
        std::string cells;
        for (const auto size : sizes) {
            cells += " & ";
            for (const auto& p : points) {
                if (p.series != name || p.size != size) continue;
                parameters = p.parameters;
                const double scale = percent ? 100.0 : 1.0;
                const char* format = percent ? "%.1f" : "%.4g";
                cells += "$" + number(scale * p.mean, format);
                if (!std::isnan(p.error)) cells += " \\pm " + number(scale * p.error, format);
                cells += "$";
            }
        }
        text += latexText(name) + " & " + std::to_string(parameters) + cells + " \\\\\n";
    }
    return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace relascope::core
