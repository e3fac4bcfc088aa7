// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/score_parts.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/abstractor/abstractor.h"
#include "model/abstractor/fixed_relations.h"
#include "model/abstractor/message_passing.h"
#include "model/architecture.h"
#include "model/public/family.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// What the parts of a side may leave of it without being edited, of the lengths of its parts.
constexpr double kRestOfSide = 1e-5;

}  // namespace

const char* scoreKindName(ScoreKind kind) {
    return kScoreKinds.at(static_cast<std::size_t>(kind));
}

ScoreParts::ScoreParts(const ModelStreams& streams, const ScoreMap& map)
    : m_streams(streams), m_map(map) {
    if (stack().raw) {
        setPairwise();
        return;
    }
    const auto layers = static_cast<int>(stack().blocks.size());
    if (map.layer < 0 || map.layer >= layers)
        throw OptionError("layer", std::to_string(map.layer + 1) + " is out of range: the " +
                                       (stack().name == "blocks" ? "model" : stack().name) +
                                       " has " + std::to_string(layers) +
                                       (layers == 1 ? " layer" : " layers"));
    const auto layer = static_cast<std::size_t>(map.layer);
    const auto& block = stack().blocks[layer];
    m_i.places = m_j.places = {{map.stack, layer, 0}};
    if (map.kind == ScoreKind::Relation)
        setRelation(block);
    else if (map.kind == ScoreKind::Cross)
        setCross(block);
    else
        setAttention(block);
}

void ScoreParts::requireIndex(std::int64_t count, const char* what) const {
    if (m_map.index >= 0 && m_map.index < count) return;
    throw OptionError("index", std::to_string(m_map.index + 1) +
                                   " is out of range: the layer has " + std::to_string(count) +
                                   " " + what + (count == 1 ? "" : "s"));
}

void ScoreParts::refuseKind() const {
    throw OptionError("kind", "layer " + std::to_string(m_map.layer + 1) + " of " +
                                  modelTitle(m_streams.options()) + " has no maps of the kind " +
                                  scoreKindName(m_map.kind));
}

void ScoreParts::take(Side& side, const Linear& linear, std::int64_t at, std::int64_t heads,
                      const std::string& point) {
    const auto width = linear->weight.size(0) / heads;
    side.weight = precise(linear->weight.slice(0, at * width, (at + 1) * width));
    if (linear->bias.defined())
        side.bias = precise(linear->bias.slice(0, at * width, (at + 1) * width));
    side.point = point, side.at = at;
}

void ScoreParts::setAttention(AttentionImpl& attention) {
    const auto& o = attention.options();
    requireIndex(o.n_heads, "head");
    if (o.hasPlaceBias())
        throw OptionError("kind", "scores of " + modelTitle(m_streams.options()) +
                                      " have numbers of their own for each two places, which are "
                                      "no inner product of parts; choose another model");
    const auto kv = m_map.index / (o.n_heads / o.kvHeads());
    const bool turns = o.rope;
    // The last point before the scores.
    const auto point = [&](const char* letter) {
        return attention.hook + (turns ? ".hook_rot_" : ".hook_") + letter +
               (!turns && o.hasQueryNorm() ? "_normed" : "");
    };
    take(m_i, attention.wq, m_map.index, o.n_heads, point("q"));
    take(m_j, attention.wk, kv, o.kvHeads(), point("k"));
    m_i.head = HeadSide(attention, true, m_map.index, o.n_heads);
    m_j.head = HeadSide(attention, false, kv, o.kvHeads());
    for (const auto& [side, linear] : {std::pair{&m_i, &attention.wq}, {&m_j, &attention.wk}}) {
        if (side->head.isPlain()) continue;
        side->weight = side->head.folded((*linear)->weight);
        if ((*linear)->bias.defined()) side->bias = side->head.folded((*linear)->bias);
    }
    if (turns) m_rotary = o.rotary;
    m_scale = o.scale(), m_cap = o.score_cap, m_distance = HeadDistance(o, m_map.index);
    m_softmax = true, m_causal = o.causal, m_window = o.window;
}

