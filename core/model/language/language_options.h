// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the language models, under the names of the published constructors.
#pragma once

#include <string>

#include "model/blocks/stack_options.h"
#include "types/option_groups.h"

namespace relascope::core {

struct TransformerLMOptions : StreamOptions, StackDepth, TokenInput, BlockOptions {
    std::string pos_enc_type = "RoPE";

    bool rotary() const { return pos_enc_type == "RoPE"; }
    bool operator==(const TransformerLMOptions&) const = default;
};

struct DualAttnTransformerLMOptions : TransformerLMOptions, SymbolOptions {
    bool shared_symbol_retriever = true;
    bool weight_tie_symbol_library = false;
    bool operator==(const DualAttnTransformerLMOptions&) const = default;
};

StackOptions stackOf(const TransformerLMOptions& options);
StackOptions stackOf(const DualAttnTransformerLMOptions& options);

}  // namespace relascope::core
