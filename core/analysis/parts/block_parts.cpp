// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/block_parts.h"

#include <sstream>

#include "interventions/editor.h"

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
    if constexpr (std::is_same_v<Block, DecoderBlockImpl>) {
        parts.cross = moduleOf(block->cross_attn);
    } else {
        parts.attentionBehind = moduleOf(block->norm1_behind);
        parts.feedBehind = moduleOf(block->norm2_behind);
        parts.feedNorm = moduleOf(block->norm2);
        parts.residualScale = block->residualScale();
    }
    return true;
}

}  // namespace

torch::Tensor precise(const torch::Tensor& t) {
    return t.defined() ? t.detach().to(torch::kCPU, torch::kDouble) : t;
}

torch::Tensor attentionOutput(const AttentionImpl& attention, const torch::Tensor& z) {
    const auto out = torch::matmul(precise(z).flatten(-2), precise(attention.wo->weight).t());
    return attention.wo->bias.defined() ? out + precise(attention.wo->bias) : out;
}

torch::Tensor feedOutput(FeedForwardImpl& feedForward, const torch::Tensor& read) {
    const torch::NoGradGuard noGrad;
    const InterventionScope unhooked(nullptr);
    return feedForward.forward(read).to(torch::kCPU, torch::kDouble);
}

BlockParts partsOf(const torch::nn::Module& module) {
    BlockParts parts;
    if (const auto* block = dynamic_cast<const NanochatBlockImpl*>(&module)) {
        parts.shared = moduleOf(block->dual_attn);
        parts.feedForward = moduleOf(block->ff_block);
        return parts;
    }
    if (!takeDual<DualAttnEncoderBlockImpl>(module, parts) &&
        !takeDual<DualAttnDecoderBlockImpl>(module, parts) &&
        !takePlain<EncoderBlockImpl>(module, parts))
        takePlain<DecoderBlockImpl>(module, parts);
    return parts;
}

std::shared_ptr<torch::nn::Module> moduleAt(torch::nn::Module& model, const std::string& path) {
    std::shared_ptr<torch::nn::Module> found;
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, '.');) {
        const auto children = (found ? *found : model).named_children();
        if (!children.contains(name)) return nullptr;
        found = children[name];
    }
    return found;
}

std::vector<HeadsOfShared> headsOf(const NanochatAttentionImpl& shared) {
    std::vector<HeadsOfShared> all;
    std::int64_t at = 0;
    const auto take = [&](PartKind kind, const Attention& heads) {
        if (heads.is_empty()) return;
        const auto width = heads->width();
        all.push_back({kind, heads->hook, Linear(shared.wo->weight.slice(1, at, at + width))});
        at += width;
    };
    take(PartKind::SensoryHead, shared.self_attention);
    take(PartKind::RelationalHead, shared.relational_attention);
    return all;
}

}  // namespace relascope::core
