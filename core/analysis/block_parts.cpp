// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/block_parts.h"

namespace relascope::core {
namespace {

// The module, or null for one that the model does without.
template <class Holder>
auto* moduleOf(const Holder& holder) {
    return holder.is_empty() ? nullptr : holder.ptr().get();
}

template <class Block>
bool takeDual(const torch::nn::Module& module, BlockParts& parts) {
    const auto* block = dynamic_cast<const Block*>(&module);
    if (!block) return false;
    parts.sensory = moduleOf(block->dual_attn->self_attention);
    parts.relational = block->dual_attn->relational_attention.get();
    parts.feedForward = moduleOf(block->ff_block);
    if constexpr (std::is_same_v<Block, DualAttnDecoderBlockImpl>)
        parts.cross = moduleOf(block->cross_attn);
    return true;
}

template <class Block>
bool takePlain(const torch::nn::Module& module, BlockParts& parts) {
    const auto* block = dynamic_cast<const Block*>(&module);
    if (!block) return false;
    parts.sensory = moduleOf(block->self_attn);
    parts.feedForward = moduleOf(block->ff_block);
    if constexpr (std::is_same_v<Block, DecoderBlockImpl>)
        parts.cross = moduleOf(block->cross_attn);
    return true;
}

}  // namespace

BlockParts partsOf(const torch::nn::Module& module) {
    BlockParts parts;
    if (!takeDual<DualAttnEncoderBlockImpl>(module, parts) &&
        !takeDual<DualAttnDecoderBlockImpl>(module, parts) &&
        !takePlain<EncoderBlockImpl>(module, parts))
        takePlain<DecoderBlockImpl>(module, parts);
    return parts;
}

}  // namespace relascope::core
