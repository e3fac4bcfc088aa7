// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector's maps, thumbnails and statistics on the CPU's stand-in for CUDA.
#include "model/kernels/inspect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/run_rel.h"
#include "kernels/tolerances.h"

namespace relascope::core::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Case {
    const char* name;
    int queries = 70, keys = 70, width = 5, maps = 3, mapsPerKey = 1, first = 0;
    bool causal = false, weights = false;
    int thumbRows = 16, thumbColumns = 16;
    const char* activation = "identity";
};

struct Maps {
    std::vector<float> values, thumbnails;
    std::vector<MapStatistics> statistics;
};

struct Factors {
    explicit Factors(const Case& c)
        : q(randomTensor(1, c.queries, c.maps, c.width, 1)),
          k(randomTensor(1, c.keys, c.maps / c.mapsPerKey, c.width, 2)),
          floatQ(q.values.begin(), q.values.end()),
          floatK(k.values.begin(), k.values.end()) {
        // Any numbers: a weight is exp(score - lse) whatever lse is.
        const auto numbers = randomTensor(1, 1, c.maps, c.queries, 3).values;
        if (c.weights) lse.assign(numbers.begin(), numbers.end());
    }
    Tensor4 q, k;
    std::vector<float> floatQ, floatK, lse;
};

MapArgs argsOf(const Case& c, Factors& factors) {
    MapArgs args;
    args.queries = c.queries, args.keys = c.keys, args.width = c.width;
    args.maps = c.maps, args.mapsPerKey = c.mapsPerKey;
    args.first = c.first, args.causal = c.causal;
    args.activation = activationOf(c.activation);
    args.scale = 1.25;
    args.q = {factors.floatQ.data(), 0, c.maps * c.width, c.width};
    args.k = {factors.floatK.data(), 0, c.maps / c.mapsPerKey * c.width, c.width};
    if (c.weights) args.lse = factors.lse.data();
    args.thumbRows = c.thumbRows, args.thumbColumns = c.thumbColumns;
    return args;
}

Maps run(const Case& c, Factors& factors, HostOrder order, bool values = true) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    auto args = argsOf(c, factors);
    Maps maps;
    maps.thumbnails.assign(std::size_t(c.maps) * c.thumbRows * c.thumbColumns, 123.0f);
    maps.statistics.resize(c.maps);
    if (values) {
        maps.values.assign(std::size_t(c.maps) * c.queries * c.keys, 123.0f);
        args.values = maps.values.data();
    }
    args.thumbnails = maps.thumbnails.data();
    args.statistics = maps.statistics.data();
    std::vector<double> workspace(mapWorkspaceBytes(args) / sizeof(double));
    args.workspace = workspace.data();
    EXPECT_EQ(launchMaps(&args, nullptr), cudaSuccess);
    return maps;
}

// NaN equals NaN here, and 0 does not equal -0.
bool sameBits(const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [](float a, float b) {
               return __float_as_uint(a) == __float_as_uint(b);
           });
}

class Inspect : public testing::TestWithParam<Case> {};

TEST_P(Inspect, MapsAgreeWithPlainProducts) {
    const auto& c = GetParam();
    Factors factors(c);
    const auto maps = run(c, factors, HostOrder::Forward);
    for (int map = 0; map < c.maps; ++map)
        for (int i = 0; i < c.queries; ++i)
            for (int j = 0; j < c.keys; ++j) {
                const float value = maps.values[(std::size_t(map) * c.queries + i) * c.keys + j];
                if (c.causal && j > i + c.first) {
                    ASSERT_TRUE(std::isnan(value));
                    continue;
                }
                double expected = 0;
                for (int e = 0; e < c.width; ++e)
                    expected +=
                        factors.q.at(0, i, map, e) * factors.k.at(0, j, map / c.mapsPerKey, e);
                expected *= 1.25;
                expected = c.weights ? std::exp(expected - factors.lse[map * c.queries + i])
                                     : referenceActivation(c.activation, expected);
                ASSERT_NEAR(value, expected,
                            10 * kFloat32Tolerances.forward * std::max(1.0, std::abs(expected)));
            }
}

