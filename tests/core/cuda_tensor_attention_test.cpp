// SPDX-License-Identifier: GPL-3.0-or-later
// Modules that use the kernels for tensor cores, here compiled for the CPU: bf16 and fp16, under
// autocast or of tensors of these types. Their errors against double precision may be twice those
// of LibTorch's form in the same type.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
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

/// The inputs of one call: q, k, v, q_rel, k_rel and W_r.
Tensors publishedInputs(std::int64_t n, std::int64_t batch = 1) {
    torch::manual_seed(3);
    return {torch::randn({batch, 8, n, 64}), torch::randn({batch, 4, n, 64}),
            torch::randn({batch, 4, n, 64}), torch::randn({batch, 64, n, 8}),
            torch::randn({batch, 64, n, 8}), 0.1 * torch::randn({8, 64, 64})};
}
CudaAttentionInput inputOf(const Tensors& x) {
    return {x[0], x[1], x[2], -1, {x[3], x[4], x[5]}};
}
const KernelOptions kPublished{0.125, true, 0.0, 0.35};

/// What the kernels compute, by matrices in the type of the inputs or of autocast. `keep`
/// [b, h, n, m]: factors of the weights, those of dropout.
torch::Tensor plainly(const CudaAttentionInput& in, const KernelOptions& o,
                      const torch::Tensor& keep) {
    const auto shared = [](const torch::Tensor& x) { return x.repeat_interleave(2, 1); };
    const auto scores = torch::matmul(in.q * o.scale, shared(in.k).transpose(2, 3));
    const auto hidden = futureMask(in.q.size(2), in.k.size(2), 0, torch::kCPU);
    const auto alpha = torch::softmax(scores.masked_fill(hidden, -INFINITY), -1);
    const auto a = alpha * keep.to(alpha.scalar_type());
    const auto r = torch::matmul(in.relations.q * o.relScale, in.relations.k.transpose(2, 3));
    const auto related = torch::matmul(a.transpose(1, 2), r.permute({0, 2, 3, 1})).transpose(1, 2);
    return joinHeads(torch::matmul(related, in.relations.wr.transpose(1, 2)) +
                     torch::matmul(a, shared(in.v)));
}

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

/// The factors of dropout that the float32 kernels use: of equal weights, mixed with symbols that
/// single out one key each.
torch::Tensor masksOfFloat32(double p, std::int64_t n) {
    auto in = publishedInputs(n);
    in[0].zero_();
    in[2] = torch::eye(n, 64).expand({1, 4, n, 64}).contiguous();
    in[5].zero_();
    torch::manual_seed(7);
    const KernelOptions options{0.125, false, p, 0.35};
    const auto out = cudaAttention(inputOf(in), options, CudaKernels::Float32);
    return n * splitHeads(out, 8).slice(3, 0, n);
}

TEST_F(CudaTensorAttention, IsAsExactAsLibTorchInTheSameType) {
    constexpr std::int64_t n = 37;
    const auto in = publishedInputs(n);
    for (const double p : {0.0, 0.2}) {
        const auto keep = p > 0 ? masksOfFloat32(p, n) : torch::ones({1, 8, n, n});
        if (p > 0) {
            ASSERT_NEAR(keep.eq(0).to(torch::kDouble).mean().item<double>(), p, 0.02);
        }
        auto options = kPublished;
        options.dropout = p;
        const auto matrices = [&](const auto& x) {
            return plainly(x, options, keep.to(x.q.scalar_type()));
        };
        const auto kernels = [&](const auto& x) {
            EXPECT_EQ(chosenCuda(AttentionForm::Automatic, x, options), CudaKernels::Tensor);
            return cudaAttention(x, options, CudaKernels::Tensor);
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
                EXPECT_EQ(kernelCalls(), (KernelCalls{0, 0, 1, 1})) << what;
            }
    }
}

TEST_F(CudaTensorAttention, DropsWhatTheFloat32KernelsDrop) {
    expectSameDropout(torch::kCPU, 37);
}

