// SPDX-License-Identifier: GPL-3.0-or-later
// What a study found: means over seeds, published curves beside them, tables. No torch here.
#pragma once

#include <string>
#include <vector>

#include "types/study.h"

namespace relascope::core {

/// What can be plotted: a metric of a test split, or of the validation set (split "validation", its
/// best value along the run).
struct StudyMeasure {
    std::string metric;  ///< "accuracy"
    std::string split;   ///< "pentos"
    bool operator==(const StudyMeasure&) const = default;
};
/// Every measure that some finished run has, the one that stands for the preset first.
std::vector<StudyMeasure> studyMeasures(const StudyInfo& study);

/// One point for each model, choice of values and size that has a finished run: mean, standard
/// error, and the 95% band of 2000 bootstrap means (the same for the same values).
std::vector<StudyPoint> studyPoints(const StudyInfo& study, const StudyMeasure& measure);
/// The smallest training size at which a series' mean reaches `level`, between two sizes by a
/// straight line; NaN when it never does.
double sizeToReach(const std::vector<StudyPoint>& points, const std::string& series, double level);

/// The papers' curves of that preset and measure, for models that the plan has; without the plan's
/// models all of them. Empty where none were published.
std::vector<PublishedPoint> publishedCurves(const StudyPlan& plan, const StudyMeasure& measure);

/// The same of this program's reference runs (published.h: referencePoints).
std::vector<PublishedPoint> referenceCurves(const StudyPlan& plan, const StudyMeasure& measure);

/// One line a series and size: series,train_size,runs,mean,sem,low,high,parameters and the
/// published mean and error, "nan" where there is none.
std::string studyCsv(const StudyInfo& study, const StudyMeasure& measure);
/// The same as a LaTeX table, sizes as columns, mean and standard error in each cell; `booktabs`.
std::string studyLatex(const StudyInfo& study, const StudyMeasure& measure);

}  // namespace relascope::core
