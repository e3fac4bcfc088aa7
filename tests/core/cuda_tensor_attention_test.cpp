// SPDX-License-Identifier: GPL-3.0-or-later
// Modules that use the kernels for tensor cores, here compiled for the CPU: bf16 and fp16, under
// autocast or of tensors of these types. Their errors against double precision may be twice those
// of LibTorch's form in the same type.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/utils.h>

#include "evaluate/scoring.h"
#include "model/attention/cuda_attention.h"
#include "model/attention/relational_attention.h"
#include "model/language/language_options.h"
#include "model/model.h"
#include "support/as_exact.h"
#include "support/form_results.h"
#include "support/host_kernels.h"
#include "support/tensor_dropout.h"

namespace relascope::core {
namespace {

class CpuAutocast {
public:
    explicit CpuAutocast(torch::ScalarType type) {
        if (type == torch::kFloat) return;
        at::autocast::set_autocast_dtype(at::kCPU, type);
        at::autocast::set_autocast_enabled(at::kCPU, true);
    }
    ~CpuAutocast() {
        at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(at::kCPU, false);
    }
    CpuAutocast(const CpuAutocast&) = delete;
    CpuAutocast& operator=(const CpuAutocast&) = delete;
};

constexpr torch::ScalarType kTypes[] = {torch::kBFloat16, torch::kHalf};

/// The gradients by all inputs, then the output, of inputs that are rounded to `rounded` first and
/// given in `given`.
template <class Attention>
Tensors results(Tensors in, torch::ScalarType rounded, torch::ScalarType given,
                const Attention& attention) {
    for (auto& x : in) x = x.to(rounded).to(given).requires_grad_(true);
    torch::manual_seed(7);
    const auto out = attention(inputOf(in));
    torch::manual_seed(8);
    const auto dOut = torch::randn(out.sizes()).to(rounded).to(out.scalar_type());
    auto all = torch::autograd::grad({out}, in, {dOut});
    all.push_back(out.detach());
    return all;
}

class CudaTensorAttention : public testing::Test {
protected:
    CudaTensorAttention() : m_scope(hostKernels()) { kernelCalls() = {}; }