void ScoreParts::setAttention(AbstractorAttentionImpl& attention) {
    const auto& o = attention.options();
    requireIndex(o.n_heads, "head");
    take(m_i, attention.wq, m_map.index, o.n_heads, attention.hook + ".hook_q");
    take(m_j, attention.wk, m_map.index, o.n_heads, attention.hook + ".hook_k");
    m_scale = o.scaled ? 1.0 / std::sqrt(static_cast<double>(o.key_dim)) : 1.0;
    m_softmax = o.activation == "softmax", m_causal = o.causal;
    m_closesDiagonal = o.mask_diagonal;
}

void ScoreParts::setRelation(const StreamBlock& block) {
    if (block.messages) {
        auto& layer = *block.messages;
        const auto relations = static_cast<std::int64_t>(layer.values->size());
        requireIndex(relations, "relation");
        m_i.places = m_j.places = {stack().objects};
        take(m_i, layer.wq, m_map.index, relations, {});
        take(m_j, layer.wk, m_map.index, relations, {});
        return;
    }
    // The inner products of an Abstractor's heads are its relations.
    if (block.relational) return setAttention(block);
    const auto norm = block.normFirst ? block.subs.front().norm : nullptr;
    m_i.norm = m_j.norm = norm;
    if (auto* shared = block.parts.shared; shared && !shared->relational_attention.is_empty()) {
        const auto& o = shared->options();
        requireIndex(o.hadamardRelations(), "relation");
        const auto& hook = shared->relational_attention->hook;
        const auto width = o.headDim(), head = m_map.index / width;
        const auto kv = (o.n_heads_sa + head) / (o.heads() / o.kvHeads());
        take(m_i, shared->wq_rel, m_map.index, o.hadamardRelations(), hook + ".hook_rel_q");
        take(m_j, shared->wk_rel, kv * width + m_map.index % width, o.kvHeads() * width,
             hook + ".hook_rel_k");
        m_j.at = m_map.index;  // the point has the keys of every head
        m_causal = true, m_window = shared->relational_attention->options().window;
        m_shared = shared->rel_gate.is_empty() ? nullptr : shared;
        return;
    }
    auto* heads = block.parts.relational;
    if (!heads) refuseKind();
    const auto& o = heads->options();
    m_causal = o.causal, m_softmax = o.rel_activation == "softmax";
    const auto q = heads->hook + ".hook_rel_q", k = heads->hook + ".hook_rel_k";
    if (auto* relations = dynamic_cast<RelationalAttentionImpl*>(heads)) {
        requireIndex(o.relations(), "relation");
        take(m_i, relations->wq_rel, m_map.index, o.relations(), q);
        take(m_j, relations->wk_rel, m_map.index, o.relations(), k);
        m_scale = 1.0 / std::sqrt(static_cast<double>(o.projDim()));
    } else if (auto* apart = dynamic_cast<DisentangledCrossAttentionImpl*>(heads)) {
        requireIndex(o.n_heads, "relation");
        take(m_i, apart->wq_rel, m_map.index, o.n_heads, q);
        take(m_j, apart->wk_rel, m_map.index / (o.n_heads / o.kvHeads()), o.kvHeads(), k);
        m_scale = 1.0 / std::sqrt(static_cast<double>(o.head_dim));
    } else {
        refuseKind();
    }
}

