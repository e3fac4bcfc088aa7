// SPDX-License-Identifier: GPL-3.0-or-later
// Every form of attention against the plain one, outputs and gradients (performance.md section 1);
// the plain one is held to loops in attention_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "model/attention/chunked_attention.h"

#include <torch/utils.h>

#include "model/attention/relational_attention.h"
#include "model/model.h"
#include "support/form_results.h"
#include "support/model_fields.h"
#include "support/relational_cases.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

// Equal up to 1e-12 of the largest number in double, 1e-5 in float.
void expectEqual(const Tensors& a, const Tensors& b, const std::string& what) {
    expectNear(a, b, a.back().scalar_type() == torch::kDouble ? 1e-12 : 1e-5, what);
}

void expectForms(const RelationalOptions& o, std::int64_t n, const SymbolKind& kind, double dropout,
                 torch::ScalarType type, const std::vector<AttentionForm>& forms,
                 const std::string& ra_type = "relational_attention") {
    auto options = o;
    options.dropout = dropout, options.output_dropout = 0.0;
    torch::manual_seed(3);
    auto module = makeRelationalHeads(ra_type, options);
    module->to(type);
    const auto x = torch::randn({2, n, 12}, type);
    const auto s = randomSymbols(kind, 2, n, 12, type);
    const auto forward = [&](const Tensors& in) {
        return module->forward(in[0], symbolsOf(kind, in[1]));
    };
    module->form = AttentionForm::Explicit;
    const auto plain = resultsOf(*module, {x, s}, forward);
    for (const auto form : forms) {
        module->form = form;
        expectEqual(plain, resultsOf(*module, {x, s}, forward),
                    std::string(attentionFormName(form)) + " " + ra_type + " " +
                        describe(options, n, kind));
    }
}

const std::vector<AttentionForm> kAll = {AttentionForm::Factored, AttentionForm::Chunked,
                                         AttentionForm::Fused};
const std::vector<AttentionForm> kBlocks = {AttentionForm::Chunked};

TEST(Forms, AgreeForEveryLengthAndSymbol) {
    for (const auto type : {torch::kDouble, torch::kFloat})
        for (const std::int64_t n : {1, 2, 63, 64, 65, 128, 129, 300})
            for (const bool causal : {false, true})
                for (const auto& kind : kSymbolKinds) {
                    if (n == 300 && type == torch::kFloat && !causal) continue;
                    auto o = smallHeads();
                    o.causal = causal;
                    o.rope = o.causal, o.key_dim = o.rope ? 4 : 0;
                    expectForms(o, n, kind, 0.0, type, kAll);
                }
}

TEST(Forms, AgreeForGroupedKeysSymmetryAndDropout) {
    for (const bool causal : {false, true})
        for (const int kv : {0, 1, 2})
            for (const bool symmetric : {false, true})
                for (const double dropout : {0.0, 0.3})
                    for (const auto& kind : kSymbolKinds) {
                        auto o = smallHeads();
                        o.causal = causal, o.n_kv_heads = kv, o.symmetric_rels = symmetric;
                        // The masks are those of the whole matrix, whatever the form; the fused one
                        // gives way to the factored when there is dropout.
                        expectForms(o, 150, kind, dropout, torch::kDouble, kAll);
                    }
}

TEST(Forms, AgreeForProjectionsOfAnyWidth) {
    for (const int width : {1, 5, 12})  // 6 relations beside a relational width of 12
        for (const bool causal : {false, true})
            for (const bool symmetric : {false, true}) {
                auto o = smallHeads();
                o.rel_proj_dim = width, o.causal = causal, o.symmetric_rels = symmetric;
                expectForms(o, 150, kSymbolKinds[0], 0.0, torch::kDouble, kAll);
            }
}

TEST(Forms, AgreeForEveryActivation) {
    for (const char* activation :
         {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})
        for (const bool causal : {false, true})
            for (const double dropout : {0.0, 0.3})
                for (const auto& kind : {kSymbolKinds[0], kSymbolKinds[2]}) {
                    auto o = smallHeads();
                    o.rel_activation = o.rca_activation = activation;
                    o.causal = causal;
                    expectForms(o, 140, kind, dropout, torch::kDouble, kBlocks);
                    o.n_relations = 0, o.n_kv_heads = 2;
                    expectForms(o, 140, kind, dropout, torch::kDouble, kBlocks, "disrca");
                    if (activation != std::string("gelu") && activation != std::string("silu"))
                        expectForms(o, 140, kind, dropout, torch::kDouble, kBlocks, "rca");
                }
}

TEST(Forms, AgreeAtAThousandTokens) {
    auto o = smallHeads();
    o.causal = true;
    for (const auto type : {torch::kDouble, torch::kFloat})
        expectForms(o, 1024, kSymbolKinds[0], 0.0, type, kAll);
    expectForms(o, 1024, kSymbolKinds[2], 0.2, torch::kDouble, kBlocks);
    o.rel_activation = "tanh";
    expectForms(o, 1024, kSymbolKinds[0], 0.0, torch::kDouble, kBlocks);
}

