// SPDX-License-Identifier: GPL-3.0-or-later
// How language models start, where dropout stands in the blocks, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "model/blocks/decoder.h"

#include <torch/utils.h>

#include "model/decode/generate.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq_options.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

ModelOptions languageOptions(const char* architecture) {
    for (const auto& [name, options] : smallModels())
        if ((options.architecture() == architecture)) return options;
    return {};
}

TEST(Initialisation, OfLanguageModelsIsGpt2s) {
    torch::manual_seed(4);
    for (const char* activation : {"gelu", "swiglu"}) {
        auto o = languageOptions("DualAttnTransformerLM");
        o.set("d_model", 64), o.set("n_layers", 2), o.set("vocab_size", 300),
            o.set("activation", activation), o.set("dff", 90);
        o.set("n_symbols", 80), o.set("pos_enc_type", "pos_emb"), o.set("max_block_size", 100);
        auto model = makeModel(o);
        int residual = 0;
        for (const auto& entry : stateOf(*model)) {
            const auto& name = entry.name;
            const double std = entry.tensor.numel() > 1 ? entry.tensor.std().item<double>() : 0.0;
            if (!entry.aliasOf.empty()) continue;
            if (name.ends_with("bias")) {
                EXPECT_EQ(entry.tensor.abs().max().item<double>(), 0.0) << name;
            } else if (name.ends_with("template_features") || name.ends_with("symbol_library")) {
                EXPECT_NEAR(std, 1.0, 0.05) << name;
            } else if (name.ends_with("wo.weight") || name.ends_with("linear2.weight")) {
                // linear2 also for swiglu, where the published code scales linear3 instead.
                EXPECT_NEAR(std, 0.02 / 2.0, 0.0008) << name;
                ++residual;
            } else if (name.find("norm") == std::string::npos) {
                EXPECT_NEAR(std, 0.02, name.ends_with(".wr") ? 0.006 : 0.0015) << name;
            }
        }
        EXPECT_EQ(residual, 6);
    }
}

// Fraction of the elements in which two tensors are equal.
double equalShare(const torch::Tensor& a, const torch::Tensor& b) {
    return a.eq(b).to(torch::kDouble).mean().item<double>();
}

// The weights behind these names set to zero: what they feed adds nothing.
void silence(torch::nn::Module& module, const std::string& tail) {
    const torch::NoGradGuard noGrad;
    int found = 0;
    for (auto& item : module.named_parameters())
        if (item.key().find(tail) != std::string::npos) {
            item.value().zero_();
            ++found;
        }
    ASSERT_GT(found, 0) << tail;
}

constexpr double kDrop = 0.3, kTwice = 1 - (1 - kDrop) * (1 - kDrop);

StackOptions stack(bool dual, bool decoder) {
    auto o = languageOptions(dual ? "Seq2SeqDualAttnTransformer" : "Seq2SeqTransformer");
    o.set("d_model", 32), o.set("dropout_rate", kDrop), put(o, "decoder.dropout_rate", kDrop);
    o.set("norm_first", true), put(o, "decoder.norm_first", true);
    o.set("activation", "gelu"), put(o, "decoder.activation", "gelu");
    if (dual) {
        const auto& options = o.get<Seq2SeqDualAttnTransformerOptions>();
        return decoder ? decoderOf(options) : encoderOf(options);
    }
    const auto& options = o.get<Seq2SeqTransformerOptions>();
    return decoder ? decoderOf(options) : encoderOf(options);
}

