// SPDX-License-Identifier: GPL-3.0-or-later
// The input types of the learning curves.
#pragma once

#include <QString>
#include <optional>

#include "types/metric.h"

namespace relascope::widgets {

/// Tokens is available if the runs count them (text).
enum class CurveAxis { Step, Epoch, Time, Tokens };
/// The metrics of the table kMetrics can be drawn.
using CurveMetric = Metric;
constexpr int kCurveMetrics = static_cast<int>(kMetrics.size());
/// Whether the metric is a fraction in 0..1, shown as a percentage.
inline bool isFraction(CurveMetric metric) {
    return metricInfo(metric).isFraction();
}
/// The band around the mean of several seeds.
enum class CurveBandKind { MinMax, StandardError, Confidence95 };
/// "min to max", "± 1 s.e.", "95 % interval".
QString bandName(CurveBandKind kind);

/// Display options of the curves.
struct CurveOptions {
    /// Step is used instead of Tokens until a run shown counts them.
    CurveAxis axis = CurveAxis::Step;
    bool logX = false;
    bool logY = false;  ///< of the loss
    bool smooth = false;
    double beta = 0.8;  ///< 0 <= beta < 1; s = beta s + (1 - beta) x
    bool showTraining = true, showPublished = true;
    /// A fitted L = a N^-b behind each loss; drawn on an axis of tokens.
    bool powerLaw = false;
    CurveBandKind band = CurveBandKind::MinMax;  ///< around the mean of several seeds
    bool withoutOutliers = true;        ///< a few very large losses do not set the vertical range
    bool recentOnly = false;            ///< the last quarter of the horizontal axis
    std::optional<CurveMetric> second;  ///< of the second plot; nullopt: what says most

    bool operator==(const CurveOptions&) const = default;
};
/// "Step", "Epoch", "Training time", "Tokens".
QString axisTitle(CurveAxis axis);
QString metricTitle(CurveMetric metric);
/// "93.0%", "6.21", "0.513"; a dash where there is none.
QString metricValueText(const MetricInfo& metric, double value);
inline QString metricValueText(CurveMetric metric, double value) {
    return metricValueText(metricInfo(metric), value);
}

/// A run to draw. Runs of one non-empty group are drawn together: their mean with a band.
struct CurveRun {
    QString id;          ///< any key: the run folder
    QString name;        ///< for the legend
    QString group;       ///< empty: alone
    int colorIndex = 0;  ///< of Theme::series
    bool highlighted = false;
    bool operator==(const CurveRun&) const = default;
};

/// A change of the run that the reader must see: a live edit or an intervention.
struct CurveMark {
    double step = 0.0;
    QString text;        ///< "lr 1e-3 → 5e-4"
    bool filled = true;  ///< training itself was changed; hollow: the inspector only
    bool kept = false;   ///< the checkpoint before it is there: a branch can start from it
    bool operator==(const CurveMark&) const = default;
};

/// A published number, drawn as a dash at the right edge of the accuracy.
struct PublishedValue {
    QString name;
    double accuracy = 0.0;  ///< 0..1
    int colorIndex = 0;
    bool operator==(const PublishedValue&) const = default;
};

}  // namespace relascope::widgets
