// SPDX-License-Identifier: GPL-3.0-or-later
// The table of timm's ViTs: almost everything follows from the tensors, and the rest from the name
// of the architecture (timm 1.0.31).
#include <algorithm>
#include <cmath>
#include <set>

#include "model/public/family_tables.h"
#include "model/public/timm_names.h"
#include "options/image_processor.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

using N = std::int64_t;

// The row of a name. Throws OptionError for one that does not open.
const TimmName& rowOf(const std::string& name) {
    const auto& all = timmNames();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
    if (found != all.end()) return *found;
    for (const auto& [refused, why] : refusedTimmNames())
        if (refused == name)
            throw OptionError("architecture", "is '" + name + "', which has " + why +
                                                  " that this program does not compute; another "
                                                  "ViT of timm would open");
    std::vector<std::string> names;
    for (const auto& row : all) names.push_back(row.name);
    throw OptionError("architecture", unknownName("architecture of timm", name, names) +
                                          "; ViTs of timm's vision_transformer open");
}

// The keys of model_args that are read; any other is refused by name.
const std::set<std::string> kArguments = {
    "num_heads",        "img_size",  "patch_size",  "embed_dim",  "depth",       "global_pool",
    "num_classes",      "in_chans",  "class_token", "reg_tokens", "init_values", "no_embed_class",
    "dynamic_img_size", "mlp_ratio", "qkv_bias",    "fc_norm"};

// The number of blocks of a file.
N depthOf(FamilyConfig& c, N most = 1024) {
    N depth = 0;
    while (depth < most && !c.shape("blocks." + std::to_string(depth) + ".norm1.weight").empty())
        ++depth;
    return depth;
}

void settle(ModelOptions& m, FamilyConfig& c) {
    auto& o = m.get<PublicImageOptions>();
    const auto name = c.text("architecture", "");
    const auto& row = rowOf(name.substr(0, name.find('.')));
    const auto args = c.part("model_args"), given = c.part("pretrained_cfg");
    if (const auto* all = c.find("model_args"); all && all->is_object())
        for (const auto& [key, value] : all->items())
            if (!kArguments.count(key))
                args->refuse(key,
                             "leave it out; these are read: heads, sizes, pool, classes and "
                             "first tokens");
    const auto has = [&](const char* tensor) { return !c.shape(tensor).empty(); };
    const auto size = [&](const std::string& tensor, std::size_t at) {
        const auto shape = c.shape(tensor);
        return at < shape.size() ? shape[at] : N{0};
    };
    const auto patch = c.shape("patch_embed.proj.weight");
    if (patch.size() != 4)
        throw OptionError("architecture",
                          "is '" + name +
                              "', and the file has no 'patch_embed.proj.weight' of four "
                              "dimensions; take the weights of a ViT of timm");
    o.d_model = patch[0], o.patch_size = {patch[3], patch[2]};
    o.patch_bias = has("patch_embed.proj.bias");
    o.n_layers = depthOf(c);
    o.n_heads_sa = args->count("num_heads", row.heads);
    o.norm_eps = row.eps, o.activation = row.activation, o.ff_gate = row.activation == "swiglu";
    // A gate is stored in one tensor with what it gates.
    o.dff = size("blocks.0.mlp.fc2.weight", 1);
    o.sa_add_bias_q = o.sa_add_bias_kv = has("blocks.0.attn.qkv.bias");
    o.bias = has("blocks.0.attn.proj.bias"), o.ff_bias = has("blocks.0.mlp.fc1.bias");
    o.layer_scale = has("blocks.0.ls1.gamma");
    o.embed_norm = has("norm_pre.weight");
    o.first_tokens = (has("cls_token") ? 1 : 0) + (has("dist_token") ? 1 : 0);
    o.registers = size("reg_token", 1);

    // The pool, and what stands around it.
    const auto pool = args->text("global_pool", row.pool == "cls"    ? "token"
                                                : row.pool == "mean" ? "avg"
                                                                     : "map");
    if (pool != "token" && pool != "avg" && pool != "map")
        args->refuse("global_pool", "\"token\", \"avg\" or \"map\" would open");
    o.pool = pool == "token" ? "cls" : pool == "avg" ? "mean" : "query";
    o.pool_all = row.poolAll;
    o.norm_all = has("norm.weight"), o.norm_pooled = has("fc_norm.weight");
    if (o.pool == "query") o.query_dff = size("attn_pool.mlp.fc1.weight", 0);
    const auto rows = size("head.weight", 0);
    o.two_classifiers = has("head_dist.weight");
    // CLIP's head is its projection, unless it was tuned to classes ("openai_ft_in1k").
    const bool projects = row.name.find("_clip_") != std::string::npos && !c.find("label_names") &&
                          given->text("tag", "").find("ft_") == std::string::npos;
    o.num_classes = projects ? 0 : rows;
    o.projection = projects ? rows : 0;
    o.projection_bias = has("head.bias");

    // The grid that positions were learned for, and which tokens have some.
    auto height = N{0}, width = N{0};
    const auto sides = [&](FamilyConfig& from, const char* key, std::size_t first) {
        const auto* value = from.find(key);
        if (!value) return;
        if (value->is_number_unsigned()) height = width = value->get<N>();
        if (value->is_array() && value->size() == first + 2 &&
            (*value)[first].is_number_unsigned() && (*value)[first + 1].is_number_unsigned())
            height = (*value)[first].get<N>(), width = (*value)[first + 1].get<N>();
    };
    const auto places = size("pos_embed", 1), before = o.before();
    sides(*given, "input_size", 1);
    sides(c, "input_size", 1);  // as old files have it
    sides(*args, "img_size", 0);
    const auto fits = [&](N n) {
        return height > 0 && height / patch[2] * (width / patch[3]) == n;
    };
    const bool all = fits(places - before), alone = fits(places);
    if (!all && !alone) {
        for (const auto n : {places - before, places}) {
            const auto side = static_cast<N>(std::llround(std::sqrt(std::max<N>(n, 0))));
            if (side > 0 && side * side == n && !fits(places) && !fits(places - before))
                height = side * patch[2], width = side * patch[3];
        }
        if (!fits(places - before) && !fits(places))
            throw OptionError("pos_embed", "has " + std::to_string(places) +
                                               " rows, which are no grid of patches with or "
                                               "without the " +
                                               std::to_string(before) +
                                               " first tokens; give img_size in model_args");
    }
    o.positions = fits(places - before) && !(fits(places) && !all) ? "all" : "patches";
    o.position_scaling = "bicubic_aa";
    o.position_grid = {width / patch[3], height / patch[2]};
    o.image_shape = {patch[1], width, height};
}

}  // namespace