void ScoreParts::setAttention(const StreamBlock& block) {
    const bool relational = m_map.kind != ScoreKind::SensoryAttention;
    if (block.parts.shared)
        throw OptionError("model", modelTitle(m_streams.options()) +
                                       " rescales each query after the projection, so that its "
                                       "attention is no sum over parts; ask for a relation");
    if (block.messages) {
        if (relational)
            throw OptionError("kind",
                              "the weights of message passing are made of its relations; ask for "
                              "--kind relation");
        if (!block.self) refuseKind();
        m_i.messages = m_j.messages = true;
        return setAttention(*block.self);
    }
    if (block.relational && relational) {
        m_i.places = m_j.places = {stack().objects};
        if (block.middle) return setAttention(*block.middle);
        // The norm of the stream serves the objects, too.
        m_i.norm = m_j.norm = block.normFirst ? block.subs.front().norm : nullptr;
        return setAttention(*block.imageMiddle);
    }
    if (!block.subs.empty() && block.normFirst) m_i.norm = m_j.norm = block.subs.front().norm;
    if (!relational) {
        if (block.self) return setAttention(*block.self);
        if (block.imageSelf) return setAttention(*block.imageSelf);
        if (block.parts.sensory) return setAttention(*block.parts.sensory);
        refuseKind();
    }
    auto* heads = block.parts.relational;
    if (!heads) refuseKind();
    const auto& o = heads->options();
    requireIndex(o.n_heads, "head");
    const auto kv = m_map.index / (o.n_heads / o.kvHeads());
    const auto q = heads->hook + (o.rope ? ".hook_rot_q" : ".hook_q"),
               k = heads->hook + (o.rope ? ".hook_rot_k" : ".hook_k");
    const auto both = [&](const Linear& wq, const Linear& wk) {
        take(m_i, wq, m_map.index, o.n_heads, q);
        take(m_j, wk, kv, o.kvHeads(), k);
    };
    m_softmax = true;
    if (auto* relations = dynamic_cast<RelationalAttentionImpl*>(heads)) {
        both(relations->wq_attn, relations->wk_attn);
    } else if (auto* apart = dynamic_cast<DisentangledCrossAttentionImpl*>(heads)) {
        both(apart->wq_attn, apart->wk_attn);
    } else if (auto* cross = dynamic_cast<RelationalCrossAttentionImpl*>(heads)) {
        both(cross->wq, cross->wk);
        m_softmax = o.rca_activation == "softmax";
    }
    if (o.rope) m_rotary = o.rotary;
    m_scale = 1.0 / std::sqrt(static_cast<double>(o.head_dim));
    m_causal = o.causal, m_window = o.window;
}

void ScoreParts::setCross(const StreamBlock& block) {
    const auto sub = block.find(SubLayer::Kind::Middle);
    if (sub < 0 || block.relational) refuseKind();
    const auto layer = static_cast<std::size_t>(m_map.layer);
    m_i.places = {{m_map.stack, layer, static_cast<std::size_t>(sub)}};
    const auto& s = block.subs[static_cast<std::size_t>(sub)];
    if (block.normFirst) m_i.norm = s.norm, m_i.number = s.number;
    if (stack().symbols)
        m_j.places = {stack().objects};
    else
        m_j.places = stack().contexts.at(layer);
    block.middle ? setAttention(*block.middle) : setAttention(*block.parts.cross);
}

void ScoreParts::setPairwise() {
    const auto module = moduleAt(m_streams.model(), "relation");
    auto* relation = dynamic_cast<PairwiseRelationsImpl*>(module.get());
    if (!relation || m_map.kind != ScoreKind::Relation) refuseKind();
    if (m_map.layer != 0) throw OptionError("layer", "the model has one layer of relations");
    const auto relations = m_streams.options().get<PairRelationsOptions>().n_relations;
    requireIndex(relations, "relation");
    m_i.places = m_j.places = {{m_map.stack, 0, 0}};
    take(m_i, relation->wq, m_map.index, relations, {});
    take(m_j, relation->wk, m_map.index, relations, {});
    m_scale = relation->scale();
}

std::int64_t ScoreParts::size(ScoreSide side, const ModelInput& input) const {
    switch (m_streams.options().input()) {
        case InputKind::Images:
            return m_streams.options().tokens();
        case InputKind::Pairs: {
            const auto& places = of(side).places;
            const auto& name =
                m_streams.stacks()[static_cast<std::size_t>(places.front().stack)].name;
            return name == "decoder" ? input.target.size(1)
                                     : input.x.size(1) * static_cast<std::int64_t>(places.size());
        }
        default:
            return input.x.size(1);
    }
}

torch::Tensor ScoreParts::closed(const ModelInput& input) const {
    const auto n = size(ScoreSide::I, input), m = size(ScoreSide::J, input);
    if (m_closesDiagonal) {
        auto mask = torch::eye(n, torch::kBool);
        if (m_causal) mask = mask.logical_or(futureMask(n, m, 0, torch::kCPU));
        return mask.unsqueeze(0);
    }
    if (!m_causal && m_window == 0) return {};
    Documents documents;
    if (const auto* o = m_streams.options().find<DocumentOptions>())
        documents = documentsOf(input.x.cpu(), *o);
    const auto mask = closedCells(n, m, 0, torch::kCPU, m_window, documents, m_causal);
    return mask.dim() == 2 ? mask.unsqueeze(0) : mask.squeeze(1);
}

