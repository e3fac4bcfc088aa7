// Points of a learning curve.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace relascope {

enum class Split { Train, Validation, Test };

inline const char* splitName(Split split) {
    switch (split) {
        case Split::Train:
            return "train";
        case Split::Validation:
            return "validation";
        case Split::Test:
            return "test";
    }
    return "";
}

/// Whether less of a metric is better: losses, perplexity and errors; shares and accuracies rise.
inline bool lowerIsBetter(const std::string& metric) {
    return metric.ends_with("loss") || metric.ends_with("error") || metric == "perplexity";
}

/// One line of metrics.jsonl. `values` holds "loss", "accuracy" (a fraction, 0..1),
/// "learning_rate", "grad_norm" and whatever else a task measures, in the order written; of text
/// also "perplexity" (exp of the loss) and "tokens" (trained on so far). NaN where not finite.
struct MetricPoint {
    std::int64_t step = 0;      ///< optimizer steps done when it was measured
    double epoch = 0.0;         ///< passes over the training set, fractional
    std::int64_t examples = 0;  ///< training examples seen
    double seconds = 0.0;       ///< training time since the run began, pauses left out
    Split split = Split::Train;
    std::vector<std::pair<std::string, double>> values;

    /// The named value, or NaN when this point has none.
    double value(const std::string& name) const {
        for (const auto& [key, number] : values)
            if (key == name) return number;
        return std::numeric_limits<double>::quiet_NaN();
    }
    bool operator==(const MetricPoint&) const = default;
};

}  // namespace relascope
