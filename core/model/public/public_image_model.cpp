// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/public/public_image_model.h"

#include <torch/utils.h>

#include "model/language/language.h"
#include "model/model.h"

namespace relascope::core {

LearnedQueryImpl::LearnedQueryImpl(const PublicImageOptions& o) {
    probe = register_parameter("probe", newNormal({1, 1, o.d_model}));
    HeadOptions heads = sensoryOptions(stackOf(o));
    static_cast<ScoreOptions&>(heads) = {};
    heads.out_width = o.d_model;
    heads.add_bias_q = heads.add_bias_kv = heads.add_bias_out = true;
    heads.key_bias = heads.value_bias = true, heads.rope = false;
    query_attn = register_module("query_attn", Attention(heads));
    norm = register_module("norm", Norm(o.d_model, o.norm_type, o.norm_eps));
    ff_block = register_module("ff_block", FeedForward(o.d_model, o.query_dff, o.activation, true));
}

torch::Tensor LearnedQueryImpl::forward(const torch::Tensor& x) {
    const HookedModule hooks("pool");
    const auto query = probe.expand({x.size(0), -1, -1});
    const auto z = hookedOutput(hooks, "hook_attn_out", query_attn, query_attn->heads(query, x, x));
    return (z + hooks("hook_mlp_out", axes::stream, ff_block(norm(z)))).squeeze(1);
}

TextTowerImpl::TextTowerImpl(const PublicImageOptions& o) : m_options(o) {
    positions = register_parameter("positions", newNormal({o.text_places, o.text_width}));
    tokens = register_module("tokens", Embedding(o.text_vocab, o.text_width));
    blocks = register_module("blocks", torch::nn::ModuleList());
    for (std::int64_t layer = 0; layer < o.text_layers; ++layer)
        blocks->push_back(EncoderBlock(textStackOf(o)));
    norm = register_module("norm", Norm(o.text_width, "layernorm", o.text_eps));
    projection =
        register_module("projection", Linear(o.text_width, o.features(), o.text_projection_bias));
}

torch::Tensor TextTowerImpl::forward(const torch::Tensor& ids, torch::Tensor* before) {
    requireTokens(ids, m_options.text_vocab, m_options.text_places, "texts");
    const auto n = ids.size(1);
    auto x = tokens(ids) + positions.slice(0, 0, n);  // [b, n, d]
    if (before) *before = x;
    for (const auto& block : *blocks) x = block->as<EncoderBlockImpl>()->forward(x);
    x = norm(x);
    const auto end = m_options.text_end;
    if (end == TextTowerOptions::kLastPlace) return projection(x.select(1, n - 1));
    // Of equal values the first counts.
    const auto at =
        (end == TextTowerOptions::kLargestToken ? ids : ids.eq(end).to(torch::kInt)).argmax(-1);
    return projection(x.gather(1, at.view({-1, 1, 1}).expand({-1, 1, x.size(2)})).squeeze(1));
}

PublicImageModelImpl::PublicImageModelImpl(const PublicImageOptions& o)
    : VisionTransformerImpl(o, Bare()),
      m_image(o),
      m_processor(imageProcessorFrom(o.preprocessor)) {
    const auto d = o.d_model;
    const auto token = [&](const char* name, torch::Tensor& into, std::int64_t count) {
        if (count > 0) into = register_parameter(name, newNormal({1, count, d}));
    };
    const auto normed = [&](const char* name, Norm& into) {
        into = register_module(name, Norm(d, o.norm_type, o.norm_eps));
    };
    const auto stack = stackOf(o);
    token("pos_embedding", pos_embedding, o.positionRows());
    token("cls_token", cls_token, std::min<std::int64_t>(o.first_tokens, 1));
    token("distillation_token", distillation_token, o.first_tokens - 1);
    token("register_tokens", register_tokens, o.registers);
    if (o.place_bias == "shared" || o.place_bias == "both")
        place_bias = register_parameter(
            "place_bias", newConstant({stack.details.placeRows(), o.n_heads_sa}, 0.0));
    if (o.hasTexts()) {
        const std::vector<std::int64_t> one = {1}, none = {};
        logit_scale =
            register_parameter("logit_scale", newConstant(o.logit_bias ? one : none, 1.0));
        if (o.logit_bias) logit_bias = register_parameter("logit_bias", newConstant({1}, 0.0));
    }
    to_patch_embedding = register_module(
        "to_patch_embedding", PatchEmbedding(o, d, PatchForm::Convolution, o.patch_bias));
    m_dropout = register_module("dropout", Dropout(o.dropout_rate));
    if (o.embed_norm) normed("embed_norm", embed_norm);
    encoder_blocks = register_module("encoder_blocks", torch::nn::ModuleList());
    addBlocks(stack);
    if (place_bias.defined())
        for (const auto& block : *encoder_blocks)
            block->as<EncoderBlockImpl>()->self_attn->shared_places = place_bias;
    auto parts = register_module("final_out", torch::nn::ModuleList());
    final_norm = Norm(d, o.norm_all ? o.norm_type : "none", o.norm_eps);
    parts->push_back(final_norm);
    if (o.hasClassifier()) {
        final_out = Linear(o.features(), o.num_classes);
        parts->push_back(final_out);
    }
    if (o.pool == "query") pool = register_module("pool", LearnedQuery(o));
    if (o.norm_pooled) normed("pooled_norm", pooled_norm);
    if (o.projection > 0)
        projection = register_module("projection", Linear(d, o.projection, o.projection_bias));
    if (o.two_classifiers) {
        class_out = register_module("class_out", Linear(d, o.num_classes));
        distillation_out = register_module("distillation_out", Linear(d, o.num_classes));
    }
    if (o.hasTexts()) text = register_module("text", TextTower(o));
}

torch::Tensor PublicImageModelImpl::standardised(const torch::Tensor& images) {
    const std::vector<float> mean(m_processor.mean.begin(), m_processor.mean.end()),
        deviation(m_processor.deviation.begin(), m_processor.deviation.end());
    return m_standardisation.of(images, mean, deviation);
}

torch::Tensor PublicImageModelImpl::firstTokens() const {
    std::vector<torch::Tensor> all;
    for (const auto& token : {cls_token, distillation_token, register_tokens})
        if (token.defined()) all.push_back(token);
    return all.empty() ? torch::Tensor() : torch::cat(all, 1);
}

torch::Tensor PublicImageModelImpl::positions() const {
    const auto& o = m_image;
    if (!pos_embedding.defined()) return {};
    const auto first = o.positionsBefore();
    auto patches = pos_embedding.slice(1, first);  // [1, rows * columns, d]
    const auto rows = o.learnedRows(), columns = o.learnedColumns();
    if (rows != o.gridRows() || columns != o.gridColumns()) {
        const std::vector<std::int64_t> size = {o.gridRows(), o.gridColumns()};
        const auto picture =
            patches.to(torch::kFloat).view({1, rows, columns, -1}).permute({0, 3, 1, 2});
        const auto scaled = o.position_scaling == "bicubic"
                                ? at::upsample_bicubic2d(picture, size, false)
                            : o.position_scaling == "bicubic_aa"
                                ? at::_upsample_bicubic2d_aa(picture, size, false)
                                : at::_upsample_bilinear2d_aa(picture, size, false);
        patches = scaled.permute({0, 2, 3, 1}).flatten(1, 2).to(pos_embedding.scalar_type());
    }
    if (first == o.before())
        return first > 0 ? torch::cat({pos_embedding.slice(1, 0, first), patches}, 1) : patches;
    // Tokens without a position.
    const auto none = torch::zeros({1, o.before() - first, o.d_model}, pos_embedding.options());
    return torch::cat({pos_embedding.slice(1, 0, first), none, patches}, 1);
}

torch::Tensor PublicImageModelImpl::encode(torch::Tensor x) {
    return VisionTransformerImpl::encode(embed_norm.is_empty() ? x : embed_norm(x));
}

torch::Tensor PublicImageModelImpl::pooled(const torch::Tensor& x) {
    const auto& o = m_image;
    const auto read = x.slice(1, o.pool_all ? 0 : o.before());
    if (o.pool == "query") return pool(read);
    if (o.pool == "mean") return read.mean(1);
    if (o.pool == "cls_mean") return torch::cat({x.select(1, 0), read.mean(1)}, 1);
    return x.select(1, 0);
}

torch::Tensor PublicImageModelImpl::features(const torch::Tensor& x) {
    const auto normed =
        m_image.norm_all ? HookedModule("ln_final")("hook_normalized", axes::stream, final_norm(x))
                         : x;
    const HookedModule hooks("");
    if (!class_out.is_empty())
        return hooks("hook_pooled", axes::stream, normed.slice(1, 0, 2));  // [b, 2, d]
    auto y = pooled(normed);
    if (!pooled_norm.is_empty()) y = pooled_norm(y);
    y = hooks("hook_pooled", axes::pooled, y);
    return projection.is_empty() ? y : projection(y);
}

torch::Tensor PublicImageModelImpl::classified(const torch::Tensor& x) {
    const auto y = features(x);
    if (!class_out.is_empty())
        return (class_out(y.select(1, 0)) + distillation_out(y.select(1, 1))) / 2;
    if (head) return head(y);
    return final_out.is_empty() ? y : final_out(y);
}

torch::Tensor ImageHead::scores(const torch::Tensor& features) const {
    auto x = features.to(torch::kDouble);
    if (unit) x = x / x.norm(2, -1, true).clamp_min(1e-300);
    auto scores = torch::matmul(x, weights.to(x.device()).t());
    if (bias.defined()) scores = scores + bias.to(x.device());
    return scores.to(features.scalar_type());
}

void PublicImageModelImpl::setHead(const ImageHead& given) {
    if (!given.weights.defined()) {
        m_head = {}, head = nullptr;
        return;
    }
    if (!final_out.is_empty() || !class_out.is_empty())
        throw OptionError("head",
                          "is for models whose answer are features; this one has a "
                          "classifier of " +
                              std::to_string(m_image.num_classes) + " classes");
    if (given.weights.size(1) != m_image.features())
        throw OptionError("head",
                          "is for features of the width " + std::to_string(given.weights.size(1)) +
                              ", and this model's " + "have " + std::to_string(m_image.features()) +
                              "; fit one on the features of this model");
    const auto device = this->device();
    m_head = given;
    m_head.weights = given.weights.to(device);
    if (given.bias.defined()) m_head.bias = given.bias.to(device);
    head = [this](const torch::Tensor& features) { return m_head.scores(features); };
}

torch::Tensor PublicImageModelImpl::fit(const torch::Tensor& pictures,
                                        const torch::Tensor& texts) const {
    const auto unit = [](const torch::Tensor& x) { return x / x.norm(2, -1, true); };
    auto scores = torch::matmul(unit(pictures), unit(texts).t()) * logit_scale.exp();
    return logit_bias.defined() ? scores + logit_bias : scores;
}

namespace {

const auto publicImageModel =
    RegisterModel::of<PublicImageModelImpl, PublicImageOptions>(kPublicImageModel);

}  // namespace
}  // namespace relascope::core