// As q and k may be, after rotary positions.
TEST_F(CudaTensorAttention, TakesInputsOfSeveralTypesUnderAutocast) {
    auto in = publishedInputs(20);
    const torch::NoGradGuard guard;
    const CpuAutocast scope(torch::kBFloat16);
    for (auto& x : in) x = x.to(torch::kBFloat16);
    const auto narrow = cudaAttention(inputOf(in), kPublished, CudaKernels::Tensor);
    in[0] = in[0].to(torch::kFloat), in[1] = in[1].to(torch::kFloat),
    in[5] = in[5].to(torch::kFloat);
    ASSERT_EQ(servingCuda(inputOf(in), kPublished), CudaKernels::Tensor);
    EXPECT_TRUE(torch::equal(narrow, cudaAttention(inputOf(in), kPublished, CudaKernels::Tensor)));
    in[4] = in[4].to(torch::kDouble);
    EXPECT_EQ(servingCuda(inputOf(in), kPublished), CudaKernels::None);
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
        const auto run = [&](const auto& x) {
            return cudaAttention(x, kPublished, CudaKernels::Tensor);
        };
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
                EXPECT_EQ(kernelCalls(), (KernelCalls{0, 0, 1, 1})) << what;
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
    const auto serving = [](const Tensors& in, const KernelOptions& options = kPublished) {
        return chosenCuda(AttentionForm::Automatic, inputOf(in), options);
    };
    const auto bf16 = [](Tensors in) {
        for (auto& x : in) x = x.to(torch::kBFloat16);
        return in;
    };
    const auto published = bf16(publishedInputs(150));
    EXPECT_EQ(serving(published), CudaKernels::Tensor);
    // 32 wide.
    auto other = published;
    other[0] = other[0].slice(3, 0, 32), other[1] = other[1].slice(3, 0, 32);
    EXPECT_EQ(serving(other), CudaKernels::None) << "many tokens";
    EXPECT_EQ(chosenCuda(AttentionForm::Cuda, inputOf(other), kPublished), CudaKernels::Float32);
    auto activated = kPublished;
    activated.relActivation = "tanh";
    EXPECT_EQ(serving(other, activated), CudaKernels::None) << "many tokens, n x n relations too";
    auto dropping = kPublished;
    dropping.dropout = 0.1;
    EXPECT_EQ(serving(publishedInputs(150), dropping), CudaKernels::None) << "float32";
    EXPECT_EQ(serving(publishedInputs(128), dropping), CudaKernels::Float32);
    for (auto& x : other)
        if (x.dim() == 4) x = x.slice(2, 0, 37);
    EXPECT_EQ(serving(other), CudaKernels::Float32) << "few tokens";
    // Without relations LibTorch has one launch for it.
    const CudaAttentionInput sensory{other[0], other[1], other[2]};
    EXPECT_EQ(chosenCuda(AttentionForm::Automatic, sensory, kPublished), CudaKernels::None);
    // One query after cached keys fills no tile.
    auto decoding = published;
    decoding[0] = decoding[0].slice(2, 0, 1), decoding[3] = decoding[3].slice(2, 0, 1);
    EXPECT_EQ(serving(decoding), CudaKernels::None);
    // Types that differ, without autocast.
    auto mixed = published;
    mixed[1] = mixed[1].to(torch::kFloat);
    EXPECT_EQ(chosenCuda(AttentionForm::Cuda, inputOf(mixed), kPublished), CudaKernels::None);
}

TEST_F(CudaTensorAttention, WidensWhatTensorCoresDoNotServe) {
    constexpr std::int64_t n = 21;
    auto in = publishedInputs(n);
    in[3] = in[3].slice(1, 0, 48), in[4] = in[4].slice(1, 0, 48), in[5] = in[5].slice(2, 0, 48);
    const auto keep = torch::ones({1, 8, n, n});
    const auto matrices = [&](const auto& x) { return plainly(x, kPublished, keep); };
    const auto kernels = [&](const auto& x) {
        return cudaAttention(x, kPublished, chosenCuda(AttentionForm::Automatic, x, kPublished));
    };
    for (const bool autocast : {false, true}) {
        const auto type = torch::kBFloat16, given = autocast ? torch::kFloat : type;
        const auto truth = results(in, type, torch::kDouble, matrices);
        const CpuAutocast scope(autocast ? type : torch::kFloat);
        kernelCalls() = {};
        expectAsExact(truth, results(in, type, given, matrices), results(in, type, given, kernels),
                      type, autocast ? "widened_autocast" : "widened");
        EXPECT_EQ(kernelCalls(), (KernelCalls{1, 1}));
    }
}

