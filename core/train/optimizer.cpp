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
namespace {

constexpr double kClipEpsilon = 1e-6;  // as torch.nn.utils.clip_grad_norm_

}  // namespace

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

std::vector<torch::Tensor> Optimizer::gradients() const {
    std::vector<torch::Tensor> all;
    for (const auto& parameter : m_parameters)
        if (parameter.grad().defined()) all.push_back(parameter.grad());
    return all;
}

torch::Tensor Optimizer::gradientNorm() const {
    const auto all = gradients();
    if (all.empty()) return torch::zeros({}, m_steps.front().options());
    return torch::stack(at::_foreach_norm(all)).norm();
}

double Optimizer::clipGradNorm() {
    const auto all = gradients();
    if (all.empty()) return 0.0;
    const double norm = gradientNorm().item<double>();
    if (m_options.clip_norm > 0 && norm > m_options.clip_norm)
        at::_foreach_mul_(all, m_options.clip_norm / (norm + kClipEpsilon));
    return norm;
}

std::vector<Optimizer::Group> Optimizer::groups() const {
    const auto& o = m_options;
    const bool apart = o.weight_decay > 0 && o.weight_decay_on == "matrices";
    std::vector<Group> all;
    for (const bool decays : {true, false}) {
        Group group;
        group.decay = decays ? o.weight_decay : 0.0;
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            if (!m_parameters[i].grad().defined()) continue;
            if ((!apart || m_parameters[i].dim() >= 2) != decays) continue;
            group.parameters.push_back(m_parameters[i]);
            group.gradients.push_back(m_parameters[i].grad());
            group.means.push_back(m_mean[i]);
            group.squares.push_back(m_square[i]);
            group.steps.push_back(m_steps[i]);
        }
        if (!group.parameters.empty()) all.push_back(std::move(group));
    }
    return all;
}

void Optimizer::step(double learningRate) {
    const torch::NoGradGuard noGrad;
    const auto& o = m_options;
    for (auto& g : groups()) {
        at::_foreach_add_(g.steps, 1);
        if (o.optimizer == "adamw")
            at::_fused_adamw_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                              learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false);
        else
            at::_fused_adam_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                             learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false);
    }
}

void Optimizer::step(const torch::Tensor& learningRate, const torch::Tensor& norm,
                     const torch::Tensor& failed) {
    const torch::NoGradGuard noGrad;
    const auto& o = m_options;
    if (const auto all = gradients(); o.clip_norm > 0 && !all.empty()) {
        // The same bits as clipGradNorm.
        const auto wide = norm.to(torch::kDouble);
        const auto factor = torch::where(wide > o.clip_norm, o.clip_norm / (wide + kClipEpsilon),
                                         torch::ones_like(wide));
        at::_foreach_mul_(all, factor.to(torch::kFloat));
    }
    const auto one = 1 - failed;
    for (auto& g : groups()) {
        at::_foreach_add_(g.steps, one);
        if (o.optimizer == "adamw")
            at::_fused_adamw_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                              learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false, {},
                              failed);
        else
            at::_fused_adam_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                             learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false, {},
                             failed);
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
