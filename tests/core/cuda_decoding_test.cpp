// SPDX-License-Identifier: GPL-3.0-or-later
// Language models token by token with the CUDA kernels for decoding, here compiled for the CPU,
// against the whole text at once.
#include "model/attention/cuda_attention.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include "model/architecture.h"
#include "model/blocks/parameters.h"
#include "model/decode/cache.h"
#include "model/decode/generate.h"
#include "model/language/language_options.h"
#include "model/model.h"
#include "support/host_kernels.h"
#include "support/relational_cases.h"
#include "support/zoo.h"

namespace relascope::core {
namespace {

int s_decoded = 0;
const kernels::KernelTable& decodingKernels() {
    static const auto table = [] {
        auto counting = compiledKernels();
        counting.decode = [](const kernels::DecodeArgs* args, void* stream) {
            return ++s_decoded, compiledKernels().decode(args, stream);
        };
        return counting;
    }();
    return table;
}

// The logits of each token: those of the first `prompt` tokens at once, then one by one.
torch::Tensor tokenByToken(ModelImpl& model, const torch::Tensor& tokens, std::int64_t prompt) {
    const c10::InferenceMode inference;
    const CpuKernelsScope kernels(decodingKernels());
    DecodingCache cache(tokens.size(1));
    const CacheScope scope(cache);
    std::vector<torch::Tensor> logits;
    for (std::int64_t at = 0; at < tokens.size(1);) {
        const std::int64_t end = at == 0 ? prompt : at + 1;
        logits.push_back(model.forward(tokens.slice(1, at, end)));
        at = end;
    }
    return torch::cat(logits, 1);
}

std::vector<std::pair<std::string, ModelOptions>> decodedModels() {
    auto all = smallModels();
    std::erase_if(all, [](const auto& model) {
        const auto& o = model.second;
        const auto* symbols = o.template find<SymbolOptions>();
        return o.input() != InputKind::Tokens || o.info().name.find("LM") == std::string::npos ||
               (o.info().dual && !o.has("n_relations")) ||  // Hadamard relations
               !canCache(o) || (symbols && symbols->symbol_retrieval == "rel_sym_attn");
    });
    return all;
}

TEST(CudaDecoding, AgreesWithTheWholeTextForEveryLanguageModel) {
    const auto models = decodedModels();
    EXPECT_GE(models.size(), 8u);
    for (const auto& [name, options] : models) {
        for (const std::int64_t prompt : {1, 3}) {
            torch::manual_seed(3);
            const auto model = makeModel(options);
            model->eval();
            const auto tokens = torch::randint(0, options.outputs(), {2, options.tokens()});
            torch::Tensor whole;
            {
                const torch::NoGradGuard guard;
                for (auto& parameter : model->parameters())
                    parameter.add_(torch::randn_like(parameter) * 0.2);
                whole = model->forward(tokens);
            }
            s_decoded = 0;
            const auto found = tokenByToken(*model, tokens, prompt);
            const std::int64_t n = tokens.size(1);
            const double size = std::max(1.0, whole.abs().max().item<double>());
            EXPECT_LT((found - whole.slice(1, prompt - 1)).abs().max().item<double>(), 1e-5 * size)
                << name << " after " << prompt;
            // Each kind of heads in each layer and step; a prompt of one token is a step as well.
            const auto* block = options.find<BlockOptions>();
            const bool relational = options.info().dual && block->n_heads_ra > 0 &&
                                    block->ra_type != "disrca" &&
                                    (block->ra_type != "rca" || block->rca_activation == "softmax");
            const auto layers = std::get<std::int64_t>(options.value("n_layers"));
            const std::int64_t steps = prompt == 1 ? n : n - prompt;
            // The kernel has neither norms of queries nor windows.
            const auto* later = options.find<LaterOptions>();
            const bool serves = !later || (later->qk_norm == "none" && later->sliding_window == 0);
            EXPECT_EQ(s_decoded, serves ? steps * layers * (1 + relational) : 0) << name;
        }
    }
}

// bfloat16 weights leave what is between the layers in float32.
TEST(CudaDecoding, ServesModelsWithNarrowWeights) {
    const auto options = decodedModels().back().second;
    torch::manual_seed(3);
    const auto model = makeModel(options);
    model->eval();
    castToBFloat16(*model);
    const auto tokens = torch::randint(0, options.outputs(), {1, options.tokens()});
    torch::Tensor whole;
    {
        const torch::NoGradGuard guard;
        whole = model->forward(tokens);
    }
    s_decoded = 0;
    const auto found = tokenByToken(*model, tokens, 2);
    EXPECT_GT(s_decoded, 0);
    EXPECT_LT((found - whole.slice(1, 1)).abs().max().item<double>(),
              0.02 * whole.abs().max().item<double>());
}

// Heads whose tensors all are bfloat16, against the plain form of the same numbers in float32.
TEST(CudaDecoding, ServesBFloat16) {
    for (const auto& kind : {kSymbolKinds[0], kSymbolKinds[2]}) {
        auto o = smallHeads();
        o.causal = o.rope = true, o.key_dim = 4, o.n_kv_heads = 2;
        torch::manual_seed(3);
        RelationalAttentionImpl module(o);
        const torch::NoGradGuard guard;
        const auto x = torch::randn({2, 9, 12}).to(torch::kBFloat16),
                   s = randomSymbols(kind, 2, 9, 12).to(torch::kBFloat16);
        module.to(torch::kBFloat16);
        module.to(torch::kFloat);
        const auto whole =
            module.forward(x.to(torch::kFloat), symbolsOf(kind, s.to(torch::kFloat)));
        module.to(torch::kBFloat16);
        const CpuKernelsScope kernels(decodingKernels());
        DecodingCache cache(9);
        const CacheScope scope(cache);
        s_decoded = 0;
        for (int past = 0; past < 9; ++past) {
            const auto own = kind.maxOffset >= 0 ? s : s.slice(1, past, past + 1);
            const auto part = module.forward(x.slice(1, past, past + 1), symbolsOf(kind, own));
            EXPECT_EQ(part.scalar_type(), torch::kBFloat16);
            EXPECT_LT((part - whole.slice(1, past, past + 1)).abs().max().item<double>(),
                      0.03 * whole.abs().max().item<double>())
                << kind.name << " after " << past;
            cache.advance(1);
        }
        EXPECT_EQ(s_decoded, 9);
    }
}

TEST(CudaDecoding, IsNotUsedForTrainingOrRecording) {
    const auto models = decodedModels();
    const auto model = makeModel(models.front().second);
    model->eval();
    const CpuKernelsScope kernels(decodingKernels());
    DecodingCache cache(4);
    const CacheScope scope(cache);
    const auto token = torch::zeros({1, 1}, torch::kLong);
    s_decoded = 0;
    model->forward(token);  // with gradients
    EXPECT_EQ(s_decoded, 0);
    const torch::NoGradGuard guard;
    model->forward(token);
    EXPECT_GT(s_decoded, 0);
}

// A cache tells the device how long it is, by the same tensor for ever.
TEST(DecodingCachePast, IsKeptOnADevice) {
    DecodingCache cache(9);
    cache.advance(3);
    const auto past = cache.pastOn(torch::kCPU);
    EXPECT_EQ(past.item<std::int64_t>(), 3);
    const auto table = torch::arange(18).view({9, 2});
    EXPECT_TRUE(torch::equal(cache.tokenRows(table, 1), table.slice(0, 3, 4)));
    {
        const c10::InferenceMode inference;
        cache.advance(1);
    }
    EXPECT_EQ(past.item<std::int64_t>(), 4);
    EXPECT_TRUE(torch::equal(cache.tokenRows(table, 1), table.slice(0, 4, 5)));
    EXPECT_TRUE(torch::equal(cache.tokenRows(table, 2), table.slice(0, 4, 6)));
    cache.clear();
    EXPECT_EQ(past.item<std::int64_t>(), 0);
    EXPECT_EQ(past.const_data_ptr(), cache.pastOn(torch::kCPU).const_data_ptr());
}

}  // namespace
}  // namespace relascope::core
