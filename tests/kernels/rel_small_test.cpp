// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels for few tokens on the CPU's stand-in for CUDA, against the reference in double
// precision: every option, whole and divided heads, three orders of threads, both precisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/orders.h"
#include "kernels/run_small.h"
#include "kernels/tolerances.h"

namespace relascope::core::kernels {
namespace {

constexpr std::size_t kH100 = 232448, kConsumer = 101376;  // bytes of shared memory a block

struct SmallCase {
    std::string name;
    std::vector<SmallHeads> parts;
};

// Sensory heads with the sizes of a problem, and a mask of their own.
Problem sensory(Problem p) {
    p.relations = p.relDim = 0, p.maxOffset = -1, p.sharedSymbols = false;
    p.seed += 5, p.offset += 4;
    return p;
}

SmallCase both(const std::string& name, const std::function<void(Problem&)>& change,
               bool symmetric = false) {
    Problem p;
    p.queries = p.keys = 11;
    change(p);
    return {name, {smallHeads(sensory(p), false, 50), smallHeads(p, symmetric, 3)}};
}

std::vector<SmallCase> cases() {
    std::vector<SmallCase> all = {
        both("plain", [](Problem&) {}),
        both("causal", [](Problem& p) { p.causal = true; }),
        both("grouped keys", [](Problem& p) { p.keyHeads = 2; }),
        both("one key head, causal", [](Problem& p) { p.keyHeads = 1, p.causal = true; }),
        both("one token", [](Problem& p) { p.queries = p.keys = 1; }),
        both("one head", [](Problem& p) { p.heads = p.keyHeads = 1; }),
        both("six heads", [](Problem& p) { p.heads = 6, p.keyHeads = 3; }),
        both("whole bands", [](Problem& p) { p.queries = p.keys = 16, p.keyDim = 8; }),
        both("37 tokens, causal",
             [](Problem& p) { p.queries = p.keys = 37, p.relations = 9, p.causal = true; }),
        both("one relation", [](Problem& p) { p.relations = 1, p.relDim = 7; }),
        both("many relations", [](Problem& p) { p.relations = 21, p.relDim = 1; }),
        both("dropout", [](Problem& p) { p.dropThreshold = 6554; }),
        both("dropout, causal, grouped keys",
             [](Problem& p) { p.dropThreshold = 19661, p.causal = true, p.keyHeads = 2; }),
        both("dropout, 70 keys",
             [](Problem& p) { p.dropThreshold = 32768, p.queries = 6, p.keys = 70; }),
        both("offsets, all", [](Problem& p) { p.maxOffset = 30; }),
        both("offsets, clamped", [](Problem& p) { p.maxOffset = 4; }),
        both("offsets, clamped, causal, dropout, grouped keys",
             [](Problem& p) {
                 p.maxOffset = 3, p.causal = true, p.dropThreshold = 9830, p.keyHeads = 2;
             }),
        both("offsets, all the same", [](Problem& p) { p.maxOffset = 0; }),
        both("offsets, three rows", [](Problem& p) { p.maxOffset = 1, p.dropThreshold = 9830; }),
        both("offsets, clamped, fewer keys",
             [](Problem& p) { p.queries = 23, p.keys = 10, p.maxOffset = 5; }),
        both("offsets, clamped, more keys",
             [](Problem& p) { p.queries = 10, p.keys = 23, p.maxOffset = 5; }),
        both("offsets after cached keys",
             [](Problem& p) { p.queries = 9, p.keys = 30, p.first = 21, p.maxOffset = 6; }),
        both("offsets, causal, after cached keys",
             [](Problem& p) {
                 p.queries = 9, p.keys = 30, p.first = 21, p.maxOffset = 40, p.causal = true;
             }),
        both("after cached keys",
             [](Problem& p) { p.queries = 9, p.keys = 30, p.first = 21, p.causal = true; }),
        both("keys beyond all queries",
             [](Problem& p) { p.queries = 5, p.keys = 20, p.first = 3, p.causal = true; }),
        both("cross, more keys", [](Problem& p) { p.queries = 10, p.keys = 33; }),
        both("cross, fewer keys", [](Problem& p) { p.queries = 33, p.keys = 10; }),
        both("strided", [](Problem& p) { p.strided = true; }),
        both("strided, causal, grouped keys, dropout",
             [](Problem& p) {
                 p.strided = p.causal = true, p.keyHeads = 2, p.dropThreshold = 6554;
             }),
        both("strided, offsets, cross",
             [](Problem& p) { p.strided = true, p.maxOffset = 7, p.queries = 6; }),
        both("shared symbols", [](Problem& p) { p.sharedSymbols = true; }),
        both("shared library",
             [](Problem& p) { p.sharedSymbols = true, p.maxOffset = 5, p.strided = true; }),
        both(
            "symmetric", [](Problem&) {}, true),
        both(
            "symmetric, causal, dropout, offsets, grouped keys, strided",
            [](Problem& p) {
                p.causal = p.strided = true, p.dropThreshold = 9830, p.maxOffset = 5;
                p.keyHeads = 2;
            },
            true),
        // Heads of Relational Games, as many as the published models have.
        both("relational games",
             [](Problem& p) {
                 p.queries = p.keys = 10, p.keyDim = p.valueDim = 16, p.relations = 4,
                 p.relDim = 16;
             }),
    };
    for (const char* activation : {"relu", "sigmoid", "tanh", "gelu", "silu"})
        all.push_back(both(activation, [&](Problem& p) { p.activation = activation; }));
    all.push_back(both(
        "gelu, causal, dropout, symmetric",
        [](Problem& p) { p.activation = "gelu", p.causal = true, p.dropThreshold = 6554; }, true));
    // One kind alone, and kinds of different sizes.
    auto alone = both("", [](Problem& p) { p.dropThreshold = 6554; });
    all.push_back({"sensory alone", {alone.parts[0]}});
    all.push_back({"relational alone", {alone.parts[1]}});
    auto different = both("different sizes", [](Problem& p) { p.keyHeads = 2; });
    Problem p;
    p.queries = p.keys = 7, p.heads = p.keyHeads = 3, p.keyDim = 9, p.relations = p.relDim = 0;
    p.maxOffset = 2;
    different.parts[0] = smallHeads(p, false, 70);
    all.push_back(different);
    std::swap(different.parts[0], different.parts[1]);
    different.name = "relational first";
    all.push_back(different);
    return all;
}

std::vector<std::pair<std::string, const Tensor4*>> tensorsOf(const SmallResults& r) {
    return {{"out", &r.out},        {"dq", &r.gradients.q},       {"dk", &r.gradients.k},
            {"ds", &r.gradients.s}, {"dqRel", &r.gradients.qRel}, {"dkRel", &r.gradients.kRel},
            {"dwr", &r.dwr}};
}

bool sameBits(const Tensor4& x, const Tensor4& y) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return std::equal(x.values.begin(), x.values.end(), y.values.begin(), y.values.end(),
                      [&](double a, double b) { return bits(a) == bits(b); });
}

// As for the FFMA kernels: relative to the largest number or to 1/4, NaN where nothing was written.
double differenceOf(const Tensor4& x, const Tensor4& expected) {
    if (x.values.size() != expected.values.size()) return NAN;
    double most = 0.25, difference = 0;
    for (const double value : expected.values) most = std::max(most, std::abs(value));
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const double each = std::abs(x.values[i] - expected.values[i]);
        if (!(each <= difference)) difference = each;
    }
    return difference / most;
}

