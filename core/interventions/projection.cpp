// SPDX-License-Identifier: GPL-3.0-or-later
#include "interventions/projection.h"

#include <torch/utils.h>

#include <algorithm>

namespace relascope::core {
namespace {

constexpr double kLeastDirection = 1e-6;  // of the largest singular value

torch::Tensor relationMatrix(const std::vector<float>& numbers, std::int64_t rows,
                             std::int64_t columns) {
    return torch::tensor(numbers).view({rows, columns}).to(torch::kDouble);
}

std::ptrdiff_t dimensionOf(const HookPoint& point, Axis axis) {
    const auto found = std::find(point.axes.begin(), point.axes.end(), axis);
    return found == point.axes.end() ? -1 : found - point.axes.begin();
}

}  // namespace

torch::Tensor basisOfRows(const torch::Tensor& rows) {
    const auto [u, s, vt] = torch::linalg_svd(rows.to(torch::kDouble), false);
    const auto kept = s.gt(kLeastDirection * s[0]).sum().item<std::int64_t>();
    return vt.slice(0, 0, kept).t().contiguous();
}

StreamProjection projectionOf(const RelationFile& relation) {
    const auto rows = torch::cat({relationMatrix(relation.a, relation.rank, relation.width),
                                  relationMatrix(relation.b, relation.rank, relation.width)});
    return {basisOfRows(rows), relationMatrix(relation.mean, relation.places, relation.width),
            relation.firstTokens};
}

torch::Tensor StreamRelation::map(const torch::Tensor& stream) const {
    const auto x = stream.to(torch::kDouble) - mean;
    const auto left = torch::matmul(x, a.t()), right = torch::matmul(x, b.t());
    const auto scores = torch::matmul(left, right.transpose(-2, -1));
    if (!distance) return scores + bias;
    const auto own = (left * right).sum(-1);
    return scores + scores.transpose(-2, -1) - own.unsqueeze(-1) - own.unsqueeze(-2) + bias;
}

StreamRelation streamRelationOf(const RelationFile& relation) {
    return {relationMatrix(relation.a, relation.rank, relation.width),
            relationMatrix(relation.b, relation.rank, relation.width),
            relationMatrix(relation.mean, relation.places, relation.width), relation.bias,
            relation.form == "distance"};
}

torch::Tensor StreamProjection::out(const torch::Tensor& value, const HookPoint& point,
                                    std::int64_t first) const {
    const auto dim = dimensionOf(point, Axis::Dim), position = dimensionOf(point, Axis::Position);
    auto part = value;
    std::int64_t begin = 0, end = 0;
    auto means = mean;
    if (position >= 0) {
        const auto size = value.size(position);
        begin = std::clamp<std::int64_t>(firstTokens - first, 0, size);
        end = mean.size(0) == 1
                  ? size
                  : std::clamp<std::int64_t>(firstTokens + mean.size(0) - first, begin, size);
        if (begin == end) return value;
        part = value.slice(position, begin, end);
        if (mean.size(0) > 1)
            means = mean.slice(0, first + begin - firstTokens, first + end - firstTokens);
    }
    // [.., places, .., d]
    std::vector<std::int64_t> shape(static_cast<std::size_t>(value.dim()), 1);
    if (position >= 0) shape[static_cast<std::size_t>(position)] = means.size(0);
    shape[static_cast<std::size_t>(dim)] = means.size(1);
    const auto exact = part.to(torch::kDouble);
    const auto u = basis.to(exact.options());
    const auto apart = exact - means.view(shape).to(exact.options());
    const auto moved = apart.movedim(dim, -1);
    const auto out = torch::matmul(torch::matmul(moved, u), u.t()).movedim(-1, dim);
    const auto left = (exact - out).to(value.scalar_type());
    return position < 0 ? left
                        : torch::cat({value.slice(position, 0, begin), left,
                                      value.slice(position, end, value.size(position))},
                                     position);
}

}  // namespace relascope::core