torch::Tensor ScoreParts::rowsToRead(ScoreSide side, const torch::Tensor& objects) const {
    return of(side).places.size() > 1 ? torch::Tensor() : objects;
}

std::vector<std::string> ScoreParts::points(ScoreSide side) const {
    const auto& s = of(side);
    std::vector<std::string> names;
    if (!s.point.empty()) names.push_back(s.point);
    const auto behind = s.head.points();
    names.insert(names.end(), behind.begin(), behind.end());
    if (s.messages) {
        names.push_back(m_streams.block(s.places.front()).hook + ".rca.hook_z");
        return names;
    }
    for (const auto& place : s.places) {
        const auto more = m_streams.points(place);
        names.insert(names.end(), more.begin(), more.end());
    }
    return names;
}

std::vector<std::string> ScoreParts::tokenPoints(const StreamPart& part) const {
    return core::tokenPoints(m_streams, part, stack().name, "tokens_of");
}

torch::Tensor ScoreParts::rotated(const torch::Tensor& values, const torch::Tensor& objects,
                                  std::int64_t length) const {
    if (!m_rotary) return values;
    RotaryPositions positions(*m_rotary);
    positions.setLength(length);
    // Objects by heads: [b, parts, rows, k].
    const auto turned = values.permute({0, 2, 1, 3});
    const auto n = objects.size(0);
    const auto first = objects[0].item<std::int64_t>();
    if (objects.equal(torch::arange(first, first + n)))
        return positions.rotate(turned, first).permute({0, 2, 1, 3});
    // What a turn makes of (1, 0) is the cosine and the sine of each pair.
    const auto k = values.size(3), turns = m_rotary->dims(k), half = turns / 2;
    const auto pairs = [&](const torch::Tensor& x) {  // [..., turns] -> [..., 2, half]
        return m_rotary->rotary_halves ? x.unflatten(-1, {2, half})
                                       : x.unflatten(-1, {half, 2}).transpose(-1, -2);
    };
    auto ones = torch::zeros({1, 1, objects.max().item<std::int64_t>() + 1, k}, torch::kDouble);
    pairs(ones.slice(3, 0, turns)).select(-2, 0).fill_(1.0);
    const auto turn =
        pairs(positions.rotate(ones)[0][0].index_select(0, objects).slice(1, 0, turns))
            .unsqueeze(1);  // [rows, 1, 2, half]
    const auto cosine = turn.select(2, 0), sine = turn.select(2, 1);
    const auto x = pairs(values.slice(3, 0, turns));
    const auto one = x.select(3, 0), other = x.select(3, 1);
    auto result = values.clone();
    auto into = pairs(result.slice(3, 0, turns));
    into.select(3, 0).copy_(one * cosine - other * sine);
    into.select(3, 1).copy_(other * cosine + one * sine);
    return result;
}

torch::Tensor ScoreParts::mixedProducts(const torch::Tensor& coefficients,
                                        const torch::Tensor& vectors, const torch::Tensor& objects,
                                        const torch::Tensor& mix, std::int64_t length) const {
    const auto k = vectors.size(1);
    const auto turned = m_rotary ? m_rotary->dims(k) : 0;
    // Sums of coefficients times a number of each row: [b, kept, parts, numbers].
    const auto sums = [&](const torch::Tensor& numbers) {
        const auto weights = mix.unsqueeze(2) * numbers.unsqueeze(0);  // [kept, rows, numbers]
        return torch::einsum("brp,xrm->bxpm", {coefficients, weights});
    };
    const auto still = vectors.slice(1, turned);
    const auto rest = torch::einsum("brp,xr->bxp", {coefficients, mix}).unsqueeze(3) * still;
    if (turned == 0) return rest;
    RotaryPositions positions(*m_rotary);
    positions.setLength(length);
    const auto table = precise(positions.table(objects.max().item<std::int64_t>() + 1, k,
                                               torch::Device(torch::kCPU)))
                           .index_select(0, objects)
                           .unflatten(1, {-1, 2});  // cosine and sine of each pair
    const auto cosine = sums(table.select(2, 0)), sine = sums(table.select(2, 1));
    const auto half = turned / 2;
    const auto whole = vectors.slice(1, 0, turned);
    const auto pairs = m_rotary->rotary_halves ? whole.unflatten(1, {2, half}).transpose(1, 2)
                                               : whole.unflatten(1, {half, 2});
    const auto first = pairs.select(2, 0), second = pairs.select(2, 1);  // [parts, pairs]
    const auto both = torch::stack({first * cosine - second * sine, second * cosine + first * sine},
                                   m_rotary->rotary_halves ? 3 : 4);
    return torch::cat({both.flatten(3), rest}, 3);
}

