// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the curves: growing columns, smoothing, aggregation over seeds, CSV. No painting.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <QString>
#include <QStringList>

#include "types/metric.h"

namespace relascope::widgets {

// The input types of the learning curves.

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
    bool logY = false;  ///< logarithmic loss and perplexity
    bool smooth = false;
    double beta = 0.8;  ///< 0 <= beta < 1; s = beta s + (1 - beta) x
    bool showTraining = true, showPublished = true;
    /// A fitted L = a N^-b behind each loss; drawn on an axis of tokens.
    bool powerLaw = false;
    CurveBandKind band = CurveBandKind::MinMax;  ///< around the mean of several seeds
    bool withoutOutliers = true;        ///< a few very large losses do not set the vertical range
    bool recentOnly = false;            ///< the last quarter of the horizontal axis
    std::optional<CurveMetric> second;  ///< metric of the second plot; nullopt: what says most

    bool operator==(const CurveOptions&) const = default;
};
/// Steps on another axis, by interpolation between the measured points; empty for CurveAxis::Step.
std::vector<double> keysOnAxis(const std::vector<qint64>& steps,
                               const std::vector<MetricPoint>& points, CurveAxis axis);
/// "Step", "Epoch", "Training time", "Tokens".
QString axisTitle(CurveAxis axis);
QString metricTitle(CurveMetric metric);
/// A run to draw. Runs of one non-empty group are drawn together: their mean with a band.
struct CurveRun {
    QString id;          ///< any key: the run folder
    QString name;        ///< for the legend
    QString group;       ///< empty: alone
    int colorIndex = 0;  ///< index into Theme::series
    bool highlighted = false;
    bool operator==(const CurveRun&) const = default;
};

/// What the reader of a run must see: a live edit, an intervention, a jump in a layer.
struct CurveMark {
    double step = 0.0;
    QString text;        ///< "lr 1e-3 → 5e-4"
    bool filled = true;  ///< training itself was changed
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

// The power law that a loss follows: L = a N^-b. Standard library only.

struct PowerLaw {
    double a = 0.0, b = 0.0;
    double r2 = 0.0;     ///< R^2 of the logarithms; 0 where they do not vary
    double first = 0.0;  ///< smallest and largest N of the fit
    double last = 0.0;
    std::size_t points = 0;

    double at(double n) const { return a * std::pow(n, -b); }
};

/// Least squares of log L on log N, over the points of one or more runs.
class PowerLawFit {
public:
    /// The first tenth of a run's points is left out: a model that has learnt nothing yet follows
    /// no law. So is what has no logarithm. N and L in the order they were measured.
    void add(const std::vector<double>& n, const std::vector<double>& loss) {
        const std::size_t count = std::min(n.size(), loss.size());
        std::vector<std::pair<double, double>> sound;
        for (std::size_t i = 0; i < count; ++i)
            if (n[i] > 0.0 && loss[i] > 0.0 && std::isfinite(n[i]) && std::isfinite(loss[i]))
                sound.emplace_back(std::log(n[i]), std::log(loss[i]));
        m_points.insert(m_points.end(), sound.begin() + static_cast<long>(sound.size() / 10),
                        sound.end());
    }

    /// nullopt with fewer than three points, or if N is constant.
    std::optional<PowerLaw> result() const {
        const auto count = static_cast<double>(m_points.size());
        if (m_points.size() < 3) return std::nullopt;
        double meanX = 0.0, meanY = 0.0;
        for (const auto& [x, y] : m_points) meanX += x / count, meanY += y / count;
        double xx = 0.0, xy = 0.0, yy = 0.0;
        for (const auto& [x, y] : m_points) {
            xx += (x - meanX) * (x - meanX);
            xy += (x - meanX) * (y - meanY);
            yy += (y - meanY) * (y - meanY);
        }
        if (!(xx > 1e-12)) return std::nullopt;
        const double slope = xy / xx;
        const auto [low, high] = std::minmax_element(m_points.begin(), m_points.end());
        PowerLaw law;
        law.a = std::exp(meanY - slope * meanX);
        law.b = -slope;
        law.r2 = yy > 1e-24 ? xy * xy / (xx * yy) : 0.0;
        law.first = std::exp(low->first);
        law.last = std::exp(high->first);
        law.points = m_points.size();
        return law;
    }

private:
    std::vector<std::pair<double, double>> m_points;  ///< logarithms
};

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
    double mean, low, high;  ///< NaN without a value; of one seed a range alone
    int count = 0;           ///< seeds with a value
};
CurveValue valueAt(const std::vector<const CurveSeries*>& members, CurveMetric metric,
                   CurveAxis axis, double key, double beta,
                   CurveBandKind kind = CurveBandKind::MinMax);

/// Values of several curves at common keys.
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
    /// The points that have values of layers (MetricInfo::byLayer), as training: what holds for all
    /// of them, then each layer by its name. A list, so that curves can point at its members.
    std::list<CurveRunData> layers;

    /// Adds a point to its split.
    void append(const MetricPoint& point);
    void clearPoints();
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
    std::optional<double> end;     ///< end of an axis without points, a step
    unsigned version = 0;          ///< anything but appended points changed

    /// A metric that is measured in layers has a curve for each layer of a single run, and one of
    /// all layers for each of several.
    std::vector<Curve> curves(CurveMetric metric = CurveMetric::Loss) const;
    double usedBeta() const { return smooth ? beta : -1.0; }
    /// The run used to convert between steps, epochs and seconds.
    const CurveRunData* leader() const;
    double keyOfStep(double step) const;
    double stepOfKey(double key) const;
    /// Last step measured in any run; 0 without points.
    double lastStep() const;
    /// From the first point of the runs to the last, whatever was measured there; NaN without any.
    std::pair<double, double> keyRange(CurveAxis along) const;
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
