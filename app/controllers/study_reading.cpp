// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "app/controllers/study_reading.h"
#include "options/metrics.h"
#include "study/study.h"

namespace relascope::app {
namespace {

double shareDone(const RunInfo& info) {
    if (info.totalSteps <= 0) return 0.0;
    return std::clamp(static_cast<double>(info.step) / static_cast<double>(info.totalSteps), 0.0,
                      1.0);
}

void count(StudyReading& reading) {
    double seconds = 0.0;
    for (const auto& cell : reading.info->cells) {
        switch (cell.state) {
            case CellState::Done:
                ++reading.done;
                seconds += cell.info.seconds;
                break;
            case CellState::Running:
                ++reading.running;
                reading.left += 1.0 - shareDone(cell.info);
                break;
            case CellState::Failed:
                ++reading.failed;
                if (reading.firstFailure.isEmpty())
                    reading.firstFailure = QString::fromStdString(
                        cell.message.empty() ? cell.name : cell.name + ": " + cell.message);
                break;
            case CellState::Interrupted:
                ++reading.interrupted;
                reading.left += 1.0 - shareDone(cell.info);
                break;
            case CellState::Waiting:
                ++reading.waiting;
                reading.left += 1.0;
                break;
        }
    }
    if (reading.done > 0) reading.secondsARun = seconds / static_cast<double>(reading.done);
}

}  // namespace

widgets::StudyMetric studyMetric(const core::StudyMeasure& measure) {
    widgets::StudyMetric metric;
    metric.name = QString::fromStdString(measure.metric);
    metric.split = QString::fromStdString(measure.split);
    metric.percent = metricInfo(measure.metric).isFraction();
    metric.lowerIsBetter = lowerIsBetter(measure.metric);
    return metric;
}

bool StudyReading::looksLike(const StudyReading& other) const {
    return info->path == other.info->path && info->plan == other.info->plan &&
           measures == other.measures && measure == other.measure && runs == other.runs;
}

std::shared_ptr<const StudyReading> sumUpStudy(std::shared_ptr<const StudyInfo> info,
                                               const std::optional<core::StudyMeasure>& wanted) {
    auto reading = std::make_shared<StudyReading>();
    reading->info = std::move(info);
    const StudyInfo& study = *reading->info;
    reading->measures = core::studyMeasures(study);
    if (!reading->measures.empty()) {
        const auto found =
            wanted ? std::find(reading->measures.begin(), reading->measures.end(), *wanted)
                   : reading->measures.begin();
        reading->measure = found == reading->measures.end() ? reading->measures.front() : *found;
        reading->metric =
            studyMetric({reading->measure->metric, core::splitTitle(study, *reading->measure)});
    }
    reading->layout = widgets::StudyLayout(study);
    count(*reading);
    for (const auto& cell : study.cells) {
        const auto place = reading->layout.place(
            widgets::studySeries(study.plan, cell.model, cell.values), cell.size);
        widgets::GridRun run;
        run.row = place.row;
        run.column = place.column;
        run.name = QString::fromStdString(cell.name);
        run.path = QString::fromStdString(cell.info.path);
        run.seed = cell.seed;
        run.state = cell.state;
        run.progress = shareDone(cell.info);
        if (reading->measure) run.value = core::studyValue(cell, *reading->measure);
        run.seconds = cell.info.seconds;
        run.message = QString::fromStdString(cell.message);
        run.device = QString::fromStdString(cell.info.device);
        reading->runs.push_back(std::move(run));
    }
    if (!reading->measure) return reading;
    reading->points = core::studyPoints(study, *reading->measure);
    reading->published = core::publishedCurves(study.plan, *reading->measure);
    for (auto& point : core::referenceCurves(study.plan, *reading->measure))
        reading->published.push_back(std::move(point));
    reading->csv = QString::fromStdString(core::studyCsv(study, *reading->measure));
    reading->latex = QString::fromStdString(core::studyLatex(study, *reading->measure));
    // The examples needed to reach a level are defined for fractions over several sizes.
    const auto& columns = reading->layout.columns();
    if (!reading->metric.percent || reading->metric.lowerIsBetter || columns.size() < 2 ||
        !reading->layout.sizesAcross())
        return reading;
    reading->needed.levels = {0.8, 0.9, 0.95};
    for (const auto& row : reading->layout.rows()) {
        std::vector<double> sizes;
        for (const double level : reading->needed.levels)
            sizes.push_back(core::sizeToReach(reading->points, row.name.toStdString(), level));
        reading->needed.sizes.push_back(std::move(sizes));
    }
    return reading;
}

}  // namespace relascope::app
