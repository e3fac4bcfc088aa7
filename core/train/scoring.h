// SPDX-License-Identifier: GPL-3.0-or-later
// How the outputs of a model are scored against what a batch asks, by the kind of its targets.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "data/batches.h"
#include "model/model.h"

namespace relascope::core {

/// Mean (or summed) cross entropy of scores [b, classes] or [b, n, classes] and targets [b] or [b,
/// n].
torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           bool sum = false);

/// What a batch gives a model on `device`.
ModelInput inputOf(const Batch& batch, const torch::Device& device);

/// Mean loss of scores on the batch's answers: cross entropy of classes and tokens, those equal to
/// `ignore` left out (weighted, of mixed images); binary cross entropy of bits, and of a
/// class where the model gives one score; squared error of numbers.
torch::Tensor lossOf(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore);

/// Throws OptionError when a label is neither one of the classes nor `ignore`: on a GPU it would
/// poison the device. Models with one score know two classes.
void requireLabels(const Batch& batch, std::int64_t outputs, std::int64_t ignore = -1);

/// Adds up answers over batches.
class MetricAccumulator {
public:
    MetricAccumulator(std::int64_t outputs, std::int64_t ignore);
    /// scores [b, outputs] or [b, n, outputs] of the batch, on any device; the mean loss of the
    /// batch is counted with them when it is given.
    void add(const torch::Tensor& scores, const Batch& batch);
    void addLoss(double mean, const Batch& batch);

    std::int64_t examples() const { return m_examples; }
    double loss() const;
    /// Fraction of right answers (classes, tokens, bits); NaN of numbers.
    double accuracy() const;
    std::vector<double> classAccuracy() const;
    /// Of numbers: "mean_error", "largest_error" and "recovered", the fraction of examples whose
    /// largest error is below 0.001. Empty otherwise.
    std::vector<std::pair<std::string, double>> values() const;
    /// How many answers of a batch count.
    std::int64_t answers(const Batch& batch) const;

private:
    std::int64_t m_ignore, m_examples = 0, m_answers = 0, m_right = 0, m_counted = 0;
    bool m_numbers = false;
    double m_loss = 0.0, m_error = 0.0, m_largest = 0.0;
    std::int64_t m_recovered = 0;
    std::vector<std::int64_t> m_classRight, m_classSeen;
};

}  // namespace relascope::core
