// SPDX-License-Identifier: GPL-3.0-or-later
// The FFMA kernels of relational attention on the CPU's stand-in for CUDA, against the reference in
// double precision: every option, three orders of threads, both precisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/orders.h"
#include "kernels/run_rel.h"
#include "kernels/tolerances.h"
#include "model/kernels/rel_ffma.h"

namespace relascope::core::kernels {
namespace {

Problem with(const std::string& name, const std::function<void(Problem&)>& change) {
    Problem p;
    p.name = name;
    change(p);
    return p;
}

std::vector<Problem> problems() {
    std::vector<Problem> all = {
        with("plain", [](Problem&) {}),
        with("causal", [](Problem& p) { p.causal = true; }),
        with("grouped keys", [](Problem& p) { p.keyHeads = 2; }),
        with("one key head, causal", [](Problem& p) { p.keyHeads = 1, p.causal = true; }),
        with("whole tiles", [](Problem& p) { p.queries = p.keys = 32, p.relations = 16; }),
        with("ragged, many relations",
             [](Problem& p) { p.queries = p.keys = 37, p.relations = 35, p.causal = true; }),
        with("one token", [](Problem& p) { p.queries = p.keys = 1; }),
        with("one head", [](Problem& p) { p.heads = p.keyHeads = 1; }),
        with("three heads", [](Problem& p) { p.heads = p.keyHeads = 3; }),
        with("one wide relation", [](Problem& p) { p.relations = 1, p.relDim = 40; }),
        with("more columns than threads",
             [](Problem& p) { p.batch = 1, p.queries = 5, p.valueDim = 150, p.keyDim = 140; }),
        with("dropout", [](Problem& p) { p.dropThreshold = 6554; }),
        with("dropout, causal, grouped keys",
             [](Problem& p) { p.dropThreshold = 19661, p.causal = true, p.keyHeads = 2; }),
        with("dropout, 70 keys",
             [](Problem& p) { p.dropThreshold = 32768, p.batch = 1, p.queries = 9, p.keys = 70; }),
        with("offsets, all", [](Problem& p) { p.maxOffset = 30; }),
        with("offsets, clamped", [](Problem& p) { p.maxOffset = 4; }),
        with("offsets, clamped, causal, dropout, grouped keys",
             [](Problem& p) {
                 p.maxOffset = 3, p.causal = true, p.dropThreshold = 9830, p.keyHeads = 2;
             }),
        with("offsets, all the same", [](Problem& p) { p.maxOffset = 0; }),
        with("offsets, clamped, fewer keys",
             [](Problem& p) { p.queries = 33, p.keys = 10, p.maxOffset = 5; }),
        with("offsets, clamped, more keys",
             [](Problem& p) { p.queries = 10, p.keys = 33, p.maxOffset = 5; }),
        with("offsets after cached keys",
             [](Problem& p) { p.queries = 9, p.keys = 30, p.first = 21, p.maxOffset = 6; }),
        with("offsets, causal, after cached keys",
             [](Problem& p) {
                 p.queries = 9, p.keys = 30, p.first = 21, p.maxOffset = 40, p.causal = true;
             }),
        with("after cached keys",
             [](Problem& p) { p.queries = 9, p.keys = 30, p.first = 21, p.causal = true; }),
        with("one query after cached keys",
             [](Problem& p) { p.queries = 1, p.keys = 30, p.first = 29, p.causal = true; }),
        with("keys beyond all queries",
             [](Problem& p) { p.queries = 5, p.keys = 40, p.first = 3, p.causal = true; }),
        with("cross, more keys", [](Problem& p) { p.queries = 10, p.keys = 33; }),
        with("cross, fewer keys", [](Problem& p) { p.queries = 33, p.keys = 10; }),
        with("sensory", [](Problem& p) { p.relations = p.relDim = 0; }),
        with("sensory, causal, grouped keys, dropout",
             [](Problem& p) {
                 p.relations = p.relDim = 0;
                 p.causal = true, p.keyHeads = 2, p.dropThreshold = 6554;
             }),
        with("sensory, offsets", [](Problem& p) { p.relations = p.relDim = 0, p.maxOffset = 5; }),
        with("strided", [](Problem& p) { p.strided = true; }),
        with("strided, causal, grouped keys, dropout",
             [](Problem& p) {
                 p.strided = p.causal = true, p.keyHeads = 2, p.dropThreshold = 6554;
             }),
        with("strided, offsets, cross",
             [](Problem& p) { p.strided = true, p.maxOffset = 7, p.queries = 11; }),
        with("shared symbols", [](Problem& p) { p.sharedSymbols = true; }),
        with("shared library",
             [](Problem& p) { p.sharedSymbols = true, p.maxOffset = 5, p.strided = true; }),
    };
    // The widths of published language models, whose blocks need more than 48 KiB.
    all.push_back(with("343 million", [](Problem& p) {
        p.batch = 1, p.queries = p.keys = 18, p.causal = true;
        p.heads = 8, p.keyHeads = 4, p.keyDim = p.valueDim = 64, p.relations = 64, p.relDim = 8;
    }));
    all.push_back(with("one billion", [](Problem& p) {
        p.batch = 1, p.queries = 3, p.keys = 17, p.first = 14, p.causal = true;
        p.heads = 16, p.keyHeads = 8, p.keyDim = p.valueDim = 64, p.relations = 128, p.relDim = 8;
    }));
    for (const char* activation : {"relu", "sigmoid", "tanh", "gelu", "silu"})
        all.push_back(with(activation, [&](Problem& p) { p.activation = activation; }));
    all.push_back(with("gelu, causal, dropout, many relations", [](Problem& p) {
        p.activation = "gelu", p.causal = true, p.dropThreshold = 6554, p.relations = 20;
    }));
    return all;
}

std::vector<std::pair<const char*, const Tensor4*>> outputsOf(const RelResults& r) {
    return {{"out", &r.outputs.out}, {"related", &r.outputs.related}, {"lse", &r.outputs.lse}};
}
std::vector<std::pair<const char*, const Tensor4*>> gradientsOf(const RelResults& r) {
    return {{"dq", &r.gradients.q},
            {"dk", &r.gradients.k},
            {"ds", &r.gradients.s},
            {"dqRel", &r.gradients.qRel},
            {"dkRel", &r.gradients.kRel}};
}

bool sameBits(const Tensor4& x, const Tensor4& y) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return std::equal(x.values.begin(), x.values.end(), y.values.begin(), y.values.end(),
                      [&](double a, double b) { return bits(a) == bits(b); });
}

// Relative to the largest number, or to 1/4 where all are small: with a single key the gradients of
// its score are 0 but for rounding. NaN where a result was not written.
double differenceOf(const Tensor4& x, const Tensor4& expected) {
    double most = 0.25, difference = 0;
    for (const double value : expected.values) most = std::max(most, std::abs(value));
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const double each = std::abs(x.values[i] - expected.values[i]);
        if (!(each <= difference)) difference = each;
    }
    return difference / most;
}

