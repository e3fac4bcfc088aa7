// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/robust_regression/robust_regression.h"

#include <torch/utils.h>

#include <algorithm>

#include "model/blocks/parameters.h"
#include "model/model.h"

namespace relascope::core {
namespace {

constexpr double kTolerance = 1e-8, kRelaxation = 1.6;
constexpr int kRounds = 10000, kLookEvery = 10, kCornerEvery = 50;
constexpr std::int64_t kAtOnce = 64;  // examples at once, so that the matrices stay small

torch::Tensor shrink(const torch::Tensor& x, const torch::Tensor& by) {
    return x - x.clamp(-by, by);
}

// The problem as min |W z|_1 with K u - z = b, and the state of the unsolved rows.
struct Problem {
    torch::Tensor k, inverse;  // [b, n, m] and its pseudo-inverse [b, m, n]
    torch::Tensor b, z, y;     // [b, n]
    torch::Tensor rho;         // [b, 1]
    torch::Tensor place;       // [b] int64: which example this row is

    void keep(const torch::Tensor& rows) {
        for (auto* t : {&k, &inverse, &b, &z, &y, &rho, &place}) *t = t->index({rows});
    }
};

torch::Tensor times(const torch::Tensor& matrix, const torch::Tensor& vector) {
    return torch::matmul(matrix, vector.unsqueeze(-1)).squeeze(-1);
}

// The candidate vertex: the solution of the m equations with multipliers furthest from their
// bounds. It is the minimum if multipliers within the bounds prove it. -> the solved rows of the
// problem, [b] bool, and their u [b, m].
std::pair<torch::Tensor, torch::Tensor> corner(const Problem& p, const torch::Tensor& weights) {
    const auto m = p.k.size(2);
    const auto order = ((p.y * p.rho).abs() / weights).argsort(std::int64_t{1});
    const auto k = p.k.gather(1, order.unsqueeze(-1).expand_as(p.k));
    const auto b = p.b.gather(1, order), w = weights.expand_as(p.b).gather(1, order);
    const auto met = k.slice(1, 0, m), left = k.slice(1, m);
    const auto [u, failed] = at::linalg_solve_ex(met, b.slice(1, 0, m));
    const auto pull = w.slice(1, m) * (times(left, u) - b.slice(1, m)).sign();
    const auto [v, failedToo] =
        at::linalg_solve_ex(met.transpose(1, 2), times(left.transpose(1, 2), pull));
    const auto within = v.abs().le(w.slice(1, 0, m) * (1.0 + 1e-9)).all(1);  // not of NaN
    return {within.logical_and(failed.eq(0)).logical_and(failedToo.eq(0)), u};
}

torch::Tensor solveTogether(const torch::Tensor& symbols, const torch::Tensor& observed,
                            double lambda) {
    const auto examples = symbols.size(0), d = symbols.size(1), m = symbols.size(2);
    const auto like = symbols.options();
    // With a penalty, or with too few numbers to tell the symbols apart, u is a part of z as well.
    const bool penalised = lambda > 0.0 || d <= m;
    Problem p;
    auto weights = torch::ones({d}, like);
    if (penalised) {
        p.k = torch::cat({symbols, torch::eye(m, like).expand({examples, m, m})}, 1);
        p.b = torch::cat({observed, torch::zeros({examples, m}, like)}, 1);
        weights = torch::cat({weights, torch::full({m}, lambda, like)});
        const auto transposed = p.k.transpose(1, 2);
        p.inverse = torch::cholesky_solve(transposed.contiguous(),
                                          at::linalg_cholesky(torch::matmul(transposed, p.k)));
    } else {
        p.k = symbols.contiguous();
        p.b = observed;
        p.inverse = at::linalg_pinv(p.k);
    }
    p.z = torch::zeros_like(p.b);
    p.y = torch::zeros_like(p.b);
    p.rho = torch::ones({examples, 1}, like);
    p.place = torch::arange(examples, like.dtype(torch::kLong));
    auto answer = torch::zeros({examples, m}, like);
    for (int round = 1; round <= kRounds && p.b.size(0) > 0; ++round) {
        const auto u = times(p.inverse, p.b + p.z - p.y);
        const auto reached = times(p.k, u) - p.b;
        const auto before = p.z;
        const auto step = kRelaxation * reached + (1.0 - kRelaxation) * p.z + p.y;
        p.z = shrink(step, weights / p.rho);
        p.y = step - p.z;
        if (round % kLookEvery != 0) continue;
        answer.index_copy_(0, p.place, u);
        const auto primal = (reached - p.z).abs().amax(1);
        const auto dual = times(p.k.transpose(1, 2), p.z - before).abs().amax(1) * p.rho.squeeze(1);
        auto open = torch::maximum(primal, dual).ge(kTolerance);
        if (round % kCornerEvery == 0 && (lambda > 0.0 || !penalised)) {
            const auto [solved, exact] = corner(p, weights);
            answer.index_copy_(0, p.place, torch::where(solved.unsqueeze(1), exact, u));
            open = open.logical_and(solved.logical_not());
        }
        if (round <= kRounds / 2) {
            // The two residuals are kept near one another (3.4.1); in the end the step is fixed, as
            // convergence is proved only for that.
            const auto factor = (primal / dual.clamp_min(1e-300)).sqrt().clamp(0.2, 5.0);
            const auto change = torch::where(factor.gt(2.0).logical_or(factor.lt(0.5)), factor,
                                             torch::ones_like(factor))
                                    .unsqueeze(1);
            p.rho = p.rho * change;
            p.y = p.y / change;
        }
        if (!open.all().item<bool>()) p.keep(open);
    }
    return answer;
}

}  // namespace

torch::Tensor leastAbsoluteDeviations(const torch::Tensor& symbols, const torch::Tensor& observed,
                                      double lambda) {
    const torch::NoGradGuard noGrad;
    std::vector<torch::Tensor> parts;
    for (std::int64_t first = 0; first < symbols.size(0); first += kAtOnce) {
        const auto last = std::min(first + kAtOnce, symbols.size(0));
        parts.push_back(
            solveTogether(symbols.slice(0, first, last), observed.slice(0, first, last), lambda));
    }
    return torch::cat(parts);
}

RobustRegressionLayerImpl::RobustRegressionLayerImpl(double weight) {
    lambda = register_parameter("lambda", newConstant({1}, weight), false);
}

torch::Tensor RobustRegressionLayerImpl::forward(const torch::Tensor& objects) {
    const auto m = objects.size(1) - 1;
    const auto exact = objects.detach().to(torch::kDouble);
    const auto u = leastAbsoluteDeviations(exact.slice(1, 0, m).transpose(1, 2), exact.select(1, m),
                                           std::max(0.0, lambda.item<double>()))
                       .to(objects.scalar_type());
    // Displayed as a row of all objects, without the column itself.
    if (auto* recorder = activeRecorder())
        recorder->relations(path, torch::constant_pad_nd(u, {0, 1}).unsqueeze(1).unsqueeze(-1));
    return u;
}

RobustRegressionImpl::RobustRegressionImpl(const Options& o) : ModelWith(o) {
    regression = register_module("regression", RobustRegressionLayer(o.sparsity));
}

torch::Tensor RobustRegressionImpl::outputs(const torch::Tensor& input) {
    return regression(input);
}

namespace {

const auto model = RegisterModel::of<RobustRegressionImpl>("RobustRegression");

}  // namespace
}  // namespace relascope::core