TEST(Forms, OfSensoryAttentionAgree) {
    for (const auto type : {torch::kDouble, torch::kFloat})
        for (const std::int64_t n : {1, 2, 63, 64, 65, 128, 129, 1024})
            for (const bool causal : {false, true})
                for (const int kv : {0, 2})
                    for (const double dropout : {0.0, 0.3}) {
                        HeadOptions o;
                        o.d_model = 12, o.n_heads = 4, o.head_dim = 3, o.n_kv_heads = kv;
                        o.causal = causal, o.dropout = dropout, o.output_dropout = 0.0;
                        if (n == 1024 && type == torch::kDouble && !causal) continue;
                        torch::manual_seed(3);
                        Attention module(o);
                        module->to(type);
                        const auto x = torch::randn({2, n, 12}, type);
                        const auto forward = [&](const Tensors& in) {
                            return module->forward(in[0], in[0], in[0]);
                        };
                        module->form = AttentionForm::Explicit;
                        const auto plain = resultsOf(*module, {x}, forward);
                        for (const auto form : {AttentionForm::Chunked, AttentionForm::Fused,
                                                AttentionForm::Automatic}) {
                            module->form = form;
                            expectEqual(plain, resultsOf(*module, {x}, forward),
                                        std::string(attentionFormName(form)) + " n " +
                                            std::to_string(n) + " dropout " +
                                            std::to_string(dropout));
                        }
                    }
}

TEST(Forms, SeeNoLaterToken) {
    for (const auto form : {AttentionForm::Explicit, AttentionForm::Factored,
                            AttentionForm::Chunked, AttentionForm::Fused}) {
        auto o = smallHeads();
        o.causal = true;
        RelationalAttentionImpl module(o);
        module.to(torch::kDouble);
        module.form = form;
        auto x = torch::randn({1, 200, 12}, torch::kDouble);
        const auto s = torch::randn({1, 200, 12}, torch::kDouble);
        const auto before = module.forward(x, {s});
        auto changed = s.clone();
        x = x.clone();
        x.slice(1, 140).normal_();
        changed.slice(1, 140).normal_();
        const auto after = module.forward(x, {changed});
        EXPECT_LT((before - after).slice(1, 0, 140).abs().max().item<double>(), 1e-13)
            << attentionFormName(form);
        EXPECT_GT((before - after).slice(1, 140).abs().max().item<double>(), 1e-3);
    }
}

TEST(Forms, ThePlainKernelThatKeepsAllScoresIsNeverTakenForLongTexts) {
    HeadOptions o;
    o.d_model = 64, o.n_heads = 4, o.head_dim = 16, o.causal = true;
    const auto q = torch::randn({1, 4, 600, 16}), k = torch::randn({1, 2, 600, 16});
    EXPECT_TRUE(hasFusedKernel(q, k, k, o));
    // Values wider than the keys have no kernel on the CPU: pieces of the keys' width do.
    EXPECT_FALSE(hasFusedKernel(q, k, torch::randn({1, 2, 600, 80}), o));
    auto r = smallHeads();
    EXPECT_EQ(RelationalAttentionImpl(r).chosenForm(2048, torch::kCPU), AttentionForm::Chunked);
    r.rel_activation = "tanh";
    EXPECT_EQ(RelationalAttentionImpl(r).chosenForm(2048, torch::kCPU), AttentionForm::Chunked);
    r.rel_activation = "softmax";
    EXPECT_EQ(RelationalAttentionImpl(r).chosenForm(9, torch::kCPU), AttentionForm::Explicit);
}

TEST(RecomputedActivations, GiveTheSameGradientsWithDropout) {
    for (const auto& [name, options] : smallModels()) {
        if (options.input() != InputKind::Tokens && !options.info().classToken) continue;
        auto o = options;
        if (o.has("dropout_rate")) o.set("dropout_rate", 0.2);
        torch::manual_seed(5);
        auto model = makeModel(o);
        model->train();
        const auto batch = smallBatch(o, 2);
        std::vector<Tensors> results;
        for (const bool recompute : {false, true}) {
            model->checkpointsActivations = recompute;
            for (auto& p : model->parameters()) p.mutable_grad() = torch::Tensor();
            torch::manual_seed(9);
            const auto out = model->forward(batch);
            (out * out.detach().cos()).sum().backward();
            Tensors all = {out.detach(), torch::rand({3})};  // the generator stands the same
            for (const auto& p : model->parameters()) all.push_back(p.grad());
            results.push_back(std::move(all));
        }
        expectEqual(results[0], results[1], name);
    }
}

}  // namespace
}  // namespace relascope
