// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>

#include "model/attention/row_kernels.h"
#include "model/blocks/fused_layers.h"
#include "model/blocks/parameters.h"

namespace relascope::core {

bool isRowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    return isHalf(weight) && !torch::GradMode::is_enabled() && x.is_cpu() &&
           x.scalar_type() == torch::kFloat && x.numel() == weight.size(1) && x.numel() % 2 == 0 &&
           x.is_contiguous() && weight.is_contiguous();
}

torch::Tensor rowTimesWeight(const torch::Tensor& x, const torch::Tensor& weight) {
    auto shape = x.sizes().vec();
    shape.back() = weight.size(0);
    auto y = torch::empty(shape, x.options());
    const auto* from = x.const_data_ptr<float>();
    RowInput input{{from, from + x.numel()}, {}, {}};
    input.split();
    const MatrixRows rows{weight.const_data_ptr(), nullptr, weight.size(0), weight.size(1),
                          rowType(weight.scalar_type())};
    const RowProduct product{rows, &input, y.mutable_data_ptr<float>()};
    multiplyRows({&product, 1});
    return y;
}

}  // namespace relascope::core
