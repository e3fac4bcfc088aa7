// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the sequence-to-sequence models, under the names of the published constructors. The
// block options are the encoder's; the decoder has its own.
#pragma once

#include "model/blocks/stack_options.h"
#include "types/option_groups.h"

namespace relascope::core {

struct Seq2SeqTransformerOptions : StreamOptions, EncoderDecoderDepth, PairInput, BlockOptions {
    bool tie_weights = false;  // stores final_out under a second name; ties nothing
    BlockOptions decoder;
    std::int64_t n_heads_cross = 8;
    bool operator==(const Seq2SeqTransformerOptions&) const = default;
};

struct Seq2SeqDualAttnTransformerOptions : Seq2SeqTransformerOptions, SymbolOptions {
    std::int64_t cross_n_kv_heads = 0, cross_key_dim = 0;
    bool cross_add_bias_kv = false, cross_add_bias_out = false;
    bool operator==(const Seq2SeqDualAttnTransformerOptions&) const = default;
};

/// The stacks of the encoder and of the decoder.
StackOptions encoderOf(const Seq2SeqTransformerOptions& options);
StackOptions encoderOf(const Seq2SeqDualAttnTransformerOptions& options);
StackOptions decoderOf(const Seq2SeqTransformerOptions& options);
StackOptions decoderOf(const Seq2SeqDualAttnTransformerOptions& options);

}  // namespace relascope::core