ScoreParts::Projection ScoreParts::projection(ScoreSide side) const {
    const auto& s = of(side);
    if (s.places.size() > 1)
        throw OptionError("kind", text() +
                                      " reads two streams one after another; ask for a map of one "
                                      "stream");
    if (s.messages)
        throw OptionError("kind", text() +
                                      " compares what the relations of its layer brought; ask for "
                                      "--kind relation");
    return {s.places.front(), s.norm, s.weight, s.bias, s.head.isPlain() ? nullptr : &s.head};
}

torch::Tensor ScoreParts::atPosition(const torch::Tensor& vectors, std::int64_t position) const {
    return rotated(vectors.unsqueeze(0).unsqueeze(0), torch::tensor({position}), 0)[0][0];
}

// nanochat adds a share of an embedding of each token to the keys of its relations.
torch::Tensor ScoreParts::keyEmbedding(const torch::Tensor& x, const torch::Tensor& tokens) const {
    if (!m_shared) return {};
    const auto& o = m_shared->options();
    const auto module =
        moduleAt(m_streams.model(), "layers.value_embedders." + std::to_string(m_map.layer));
    auto* embedding = dynamic_cast<EmbeddingImpl*>(module.get());
    if (!embedding) return {};
    const auto y = x / heldNorm(*m_j.norm, x).scale.unsqueeze(-1);
    const auto gate = precise(m_shared->rel_gate->weight);  // [kv, channels]
    const auto width = o.headDim(), head = m_map.index / width;
    const auto kv = (o.n_heads_sa + head) / (o.heads() / o.kvHeads());
    const auto share =
        2 * torch::sigmoid(torch::matmul(y.slice(2, 0, gate.size(1)), gate[kv]));  // [b, rows]
    const auto values = precise(torch::embedding(embedding->weight.cpu(), tokens));
    return (share * values.select(2, kv * width + m_map.index % width)).unsqueeze(-1);
}

bool ScoreParts::hasOneSide() const {
    const auto& a = m_i.places;
    const auto& b = m_j.places;
    return a.size() == 1 && b.size() == 1 && a[0].stack == b[0].stack && a[0].layer == b[0].layer &&
           a[0].sub == b[0].sub && m_i.norm == m_j.norm && m_i.messages == m_j.messages &&
           !m_shared && !m_fittedBias && !m_i.bias.defined() && !m_j.bias.defined() &&
           m_i.weight.equal(m_j.weight);
}

SideParts ScoreParts::partsOfSome(ScoreSide side, const PointTensors& points,
                                  const torch::Tensor& examples, const torch::Tensor& objects,
                                  const ModelInput& input, bool edited) const {
    const auto of = [&](const torch::Tensor& all) {  // [b, n, ...] -> [1, rows, ...]
        const auto at = objects.to(all.device());
        return all.size(0) == 1 ? all.index_select(1, at)
                                : all.index({examples.to(all.device()), at}).unsqueeze(0);
    };
    PointTensors some;
    for (const auto& [name, value] : points) some.emplace(name, of(value));
    const bool images = m_streams.options().input() == InputKind::Images;
    return partsOf(side, some, objects, images ? input.x : of(input.x), input.x.size(1), edited, {},
                   nullptr);
}

SideParts ScoreParts::parts(ScoreSide side, const PointTensors& points,
                            const torch::Tensor& objects, const ModelInput& input, bool edited,
                            const torch::Tensor& mix, TokenSplit* split) const {
    const bool whole =
        of(side).places.size() > 1 || m_streams.options().input() == InputKind::Images;
    return partsOf(side, points, objects,
                   whole ? input.x : input.x.index_select(1, objects.to(input.x.device())),
                   input.x.size(1), edited, mix, split);
}

