// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel/numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/class_scores.h"

namespace relascope::core {

double mcnemarExact(std::int64_t first, std::int64_t second) {
    const std::int64_t all = first + second, fewer = std::min(first, second);
    if (all == 0 || first == second) return 1.0;
    // Logarithms: 2^-all is below what a double holds from 1,075 on.
    const auto n = static_cast<double>(all);
    const double whole = std::lgamma(n + 1.0) - n * std::log(2.0);
    double sum = 0.0;
    for (std::int64_t k = 0; k <= fewer; ++k) {
        const auto x = static_cast<double>(k);
        sum += std::exp(whole - std::lgamma(x + 1.0) - std::lgamma(n - x + 1.0));
    }
    return std::min(1.0, 2.0 * sum);
}

torch::Tensor centredGram(const torch::Tensor& features) {
    const auto x = features.detach().to(torch::kCPU, torch::kDouble);
    const auto centred = x - x.mean(0, true);
    return centred.matmul(centred.t());
}

double linearCka(const torch::Tensor& gram, const torch::Tensor& other) {
    const double between = (gram * other).sum().item<double>(),
                 first = gram.square().sum().item<double>(),
                 second = other.square().sum().item<double>();
    if (!(first > 0) || !(second > 0)) return std::numeric_limits<double>::quiet_NaN();
    return between / std::sqrt(first * second);
}

torch::Tensor divergenceOfSigns(const torch::Tensor& scores, const torch::Tensor& other) {
    const auto both = [](const torch::Tensor& s) {
        return torch::stack({s, torch::zeros_like(s)}, -1);
    };
    return compareClasses(both(scores), both(other)).divergence;
}

}  // namespace relascope::core
