// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/family_ledger.h"

#include <algorithm>
#include <map>

#include "model/architecture.h"
#include "model/nanochat/nanochat_options.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Config = nlohmann::ordered_json;

ModelOptions modelOfType(const Family& family) {
    // The base has no default where versions of the package differ.
    Config config = {{"rope_theta", 10000.0}};
    if (!family.inner.empty()) config = {{family.inner, Config::object()}};
    config.update(family.usual);
    try {
        return modelOfFamily(family, config);
    } catch (const Error&) {  // its sizes have no defaults
        return ModelOptions(family.architecture);
    }
}

// Types of models that do not open: what of them is not computed, {key} being a value of the
// configuration.
struct Unopened {
    std::vector<std::string> types;
    std::string part;
    bool watched = true;  ///< has attention, which relascope.watch shows
};

const std::vector<Unopened>& unopened() {
    static const std::vector<Unopened> all = {
        {{"mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"},
         "whose layers have no attention to show",
         false},
        {{"deepseek_v2", "deepseek_v3", "minicpm3", "longcat_flash"},
         "which makes keys of latent vectors (kv_lora_rank {kv_lora_rank}), which is not computed "
         "here"},
        {{"gpt_oss"}, "which has a sink in each head and clamped experts, not computed here"},
        {{"qwen3_next", "jamba", "bamba", "zamba", "zamba2", "granitemoehybrid", "lfm2",
          "falcon_h1", "nemotron_h", "recurrent_gemma", "kimi_linear", "minimax"},
         "of which {layers}, not computed here"},
        {{"llama4", "llama4_text"},
         "which has attention in chunks and a shared expert, not computed here"},
        {{"t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "m2m_100", "whisper"},
         "which reads one text and writes another (an encoder and a decoder), not computed here"}};
    return all;
}

// "3 of its 4 layers are linear_attention": the most frequent kind that is no attention.
std::string layersText(const Config& config) {
    for (const char* key : {"layer_types", "layers_block_type", "block_types"}) {
        const auto list = config.find(key);
        if (list == config.end() || !list->is_array() || list->size() > 100000) continue;
        std::map<std::string, std::size_t> counts;
        for (const auto& kind : *list)
            if (kind.is_string() && kind != "full_attention" && kind != "sliding_attention" &&
                kind != "attention")
                ++counts[kind.get<std::string>().substr(0, 40)];
        const auto most =
            std::max_element(counts.begin(), counts.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == counts.end()) continue;
        return std::to_string(most->second) + " of its " + std::to_string(list->size()) +
               " layers are " + most->first;
    }
    return "some layers have no attention";
}

std::string partText(const Unopened& family, const Config& config) {
    auto text = family.part;
    for (auto from = text.find('{'); from != std::string::npos; from = text.find('{')) {
        const auto to = text.find('}', from);
        const auto key = text.substr(from + 1, to - from - 1);
        const auto value = config.find(key);
        text.replace(
            from, to - from + 1,
            key == "layers"         ? layersText(config)
            : value == config.end() ? "of the class"
            : value->is_structured()
                ? "..."
                : value->dump(-1, ' ', false, Config::error_handler_t::replace).substr(0, 40));
    }
    return text;
}

}  // namespace

std::vector<FamilyFacts> familyLedger() {
    std::vector<FamilyFacts> all;
    for (const auto& family : families()) {
        const auto model = modelOfType(family);
        FamilyFacts facts{family.type, family.title, "none", "scores", "logits", "continues"};
        const auto* details = model.find<BlockDetails>();
        const auto* ends = model.find<EndDetails>();
        const bool ours = model.find<NanochatOptions>() != nullptr;
        const bool encoder = readsBothWays(model);
        if (model.input() == InputKind::Tokens && !encoder)
            facts.generation = !ours && details && hasRowForm(*details, ends ? *ends : EndDetails())
                                   ? "one row a token"
                                   : "with the cache";
        if (ours) facts.qkAttribution = "relations";
        if (const auto* scores = model.find<BlockDetails>(); scores && scores->hasPlaceBias())
            facts.qkAttribution = "none";
        if (const auto* block = model.find<BlockOptions>();
            encoder || (block && !block->norm_first))
            facts.attribution = "none";
        if (answersNumbers(model)) facts.attribution = "with a head";
        if (!noTrainingText(model).empty()) facts.training = "none";
        all.push_back(std::move(facts));
    }
    return all;
}

std::string unopenedText(const std::string& type, const Config& config) {
    for (const auto& family : unopened()) {
        if (std::find(family.types.begin(), family.types.end(), type) == family.types.end())
            continue;
        return "is '" + type + "', " + partText(family, config) +
               (family.watched ? "; relascope.watch shows its attention from PyTorch" : "");
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> unopenedFamilies() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& family : unopened())
        for (const auto& type : family.types)
            all.emplace_back(type, partText(family, Config::object()));
    return all;
}

}  // namespace relascope::core
