// SPDX-License-Identifier: GPL-3.0-or-later
// Loss and metrics of model outputs, by the kind of the targets.
#pragma once

#include <torch/types.h>
#include <string>
#include <utility>
#include <vector>

#include "data/batches.h"
#include "model/model.h"

namespace relascope::core {

// Cross entropy of class scores, which for a vocabulary are the largest tensor of a training step.

/// Mean cross entropy of scores [b, classes] or [b, n, classes] and targets [b] or
/// [b, n], without the targets equal to `ignore`. Targets have to be classes or `ignore`
/// (requireLabels()).
torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           std::int64_t ignore = -100);

class RankGroup;

/// Scores as the functions below take them: float32, but for a vocabulary's in bfloat16 on the CPU,
/// whose loss is computed in float32 without a copy of them.
torch::Tensor widenedScores(const torch::Tensor& scores);

/// Mean loss of a batch: cross entropy for classes and tokens, without targets equal to `ignore`
/// (weighted for mixed images); binary cross entropy for multi-label targets, and for classes if
/// the model has one output; squared error for regression.
torch::Tensor lossOf(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore);

/// Throws OptionError if a label is neither one of the classes nor `ignore`, which on a GPU would
/// make the device unusable. Models with one output have two classes.
void requireLabels(const Batch& batch, std::int64_t outputs, std::int64_t ignore = -1);

/// The number of targets of a batch that count: all of them, but tokens equal to `ignore` (-1:
/// none, but of words that are not hidden).
std::int64_t answersIn(const Batch& batch, std::int64_t ignore);
/// How many targets that count are right, a 0-dimensional double on the device of the scores; NaN
/// for regression. The batch is on that device too.
torch::Tensor rightAnswers(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore);

/// Accumulates metrics over the batches of a data set. Values stay on the device that computes them
/// until a result is asked for: the host does not wait after each batch.
class MetricAccumulator {
public:
    MetricAccumulator(std::int64_t outputs, std::int64_t ignore);
    /// Adds scores [b, outputs] or [b, n, outputs] of the batch, on any device; the mean loss of
    /// the batch, without dimensions, is accumulated as well if it is given.
    void add(const torch::Tensor& scores, const Batch& batch);
    void addLoss(const torch::Tensor& mean, const Batch& batch);

    std::int64_t examples() const { return m_examples; }
    double loss();
    /// Fraction of correct targets (classes, tokens, bits); NaN for regression.
    double accuracy();
    std::vector<double> classAccuracy();
    /// For regression: "mean_error", "largest_error" and "recovered", the fraction of examples with
    /// a largest error below 0.001. Empty otherwise.
    std::vector<std::pair<std::string, double>> values();
    /// Adds the sums of the other ranks over other batches, so that all have the same. Collective.
    void addRanks(RankGroup& ranks);

private:
    /// The answers to a batch, on the device that computed them, and its targets, on the CPU.
    struct Answers {
        torch::Tensor given, wanted;
        TargetKind kind;
    };
    /// Adds the values that wait on a device.
    void settle();
    void enterLosses(const torch::Tensor& means);
    void enter(const torch::Tensor& given, const Answers& answers);

    std::int64_t m_ignore, m_examples = 0, m_answers = 0, m_right = 0, m_counted = 0;
    bool m_numbers = false;
    double m_loss = 0.0, m_error = 0.0, m_largest = 0.0;
    std::int64_t m_recovered = 0;
    std::vector<std::int64_t> m_classRight, m_classSeen;

    std::vector<Answers> m_waiting;
    std::int64_t m_waitingNumbers = 0;
    std::vector<torch::Tensor> m_means;  ///< losses that wait; m_meanCounts: targets of each
    std::vector<std::int64_t> m_meanCounts;
};

}  // namespace relascope::core
