// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of models of images: ViT, DeiT, DINOv2, DINOv3, MAE, BEiT, CLIP, SigLIP. Keys,
// defaults and names of tensors are those of the `transformers` package 4.57; `also` are those
// of 5.24.
#include <algorithm>
#include <cmath>

#include "model/public/family_tables.h"

namespace relascope::core {
namespace {

using N = std::int64_t;

constexpr const char* kEncoder = "encoder_blocks.I.";

std::vector<std::string> part(const std::string& name) {
    return {kEncoder + name};
}

const std::vector<std::pair<std::string, std::string>> kActivations = {
    {"gelu", "exact_gelu"},
    {"quick_gelu", "quick_gelu"},
    {"gelu_pytorch_tanh", "gelu"},
    {"gelu_new", "gelu"}};

PublicImageOptions& options(ModelOptions& m) {
    return m.get<PublicImageOptions>();
}

// The class of `architectures`, or an empty text.
bool isClass(FamilyConfig& c, const std::string& name) {
    const auto* classes = c.find("architectures");
    return classes && classes->is_array() && !classes->empty() && classes->front() == name;
}

// What all have: biases everywhere, and the sizes under their common names.
Family vision(const std::string& type, const std::string& title, double eps) {
    Family f;
    f.type = type, f.title = title, f.architecture = kPublicImageModel;
    f.fixed = {{"norm_type", std::string("layernorm")},
               {"activation", std::string("exact_gelu")},
               {"bias", true},
               {"ff_bias", true},
               {"sa_add_bias_q", true},
               {"sa_add_bias_kv", true},
               {"pool", std::string("cls")}};
    f.keys = {{{"hidden_size"}, "d_model", N{768}},
              {{"num_hidden_layers"}, "n_layers", N{12}},
              {{"num_attention_heads"}, "n_heads_sa", N{12}},
              {{"intermediate_size"}, "dff", N{3072}},
              {{"layer_norm_eps"}, "norm_eps", eps},
              {{"hidden_act"}, "activation", std::string("exact_gelu")}};
    f.keys.back().texts = kActivations;
    return f;
}

// Biases of queries, keys and values alike.
void readQkvBias(Family& f) {
    f.keys.push_back({{"qkv_bias"}, "sa_add_bias_q", true});
    f.keys.push_back({{"qkv_bias"}, "sa_add_bias_kv", true});
}

// The tensors of a block of the first models, with its norms of these names.
void addViTBlock(Family& f, const std::string& norm1, const std::string& norm2) {
    const std::string block = "encoder.layer.I.";
    const auto add = [&](const std::string& stored, const char* name, const char* also) {
        f.tensors.push_back({block + stored, part(name), StoredForm::Plain, false,
                             std::string("layers.I.") + also});
    };
    add(norm1, "norm1", norm1.c_str());
    add("attention.attention.query", "self_attn.wq", "attention.q_proj");
    add("attention.attention.key", "self_attn.wk", "attention.k_proj");
    add("attention.attention.value", "self_attn.wv", "attention.v_proj");
    add("attention.output.dense", "self_attn.wo", "attention.o_proj");
    add(norm2, "norm2", norm2.c_str());
}

void addFeedForward(Family& f, const std::string& first, const std::string& second) {
    const std::string block = "encoder.layer.I.";
    f.tensors.push_back(
        {block + first, part("ff_block.linear1"), StoredForm::Plain, false, "layers.I.mlp.fc1"});
    f.tensors.push_back(
        {block + second, part("ff_block.linear2"), StoredForm::Plain, false, "layers.I.mlp.fc2"});
}

void addEmbeddings(Family& f, bool positions = true) {
    const std::string embeddings = "embeddings.";
    f.tensors = {{embeddings + "cls_token", {"cls_token"}},
                 {embeddings + "patch_embeddings.projection",
                  {"to_patch_embedding.2"},
                  StoredForm::Patches}};
    if (positions) f.tensors.push_back({embeddings + "position_embeddings", {"pos_embedding"}});
    f.ignored = {embeddings + "mask_token", "pooler.dense.weight", "pooler.dense.bias"};
}

void addEnd(Family& f, const char* norm = "layernorm") {
    f.tensors.push_back({norm, {"final_out.0"}});
    f.tensors.push_back({"classifier", {"final_out.1"}, StoredForm::Plain, true});
}

Family vit() {
    auto f = vision("vit", "ViT", 1e-12);
    readQkvBias(f);
    f.keys.erase(f.keys.begin() + 5);  // the activation is one
    f.limits = {{"hidden_act", {"gelu"}}};
    f.classes = {"ViTForImageClassification", "ViTModel"}, f.bare = {"ViTModel"};
    f.prefix = "vit.";
    addEmbeddings(f);
    addViTBlock(f, "layernorm_before", "layernorm_after");
    addFeedForward(f, "intermediate.dense", "output.dense");
    addEnd(f);
    return f;
}

Family deit() {
    auto f = vit();
    f.type = "deit", f.title = "DeiT", f.prefix = "deit.";
    f.classes = {"DeiTForImageClassification", "DeiTForImageClassificationWithTeacher",
                 "DeiTModel"};
    f.bare = {"DeiTModel"};
    f.fixed.emplace_back("first_tokens", N{2});
    f.tensors.push_back({"embeddings.distillation_token", {"distillation_token"}});
    // With a teacher there are two classifiers.
    f.teacher = "DeiTForImageClassificationWithTeacher";
    f.tensors.push_back({"cls_classifier", {"class_out"}, StoredForm::Plain, true});
    f.tensors.push_back({"distillation_classifier", {"distillation_out"}, StoredForm::Plain, true});
    return f;
}

// The encoder of a masked autoencoder; nothing is masked here.
Family mae() {
    auto f = vit();
    f.type = "vit_mae", f.title = "MAE";
    f.classes = {"ViTMAEForPreTraining", "ViTMAEModel"}, f.bare = f.classes;
    f.limits = {{"hidden_act", {"gelu"}}};
    f.ignored.emplace_back("decoder.*");
    f.neutral = {"mask_ratio",
                 "norm_pix_loss",
                 "decoder_hidden_size",
                 "decoder_intermediate_size",
                 "decoder_num_attention_heads",
                 "decoder_num_hidden_layers"};
    return f;
}

// Keys of DINOv2 and BEiT that change nothing here: of other heads, and of training.
const std::vector<std::string> kBackboneKeys = {
    "out_features",          "out_indices",     "stage_names",
    "reshape_hidden_states", "apply_layernorm", "drop_path_rate",
    "layerscale_value",      "use_mask_token",  "num_labels"};

Family dinov2(bool registers) {
    auto f = vision(registers ? "dinov2_with_registers" : "dinov2",
                    registers ? "DINOv2 with registers" : "DINOv2", 1e-6);
    readQkvBias(f);
    const std::string name = registers ? "Dinov2WithRegisters" : "Dinov2";
    f.classes = {name + "ForImageClassification", name + "Model"}, f.bare = {name + "Model"};
    f.prefix = f.type + ".";
    f.patch = registers ? 16 : 14;
    f.fixed.emplace_back("layer_scale", true);
    tables::replace(f, {{"mlp_ratio"}, "dff", N{4}});
    for (auto& key : f.keys)
        if (key.option == "dff") key.times = "d_model";
    f.neutral = kBackboneKeys;
    addEmbeddings(f);
    addViTBlock(f, "norm1", "norm2");
    addFeedForward(f, "mlp.fc1", "mlp.fc2");
    const FamilyCondition gated = {"ff_gate", true, "use_swiglu_ffn"},
                          plain = {"ff_gate", false, "gelu"};
    const std::string block = "encoder.layer.I.";
    for (auto& tensor : f.tensors)
        if (tensor.stored.starts_with(block + "mlp.fc")) tensor.when = plain;
    f.limits = {{"hidden_act", {"gelu"}}};
    f.keys.erase(f.keys.begin() + 5);
    f.tensors.push_back(
        {block + "mlp.weights_in",
         {std::string(kEncoder) + "ff_block.linear1", std::string(kEncoder) + "ff_block.linear3"},
         StoredForm::Rows});
    f.tensors.back().when = gated;
    f.tensors.push_back({block + "mlp.weights_out", part("ff_block.linear2")});
    f.tensors.back().when = gated;
    f.tensors.push_back({block + "layer_scale1.lambda1", part("norm1_behind.weight")});
    f.tensors.push_back({block + "layer_scale2.lambda1", part("norm2_behind.weight")});
    addEnd(f);
    if (registers) {
        f.keys.push_back({{"num_register_tokens"}, "registers", N{4}});
        f.keys.back().least = 0;
        f.fixed.emplace_back("positions", std::string("class"));
        f.fixed.emplace_back("position_scaling", std::string("bicubic_aa"));
        f.tensors.push_back({"embeddings.register_tokens", {"register_tokens"}});
    }
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = options(m);
        if (o.num_classes > 0) o.pool = "cls_mean";
        if (!c.flag("use_swiglu_ffn", false)) return;
        o.ff_gate = true, o.activation = "swiglu";
        o.dff = (o.dff * 2 / 3 + 7) / 8 * 8;
    };
    return f;
}

Family dinov3() {
    auto f = vision("dinov3_vit", "DINOv3", 1e-5);
    f.classes = {"DINOv3ViTModel"}, f.bare = f.classes;
    tables::absent(f, {{"d_model", N{384}}, {"n_heads_sa", N{6}}, {"dff", N{1536}}});
    for (const auto& [option, value] :
         {std::pair{"layer_scale", true}, {"rope", true}, {"rotary_halves", true}})
        f.fixed.emplace_back(option, value);
    f.fixed.emplace_back("positions", std::string("none"));
    f.keys.push_back({{"rope_theta"}, "rope_theta", 100.0});
    f.keys.push_back({{"query_bias"}, "sa_add_bias_q", true});
    f.keys.push_back({{"key_bias"}, "key_bias", false});
    f.keys.push_back({{"value_bias"}, "value_bias", true});
    f.keys.push_back({{"proj_bias"}, "bias", true});
    f.keys.push_back({{"mlp_bias"}, "ff_bias", true});
    f.keys.push_back({{"num_register_tokens"}, "registers", N{0}});
    f.keys.back().least = 0;
    for (auto& key : f.keys)
        if (key.option == "activation") key.texts.emplace_back("silu", "silu");
    f.neutral = kBackboneKeys;
    f.neutral.insert(f.neutral.end(), {"pos_embed_shift", "pos_embed_jitter", "pos_embed_rescale"});
    const std::string embeddings = "embeddings.", block = "layer.I.";
    f.tensors = {{embeddings + "cls_token", {"cls_token"}},
                 {embeddings + "register_tokens", {"register_tokens"}},
                 {embeddings + "patch_embeddings", {"to_patch_embedding.2"}, StoredForm::Patches},
                 {block + "norm1", part("norm1")},
                 {block + "attention.q_proj", part("self_attn.wq")},
                 {block + "attention.k_proj", part("self_attn.wk")},
                 {block + "attention.v_proj", part("self_attn.wv")},
                 {block + "attention.o_proj", part("self_attn.wo")},
                 {block + "layer_scale1.lambda1", part("norm1_behind.weight")},
                 {block + "norm2", part("norm2")},
                 {block + "mlp.up_proj", part("ff_block.linear1")},
                 {block + "mlp.gate_proj", part("ff_block.linear1")},
                 {block + "mlp.up_proj", part("ff_block.linear3")},
                 {block + "mlp.down_proj", part("ff_block.linear2")},
                 {block + "layer_scale2.lambda1", part("norm2_behind.weight")},
                 {"norm", {"final_out.0"}}};
    // The first of the two is the gate, which alone passes the activation.
    for (auto& tensor : f.tensors)
        if (tensor.stored == block + "mlp.gate_proj" ||
            tensor.parts.front() == part("ff_block.linear3").front())
            tensor.when = {"ff_gate", true, "use_gated_mlp"};
        else if (tensor.stored == block + "mlp.up_proj")
            tensor.when = {"ff_gate", false, "use_gated_mlp"};
    f.ignored = {embeddings + "mask_token", "rope_embeddings.inv_freq"};
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = options(m);
        o.ff_gate = c.flag("use_gated_mlp", false);
        if (o.ff_gate)
            o.activation = o.activation == "silu"         ? "swiglu"
                           : o.activation == "exact_gelu" ? "exact_geglu"
                           : o.activation == "gelu"
                               ? "geglu"
                               : (c.refuse("hidden_act", "silu or gelu would open"), "");
        else if (o.activation == "silu")
            c.refuse("hidden_act", "gelu would open without use_gated_mlp");
    };
    return f;
}