    CpuKernelsScope m_scope;
};

TEST_F(CudaTensorAttention, IsAsExactAsLibTorchInTheSameType) {
    constexpr std::int64_t n = 37;
    const auto in = publishedInputs(n);
    for (const double p : {0.0, 0.2}) {
        const auto keep = p > 0 ? dropoutFactors(torch::kCPU, p, n) : torch::ones({1, 8, n, n});
        if (p > 0) {
            ASSERT_NEAR(keep.eq(0).to(torch::kDouble).mean().item<double>(), p, 0.02);
        }
        auto options = kPublished;
        options.dropout = p;
        const auto matrices = [&](const auto& x) {
            return byMatrices(x, options, keep.to(x.q.scalar_type()));
        };
        const auto kernels = [&](const auto& x) {
            EXPECT_TRUE(choosesCuda(AttentionForm::Automatic, x, options));
            return cudaAttention(x, options);
        };
        for (const auto type : kTypes)
            for (const bool autocast : {false, true}) {
                const std::string what = std::string(torch::toString(type)) +
                                         (autocast ? "_autocast" : "") + (p > 0 ? "_dropout" : "");
                const auto truth = results(in, type, torch::kDouble, matrices);
                kernelCalls() = {};
                const CpuAutocast scope(autocast ? type : torch::kFloat);
                const auto given = autocast ? torch::kFloat : type;
                const auto plain = results(in, type, given, matrices);
                expectAsExact(truth, plain, results(in, type, given, kernels), type, what);
                EXPECT_EQ(kernelCalls(), (KernelCalls{1, 1})) << what;
            }
    }
}

TEST_F(CudaTensorAttention, DropsTheSameWeightsInBothPasses) {
    expectSameDropout(torch::kCPU, 37);
}

TEST_F(CudaTensorAttention, DrawsOtherMasksForEachSeed) {
    const torch::NoGradGuard guard;
    auto in = publishedInputs(20);
    for (auto& x : in) x = x.to(torch::kHalf);
    auto options = kPublished;
    options.dropout = 0.3;
    const auto drawn = [&] { return cudaAttention(inputOf(in), options); };
    torch::manual_seed(7);
    const auto first = drawn(), second = drawn();
    torch::manual_seed(7);
    EXPECT_TRUE(torch::equal(drawn(), first)) << "the same seed";
    EXPECT_FALSE(torch::equal(second, first)) << "another state of the generator";
}

// What the backward pass keeps must not keep itself.
TEST_F(CudaTensorAttention, ReleasesWhatWasSaved) {
    auto in = publishedInputs(9);
    for (auto& x : in) x = x.to(torch::kHalf).requires_grad_(true);
    auto out = cudaAttention(inputOf(in), kPublished);
    std::vector<std::shared_ptr<torch::autograd::Node>> nodes = {out.grad_fn()};
    std::weak_ptr<torch::autograd::Node> kernels;
    while (!nodes.empty() && kernels.expired()) {
        const auto node = nodes.back();
        nodes.pop_back();
        if (node->name().find("CudaHeads") != std::string::npos) kernels = node;
        for (const auto& edge : node->next_edges())
            if (edge.function) nodes.push_back(edge.function);
    }
    ASSERT_FALSE(kernels.expired());
    nodes.clear();
    out = torch::Tensor();
    EXPECT_TRUE(kernels.expired());
}

// As q and k may be, after rotary positions.
TEST_F(CudaTensorAttention, TakesInputsOfSeveralTypesUnderAutocast) {
    auto in = publishedInputs(20);
    const torch::NoGradGuard guard;
    const CpuAutocast scope(torch::kBFloat16);
    for (auto& x : in) x = x.to(torch::kBFloat16);
    const auto narrow = cudaAttention(inputOf(in), kPublished);
    in[0] = in[0].to(torch::kFloat), in[1] = in[1].to(torch::kFloat),
    in[5] = in[5].to(torch::kFloat);
    ASSERT_TRUE(servesCuda(inputOf(in), kPublished));
    EXPECT_TRUE(torch::equal(narrow, cudaAttention(inputOf(in), kPublished)));
    in[4] = in[4].to(torch::kDouble);
    EXPECT_FALSE(servesCuda(inputOf(in), kPublished));
}

// Slices of one projection, some of which do not begin on 16 bytes.
TEST_F(CudaTensorAttention, CopiesRowsThatAreNotAligned) {
    const std::int64_t n = 18;
    for (const std::int64_t shift : {0, 1, 8}) {
        torch::manual_seed(4);
        const auto all = torch::randn({2, n, shift + 512 + 2 * 256 + 2 * 512}).to(torch::kBFloat16);
        auto part = [&, at = shift](std::int64_t heads, std::int64_t width) mutable {
            const auto x = all.slice(2, at, at + heads * width);
            at += heads * width;
            return splitHeads(x, heads);
        };
        Tensors in = {part(8, 64), part(4, 64), part(4, 64),
                      part(64, 8), part(64, 8), publishedInputs(1)[5]};
        const auto run = [&](const auto& x) { return cudaAttention(x, kPublished); };
        const auto whole = results(in, torch::kBFloat16, torch::kBFloat16, run);
        for (auto& x : in) x = x.to(torch::kBFloat16).detach().requires_grad_(true);
        torch::manual_seed(8);
        const auto out = run(inputOf(in));
        // A gradient that is not aligned either.
        auto dOut = torch::zeros({2, n, 512 + 1}, torch::kBFloat16).slice(2, 1);
        dOut.copy_(torch::randn(out.sizes()).to(torch::kBFloat16));
        const auto found = torch::autograd::grad({out}, in, {dOut});
        EXPECT_TRUE(torch::equal(out, whole.back())) << shift;
        for (std::size_t i = 0; i < in.size(); ++i)
            EXPECT_TRUE(torch::equal(found[i], whole[i])) << shift << ", tensor " << i;
    }
}

RelationalOptions publishedHeads(std::int64_t d = 64) {
    RelationalOptions o;
    o.d_model = d, o.n_heads = 8, o.head_dim = 64, o.n_kv_heads = 4;
    o.n_relations = 64, o.rel_proj_dim = 8;
    o.causal = o.rope = true;
    return o;
}

TEST_F(CudaTensorAttention, ServesAWholeModule) {
    const Tensors in = {torch::randn({2, 37, 64}), torch::randn({2, 37, 64})};
    for (const bool symmetric : {false, true})
        for (const auto type : kTypes)
            for (const bool autocast : {false, true}) {
                if (symmetric && type == torch::kHalf) continue;  // for time
                auto o = publishedHeads();
                o.symmetric_rels = symmetric;
                torch::manual_seed(3);
                RelationalAttentionImpl module(o);
                const auto forward = [&](const Tensors& x) {
                    return module.forward(x[0], {x[1], -1});
                };
                if (!autocast) module.to(type), module.to(torch::kFloat);  // rounded weights
                Tensors rounded = in;
                for (auto& x : rounded) x = x.to(type).to(torch::kFloat);
                const auto truth = explicitResultsOf(module, rounded, forward);
                if (!autocast) module.to(type);
                for (auto& x : rounded) x = x.to(autocast ? torch::kFloat : type);
                const CpuAutocast scope(autocast ? type : torch::kFloat);
                const auto plain = resultsOf(module, rounded, forward);
                EXPECT_EQ(module.lastForm(), "explicit");
                kernelCalls() = {};
                module.form = AttentionForm::Automatic;
                const std::string what = std::string("module_") + torch::toString(type) +
                                         (autocast ? "_autocast" : "") +
                                         (symmetric ? "_symmetric" : "");
                expectAsExact(truth, plain, resultsOf(module, rounded, forward), type, what);
                EXPECT_EQ(kernelCalls(), (KernelCalls{1, 1})) << what;
                EXPECT_EQ(module.lastForm(), "cuda, tensor cores");
            }
}

// One layer of the published width: the gradients of a whole step under autocast.
TEST_F(CudaTensorAttention, ServesALanguageModel) {
    ModelOptions options("DualAttnTransformerLM");
    auto& m = options.get<DualAttnTransformerLMOptions>();
    m.vocab_size = 60, m.max_block_size = 40, m.d_model = 1024, m.n_layers = 1, m.dff = 128;
    m.n_heads_sa = m.n_heads_ra = 8, m.sa_n_kv_heads = m.ra_n_kv_heads = 4;
    m.n_relations = 64, m.rel_proj_dim = 8, m.symmetric_rels = false;
    m.symbol_retrieval = "symbolic_attention", m.n_symbols = 32, m.symbol_heads = 4;
    m.activation = "gelu", m.dropout_rate = 0.0, m.pos_enc_type = "RoPE";
    torch::manual_seed(5);
    auto model = makeModel(options);
    model->train();
    const auto tokens = torch::randint(60, {2, 38}, torch::kLong);
    const auto step = [&](AttentionForm form, torch::ScalarType type) {
        for (const auto& module : model->modules())
            if (auto* heads = dynamic_cast<RelationalHeadsImpl*>(module.get())) heads->form = form;
        model->zero_grad();
        torch::Tensor loss;
        {
            const CpuAutocast scope(type);
            const auto scores = model->forward(tokens.slice(1, 0, 37)).to(torch::kFloat);
            loss = crossEntropy(scores, tokens.slice(1, 1));
        }
        loss.backward();
        Tensors all = {loss.detach()};
        for (const auto& weight : model->parameters()) all.push_back(weight.grad().clone());
        return all;
    };
    const auto truth = step(AttentionForm::Explicit, torch::kFloat);
    const auto plain = step(AttentionForm::Explicit, torch::kBFloat16);
    EXPECT_EQ(kernelCalls().tensorForward, 0);
    const auto found = step(AttentionForm::Automatic, torch::kBFloat16);
    expectAsExact(truth, plain, found, torch::kBFloat16, "model");
    EXPECT_EQ(kernelCalls().tensorForward, 1);
    EXPECT_EQ(kernelCalls().tensorBackward, 1);
}

TEST_F(CudaTensorAttention, LeavesOtherShapesToOtherForms) {
    const auto uses = [](const Tensors& in, const KernelOptions& options = kPublished,
                         AttentionForm form = AttentionForm::Automatic) {
        return choosesCuda(form, inputOf(in), options);
    };
    auto published = publishedInputs(150);
    EXPECT_FALSE(uses(published)) << "float32";
    for (auto& x : published) x = x.to(torch::kBFloat16);
    EXPECT_TRUE(uses(published));
    EXPECT_FALSE(uses(published, kPublished, AttentionForm::Explicit));
    auto softmax = kPublished;
    softmax.relActivation = "softmax";
    EXPECT_FALSE(uses(published, softmax));
    // 32 wide, also for few tokens and where the form is asked for.
    for (const std::int64_t n : {150, 37}) {
        auto other = published;
        for (auto& x : other)
            if (x.dim() == 4) x = x.slice(2, 0, n);
        other[0] = other[0].slice(3, 0, 32), other[1] = other[1].slice(3, 0, 32);
        EXPECT_FALSE(uses(other)) << n;
        EXPECT_FALSE(uses(other, kPublished, AttentionForm::Cuda)) << n;
    }
    // A library of relative symbols.
    auto library = inputOf(published);
    library.v = library.v[0].slice(1, 0, 9), library.maxOffset = 4;
    EXPECT_FALSE(servesCuda(library, kPublished));
    // One query after cached keys fills no tile.
    auto decoding = published;
    decoding[0] = decoding[0].slice(2, 0, 1), decoding[3] = decoding[3].slice(2, 0, 1);
    EXPECT_FALSE(uses(decoding));
    EXPECT_TRUE(uses(decoding, kPublished, AttentionForm::Cuda));
    // Types that differ, without autocast.
    auto mixed = published;
    mixed[1] = mixed[1].to(torch::kFloat);
    EXPECT_FALSE(uses(mixed, kPublished, AttentionForm::Cuda));
}

TEST_F(CudaTensorAttention, TrainsTheLargerModel) {
    constexpr std::int64_t n = 37;
    const auto keep = torch::ones({1, 16, n, n});
    const auto matrices = [&](const auto& x) { return byMatrices(x, kPublished, keep); };
    const auto kernels = [&](const auto& x) { return cudaAttention(x, kPublished); };
    const auto in = publishedInputs(n, 1, 2);
    for (const auto type : kTypes)
        expectAsExact(results(in, type, torch::kDouble, matrices),
                      results(in, type, type, matrices), results(in, type, type, kernels), type,
                      std::string("larger_") + torch::toString(type));
    EXPECT_EQ(kernelCalls(), (KernelCalls{2, 2}));
}

// A device with room for the larger model's forward pass only.
TEST_F(CudaTensorAttention, NeedsTheKernelsOfBothPassesInTraining) {
    auto smaller = hostKernels();
    smaller.deviceLimits = [](int, kernels::DeviceLimits* limits) {
        *limits = {8, 0, 108, 150 * 1024};
        return 0;
    };
    const CpuKernelsScope scope(smaller);
    auto in = publishedInputs(30, 1, 2);
    for (auto& x : in) x = x.to(torch::kBFloat16);
    EXPECT_TRUE(servesCuda(inputOf(in), kPublished));
    auto dropping = kPublished;
    dropping.dropout = 0.1;
    EXPECT_FALSE(servesCuda(inputOf(in), dropping)) << "recomputed with masks";
    in[4].requires_grad_(true);
    EXPECT_FALSE(servesCuda(inputOf(in), kPublished));
    const torch::NoGradGuard guard;
    EXPECT_TRUE(servesCuda(inputOf(in), kPublished));
    const auto out = cudaAttention(inputOf(in), kPublished);
    for (auto& x : in) x = x.to(torch::kDouble);
    const auto truth = byMatrices(inputOf(in), kPublished, torch::ones({1, 16, 30, 30}));
    EXPECT_LT(errorsOf(out, truth).largest, 3 * 0x1p-9);
}

TEST(CudaTensorCheck, SwitchesOffWhatDisagrees) {
    auto in = publishedInputs(20);
    for (auto& x : in) x = x.to(torch::kBFloat16);
    {
        const CpuKernelsScope scope(hostKernels(), {"", "they differ"});
        EXPECT_FALSE(servesCuda(inputOf(in), kPublished));
    }
    const CpuKernelsScope scope(hostKernels(), {"they differ", ""});
    EXPECT_TRUE(servesCuda(inputOf(in), kPublished));
}

}  // namespace
}  // namespace relascope::core
