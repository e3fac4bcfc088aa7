// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU kernels of tiled attention, for every vector width that this processor has, against the
// plain form in double precision: outputs, every gradient, and the dropout masks.
#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <torch/utils.h>
#include "model/attention/relational_attention.h"
#include "model/attention/tiled_attention.h"
#include "model/blocks/recording.h"
#include "support/form_results.h"
#include "support/relational_cases.h"

namespace relascope::core {
namespace {

std::vector<VectorLevel> levels() {
    std::vector<VectorLevel> all = {VectorLevel::Plain};
    if (bestVectorLevel() >= VectorLevel::Avx2) all.push_back(VectorLevel::Avx2);
    if (bestVectorLevel() >= VectorLevel::Avx512) all.push_back(VectorLevel::Avx512);
    return all;
}

// The tiled form of every level in float32 against the explicit one in double precision.
template <class Module, class Forward>
void expectTilesAgree(Module& module, const Tensors& inputs, const Forward& forward,
                      const std::string& what) {
    const auto plain = explicitResultsOf(module, inputs, forward);
    const auto next = torch::rand({3});
    module.form = AttentionForm::Tiled;
    for (const auto level : levels()) {
        const VectorLevelScope scope(level);
        expectNear(plain, resultsOf(module, inputs, forward), 1e-5,
                   what + ", level " + std::to_string(static_cast<int>(level)));
        EXPECT_TRUE(torch::equal(torch::rand({3}), next)) << "the generator stands elsewhere";
    }
}

void expectRelational(RelationalOptions o, std::int64_t n, const SymbolKind& kind) {
    o.output_dropout = 0.0;
    torch::manual_seed(3);
    RelationalAttentionImpl module(o);
    const auto x = torch::randn({3, n, o.d_model}), s = randomSymbols(kind, 3, n, o.d_model);
    const auto forward = [&](const Tensors& in) {
        return module.forward(in[0], symbolsOf(kind, in[1]));
    };
    expectTilesAgree(module, {x, s}, forward, describe(o, n, kind));
}

TEST(TiledAttention, AgreesForEveryLengthAndSymbol) {
    for (const std::int64_t n : {2, 9, 16, 17, 65, 161, 300})
        for (const bool causal : {false, true})
            for (const auto& kind : kSymbolKinds) {
                auto o = smallHeads();
                o.causal = causal;
                o.rope = o.causal, o.key_dim = o.rope ? 4 : 0;
                expectRelational(o, n, kind);
            }
}

TEST(TiledAttention, AgreesForGroupedKeysSymmetryAndDropout) {
    for (const bool causal : {false, true})
        for (const int kv : {0, 1, 2})
            for (const bool symmetric : {false, true})
                for (const double dropout : {0.0, 0.3})
                    for (const auto& kind : kSymbolKinds) {
                        auto o = smallHeads();
                        o.causal = causal, o.n_kv_heads = kv, o.symmetric_rels = symmetric;
                        o.dropout = dropout;
                        expectRelational(o, 50, kind);
                    }
}

TEST(TiledAttention, AgreesForPublishedWidths) {
    for (const auto& [n, d, heads, relations] : std::vector<std::array<std::int64_t, 4>>{
             {10, 128, 1, 1}, {65, 384, 6, 6}, {40, 64, 4, 4}, {33, 256, 4, 32}, {20, 96, 3, 48}}) {
        auto o = smallHeads();
        o.d_model = d, o.n_heads = heads, o.head_dim = d / heads / 2, o.n_relations = relations;
        o.dropout = 0.1;
        expectRelational(o, n, kSymbolKinds[2]);
    }
}

TEST(TiledAttention, AgreesForEveryActivation) {
    for (const char* activation : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu"})
        for (const double dropout : {0.0, 0.3})
            for (const auto& kind : {kSymbolKinds[0], kSymbolKinds[2]}) {
                auto o = smallHeads();
                o.rel_activation = activation, o.dropout = dropout;
                expectRelational(o, 40, kind);
            }
}

TEST(TiledAttention, AgreesForSensoryAndCrossAttention) {
    for (const auto& [n, m] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {2, 2}, {10, 10}, {31, 161}, {161, 31}, {65, 65}})
        for (const bool causal : {false, true})
            for (const int kv : {0, 2})
                for (const double dropout : {0.0, 0.3}) {
                    if (causal && n != m) continue;
                    HeadOptions o;
                    o.d_model = 24, o.n_heads = 4, o.head_dim = 6, o.n_kv_heads = kv;
                    o.causal = causal, o.dropout = dropout, o.output_dropout = 0.0;
                    torch::manual_seed(3);
                    AttentionImpl module(o);
                    const auto x = torch::randn({3, n, 24}), context = torch::randn({3, m, 24});
                    const bool self = n == m;
                    const auto forward = [&](const Tensors& in) {
                        const auto& from = self ? in[0] : in[1];
                        return module.forward(in[0], from, from) + 0.0 * in[1].sum();
                    };
                    expectTilesAgree(module, {x, context}, forward,
                                     "n " + std::to_string(n) + " m " + std::to_string(m));
                }
}

TEST(TiledAttention, ServesShortFloatSequencesOnTheCpu) {
    const auto q = torch::randn({2, 4, 9, 8});
    EXPECT_TRUE(servesTiles(q, q, true));
    EXPECT_FALSE(servesTiles(q.to(torch::kDouble), q.to(torch::kDouble), false));
    EXPECT_FALSE(servesTiles(q, torch::randn({2, 4, 10, 8}), true));
    EXPECT_TRUE(prefersTiles(9, 1));
    EXPECT_FALSE(prefersTiles(1, 512));
    EXPECT_FALSE(prefersTiles(kMostTiledTokens + 1, 512));
    EXPECT_TRUE(prefersTiles(kMostTiledTokens, at::get_num_threads()));
    EXPECT_FALSE(prefersTiles(kMostTiledTokens, at::get_num_threads() - 1));
    auto o = smallHeads();
    EXPECT_EQ(RelationalAttentionImpl(o).chosenForm(9, torch::kCPU), AttentionForm::Tiled);
    o.rel_activation = "softmax";  // over all keys, also hidden ones
    EXPECT_EQ(RelationalAttentionImpl(o).chosenForm(9, torch::kCPU), AttentionForm::Explicit);
}

}  // namespace
}  // namespace relascope::core