Family beit() {
    auto f = vision("beit", "BEiT", 1e-12);
    f.classes = {"BeitForImageClassification", "BeitModel"}, f.bare = {"BeitModel"};
    f.prefix = "beit.";
    f.fixed.emplace_back("key_bias", false);
    f.usual = {{"use_relative_position_bias", true}};
    f.limits = {{"hidden_act", {"gelu"}}};
    f.keys.erase(f.keys.begin() + 5);
    f.neutral = kBackboneKeys;
    f.neutral.insert(f.neutral.end(),
                     {"add_fpn", "auxiliary_channels", "auxiliary_concat_input",
                      "auxiliary_loss_weight", "auxiliary_num_convs", "pool_scales",
                      "semantic_loss_ignore_index", "use_auxiliary_head", "vocab_size"});
    addEmbeddings(f);
    addViTBlock(f, "layernorm_before", "layernorm_after");
    addFeedForward(f, "intermediate.dense", "output.dense");
    const std::string block = "encoder.layer.I.",
                      table = "relative_position_bias.relative_position_bias_table";
    f.tensors.push_back({block + "lambda_1", part("norm1_behind.weight")});
    f.tensors.push_back({block + "lambda_2", part("norm2_behind.weight")});
    f.tensors.push_back({block + "attention.attention." + table, part("self_attn.place_bias")});
    f.tensors.push_back({"encoder." + table, {"place_bias"}});
    f.tensors.push_back({"pooler.layernorm", {"pooled_norm"}});
    addEnd(f);
    const std::string index = "relative_position_bias.relative_position_index";
    f.ignored.push_back(block + "attention.attention." + index);
    f.ignored.push_back("encoder." + index);
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = options(m);
        o.layer_scale = c.real("layer_scale_init_value", 0.1) > 0.0;
        const bool own = c.flag("use_relative_position_bias", false),
                   shared = c.flag("use_shared_relative_position_bias", false);
        o.place_bias = own && shared ? "both" : own ? "block" : shared ? "shared" : "none";
        o.positions = c.flag("use_absolute_position_embeddings", false) ? "all" : "none";
        if (o.image_shape[1] != o.image_shape[2])
            c.refuse("image_size", "one number, for square images, would open");
        if (!c.flag("use_mean_pooling", true)) return;
        o.pool = "mean", o.norm_all = false, o.norm_pooled = true;
    };
    return f;
}

