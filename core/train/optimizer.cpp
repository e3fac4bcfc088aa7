// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>
#include <map>
#include <numbers>

#include "types/error.h"

namespace relascope::core {

Optimizer::Optimizer(ModelImpl& model, const TrainOptions& options) : m_options(options) {
    for (const auto& entry : stateOf(model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        m_names.push_back(entry.name);
        m_parameters.push_back(entry.tensor);
        m_mean.push_back(torch::zeros_like(entry.tensor));
        m_square.push_back(torch::zeros_like(entry.tensor));
        m_steps.push_back(torch::zeros(
            {}, torch::TensorOptions().dtype(torch::kFloat).device(entry.tensor.device())));
    }
}

void Optimizer::zeroGradients() {
    for (auto& parameter : m_parameters) parameter.mutable_grad() = torch::Tensor();
}

double Optimizer::clipGradNorm() {
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : m_parameters)
        if (parameter.grad().defined()) gradients.push_back(parameter.grad());
    if (gradients.empty()) return 0.0;
    const double norm = torch::stack(at::_foreach_norm(gradients)).norm().item<double>();
    if (m_options.clip_norm > 0 && norm > m_options.clip_norm)
        at::_foreach_mul_(gradients, m_options.clip_norm / (norm + 1e-6));
    return norm;
}

void Optimizer::step(double learningRate) {
    const torch::NoGradGuard noGrad;
    const auto& o = m_options;
    const bool apart = o.weight_decay > 0 && o.weight_decay_on == "matrices";
    for (const bool decays : {true, false}) {
        std::vector<torch::Tensor> parameters, gradients, means, squares, steps;
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            if (!m_parameters[i].grad().defined()) continue;
            if ((!apart || m_parameters[i].dim() >= 2) != decays) continue;
            parameters.push_back(m_parameters[i]);
            gradients.push_back(m_parameters[i].grad());
            means.push_back(m_mean[i]);
            squares.push_back(m_square[i]);
            steps.push_back(m_steps[i]);
        }
        if (parameters.empty()) continue;
        at::_foreach_add_(steps, 1);
        const double decay = decays ? o.weight_decay : 0.0;
        if (o.optimizer == "adamw")
            at::_fused_adamw_(parameters, gradients, means, squares, {}, steps, learningRate,
                              o.beta1, o.beta2, decay, o.eps, false, false);
        else
            at::_fused_adam_(parameters, gradients, means, squares, {}, steps, learningRate,
                             o.beta1, o.beta2, decay, o.eps, false, false);
    }
}

std::vector<std::pair<std::string, torch::Tensor>> Optimizer::state() const {
    std::vector<std::pair<std::string, torch::Tensor>> all;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        all.emplace_back("exp_avg/" + m_names[i], m_mean[i]);
        all.emplace_back("exp_avg_sq/" + m_names[i], m_square[i]);
        all.emplace_back("step/" + m_names[i], m_steps[i]);
    }
    return all;
}

void Optimizer::load(const std::vector<std::pair<std::string, torch::Tensor>>& stored) {
    std::map<std::string, torch::Tensor> known(stored.begin(), stored.end());
    const auto own = state();
    for (const auto& [name, tensor] : own) {
        const auto found = known.find(name);
        if (found == known.end() || found->second.sizes() != tensor.sizes())
            throw Error("the optimizer's state '" + name + "' is missing or has a different shape");
    }
    const torch::NoGradGuard noGrad;
    for (auto& [name, tensor] : own) torch::Tensor(tensor).copy_(known[name]);
}

double scheduledRate(const TrainOptions& o, double base, std::int64_t step, std::int64_t total) {
    if (step < o.warmup_steps)
        return base * static_cast<double>(step + 1) / static_cast<double>(o.warmup_steps);
    if (o.schedule != "cosine") return base;
    const double span = static_cast<double>(std::max<std::int64_t>(1, total - o.warmup_steps));
    const double done = std::min(1.0, static_cast<double>(step - o.warmup_steps) / span);
    return o.min_learning_rate +
           0.5 * (base - o.min_learning_rate) * (1.0 + std::cos(std::numbers::pi * done));
}

}  // namespace relascope::core