SideParts ScoreParts::partsOf(ScoreSide side, const PointTensors& points,
                              const torch::Tensor& objects, const torch::Tensor& input,
                              std::int64_t length, bool edited, const torch::Tensor& mix,
                              TokenSplit* split) const {
    const auto& s = of(side);
    const auto size = s.head.scale(points);                // [b, rows]
    const auto mixed = [&](const torch::Tensor& values) {  // [b, rows, parts, k]
        return mix.defined() ? torch::einsum("xr,brpk->bxpk", {mix, values}) : values;
    };
    const StreamWalk::Keep kept = [&](const torch::Tensor& values) {
        const auto held = size.defined() ? values / size.unsqueeze(-1).unsqueeze(-1) : values;
        return mixed(rotated(held, objects, length));
    };
    StreamWalk::KeepProducts products;
    if (mix.defined() && s.places.size() == 1)
        products = [&](const torch::Tensor& coefficients, const torch::Tensor& vectors) {
            return mixedProducts(size.defined() ? coefficients / size.unsqueeze(-1) : coefficients,
                                 vectors, objects, mix, length);
        };
    const bool sets = m_streams.options().input() == InputKind::Objects;
    std::vector<StreamWalk::Chunk> chunks;
    torch::Tensor recorded;
    for (std::size_t k = 0; k < s.places.size(); ++k) {
        StreamRows rows{points, objects, {}};
        StreamWalk::Keep own = kept;
        if (s.places.size() > 1) {
            // Objects of one place after another: the parts of a place are 0 in the others.
            const auto n = input.size(1), first = static_cast<std::int64_t>(k) * n;
            rows.rows = torch::arange(n);
            const auto inside = objects.ge(first).logical_and(objects.lt(first + n));
            const auto at = (objects - first).clamp(0, n - 1);
            own = [=, &kept](const torch::Tensor& values) {
                return kept(values.index_select(1, at) *
                            inside.to(torch::kDouble).view({1, -1, 1, 1}));
            };
        }
        if (sets) rows.input = input.cpu();
        StreamWalk walk(m_streams, rows, stack().name, own, split, products);
        const bool last = k + 1 == s.places.size();
        if (last) {
            StreamPart part;
            part.kind = PartKind::Bias, part.layer = m_map.layer;
            part.where = side == ScoreSide::I ? "the queries" : "the keys";
            if (stack().raw) part.layer = -1;
            if (const auto clip = s.head.clipped(points); clip.defined()) {
                StreamPart clips;
                clips.kind = PartKind::Clip, clips.layer = m_map.layer;
                walk.enter(clips, size.defined() ? clip * size.unsqueeze(-1) : clip);
            }
            if (s.bias.defined() && s.places.size() == 1) walk.enter(part, s.bias);
            if (s.centre.defined()) {
                part.kind = PartKind::Mean, part.where.clear();
                walk.enter(part, centre(side, objects));
            }
            if (m_shared && side == ScoreSide::J) {
                part.kind = PartKind::Embedding;
                const auto more = keyEmbedding(m_streams.stream(s.places[k], rows), input.cpu());
                if (more.defined()) walk.enter(part, more);
            }
        }
        if (s.messages)
            walk.followMessages(s.places[k], s.weight);
        else
            walk.follow(s.places[k], s.weight, s.norm, s.number, m_map.layer);
        for (auto& chunk : walk.take()) chunks.push_back(std::move(chunk));
        if (s.point.empty()) {
            const auto x = m_streams.stream(s.places[k], rows);
            recorded = torch::matmul(x, s.weight.t());
            if (s.bias.defined()) recorded = recorded + s.bias;
            if (s.centre.defined()) recorded = recorded + centre(side, objects);
        }
    }
    SideParts result;
    std::vector<torch::Tensor> values;
    for (auto& chunk : chunks) {
        result.parts.insert(result.parts.end(), chunk.parts.begin(), chunk.parts.end());
        values.push_back(chunk.values);
    }
    if (!s.point.empty()) {
        recorded = precise(points.at(s.point)).select(2, s.at);  // [b, rows, k]
        if (s.places.size() > 1) recorded = recorded.index_select(1, objects);
        // Clipping follows the last point where nothing turns.
        if (const auto clip = m_rotary ? torch::Tensor() : s.head.clipped(points); clip.defined())
            recorded = recorded + clip;
    }
    if (s.places.size() > 1 && s.bias.defined()) {
        StreamPart part;
        part.kind = PartKind::Bias, part.layer = m_map.layer, part.where = "the keys";
        const auto all = s.bias.view({1, 1, 1, -1})
                             .expand({recorded.size(0), objects.size(0), 1, s.bias.size(0)});
        result.parts.push_back(part), values.push_back(kept(all));
    }
    // The model has turned what it recorded.
    result.recorded = mixed(recorded.unsqueeze(2)).squeeze(2);
    result.values = torch::cat(values, 2);
    if (split) result.tokens = split->tokens;
    const auto rest = result.recorded - result.values.sum(2);
    const auto lengths = result.values.norm(2, 3).sum(2);
    if (edited && (rest.norm(2, 2) > kRestOfSide * lengths).any().item<bool>()) {
        StreamPart part;
        part.kind = PartKind::Edits;
        result.parts.push_back(part);
        result.values = torch::cat({result.values, rest.unsqueeze(2)}, 2);
    }
    if (m_distance || m_fittedBias) addApart(side, result, objects, mix);
    return result;
}

