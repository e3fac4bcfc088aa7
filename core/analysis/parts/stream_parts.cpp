// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/stream_parts.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/abstractor/abstractor.h"
#include "model/abstractor/fixed_relations.h"
#include "model/abstractor/message_passing.h"
#include "model/attention/positions.h"
#include "model/baselines/baseline_options.h"
#include "model/public/family.h"
#include "model/seq2seq/seq2seq.h"
#include "types/error.h"

namespace relascope::core {
namespace {

template <class Impl, class Holder>
Impl* implOf(const Holder& holder) {
    return holder.is_empty() ? nullptr : holder.ptr().get();
}

using Kind = SubLayer::Kind;
using Onto = SubLayer::Onto;

// The sub-layers of a block of a Transformer or of dual attention.
template <class Block>
bool takeBlock(torch::nn::Module& module, StreamBlock& block) {
    auto* b = dynamic_cast<Block*>(&module);
    if (!b) return false;
    const auto at = [&](const char* name) { return b->hook + name; };
    block.hook = b->hook, block.path = b->path, block.normFirst = b->normFirst();
    block.parts = partsOf(*b), block.feedForward = block.parts.feedForward;
    block.subs = {{Kind::Attention, implOf<NormImpl>(b->norm1), 1, at(".hook_resid_pre"),
                   at(".hook_attn_out"), at(".hook_resid_mid")}};
    if constexpr (requires { b->norm3; }) {
        block.subs.push_back({Kind::Middle, implOf<NormImpl>(b->norm2), 2, at(".hook_resid_mid"),
                              at(".hook_cross_attn_out"), at(".hook_resid_mid_cross")});
        block.subs.push_back({Kind::FeedForward, implOf<NormImpl>(b->norm3), 3,
                              at(".hook_resid_mid_cross"), at(".hook_mlp_out"),
                              at(".hook_resid_post")});
    } else {
        block.subs.push_back({Kind::FeedForward, implOf<NormImpl>(b->norm2), 2,
                              at(".hook_resid_mid"), at(".hook_mlp_out"), at(".hook_resid_post")});
    }
    block.subs.front().behind = block.parts.attentionBehind;
    block.subs.back().behind = block.parts.feedBehind;
    for (auto& sub : block.subs) sub.scale = block.parts.residualScale;
    return true;
}

bool takeNanochat(torch::nn::Module& module, StreamBlock& block) {
    auto* b = dynamic_cast<NanochatBlockImpl*>(&module);
    if (!b) return false;
    const auto at = [&](const char* name) { return b->hook + name; };
    block.hook = b->hook, block.path = b->path;
    block.parts = partsOf(*b), block.feedForward = block.parts.feedForward;
    block.subs = {{Kind::Attention, implOf<NormImpl>(b->norm1), 1, at(".hook_resid_pre"),
                   at(".hook_attn_out"), at(".hook_resid_mid")},
                  {Kind::FeedForward, implOf<NormImpl>(b->norm2), 2, at(".hook_resid_mid"),
                   at(".hook_mlp_out"), at(".hook_resid_post")}};
    return true;
}

// Adds a sub-layer behind those that are there.
void addSub(StreamBlock& block, Kind kind, NormImpl* norm, int number, const char* out,
            const char* after, Onto onto = Onto::Stream) {
    const auto before =
        block.subs.empty() ? block.hook + ".hook_resid_pre" : block.subs.back().after;
    block.subs.push_back({kind, norm, number, before, block.hook + out, block.hook + after, onto});
}

Onto ontoOf(const std::string& residual) {
    return residual == "none"      ? Onto::Nothing
           : residual == "objects" ? Onto::Objects
                                   : Onto::Stream;
}

bool takeAbstractor(torch::nn::Module& module, StreamBlock& block) {
    auto* b = dynamic_cast<AbstractorBlockImpl*>(&module);
    if (!b) return false;
    const auto& parts = b->parts();
    block.hook = b->hook, block.path = b->path, block.normFirst = parts.normFirst;
    block.self = implOf<AbstractorAttentionImpl>(b->self_attn);
    block.middle = implOf<AbstractorAttentionImpl>(b->middle);
    block.feedForward = implOf<FeedForwardImpl>(b->ff_block);
    block.relational = parts.kind == AbstractorBlockImpl::Middle::Relational;
    if (block.self)
        addSub(block, Kind::Attention, implOf<NormImpl>(b->norm1), 1, ".hook_attn_out",
               ".hook_resid_mid");
    if (block.middle)
        addSub(block, Kind::Middle, implOf<NormImpl>(b->norm2), 2, ".hook_cross_attn_out",
               ".hook_resid_mid_cross", ontoOf(parts.residual));
    if (block.feedForward)
        addSub(block, Kind::FeedForward, implOf<NormImpl>(b->norm3), 3, ".hook_mlp_out",
               ".hook_resid_post", parts.residual == "none" ? Onto::Nothing : Onto::Stream);
    return true;
}

// A layer of the Abstractor for images, whose class only its own file knows.
bool takeImageAbstractor(torch::nn::Module& module, const ModelOptions& options,
                         StreamBlock& block) {
    const auto* o = options.find<ImageAbstractorOptions>();
    const auto* point = dynamic_cast<RecordingPoint*>(&module);
    if (!o || !point) return false;
    const auto child = [&](const char* name) { return moduleAt(module, name).get(); };
    block.imageMiddle = dynamic_cast<AttentionImpl*>(child("rel_attn"));
    if (!block.imageMiddle) return false;
    block.hook = point->hook, block.path = point->path;
    block.normFirst = o->norm_first, block.relational = true;
    block.imageSelf = dynamic_cast<AttentionImpl*>(child("self_attn"));
    block.feedForward = dynamic_cast<FeedForwardImpl*>(child("ff_block"));
    auto* norm1 = dynamic_cast<NormImpl*>(child("norm1"));
    if (block.imageSelf)
        addSub(block, Kind::Attention, norm1, 1, ".hook_attn_out", ".hook_resid_mid");
    addSub(block, Kind::Middle, norm1, 1, ".hook_cross_attn_out", ".hook_resid_mid_cross",
           Onto::Objects);
    addSub(block, Kind::FeedForward, dynamic_cast<NormImpl*>(child("norm2")), 2, ".hook_mlp_out",
           ".hook_resid_post");
    return true;
}

bool takeMessages(torch::nn::Module& module, StreamBlock& block) {
    block.messages = dynamic_cast<MessagePassingLayerImpl*>(&module);
    if (!block.messages) return false;
    block.hook = block.messages->hook, block.path = block.messages->path;
    block.self = implOf<AbstractorAttentionImpl>(block.messages->self_attn);
    block.feedForward = implOf<FeedForwardImpl>(block.messages->ff_block);
    return true;
}

}  // namespace

int StreamBlock::find(SubLayer::Kind kind) const {
    for (std::size_t i = 0; i < subs.size(); ++i)
        if (subs[i].kind == kind) return static_cast<int>(i);
    return -1;
}

ModelStreams::ModelStreams(ModelImpl& model, const ModelOptions& options,
                           std::vector<std::string> features)
    : m_model(model), m_options(options), m_featureNames(std::move(features)) {
    std::map<std::string, StreamBlock> blocks;
    bool pairwise = false;
    for (const auto& module : model.modules(false)) {
        StreamBlock block;
        if (takeBlock<DualAttnEncoderBlockImpl>(*module, block) ||
            takeBlock<EncoderBlockImpl>(*module, block) ||
            takeBlock<DualAttnDecoderBlockImpl>(*module, block) ||
            takeBlock<DecoderBlockImpl>(*module, block) || takeNanochat(*module, block) ||
            takeAbstractor(*module, block) || takeImageAbstractor(*module, options, block) ||
            takeMessages(*module, block))
            blocks[block.hook] = block;
        pairwise = pairwise || dynamic_cast<PairwiseRelationsImpl*>(module.get());
    }
    // Blocks PREFIX.0, PREFIX.1, ...
    const auto listed = [&](const std::string& prefix) {
        std::vector<StreamBlock> list;
        for (std::size_t i = 0; blocks.count(prefix + "." + std::to_string(i)) > 0; ++i)
            list.push_back(blocks.at(prefix + "." + std::to_string(i)));
        return list;
    };
    const bool pairs = options.find<PairInput>() != nullptr;
    const auto end = [&](std::size_t stack) {
        return StreamPlace{static_cast<int>(stack), m_stacks[stack].blocks.size(), 0};
    };
    StreamStack first;
    first.name = pairs ? "encoder" : blocks.count("blocks.0") > 0 ? "blocks" : "objects";
    first.blocks = listed(first.name);
    first.start = pairs ? "encoder." : "";
    first.raw = pairwise;
    m_stacks.push_back(first);
    const auto* whole = options.find<Seq2SeqAbstractorOptions>();
    auto objects = whole && whole->abstractor_architecture == "c" ? StreamPlace{} : end(0);
    // The first Abstractor of a chain, and the further ones.
    for (int k = 0;; ++k) {
        StreamStack next;
        const auto prefix = k == 0 ? std::string("abstractor") : "abstractor." + std::to_string(k);
        next.name = k == 0 ? prefix : "abstractor " + std::to_string(k + 1);
        next.start = prefix + ".", next.symbols = true, next.objects = objects;
        next.blocks = listed(prefix);
        if (next.blocks.empty()) break;
        m_stacks.push_back(next);
        objects = end(m_stacks.size() - 1);
    }
    if (pairs) {
        StreamStack next;
        next.name = "decoder", next.start = "decoder.", next.blocks = listed("decoder");
        for (std::size_t layer = 0; layer < next.blocks.size(); ++layer) {
            std::vector<StreamPlace> read = {objects};
            if (whole && whole->twoContexts()) {
                if (!whole->inTurn())
                    read = {end(0), objects};
                else if (layer % 2 == 0)
                    read = {end(0)};
            }
            if (!whole || !whole->abstracts()) read = {end(0)};
            next.contexts.push_back(read);
        }
        m_stacks.push_back(next);
    }
    const bool any = std::any_of(m_stacks.begin(), m_stacks.end(),
                                 [](const auto& stack) { return !stack.blocks.empty(); });
    if (options.find<CoRelNetOptions>() || options.find<ObjectCoRelNetOptions>())
        throw OptionError("model", modelTitle(options) +
                                       " compares one vector that it made of each object: there "
                                       "is one part, and nothing to split");
    if (!any && !pairwise)
        throw OptionError("model", modelTitle(options) +
                                       " has no inner product of a stream of parts; choose a "
                                       "Transformer, an Abstractor or relations of objects");
    if (auto* mixing = dynamic_cast<NanochatImpl*>(&model)) {
        const auto resid = precise(mixing->resid_lambdas), x0 = precise(mixing->x0_lambdas);
        for (std::int64_t layer = 0; layer < resid.size(0); ++layer)
            m_mixes.emplace_back(resid[layer].item<double>(), x0[layer].item<double>());
    }
    for (const char* path : {"layers.embed_norm", "embed_norm"})
        if (auto* norm = dynamic_cast<NormImpl*>(moduleAt(model, path).get())) m_embedNorm = norm;
    const auto types = moduleAt(model, "layers.token_types");
    if (auto* rows = dynamic_cast<EmbeddingImpl*>(types.get()))
        m_tokenType = precise(rows->weight)[0];
    if (options.input() != InputKind::Objects) return;
    for (const char* name : {"embedder", "source_embedder"}) {
        const auto module = moduleAt(model, name);
        if (auto* linear = dynamic_cast<LinearImpl*>(module.get()))
            m_features = precise(linear->weight), m_featureBias = linear->bias;
        if (auto* linear = dynamic_cast<SequenceEmbedderImpl*>(module.get()))
            m_features = precise(linear->weight), m_featureBias = linear->bias;
    }
    if (m_featureBias.defined()) m_featureBias = precise(m_featureBias);
    if (m_features.defined() && m_features.size(1) > kMostFeatures) m_features = torch::Tensor();
}

double ModelStreams::embeddingScale() const {
    const bool sequences = m_options.find<Seq2SeqTransformerOptions>() ||
                           m_options.find<Seq2SeqAbstractorOptions>() ||
                           m_options.find<ObjectAbstractorOptions>();
    return sequences ? std::sqrt(static_cast<double>(m_options.get<StreamOptions>().d_model)) : 1.0;
}

torch::Tensor ModelStreams::positions(const StreamStack& stack, const StreamRows& rows) const {
    if (const auto at = rows.points.find(stack.start + "hook_pos_embed"); at != rows.points.end())
        return precise(at->second);
    // Abstractors have no point there.
    if (!m_options.find<AbstractorOptions>()) return {};
    const auto most = rows.rows.max().item<std::int64_t>() + 1;
    return precise(halvedSinusoids(most, m_options.get<StreamOptions>().d_model))
        .index_select(0, rows.rows)
        .unsqueeze(0);
}

void ModelStreams::addSubPoints(const StreamPlace& place, std::size_t sub,
                                std::vector<std::string>& names) const {
    const auto& stack = m_stacks[static_cast<std::size_t>(place.stack)];
    const auto& block = stack.blocks[place.layer];
    const auto& s = block.subs[sub];
    if (!block.normFirst) names.insert(names.end(), {s.before, s.out});
    if (s.kind == Kind::FeedForward) names.push_back(s.out);
    // The norm behind a feed-forward with a last bias is held at the size of its output.
    if (s.kind == Kind::FeedForward && s.behind && block.feedForward->lastBias().defined())
        names.push_back(s.before);
    std::vector<std::string> modules;
    const auto& p = block.parts;
    if (s.kind == Kind::Attention) {
        if (p.shared)
            for (const auto& heads : headsOf(*p.shared)) modules.push_back(heads.hook);
        if (p.sensory) modules.push_back(p.sensory->hook);
        if (p.relational) modules.push_back(p.relational->hook);
        if (block.self) modules.push_back(block.self->hook);
        if (block.imageSelf) modules.push_back(block.imageSelf->hook);
    } else if (s.kind == Kind::Middle) {
        if (p.cross) modules.push_back(p.cross->hook);
        if (block.middle) modules.push_back(block.middle->hook);
        if (block.imageMiddle) modules.push_back(block.imageMiddle->hook);
    }
    for (const auto& hook : modules)
        for (const char* name : {".hook_z", ".hook_z_sym", ".hook_attended_r"})
            names.push_back(hook + name);
    if (s.onto != Onto::Objects) return;
    const auto more = points(stack.objects);
    names.insert(names.end(), more.begin(), more.end());
}

std::vector<std::string> ModelStreams::points(const StreamPlace& place) const {
    const auto& stack = m_stacks[static_cast<std::size_t>(place.stack)];
    std::vector<std::string> names;
    if (stack.symbols) {
        names.push_back(stack.start + "hook_symbols");
    } else if (!stack.raw) {
        for (const char* name : {"hook_embed", "hook_pos_embed"})
            names.push_back(stack.start + name);
    }
    const auto& blocks = stack.blocks;
    if (place.layer < blocks.size()) {
        const auto& block = blocks[place.layer];
        names.push_back(block.hook + ".hook_resid_pre");
        if (place.sub > 0) names.push_back(block.subs[place.sub - 1].after);
    } else if (!blocks.empty()) {
        names.push_back(blocks.back().hook + ".hook_resid_post");
    }
    for (std::size_t layer = 0; layer <= place.layer && layer < blocks.size(); ++layer) {
        const auto subs = layer < place.layer ? blocks[layer].subs.size() : place.sub;
        for (std::size_t sub = 0; sub < subs; ++sub)
            addSubPoints({place.stack, layer, 0}, sub, names);
    }
    return names;
}

torch::Tensor ModelStreams::stream(const StreamPlace& place, const StreamRows& rows) const {
    const auto& stack = m_stacks[static_cast<std::size_t>(place.stack)];
    const auto at = [&](const std::string& name) { return precise(rows.points.at(name)); };
    if (stack.raw) return precise(rows.input);
    if (place.layer < stack.blocks.size()) {
        const auto& block = stack.blocks[place.layer];
        return at(place.sub > 0 ? block.subs[place.sub - 1].after : block.hook + ".hook_resid_pre");
    }
    if (!stack.blocks.empty()) return at(stack.blocks.back().hook + ".hook_resid_post");
    if (stack.symbols) return at(stack.start + "hook_symbols");
    auto x = at(stack.start + "hook_embed") * embeddingScale();
    const auto more = positions(stack, rows);
    return more.defined() ? x + more : x;
}

torch::Tensor HeldNorm::back(const torch::Tensor& m) const {
    auto before = weights.defined() ? m * weights : m;
    return centres ? before - before.mean(-1, true) : before;
}

HeldNorm heldNorm(const NormImpl& norm, const torch::Tensor& x) {
    HeldNorm held;
    if (norm.isNone()) return held;
    if (const auto gain = norm.gain(); gain.defined()) held.weights = precise(gain);
    if (norm.bias.defined()) held.bias = precise(norm.bias);
    if (norm.isScale()) {
        held.scale =
            torch::ones(x.sizes().slice(0, static_cast<std::size_t>(x.dim() - 1)), torch::kDouble);
        return held;
    }
    held.centres = norm.centres();
    const auto y = held.centres ? x - x.mean(-1, true) : x;
    held.scale = (y.square().mean(-1) + norm.eps()).sqrt();
    return held;
}

}  // namespace relascope::core
