// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor's family cell by cell against loops in double precision, and how it starts.
#include <gtest/gtest.h>

#include <cmath>

#include "model/abstractor/abstractor.h"

#include <torch/utils.h>

#include "model/abstractor/message_passing.h"
#include "model/attention/positions.h"
#include "model/baselines/relational_baselines.h"
#include "model/blocks/parameters.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix rowsOf(const torch::Tensor& t) {
    const auto d = t.to(torch::kDouble).contiguous();
    Matrix m(static_cast<std::size_t>(d.size(0)),
             std::vector<double>(static_cast<std::size_t>(d.size(1))));
    for (std::size_t i = 0; i < m.size(); ++i)
        for (std::size_t j = 0; j < m[i].size(); ++j)
            m[i][j] = d[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)].item<double>();
    return m;
}

Matrix project(const Matrix& x, const Linear& linear) {
    const auto w = rowsOf(linear->weight.detach());
    Matrix out(x.size(), std::vector<double>(w.size(), 0.0));
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t o = 0; o < w.size(); ++o) {
            out[i][o] = linear->bias.defined()
                            ? linear->bias[static_cast<std::int64_t>(o)].item<double>()
                            : 0.0;
            for (std::size_t k = 0; k < x[i].size(); ++k) out[i][o] += x[i][k] * w[o][k];
        }
    return out;
}

double sigma(const std::string& name, double x) {
    if (name == "relu") return x > 0 ? x : 0;
    if (name == "tanh") return std::tanh(x);
    if (name == "sigmoid") return 1 / (1 + std::exp(-x));
    return x;
}

// concat_h( sigma(<wq_h q_i, wk_h k_j> scale) (wv_h (v_j + s_ij)) ) wo, one cell after another.
Matrix attention(AbstractorAttentionImpl& m, const AbstractorHeads& o, const Matrix& query,
                 const Matrix& key, const Matrix& value,
                 const std::function<std::vector<double>(std::size_t, std::size_t)>& symbol = {}) {
    const auto q = project(query, m.wq), k = project(key, m.wk);
    const auto h = static_cast<std::size_t>(o.n_heads), w = static_cast<std::size_t>(o.key_dim);
    Matrix joined(query.size(), std::vector<double>(h * w, 0.0));
    for (std::size_t i = 0; i < query.size(); ++i)
        for (std::size_t head = 0; head < h; ++head) {
            std::vector<double> alpha(key.size(), 0.0);
            double sum = 0;
            for (std::size_t j = 0; j < key.size(); ++j) {
                const bool hidden = (o.causal && j > i) || (o.mask_diagonal && j == i);
                double inner = 0;
                for (std::size_t c = 0; c < w; ++c)
                    inner += q[i][head * w + c] * k[j][head * w + c];
                if (o.scaled) inner /= std::sqrt(static_cast<double>(w));
                if (!hidden)
                    alpha[j] =
                        o.activation == "softmax" ? std::exp(inner) : sigma(o.activation, inner);
                sum += alpha[j];
            }
            for (std::size_t j = 0; j < key.size(); ++j) {
                if (o.activation == "softmax" && sum > 0) alpha[j] /= sum;
                auto v = value[j];
                if (symbol) {
                    const auto s = symbol(i, j);
                    for (std::size_t c = 0; c < v.size(); ++c) v[c] += s[c];
                }
                const auto projected = project({v}, m.wv)[0];
                for (std::size_t c = 0; c < w; ++c)
                    joined[i][head * w + c] += alpha[j] * projected[head * w + c];
            }
        }
    return project(joined, m.wo);
}

void expectSame(const torch::Tensor& ours, const Matrix& theirs, const std::string& what) {
    for (std::size_t i = 0; i < theirs.size(); ++i)
        for (std::size_t c = 0; c < theirs[i].size(); ++c)
            EXPECT_NEAR(
                ours[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(c)].item<double>(),
                theirs[i][c], 1e-12)
                << what << " " << i << " " << c;
}

TEST(AbstractorAttention, EqualsItsLoopForEveryOption) {
    torch::manual_seed(5);
    const torch::NoGradGuard noGrad;
    for (const char* activation : {"softmax", "relu", "tanh", "sigmoid", "identity"})
        for (int bits = 0; bits < 16; ++bits) {
            AbstractorHeads o{6, 2, 3};
            o.activation = activation;
            o.scaled = bits & 1, o.causal = bits & 2, o.mask_diagonal = bits & 4,
            o.symmetric = bits & 8;
            AbstractorAttention m(o);
            m->to(torch::kDouble);
            m->eval();
            const auto x = torch::randn({1, 5, 6}, torch::kDouble), a = torch::randn_like(x);
            const std::string what = std::string(activation) + " " + std::to_string(bits);
            expectSame(m->forward(x, x, a)[0],
                       attention(*m, o, rowsOf(x[0]), rowsOf(x[0]), rowsOf(a[0])), what);
            if (!o.causal && !o.mask_diagonal) {
                const auto context = torch::randn({1, 3, 6}, torch::kDouble);
                const auto c = rowsOf(context[0]);
                expectSame(m->forward(x, context, context)[0], attention(*m, o, rowsOf(x[0]), c, c),
                           what + " cross");
            }
        }
}

