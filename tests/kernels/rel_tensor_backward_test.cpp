// SPDX-License-Identifier: GPL-3.0-or-later
// The backward pass of relational attention on tensor cores, on the CPU's stand-in for CUDA,
// against the reference in double precision, which is given the rounded inputs.
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "kernels/orders.h"
#include "kernels/run_rel_tensor.h"
#include "kernels/tolerances.h"
#include "model/kernels/rel_tensor.h"

namespace relascope::core::kernels {
namespace {

std::vector<Problem> problems() {
    std::vector<Problem> all = {middle("plain", 20, 37),
                                middle("dropout, causal", 37, 37),
                                middle("two sequences with gaps", 5, 40),
                                middle("after cached keys", 9, 41),
                                middle("one key of a tile", 5, 66),
                                middle("no key of three tiles", 20, 83),
                                large("large", 17, 20),
                                large("large, two sequences with gaps, causal, dropout", 17, 21),
                                large("large, gelu", 9, 18)};
    all[1].causal = true, all[1].dropThreshold = 6554;
    all[2].batch = 2, all[2].strided = true, all[2].dropThreshold = 19661;
    all[3].first = 32, all[3].causal = true, all[3].dropThreshold = 13107;
    all[4].first = 28, all[4].causal = true;
    all[5].first = 13, all[5].causal = true, all[5].dropThreshold = 6554;
    all[7].batch = 2, all[7].strided = true;
    all[7].first = 3, all[7].causal = true, all[7].dropThreshold = 13107;
    all[8].activation = "gelu";
    for (const char* activation : {"relu", "sigmoid", "tanh", "gelu", "silu"}) {
        all.push_back(middle(activation, 18, 21));
        all.back().activation = activation;
    }
    return all;
}

class RelTensorBackward : public testing::TestWithParam<Problem> {};

TEST_P(RelTensorBackward, AgreesWithTheReferenceInEveryOrder) {
    const auto& p = GetParam();
    for (const auto type : typesFor(p)) {
        const bool isBf16 = type == DataType::BFloat16;
        const auto in = rounded(randomInputs(p, 3), type);
        const auto dOut = rounded(randomTensor(p.batch, p.queries, p.heads, p.valueDim, 11), type);
        const auto dRelated =
            rounded(randomTensor(p.batch, p.queries, p.heads, p.relations, 12), type);
        const auto forward = referenceForward(p, in);
        const auto expected = referenceBackward(p, in, dOut, dRelated);
        const auto run = [&](int tiling, HostOrder order) {
            return runRelTensorBackward(p, in, forward, dOut, dRelated, type, tiling, order);
        };
        for (const int tiling : {0, 1}) {
            const auto first = run(tiling, HostOrder::Forward);
            const auto compare = [&](const char* part, const Tensor4& x, const Tensor4& truth) {
                const double difference = relativeDifference(x, truth);
                EXPECT_LE(difference,
                          isBf16 ? kBFloat16GradientTolerance : kFloat16GradientTolerance)
                    << part << ", tiling " << tiling;
                std::ostringstream number;
                number << difference;
                RecordProperty((isBf16 ? "bf16_" : "fp16_") + std::to_string(tiling) + "_" + part,
                               number.str());
            };
            compare("dq", first.q, expected.q);
            compare("dk", first.k, expected.k);
            compare("ds", first.s, expected.s);
            compare("dqRel", first.qRel, expected.qRel);
            compare("dkRel", first.kRel, expected.kRel);
            if (isBf16) continue;
            for (const auto order : furtherOrders())
                EXPECT_TRUE(sameBits(first, run(tiling, order)))
                    << "tiling " << tiling << " in order " << static_cast<int>(order);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, RelTensorBackward, testing::ValuesIn(problems()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.name)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

RelArgs served() {
    return argsOf(middle("", 40, 40), DataType::BFloat16);
}

RelArgs servedLarge() {
    return argsOf(large("", 40, 33), DataType::BFloat16);
}

TEST(RelTensorBackwardLaunch, SharedMemoryOfTheLargerModel) {
    const auto rows = relTensorRowsTilings(servedLarge());
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].sharedBytes, 210176u);
    EXPECT_EQ(rows[1].sharedBytes, 161024u);
    const auto columns = relTensorColumnsTilings(servedLarge());
    ASSERT_EQ(columns.size(), 1u);
    EXPECT_EQ(columns[0].sharedBytes, 162560u);
    EXPECT_TRUE(relTensorServesBackward(servedLarge(), 163 * 1024, 80)) << "an A100";
    EXPECT_FALSE(relTensorServesBackward(servedLarge(), 99 * 1024, 89));
    EXPECT_FALSE(relTensorServesBackward(servedLarge(), 227 * 1024, 75));
    // A part for each of two groups of heads.
    EXPECT_EQ(relTensorWorkspaceBytes(servedLarge()), 4u * 2 * 40 * 128 * 8);
    EXPECT_EQ(relTensorWorkspaceBytes(served()), 0u);
    auto other = servedLarge();
    other.keyHeads = 4;
    EXPECT_FALSE(relTensorServesBackward(other, 227 * 1024, 90));
    EXPECT_EQ(relTensorWorkspaceBytes(other), 0u);
    // Without a workspace nothing is started.
    const auto args = servedLarge();
    EXPECT_EQ(launchRelTensorBackwardRows(&args, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorBackwardColumns(&args, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorBackward(&args, nullptr), cudaErrorInvalidValue);
}

TEST(RelTensorBackwardLaunch, ServesTheSmallerModel) {
    const auto tilings = relTensorRowsTilings(served());
    ASSERT_EQ(tilings.size(), 2u);
    EXPECT_EQ(tilings[0].sharedBytes, 128256u);
    EXPECT_EQ(tilings[1].sharedBytes, 95488u);
    EXPECT_TRUE(relTensorServesRows(served(), 163 * 1024, 80));
    EXPECT_TRUE(relTensorServesRows(served(), 99 * 1024, 89));
    EXPECT_FALSE(relTensorServesRows(served(), 227 * 1024, 75));
    auto other = served();
    other.heads = 16, other.keyHeads = 8;
    EXPECT_FALSE(relTensorServesRows(other, 227 * 1024, 90));
    EXPECT_EQ(launchRelTensorBackwardRows(&other, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorDelta(&other, nullptr), cudaErrorInvalidValue);
    for (const auto view : {&RelArgs::dRelated, &RelArgs::dOut, &RelArgs::dq, &RelArgs::dqRel}) {
        auto args = served();
        (args.*view).token = 513;
        EXPECT_FALSE(relTensorServesRows(args, 227 * 1024, 90));
        EXPECT_EQ(launchRelTensorBackwardRowsTiled(&args, 0, nullptr), cudaErrorInvalidValue);
    }
    auto args = served();
    EXPECT_EQ(launchRelTensorBackwardRowsTiled(&args, -1, nullptr), cudaErrorInvalidValue);
    args.queries = 0;
    EXPECT_EQ(launchRelTensorDelta(&args, nullptr), cudaSuccess);
    EXPECT_EQ(launchRelTensorBackwardRows(&args, nullptr), cudaSuccess);
}

TEST(RelTensorBackwardLaunch, ColumnsServeTheSmallerModel) {
    const auto tilings = relTensorColumnsTilings(served());
    ASSERT_EQ(tilings.size(), 2u);
    EXPECT_EQ(tilings[0].sharedBytes, 146176u);
    EXPECT_EQ(tilings[1].sharedBytes, 97024u);
    EXPECT_TRUE(relTensorServesColumns(served(), 163 * 1024, 80));
    EXPECT_TRUE(relTensorServesColumns(served(), 99 * 1024, 89));
    EXPECT_FALSE(relTensorServesColumns(served(), 227 * 1024, 75));
    EXPECT_TRUE(relTensorServesBackward(served(), 99 * 1024, 89));
    EXPECT_FALSE(relTensorServesBackward(served(), 96 * 1024 - 2048, 89));
    auto other = served();
    other.heads = 16, other.keyHeads = 8;
    EXPECT_FALSE(relTensorServesColumns(other, 227 * 1024, 90));
    EXPECT_EQ(launchRelTensorBackwardColumns(&other, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorBackward(&other, nullptr), cudaErrorInvalidValue);
    for (const auto view : {&RelArgs::q, &RelArgs::qRel, &RelArgs::dOut, &RelArgs::dRelated,
                            &RelArgs::dk, &RelArgs::ds, &RelArgs::dkRel}) {
        auto args = served();
        (args.*view).token = 513;
        EXPECT_FALSE(relTensorServesColumns(args, 227 * 1024, 90));
        EXPECT_EQ(launchRelTensorBackwardColumnsTiled(&args, 0, nullptr), cudaErrorInvalidValue);
        EXPECT_EQ(launchRelTensorBackward(&args, nullptr), cudaErrorInvalidValue);
    }
    auto args = served();
    args.q.token = 516;  // rows on 8 bytes: copied here, read in pairs by the kernel of rows
    EXPECT_TRUE(relTensorServesRows(args, 227 * 1024, 90));
    EXPECT_FALSE(relTensorServesBackward(args, 227 * 1024, 90));
    EXPECT_EQ(launchRelTensorBackwardColumnsTiled(&args, -1, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(launchRelTensorBackwardColumnsTiled(&args, 0, nullptr), cudaErrorInvalidValue);
}

Inputs gradientsOf(const Problem& p, int tiling) {
    const auto in = rounded(randomInputs(p, 3), DataType::Float16);
    const auto dOut =
        rounded(randomTensor(p.batch, p.queries, p.heads, p.valueDim, 11), DataType::Float16);
    const auto dRelated =
        rounded(randomTensor(p.batch, p.queries, p.heads, p.relations, 12), DataType::Float16);
    return runRelTensorBackward(p, in, referenceForward(p, in), dOut, dRelated, DataType::Float16,
                                tiling, HostOrder::Forward);
}

TEST(RelTensorBackwardLaunch, AllOfItIsTheThreeKernels) {
    for (const auto& p : {middle("", 3, 18), large("", 3, 18)})
        EXPECT_TRUE(sameBits(gradientsOf(p, kBestTiling), gradientsOf(p, 0)));
}

TEST(RelTensorBackwardLaunch, KeysWithoutQueriesHaveNoGradient) {
    for (const auto& p : {middle("", 0, 18), large("", 0, 18)}) {
        const auto gradients = gradientsOf(p, kBestTiling);
        for (const auto* tensor : {&gradients.k, &gradients.s, &gradients.kRel})
            for (const double value : tensor->values) EXPECT_EQ(value, 0.0);
    }
}

}  // namespace
}  // namespace relascope::core::kernels
