// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of image classifiers: ViT and DeiT. Keys, defaults and names of tensors are those of
// the `transformers` package 4.57; `also` are those of 5.24.
#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {
namespace {

constexpr const char* kEncoder = "encoder_blocks.I.";

std::vector<std::string> part(const char* name) {
    return {std::string(kEncoder) + name};
}

Family vit() {
    Family f;
    f.type = "vit", f.title = "ViT", f.architecture = kPublicImageModel;
    f.classes = {"ViTForImageClassification"};
    f.prefix = "vit.";
    f.fixed = {{"norm_type", std::string("layernorm")},
               {"activation", std::string("exact_gelu")},
               {"bias", true},
               {"ff_bias", true},
               {"pool", std::string("cls")}};
    f.keys = {{{"hidden_size"}, "d_model", std::int64_t{768}},
              {{"num_hidden_layers"}, "n_layers", std::int64_t{12}},
              {{"num_attention_heads"}, "n_heads_sa", std::int64_t{12}},
              {{"intermediate_size"}, "dff", std::int64_t{3072}},
              {{"layer_norm_eps"}, "norm_eps", 1e-12},
              {{"qkv_bias"}, "sa_add_bias_q", true},
              {{"qkv_bias"}, "sa_add_bias_kv", true}};
    f.limits = {{"hidden_act", {"gelu"}}};
    const std::string embeddings = "embeddings.", block = "encoder.layer.I.";
    f.tensors = {
        {embeddings + "cls_token", {"cls_token"}},
        {embeddings + "position_embeddings", {"pos_embedding"}},
        {embeddings + "patch_embeddings.projection", {"to_patch_embedding.2"}, StoredForm::Patches},
        {block + "layernorm_before", part("norm1"), StoredForm::Plain, false,
         "layers.I.layernorm_before"},
        {block + "attention.attention.query", part("self_attn.wq"), StoredForm::Plain, false,
         "layers.I.attention.q_proj"},
        {block + "attention.attention.key", part("self_attn.wk"), StoredForm::Plain, false,
         "layers.I.attention.k_proj"},
        {block + "attention.attention.value", part("self_attn.wv"), StoredForm::Plain, false,
         "layers.I.attention.v_proj"},
        {block + "attention.output.dense", part("self_attn.wo"), StoredForm::Plain, false,
         "layers.I.attention.o_proj"},
        {block + "layernorm_after", part("norm2"), StoredForm::Plain, false,
         "layers.I.layernorm_after"},
        {block + "intermediate.dense", part("ff_block.linear1"), StoredForm::Plain, false,
         "layers.I.mlp.fc1"},
        {block + "output.dense", part("ff_block.linear2"), StoredForm::Plain, false,
         "layers.I.mlp.fc2"},
        {"layernorm", {"final_out.0"}},
        {"classifier", {"final_out.1"}, StoredForm::Plain, true}};
    f.ignored = {"pooler.dense.weight", "pooler.dense.bias"};
    return f;
}

Family deit() {
    auto f = vit();
    f.type = "deit", f.title = "DeiT", f.prefix = "deit.";
    f.classes = {"DeiTForImageClassification", "DeiTForImageClassificationWithTeacher"};
    f.fixed.emplace_back("first_tokens", std::int64_t{2});
    f.tensors.push_back({"embeddings.distillation_token", {"distillation_token"}});
    // With a teacher there are two classifiers.
    f.teacher = f.classes.back();
    f.tensors.push_back({"cls_classifier", {"class_out"}, StoredForm::Plain, true});
    f.tensors.push_back({"distillation_classifier", {"distillation_out"}, StoredForm::Plain, true});
    return f;
}

}  // namespace

const std::vector<Family>& imageFamilies() {
    static const std::vector<Family> all = {vit(), deit()};
    return all;
}

}  // namespace relascope::core