class RelSmall : public testing::TestWithParam<SmallCase> {
protected:
    void expectReference(DataType type, std::size_t limit, const std::string& what) {
        const auto& parts = GetParam().parts;
        const auto& tolerances =
            type == DataType::Float32 ? kFloat32Tolerances : kFloat64Tolerances;
        const auto found = runSmall(parts, limit, type, HostOrder::Forward);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            const auto reference = smallReference(parts[part]);
            const auto expected = tensorsOf(reference), tensors = tensorsOf(found[part]);
            for (std::size_t i = 0; i < tensors.size(); ++i) {
                const double difference = differenceOf(*tensors[i].second, *expected[i].second);
                EXPECT_LE(difference, i == 0 ? tolerances.forward : tolerances.gradients)
                    << tensors[i].first << " of part " << part << ", " << what;
                RecordProperty(what + "_" + tensors[i].first, std::to_string(1e6 * difference));
            }
        }
        for (const auto order : furtherOrders()) {
            const auto other = runSmall(parts, limit, type, order);
            for (std::size_t part = 0; part < parts.size(); ++part) {
                const auto first = tensorsOf(found[part]), second = tensorsOf(other[part]);
                for (std::size_t i = 0; i < first.size(); ++i)
                    EXPECT_TRUE(sameBits(*first[i].second, *second[i].second))
                        << first[i].first << " of part " << part << " in order "
                        << static_cast<int>(order) << ", " << what;
            }
        }
    }
};