// The tensors of a tower of CLIP or SigLIP, whose blocks have this number.
void addTower(Family& f, const std::string& tower, const std::string& number,
              const std::string& blocks, bool outside) {
    const auto block = tower + "encoder.layers." + number + ".", own = blocks + number + ".";
    for (const auto& [stored, name] : {std::pair{"layer_norm1", "norm1"},
                                       {"self_attn.q_proj", "self_attn.wq"},
                                       {"self_attn.k_proj", "self_attn.wk"},
                                       {"self_attn.v_proj", "self_attn.wv"},
                                       {"self_attn.out_proj", "self_attn.wo"},
                                       {"layer_norm2", "norm2"},
                                       {"mlp.fc1", "ff_block.linear1"},
                                       {"mlp.fc2", "ff_block.linear2"}})
        f.tensors.push_back({block + stored, {own + name}, StoredForm::Plain, outside});
}

void addTextTower(Family& f) {
    const std::string tower = "text_model.";
    const auto add = [&](const std::string& stored, const char* name) {
        f.tensors.push_back({tower + stored, {name}, StoredForm::Plain, true});
    };
    add("embeddings.token_embedding", "text.tokens");
    add("embeddings.position_embedding.weight", "text.positions");
    addTower(f, tower, "K", "text.blocks.", true);
    add("final_layer_norm", "text.norm");
    f.tensors.push_back({"logit_scale", {"logit_scale"}, StoredForm::Plain, true});
    f.ignored.push_back(tower + "embeddings.position_ids");
}

