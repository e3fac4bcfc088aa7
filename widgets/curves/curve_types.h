// What the learning curves are fed with.
#pragma once

#include <QString>

namespace relascope {

/// Tokens trained on: where the runs count them (text).
enum class CurveAxis { Step, Epoch, Time, Tokens };
enum class CurveMetric {
    Loss,
    Accuracy,  ///< of sequences: of each element with the right ones before it (teacher forcing)
    Perplexity,
    ElementAccuracy,   ///< of sequences answered freely: elements right at their place
    SequenceAccuracy,  ///< whole answers right
    MeanError,
    LargestError,
    Recovered  ///< share of examples whose largest error is tiny
};
constexpr int kCurveMetrics = 8;
/// Shares lie in 0..1, are shown as percentages, and more is better.
inline bool isShare(CurveMetric metric) {
    return metric == CurveMetric::Accuracy || metric == CurveMetric::ElementAccuracy ||
           metric == CurveMetric::SequenceAccuracy || metric == CurveMetric::Recovered;
}
inline bool lowerIsBetter(CurveMetric metric) {
    return !isShare(metric);
}
/// What is drawn around the mean of several seeds.
enum class CurveBandKind { MinMax, StandardError, Confidence95 };
/// "min to max", "± 1 s.e.", "95 % interval".
QString bandName(CurveBandKind kind);
/// "Step", "Epoch", "Training time", "Tokens".
QString axisTitle(CurveAxis axis);
/// As metrics.jsonl calls it, and as the screens do.
const char* metricKey(CurveMetric metric);
QString metricTitle(CurveMetric metric);
/// "93.0%", "6.21", "0.513"; a dash where there is none.
QString metricValueText(CurveMetric metric, double value);

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

}  // namespace relascope
