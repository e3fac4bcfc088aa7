// SPDX-License-Identifier: GPL-3.0-or-later
// bfloat16 on a device, here a GPU played by the CPU: a step of training, an evaluation, a probe
// and generation with a cache. Where the program's kernels serve, each is as exact against double
// precision as the same with LibTorch's forms.
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <random>

#include "data/batches.h"
#include "evaluate/evaluate.h"
#include "model/attention/cuda_check.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/graph/device_graph.h"
#include "model/language/language_options.h"
#include "probe/probe.h"
#include "support/as_exact.h"
#include "support/host_gpu.h"
#include "support/host_kernels.h"

namespace relascope::core {
namespace {

using namespace testing_support;

constexpr std::int64_t kVocabulary = 60, kContext = 37;

/// The heads of the model with 343 million parameters, two layers.
ModelOptions published() {
    ModelOptions options("DualAttnTransformerLM");
    auto& m = options.get<DualAttnTransformerLMOptions>();
    m.vocab_size = kVocabulary, m.max_block_size = kContext, m.d_model = 1024, m.n_layers = 2;
    m.dff = 128, m.n_heads_sa = m.n_heads_ra = 8, m.sa_n_kv_heads = m.ra_n_kv_heads = 4;
    m.n_relations = 64, m.rel_proj_dim = 8, m.symmetric_rels = false;
    m.symbol_retrieval = "symbolic_attention", m.n_symbols = 32, m.symbol_heads = 4;
    m.activation = "gelu", m.dropout_rate = 0.0, m.pos_enc_type = "RoPE";
    return options;
}

class Windows : public TokenDataset {
public:
    explicit Windows(std::int64_t size, std::int64_t first = 0) : m_first(first) {
        m_info.name = "windows", m_info.size = size, m_info.targets = TargetKind::Tokens;
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t context() const override { return kContext; }
    TokenizerPtr tokenizer() const override { return nullptr; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        std::mt19937_64 random(static_cast<std::uint64_t>(m_first + index));
        for (auto& token : tokens) token = static_cast<std::int64_t>(random() % kVocabulary);
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.tokens.resize(kContext + 1);
        read(index, s.source.tokens);
        s.source.tokens.pop_back();
        return s;
    }

private:
    std::int64_t m_first;
    DatasetInfo m_info;
};

/// Those of a model in float32; those of its products in bfloat16, as it may be generated with;
/// all.
enum class Weights { Wide, Narrow, BFloat16 };

class HostBFloat16 : public testing::Test {
protected:
    void SetUp() override {
        if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
        kernelCalls() = {};
    }
    /// The same numbers each time.
    ModelPtr model(Weights weights) const {
        torch::manual_seed(5);
        auto made = makeModel(m_options);
        made->eval();
        if (weights == Weights::Narrow) castToBFloat16(*made);
        return made;
    }
    /// What `work(model)` gives in double precision and, on the device, by LibTorch's forms and by
    /// the kernels.
    template <class Work>
    void expectExact(const std::string& what, const KernelCalls& calls, const Work& work,
                     Weights weights = Weights::Wide) {
        const auto exact = model(weights);
        exact->to(torch::kDouble);
        for (const auto& module : exact->modules())
            if (auto* heads = dynamic_cast<RelationalHeadsImpl*>(module.get()))
                heads->form = AttentionForm::Explicit;
        const Tensors truth = work(*exact);
        const auto narrowed = model(weights);
        narrowed->to(hostGpu());
        const Tensors plain = work(*narrowed);
        kernelCalls() = {};
        const CpuKernelsScope kernels(hostGpuKernels());
        const Tensors found = work(*narrowed);
        EXPECT_EQ(kernelCalls(), calls) << what;
        // Narrow weights are converted: the layers compute in float32.
        const auto type = weights == Weights::Narrow ? torch::kFloat : torch::kBFloat16;
        expectAsExact(truth, plain, found, type, what);
    }
    static bool isExact(const ModelImpl& model) {
        return model.parameters().front().scalar_type() == torch::kDouble;
    }