// The sizes of the text tower, which files leave out where they are as the class has them. The
// activation is that of the class, under its name in files, before.
void readTexts(PublicImageOptions& o, FamilyConfig& t, N width, N dff, N heads, N words, N places) {
    o.text_layers = t.count("num_hidden_layers", 12);
    o.text_width = t.count("hidden_size", width);
    o.text_heads = t.count("num_attention_heads", heads);
    o.text_dff = t.count("intermediate_size", dff);
    o.text_vocab = t.count("vocab_size", words);
    o.text_places = t.count("max_position_embeddings", places);
    o.text_eps = t.real("layer_norm_eps", o.text_eps);
    const auto name = t.text("hidden_act", o.text_activation);
    const auto found = std::find_if(kActivations.begin(), kActivations.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (found == kActivations.end())
        t.refuse("hidden_act", "gelu, quick_gelu or gelu_pytorch_tanh would open");
    o.text_activation = found->second;
}

// The image tower of CLIP, with the texts or without.
Family clip(bool texts) {
    auto f = vision(texts ? "clip" : "clip_vision_model", texts ? "CLIP" : "CLIP, its image tower",
                    1e-5);
    f.classes = texts
                    ? std::vector<std::string>{"CLIPModel", "CLIPForImageClassification"}
                    : std::vector<std::string>{"CLIPVisionModelWithProjection", "CLIPVisionModel"};
    f.bare = texts ? std::vector<std::string>{"CLIPModel"} : f.classes;
    f.prefix = "vision_model.", f.patch = 32;
    if (texts) f.inner = "vision_config";
    for (auto& key : f.keys)
        if (key.option == "activation") key.absent = key.null = std::string("quick_gelu");
    f.fixed.emplace_back("embed_norm", true);
    f.fixed.emplace_back("patch_bias", false);
    f.neutral = {"initializer_factor", "projection_dim", "logit_scale_init_value"};
    const std::string embeddings = "embeddings.";
    f.tensors = {
        {embeddings + "class_embedding", {"cls_token"}, StoredForm::Unbatched},
        {embeddings + "patch_embedding", {"to_patch_embedding.2"}, StoredForm::Patches},
        {embeddings + "position_embedding.weight", {"pos_embedding"}, StoredForm::Unbatched},
        {"pre_layrnorm", {"embed_norm"}}};
    addTower(f, "", "I", "encoder_blocks.", false);
    f.tensors.push_back({"post_layernorm", {"final_out.0"}});
    f.tensors.push_back({"classifier", {"final_out.1"}, StoredForm::Plain, true});
    f.tensors.push_back({"visual_projection", {"projection"}, StoredForm::Plain, true});
    f.ignored = {embeddings + "position_ids", "post_layernorm.weight", "post_layernorm.bias"};
    if (texts) {
        addTextTower(f);
        f.tensors.push_back({"text_projection", {"text.projection"}, StoredForm::Plain, true});
    }
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = options(m);
        const auto whole = c.part("");
        if (o.num_classes > 0) {
            o.pool = "mean", o.norm_all = false;
            return;
        }
        if (o.family == "clip_vision_model") {
            if (!isClass(*whole, "CLIPVisionModel")) o.projection = c.count("projection_dim", 512);
            return;
        }
        o.projection = whole->count("projection_dim", 512);
        o.text_activation = "quick_gelu";
        const auto t = c.part("text_config");
        readTexts(o, *t, 512, 2048, 8, 49408, 77);
        o.text_end = t->count("eos_token_id", 49407);
        // The first folders have 2 there, and their texts end at the largest id.
        if (o.text_end == 2) o.text_end = TextTowerOptions::kLargestToken;
    };
    return f;
}

