// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/muon.h"

#include <algorithm>
#include <cmath>

namespace relascope::core {

torch::Tensor orthogonalized(const torch::Tensor& matrix) {
    // The coefficients of the polynomial a x + b x^3 + c x^5 and the number of steps are the
    // published ones: they bring small singular values up fast and need not end at 1.
    constexpr double a = 3.4445, b = -4.7750, c = 2.0315, smallest = 1e-7;
    constexpr int steps = 5;
    const bool tall = matrix.size(0) > matrix.size(1);
    auto x = tall ? matrix.t() : matrix;
    x = x / x.norm().clamp_min(smallest);
    for (int i = 0; i < steps; ++i) {
        const auto gram = x.mm(x.t());
        const auto polynomial = torch::addmm(gram, gram, gram, b, c);
        x = torch::addmm(x, polynomial, x, a);
    }
    return tall ? x.t() : x;
}

torch::Tensor muonUpdate(const torch::Tensor& gradient, const torch::Tensor& momentum,
                         double decayRate) {
    const auto ahead = gradient.lerp(momentum, decayRate);
    const auto longest = static_cast<double>(std::max(gradient.size(0), gradient.size(1)));
    return orthogonalized(ahead) * (-0.2 * std::sqrt(longest));
}

}  // namespace relascope::core