TEST(Dropout, StandsWherePublishedBlocksHaveIt) {
    torch::manual_seed(11);
    const auto x = torch::randn({40, 6, 32}), context = torch::randn({40, 5, 32});
    const Symbols symbols{torch::randn({6, 32})};
    const auto run = [&](bool decoder, const std::vector<std::string>& silent) {
        auto block = decoder ? std::shared_ptr<torch::nn::Module>(
                                   std::make_shared<DecoderBlockImpl>(stack(false, true)))
                             : std::make_shared<EncoderBlockImpl>(stack(false, false));
        for (const auto& name : silent) silence(*block, name);
        block->train();
        return decoder ? block->as<DecoderBlockImpl>()->forward(x, context)
                       : block->as<EncoderBlockImpl>()->forward(x);
    };
    // What is dropped leaves x as it was: twice after an attention, once after the encoder's
    // feed-forward, never after the decoder's.
    EXPECT_NEAR(equalShare(run(false, {"ff_block"}), x), kTwice, 0.02);
    EXPECT_NEAR(equalShare(run(false, {"wo."}), x), kDrop, 0.02);
    EXPECT_NEAR(equalShare(run(true, {"ff_block", "cross_attn.wo"}), x), kTwice, 0.02);
    EXPECT_NEAR(equalShare(run(true, {"ff_block", "self_attn.wo"}), x), kTwice, 0.02);
    EXPECT_NEAR(equalShare(run(true, {"self_attn.wo", "cross_attn.wo"}), x), 0.0, 0.001);

    DualAttnDecoderBlock dual(stack(true, true));
    silence(*dual, "dual_attn.self_attention.wo");
    silence(*dual, "dual_attn.relational_attention.wo");
    silence(*dual, "cross_attn.wo");
    dual->train();
    EXPECT_NEAR(equalShare(dual->forward(x, context, symbols), x), 0.0, 0.001);
}

TEST(Dropout, IsNotOnTheEmbeddingsOfLanguageAndSequenceModels) {
    for (const char* name : {"DualAttnTransformerLM", "TransformerLM", "Seq2SeqTransformer"}) {
        auto o = languageOptions(name);
        o.set("dropout_rate", kDrop), put(o, "decoder.dropout_rate", kDrop);
        o.set("norm_first", true), put(o, "decoder.norm_first", true);
        auto model = makeModel(o);
        silence(*model, "wo.");
        silence(*model, "ff_block.linear2");
        model->train();
        const auto batch = smallBatch(o, 3);
        EXPECT_TRUE(torch::equal(model->forward(batch), model->forward(batch))) << name;
    }
    auto o = languageOptions("VisionTransformer");
    o.set("dropout_rate", kDrop);
    auto model = makeModel(o);
    silence(*model, "wo.");
    silence(*model, "ff_block.linear2");
    model->train();
    const auto batch = smallBatch(o, 3);
    EXPECT_FALSE(torch::equal(model->forward(batch), model->forward(batch)));
}

TEST(Language, RefusesTokensItHasNot) {
    auto model = makeModel(languageOptions("DualAttnTransformerLM"));  // 7 tokens, 6 at once
    const auto message = [&](const torch::Tensor& tokens) -> std::string {
        try {
            model->forward(tokens);
        } catch (const OptionError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message(torch::tensor({{0, 7}}, torch::kLong)).find("token 7"), std::string::npos);
    EXPECT_NE(message(torch::tensor({{-1, 0}}, torch::kLong)).find("token -1"), std::string::npos);
    EXPECT_NE(message(torch::zeros({1, 7}, torch::kLong)).find("exceed the model's 6"),
              std::string::npos);
    EXPECT_NE(message(torch::zeros({1, 0}, torch::kLong)).find("empty"), std::string::npos);
    EXPECT_NE(message(torch::zeros({1, 2})).find("integers"), std::string::npos);
    EXPECT_EQ(message(torch::zeros({1, 1}, torch::kLong)), "");
}

TEST(Generate, GoesOnPastTheContextAndNeverWritesPadding) {
    const auto o = languageOptions("DualAttnTransformerLM");
    auto model = makeModel(o);
    model->eval();
    const auto prompt = torch::tensor({{1, 2, 3}}, torch::kLong);
    const auto text = generateGreedy(*model, o, prompt, 9);
    ASSERT_EQ(text.size(1), 12);
    for (std::int64_t n = 3; n < 12; ++n) {  // each token is the likeliest after what fits
        const auto seen =
            text.slice(1, std::max<std::int64_t>(0, n - o.number("max_block_size")), n);
        EXPECT_EQ(model->forward(seen).select(1, -1).argmax().item<std::int64_t>(),
                  text[0][n].item<std::int64_t>());
    }
    auto padded = o;
    padded.set("vocab_size", 50304);
    EXPECT_EQ(usableVocabulary(padded), 50257);
    EXPECT_EQ(usableVocabulary(o), o.number("vocab_size"));
}

}  // namespace
}  // namespace relascope
