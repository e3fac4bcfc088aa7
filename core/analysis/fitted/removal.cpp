// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/removal.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

namespace relascope::core {
namespace {

constexpr double kFlattest = -8.0, kSteepest = 16.0;  // powers of the variance
constexpr int kHalvings = 40;
constexpr double kLeastVariance = 1e-12;  // of the largest

}  // namespace

double shareOfVariance(const torch::Tensor& covariance, const torch::Tensor& basis) {
    const auto held = (basis * torch::matmul(covariance, basis)).sum();
    return (held / covariance.trace()).item<double>();
}

RandomSubspaces::RandomSubspaces(const torch::Tensor& covariance) {
    const auto [values, axes] = torch::linalg_eigh(covariance);
    m_variance = values.clamp_min(kLeastVariance * values.max()) / values.max();
    m_axes = axes;
}

torch::Tensor RandomSubspaces::draw(std::int64_t dimensions, double share,
                                    std::uint64_t seed) const {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    const auto normal = torch::randn({m_variance.size(0), dimensions}, generator, torch::kDouble);
    const auto all = m_variance.sum();
    // In the principal axes.
    const auto subspace = [&](double beta) {
        return std::get<0>(torch::linalg_qr(normal * m_variance.pow(0.5 * beta).unsqueeze(1)));
    };
    double low = kFlattest, high = kSteepest;
    for (int step = 0; step < kHalvings; ++step) {
        const double middle = 0.5 * (low + high);
        const auto held = (subspace(middle).square().sum(1) * m_variance).sum() / all;
        (held.item<double>() < share ? low : high) = middle;
    }
    return torch::matmul(m_axes, subspace(0.5 * (low + high)));
}

double squaredCorrelation(const std::vector<double>& a, const std::vector<double>& b,
                          const std::vector<std::int32_t>& stratum) {
    const auto strata = static_cast<std::size_t>(
        stratum.empty() ? 0 : 1 + *std::max_element(stratum.begin(), stratum.end()));
    struct Sums {
        double n = 0.0, a = 0.0, b = 0.0;
    };
    std::vector<Sums> sums(strata);
    // Cells that a model closes are minus infinity.
    const auto counts = [&](std::size_t p) { return std::isfinite(a[p]) && std::isfinite(b[p]); };
    for (std::size_t p = 0; p < a.size(); ++p) {
        if (!counts(p)) continue;
        auto& own = sums[static_cast<std::size_t>(stratum[p])];
        own.n += 1.0, own.a += a[p], own.b += b[p];
    }
    double aa = 0.0, ab = 0.0, bb = 0.0;
    for (std::size_t p = 0; p < a.size(); ++p) {
        if (!counts(p)) continue;
        const auto& own = sums[static_cast<std::size_t>(stratum[p])];
        const double x = a[p] - own.a / own.n, y = b[p] - own.b / own.n;
        aa += x * x, ab += x * y, bb += y * y;
    }
    return aa > 0.0 && bb > 0.0 ? ab * ab / (aa * bb) : 0.0;
}

}  // namespace relascope::core
