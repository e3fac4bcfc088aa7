// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/vision/vision.h"

#include <map>
#include "model/blocks/module_span.h"
#include "model/model.h"

namespace relascope::core {

PatchEmbeddingImpl::PatchEmbeddingImpl(const ImageInput& o, std::int64_t d, PatchForm form,
                                       bool bias)
    : m_form(form), m_width(o.patch_size[0]), m_height(o.patch_size[1]) {
    if (form == PatchForm::Normed)
        m_patchNorm = register_module("1", Norm(o.patchDim(), "layernorm"));
    m_projection = register_module("2", Linear(o.patchDim(), d, bias));
    if (form == PatchForm::Normed) m_norm = register_module("3", Norm(d, "layernorm"));
}

torch::Tensor PatchEmbeddingImpl::forward(const torch::Tensor& images) {
    const ModuleSpan span(*this);
    if (m_form == PatchForm::Normed)
        return m_norm(m_projection(m_patchNorm(cut(images))));  // [b, patches, d]
    return m_projection(images
                            .unflatten(3, {-1, m_width})   // [b, c, H, columns, pw]
                            .unflatten(2, {-1, m_height})  // [b, c, rows, ph, columns, pw]
                            .permute({0, 2, 4, 1, 3, 5})   // [b, rows, columns, c, ph, pw]
                            .flatten(3)
                            .flatten(1, 2));  // [b, patches, c * ph * pw]
}

torch::Tensor PatchEmbeddingImpl::cut(const torch::Tensor& images) const {
    return images
        .unflatten(3, {-1, m_width})   // [b, c, H, columns, pw]
        .unflatten(2, {-1, m_height})  // [b, c, rows, ph, columns, pw]
        .permute({0, 2, 4, 3, 5, 1})   // [b, rows, columns, ph, pw, c]
        .flatten(3)
        .flatten(1, 2);  // [b, patches, ph * pw * c]
}

torch::Tensor PatchEmbeddingImpl::pixelWeight() const {
    const auto& weight = m_projection->weight;
    if (m_form == PatchForm::Normed) return weight;
    return weight.unflatten(1, {-1, m_height, m_width}).permute({0, 2, 3, 1}).flatten(1);
}

torch::Tensor Standardisation::of(const torch::Tensor& images, const std::string& dataSet) {
    if (dataSet == "none") return images;
    struct Statistics {
        std::vector<float> mean, deviation;
    };
    static const std::map<std::string, Statistics> known = {
        {"cifar10", {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}}},
        {"cifar100", {{0.5071F, 0.4867F, 0.4408F}, {0.2675F, 0.2565F, 0.2761F}}},
        {"fashion-mnist", {{0.2860F}, {0.3530F}}}};
    const auto& s = known.at(dataSet);
    return of(images, s.mean, s.deviation);
}

torch::Tensor Standardisation::of(const torch::Tensor& images, const std::vector<float>& mean,
                                  const std::vector<float>& deviation) {
    if (mean.empty()) return images;
    const auto row = [&](KeptTensor& kept, const std::vector<float>& values) {
        return kept.get({}, images.options(), [&] { return torch::tensor(values); })
            .view({1, -1, 1, 1});
    };
    return (images - row(m_mean, mean)) / row(m_deviation, deviation);
}

VisionModelImpl::VisionModelImpl(const VisionTransformerOptions& options, Bare)
    : m_options(options) {}

VisionModelImpl::VisionModelImpl(const VisionTransformerOptions& options) : m_options(options) {
    to_patch_embedding =
        register_module("to_patch_embedding", PatchEmbedding(options, options.d_model));
    pos_embedding =
        register_parameter("pos_embedding", newNormal({1, options.tokens(), options.d_model}));
    cls_token = register_parameter("cls_token", newNormal({1, 1, options.d_model}));
    m_dropout = register_module("dropout", Dropout(options.dropout_rate));
    encoder_blocks = register_module("encoder_blocks", torch::nn::ModuleList());
}

