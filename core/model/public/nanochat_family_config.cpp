// SPDX-License-Identifier: GPL-3.0-or-later
// nanochat's checkpoints: the model_config of their meta files, and their tensors. A key that is
// missing has the value that the loader of nanochat gives it, which is not the default of its
// class.
#include <algorithm>
#include <cmath>

#include "model/architecture.h"
#include "model/nanochat/nanochat_options.h"
#include "model/public/family.h"
#include "options/json_arguments.h"
#include "types/error.h"
#include "types/field_text.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

constexpr const char* kNanochat = "nanochat";
constexpr const char* kHadamardNanochat = "nanochat_hadamard";
constexpr std::int64_t kContexts = 10;  // texts may be so many times longer than sequence_len

// Python's round(): halves go to the even number.
std::int64_t rounded(double value) {
    return static_cast<std::int64_t>(std::nearbyint(value));
}

const std::vector<std::string>& nanochatKeys() {
    static const std::vector<std::string> all = {
        "sequence_len", "vocab_size", "n_layer", "n_head", "n_kv_head", "n_embd",
        // Keys that older files lack.
        "window_pattern", "attention_impl", "dual_rel_head_proportion", "use_residual_augmentation",
        "residual_stride", "residual_gate_channels"};
    return all;
}

ModelOptions nanochatModel(const nlohmann::ordered_json& config) {
    for (const auto& [key, value] : config.items()) {
        if (key == "model_type") continue;
        const auto& known = nanochatKeys();
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw OptionError(key.substr(0, 60),
                              "is not a key of the versions of nanochat that open: later ones "
                              "compute otherwise; " +
                                  unknownName("key", key, known));
        if (value.is_null()) throw OptionError(key, "is null; give its value, or leave it out");
    }
    JsonArguments a(config, "");
    a.require({"sequence_len", "vocab_size", "n_layer", "n_head", "n_kv_head", "n_embd"});
    a.has("model_type");
    ModelOptions m(kNanochatDecoder);
    auto& o = m.get<NanochatOptions>();
    std::int64_t heads = 0;
    a.read("sequence_len", o.sequence_len, 1);
    a.read("vocab_size", o.vocab_size, 1);
    a.read("n_layer", o.n_layers, 1);
    a.read("n_head", heads, 1);
    a.read("n_kv_head", o.n_kv_heads, 1);
    a.read("n_embd", o.d_model, 1);
    a.read("window_pattern", o.window_pattern);
    std::string heads_are = "standard";
    a.read("attention_impl", heads_are);
    double share = 0.5;
    a.read("dual_rel_head_proportion", share);
    a.read("use_residual_augmentation", o.use_residual_augmentation);
    a.read("residual_stride", o.residual_stride, 1);
    a.read("residual_gate_channels", o.residual_gate_channels, 1);
    if (heads_are != "standard" && heads_are != "hadamard_dual")
        throw OptionError("attention_impl", "is '" + heads_are.substr(0, 60) +
                                                "', which is not supported; standard and "
                                                "hadamard_dual open");
    if (!(share >= 0.0 && share <= 1.0))
        throw OptionError("dual_rel_head_proportion",
                          "is " + nlohmann::json(share).dump() + "; a share of 0 to 1 would open");
    o.hadamard = heads_are == "hadamard_dual";
    o.family = o.hadamard ? kHadamardNanochat : kNanochat;
    o.n_heads_ra = o.hadamard ? rounded(static_cast<double>(heads) * share) : 0;
    o.n_heads_sa = heads - o.n_heads_ra;
    o.max_block_size = kContexts * o.sequence_len;
    const auto nameOf = [](const std::string& field) -> std::string {
        for (const auto& [own, key] : {std::pair{"d_model", "n_embd"},
                                       {"n_layers", "n_layer"},
                                       {"n_kv_heads", "n_kv_head"},
                                       {"max_block_size", "sequence_len"},
                                       {"n_heads_sa", "n_head"},
                                       {"n_heads_ra", "n_head"},
                                       {"sa_key_dim", "n_embd"},
                                       {"ra_key_dim", "n_embd"}})
            if (field == own) return key;
        return field;
    };
    for (const auto& field : m.info().fields)
        if (field.applies(m)) checkFieldValue(nameOf(field.spec.name), field.spec, field.get(m));
    for (const auto& problem : m.problems())
        throw OptionError(nameOf(problem.field), problem.message);
    return m;
}

Family nanochatFamily(bool hadamard) {
    Family f;
    f.type = hadamard ? kHadamardNanochat : kNanochat;
    f.title = hadamard ? "nanochat with Hadamard relations" : "nanochat";
    f.architecture = kNanochatDecoder;
    f.prefix = "transformer.";
    f.read = nanochatModel;
    const std::string block = "layers.blocks.I.", attention = block + "dual_attn.",
                      stored = hadamard ? "h.I.attn.impl." : "h.I.attn.";
    const auto outside = [&](const char* name, const char* part, std::optional<double> absent) {
        FamilyTensor tensor{name, {part}, StoredForm::Plain, true};
        tensor.absent = absent;
        f.tensors.push_back(tensor);
    };
    outside("resid_lambdas", "layers.resid_lambdas", 1.0);
    outside("x0_lambdas", "layers.x0_lambdas", 0.0);
    f.tensors.push_back({"wte", {"layers.token_embedder"}});
    for (const auto& [name, part] : {std::pair{"c_q", "wq"},
                                     {"c_k", "wk"},
                                     {"c_v", "wv"},
                                     {"c_xk_rel", "wk_rel"},
                                     {"c_q_rel", "wq_rel"},
                                     {"c_proj", "wo"},
                                     {hadamard ? "sa_residual_gate" : "ve_gate", "value_gate"},
                                     {"ra_residual_gate", "rel_gate"}})
        f.tensors.push_back({stored + name, {attention + part}});
    f.tensors.push_back({"h.I.mlp.c_fc", {block + "ff_block.linear1"}});
    f.tensors.push_back({"h.I.mlp.c_proj", {block + "ff_block.linear2"}});
    outside("lm_head", "layers.final_out", {});
    outside("value_embeds.I.weight", "layers.value_embedders.I.weight", {});
    return f;
}

}  // namespace

const std::vector<Family>& nanochatFamilies() {
    static const std::vector<Family> all = {nanochatFamily(false), nanochatFamily(true)};
    return all;
}

}  // namespace relascope::core
