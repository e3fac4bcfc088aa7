// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "analysis/contrast/terms.h"
#include "types/student_t.h"

namespace relascope::core {

torch::Tensor withoutBlocks(const torch::Tensor& groups, std::int64_t blocks) {
    const auto [value, index, times] = at::_unique2(groups, true, true, true);
    const auto count = std::min(blocks, value.size(0)), e = groups.size(0);
    // Each group goes where the examples before it end.
    const auto before = times.cumsum(0) - times;
    const auto block = torch::div(before * count, e, "floor").index_select(0, index);
    const auto used = std::get<1>(at::_unique(block, true, true));  // without empty ones
    const auto found = used.max().item<std::int64_t>() + 1;
    return used.unsqueeze(0).ne(torch::arange(found).unsqueeze(1)).to(torch::kDouble);
}

JackknifeEstimate jackknifed(const torch::Tensor& ways, const torch::Tensor& counts) {
    const auto blocks = counts.size(0);
    const auto all = ways[0], none = torch::full_like(all, NAN);
    if (blocks < 2) return {all, none, none};
    std::vector<std::int64_t> shape(static_cast<std::size_t>(ways.dim()), 1);
    shape[0] = -1;
    const auto n = static_cast<double>(blocks);
    const auto share =  // of the examples left out
        (1.0 - counts.sum(1) / static_cast<double>(counts.size(1))).view(shape);
    const auto without = ways.slice(0, 1);
    const auto value = n * all - ((1.0 - share) * without).sum(0);
    const auto off = (all - (1.0 - share) * without) / share - value;
    const auto error = (off.square() * share / (1.0 - share)).sum(0).div(n).sqrt();
    const auto reach = error * studentT95(static_cast<int>(blocks) - 1);
    return {torch::where(value.isfinite(), value, all), value - reach, value + reach};
}

}  // namespace relascope::core
