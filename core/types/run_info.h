// SPDX-License-Identifier: GPL-3.0-or-later
// Information on a run that is available without its weights: a row of the table, an entry of the
// sidebar.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "types/edit.h"
#include "types/metric.h"

namespace relascope {

enum class RunState { Queued, Running, Paused, Done, Stopped, Failed, Interrupted };

inline const char* runStateName(RunState state) {
    static constexpr std::array names = {"queued",  "running", "paused",     "done",
                                         "stopped", "failed",  "interrupted"};
    return names.at(static_cast<std::size_t>(state));
}

/// The results of a finished run on one test split: "accuracy", "loss", "sequence_accuracy" and so
/// on, in the order measured.
struct SplitResult {
    std::string split;
    std::int64_t examples = 0;
    std::vector<std::pair<std::string, double>> values;

    double value(const std::string& name) const {
        for (const auto& [key, number] : values)
            if (key == name) return number;
        return std::numeric_limits<double>::quiet_NaN();
    }
    bool operator==(const SplitResult&) const = default;
};

/// The scores of the weights of one step on the validation set.
struct Validation {
    std::int64_t step = -1;  ///< -1: not measured
    std::vector<std::pair<std::string, double>> values;

    /// The value of a metric; NaN if it was not measured.
    double value(std::string_view metric) const {
        for (const auto& [key, number] : values)
            if (key == metric) return number;
        // Runs of text of versions before 0.3 do not store it.
        if (metricInfo(metric).id == Metric::Perplexity) return std::exp(value("loss"));
        return std::numeric_limits<double>::quiet_NaN();
    }
    bool operator==(const Validation&) const = default;
};

/// Labels that the user gives to a run; training never changes them.
struct RunLabels {
    std::string name;  ///< shown in place of the folder's name; empty: none
    std::vector<std::string> tags;
    bool hidden = false;  ///< not listed unless hidden runs are shown
    bool operator==(const RunLabels&) const = default;
};

struct RunInfo {
    std::string path;  ///< the run folder
    std::string name;  ///< name in lists: the label, else the name of the folder
    RunLabels labels;
    std::string preset;
    std::string variant;  ///< "dat"
    std::string model;    ///< short description: "ViDAT sa1 ra1"
    std::int64_t seed = 0;
    RunState state = RunState::Queued;
    std::string message;  ///< why it failed or stopped; empty otherwise
    std::string device;
    bool recorded = false;  ///< recorded by another program: there is no model to compute with
    /// The main metric of the run: "accuracy", "perplexity" of text, "sequence_accuracy" of
    /// sequences, "mean_error" of regressions.
    std::string metric = "accuracy";
    std::int64_t parameters = 0;
    std::int64_t step = 0;
    std::int64_t totalSteps = 0;
    double epoch = 0.0;
    double seconds = 0.0;        ///< training time
    std::int64_t startedAt = 0;  ///< Unix time, seconds
    /// The run ends with the weights that early stopping chose on validation, not with the last.
    bool restoresBest = false;
    /// `kept`: scores of the weights that the run keeps, which are tested, and opened where no step
    /// is named; the window and lists show these. `last`: scores of the last evaluation.
    Validation kept, last;
    // The best of all evaluations, whatever became of their weights: partly chosen by chance.
    double bestLoss = std::numeric_limits<double>::quiet_NaN();
    double bestAccuracy = std::numeric_limits<double>::quiet_NaN();  ///< 0..1
    double bestMetric = std::numeric_limits<double>::quiet_NaN();    ///< best value of `metric`
    std::int64_t bestStep = -1;                                      ///< step of `bestMetric`
    std::int64_t evaluations = 0;      ///< how many evaluated trained weights
    std::vector<SplitResult> results;  ///< test results of a finished run
    EditList edits;  ///< interventions that the run trains with from now on; usually empty
    /// Every option as key and text, for the comparison of configurations.
    std::vector<std::pair<std::string, std::string>> options;

    /// The best validation value of a metric that was ever seen; NaN if the run does not store it.
    double best(std::string_view wanted) const {
        if (wanted == metric && !std::isnan(bestMetric)) return bestMetric;
        switch (metricInfo(wanted).id) {
            case Metric::Loss:
                return bestLoss;
            case Metric::Accuracy:
                return bestAccuracy;
            case Metric::Perplexity:
                return std::exp(bestLoss);
            default:
                return std::numeric_limits<double>::quiet_NaN();
        }
    }
    /// Whether weights that are not kept did better on `metric`.
    bool sawBetter() const {
        const double seen = best(metric), own = kept.value(metric);
        return lowerIsBetter(metric) ? seen < own : seen > own;
    }
    /// Whether validation chose the weights that are kept: their scores there are too good.
    bool keptByChoice() const { return restoresBest && evaluations > 1; }
};

}  // namespace relascope