Family timmFamily() {
    Family f;
    f.type = "timm", f.title = "ViT of timm", f.architecture = kPublicImageModel;
    f.keysOf = {"architecture"};
    f.fixed = {{"norm_type", std::string("layernorm")}};
    f.neutral = {"architecture", "num_classes",        "num_features", "global_pool",
                 "label_names",  "label_descriptions", "model_args",   "pretrained_cfg"};
    const auto part = [](const std::string& name) {
        return std::vector<std::string>{"encoder_blocks.I." + name};
    };
    const auto parts = [&](std::initializer_list<const char*> names) {
        std::vector<std::string> all;
        for (const char* name : names) all.push_back(part(name).front());
        return all;
    };
    const std::string block = "blocks.I.";
    const FamilyCondition gated = {"ff_gate", true, "a gate"}, plain = {"ff_gate", false, "none"};
    const auto when = [](FamilyTensor tensor, const FamilyCondition& condition) {
        tensor.when = condition;
        return tensor;
    };
    const FamilyCondition two = {"two_classifiers", true, "two classifiers"},
                          one = {"two_classifiers", false, "one classifier"};
    f.tensors = {
        {"cls_token", {"cls_token"}},
        {"dist_token", {"distillation_token"}},
        {"reg_token", {"register_tokens"}},
        {"pos_embed", {"pos_embedding"}},
        {"patch_embed.proj", {"to_patch_embedding.2"}, StoredForm::Patches},
        {"norm_pre", {"embed_norm"}},
        {block + "norm1", part("norm1")},
        {block + "attn.qkv", parts({"self_attn.wq", "self_attn.wk", "self_attn.wv"}),
         StoredForm::Rows},
        {block + "attn.proj", part("self_attn.wo")},
        {block + "ls1.gamma", part("norm1_behind.weight")},
        {block + "norm2", part("norm2")},
        when({block + "mlp.fc1", parts({"ff_block.linear1", "ff_block.linear3"}), StoredForm::Rows},
             gated),
        when({block + "mlp.fc1", part("ff_block.linear1")}, plain),
        {block + "mlp.fc2", part("ff_block.linear2")},
        {block + "ls2.gamma", part("norm2_behind.weight")},
        {"norm", {"final_out.0"}},
        {"fc_norm", {"pooled_norm"}},
        {"attn_pool.latent", {"pool.probe"}},
        {"attn_pool.q", {"pool.query_attn.wq"}},
        {"attn_pool.kv", {"pool.query_attn.wk", "pool.query_attn.wv"}, StoredForm::Rows},
        {"attn_pool.proj", {"pool.query_attn.wo"}},
        {"attn_pool.norm", {"pool.norm"}},
        {"attn_pool.mlp.fc1", {"pool.ff_block.linear1"}},
        {"attn_pool.mlp.fc2", {"pool.ff_block.linear2"}},
        when({"head", {"final_out.1"}}, one),
        {"head", {"projection"}},
        when({"head", {"class_out"}}, two),
        {"head_dist", {"distillation_out"}}};
    f.settle = settle;
    f.processor = timmImageProcessor;
    return f;
}

}  // namespace relascope::core
