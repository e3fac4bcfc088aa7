// SPDX-License-Identifier: GPL-3.0-or-later
// Every model on a device that is not the CPU: the same results, no waiting of the host for the
// device, and graphs that repeat a step with other inputs.
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "analysis/verify/verify.h"
#include "model/attention/cuda_check.h"
#include "model/decode/generate.h"
#include "model/model.h"
#include "support/form_results.h"
#include "support/golden_cases.h"
#include "support/host_gpu.h"
#include "support/host_kernels.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

using namespace testing_support;

ModelInput moved(const ModelInput& in, const torch::Device& device) {
    if (in.target.defined()) return {in.x.to(device), in.target.to(device)};
    return in.x.to(device);
}

class OnHostGpu : public testing::TestWithParam<std::pair<std::string, ModelOptions>> {
protected:
    void SetUp() override {
        if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    }
    // Its LSTM has a kernel on CUDA that the CPU lacks.
    bool runsThere() const { return GetParam().second.architecture() != "ESBN"; }
    // It solves a regression for as many rounds as it takes, and looks at each round's errors.
    bool reads() const { return GetParam().second.architecture() == "RobustRegression"; }
    ModelPtr model() const {
        torch::manual_seed(3);
        auto made = makeModel(GetParam().second);
        made->train(true);
        return made;
    }
    ModelInput batch(std::uint64_t seed) const {
        torch::manual_seed(seed);
        return smallBatch(GetParam().second, 2);
    }
    /// The output and the gradients of all parameters, where they are.
    static Tensors step(ModelImpl& model, const ModelInput& in) {
        for (auto& p : model.parameters()) p.mutable_grad() = torch::Tensor();
        const auto out = model.forward(in);
        if (out.requires_grad()) (out * out.detach().cos()).sum().backward();
        Tensors all = {out.detach()};
        for (const auto& p : model.parameters()) all.push_back(p.grad());
        return all;
    }
    static Tensors onCpu(const Tensors& all) {
        Tensors copies;
        for (const auto& t : all) copies.push_back(t.defined() ? t.cpu().clone() : t);
        return copies;
    }
};

TEST_P(OnHostGpu, ComputesTheSameAndReadsNothing) {
    if (!runsThere()) return;
    const auto made = model();
    made->eval();
    const auto in = batch(4);
    const auto expected = step(*made, in);
    made->to(hostGpu());
    const auto there = moved(in, hostGpu());
    const auto before = hostGpuCounts();
    const auto found = step(*made, there);
    EXPECT_EQ(hostGpuCounts().reads > before.reads, reads());
    EXPECT_GT(hostGpuCounts().operations, before.operations);
    expectNear(expected, onCpu(found), 1e-4, GetParam().first);
}

TEST_P(OnHostGpu, AGraphRepeatsAStepWithOtherInputs) {
    if (!runsThere()) return;
    const auto made = model();
    made->to(hostGpu());
    const auto first = moved(batch(4), hostGpu()), second = moved(batch(5), hostGpu());
    step(*made, first);  // as before a capture: what is made once for a shape is made here
    torch::manual_seed(6);
    const auto expected = onCpu(step(*made, second));

    const auto input = first;
    HostGpuGraph graph;
    Tensors results;
    const auto work = [&] { results = step(*made, input); };
    if (reads()) {
        EXPECT_ANY_THROW(graph.record(work));
        return;
    }
    graph.record(work);
    input.x.copy_(second.x);
    if (second.target.defined()) input.target.copy_(second.target);
    torch::manual_seed(6);
    graph.replay();
    const auto found = onCpu(results);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].defined(), expected[i].defined()) << i;
        EXPECT_TRUE(!found[i].defined() || torch::equal(found[i], expected[i])) << i;
    }
}

// A text token by token: the logits of each, and the operations of the last.
std::pair<Tensors, std::int64_t> written(ModelImpl& model, const ModelOptions& options) {
    LanguageReader reader(model, options);
    Tensors logits = {reader.read(std::vector<std::int64_t>{1, 2, 0})};
    std::int64_t operations = 0;
    for (std::int64_t length = 3; length < options.tokens(); ++length) {
        const auto before = hostGpuCounts().operations;
        logits.push_back(reader.read(std::vector<std::int64_t>{length % 3}));
        operations = hostGpuCounts().operations - before;
    }
    const auto beyond = reader.read(std::vector<std::int64_t>{1});  // the window moves
    logits.push_back(beyond);
    return {logits, operations};
}

TEST(GeneratingOnHostGpu, ATokenIsRepeatedAsAGraph) {
    if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    int repeated = 0;
    for (auto [name, options] : smallModels()) {
        if (options.input() != InputKind::Tokens) continue;
        options.set("max_block_size", 14L);
        torch::manual_seed(3);
        auto model = makeModel(options);
        model->eval();
        const auto plain = written(*model, options).first;
        model->to(hostGpu());
        const CpuKernelsScope kernels(hostGpuKernels());
        const auto [eager, eagerOperations] = written(*model, options);
        const GraphTableScope graphs(hostGpuGraphs());
        const auto [graph, operations] = written(*model, options);
        ASSERT_EQ(graph.size(), plain.size());
        for (std::size_t i = 0; i < graph.size(); ++i) {
            EXPECT_TRUE(torch::equal(graph[i], eager[i])) << name << ", token " << i;
            EXPECT_TRUE(torch::allclose(graph[i], plain[i], 1e-3, 1e-4)) << name << ", token " << i;
        }
        repeated += operations < 8 && eagerOperations > 20;
    }
    EXPECT_GT(repeated, 5);
}

TEST(VerifyingOnHostGpu, AnalysesOfScoresMeetTheirGoldenNumbers) {
    if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    for (const auto& name : whyCases()) {
        const auto report = verifyFolder(std::string(RELASCOPE_FIXTURES) + "/golden/" + name,
                                         "cuda:0", whyModels(name));
        EXPECT_TRUE(report.ok) << name;
    }
}

// Without our kernels the cached tokens are counted on the host, which a graph would freeze.
TEST(GeneratingOnHostGpu, SaysWhyATokenIsNotRepeated) {
    if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    auto options = smallModels().front().second;
    for (const auto& [name, each] : smallModels())
        if (each.architecture() == "DualAttnTransformerLM") options = each;
    options.set("max_block_size", 14L);
    torch::manual_seed(3);
    auto model = makeModel(options);
    model->eval();
    model->to(hostGpu());
    const auto problemOf = [&](int tokens) {
        LanguageReader reader(*model, options);
        for (int i = 0; i < tokens; ++i) reader.read(std::vector<std::int64_t>{1});
        return reader.graphProblem();
    };
    EXPECT_EQ(problemOf(6), "LibTorch's CUDA library is not loaded");
    const GraphTableScope graphs(hostGpuGraphs());
    EXPECT_EQ(problemOf(3), "") << "not tried yet";
    EXPECT_EQ(problemOf(6), "a graph cannot append to a cache where the host says");
    const CpuKernelsScope kernels(hostGpuKernels());
    EXPECT_EQ(problemOf(6), "");
}

INSTANTIATE_TEST_SUITE_P(Models, OnHostGpu, testing::ValuesIn(smallModels()), [](const auto& test) {
    std::string name;
    for (const char c : test.param.first)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name + std::to_string(test.index);
});

}  // namespace
}  // namespace relascope