TEST(AbstractorAttention, AddsRelativeSymbolsToEveryMessage) {
    torch::manual_seed(6);
    const torch::NoGradGuard noGrad;
    AbstractorHeads o{6, 2, 3};
    AbstractorAttention m(o);
    m->to(torch::kDouble);
    m->eval();
    constexpr std::int64_t n = 5, most = 2;
    const Symbols relative{torch::randn({2 * most + 1, 6}, torch::kDouble), most};
    const auto x = torch::randn({1, n, 6}, torch::kDouble), a = torch::randn_like(x);
    const auto library = rowsOf(relative.values);
    const auto symbol = [&](std::size_t i, std::size_t j) {
        const auto offset = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i), -most, most);
        return library[static_cast<std::size_t>(offset + most)];
    };
    expectSame(m->forward(x, x, a, relative)[0],
               attention(*m, o, rowsOf(x[0]), rowsOf(x[0]), rowsOf(a[0]), symbol), "relative");
}

TEST(AbstractorAttention, OfOneObjectThatMayNotLookAtItselfIsTheOutputBias) {
    AbstractorHeads o{6, 2, 3};
    o.mask_diagonal = true;
    AbstractorAttention m(o);
    auto x = torch::randn({2, 1, 6}).requires_grad_();
    const auto out = m->forward(x, x, x);
    EXPECT_TRUE(torch::allclose(out, m->wo->bias.expand_as(out)));
    out.sum().backward();
    EXPECT_TRUE(torch::isfinite(x.grad()).all().item<bool>());
}

TEST(Sinusoids, ComeInBothLayouts) {
    const auto mixed = interleavedSinusoids(7, 6), halves = halvedSinusoids(7, 6);
    for (std::int64_t p = 0; p < 7; ++p)
        for (std::int64_t i = 0; i < 3; ++i) {
            const double angle =
                static_cast<double>(p) * std::pow(10000.0, -2.0 * static_cast<double>(i) / 6.0);
            EXPECT_NEAR(mixed[p][2 * i].item<double>(), std::sin(angle), 1e-6);
            EXPECT_NEAR(mixed[p][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
            EXPECT_NEAR(halves[p][i].item<double>(), std::sin(angle), 1e-6);
            EXPECT_NEAR(halves[p][3 + i].item<double>(), std::cos(angle), 1e-6);
        }
}

TEST(MessagePassing, EqualsItsLoop) {
    torch::manual_seed(8);
    const torch::NoGradGuard noGrad;
    for (const bool softmax : {false, true})
        for (const bool symmetric : {false, true}) {
            ModelOptions o;
            for (const auto& [name, options] : smallModels())
                if ((options.architecture() == "MessagePassingAbstractor")) o = options;
            o.set("use_self_attn", false), o.set("abs_norm", "none"),
                o.set("symmetric_rels", symmetric);
            o.set("message_softmax", softmax), o.set("rel_activation", "tanh");
            MessagePassingLayer m(o.get<MessagePassingOptions>(), 5);
            m->to(torch::kDouble);
            m->eval();
            // Without feed-forward what is left is norm1 of the messages.
            m->ff_block->linear2->weight.zero_();
            m->ff_block->linear2->bias.zero_();
            const auto x = torch::randn({1, 3, o.number("d_model")}, torch::kDouble),
                       a = torch::randn({1, 3, 5}, torch::kDouble);
            const auto q = project(rowsOf(x[0]), m->wq), k = project(rowsOf(x[0]), m->wk);
            const auto abstract = rowsOf(a[0]);
            const auto w = static_cast<std::size_t>(o.number("rel_proj_dim"));
            Matrix expected(3);
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t r = 0; r < 2; ++r) {
                    std::vector<double> alpha(3), message(5, 0.0);
                    double sum = 0;
                    for (std::size_t j = 0; j < 3; ++j) {
                        double inner = 0;
                        for (std::size_t c = 0; c < w; ++c)
                            inner += q[i][r * w + c] * k[j][r * w + c];
                        alpha[j] = softmax ? std::exp(std::tanh(inner)) : std::tanh(inner);
                        sum += alpha[j];
                    }
                    for (std::size_t j = 0; j < 3; ++j)
                        for (std::size_t c = 0; c < 5; ++c)
                            message[c] += alpha[j] / (softmax ? sum : 1.0) * abstract[j][c];
                    const Linear value(std::dynamic_pointer_cast<LinearImpl>(m->values->ptr(r)));
                    const auto part = project({message}, value)[0];
                    expected[i].insert(expected[i].end(), part.begin(), part.end());
                }
            for (auto& row : expected) {  // norm1: eps 1e-3
                double mean = 0, variance = 0;
                for (const double v : row) mean += v / static_cast<double>(row.size());
                for (const double v : row)
                    variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
                for (double& v : row) v = (v - mean) / std::sqrt(variance + 1e-3);
            }
            expectSame(m->forward(a, x)[0], expected, "message passing");
        }
}

TEST(PrediNet, SelectsAndComparesAsWritten) {
    torch::manual_seed(9);
    const torch::NoGradGuard noGrad;
    PrediNetHeads m(4, 3, 2, 5, 6, true);
    m->to(torch::kDouble);
    const auto x = torch::randn({1, 4, 3}, torch::kDouble);
    const auto objects = rowsOf(x[0]);
    std::vector<double> flat;
    for (const auto& row : objects) flat.insert(flat.end(), row.begin(), row.end());
    const auto keys = project(objects, m->W_k);
    Matrix expected(1);
    for (std::size_t head = 0; head < 2; ++head) {
        Matrix selected;
        for (const auto* query : {&m->W_q1, &m->W_q2}) {
            const auto q = project({flat}, *query)[0];
            std::vector<double> weight(4), e(3, 0.0);
            double sum = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                double inner = 0;
                for (std::size_t c = 0; c < 6; ++c) inner += q[head * 6 + c] * keys[j][c];
                sum += weight[j] = std::exp(inner);
            }
            for (std::size_t j = 0; j < 4; ++j)
                for (std::size_t c = 0; c < 3; ++c) e[c] += weight[j] / sum * objects[j][c];
            selected.push_back(e);
        }
        const auto s = project(selected, m->W_s);
        for (std::size_t r = 0; r < 5; ++r) expected[0].push_back(s[0][r] - s[1][r]);
        expected[0].push_back(selected[0][2]);
        expected[0].push_back(selected[1][2]);
    }
    expectSame(m->forward(x), expected, "PrediNet");
}

