// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast/term_sums.h"

#include <torch/utils.h>

#include <algorithm>

namespace relascope::core {
namespace {

constexpr std::int64_t kManyValues = 100, kFewOfMany = 8;  // values of a fact; objects of each

// Where each example begins, of `sorted` examples.
std::vector<std::int64_t> beginnings(const torch::Tensor& sorted, std::int64_t examples) {
    const auto at = torch::searchsorted(sorted.contiguous(), torch::arange(examples + 1));
    const auto* first = at.const_data_ptr<std::int64_t>();
    return {first, first + examples + 1};
}

}  // namespace

Places placesOf(const ContrastPairs& pairs) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1);
    Places places;
    const auto i = torch::arange(n).view({n, 1}), j = torch::arange(n).view({1, n});
    places.of = (pairs.byOffset ? j - i + n - 1 : i * n + j).flatten().contiguous();
    places.count = pairs.byOffset ? 2 * n - 1 : n * n;
    const auto sums = [&](const torch::Tensor& cells) {
        return torch::zeros({e, places.count}, torch::kDouble)
            .index_add_(1, places.of, cells.flatten(1));
    };
    places.yes = sums(pairs.yes), places.no = sums(pairs.no);
    return places;
}

PlaceWeights weightsOf(const Places& places, const torch::Tensor& counts) {
    const auto yes = torch::matmul(counts, places.yes), no = torch::matmul(counts, places.no);
    const auto whole = (yes * no).sum(1, true);
    return {no / whole, -yes / whole};
}

PairRows rowsOf(const ContrastPairs& pairs, const Places& places) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1);
    const auto with = takesPart(pairs).flatten().nonzero().flatten();
    const auto row =
        torch::full({e * n}, -1, torch::kLong).index_put_({with}, torch::arange(with.size(0)));
    PairRows rows;
    const auto cell = (pairs.yes + pairs.no).flatten().nonzero().flatten();
    rows.example = torch::div(cell, n * n, "floor");
    const auto inside = cell - rows.example * (n * n);
    rows.i = torch::div(inside, n, "floor"), rows.j = inside - rows.i * n;
    rows.place = places.of.index_select(0, inside);
    rows.yes = pairs.yes.flatten().index_select(0, cell).gt(0);
    rows.ofI = row.index_select(0, rows.example * n + rows.i);
    rows.ofJ = row.index_select(0, rows.example * n + rows.j);
    const auto owner = torch::div(with, n, "floor");
    rows.object = with - owner * n;
    rows.firstPair = beginnings(rows.example, e), rows.firstObject = beginnings(owner, e);
    return rows;
}

torch::Tensor meanOf(const torch::Tensor& parts, const torch::Tensor& place,
                     const torch::Tensor& count) {
    auto sums = torch::zeros({count.size(0), parts.size(1), parts.size(2)}, torch::kDouble);
    inDouble(parts, [&](std::int64_t first, std::int64_t last, const torch::Tensor& own) {
        sums.index_add_(0, place.slice(0, first, last), own);
    });
    return sums / count.clamp_min(1.0).view({-1, 1, 1});
}

torch::Tensor sumOf(const torch::Tensor& parts) {
    auto sums = torch::empty({parts.size(0), parts.size(2)}, torch::kDouble);
    inDouble(parts, [&](std::int64_t first, std::int64_t last, const torch::Tensor& own) {
        sums.slice(0, first, last).copy_(own.sum(1));
    });
    return sums;
}

FactColumns factColumns(const ContrastPairs& pairs) {
    const auto with = takesPart(pairs).flatten().nonzero().flatten();
    const auto values = pairs.facts.flatten(0, 1).index_select(0, with);  // [objects, facts]
    FactColumns columns;
    columns.known = values.ge(0).all(1);
    columns.of = torch::zeros_like(values);
    const auto rows = columns.known.nonzero().flatten();
    const auto own = values.index_select(0, rows);
    std::int64_t next = 0;
    for (std::int64_t f = 0; f < values.size(1); ++f) {
        const auto [value, index, count] = at::_unique2(own.select(1, f), true, true, true);
        // Rare values have one column together; of very many values more are rare.
        const auto rare = count.lt(value.size(0) > kManyValues ? std::max(pairs.fewest, kFewOfMany)
                                                               : pairs.fewest);
        auto column = rare.logical_not().to(torch::kLong).cumsum(0) - 1;
        const auto common = rare.logical_not().sum().item<std::int64_t>();
        column.masked_fill_(rare, common);
        columns.of.select(1, f).index_put_({rows}, column.index_select(0, index) + next);
        next += common + (rare.any().item<bool>() ? 1 : 0);
        columns.ends.push_back(next);
    }
    return columns;
}

CentredSide sideOf(const torch::Tensor& parts, const torch::Tensor& mean,
                   const torch::Tensor& place) {
    return {parts, mean, place, sumOf(parts).sub_(mean.sum(1).index_select(0, place))};
}

torch::Tensor denseOf(const torch::Tensor& rows, const torch::Tensor& with, std::int64_t first,
                      std::int64_t last) {
    const auto own = with.slice(0, first, last);
    auto shape = rows.sizes().vec();
    shape[0] = own.numel();
    auto all = torch::zeros(shape, rows.options());
    all.index_copy_(0, own.flatten().nonzero().flatten(), rows);
    return all.unflatten(0, {last - first, with.size(1)});
}

torch::Tensor objectPlaces(const ContrastPairs& pairs, const torch::Tensor& object) {
    return pairs.byOffset ? torch::zeros_like(object) : object;
}

}  // namespace relascope::core
