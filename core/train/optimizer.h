// SPDX-License-Identifier: GPL-3.0-or-later
// Adam and AdamW on LibTorch's fused kernels, and the learning-rate schedules.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "model/factory.h"
#include "types/train_options.h"

namespace relascope::core {

/// Adam (Kingma and Ba 2015; weight decay coupled, as L2) or AdamW (Loshchilov and Hutter 2019),
/// one kernel for all parameters.
class Optimizer {
public:
    Optimizer(ModelImpl& model, const TrainOptions& options);

    void zeroGradients();
    /// The norm of all gradients together, before clipping to `clip_norm`.
    double clipGradNorm();
    void step(double learningRate);

    /// The same without the host: clips by the norm of all gradients, and changes nothing where
    /// `failed` is 1. All are 0-dimensional floats on the device, which is not the CPU.
    torch::Tensor gradientNorm() const;
    void step(const torch::Tensor& learningRate, const torch::Tensor& norm,
              const torch::Tensor& failed);

    /// "exp_avg/NAME", "exp_avg_sq/NAME", "step": for the checkpoint.
    std::vector<std::pair<std::string, torch::Tensor>> state() const;
    /// Throws Error naming a tensor that is missing or has another shape; nothing is changed then.
    void load(const std::vector<std::pair<std::string, torch::Tensor>>& state);

private:
    /// The parameters that have a gradient, and what goes with them, in their order.
    struct Group {
        std::vector<torch::Tensor> parameters, gradients, means, squares, steps;
        double decay = 0.0;
    };
    std::vector<Group> groups() const;
    std::vector<torch::Tensor> gradients() const;

    std::vector<std::string> m_names;
    std::vector<torch::Tensor> m_parameters, m_mean, m_square, m_steps;
    TrainOptions m_options;
};

/// Learning rate of optimizer step `step` (the first is 0) of `total`: linear warm-up to the base
/// rate, then constant, or a cosine down to the final rate.
double scheduledRate(const TrainOptions& options, double baseRate, std::int64_t step,
                     std::int64_t total);

}  // namespace relascope::core
