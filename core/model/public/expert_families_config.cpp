// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of language models with experts: Mixtral, Qwen3-MoE, OLMoE. Keys, defaults and names
// of tensors are those of the `transformers` package 4.57.
#include <algorithm>

#include "model/public/family_tables.h"

namespace relascope::core {
namespace {

using namespace tables;
using N = std::int64_t;

// Llama with experts in place of its feed-forward: `names` of the tensors of gate, up and down.
Family withExperts(const char* type, const char* title, const char* name, const std::string& module,
                   const std::vector<const char*>& names) {
    auto f = llama();
    f.type = type, f.title = title, f.classes = {name};
    fix(f, "ff_bias", false);
    const auto in = "layers.I." + module + ".";
    f.tensors.push_back({in + "gate", parts({"ff_block.gate"})});
    const char* own[] = {"ff_block.experts.E.linear1", "ff_block.experts.E.linear3",
                         "ff_block.experts.E.linear2"};
    for (std::size_t i = 0; i < names.size(); ++i)
        f.tensors.push_back({in + "experts.E." + names[i], parts({own[i]})});
    f.refused = {{"experts.gate_up_proj",
                  "it holds all experts at once, as transformers 5 has them in memory; save the "
                  "model with save_pretrained, which writes them one by one"}};
    return f;
}

void addExpertKeys(Family& f, std::vector<std::string> names, N experts, N chosen) {
    replace(f, {std::move(names), "experts", experts});
    replace(f, {{"num_experts_per_tok"}, "experts_chosen", chosen});
}

void addQueryNorms(Family& f, const char* kind) {
    fix(f, "qk_norm", std::string(kind));
    f.tensors.push_back({"layers.I.self_attn.q_norm", parts({"self_attn.q_norm"})});
    f.tensors.push_back({"layers.I.self_attn.k_norm", parts({"self_attn.k_norm"})});
}

Family mixtral() {
    auto f = withExperts("mixtral", "Mixtral", "MixtralForCausalLM", "block_sparse_moe",
                         {"w1", "w3", "w2"});
    drop(f, "layers.I.mlp.");
    absent(f, {{"dff", N{14336}},
               {"max_block_size", N{131072}},
               {"norm_eps", 1e-5},
               {"rope_theta", 1e6}});
    for (const char* option : {"bias", "sa_add_bias_q", "sa_add_bias_kv"}) fix(f, option, false);
    replace(f, {{"num_key_value_heads"}, "sa_n_kv_heads", N{8}, kNone});
    replace(f, {{"sliding_window"}, "sliding_window", kNone});
    addExpertKeys(f, {"num_local_experts"}, 8, 2);
    return f;
}

Family qwen3Moe() {
    // Layers without experts have Llama's feed-forward.
    auto f = withExperts("qwen3_moe", "Qwen3-MoE", "Qwen3MoeForCausalLM", "mlp",
                         {"gate_proj", "up_proj", "down_proj"});
    absent(f, {{"vocab_size", N{151936}},
               {"d_model", N{2048}},
               {"dff", N{6144}},
               {"n_layers", N{24}},
               {"sa_n_kv_heads", N{4}},
               {"max_block_size", N{32768}}});
    addQueryNorms(f, "head");
    addExpertKeys(f, {"num_experts", "num_local_experts"}, 128, 8);
    replace(f, {{"moe_intermediate_size"}, "expert_dff", N{768}});
    replace(f, {{"norm_topk_prob"}, "experts_normed", false});
    replace(f, {{"sliding_window"}, "sliding_window", N{4096}, kNone});
    f.windowSwitch = "use_sliding_window";
    f.neutral = {"max_window_layers"};
    f.settle = [](ModelOptions& m, FamilyConfig& c) {
        const auto step = c.count("decoder_sparse_step", 1),
                   layers = std::min<N>(m.number("n_layers"), 100000);
        const auto* list = c.find("mlp_only_layers");
        if (list && !list->is_array()) c.refuse("mlp_only_layers", "a list of layers would open");
        std::string letters;
        for (N i = 0; i < layers; ++i) {
            const bool plain = list && std::find(list->begin(), list->end(),
                                                 nlohmann::ordered_json(i)) != list->end();
            letters += plain || (i + 1) % step != 0 ? 'D' : 'E';
        }
        m.set("ff_kinds", letters.find('D') == std::string::npos ? std::string() : letters);
    };
    return f;
}

Family olmoe() {
    auto f = withExperts("olmoe", "OLMoE", "OlmoeForCausalLM", "mlp",
                         {"gate_proj", "up_proj", "down_proj"});
    for (const char* name : {"gate_proj", "up_proj", "down_proj"})
        drop(f, std::string("layers.I.mlp.") + name);
    absent(f, {{"vocab_size", N{50304}},
               {"d_model", N{2048}},
               {"dff", N{2048}},
               {"n_layers", N{16}},
               {"n_heads_sa", N{16}},
               {"max_block_size", N{4096}},
               {"norm_eps", 1e-5}});
    addQueryNorms(f, "all");
    addExpertKeys(f, {"num_experts", "num_local_experts"}, 64, 8);
    replace(f, {{"norm_topk_prob"}, "experts_normed", false});
    replace(f, {{"clip_qkv"}, "clip_qkv", 0.0});
    return f;
}

}  // namespace

const std::vector<Family>& expertFamilies() {
    static const std::vector<Family> all = {mixtral(), qwen3Moe(), olmoe()};
    return all;
}

}  // namespace relascope::core
