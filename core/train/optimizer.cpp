// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <torch/utils.h>

#include <cmath>
#include <map>
#include <numbers>

#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kClipEpsilon = 1e-6;  // as torch.nn.utils.clip_grad_norm_
// Numbers in a piece of the parameters that ranks divide among them: 25 MiB of float32.
constexpr std::int64_t kPiece = std::int64_t{25} << 18;

}  // namespace

Optimizer::Optimizer(ModelImpl& model, const TrainOptions& options, RankGroup* sharing)
    : m_sharing(sharing), m_options(options) {
    for (const auto& entry : stateOf(model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        m_names.push_back(entry.name);
        m_parameters.push_back(entry.tensor);
        m_steps.push_back(torch::zeros(
            {}, torch::TensorOptions().dtype(torch::kFloat).device(entry.tensor.device())));
    }
    makeParts();
}

void Optimizer::makeParts() {
    if (!m_sharing) {
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            m_parts.push_back({i, 0, m_parameters[i].numel(), torch::zeros_like(m_parameters[i]),
                               torch::zeros_like(m_parameters[i])});
        return;
    }
    for (const auto& piece : pieces()) {
        for (const auto& span : ownSpans(piece)) {
            const auto none = m_parameters[span.parameter].options().requires_grad(false);
            m_parts.push_back({span.parameter, span.begin, span.end,
                               torch::zeros({span.end - span.begin}, none),
                               torch::zeros({span.end - span.begin}, none)});
        }
    }
}

torch::Tensor Optimizer::ofPart(const torch::Tensor& whole, const Part& part) const {
    return m_sharing ? whole.view(-1).slice(0, part.begin, part.end) : whole;
}

std::vector<Optimizer::Piece> Optimizer::pieces() const {
    std::int64_t all = 0;
    for (const auto& parameter : m_parameters) all += parameter.numel();
    const std::int64_t ranks = m_sharing->size();
    std::vector<Piece> pieces;
    for (std::int64_t begin = 0; begin < all; begin += kPiece) {
        const auto end = std::min(all, begin + kPiece);
        pieces.push_back({begin, end, (end - begin + ranks - 1) / ranks});
    }
    return pieces;
}

std::vector<Optimizer::Span> Optimizer::spans(std::int64_t begin, std::int64_t end) const {
    std::vector<Span> found;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const auto next = first + m_parameters[i].numel();
        const auto from = std::max(begin, first), to = std::min(end, next);
        if (from < to) found.push_back({i, from - first, to - first});
        first = next;
    }
    return found;
}

std::vector<Optimizer::Span> Optimizer::ownSpans(const Piece& piece) const {
    const auto begin = std::min(piece.end, piece.begin + piece.share * m_sharing->rank());
    return spans(begin, std::min(piece.end, begin + piece.share));
}

void Optimizer::gatherPieces(
    const std::function<torch::Tensor(const Span&)>& own,
    const std::function<void(const Span&, const torch::Tensor&)>& take) const {
    const torch::NoGradGuard noGrad;
    for (const auto& piece : pieces()) {
        const auto options = m_parameters.front().options().requires_grad(false);
        const auto mine = torch::zeros({piece.share}, options);
        const auto all = torch::empty({piece.share * m_sharing->size()}, options);
        std::int64_t place = 0;
        for (const auto& span : ownSpans(piece)) {
            mine.slice(0, place, place + span.end - span.begin).copy_(own(span));
            place += span.end - span.begin;
        }
        m_sharing->device().allGather(all, mine);
        // The shares follow each other without a gap; only the last ones may be shorter.
        place = 0;
        for (const auto& span : spans(piece.begin, piece.end)) {
            take(span, all.slice(0, place, place + span.end - span.begin));
            place += span.end - span.begin;
        }
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
        const auto belongs = [&](std::size_t i) {
            return m_parameters[i].grad().defined() &&
                   (!apart || m_parameters[i].dim() >= 2) == decays;
        };
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            if (belongs(i)) group.counted.push_back(m_steps[i]);
        for (const auto& part : m_parts) {
            if (!belongs(part.parameter)) continue;
            group.parameters.push_back(ofPart(m_parameters[part.parameter], part));
            group.gradients.push_back(ofPart(m_parameters[part.parameter].grad(), part));
            group.means.push_back(part.mean);
            group.squares.push_back(part.square);
            group.steps.push_back(m_steps[part.parameter]);
        }
        if (!group.counted.empty()) all.push_back(std::move(group));
    }
    return all;
}