// The published sizes of 1.27 billion parameters.
Tensors largerInputs(std::int64_t n) {
    torch::manual_seed(3);
    return {torch::randn({1, 16, n, 64}), torch::randn({1, 8, n, 64}),
            torch::randn({1, 8, n, 64}),  torch::randn({1, 128, n, 8}),
            torch::randn({1, 128, n, 8}), 0.1 * torch::randn({16, 64, 128})};
}

TEST_F(CudaTensorAttention, TrainsTheLargerModel) {
    constexpr std::int64_t n = 37;
    const auto keep = torch::ones({1, 16, n, n});
    const auto matrices = [&](const auto& x) { return plainly(x, kPublished, keep); };
    const auto kernels = [&](const auto& x) {
        return cudaAttention(x, kPublished, chosenCuda(AttentionForm::Automatic, x, kPublished));
    };
    const auto in = largerInputs(n);
    for (const auto type : kTypes)
        expectAsExact(results(in, type, torch::kDouble, matrices),
                      results(in, type, type, matrices), results(in, type, type, kernels), type,
                      std::string("larger_") + torch::toString(type));
    EXPECT_EQ(kernelCalls(), (KernelCalls{0, 0, 2, 2}));
}

// A device with room for the larger model's forward pass only.
TEST_F(CudaTensorAttention, NeedsTheKernelsOfBothPassesInTraining) {
    auto smaller = hostKernels();
    smaller.deviceLimits = [](int, kernels::DeviceLimits* limits) {
        *limits = {8, 0, 108, 150 * 1024};
        return 0;
    };
    const CpuKernelsScope scope(smaller);
    auto in = largerInputs(30);
    for (auto& x : in) x = x.to(torch::kBFloat16);
    EXPECT_EQ(servingCuda(inputOf(in), kPublished), CudaKernels::Tensor);
    auto dropping = kPublished;
    dropping.dropout = 0.1;
    EXPECT_NE(servingCuda(inputOf(in), dropping), CudaKernels::Tensor) << "recomputed with masks";
    in[4].requires_grad_(true);
    EXPECT_NE(servingCuda(inputOf(in), kPublished), CudaKernels::Tensor);
    const torch::NoGradGuard guard;
    EXPECT_EQ(servingCuda(inputOf(in), kPublished), CudaKernels::Tensor);
    const auto out = cudaAttention(inputOf(in), kPublished, CudaKernels::Tensor);
    for (auto& x : in) x = x.to(torch::kDouble);
    const auto truth = plainly(inputOf(in), kPublished, torch::ones({1, 16, 30, 30}));
    EXPECT_LT(errorsOf(out, truth).largest, 3 * 0x1p-9);
}

TEST(CudaTensorCheck, SwitchesOffWhatDisagrees) {
    const auto plain = publishedInputs(20);
    auto narrow = plain;
    for (auto& x : narrow) x = x.to(torch::kBFloat16);
    {
        const CpuKernelsScope scope(hostKernels(), {"", "they differ"});
        EXPECT_EQ(servingCuda(inputOf(plain), kPublished), CudaKernels::Float32);
        EXPECT_EQ(servingCuda(inputOf(narrow), kPublished), CudaKernels::Float32);
    }
    const CpuKernelsScope scope(hostKernels(), {"they differ", ""});
    EXPECT_EQ(servingCuda(inputOf(plain), kPublished), CudaKernels::None);
    EXPECT_EQ(servingCuda(inputOf(narrow), kPublished), CudaKernels::Tensor);
}

}  // namespace
}  // namespace relascope::core
