// SPDX-License-Identifier: GPL-3.0-or-later
// Every attention against its loop-written reference, against finite differences, and each form
// against the others, in double precision.
#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "model/attention/relational_attention.h"
#include "model/blocks/layers.h"
#include "model/model.h"
#include "support/reference.h"
#include "support/rooms.h"

namespace relascope {
namespace {

constexpr double kExact = 1e-12;

RelationalOptions small() {
    RelationalOptions o;
    o.d_model = 12, o.n_heads = 4, o.head_dim = 3;
    return o;
}

template <class Module>
std::shared_ptr<Module> inDouble(std::shared_ptr<Module> module) {
    module->to(torch::kDouble);
    module->eval();
    return module;
}

torch::Tensor randomInput(std::int64_t b, std::int64_t n, std::int64_t d) {
    return torch::randn({b, n, d}, torch::kDouble);
}

// The symbols of a relative library as the n x n x d tensor of the published code.
torch::Tensor spread(const Symbols& s, std::int64_t n = 6) {
    return s.values.index_select(0, offsetRows(n, s.maxOffset, torch::kCPU).flatten())
        .view({n, n, -1});
}

Symbols relativeSymbols(std::int64_t max, std::int64_t d) {
    return {torch::randn({2 * max + 1, d}, torch::kDouble), max};
}

void expectClose(const torch::Tensor& a, const torch::Tensor& b, double tolerance = kExact,
                 const std::string& what = "") {
    EXPECT_LT((a - b).abs().max().item<double>(), tolerance) << what;
}

// Analytic gradients of sum(f * weights) against central differences, for the input and every
// parameter.
void expectGradients(torch::nn::Module& module, torch::Tensor x,
                     const std::function<torch::Tensor(const torch::Tensor&)>& f) {
    x.requires_grad_(true);
    const auto weights = torch::randn_like(f(x)).detach();
    std::vector<torch::Tensor> leaves = {x};
    for (auto& p : module.parameters()) leaves.push_back(p);
    const auto gradients = torch::autograd::grad({(f(x) * weights).sum()}, leaves, {}, std::nullopt,
                                                 false, /*allow_unused=*/true);
    const torch::NoGradGuard noGrad;
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        if (!gradients[leaf].defined()) continue;
        auto flat = leaves[leaf].view(-1);
        for (std::int64_t at = 0; at < flat.size(0);
             at += std::max<std::int64_t>(1, flat.size(0) / 7)) {
            const double value = flat[at].item<double>(), h = 1e-5;
            flat[at] = value + h;
            const double above = (f(x) * weights).sum().item<double>();
            flat[at] = value - h;
            const double below = (f(x) * weights).sum().item<double>();
            flat[at] = value;
            EXPECT_NEAR(gradients[leaf].reshape(-1)[at].item<double>(), (above - below) / (2 * h),
                        2e-7)
                << "leaf " << leaf << " at " << at;
        }
    }
}

TEST(Attention, EqualsItsReference) {
    for (const int kv : {0, 1, 2})
        for (const int key : {0, 5})
            for (const bool causal : {false, true}) {
                HeadOptions o = small();
                o.n_kv_heads = kv, o.key_dim = key, o.causal = causal, o.add_bias_kv = kv == 2,
                o.add_bias_out = key == 5;
                auto module = inDouble(std::make_shared<AttentionImpl>(o));
                const auto x = randomInput(2, 7, 12);
                expectClose(module->forward(x, x, x)[1], reference::sensory(*module, o, x[1]));
            }
}

TEST(RelationalAttention, EqualsItsReferenceForEveryOption) {
    for (const char* activation :
         {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})
        for (const int variant : {0, 1, 2, 3}) {
            auto o = small();
            o.rel_activation = activation;
            o.symmetric_rels = variant % 2 == 1;
            o.n_kv_heads = variant == 1 ? 2 : variant == 2 ? 1 : 0;
            o.n_relations = variant == 2 ? 6 : variant == 3 ? 2 : 0;
            o.key_dim = variant == 3 ? 5 : 0;
            o.causal = variant == 2;
            auto module = inDouble(std::make_shared<RelationalAttentionImpl>(o));
            const auto x = randomInput(2, 6, 12), s = randomInput(2, 6, 12);
            expectClose(module->forward(x, {s})[1], reference::relational(*module, o, x[1], s[1]),
                        kExact, activation);
            expectClose(module->forward(x, {s[0]})[1],
                        reference::relational(*module, o, x[1], s[0]), kExact, "shared symbols");
            for (const int max : {2, 9}) {  // clamped offsets, and all offsets within the library
                const auto relative = relativeSymbols(max, 12);
                expectClose(module->forward(x, relative)[1],
                            reference::relational(*module, o, x[1], spread(relative)), kExact,
                            "relative symbols");
            }
        }
}

TEST(RelationalAttention, FormsAgreeInOutputsAndGradients) {
    for (const auto dtype : {torch::kDouble, torch::kFloat})
        for (const std::int64_t n : {1, 2, 16, 17, 65})
            for (const bool symmetric : {false, true}) {
                auto o = small();
                o.symmetric_rels = symmetric;
                o.n_relations = 2;
                o.n_kv_heads = 2;
                auto module = std::make_shared<RelationalAttentionImpl>(o);
                module->to(dtype);
                const auto x = torch::randn({2, n, 12}, dtype);
                const Symbols s{torch::randn({2, n, 12}, dtype)};
                std::vector<std::vector<torch::Tensor>> results;
                for (const auto form : {AttentionForm::Explicit, AttentionForm::Factored}) {
                    module->form = form;
                    auto input = x.detach().clone().requires_grad_(true);
                    const auto out = module->forward(input, s);
                    std::vector<torch::Tensor> leaves = module->parameters();
                    leaves.push_back(input);
                    auto all = torch::autograd::grad({out.sin().sum()}, leaves);
                    all.push_back(out);
                    results.push_back(std::move(all));
                }
                for (std::size_t i = 0; i < results[0].size(); ++i)
                    expectClose(
                        results[0][i], results[1][i],
                        dtype == torch::kDouble
                            ? kExact
                            : 1e-5 * std::max(1.0, results[0][i].abs().max().item<double>()));
            }
}

TEST(RelationalCrossAttention, EqualsItsReference) {
    for (const char* activation : {"softmax", "identity", "relu", "tanh", "sigmoid"})
        for (const int kv : {0, 2}) {
            auto o = small();
            o.rca_activation = activation, o.n_kv_heads = kv;
            auto module = inDouble(std::make_shared<RelationalCrossAttentionImpl>(o));
            const auto x = randomInput(2, 6, 12), s = randomInput(2, 6, 12);
            expectClose(module->forward(x, {s})[0], reference::cross(*module, o, x[0], s[0]));
            const auto relative = relativeSymbols(5, 12);
            expectClose(module->forward(x, relative)[0],
                        reference::cross(*module, o, x[0], spread(relative)));
        }
}

TEST(DisentangledCrossAttention, EqualsItsReference) {
    for (const char* activation : {"identity", "relu", "tanh"})
        for (const int kv : {0, 2}) {
            auto o = small();
            o.rel_activation = activation, o.n_kv_heads = kv;
            auto module = inDouble(std::make_shared<DisentangledCrossAttentionImpl>(o));
            const auto x = randomInput(2, 6, 12), s = randomInput(2, 6, 12);
            expectClose(module->forward(x, {s})[0],
                        reference::disentangled(*module, o, x[0], s[0]));
        }
}

TEST(Gradients, AgreeWithFiniteDifferences) {
    for (const char* activation : {"identity", "tanh", "softmax"}) {
        auto o = small();
        o.rel_activation = activation, o.n_kv_heads = 2, o.n_relations = 6;
        const auto symbols = relativeSymbols(6, 12);
        auto relational = inDouble(std::make_shared<RelationalAttentionImpl>(o));
        expectGradients(*relational, randomInput(2, 5, 12),
                        [&](const torch::Tensor& x) { return relational->forward(x, symbols); });
        auto cross = inDouble(std::make_shared<RelationalCrossAttentionImpl>(o));
        expectGradients(*cross, randomInput(2, 5, 12),
                        [&](const torch::Tensor& x) { return cross->forward(x, symbols); });
    }
    for (const char* symbols :
         {"positional_symbols", "position_relative", "symbolic_attention", "rel_sym_attn"})
        for (const bool normFirst : {true, false}) {
            ModelOptions m;
            m.set("image_shape", std::vector<std::int64_t>{1, 4, 4}),
                m.set("patch_size", std::vector<std::int64_t>{2, 2}), m.set("d_model", 8),
                m.set("dff", 6), m.set("n_heads_sa", 2), m.set("n_heads_ra", 2);
            m.set("n_layers", 1), m.set("symbol_retrieval", symbols), m.set("n_symbols", 3),
                m.set("symbol_heads", 2), m.set("rel_n_heads", 2);
            m.set("norm_first", normFirst), m.set("norm_type", normFirst ? "rmsnorm" : "layernorm"),
                m.set("rope", normFirst);
            auto model = inDouble(makeModel(m));
            expectGradients(*model, torch::rand({2, 1, 4, 4}, torch::kDouble),
                            [&](const torch::Tensor& x) { return model->forward(x); });
        }
}

TEST(Rotary, RotatesAdjacentPairsByPosition) {
    RotaryPositions rotary;  // its table grows, and a later start reads further down
    const auto x = torch::randn({1, 1, 4, 6}, torch::kDouble), y = rotary.rotate(x);
    EXPECT_LT((rotary.rotate(x.slice(2, 2), 2) - y.slice(2, 2)).abs().max().item<double>(), 1e-15);
    for (int position = 0; position < 4; ++position)
        for (int pair = 0; pair < 3; ++pair) {
            const double angle = position * std::pow(10000.0, -2.0 * pair / 6),
                         a = x[0][0][position][2 * pair].item<double>(),
                         b = x[0][0][position][2 * pair + 1].item<double>();
            EXPECT_NEAR(y[0][0][position][2 * pair].item<double>(),
                        a * std::cos(angle) - b * std::sin(angle), 1e-6);
            EXPECT_NEAR(y[0][0][position][2 * pair + 1].item<double>(),
                        a * std::sin(angle) + b * std::cos(angle), 1e-6);
        }
}

TEST(Symbols, NeighbourhoodIsClampedAndOrdered) {
    ModelOptions m;
    m.set("d_model", 8), m.set("rel_n_heads", 2), m.set("nbhd_delta", 2), m.set("symbol_heads", 2),
        m.set("n_symbols", 5);
    for (const bool causal : {true, false})
        for (const bool self : {true, false}) {
            m.set("causal_nbhd", causal), m.set("include_self", self),
                m.set("normalize_rels", self);
            auto module = inDouble(
                std::make_shared<RelationalSymbolicAttentionImpl>(m.get<SymbolOptions>(), 8));
            const auto x = randomInput(1, 4, 8);
            const torch::NoGradGuard noGrad;
            const auto q = module->q_proj(x)[0], k = module->k_proj(x)[0];
            std::vector<int> offsets;
            if (causal)
                for (int back = self ? 0 : 1; back <= 2; ++back) offsets.push_back(-back);
            else
                for (int o = -2; o <= 2; ++o)
                    if (o != 0 || self) offsets.push_back(o);
            auto local =
                torch::zeros({4, static_cast<std::int64_t>(offsets.size()) * 2}, torch::kDouble);
            for (int i = 0; i < 4; ++i)
                for (int h = 0; h < 2; ++h) {
                    std::vector<double> r;
                    double sum = 0;
                    for (const int offset : offsets) {
                        const int j = std::clamp(i + offset, 0, 3);
                        double inner = 0;
                        for (int d = 0; d < 4; ++d)
                            inner +=
                                q[i][h * 4 + d].item<double>() * k[j][h * 4 + d].item<double>();
                        r.push_back(self ? std::exp(inner / 2.0) : inner);  // scale 1 / sqrt(8 / 2)
                        sum += r.back();
                    }
                    for (std::size_t at = 0; at < r.size(); ++at)
                        local[i][static_cast<std::int64_t>(at) * 2 + h] =
                            self ? r[at] / sum : r[at];
                }
            const auto expected = module->symbolic_attention
                                      ->retrieve(module->model_dim_proj(local.unsqueeze(0)), 0, "")
                                      .values;
            expectClose(module->retrieve(x, 0, "").values, expected);
        }
}

TEST(Dropout, KeepsTheMeanAndRepeatsItsMaskBackwards) {
    torch::manual_seed(5);
    for (const double p : {0.1, 0.5}) {
        auto x = torch::ones({200000}, torch::kFloat).requires_grad_(true);
        const auto y = dropout(x, p);
        EXPECT_NEAR(y.mean().item<double>(), 1.0, 0.01);
        EXPECT_NEAR(y.eq(0).to(torch::kFloat).mean().item<double>(), p, 0.005);
        y.sum().backward();
        EXPECT_TRUE(torch::equal(x.grad(), y.detach()))
            << "the gradient passes exactly where the value did";
        // Neighbours are independent.
        const auto kept = y.detach().ne(0).to(torch::kFloat) - (1 - p);
        EXPECT_LT(std::abs((kept.slice(0, 1) * kept.slice(0, 0, -1)).mean().item<double>()), 0.005);
    }
    torch::manual_seed(5);
    const auto first = dropout(torch::ones({1000}), 0.3),
               second = dropout(torch::ones({1000}), 0.3);
    torch::manual_seed(5);
    EXPECT_TRUE(torch::equal(first, dropout(torch::ones({1000}), 0.3)));
    EXPECT_FALSE(torch::equal(first, second));
    EXPECT_EQ(twiceDropped(0.1), 1 - 0.9 * 0.9);
    auto module = Dropout(0.5);
    module->eval();
    EXPECT_TRUE(torch::equal(module(torch::ones({10})), torch::ones({10})));
}

TEST(Recording, DoesNotChangeTheResult) {
    struct Nothing : Recorder {
        void scores(const std::string&, const torch::Tensor&) override { ++seen; }
        void relations(const std::string&, const torch::Tensor&) override { ++seen; }
        void symbols(const std::string&, int, const torch::Tensor&) override { ++seen; }
        void hidden(const std::string&, const torch::Tensor&) override { ++seen; }
        int seen = 0;
    };
    for (const char* type : {"relational_attention", "rca", "disrca"}) {
        ModelOptions m;
        m.set("image_shape", std::vector<std::int64_t>{3, 32, 32}),
            m.set("patch_size", std::vector<std::int64_t>{4, 4}), m.set("d_model", 32),
            m.set("n_heads_sa", 2), m.set("n_heads_ra", 2), m.set("ra_type", type),
            m.set("dropout_rate", 0);
        auto model = makeModel(m);
        model->eval();
        const auto images = torch::rand({2, 3, 32, 32});
        const auto plain = model->forward(images);
        Nothing recorder;
        torch::Tensor recorded;
        {
            const RecordingScope scope(recorder);
            recorded = model->forward(images);
        }
        // The fused kernel gives way to whole matrices: equal up to rounding.
        EXPECT_LT((plain - recorded).abs().max().item<double>(), 1e-6) << type;
        EXPECT_GE(recorder.seen, 8) << type;
        EXPECT_EQ(activeRecorder(), nullptr);
    }
}

TEST(Initialisation, IsPyTorchs) {
    torch::manual_seed(1);
    ModelOptions m;
    m.set("image_shape", std::vector<std::int64_t>{3, 64, 64}),
        m.set("patch_size", std::vector<std::int64_t>{16, 16}), m.set("d_model", 256),
        m.set("n_heads_sa", 4), m.set("n_heads_ra", 4), m.set("n_layers", 1);
    auto model = makeModel(m);
    const auto spread = [](const torch::Tensor& t) {
        return std::pair{t.abs().max().item<double>(), t.std().item<double>()};
    };
    for (const auto& entry : stateOf(*model)) {
        if (entry.name == "pos_embedding" ||
            entry.name == "symbol_retriever.symbol_library.weight") {
            EXPECT_NEAR(spread(entry.tensor).second, 1.0, 0.05) << entry.name;
        } else if (entry.name.find("dual_attn") != std::string::npos &&
                   entry.name.find("weight") != std::string::npos) {
            const double bound = 1 / std::sqrt(static_cast<double>(entry.tensor.size(1)));
            EXPECT_LE(spread(entry.tensor).first, bound) << entry.name;
            EXPECT_NEAR(spread(entry.tensor).second, bound / std::sqrt(3.0), 0.03 * bound)
                << entry.name;
        } else if (entry.name.find(".wr") != std::string::npos) {
            const double bound = 1 / std::sqrt(32.0 * 4.0);  // U(-+1/sqrt(d_h d_r))
            EXPECT_LE(spread(entry.tensor).first, bound);
            EXPECT_NEAR(spread(entry.tensor).second, bound / std::sqrt(3.0), 0.1 * bound);
        }
    }
}

}  // namespace
}  // namespace relascope