TEST_P(Inspect, ThumbnailsAndStatisticsComeFromTheMaps) {
    const auto& c = GetParam();
    Factors factors(c);
    const auto maps = run(c, factors, HostOrder::Forward);
    for (int map = 0; map < c.maps; ++map) {
        std::vector<float> thumbnail(c.thumbRows * c.thumbColumns, kNan);
        double sum = 0;
        int count = 0;
        float least = INFINITY, most = -INFINITY;
        for (int i = 0; i < c.queries; ++i)
            for (int j = 0; j < c.keys; ++j) {
                const float value = maps.values[(std::size_t(map) * c.queries + i) * c.keys + j];
                if (std::isnan(value)) continue;
                sum += value, ++count;
                least = std::min(least, value), most = std::max(most, value);
                float& cell = thumbnail[i * c.thumbRows / c.queries * c.thumbColumns +
                                        j * c.thumbColumns / c.keys];
                if (std::isnan(cell) || std::abs(value) > std::abs(cell)) cell = value;
            }
        const auto begin =
            maps.thumbnails.begin() + std::ptrdiff_t(map) * c.thumbRows * c.thumbColumns;
        for (std::size_t i = 0; i < thumbnail.size(); ++i) {
            ASSERT_EQ(std::isnan(thumbnail[i]), std::isnan(begin[i])) << i;
            if (std::isnan(thumbnail[i])) continue;
            ASSERT_EQ(thumbnail[i], begin[i]) << i;
        }
        EXPECT_NEAR(maps.statistics[map].mean, sum / count, 1e-12);
        EXPECT_EQ(maps.statistics[map].least, least);
        EXPECT_EQ(maps.statistics[map].most, most);
    }
}

TEST_P(Inspect, RepeatsBitForBitInEveryOrderAndWithoutMaps) {
    const auto& c = GetParam();
    Factors factors(c);
    const auto first = run(c, factors, HostOrder::Forward);
    for (const auto& [order, values] : {std::pair{HostOrder::Backward, true},
                                        {HostOrder::Shuffled, true},
                                        {HostOrder::Shuffled, false}}) {
        const auto other = run(c, factors, order, values);
        EXPECT_TRUE(!values || sameBits(first.values, other.values));
        EXPECT_TRUE(sameBits(first.thumbnails, other.thumbnails));
        for (int map = 0; map < c.maps; ++map) {
            EXPECT_EQ(first.statistics[map].mean, other.statistics[map].mean);
            EXPECT_EQ(first.statistics[map].least, other.statistics[map].least);
            EXPECT_EQ(first.statistics[map].most, other.statistics[map].most);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    , Inspect,
    testing::Values(
        Case{.name = "Relations"}, Case{.name = "Causal", .causal = true},
        Case{.name = "CausalAfterCachedKeys",
             .queries = 20,
             .keys = 90,
             .first = 70,
             .causal = true,
             .thumbRows = 7},
        Case{.name = "CausalTilesPartlyHidden",
             .queries = 60,
             .keys = 90,
             .first = 30,
             .causal = true},
        Case{.name = "WideFactors", .width = 37, .maps = 1},
        Case{.name = "Weights", .maps = 4, .mapsPerKey = 2, .causal = true, .weights = true},
        Case{.name = "ThumbnailOfFullSize", .thumbRows = 70, .thumbColumns = 70},
        Case{.name = "ThumbnailOfOneCell", .queries = 130, .thumbRows = 1, .thumbColumns = 1},
        Case{.name = "Small", .queries = 3, .keys = 2, .thumbRows = 3, .thumbColumns = 2},
        Case{.name = "Tanh", .queries = 64, .keys = 129, .activation = "tanh"},
        Case{.name = "Relu", .activation = "relu"}),
    [](const auto& info) { return info.param.name; });

// The larger of two sizes wins, and the negative one of two equal sizes.
TEST(InspectThumbnails, KeepSigns) {
    Case c{.name = "",
           .queries = 1,
           .keys = 4,
           .width = 1,
           .maps = 1,
           .thumbRows = 1,
           .thumbColumns = 2};
    Factors factors(c);
    factors.floatQ = {0.8f};  // times 1.25
    factors.floatK = {0.5f, -2.0f, 3.0f, -3.0f};
    EXPECT_EQ(run(c, factors, HostOrder::Forward).thumbnails, (std::vector<float>{-2.0f, -3.0f}));
}

TEST(InspectThumbnails, RefuseMoreCellsThanTheMapHas) {
    const Case c{.name = "", .queries = 10};
    Factors factors(c);
    auto args = argsOf(c, factors);
    std::vector<float> thumbnails(16 * 16 * 3);
    std::vector<double> workspace(mapWorkspaceBytes(args) / sizeof(double));
    args.thumbnails = thumbnails.data(), args.workspace = workspace.data();
    EXPECT_EQ(launchMaps(&args, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace relascope::core::kernels