TEST_P(RelSmall, AgreesWithTheReferenceInEveryOrder) {
    expectReference(DataType::Float32, kH100, "float");
    expectReference(DataType::Float64, 2 * kH100, "double");
}

// A key head a block and one relation at a time; and half of the relations.
TEST_P(RelSmall, AgreesWhereLittleFits) {
    const auto& parts = GetParam().parts;
    const auto least = leastSharedBytes(parts, DataType::Float32);
    std::size_t whole = 0;
    for (const auto& x : parts)
        whole = std::max(whole, smallPlan(smallPartOf(x, DataType::Float32), kH100).backwardBytes);
    EXPECT_LE(least, whole);
    expectReference(DataType::Float32, least, "little");
    if (whole > least) expectReference(DataType::Float32, whole - 1, "less");
}

// Central differences of the reference's forward pass, along a random direction of each input.
TEST_P(RelSmall, GradientsAgreeWithCentralDifferences) {
    const auto results =
        runSmall(GetParam().parts, 2 * kH100, DataType::Float64, HostOrder::Forward);
    constexpr double step = 1e-5;
    for (std::size_t part = 0; part < results.size(); ++part) {
        auto heads = GetParam().parts[part];
        const auto gradients = tensorsOf(results[part]);
        const std::vector<Tensor4*> inputs = {&heads.in.q,    &heads.in.k,    &heads.in.s,
                                              &heads.in.qRel, &heads.in.kRel, &heads.wr};
        for (std::size_t which = 0; which < inputs.size(); ++which) {
            auto& tensor = *inputs[which];
            const auto& gradient = gradients[which + 1].second->values;
            if (gradient.empty()) continue;
            const auto along =
                randomTensor(tensor.batch, tensor.tokens, tensor.heads, tensor.width, 100 + which);
            double expected = 0, size = 0;
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                const double each = gradient[i] * along.values[i % along.values.size()];
                expected += each;
                size += std::abs(each);
            }
            const auto lossAt = [&](double by) {
                auto moved = heads;
                auto* to = std::vector{&moved.in.q,    &moved.in.k,    &moved.in.s,
                                       &moved.in.qRel, &moved.in.kRel, &moved.wr}[which];
                for (std::size_t i = 0; i < along.values.size(); ++i)
                    to->values[i] += by * along.values[i];
                if (moved.symmetric) moved.in.kRel = moved.in.qRel;
                return smallLoss(moved);
            };
            const double found = (lossAt(step) - lossAt(-step)) / (2 * step);
            EXPECT_NEAR(found, expected, kDifferenceTolerance * std::max(1.0, size))
                << gradients[which + 1].first << " of part " << part;
        }
    }
}

