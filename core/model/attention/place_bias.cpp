// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/place_bias.h"

#include <torch/utils.h>

namespace relascope::core {
namespace {

// The rows of a table of the grid for all pairs of tokens: [n * n] int64.
torch::Tensor rowsOfPairs(std::int64_t rows, std::int64_t columns, const torch::Device& device) {
    const auto options = torch::TensorOptions().dtype(torch::kLong).device(device);
    const auto patch = torch::arange(rows * columns, options);
    const auto row = patch.div(columns, "floor"), column = patch.remainder(columns);
    const auto apart = [](const torch::Tensor& x) { return x.unsqueeze(1) - x; };
    const auto width = 2 * columns - 1, count = (2 * rows - 1) * width;
    const auto n = rows * columns + 1;
    auto index = torch::empty({n, n}, options);
    index.slice(0, 1).slice(1, 1).copy_((apart(row) + rows - 1) * width + apart(column) + columns -
                                        1);
    index.select(0, 0).fill_(count);
    index.select(1, 0).fill_(count + 1);
    index[0][0] = count + 2;
    return index.flatten();
}

torch::Tensor scoresOf(const ScoreOptions& o, const torch::Tensor& table) {
    const auto height = 2 * o.table_rows - 1, width = 2 * o.table_columns - 1;
    const auto scaledHeight = 2 * o.place_rows - 1, scaledWidth = 2 * o.place_columns - 1;
    auto patches = table.slice(0, 0, height * width).t();  // [heads, height * width]
    if (height != scaledHeight || width != scaledWidth)
        patches = at::upsample_bilinear2d(patches.unflatten(1, {height, width}).unsqueeze(0),
                                          {scaledHeight, scaledWidth}, false)[0]
                      .flatten(1);
    const auto n = o.place_rows * o.place_columns + 1;
    return torch::cat({patches, table.slice(0, height * width).t()}, 1)
        .index_select(1, rowsOfPairs(o.place_rows, o.place_columns, table.device()))
        .view({-1, n, n});
}

}  // namespace

torch::Tensor placeScores(const ScoreOptions& options, const torch::Tensor& own,
                          const torch::Tensor& shared) {
    const auto both = own.defined() && shared.defined() ? own + shared
                      : own.defined()                   ? own
                                                        : shared;
    return scoresOf(options, both);
}

}  // namespace relascope::core
