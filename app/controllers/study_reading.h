// SPDX-License-Identifier: GPL-3.0-or-later
// The contents of the Study page: read from the folder and summarized off the window's thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QString>

#include "study/study_results.h"
#include "types/study.h"
#include "widgets/study/study_cells.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_table.h"

namespace relascope::app {

/// What the Study page shows of a study.
struct StudyReading {
    std::shared_ptr<const StudyInfo> info;
    std::vector<core::StudyMeasure> measures;   ///< empty until a run has finished
    std::optional<core::StudyMeasure> measure;  ///< the selected one of `measures`
    widgets::StudyMetric metric;
    widgets::StudyLayout layout;
    std::vector<widgets::GridRun> runs;
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    widgets::StudyNeeded needed;
    QString csv, latex;
    std::size_t done = 0, running = 0, failed = 0, interrupted = 0, waiting = 0;
    double secondsARun = 0.0;  ///< mean over finished runs; 0 if there are none
    double left = 0.0;         ///< remaining runs; running ones count by their remaining fraction
    QString firstFailure;      ///< "dat-n250-s1: the loss became NaN at step 12"

    /// Whether the page would look the same with `other`.
    bool looksLike(const StudyReading& other) const;
};

/// How values of a measure are formatted and compared.
widgets::StudyMetric studyMetric(const core::StudyMeasure& measure);
/// Summarizes a study by the measure `wanted` if the study has it, otherwise by the metric of its
/// preset.
std::shared_ptr<const StudyReading> sumUpStudy(std::shared_ptr<const StudyInfo> info,
                                               const std::optional<core::StudyMeasure>& wanted);

}  // namespace relascope::app
