// SPDX-License-Identifier: GPL-3.0-or-later
// Points of a learning curve.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relascope {

enum class Split { Train, Validation, Test };

inline const char* splitName(Split split) {
    static constexpr std::array names = {"train", "validation", "test"};
    return names.at(static_cast<std::size_t>(split));
}

/// The known metrics, in the order of kMetrics.
enum class Metric {
    Loss,
    Accuracy,  ///< for sequences with teacher forcing
    Perplexity,
    ElementAccuracy,   ///< fraction of correct elements of generated sequences
    SequenceAccuracy,  ///< fraction of complete answers that are right
    MeanError,
    LargestError,
    Recovered,     ///< fraction of examples that are recovered almost exactly
    PairAccuracy,  ///< fraction of minimal pairs whose good sentence is the more likely one
    GradientNorm,
    LargestRelation,
    LargestScore,
    AttentionEntropy,
    Other  ///< not listed in kMetrics
};

/// How a value is formatted.
enum class MetricFormat {
    Percent,     ///< a fraction in 0..1: "93.0%"
    Fixed,       ///< "0.513"
    Perplexity,  ///< "6.21"
    General      ///< "0.0123"
};

struct MetricInfo {
    Metric id = Metric::Other;
    std::string_view key;         ///< name in metrics.jsonl: "sequence_accuracy"
    std::string_view title;       ///< "Sequence accuracy"
    std::string_view shortTitle;  ///< title where space is limited: "seq. acc."
    std::string_view unit;        ///< written behind values: "%", "ppl"; empty: none
    bool lowerIsBetter = false;
    MetricFormat format = MetricFormat::General;
    double low = 0.0, high = 1.0;  ///< range of an axis without points
    int second = 100;              ///< rank for the second plot, which shows the lowest; 0: never
    /// Whether it is measured in every layer, as "KEY/LAYER" with the layer's name; KEY has the
    /// extreme of all layers (of gradients the norm of all together).
    bool byLayer = false;

    bool isFraction() const { return format == MetricFormat::Percent; }
    bool operator==(const MetricInfo&) const = default;
};

/// Every metric but Other, in the order of the enumeration.
inline constexpr std::array<MetricInfo, 13> kMetrics = {{
    {Metric::Loss, "loss", "Loss", "loss", "", true, MetricFormat::Fixed, 0.0, 1.0, 0},
    {Metric::Accuracy, "accuracy", "Accuracy", "acc.", "%", false, MetricFormat::Percent, 0.4, 1.0,
     3},
    {Metric::Perplexity, "perplexity", "Perplexity", "ppl", "ppl", true, MetricFormat::Perplexity,
     0.0, 1.0, 1},
    {Metric::ElementAccuracy, "element_accuracy", "Element accuracy", "elem. acc.", "%", false,
     MetricFormat::Percent, 0.4, 1.0, 4},
    {Metric::SequenceAccuracy, "sequence_accuracy", "Sequence accuracy", "seq. acc.", "%", false,
     MetricFormat::Percent, 0.4, 1.0, 2},
    {Metric::MeanError, "mean_error", "Mean error", "mean err.", "", true, MetricFormat::General,
     0.0, 1.0, 6},
    {Metric::LargestError, "largest_error", "Largest error", "max. err.", "", true,
     MetricFormat::General, 0.0, 1.0, 7},
    {Metric::Recovered, "recovered", "Exact recovery", "recovered", "%", false,
     MetricFormat::Percent, 0.4, 1.0, 5},
    {Metric::PairAccuracy, "pair_accuracy", "Pair accuracy", "pair acc.", "%", false,
     MetricFormat::Percent, 0.4, 1.0, 8},
    {Metric::GradientNorm, "grad_norm", "Gradient norm", "grad. norm", "", true,
     MetricFormat::General, 0.0, 1.0, 9, true},
    {Metric::LargestRelation, "largest_relation", "Largest |r|", "max. |r|", "", true,
     MetricFormat::General, 0.0, 1.0, 10, true},
    {Metric::LargestScore, "largest_score", "Largest attention score", "max. score", "", true,
     MetricFormat::General, 0.0, 1.0, 11, true},
    {Metric::AttentionEntropy, "attention_entropy", "Attention entropy", "entropy", "nats", false,
     MetricFormat::General, 0.0, 1.0, 12, true},
}};

constexpr bool metricsInOrder() {
    for (std::size_t i = 0; i < kMetrics.size(); ++i)
        if (kMetrics[i].id != static_cast<Metric>(i)) return false;
    return kMetrics.size() == static_cast<std::size_t>(Metric::Other);
}
static_assert(metricsInOrder());

/// The entry of kMetrics; not for Other.
constexpr const MetricInfo& metricInfo(Metric metric) {
    return kMetrics[static_cast<std::size_t>(metric)];
}

/// Looks a metric up by its key. A metric that is not in the table (of another version, or defined
/// by a study) gets its key as title; higher is better unless the key ends with "loss" or "error",
/// and it is a fraction if the key contains "accuracy".
inline const MetricInfo& metricInfo(std::string_view key) {
    for (const auto& info : kMetrics)
        if (info.key == key) return info;
    static std::mutex mutex;
    static std::map<std::string, MetricInfo, std::less<>> others;  // never erased from
    const std::lock_guard lock(mutex);
    auto found = others.find(key);
    if (found == others.end()) {
        found = others.emplace(key, MetricInfo{}).first;
        const std::string_view name = found->first;
        auto& info = found->second;
        info.key = info.title = info.shortTitle = name;
        info.lowerIsBetter = name.ends_with("loss") || name.ends_with("error");
        if (name.find("accuracy") != std::string_view::npos)
            info.format = MetricFormat::Percent, info.unit = "%", info.low = 0.4;
    }
    return found->second;
}

/// Whether lower values of a metric are better.
inline bool lowerIsBetter(std::string_view metric) {
    return metricInfo(metric).lowerIsBetter;
}

/// A metric in words: "sequence accuracy" for the key "sequence_accuracy".
inline std::string metricLabel(std::string_view key) {
    std::string name(key);
    for (auto& c : name)
        if (c == '_') c = ' ';
    return name;
}

/// One line of metrics.jsonl. `values` holds "loss", "accuracy" (a fraction, 0..1),
/// "learning_rate", "grad_norm" and whatever else a task measures, in the order written; for text
/// also "perplexity" (exp of the loss) and "tokens" (trained on so far). NaN where not finite.
struct MetricPoint {
    std::int64_t step = 0;      ///< optimizer steps done when it was measured
    double epoch = 0.0;         ///< epochs done, with a fraction
    std::int64_t examples = 0;  ///< training examples seen
    double seconds = 0.0;       ///< training time since the run began, without pauses
    Split split = Split::Train;
    std::vector<std::pair<std::string, double>> values;

    /// The named value, or NaN when this point has none.
    double value(std::string_view name) const {
        for (const auto& [key, number] : values)
            if (key == name) return number;
        return std::numeric_limits<double>::quiet_NaN();
    }
    bool operator==(const MetricPoint&) const = default;
};

/// The scores of a model on a data set.
struct Evaluation {
    std::int64_t examples = 0;
    double loss = 0.0;                  ///< mean cross entropy, nats
    double accuracy = 0.0;              ///< fraction 0..1, of next tokens for text; NaN for numbers
    std::vector<double> classAccuracy;  ///< accuracy by label; NaN for a class without examples
    /// Further metrics of the task: "sequence_accuracy", "mean_error" and so on.
    std::vector<std::pair<std::string, double>> values;
};

}  // namespace relascope