// SigLIP, and SigLIP 2 of pictures of any form (NaFlex), with the texts or without.
Family siglip(bool second, bool texts) {
    const std::string type = second ? "siglip2" : "siglip";
    const std::string title = second ? "SigLIP 2" : "SigLIP";
    auto f = vision(texts ? type : type + "_vision_model",
                    texts ? title : title + ", its image tower", 1e-6);
    const std::string name = second ? "Siglip2" : "Siglip";
    f.classes = texts ? std::vector<std::string>{name + "Model", name + "ForImageClassification"}
                      : std::vector<std::string>{name + "VisionModel"};
    f.bare = {f.classes.front()};
    f.prefix = "vision_model.";
    if (texts) f.inner = "vision_config";
    for (auto& key : f.keys)
        if (key.option == "activation") key.absent = key.null = std::string("gelu");
    f.fixed.emplace_back("first_tokens", N{0});
    f.fixed.emplace_back("positions", std::string("patches"));
    if (second) f.fixed.emplace_back("position_scaling", std::string("bilinear_aa"));
    f.neutral = {"initializer_factor"};
    const std::string embeddings = "embeddings.";
    f.tensors = {
        {embeddings + "patch_embedding",
         {"to_patch_embedding.2"},
         second ? StoredForm::PatchRows : StoredForm::Patches},
        {embeddings + "position_embedding.weight", {"pos_embedding"}, StoredForm::Unbatched}};
    addTower(f, "", "I", "encoder_blocks.", false);
    const auto query = [](const char* kind) {
        std::vector<std::string> all;
        for (const char* name : {"wq", "wk", "wv"})
            all.push_back(std::string("pool.query_attn.") + name + kind);
        return all;
    };
    f.tensors.insert(f.tensors.end(),
                     {{"post_layernorm", {"final_out.0"}},
                      {"head.probe", {"pool.probe"}},
                      {"head.attention.in_proj_weight", query(".weight"), StoredForm::Rows},
                      {"head.attention.in_proj_bias", query(".bias"), StoredForm::Rows},
                      {"head.attention.out_proj", {"pool.query_attn.wo"}},
                      {"head.layernorm", {"pool.norm"}},
                      {"head.mlp.fc1", {"pool.ff_block.linear1"}},
                      {"head.mlp.fc2", {"pool.ff_block.linear2"}},
                      {"classifier", {"final_out.1"}, StoredForm::Plain, true}});
    f.ignored = {embeddings + "position_ids"};
    if (texts) {
        addTextTower(f);
        f.tensors.push_back({"text_model.head", {"text.projection"}, StoredForm::Plain, true});
        f.tensors.push_back({"logit_bias", {"logit_bias"}, StoredForm::Plain, true});
    }
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        auto& o = options(m);
        if (o.family.starts_with("siglip2")) {
            const auto places = c.count("num_patches", 256);
            const auto side = static_cast<N>(std::llround(std::sqrt(places)));
            if (side * side != places)
                c.refuse("num_patches", "the square of a whole number would open");
            o.position_grid = {side, side};
            o.image_shape[1] = side * o.patch_size[0], o.image_shape[2] = side * o.patch_size[1];
        }
        const bool query = c.flag("vision_use_head", true) && o.num_classes == 0;
        o.pool = query ? "query" : "mean";
        if (query) o.query_dff = o.dff;
        if (o.num_classes > 0 || o.family.ends_with("_vision_model")) return;
        o.text_activation = "gelu_pytorch_tanh", o.text_eps = 1e-6;
        const auto t = c.part("text_config");
        readTexts(o, *t, 768, 3072, 12, 32000, 64);
        o.text_causal = false, o.text_end = TextTowerOptions::kLastPlace;
        o.text_projection_bias = o.logit_bias = true;
        if (const auto width = t->count("projection_size", o.text_width); width != o.features())
            t->refuse("projection_size", std::to_string(o.features()) +
                                             ", the width of what it says of pictures, would open");
    };
    return f;
}

}  // namespace

const std::vector<Family>& imageFamilies() {
    static const std::vector<Family> all = {vit(),
                                            deit(),
                                            dinov2(false),
                                            dinov2(true),
                                            dinov3(),
                                            mae(),
                                            beit(),
                                            clip(true),
                                            clip(false),
                                            siglip(false, true),
                                            siglip(false, false),
                                            siglip(true, true),
                                            siglip(true, false),
                                            timmFamily()};
    return all;
}

}  // namespace relascope::core