TEST(Initialisation, OfTheAbstractorIsItsFrameworks) {
    torch::manual_seed(2);
    ModelOptions o;
    for (const auto& [name, options] : smallModels())
        if (options.architecture() == "Seq2SeqAbstractor" &&
            text(options, "abstractor_architecture") == "b")
            o = options;
    o.set("relational", true), o.set("symbol_retrieval", "learned"), o.set("n_abstractors", 1);
    o.set("d_model", 64), o.set("key_dim", 64), o.set("n_heads_sa", 4), o.set("dff", 64),
        o.set("input_type", "vector");
    o.set("output_size", 200), o.set("out_dim", 200), o.set("in_block_size", 500);
    auto model = makeModel(o);
    const auto spread = [](const torch::Tensor& t) { return t.abs().max().item<double>(); };
    int seen = 0;
    const auto uniform = [&](const NamedTensor& entry, double bound) {
        ++seen;
        EXPECT_LE(spread(entry.tensor), bound * 1.0001) << entry.name;
        EXPECT_NEAR(entry.tensor.std().item<double>(), bound / std::sqrt(3.0), 0.06 * bound)
            << entry.name;
    };
    for (const auto& entry : stateOf(*model)) {
        const auto ends = [&](const char* tail) { return entry.name.ends_with(tail); };
        if (ends("bias")) {
            EXPECT_EQ(spread(entry.tensor), 0.0) << entry.name;  // norms' start at zero too
        } else if (ends("wq.weight") || ends("wk.weight") || ends("wv.weight")) {
            uniform(entry, std::sqrt(6.0 / (64.0 * (4 + 64))));
        } else if (ends("wo.weight")) {
            uniform(entry, std::sqrt(6.0 / (4.0 * (64 + 64))));
        } else if (ends("linear1.weight") || ends("linear2.weight")) {
            uniform(entry, std::sqrt(6.0 / 128.0));
        } else if (ends("target_embedder.weight")) {
            uniform(entry, 0.05);
        } else if (ends("abstractor.symbols")) {
            EXPECT_NEAR(entry.tensor.std().item<double>(), 1.0, 0.03);
        }
    }
    EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace relascope
