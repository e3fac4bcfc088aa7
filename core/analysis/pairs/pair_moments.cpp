// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_moments.h"

#include <limits>
#include <numeric>
#include <utility>

namespace relascope::core {
namespace {

constexpr double kMomentRidge = 1e-9;  // of the mean square, against maps that are alike
constexpr double kVariesBy = 1e-10;    // least share of the mean square that is more than rounding
constexpr std::int64_t kFewest = 4;    // examples for a fit

torch::Tensor zerosOf(std::int64_t rows, std::int64_t columns) {
    return torch::zeros({rows, columns}, torch::kDouble);
}

std::vector<torch::Tensor> zerosWithin(const LayeredMaps& maps) {
    std::vector<torch::Tensor> all;
    for (const auto count : maps.layers) all.push_back(zerosOf(count, count));
    return all;
}

}  // namespace

std::int64_t LayeredMaps::all() const {
    return std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
}
std::int64_t LayeredMaps::first(std::size_t layer) const {
    return std::accumulate(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(layer),
                           std::int64_t{0});
}

PairMoments::PairMoments(const PairShape& shape, LayeredMaps ours, LayeredMaps theirs)
    : m_ours(std::move(ours)), m_theirs(std::move(theirs)) {
    std::vector<std::int64_t> cells, places;
    std::vector<double> pairs;
    const auto all = pairPlaces(shape);
    for (std::size_t p = 0; p < all.size(); ++p) {
        for (const auto cell : all[p])
            cells.push_back(cell), places.push_back(static_cast<std::int64_t>(p));
        pairs.push_back(static_cast<double>(all[p].size()));
    }
    m_cells = torch::tensor(cells, torch::kLong);
    m_places = torch::tensor(places, torch::kLong);
    m_pairs = torch::tensor(pairs, torch::kDouble).unsqueeze(1);
    const auto count = static_cast<std::int64_t>(all.size());
    for (auto& half : m_halves) {
        half.ours = zerosOf(count, m_ours.all()), half.theirs = zerosOf(count, m_theirs.all());
        half.between = zerosOf(m_ours.all(), m_theirs.all());
        half.oursWithin = zerosWithin(m_ours), half.theirsWithin = zerosWithin(m_theirs);
    }
}

void PairMoments::add(const torch::Tensor& ours, const torch::Tensor& theirs, std::int64_t first) {
    const auto pairsOf = [this](const torch::Tensor& maps) {
        return maps.to(torch::kCPU, torch::kDouble).flatten(2).index_select(2, m_cells);
    };
    const auto here = pairsOf(ours), there = pairsOf(theirs);
    for (std::int64_t from = 0; from < 2; ++from) {
        const auto half = static_cast<std::size_t>((first + from) % 2);
        const auto every = [from](const torch::Tensor& t) {
            return t.slice(0, from, std::nullopt, 2);
        };
        if (from < here.size(0)) add(m_halves[half], every(here), every(there));
    }
}

void PairMoments::add(Half& half, const torch::Tensor& ours, const torch::Tensor& theirs) const {
    half.examples += ours.size(0);
    half.ours.index_add_(0, m_places, ours.sum(0).t());
    half.theirs.index_add_(0, m_places, theirs.sum(0).t());
    const auto flat = [](const torch::Tensor& t) {  // [maps, b pairs]
        return t.transpose(0, 1).reshape({t.size(1), -1});
    };
    const auto here = flat(ours), there = flat(theirs);
    half.between.addmm_(here, there.t());
    const auto within = [](const LayeredMaps& maps, const torch::Tensor& values,
                           std::vector<torch::Tensor>& sums) {
        for (std::size_t layer = 0; layer < maps.layers.size(); ++layer) {
            const auto part = values.narrow(0, maps.first(layer), maps.layers[layer]);
            sums[layer].addmm_(part, part.t());
        }
    };
    within(m_ours, here, half.oursWithin);
    within(m_theirs, there, half.theirsWithin);
}

std::vector<double> PairMoments::correlation() const {
    const auto [first, second] = std::pair<const Half&, const Half&>(m_halves[0], m_halves[1]);
    const auto examples = static_cast<double>(first.examples + second.examples);
    const auto counts = m_pairs * examples;
    const auto ours = first.ours + second.ours, theirs = first.theirs + second.theirs;
    const auto between =
        first.between + second.between - ours.t().matmul(theirs / counts);  // [ours, theirs]
    const auto squares = [](const std::vector<torch::Tensor>& a,
                            const std::vector<torch::Tensor>& b) {
        std::vector<torch::Tensor> all;
        for (std::size_t k = 0; k < a.size(); ++k) all.push_back((a[k] + b[k]).diagonal());
        return torch::cat(all);
    };
    const auto varied = [&](const torch::Tensor& raw, const torch::Tensor& sums) {
        const auto centred = raw - (sums.square() / counts).sum(0);
        return torch::where(centred > kVariesBy * raw, centred,
                            torch::full_like(centred, std::numeric_limits<double>::quiet_NaN()));
    };
    const auto here = varied(squares(first.oursWithin, second.oursWithin), ours),
               there = varied(squares(first.theirsWithin, second.theirsWithin), theirs);
    const auto result =
        (between / (here.unsqueeze(1) * there.unsqueeze(0)).sqrt()).clamp(-1.0, 1.0).contiguous();
    const double* data = result.const_data_ptr<double>();
    return {data, data + result.numel()};
}

double PairMoments::explained(std::size_t layer, std::size_t theirLayer, bool back) const {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const auto &fitted = m_halves[0], &held = m_halves[1];
    if (fitted.examples + held.examples < kFewest) return unknown;
    const auto &targets = back ? m_theirs : m_ours, &sources = back ? m_ours : m_theirs;
    const auto t = back ? theirLayer : layer, s = back ? layer : theirLayer;
    const auto columns = [](const torch::Tensor& sums, const LayeredMaps& maps, std::size_t of) {
        return sums.narrow(1, maps.first(of), maps.layers[of]);
    };
    // Places [places, maps] and products of a half: sources first, then targets.
    const auto places = [&](const Half& half) {
        return torch::cat({columns(back ? half.ours : half.theirs, sources, s),
                           columns(back ? half.theirs : half.ours, targets, t)},
                          1);
    };
    const auto products = [&](const Half& half) {
        const auto all = back ? half.between : half.between.t();  // [sources, targets]
        const auto between = all.narrow(0, sources.first(s), sources.layers[s])
                                 .narrow(1, targets.first(t), targets.layers[t]);
        const auto& source = (back ? half.oursWithin : half.theirsWithin)[s];
        const auto& target = (back ? half.theirsWithin : half.oursWithin)[t];
        return torch::cat({torch::cat({source, between}, 1), torch::cat({between.t(), target}, 1)});
    };
    const auto n = sources.layers[s], m = targets.layers[t];
    const auto counts = m_pairs * static_cast<double>(fitted.examples),
               others = m_pairs * static_cast<double>(held.examples);
    const auto sums = places(fitted), mean = sums / counts;
    const auto gram = products(fitted) - sums.t().matmul(mean);
    const auto heldSums = places(held), cross = heldSums.t().matmul(mean);
    const auto test = products(held) - cross - cross.t() + (mean * others).t().matmul(mean);
    const auto within = gram.narrow(0, 0, n).narrow(1, 0, n);
    const double trace = within.diagonal().sum().item<double>();
    if (!(trace > 0)) return unknown;
    const auto ridged =
        within + torch::eye(n, torch::kDouble) * (kMomentRidge * trace / static_cast<double>(n));
    const auto map = at::linalg_solve(ridged, gram.narrow(0, 0, n).narrow(1, n, m));  // [n, m]
    const auto tested = test.narrow(0, 0, n);
    const auto total = test.diagonal().narrow(0, n, m);
    const auto left = total - 2.0 * (map * tested.narrow(1, n, m)).sum(0) +
                      (map * tested.narrow(1, 0, n).matmul(map)).sum(0);
    const auto raw = products(held).diagonal().narrow(0, n, m);
    double sum = 0.0, counted = 0.0;
    for (std::int64_t j = 0; j < m; ++j) {
        const double all = total[j].item<double>();
        if (!(all > kVariesBy * raw[j].item<double>())) continue;
        sum += 1.0 - left[j].item<double>() / all, counted += 1.0;
    }
    return counted > 0 ? sum / counted : unknown;
}

}  // namespace relascope::core
