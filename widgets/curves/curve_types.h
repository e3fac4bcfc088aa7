// What the learning curves are fed with.
#pragma once

#include <QString>

namespace relascope {

/// Tokens trained on: where the runs count them (text).
enum class CurveAxis { Step, Epoch, Time, Tokens };
enum class CurveMetric { Loss, Accuracy, Perplexity };
inline bool lowerIsBetter(CurveMetric metric) {
    return metric != CurveMetric::Accuracy;
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