void VisionModelImpl::addClassifier() {
    final_out = Linear(m_options.d_model, m_options.num_classes);
    if (!m_options.final_norm) {
        register_module("final_out", final_out);
        return;
    }
    final_norm = Norm(m_options.d_model, "layernorm");
    auto parts = register_module("final_out", torch::nn::ModuleList());
    parts->push_back(final_norm);
    parts->push_back(final_out);
}

torch::Tensor VisionModelImpl::forward(const ModelInput& images) {
    if (beforePass) beforePass();
    requireInput(images.x, m_options);
    auto x = to_patch_embedding(standardised(images.x));  // [b, patches, d]
    if (const auto first = firstTokens(); first.defined())
        x = torch::cat({first.expand({x.size(0), -1, x.size(2)}), x}, 1);  // [b, n, d]
    const HookedModule hooks("");
    x = hooks("hook_embed", axes::stream, x);  // before the positions, as published
    if (const auto places = positions(); places.defined())
        x = x + (hooks ? hooks("hook_pos_embed", axes::stream, places.expand_as(x)) : places);
    return hookedLogits(classified(encode(m_dropout(x))));  // [b, classes]
}

torch::Tensor VisionModelImpl::classified(const torch::Tensor& x) {
    auto pooled = m_options.pool == "cls" ? x.select(1, 0) : x.mean(1);  // [b, d]
    pooled = HookedModule("")("hook_pooled", axes::pooled, pooled);
    return final_out(m_options.final_norm ? final_norm(pooled) : pooled);
}

VisionTransformerImpl::VisionTransformerImpl(const VisionTransformerOptions& options)
    : VisionModelImpl(options) {
    addBlocks(stackOf(options, false));
    addClassifier();
}

VisionTransformerImpl::VisionTransformerImpl(const VisionTransformerOptions& options, Bare bare)
    : VisionModelImpl(options, bare) {}

void VisionTransformerImpl::addBlocks(const StackOptions& stack) {
    for (std::int64_t layer = 0; layer < m_options.n_layers; ++layer)
        encoder_blocks->push_back(EncoderBlock(stack));
}

torch::Tensor VisionTransformerImpl::encode(torch::Tensor x) {
    for (const auto& module : *encoder_blocks) {
        auto* block = module->as<EncoderBlockImpl>();
        const auto kept = keptStream(block->hook);
        x = kept.defined()
                ? kept
                : throughBlock([block](const torch::Tensor& in) { return block->forward(in); }, x);
    }
    return x;
}

VisionDualAttnTransformerImpl::VisionDualAttnTransformerImpl(
    const VisionDualAttnTransformerOptions& options)
    : VisionModelImpl(options) {
    symbol_retriever = register_module(
        "symbol_retriever", makeSymbolRetriever(options, options.d_model, options.tokens()));
    for (std::int64_t layer = 0; layer < options.n_layers; ++layer)
        encoder_blocks->push_back(DualAttnEncoderBlock(stackOf(options, true)));
    addClassifier();
}

torch::Tensor VisionDualAttnTransformerImpl::encode(torch::Tensor x) {
    int layer = 0;
    for (const auto& block : *encoder_blocks) {
        auto* dual = block->as<DualAttnEncoderBlockImpl>();
        const auto kept = keptStream(dual->hook);
        x = kept.defined() ? kept
                           : throughBlock(
                                 [this, dual, layer](const torch::Tensor& in) {
                                     const auto symbols =
                                         m_options.n_heads_ra > 0
                                             ? symbol_retriever->retrieve(in, layer, dual->hook)
                                             : Symbols{};
                                     return dual->forward(in, symbols);
                                 },
                                 x);
        ++layer;
    }
    return x;
}

namespace {

const auto dualVisionModel =
    RegisterModel::of<VisionDualAttnTransformerImpl, VisionDualAttnTransformerOptions>(
        "VisionDualAttnTransformer");
const auto plainVisionModel =
    RegisterModel::of<VisionTransformerImpl, VisionTransformerOptions>("VisionTransformer");

}  // namespace
}  // namespace relascope::core