void Optimizer::step(double learningRate) {
    const torch::NoGradGuard noGrad;
    const auto& o = m_options;
    for (auto& g : groups()) {
        at::_foreach_add_(g.counted, 1);
        if (g.parameters.empty()) continue;
        if (o.optimizer == "adamw")
            at::_fused_adamw_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                              learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false);
        else
            at::_fused_adam_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                             learningRate, o.beta1, o.beta2, g.decay, o.eps, false, false);
    }
    if (!m_sharing) return;
    gatherPieces(
        [this](const Span& span) {
            return m_parameters[span.parameter].view(-1).slice(0, span.begin, span.end);
        },
        [this](const Span& span, const torch::Tensor& values) {
            m_parameters[span.parameter].view(-1).slice(0, span.begin, span.end).copy_(values);
        });
}

void Optimizer::step(const torch::Tensor& learningRate, const torch::Tensor& norm,
                     const torch::Tensor& failed) {
    const torch::NoGradGuard noGrad;
    const auto& o = m_options;
    if (const auto all = gradients(); o.clip_norm > 0 && !all.empty()) {
        // Computed so that it gives the same bits as clipGradNorm().
        const auto wide = norm.to(torch::kDouble);
        const auto factor = torch::where(wide > o.clip_norm, o.clip_norm / (wide + kClipEpsilon),
                                         torch::ones_like(wide));
        at::_foreach_mul_(all, factor.to(torch::kFloat));
    }
    const auto one = 1 - failed;
    for (auto& g : groups()) {
        at::_foreach_add_(g.counted, one);
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
    std::vector<torch::Tensor> means, squares;
    if (m_sharing) {
        const auto gathered = [this](torch::Tensor Part::*moment) {
            std::vector<torch::Tensor> all;
            if (m_sharing->leads())
                for (const auto& parameter : m_parameters)
                    all.push_back(torch::empty(parameter.sizes(), torch::kFloat));
            auto part = m_parts.begin();  // in the order of the pieces
            gatherPieces(
                [&](const Span&) { return (*part++).*moment; },
                [&](const Span& span, const torch::Tensor& values) {
                    if (all.empty()) return;
                    all[span.parameter].view(-1).slice(0, span.begin, span.end).copy_(values);
                });
            return all;
        };
        means = gathered(&Part::mean), squares = gathered(&Part::square);
        if (!m_sharing->leads()) return {};
    } else {
        for (const auto& part : m_parts) means.push_back(part.mean), squares.push_back(part.square);
    }
    std::vector<std::pair<std::string, torch::Tensor>> all;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        all.emplace_back("exp_avg/" + m_names[i], means[i]);
        all.emplace_back("exp_avg_sq/" + m_names[i], squares[i]);
        all.emplace_back("step/" + m_names[i], m_steps[i]);
    }
    return all;
}

void Optimizer::load(const std::vector<std::pair<std::string, torch::Tensor>>& stored) {
    std::map<std::string, torch::Tensor> known(stored.begin(), stored.end());
    for (std::size_t i = 0; i < m_names.size(); ++i)
        for (const auto& [kind, shape] : {std::pair{"exp_avg/", m_parameters[i].sizes()},
                                          {"exp_avg_sq/", m_parameters[i].sizes()},
                                          {"step/", m_steps[i].sizes()}}) {
            const auto found = known.find(kind + m_names[i]);
            if (found == known.end() || found->second.sizes() != shape)
                throw Error("the optimizer's state '" + (kind + m_names[i]) +
                            "' is missing or has a different shape");
        }
    const torch::NoGradGuard noGrad;
    for (auto& part : m_parts) {
        part.mean.copy_(ofPart(known["exp_avg/" + m_names[part.parameter]].contiguous(), part));
        part.square.copy_(
            ofPart(known["exp_avg_sq/" + m_names[part.parameter]].contiguous(), part));
    }
    for (std::size_t i = 0; i < m_names.size(); ++i) m_steps[i].copy_(known["step/" + m_names[i]]);
    if (m_sharing) m_stored = stored;
}

void Optimizer::shareState(RankGroup& ranks) {
    const torch::NoGradGuard noGrad;
    for (auto& steps : m_steps) ranks.takeFromLeader(steps);
    if (!m_sharing) {
        for (auto& part : m_parts) {
            ranks.takeFromLeader(part.mean);
            ranks.takeFromLeader(part.square);
        }
        return;
    }
    if (ranks.broadcast(m_stored.empty() ? "" : "stored").empty()) return;  // a new run: zeros
    const std::map<std::string, torch::Tensor> known(m_stored.begin(), m_stored.end());
    for (std::size_t i = 0; i < m_names.size(); ++i)
        for (const auto& [kind, moment] :
             {std::pair{"exp_avg/", &Part::mean}, {"exp_avg_sq/", &Part::square}}) {
            auto whole = torch::empty_like(m_parameters[i]).requires_grad_(false);
            if (const auto found = known.find(kind + m_names[i]); found != known.end())
                whole.copy_(found->second);
            ranks.takeFromLeader(whole);
            for (auto& part : m_parts)
                if (part.parameter == i) (part.*moment).copy_(ofPart(whole, part));
        }
    m_stored.clear();
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
