// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the curves: growing columns, smoothing, aggregation over seeds, CSV. No painting.
#pragma once

#include <QStringList>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "types/metric.h"
#include "widgets/curves/curve_types.h"
#include "widgets/curves/power_law.h"

namespace relascope::widgets {

/// One split of one run, as columns. Infinite values become NaN, which breaks the line.
class CurveSeries {
public:
    /// A point with an earlier step than the last one replaces all points from there on, as after
    /// resuming.
    void append(const MetricPoint& point);
    void clear();
    /// The key of the first point after step 0; NaN without one.
    double firstTrainedKey(CurveAxis axis) const;

    std::size_t size() const { return m_keys[0].size(); }
    const std::vector<double>& keys(CurveAxis axis) const { return m_keys[static_cast<int>(axis)]; }
    const std::vector<double>& values(CurveMetric m) const { return m_values[static_cast<int>(m)]; }
    /// Exponential mean s = beta s + (1 - beta) x, starting at the first finite x; NaN where x is
    /// NaN.
    const std::vector<double>& smoothed(CurveMetric metric, double beta) const;
    /// Changes whenever points were removed, so that a plot must be rebuilt.
    unsigned cuts() const { return m_cuts; }
    /// Whether any point has the metric.
    bool has(CurveMetric metric) const { return m_has[static_cast<std::size_t>(metric)]; }
    bool hasTokens() const;
    /// Lowest loss or perplexity, or highest accuracy, of the points after step 0: as in the tables
    /// and the run folder, an untrained model is not the best one.
    std::optional<std::size_t> best(CurveMetric metric) const;
    /// Linear interpolation at `key`; NaN outside the points and next to a NaN.
    double at(CurveMetric metric, CurveAxis axis, double key, double beta) const;

private:
    struct Smooth {
        double beta = -1.0;
        double last = 0.0;
        bool begun = false;
        std::vector<double> values;
    };
    std::array<std::vector<double>, 4> m_keys;
    std::array<std::vector<double>, kCurveMetrics> m_values;
    std::array<std::optional<std::size_t>, kCurveMetrics> m_best;
    std::array<bool, kCurveMetrics> m_has{};
    mutable std::array<Smooth, kCurveMetrics> m_smooth;
    unsigned m_cuts = 0;
};

/// Mean and band of several seeds at one key, over those that have a value there.
struct CurveValue {
    double mean, low, high;  ///< NaN without a value; low = high = mean of a single one
    int count = 0;           ///< seeds with a value
};
CurveValue valueAt(const std::vector<const CurveSeries*>& members, CurveMetric metric,
                   CurveAxis axis, double key, double beta,
                   CurveBandKind kind = CurveBandKind::MinMax);

/// The same at common keys.
struct CurveBand {
    std::vector<double> keys, mean, low, high;
    std::vector<int> count;
};

/// At most about `limit` keys, taken from all members; at each key over the seeds that reached it.
CurveBand bandOf(const std::vector<const CurveSeries*>& members, CurveMetric metric, CurveAxis axis,
                 double beta, CurveBandKind kind = CurveBandKind::MinMax, std::size_t limit = 4000);

struct CurveRunData {
    CurveRun run;
    CurveSeries training, validation;
    std::vector<CurveMark> marks;
    const CurveSeries& split(bool validationSplit) const {
        return validationSplit ? validation : training;
    }
};

/// One line of the legend: a run, or the runs of a group.
struct Curve {
    QString name;
    int colorIndex = 0;
    bool highlighted = false;
    std::vector<const CurveRunData*> members;
    std::vector<const CurveSeries*> series(bool validation) const;
    /// Value at a key, averaged over the seeds that have one. beta < 0: not smoothed.
    CurveValue at(bool validation, CurveMetric metric, CurveAxis axis, double key, double beta,
                  CurveBandKind kind = CurveBandKind::MinMax) const;
    /// Best validation point (key, value); for several seeds, that of their mean where all have a
    /// value.
    std::optional<std::pair<double, double>> best(CurveMetric metric, CurveAxis axis) const;
    /// Fit of the validation loss against tokens, or of the training loss if there is no
    /// validation.
    std::optional<PowerLaw> powerLaw() const;
};

/// The data shared by the two plots.
struct CurveModel : CurveOptions {
    std::vector<CurveRun> order;
    std::map<QString, CurveRunData> runs;
    std::vector<PublishedValue> published;
    std::optional<qint64> cursor;  ///< nullopt: the newest
    unsigned version = 0;          ///< anything but appended points changed

    std::vector<Curve> curves() const;
    double usedBeta() const { return smooth ? beta : -1.0; }
    /// The run used to convert between steps, epochs and seconds.
    const CurveRunData* leader() const;
    double keyOfStep(double step) const;
    double stepOfKey(double key) const;
    /// Last step measured in any run; 0 without points.
    double lastStep() const;
    /// Whether any run shown counts tokens, or has the metric.
    bool hasTokens() const;
    bool has(CurveMetric metric) const;
    /// The metrics that the second plot can show, most informative first; accuracy if there are
    /// none yet.
    std::vector<CurveMetric> secondMetrics() const;
    bool drawsPowerLaw() const { return powerLaw && axis == CurveAxis::Tokens; }
    QString csv() const;
    QString summary() const;
};

/// The names without their common prefix up to a separator: "vidat-sym", "vidat-asym" ->
/// "sym", "asym".
QStringList shortNames(const QStringList& names);

}  // namespace relascope::widgets