// These have two numbers of their own behind those of queries and keys, which are 0 in every other
// part.
void ScoreParts::addApart(ScoreSide side, SideParts& parts, const torch::Tensor& objects,
                          const torch::Tensor& mix) const {
    torch::Tensor own;  // [rows, 2]
    if (m_fittedBias)
        own = torch::tensor({side == ScoreSide::I ? 1.0 : *m_fittedBias, 0.0}, torch::kDouble)
                  .expand({objects.size(0), 2});
    else
        own = m_distance.of(side == ScoreSide::I, objects);
    if (mix.defined()) own = torch::matmul(mix, own);
    const auto widened = [](const torch::Tensor& x) { return torch::constant_pad_nd(x, {0, 2}); };
    const auto b = parts.values.size(0), k = parts.values.size(3);
    const auto all = torch::cat({torch::zeros({own.size(0), k}, own.options()), own}, 1);
    StreamPart part;
    part.kind = m_fittedBias ? PartKind::Bias : PartKind::Distance;
    if (m_fittedBias)
        part.where = "the fit";
    else
        part.layer = m_map.layer;
    parts.parts.push_back(part);
    parts.values = torch::cat(
        {widened(parts.values), all.unsqueeze(0).unsqueeze(2).expand({b, all.size(0), 1, k + 2})},
        2);
    parts.recorded = widened(parts.recorded) + all;
    if (parts.tokens.defined()) parts.tokens = widened(parts.tokens);
}

std::string ScoreParts::text() const {
    if (m_fittedBias) return "fitted relation " + m_name;
    const auto& name = stack().name;
    const bool plain = name == "blocks" || name == "objects" || m_streams.stacks().size() == 1;
    return (plain ? std::string() : name + " ") + "layer " + std::to_string(m_map.layer + 1) +
           (m_map.kind == ScoreKind::Relation ? " relation " : " head ") +
           std::to_string(m_map.index + 1) +
           (m_map.kind == ScoreKind::Relation
                ? ""
                : std::string(" (") + scoreKindName(m_map.kind) + ")");
}

ScoreParts::Point ScoreParts::scorePoint() const {
    if (m_fittedBias) return {};
    if (stack().raw) return {"relation.hook_rel_scores", true};
    if (m_i.point.empty())
        return {m_streams.block({m_map.stack, static_cast<std::size_t>(m_map.layer), 0}).hook +
                    ".rca.hook_rel_scores",
                true};
    const auto module = m_i.point.substr(0, m_i.point.rfind('.'));
    if (!m_i.point.ends_with(".hook_rel_q")) return {module + ".hook_attn_scores", false};
    // Hadamard relations have no activation, and no point before one.
    const bool hadamard =
        m_streams.block({m_map.stack, static_cast<std::size_t>(m_map.layer), 0}).parts.shared;
    return {module + (hadamard ? ".hook_r" : ".hook_rel_scores"), true};
}

}  // namespace relascope::core