class RelFfma : public testing::TestWithParam<Problem> {
protected:
    RelFfma() {
        const auto& p = GetParam();
        m_in = randomInputs(p, 3);
        m_dOut = randomTensor(p.batch, p.queries, p.heads, p.valueDim, 11);
        m_dRelated = randomTensor(p.batch, p.queries, p.heads, p.relations, 12);
    }
    RelResults run(DataType type, HostOrder order) const {
        return runRel(GetParam(), m_in, m_dOut, m_dRelated, type, order);
    }
    double loss(const Inputs& in) const {
        const auto outputs = referenceForward(GetParam(), in);
        double sum = 0;
        for (std::size_t i = 0; i < m_dOut.values.size(); ++i)
            sum += m_dOut.values[i] * outputs.out.values[i];
        for (std::size_t i = 0; i < m_dRelated.values.size(); ++i)
            sum += m_dRelated.values[i] * outputs.related.values[i];
        return sum;
    }
    Inputs m_in;
    Tensor4 m_dOut, m_dRelated;
};

TEST_P(RelFfma, AgreesWithTheReferenceInEveryOrder) {
    const RelResults expected{referenceForward(GetParam(), m_in),
                              referenceBackward(GetParam(), m_in, m_dOut, m_dRelated)};
    for (const auto& [type, tolerances] : {std::pair{DataType::Float32, kFloat32Tolerances},
                                           {DataType::Float64, kFloat64Tolerances}}) {
        const auto first = run(type, HostOrder::Forward);
        const auto compare = [&](const auto& parts, const auto& truth, double tolerance) {
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const double difference = differenceOf(*parts[i].second, *truth[i].second);
                EXPECT_LE(difference, tolerance) << parts[i].first;
                // For who tightens the tolerances: --gtest_output=json lists these.
                RecordProperty((type == DataType::Float32 ? "float_" : "double_") +
                                   std::string(parts[i].first),
                               std::to_string(difference / tolerance));
            }
        };
        compare(outputsOf(first), outputsOf(expected), tolerances.forward);
        compare(gradientsOf(first), gradientsOf(expected), tolerances.gradients);
        for (const auto order : furtherOrders()) {
            const auto other = run(type, order);
            for (const auto& parts : {std::pair{outputsOf(first), outputsOf(other)},
                                      {gradientsOf(first), gradientsOf(other)}})
                for (std::size_t i = 0; i < parts.first.size(); ++i)
                    EXPECT_TRUE(sameBits(*parts.first[i].second, *parts.second[i].second))
                        << parts.first[i].first << " in order " << static_cast<int>(order);
        }
    }
}

// Central differences of the reference's forward pass, along random directions of each input.
TEST_P(RelFfma, GradientsAgreeWithCentralDifferences) {
    const auto results = run(DataType::Float64, HostOrder::Forward);
    const auto gradients = gradientsOf(results);
    constexpr double step = 1e-5;
    for (int which = 0; which < 5; ++which) {
        auto in = m_in;
        auto& tensor = *std::vector{&in.q, &in.k, &in.s, &in.qRel, &in.kRel}[which];
        if (tensor.values.empty()) continue;
        for (const int direction : {0, 1}) {
            const auto along = randomTensor(tensor.batch, tensor.tokens, tensor.heads, tensor.width,
                                            100 + 10 * which + direction);
            double expected = 0, size = 0;
            const auto& gradient = gradients[which].second->values;
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                expected += gradient[i] * along.values[i];
                size += std::abs(gradient[i] * along.values[i]);
            }
            const auto lossAt = [&](double by) {
                const auto before = tensor.values;
                for (std::size_t i = 0; i < before.size(); ++i)
                    tensor.values[i] += by * along.values[i];
                const double value = loss(in);
                tensor.values = before;
                return value;
            };
            const double found = (lossAt(step) - lossAt(-step)) / (2 * step);
            EXPECT_NEAR(found, expected, kDifferenceTolerance * std::max(1.0, size))
                << gradients[which].first;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, RelFfma, testing::ValuesIn(problems()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.name)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

}  // namespace
}  // namespace relascope::core::kernels
