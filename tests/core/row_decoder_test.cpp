// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding on bare memory: its kernels against tensor expressions, and a token read by it against
// the model's forward pass, for every option that it takes.
#include <gtest/gtest.h>

#include "model/attention/row_activation.h"

#include <torch/utils.h>

#include "model/blocks/layers.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/decode/row_decoder.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

const float* at(const torch::Tensor& t) {
    return t.const_data_ptr<float>();
}
double difference(const torch::Tensor& a, const torch::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

// Widths around those of vector registers, rows around the groups of four.
const std::vector<std::int64_t> kWidths = {1, 2, 6, 15, 16, 18, 31, 32, 64, 66, 130};
const std::vector<std::int64_t> kRowCounts = {1, 2, 3, 4, 5, 9, 64};

TEST(RowKernels, MultiplyLikeMatrices) {
    for (const auto in : kWidths)
        for (const auto out : kRowCounts)
            for (const auto type : {torch::kFloat, torch::kBFloat16, torch::kHalf}) {
                const bool half = type != torch::kFloat;
                if (half && in % 2) continue;
                const auto first = torch::randn({out, in}), second = torch::randn({out + 3, in}),
                           bias = torch::randn({out}), x = torch::randn({in});
                RowInput input{{at(x), at(x) + in}, {}, {}};
                if (half) input.split();
                const auto a = first.to(type), b = second.to(type);
                auto y = torch::full({out}, NAN), z = torch::full({out + 3}, NAN);
                const std::vector<RowProduct> products = {
                    {{a.const_data_ptr(), at(bias), out, in, rowType(type)},
                     &input,
                     y.data_ptr<float>()},
                    {{b.const_data_ptr(), nullptr, out + 3, in, rowType(type)},
                     &input,
                     z.data_ptr<float>()}};
                multiplyRows(products);
                const double most = 2e-6 * static_cast<double>(in) + 1e-6;
                EXPECT_LT(difference(y, a.to(torch::kFloat).mv(x) + bias), most)
                    << in << " " << out;
                EXPECT_LT(difference(z, b.to(torch::kFloat).mv(x)), most) << in << " " << out;
            }
}

// All numbers of 16 bits: subnormal ones, infinities and NaN among them, in whole registers (even
// columns up to 64) and after them.
TEST(RowKernels, WidenEveryNumberOfSixteenBits) {
    const auto bits = torch::arange(-32768, 32768, torch::kInt).to(torch::kShort);
    for (const auto type : {torch::kBFloat16, torch::kHalf})
        for (const std::int64_t column : {0, 1, 31, 32, 33}) {
            auto matrix = torch::zeros({bits.size(0), 34}, torch::kShort);
            matrix.select(1, column).copy_(bits);
            auto x = torch::zeros({34});
            x[column] = 1.0f;
            RowInput input{{at(x), at(x) + 34}, {}, {}};
            input.split();
            auto y = torch::full({bits.size(0)}, -1.0f);
            const RowProduct product{
                {matrix.const_data_ptr(), nullptr, bits.size(0), 34, rowType(type)},
                &input,
                y.data_ptr<float>()};
            multiplyRows({&product, 1});
            const auto expected = bits.view(type).to(torch::kFloat);
            EXPECT_TRUE(torch::equal(y.isnan(), expected.isnan())) << column;
            EXPECT_TRUE(torch::equal(y.nan_to_num(), expected.nan_to_num())) << column;
        }
}

TEST(RowKernels, ShareLargeProductsAmongThreads) {
    // Large enough for several parts, of widths that do not divide them.
    const auto x = torch::randn({190});
    RowInput input{{at(x), at(x) + 190}, {}, {}};
    std::vector<torch::Tensor> weights, results;
    std::vector<RowProduct> products;
    for (const std::int64_t out : {517, 1, 1031, 6}) {
        weights.push_back(torch::randn({out, 190}));
        results.push_back(torch::full({out}, NAN));
        products.push_back(
            {{at(weights.back()), nullptr, out, 190}, &input, results.back().data_ptr<float>()});
    }
    multiplyRows(products);
    for (std::size_t i = 0; i < weights.size(); ++i)
        EXPECT_LT(difference(results[i], weights[i].mv(x)), 2e-4) << i;
}

TEST(RowKernels, AttendLikeTensors) {
    for (const auto width : kWidths)
        for (const auto count : kRowCounts) {
            const std::int64_t stride = width + 5;
            const auto rows = torch::randn({count, stride}), x = torch::randn({width}),
                       weights = torch::randn({count});
            const auto part = rows.slice(1, 0, width);
            auto dots = torch::full({count}, NAN), mixed = torch::full({width}, NAN);
            dotRows(at(x), at(rows), count, width, stride, 0.5f, dots.data_ptr<float>());
            mixRows(at(weights), at(rows), count, width, stride, mixed.data_ptr<float>());
            EXPECT_LT(difference(dots, part.mv(x) * 0.5), 1e-4) << width << " " << count;
            EXPECT_LT(difference(mixed, part.t().mv(weights)), 1e-4) << width << " " << count;
            const auto q = torch::randn({3, width}), keys = torch::randn({count, 3, width});
            auto r = torch::full({count, 3}, NAN);
            relateRows(at(q), at(keys), count, 3, width, 0.25f, r.data_ptr<float>());
            EXPECT_LT(difference(r, (keys * q).sum(2) * 0.25), 1e-4) << width << " " << count;
        }
}

TEST(RowKernels, ActivateLikeTensors) {
    const auto x = torch::linspace(-6, 6, 41);
    for (const char* name : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"}) {
        auto y = x.clone();
        activateRow(name, {y.data_ptr<float>(), 41});
        EXPECT_LT(difference(y, applyActivation(name, x)), 1e-6) << name;
    }
    std::vector<float> one(1);
    EXPECT_THROW(activateRow("sine", one), OptionError);
}

std::vector<std::pair<std::string, ModelOptions>> rowModels() {
    std::vector<std::pair<std::string, ModelOptions>> all;
    for (const auto& [name, options] : smallModels())
        // Hadamard relations have no rows of their own.
        if (options.input() == InputKind::Tokens &&
            (!options.info().dual || options.has("n_relations")))
            all.emplace_back(name, options);
    const auto zoo = all;
    const auto vary = [&all](const std::string& name, ModelOptions o, auto&& change) {
        change(o);
        all.emplace_back(name, o);
    };
    using O = ModelOptions;
    for (const auto& [name, options] : zoo) {
        if (!options.info().dual) continue;
        vary(name + ", relational alone", options, [](O& o) {
            o.set("n_heads_ra", 4), o.set("n_heads_sa", 0), o.set("n_relations", 0),
                o.set("share_attn_params", false);
            o.set("ra_n_kv_heads", 2);
        });
        vary(name + ", rms", options, [](O& o) { o.set("norm_type", "rmsnorm"); });
        vary(name + ", no norm, post", options,
             [](O& o) { o.set("norm_type", "none"), o.set("norm_first", false); });
    }
    for (const char* symbols : {"symbolic_attention", "positional_symbols", "position_relative"})
        for (const char* type : {"relational_attention", "rca", "disrca"})
            for (const char* activation :
                 {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})
                for (const char* position : {"RoPE", "pos_emb"}) {
                    auto o = zoo.back().second;
                    o.set("symbol_retrieval", symbols), o.set("ra_type", type);
                    o.set("rel_activation", activation), o.set("rca_activation", activation);
                    o.set("n_relations", 0), o.set("pos_enc_type", position);
                    o.set("max_rel_pos", position == std::string("RoPE") ? 3 : 0);
                    all.emplace_back(
                        std::string(symbols) + " " + type + " " + activation + " " + position, o);
                }
    return all;
}

// A model of 12 positions, a text, and the greatest difference between both over the text.
double worstDifference(ModelImpl& model, const ModelOptions& o) {
    const torch::NoGradGuard noGrad;
    const auto text = torch::randint(o.number("vocab_size"), {1, 12}, torch::kLong);
    const auto* ids = text.const_data_ptr<std::int64_t>();
    const auto whole = model.forward(text)[0];  // [12, vocab]
    const double largest = std::max(1.0, whole.abs().max().item<double>());
    DecodingCache cache(o.number("max_block_size"));
    {
        const CacheScope scope(cache);
        model.forward(text.slice(1, 0, 2));
    }
    RowDecoder decoder(model, o);
    double worst = 0.0;
    for (std::int64_t i = 2; i < 12; ++i) {
        auto logits = torch::full({o.number("vocab_size")}, NAN);
        decoder.read(ids[i], cache,
                     {logits.data_ptr<float>(), static_cast<std::size_t>(o.number("vocab_size"))});
        EXPECT_FALSE(torch::isnan(logits).any().item<bool>());
        worst = std::max(worst, difference(logits, whole[i]) / largest);
    }
    EXPECT_EQ(cache.past(), 12);
    return worst;
}

TEST(RowDecoder, EqualsTheForwardPassForEveryOption) {
    int taken = 0;
    for (const auto& [name, options] : rowModels()) {
        auto o = options;
        o.set("max_block_size", 12);
        torch::manual_seed(3);
        auto model = makeModel(o);
        model->eval();
        ASSERT_EQ(RowDecoder::takes(*model, o), canCache(o)) << name;
        if (!canCache(o)) continue;
        ++taken;
        EXPECT_LT(worstDifference(*model, o), 2e-5) << name;
    }
    EXPECT_GT(taken, 100);
}

TEST(RowDecoder, EqualsTheForwardPassOfNarrowedWeights) {
    for (const auto& [name, options] : rowModels()) {
        auto o = options;
        o.set("max_block_size", 12);
        if (!canCache(o)) continue;
        torch::manual_seed(4);
        auto model = makeModel(o);
        model->eval();
        castToBFloat16(*model);
        ASSERT_TRUE(RowDecoder::takes(*model, o)) << name;
        EXPECT_LT(worstDifference(*model, o), 2e-5) << name;
    }
}

TEST(RowDecoder, LeavesOtherTypesToTheForwardPass) {
    const auto o = rowModels().front().second;
    auto model = makeModel(o);
    model->to(torch::kDouble);
    EXPECT_FALSE(RowDecoder::takes(*model, o));
    for (const auto& [name, options] : smallModels()) {
        if ((options.input() == InputKind::Tokens)) continue;
        EXPECT_FALSE(RowDecoder::takes(*makeModel(options), options)) << name;
    }
}

}  // namespace
}  // namespace relascope