// exp(scores) alone would be infinite; rounded scores of this size allow no closer comparison.
TEST(RelSmallScores, MayBeLarge) {
    Problem p;
    p.queries = p.keys = 11;
    auto heads = smallHeads(p, false, 3);
    for (double& value : heads.in.q.values) value *= 100;
    const auto expected = smallReference(heads);
    const auto found = runSmall({heads}, kH100, DataType::Float32, HostOrder::Forward);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_LE(differenceOf(*tensorsOf(found[0])[i].second, *tensorsOf(expected)[i].second),
                  1e-3)
            << tensorsOf(expected)[i].first;
}

INSTANTIATE_TEST_SUITE_P(, RelSmall, testing::ValuesIn(cases()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.name)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

SmallPart sized(int tokens, int heads, int keyHeads, int width, int relations, int relDim) {
    SmallPart part;
    auto& x = part.rel;
    x.batch = 512, x.queries = x.keys = tokens, x.heads = heads, x.keyHeads = keyHeads;
    x.keyDim = x.valueDim = width, x.relations = relations, x.relDim = relDim;
    return part;
}

TEST(RelSmallLaunch, DividesHeadsUntilTheyFit) {
    const auto games = smallPlan(sized(10, 4, 4, 16, 4, 16), kConsumer);
    EXPECT_EQ(games.forwardGroups, 1);
    EXPECT_EQ(games.backwardGroups, 1);
    EXPECT_LE(games.backwardBytes, 28 * 1024u) << "8 blocks on an H100's multiprocessor";
    // CIFAR: symmetric relations, relative symbols.
    auto images = sized(65, 6, 3, 32, 6, 32);
    images.symmetric = true, images.rel.maxOffset = 64;
    const auto h100 = smallPlan(images, kH100);
    EXPECT_EQ(h100.forwardGroups, 3);
    EXPECT_EQ(h100.backwardGroups, 3);
    EXPECT_LE(h100.backwardBytes, kH100);
    EXPECT_FALSE(smallPlan(images, kConsumer).serves());
    EXPECT_FALSE(smallPlan(sized(1024, 8, 4, 64, 64, 8), kH100).serves());
    EXPECT_FALSE(smallPlan(sized(100000, 8, 4, 64, 64, 8), kH100).serves());
}

TEST(RelSmallLaunch, RefusesContradictions) {
    const auto expectRefused = [](const std::function<void(SmallArgs&)>& spoil) {
        SmallArgs args;
        args.parts[0] = sized(10, 4, 4, 16, 0, 0), args.parts[1] = sized(10, 4, 2, 16, 4, 16);
        args.count = 2, args.sharedLimit = kH100;
        spoil(args);
        EXPECT_EQ(launchSmallForward(&args, nullptr), cudaErrorInvalidValue);
        EXPECT_EQ(launchSmallBackward(&args, nullptr), cudaErrorInvalidValue);
    };
    expectRefused([](SmallArgs& x) { x.count = 0; });
    expectRefused([](SmallArgs& x) { x.count = 3; });
    expectRefused([](SmallArgs& x) { x.sharedLimit = 2000; });
    expectRefused([](SmallArgs& x) { x.parts[1].rel.batch = 511; });
    expectRefused([](SmallArgs& x) { x.parts[1].rel.type = DataType::Float64; });
    expectRefused([](SmallArgs& x) { x.parts[1].rel.keyHeads = 3; });
    expectRefused([](SmallArgs& x) { x.parts[0].rel.queries = 0; });
    expectRefused([](SmallArgs& x) { x.parts[1].symmetric = true, x.parts[1].rel.keys = 11; });
    expectRefused([](SmallArgs& x) {
        for (auto& part : x.parts) part.rel.type = DataType::BFloat16;
    });
}

TEST(RelSmallLaunch, TakesEmptyBatches) {
    SmallArgs args;
    args.parts[0] = sized(10, 4, 4, 16, 4, 16), args.sharedLimit = kH100;
    args.parts[0].rel.batch = 0;
    EXPECT_EQ(launchSmallForward(&args, nullptr), cudaSuccess);
    EXPECT_EQ(launchSmallBackward(&args, nullptr), cudaSuccess);
}

}  // namespace
}  // namespace relascope::core::kernels
