#include "model/robust_regression.h"

#include <algorithm>

#include "model/message_passing.h"
#include "model/parameters.h"

namespace relascope {
namespace {

constexpr double kTolerance = 1e-8, kRelaxation = 1.6;
constexpr int kRounds = 20000, kLookEvery = 10;
constexpr std::int64_t kAtOnce = 64;  // examples: their matrices are to stay small

torch::Tensor shrink(const torch::Tensor& x, const torch::Tensor& by) {
    return x - x.clamp(-by, by);
}

// The problem as min |W z|_1 with K u - z = b, and its state: what is not solved yet, row by row.
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
    p.place = torch::arange(examples, torch::kLong).to(like.device());
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
        const auto open = torch::maximum(primal, dual).ge(kTolerance);
        if (round <= kRounds / 2) {
            // The two residuals are kept within a factor of four of one another (3.4.1); later the
            // step stays, without which nothing is proved.
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
    // On the screens a row of all objects, of which the column itself is no part.
    if (auto* recorder = activeRecorder())
        recorder->relations(path, torch::constant_pad_nd(u, {0, 1}).unsqueeze(1).unsqueeze(-1));
    return u;
}

RobustRegressionImpl::RobustRegressionImpl(const ModelOptions& o) : m_options(o) {
    o.check();
    regression = register_module("regression", RobustRegressionLayer(o.rel_scale));
}

torch::Tensor RobustRegressionImpl::forward(const ModelInput& input) {
    requireObjects(input.x, m_options);
    return regression(input.x);
}

}  // namespace relascope
