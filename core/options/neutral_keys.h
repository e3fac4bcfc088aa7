// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of config.json that change nothing for any public family.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace relascope::core {

/// Keys that change nothing here: of training, of generation, of heads that are not opened, and
/// types, since those of the files count.
inline const std::set<std::string> kNeutral = {"_name_or_path",
                                               "architectures",
                                               "attention_dropout",
                                               "attention_probs_dropout_prob",
                                               "attn_pdrop",
                                               "_sliding_window_pattern",
                                               "auto_map",
                                               "cache_implementation",
                                               "classifier_dropout",
                                               "dropout",
                                               "dtype",
                                               "embd_pdrop",
                                               "encoder_stride",
                                               "hidden_dropout",
                                               "hidden_dropout_prob",
                                               "id2label",
                                               "init_std",
                                               "initializer_range",
                                               "label2id",
                                               "layerdrop",
                                               "model_type",
                                               "n_ctx",
                                               "num_labels",
                                               "output_router_logits",
                                               "pretraining_tp",
                                               "reorder_and_upcast_attn",
                                               "reference_compile",
                                               "resid_pdrop",
                                               "slow_but_exact",
                                               "task_specific_params",
                                               "torch_dtype",
                                               "transformers_version",
                                               "use_cache"};

inline constexpr std::array kNeutralBeginnings = {"summary_", "pooler_", "router_", "sparse_",
                                                  "mm_"};

/// Whether a key is one of these, by its name or its beginning.
inline bool isNeutral(const std::string& key) {
    if (kNeutral.count(key) > 0 || key.ends_with("_token_id") || key.ends_with("_dropout"))
        return true;
    return std::any_of(kNeutralBeginnings.begin(), kNeutralBeginnings.end(),
                       [&key](const char* beginning) { return key.starts_with(beginning); });
}

}  // namespace relascope::core
