// SPDX-License-Identifier: GPL-3.0-or-later
// Results of a study: means over seeds, published curves, tables. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/study.h"

namespace relascope::core {

// Splits of a measure on the validation set.

/// Validation of the weights that a run keeps.
inline const std::string kValidation = "validation";
/// Validation of the last weights of a run, which were not chosen by it.
inline const std::string kLastValidation = "validation-last";
/// The best of all evaluations of a run, of whatever weights: for noise it is better than chance.
inline const std::string kBestValidation = "validation-best";

/// A quantity that can be plotted: a metric of a test split, or of the validation set.
struct StudyMeasure {
    std::string metric;  ///< "accuracy"
    std::string split;   ///< "pentos"
    bool operator==(const StudyMeasure&) const = default;
};
/// All measures of the finished runs: the main metric comes first, on test splits before
/// validation.
std::vector<StudyMeasure> studyMeasures(const StudyInfo& study);
/// The title of a split: "hexos"; "validation, best of 24 evaluations".
std::string splitTitle(const StudyInfo& study, const StudyMeasure& measure);

/// The measure of a finished run; NaN if the run is not finished or has none.
double studyValue(const StudyCell& cell, const StudyMeasure& measure);

/// One point for each model, choice of values and size that has a finished run: mean, standard
/// error, and the 95 % interval of the mean by Student's t; for one run the mean alone.
std::vector<StudyPoint> studyPoints(const StudyInfo& study, const StudyMeasure& measure);
/// The smallest training size at which the mean of a series reaches `level`, by linear
/// interpolation between sizes; NaN if it never does.
double sizeToReach(const std::vector<StudyPoint>& points, const std::string& series, double level);

/// The published curves of the plan's preset and a measure, for the models of the plan; all curves
/// if the plan has no models. Empty if none were published.
std::vector<PublishedPoint> publishedCurves(const StudyPlan& plan, const StudyMeasure& measure);

/// The curves of the reference runs of this program (published.h: referencePoints).
std::vector<PublishedPoint> referenceCurves(const StudyPlan& plan, const StudyMeasure& measure);

/// The points as CSV, a line for each series and size: series,train_size,runs,mean,sem,low,high,
/// parameters and the published mean and error, "nan" if there is none.
std::string studyCsv(const StudyInfo& study, const StudyMeasure& measure);
/// The points as a LaTeX table (booktabs), sizes as columns, mean and standard error in each cell.
std::string studyLatex(const StudyInfo& study, const StudyMeasure& measure);

}  // namespace relascope::core
