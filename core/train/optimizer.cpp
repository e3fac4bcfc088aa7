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

#include "train/muon.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kClipEpsilon = 1e-6;  // as torch.nn.utils.clip_grad_norm_
// Numbers in a piece of the parameters that ranks divide among them: 25 MiB of float32.
constexpr std::int64_t kPiece = std::int64_t{25} << 18;

/// Whether a parameter is in a numbered module, as those of a block are:
/// "layers.blocks.0.ff.weight".
bool isOfBlock(const std::string& name) {
    const auto number = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    for (std::size_t begin = 0; begin < name.size();) {
        const auto end = std::min(name.find('.', begin), name.size());
        if (number(std::string_view(name).substr(begin, end - begin))) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

Optimizer::Optimizer(ModelImpl& model, const TrainOptions& options, RankGroup* sharing)
    : m_sharing(sharing), m_options(options) {
    for (const auto& entry : stateOf(model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        m_names.push_back(entry.name);
        m_parameters.push_back(entry.tensor);
        m_byMuon.push_back(options.optimizer == "muon" && entry.tensor.dim() == 2 &&
                           isOfBlock(entry.name));
        if (options.ema_decay > 0) m_others.push_back(entry.tensor.detach().clone());
        m_steps.push_back(torch::zeros(
            {}, torch::TensorOptions().dtype(torch::kFloat).device(entry.tensor.device())));
    }
    makeParts();
}

void Optimizer::makeParts() {
    if (!m_sharing) {
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            m_parts.push_back({i, 0, m_parameters[i].numel(), torch::zeros_like(m_parameters[i]),
                               m_byMuon[i] ? torch::Tensor() : torch::zeros_like(m_parameters[i])});
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

namespace {

/// One step of Muon for each matrix, at a rate that is a number or a 0-dimensional tensor.
template <class Group, class Rate>
void applyMuon(const Group& g, const Rate& rate, double momentum, const torch::Tensor& failed) {
    for (std::size_t i = 0; i < g.parameters.size(); ++i) {
        const auto& weight = g.parameters[i];
        const auto mean = g.means[i].lerp(g.gradients[i], 1 - momentum);
        const auto moved =
            weight * (1 - rate * g.decay) + rate * muonUpdate(g.gradients[i], mean, momentum);
        const auto take = [&](const torch::Tensor& place, const torch::Tensor& value) {
            place.copy_(failed.defined() ? torch::where(failed > 0, place, value) : value);
        };
        take(g.means[i], mean);
        take(weight, moved);
    }
}

}  // namespace

std::vector<Optimizer::Group> Optimizer::groups() const {
    const auto& o = m_options;
    const bool apart = o.weight_decay > 0 && o.weight_decay_on == "matrices";
    std::vector<Group> all;
    for (const auto& [byMuon, decays] : {std::pair{true, true}, {false, true}, {false, false}}) {
        Group group;
        group.byMuon = byMuon;
        group.decay = decays ? o.weight_decay : 0.0;
        const auto belongs = [&, byMuon = byMuon, decays = decays](std::size_t i) {
            return m_parameters[i].grad().defined() && m_byMuon[i] == byMuon &&
                   (!apart || m_parameters[i].dim() >= 2) == decays;
        };
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            if (belongs(i)) group.counted.push_back(m_steps[i]);
        for (const auto& part : m_parts) {
            if (!belongs(part.parameter)) continue;
            group.parameters.push_back(ofPart(m_parameters[part.parameter], part));
            group.gradients.push_back(ofPart(m_parameters[part.parameter].grad(), part));
            group.means.push_back(part.mean);
            if (!byMuon) group.squares.push_back(part.square);
            group.steps.push_back(m_steps[part.parameter]);
        }
        if (!group.counted.empty()) all.push_back(std::move(group));
    }
    return all;
}

void Optimizer::apply(const std::variant<double, torch::Tensor>& learningRate,
                      const torch::Tensor& failed) {
    const auto& o = m_options;
    const auto found = failed.defined() ? std::optional(failed) : std::nullopt;
    for (auto& g : groups()) {
        if (failed.defined())
            at::_foreach_add_(g.counted, 1 - failed);
        else
            at::_foreach_add_(g.counted, 1);
        if (g.parameters.empty()) continue;
        std::visit(
            [&](const auto& rate) {
                if (g.byMuon)
                    applyMuon(g, rate, o.momentum, failed);
                else if (o.optimizer == "adam")
                    at::_fused_adam_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                                     rate, o.beta1, o.beta2, g.decay, o.eps, false, false, {},
                                     found);
                else
                    at::_fused_adamw_(g.parameters, g.gradients, g.means, g.squares, {}, g.steps,
                                      rate, o.beta1, o.beta2, g.decay, o.eps, false, false, {},
                                      found);
            },
            learningRate);
    }
}

void Optimizer::average(const torch::Tensor& failed) {
    if (m_others.empty()) return;
    const auto steps = torch::stack(m_steps).max();  // a weight without gradients counts none
    auto part = 1 - ((steps + 1) / (steps + 10)).clamp_max(m_options.ema_decay);
    if (failed.defined()) part = part * (1 - failed);
    for (std::size_t i = 0; i < m_parameters.size(); ++i) m_others[i].lerp_(m_parameters[i], part);
}

void Optimizer::exchangeWeights() {
    const torch::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_others.size(); ++i) {
        const auto inModel = m_parameters[i].clone();
        m_parameters[i].copy_(m_others[i]);
        m_others[i].copy_(inModel);
    }
}

Optimizer::TrainedWeights::~TrainedWeights() {
    try {
        m_optimizer.exchangeWeights();
    } catch (const std::exception&) {  // the device has failed: nothing is saved from it
    }
}

void Optimizer::step(double learningRate) {
    const torch::NoGradGuard noGrad;
    apply(learningRate, {});
    if (m_sharing)
        gatherPieces(
            [this](const Span& span) {
                return m_parameters[span.parameter].view(-1).slice(0, span.begin, span.end);
            },
            [this](const Span& span, const torch::Tensor& values) {
                m_parameters[span.parameter].view(-1).slice(0, span.begin, span.end).copy_(values);
            });
    average({});
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
    apply(learningRate, failed);
    average(failed);
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
        all.emplace_back(momentName(i), means[i]);
        if (!m_byMuon[i]) all.emplace_back("exp_avg_sq/" + m_names[i], squares[i]);
        all.emplace_back("step/" + m_names[i], m_steps[i]);
        if (!m_others.empty()) all.emplace_back("trained/" + m_names[i], m_others[i]);
    }
    return all;
}

std::string Optimizer::momentName(std::size_t parameter) const {
    return (m_byMuon[parameter] ? "momentum/" : "exp_avg/") + m_names[parameter];
}

void Optimizer::load(const std::vector<std::pair<std::string, torch::Tensor>>& stored) {
    std::map<std::string, torch::Tensor> known(stored.begin(), stored.end());
    const auto require = [&](const std::string& name, const torch::Tensor& like) {
        const auto found = known.find(name);
        if (found == known.end() || found->second.sizes() != like.sizes())
            throw Error("the optimizer's state '" + name + "' is missing or has a different shape");
    };
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        require(momentName(i), m_parameters[i]);
        if (!m_byMuon[i]) require("exp_avg_sq/" + m_names[i], m_parameters[i]);
        require("step/" + m_names[i], m_steps[i]);
        if (!m_others.empty()) require("trained/" + m_names[i], m_parameters[i]);
    }
    const torch::NoGradGuard noGrad;
    for (auto& part : m_parts) {
        const auto& name = m_names[part.parameter];
        part.mean.copy_(ofPart(known[momentName(part.parameter)].contiguous(), part));
        if (part.square.defined())
            part.square.copy_(ofPart(known["exp_avg_sq/" + name].contiguous(), part));
    }
    for (std::size_t i = 0; i < m_names.size(); ++i) m_steps[i].copy_(known["step/" + m_names[i]]);
    for (std::size_t i = 0; i < m_others.size(); ++i)
        m_others[i].copy_(known["trained/" + m_names[i]]);
    if (m_sharing) m_stored = stored;
}

void Optimizer::shareState(RankGroup& ranks) {
    const torch::NoGradGuard noGrad;
    for (auto& steps : m_steps) ranks.takeFromLeader(steps);
    for (auto& weights : m_others) ranks.takeFromLeader(weights);
    if (!m_sharing) {
        for (auto& part : m_parts) {
            ranks.takeFromLeader(part.mean);
            if (part.square.defined()) ranks.takeFromLeader(part.square);
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
