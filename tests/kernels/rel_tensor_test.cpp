// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention on tensor cores, on the CPU's stand-in for CUDA: every tiling of the
// published sizes and both 16-bit types against the reference in double precision, which is given
// the rounded inputs.
#include "model/kernels/rel_tensor.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <sstream>

#include "kernels/orders.h"
#include "kernels/run_rel.h"
#include "kernels/run_rel_tensor.h"
#include "kernels/tolerances.h"

namespace relascope::core::kernels {
namespace {

std::vector<Problem> problems() {
    std::vector<Problem> all = {middle("plain", 37, 37),
                                middle("causal", 45, 45),
                                middle("dropout, causal, several tiles", 70, 70),
                                middle("two sequences with gaps", 5, 40),
                                middle("after cached keys", 9, 41),
                                middle("one query after cached keys", 1, 38),
                                middle("keys beyond all queries", 5, 66),
                                middle("one token", 1, 1),
                                middle("cross, fewer keys", 37, 10),
                                large("large", 37, 37),
                                large("large, causal, dropout", 41, 45)};
    all[1].causal = true;
    all[2].causal = true, all[2].dropThreshold = 6554;
    all[3].batch = 2, all[3].strided = true, all[3].dropThreshold = 19661;
    all[4].first = 32, all[4].causal = true;
    all[5].first = 37, all[5].causal = true, all[5].dropThreshold = 13107;
    all[6].first = 28, all[6].causal = true;  // 33 keys: one of a tile
    all[10].causal = true, all[10].dropThreshold = 19661;
    for (const char* activation : {"relu", "sigmoid", "tanh", "gelu", "silu"}) {
        all.push_back(middle(activation, 17, 20));
        all.back().activation = activation;
    }
    all.push_back(large("large, gelu, causal", 17, 20));
    all.back().activation = "gelu", all.back().first = 3, all.back().causal = true;
    return all;
}

class RelTensor : public testing::TestWithParam<Problem> {};

void expectClose(const std::string& name, const Outputs& found, const Outputs& expected,
                 const TensorTolerances& tolerances) {
    const auto compare = [&](const char* part, const Tensor4& x, const Tensor4& truth,
                             double tolerance) {
        const double difference = relativeDifference(x, truth);
        EXPECT_LE(difference, tolerance) << part << ", " << name;
        // For who tightens the tolerances: --gtest_output=json lists these.
        std::ostringstream number;
        number << difference;
        testing::Test::RecordProperty(name + "_" + part, number.str());
    };
    compare("out", found.out, expected.out, tolerances.out);
    compare("related", found.related, expected.related, tolerances.related);
    compare("lse", found.lse, expected.lse, tolerances.lse);
}

TEST_P(RelTensor, AgreesWithTheReferenceInEveryOrder) {
    const auto& p = GetParam();
    for (const auto type : typesFor(p)) {
        const auto in = rounded(randomInputs(p, 3), type);
        const auto expected = referenceForward(p, in);
        const auto& tolerances =
            type == DataType::BFloat16 ? kBFloat16Tolerances : kFloat16Tolerances;
        const auto tilings = relTensorTilings(argsOf(p, type));
        ASSERT_FALSE(tilings.empty());
        for (int tiling = 0; tiling < static_cast<int>(tilings.size()); ++tiling) {
            const auto name = (type == DataType::BFloat16 ? "bf16_" : "fp16_") +
                              std::to_string(tilings[tiling].queries) + "x" +
                              std::to_string(tilings[tiling].keys) + "x" +
                              std::to_string(tilings[tiling].stages);
            const auto first = runRelTensor(p, in, type, tiling, HostOrder::Forward);
            expectClose(name, first, expected, tolerances);
            if (type == DataType::BFloat16) continue;
            for (const auto order : furtherOrders())
                EXPECT_TRUE(sameBits(first, runRelTensor(p, in, type, tiling, order)))
                    << name << " in order " << static_cast<int>(order);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, RelTensor, testing::ValuesIn(problems()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.name)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

// Uniform weights, and symbols that single out one key each: out is the row of kept weights.
TEST(RelTensorDropout, MasksAreThoseOfTheReference) {
    for (auto p : {middle("", 19, 64), large("", 5, 64)}) {
        p.dropThreshold = 26214;
        auto in = randomInputs(p, 5);
        std::fill(in.q.values.begin(), in.q.values.end(), 0.0);
        for (int j = 0; j < p.keys; ++j)
            for (int g = 0; g < p.keyHeads; ++g)
                for (int c = 0; c < p.valueDim; ++c) in.s.at(0, j, g, c) = j == c;
        const auto mask = referenceMask(p);
        const auto tilings = relTensorTilings(argsOf(p, DataType::BFloat16));
        for (int tiling = 0; tiling < static_cast<int>(tilings.size()); ++tiling) {
            const auto tensor = runRelTensor(p, in, DataType::BFloat16, tiling, HostOrder::Forward);
            for (int a = 0; a < p.heads; ++a)
                for (int i = 0; i < p.queries; ++i)
                    for (int j = 0; j < p.keys; ++j)
                        ASSERT_EQ(tensor.out.at(0, i, a, j) == 0,
                                  mask[(std::size_t(a) * p.queries + i) * p.keys + j] == 0)
                            << a << " " << i << " " << j;
        }
    }
}

RelArgs served(bool isLarge = false) {
    return argsOf(isLarge ? large("", 40, 40) : middle("", 40, 40), DataType::BFloat16);
}

TEST(RelTensorLaunch, SharedMemoryOfDevices) {
    constexpr std::size_t h100 = 227 * 1024, a100 = 163 * 1024, consumer = 99 * 1024;
    EXPECT_EQ(relTensorSharedBytes(served(), h100), 141312u);
    EXPECT_EQ(relTensorSharedBytes(served(), a100), 141312u);
    EXPECT_EQ(relTensorSharedBytes(served(), consumer), 70656u);
    EXPECT_EQ(relTensorSharedBytes(served(true), h100), 168960u);
    EXPECT_EQ(relTensorSharedBytes(served(true), a100), 119808u);
    EXPECT_EQ(relTensorSharedBytes(served(true), consumer), 0u);
    EXPECT_TRUE(relTensorServes(served(), a100, 80));
    EXPECT_TRUE(relTensorServes(served(), consumer, 120));
    EXPECT_FALSE(relTensorServes(served(), 64 * 1024, 75));
    EXPECT_FALSE(relTensorServes(served(), h100, 75));
    EXPECT_FALSE(relTensorServes(served(true), consumer, 89));
}

TEST(RelTensorLaunch, LeavesOtherCallsToTheFfmaKernels) {
    std::vector<std::uint16_t> memory(64);
    const auto expectRefused = [&](const std::function<void(RelArgs&)>& change) {
        auto args = served();
        change(args);
        EXPECT_TRUE(relTensorTilings(args).empty());
        EXPECT_FALSE(relTensorServes(args, 227 * 1024, 90));
        EXPECT_EQ(launchRelTensorForward(&args, nullptr), cudaErrorInvalidValue);
        EXPECT_EQ(launchRelTensorForwardTiled(&args, 0, nullptr), cudaErrorInvalidValue);
    };
    expectRefused([](RelArgs& x) { x.type = DataType::Float32; });
    expectRefused([](RelArgs& x) { x.type = DataType::Float64; });
    expectRefused([](RelArgs& x) { x.heads = 4; });
    expectRefused([](RelArgs& x) { x.keyHeads = 8; });
    expectRefused([](RelArgs& x) { x.keyDim = 32; });
    expectRefused([](RelArgs& x) { x.valueDim = 32; });
    expectRefused([](RelArgs& x) { x.relations = 0; });
    expectRefused([](RelArgs& x) { x.relDim = 16; });
    expectRefused([](RelArgs& x) { x.first = -1; });
    expectRefused([](RelArgs& x) { x.keys = 0; });
    expectRefused([](RelArgs& x) { x.dropThreshold = 65536; });
    expectRefused([](RelArgs& x) { x.activation = static_cast<Activation>(6); });
    for (const auto view : {&RelArgs::k, &RelArgs::s, &RelArgs::kRel}) {
        expectRefused([&](RelArgs& x) { (x.*view).data = memory.data() + 4; });
        expectRefused([&](RelArgs& x) { (x.*view).token = 516; });
        expectRefused([&](RelArgs& x) { (x.*view).head = 68; });
        expectRefused([&](RelArgs& x) { (x.*view).batch = 1020; });
    }
    for (const auto view : {&RelArgs::q, &RelArgs::qRel, &RelArgs::out}) {
        expectRefused([&](RelArgs& x) { (x.*view).data = memory.data() + 1; });
        expectRefused([&](RelArgs& x) { (x.*view).token = 513; });
    }
}

TEST(RelTensorLaunch, RefusesDevicesThatDoNotServe) {
    const HostDeviceScope scope;
    const auto args = served();
    EXPECT_EQ(launchRelTensorForwardTiled(&args, -1, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorForwardTiled(&args, 3, nullptr), cudaErrorInvalidValue);
    hostDevice().computeCapability = 75;
    EXPECT_EQ(launchRelTensorForward(&args, nullptr), cudaErrorInvalidValue);
    hostDevice().computeCapability = 86;
    hostDevice().sharedLimit = 64 * 1024;
    EXPECT_EQ(launchRelTensorForward(&args, nullptr), cudaErrorInvalidValue);
    hostDevice().sharedLimit = 99 * 1024;
    EXPECT_EQ(launchRelTensorForwardTiled(&args, 0, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // left for nobody else to find
    const auto wide = served(true);
    EXPECT_EQ(launchRelTensorForward(&wide, nullptr), cudaErrorInvalidValue);
}

TEST(RelTensorLaunch, TakesTheTilingThatFits) {
    const HostDeviceScope scope;
    const auto p = middle("", 3, 20);
    const auto in = rounded(randomInputs(p, 9), DataType::Float16);
    hostDevice().sharedLimit = 99 * 1024;
    const auto best = runRelTensor(p, in, DataType::Float16, kBestTiling, HostOrder::Forward);
    const auto third = runRelTensor(p, in, DataType::Float16, 2, HostOrder::Forward);
    EXPECT_TRUE(sameBits(best, third));
}

TEST(RelTensorLaunch, EmptyCallsDoNothing) {
    auto args = served();
    args.batch = 0;
    EXPECT_EQ(launchRelTensorForward(&args, nullptr), cudaSuccess);
    args.batch = 1, args.queries = 0;
    EXPECT_EQ(launchRelTensorForward(&args, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace relascope::core::kernels