    const ModelOptions m_options = published();
    std::vector<double> m_accuracy;
};

TEST_F(HostBFloat16, AStepOfTraining) {
    const Windows data(1);
    const auto batch = makeBatch(data, plainOrder(1).data(), 1);
    const auto step = [&](ModelImpl& model) -> Tensors {
        model.train();
        model.zero_grad();
        torch::Tensor scores;
        {
            const AutocastScope autocast(!isExact(model));
            scores = model.forward(inputOf(batch, model.parameters().front().device()));
            if (!isExact(model)) scores = scores.to(torch::kFloat);
        }
        const auto loss = lossOf(scores, batch, m_options.ignoredTarget());
        loss.backward();
        Tensors all = {loss.detach().cpu().clone()};
        for (const auto& weight : model.parameters()) all.push_back(weight.grad().cpu().clone());
        return all;
    };
    expectExact("step", {.tensorForward = 2, .tensorBackward = 2}, step);
}

// With dropout, whose masks continue where the steps before ended.
TEST_F(HostBFloat16, AStepIsRepeatedAsAGraph) {
    auto options = m_options;
    options.get<DualAttnTransformerLMOptions>().dropout_rate = 0.1;
    const Windows data(1);
    auto batch = makeBatch(data, plainOrder(1).data(), 1);
    const CpuKernelsScope kernels(hostGpuKernels());
    Tensors found[2];
    for (const bool repeated : {false, true}) {
        const GraphTableScope table(repeated ? hostGpuGraphs() : hostGpuNumbers());
        restartHostGpuNumbers();
        torch::manual_seed(5);
        auto model = makeModel(options);
        model->to(hostGpu());
        model->train();
        const auto input = inputOf(batch, hostGpu());
        batch.targets = batch.targets.to(hostGpu());  // a recording copies nothing from the CPU
        torch::Tensor loss;
        const auto step = [&] {
            for (auto& weight : model->parameters()) weight.mutable_grad() = torch::Tensor();
            const AutocastScope autocast(true);
            loss =
                lossOf(model->forward(input).to(torch::kFloat), batch, m_options.ignoredTarget());
            loss.backward();
        };
        step();
        if (repeated) {
            const auto graph = makeDeviceGraph(hostGpu());
            graph->record(step);
            for (int i = 0; i < 2; ++i) graph->replay();
        } else {
            for (int i = 0; i < 2; ++i) step();
        }
        found[repeated] = {loss.detach().cpu().clone()};
        for (const auto& weight : model->parameters())
            found[repeated].push_back(weight.grad().cpu().clone());
    }
    EXPECT_GT(kernelCalls().tensorBackward, 0);
    for (std::size_t i = 0; i < found[0].size(); ++i)
        EXPECT_TRUE(torch::equal(found[0][i], found[1][i])) << i;
}

TEST_F(HostBFloat16, AnEvaluation) {
    constexpr std::int64_t windows = 3;
    const auto evaluate = [&](ModelImpl& model) -> Tensors {
        std::vector<double> losses, accuracy;
        EvaluationOptions how;
        how.batchSize = 2, how.bfloat16 = !isExact(model);
        for (std::int64_t i = 0; i < windows; ++i) {
            const auto one = std::make_shared<Windows>(1, i);
            losses.push_back(evaluateModel(model, m_options, one, how).loss);
        }
        // Whole batches and a smaller one.
        const auto all = evaluateModel(model, m_options, std::make_shared<Windows>(windows), how);
        EXPECT_EQ(all.examples, windows);
        const auto mean = torch::tensor(losses, torch::kDouble).mean().item<double>();
        EXPECT_NEAR(all.loss, mean, isExact(model) ? 1e-6 : 1e-3);
        m_accuracy.push_back(all.accuracy);
        return {torch::tensor(losses, torch::kDouble)};
    };
    expectExact("evaluation", {.tensorForward = 2 * (windows + 2)}, evaluate);
    ASSERT_EQ(m_accuracy.size(), 3u);
    for (const double accuracy : m_accuracy)
        EXPECT_NEAR(accuracy, m_accuracy[0], 3.0 / (windows * kContext)) << "close to a tie";
}

/// The maps of each kind and layer, and the probabilities of the most likely tokens.
Tensors mapsOf(const ProbeResult& result) {
    Tensors all;
    const RelationMap* before = nullptr;
    for (const auto& map : result.maps) {
        const auto values =
            torch::tensor(map.all(), torch::kDouble).view({1, map.rows, map.columns});
        if (before && before->kind == map.kind && before->layer == map.layer)
            all.back() = torch::cat({all.back(), values});
        else
            all.push_back(values);
        before = &map;
    }
    auto likely = torch::zeros({kVocabulary}, torch::kDouble);
    for (std::size_t i = 0; i < result.probabilities.size(); ++i)
        likely[std::stoll(result.classNames[i])] = result.probabilities[i];
    all.push_back(likely);
    return all;
}

TEST_F(HostBFloat16, AProbe) {
    const auto sample = Windows(1).sample(0);
    const auto probe = [&](ModelImpl& model) {
        const AutocastScope autocast(!isExact(model));
        return mapsOf(probeModel(model, m_options, sample, 0, {}));
    };
    expectExact("probe", {.tensorForward = 2}, probe);
}

/// The logits of a text token by token, after a prompt of five.
Tensors written(ModelImpl& model, const ModelOptions& options) {
    std::vector<std::int64_t> text(kContext);
    Windows(1).read(0, text);
    LanguageReader reader(model, options);
    Tensors logits;
    for (std::size_t at = 0; at < 12;) {
        const std::size_t end = at == 0 ? 5 : at + 1;
        logits.push_back(reader.read(std::span(text).subspan(at, end - at)));
        at = end;
    }
    return {torch::stack(logits)};
}

TEST_F(HostBFloat16, GenerationWithACache) {
    const auto write = [&](ModelImpl& model) { return written(model, m_options); };
    // For each kind of heads and each token a launch.
    expectExact("generation", {.decode = 2 * 2 * 7}, write, Weights::Narrow);
}

// Whose kernels serve one new token as they serve many.
TEST_F(HostBFloat16, GenerationUnderAutocast) {
    const auto write = [&](ModelImpl& model) {
        const AutocastScope autocast(!isExact(model));
        return written(model, m_options);
    };
    expectExact("generation_under_autocast", {.tensorForward = 2 * 8}, write);
}

TEST_F(HostBFloat16, GenerationIsRepeatedAsAGraph) {
    const auto narrowed = model(Weights::Narrow);
    narrowed->to(hostGpu());
    const CpuKernelsScope kernels(hostGpuKernels());
    const auto eager = written(*narrowed, m_options);
    const GraphTableScope graphs(hostGpuGraphs());
    EXPECT_TRUE(torch::equal(written(*narrowed, m_options)[0], eager[0]));
}

}  // namespace
}  // namespace relascope::core
