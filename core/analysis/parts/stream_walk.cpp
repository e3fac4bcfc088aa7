// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <utility>

#include "analysis/parts/stream_parts.h"
#include "model/abstractor/abstractor.h"
#include "model/abstractor/message_passing.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Kind = SubLayer::Kind;
using Onto = SubLayer::Onto;

}  // namespace

StreamWalk::StreamWalk(const ModelStreams& streams, const StreamRows& rows, std::string ownStack,
                       Keep keep, TokenSplit* split, KeepProducts keepProducts)
    : m_streams(streams),
      m_rows(rows),
      m_own(std::move(ownStack)),
      m_keep(std::move(keep)),
      m_keepProducts(std::move(keepProducts)),
      m_split(split) {}

StreamPart StreamWalk::part(PartKind kind, const At& at, int head, int relation,
                            std::string where) const {
    StreamPart p;
    p.kind = kind, p.layer = at.layer, p.head = head, p.relation = relation;
    p.where = std::move(where);
    if (at.stack.name != m_own && at.stack.name != "objects") p.stack = at.stack.name;
    return p;
}

torch::Tensor StreamWalk::point(const std::string& name) const {
    return precise(m_rows.points.at(name));
}

void StreamWalk::put(std::vector<StreamPart> parts, const Way& way, const torch::Tensor& values) {
    const auto scaled = values * way.scale.unsqueeze(-1).unsqueeze(-1);  // [b, rows, parts, k]
    m_chunks.push_back({std::move(parts), m_keep ? m_keep(scaled) : scaled});
}

void StreamWalk::rows(const StreamPart& part, const Way& way, const torch::Tensor& x) {
    put({part}, way, torch::matmul(x, way.m.t()).unsqueeze(2));
}

void StreamWalk::bias(const Way& way, const At& at, const std::string& where,
                      const torch::Tensor& value, std::int64_t first) {
    if (!value.defined()) return;
    const auto seen = torch::matmul(way.m.slice(1, first, first + value.size(0)), precise(value));
    put({part(PartKind::Bias, at, -1, -1, where)}, way,
        seen.view({1, 1, 1, -1}).expand({way.scale.size(0), way.scale.size(1), 1, seen.size(0)}));
}

void StreamWalk::enter(StreamPart part, const torch::Tensor& values) {
    const auto b =
        m_rows.points.empty() ? m_rows.input.size(0) : m_rows.points.begin()->second.size(0);
    const auto n = m_rows.rows.size(0);
    const auto whole =
        values.dim() == 1 ? values.view({1, 1, -1}).expand({b, n, values.size(0)}) : values;
    const Way plain{{}, torch::ones({b, n}, torch::kDouble)};
    put({std::move(part)}, plain, whole.unsqueeze(2));
}

StreamWalk::Way StreamWalk::through(NormImpl& norm, const torch::Tensor& x, const Way& way,
                                    const At& at, int number) {
    return through(norm, x, way, at, "norm " + std::to_string(number));
}

StreamWalk::Way StreamWalk::through(const NormImpl& norm, const torch::Tensor& x, const Way& way,
                                    const At& at, const std::string& where) {
    const auto held = heldNorm(norm, x);
    if (!held.scale.defined()) return way;
    bias(way, at, where, held.bias);
    return {held.back(way.m), way.scale / held.scale};
}

StreamWalk::Way StreamWalk::behind(const SubLayer& sub, const Way& way, const At& at,
                                   const StreamBlock& block) {
    auto inner = way;
    if (sub.scale != 1.0) inner.scale = way.scale * sub.scale;
    if (!sub.behind) return inner;
    torch::Tensor output;
    if (sub.kind == Kind::Attention)
        output = attentionOutput(*block.parts.sensory,
                                 m_rows.points.at(block.parts.sensory->hook + ".hook_z"));
    else if (block.feedForward->lastBias().defined())
        output = feedOutput(*block.feedForward, sub.norm->forward(m_rows.points.at(sub.before)));
    else
        return inner;  // it has no parts
    return through(
        *sub.behind, output, inner, at,
        "the norm behind " +
            std::string(sub.kind == Kind::Attention ? "the attention" : "the feed-forward"));
}

void StreamWalk::heads(const Way& way, const At& at, PartKind kind, const std::string& hook,
                       const torch::Tensor& wo, std::int64_t first) {
    const auto z = point(hook + ".hook_z");  // [b, rows, h, d_h]
    const auto h = z.size(2), width = z.size(3), out = wo.size(0), k = way.m.size(0);
    const auto m = way.m.slice(1, first, first + out), weight = precise(wo);
    torch::Tensor values;
    // Of few rows their outputs are fewer numbers than the map behind `wo`.
    if (z.size(0) * z.size(1) * 2 < k) {
        const auto sent = torch::einsum("brhd,ohd->brho", {z, weight.view({out, h, width})});
        values = torch::matmul(sent, m.t());
    } else {
        values = torch::einsum("brhd,khd->brhk", {z, torch::matmul(m, weight).view({k, h, width})});
    }
    std::vector<StreamPart> parts;
    for (std::int64_t head = 0; head < h; ++head)
        parts.push_back(part(kind, at, static_cast<int>(head)));
    put(parts, way, values);
    for (std::int64_t head = 0; m_split && head < h; ++head)
        split(way, at, kind, head,
              torch::matmul(m, weight.slice(1, head * width, (head + 1) * width)));
}

void StreamWalk::hadamard(const Way& way, const At& at, const HeadsOfShared& heads) {
    const auto z = point(heads.hook + ".hook_z");  // [b, rows, h, d_h]
    const auto h = z.size(2), width = z.size(3), k = way.m.size(0);
    const auto g = torch::matmul(way.m, precise(heads.wo->weight)).view({k, h, width});
    for (auto head = h; head-- > 0;) {
        std::vector<StreamPart> parts;
        for (std::int64_t d = 0; d < width; ++d)
            parts.push_back(part(PartKind::Relation, at, static_cast<int>(head),
                                 static_cast<int>(head * width + d)));
        put(parts, way, z.select(2, head).unsqueeze(3) * g.select(1, head).t());
        if (m_split) split(way, at, PartKind::RelationalHead, head, g.select(1, head));
    }
}

void StreamWalk::relational(const Way& way, const At& at, RelationalAttentionImpl& attention,
                            std::int64_t first) {
    const auto symbols = point(attention.hook + ".hook_z_sym");        // [b, rows, h, d_h]
    const auto attended = point(attention.hook + ".hook_attended_r");  // [b, rows, h, d_r]
    const auto weight = precise(attention.wo->weight), wr = precise(attention.wr);
    const auto h = symbols.size(2), k = way.m.size(0), relations = wr.size(2);
    const auto g = torch::matmul(way.m.slice(1, first, first + weight.size(0)), weight)
                       .view({k, h, symbols.size(3)});
    for (auto head = h; head-- > 0;) {
        const auto behind = g.select(1, head);                            // [k, d_h]
        const auto sent = torch::matmul(behind, wr.select(0, head)).t();  // [d_r, k]
        put({part(PartKind::Symbols, at, static_cast<int>(head))}, way,
            torch::matmul(symbols.select(2, head), behind.t()).unsqueeze(2));
        std::vector<StreamPart> parts;
        for (std::int64_t r = 0; r < relations; ++r)
            parts.push_back(
                part(PartKind::Relation, at, static_cast<int>(head), static_cast<int>(r)));
        const auto coefficients = attended.select(2, head);  // [b, rows, d_r]
        if (m_keepProducts)
            m_chunks.push_back(
                {std::move(parts), m_keepProducts(coefficients * way.scale.unsqueeze(-1), sent)});
        else
            put(std::move(parts), way, coefficients.unsqueeze(3) * sent);
        if (m_split) split(way, at, PartKind::RelationalHead, head, behind);
    }
}

void StreamWalk::attention(const Way& way, const At& at, const StreamBlock& block) {
    const auto& p = block.parts;
    const auto plain = [&](PartKind kind, auto& module, const char* where) {
        bias(way, at, where, module.wo->bias);
        heads(way, at, kind, module.hook, module.wo->weight);
    };
    if (block.self) return plain(PartKind::SensoryHead, *block.self, "the sensory heads");
    if (block.imageSelf) return plain(PartKind::SensoryHead, *block.imageSelf, "the sensory heads");
    if (p.shared) {
        auto all = headsOf(*p.shared);
        for (auto one = all.rbegin(); one != all.rend(); ++one)
            one->kind == PartKind::RelationalHead
                ? hadamard(way, at, *one)
                : heads(way, at, one->kind, one->hook, one->wo->weight);
        return;
    }
    // Dual attention joins the outputs of its two kinds of heads.
    const auto first = p.sensory ? p.sensory->wo->weight.size(0) : 0;
    if (p.relational) bias(way, at, "the relational heads", p.relational->wo->bias, first);
    if (p.sensory) bias(way, at, "the sensory heads", p.sensory->wo->bias);
    if (auto* relations = dynamic_cast<RelationalAttentionImpl*>(p.relational))
        relational(way, at, *relations, first);
    else if (p.relational)
        heads(way, at, PartKind::RelationalHead, p.relational->hook, p.relational->wo->weight,
              first);
    if (p.sensory) heads(way, at, PartKind::SensoryHead, p.sensory->hook, p.sensory->wo->weight);
}

void StreamWalk::middle(const Way& way, const At& at, const StreamBlock& block) {
    const auto kind = block.relational ? PartKind::RelationalHead : PartKind::CrossHead;
    const auto plain = [&](auto& module) {
        bias(way, at, block.relational ? "the relational heads" : "the cross heads",
             module.wo->bias);
        heads(way, at, kind, module.hook, module.wo->weight);
    };
    if (block.middle) return plain(*block.middle);
    if (block.imageMiddle) return plain(*block.imageMiddle);
    plain(*block.parts.cross);
}

void StreamWalk::feedForward(const Way& way, const Way& inner, const At& at,
                             const StreamBlock& block) {
    const auto last = block.feedForward->lastBias();
    bias(inner, at, "the feed-forward", last);
    auto values = torch::matmul(point(block.hook + ".hook_mlp_out"), way.m.t());  // [b, rows, k]
    if (last.defined()) {
        const auto share = (inner.scale / way.scale).unsqueeze(-1);
        values = values - torch::matmul(inner.m, precise(last)) * share;
    }
    put({part(PartKind::FeedForward, at)}, way, values.unsqueeze(2));
}

void StreamWalk::start(const Way& way, const StreamStack& stack) {
    const At at{stack, -1};
    if (stack.symbols)
        return rows(part(PartKind::Symbols, at), way, point(stack.start + "hook_symbols"));
    if (const auto* norm = m_streams.embedNorm()) {
        auto x = point(stack.start + "hook_embed");
        if (const auto more = m_streams.positions(stack, m_rows); more.defined()) x = x + more;
        if (const auto& type = m_streams.tokenType(); type.defined()) x = x + type;
        return startAt(through(*norm, x, way, at, "the norm of the embedding"), stack);
    }
    startAt(way, stack);
}

void StreamWalk::startAt(const Way& way, const StreamStack& stack) {
    const At at{stack, -1};
    const double factor = stack.raw ? 1.0 : m_streams.embeddingScale();
    bias(way, at, "the token type", m_streams.tokenType());
    if (!stack.raw)
        if (const auto more = m_streams.positions(stack, m_rows); more.defined())
            rows(part(PartKind::Positions, at), way,
                 more.expand({way.scale.size(0), more.size(1), more.size(2)}));
    const auto& weight = m_streams.featureWeight();
    const bool few = m_rows.input.defined() &&
                     (stack.raw ? m_rows.input.size(2) <= kMostFeatures : weight.defined());
    if (!few) {
        const auto x = stack.raw ? precise(m_rows.input) : point(stack.start + "hook_embed");
        return rows(part(PartKind::Embedding, at), way, x * factor);
    }
    if (!stack.raw && m_streams.featureBias().defined())
        bias(way, at, "the embedder", m_streams.featureBias() * factor);
    const auto seen = stack.raw ? way.m : torch::matmul(way.m, weight) * factor;  // [k, features]
    std::vector<StreamPart> parts;
    for (std::int64_t f = 0; f < seen.size(1); ++f)
        parts.push_back(part(PartKind::Feature, at, -1, -1, m_streams.featureName(f)));
    put(parts, way, precise(m_rows.input).unsqueeze(3) * seen.t());
}

void StreamWalk::back(const StreamPlace& place, Way way) {
    const auto& stack = m_streams.stacks()[static_cast<std::size_t>(place.stack)];
    for (auto layer = place.layer + 1; layer-- > 0;) {
        const At at{stack, static_cast<int>(layer)};
        if (layer < stack.blocks.size()) {
            const auto& block = stack.blocks[layer];
            for (auto sub = layer < place.layer ? block.subs.size() : place.sub; sub-- > 0;) {
                const auto& s = block.subs[sub];
                if (s.norm && !block.normFirst && !s.norm->isNone()) {
                    auto x = point(s.out);
                    if (s.onto == Onto::Stream) x = x + point(s.before);
                    if (s.onto == Onto::Objects) x = x + m_streams.stream(stack.objects, m_rows);
                    way = through(*s.norm, x, way, at, s.number);
                }
                const auto inner = behind(s, way, at, block);
                if (s.kind == Kind::Attention) attention(inner, at, block);
                if (s.kind == Kind::Middle) middle(inner, at, block);
                if (s.kind == Kind::FeedForward) feedForward(way, inner, at, block);
                if (s.onto == Onto::Objects) return back(stack.objects, way);
                if (s.onto == Onto::Nothing) return;
            }
            if (!m_streams.mixing().empty()) {
                const auto [stay, again] = m_streams.mixing()[layer];
                if (again != 0.0)
                    rows(part(PartKind::Embedding, at), way,
                         point(stack.start + "hook_embed") * again);
                way.scale = way.scale * stay;
            }
        }
    }
    start(way, stack);
}

void StreamWalk::follow(const StreamPlace& place, const torch::Tensor& m, NormImpl* norm,
                        int number, int layer) {
    const auto x = m_streams.stream(place, m_rows);
    Way way{m, torch::ones({x.size(0), x.size(1)}, torch::kDouble)};
    if (norm) {
        // The norm belongs to the block that reads, also where it reads another stream.
        StreamStack own;
        own.name = m_own;
        way = through(*norm, x, way, {own, layer}, number);
    }
    back(place, way);
}

void StreamWalk::followMessages(const StreamPlace& place, const torch::Tensor& m) {
    const auto& stack = m_streams.stacks()[static_cast<std::size_t>(place.stack)];
    const auto& block = m_streams.block(place);
    const At at{stack, static_cast<int>(place.layer)};
    auto& layer = *block.messages;
    const auto& z = m_rows.points.at(block.hook + ".rca.hook_z");  // [b, rows, relations, width]
    std::vector<torch::Tensor> sent;
    for (std::size_t r = 0; r < layer.values->size(); ++r)
        sent.push_back(
            layer.values[r]->as<LinearImpl>()->forward(z.select(2, static_cast<std::int64_t>(r))));
    const auto out = torch::cat(sent, -1), fed = layer.ff_block(out);
    const auto summed = out + fed, normed = layer.norm1(summed);
    Way way{m, torch::ones({z.size(0), z.size(1)}, torch::kDouble)};
    if (!layer.norm2.is_empty()) way = through(*layer.norm2, precise(normed), way, at, 2);
    way = through(*layer.norm1, precise(summed), way, at, 1);
    const auto& last = layer.ff_block->linear2->bias;
    bias(way, at, "the feed-forward", last);
    rows(part(PartKind::FeedForward, at), way, precise(last.defined() ? fed - last : fed));
    std::vector<torch::Tensor> biases;
    std::vector<StreamPart> parts;
    std::vector<torch::Tensor> values;
    std::int64_t first = 0;
    for (std::size_t r = 0; r < layer.values->size(); ++r) {
        const auto* linear = layer.values[r]->as<LinearImpl>();
        const auto weight = precise(linear->weight);
        const auto g = torch::matmul(way.m.slice(1, first, first + weight.size(0)), weight);
        first += weight.size(0);
        biases.push_back(precise(linear->bias));
        parts.push_back(part(PartKind::RelationalHead, at, static_cast<int>(r)));
        values.push_back(torch::matmul(precise(z.select(2, static_cast<std::int64_t>(r))), g.t()));
    }
    bias(way, at, "the relational heads", torch::cat(biases));
    put(parts, way, torch::stack(values, 2));
}

std::vector<StreamWalk::Chunk> StreamWalk::take() {
    std::reverse(m_chunks.begin(), m_chunks.end());
    return std::move(m_chunks);
}

// The tokens of a part.

namespace {

// The hook of the attention that a part is a head of; empty: the part does not attend.
std::string attentionOf(const StreamBlock& block, PartKind kind) {
    const auto& p = block.parts;
    if (kind == PartKind::SensoryHead) {
        if (block.self) return block.self->hook;
        if (block.imageSelf) return block.imageSelf->hook;
        if (p.sensory) return p.sensory->hook;
        if (p.shared && !p.shared->self_attention.is_empty()) return p.shared->self_attention->hook;
    } else if (kind == PartKind::CrossHead) {
        if (block.middle) return block.middle->hook;
        if (p.cross) return p.cross->hook;
    } else if (kind == PartKind::RelationalHead || kind == PartKind::Relation ||
               kind == PartKind::Symbols) {
        if (block.middle) return block.middle->hook;
        if (block.imageMiddle) return block.imageMiddle->hook;
        if (p.relational) return p.relational->hook;
        if (p.shared && !p.shared->relational_attention.is_empty())
            return p.shared->relational_attention->hook;
    }
    return {};
}

const StreamBlock* blockOf(const ModelStreams& streams, const StreamPart& part,
                           const std::string& ownStack) {
    const auto& name = part.stack.empty() ? ownStack : part.stack;
    for (const auto& stack : streams.stacks())
        if (stack.name == name && part.layer >= 0 &&
            part.layer < static_cast<int>(stack.blocks.size()))
            return &stack.blocks[static_cast<std::size_t>(part.layer)];
    return nullptr;
}

// Of heads that share keys or values: those of one head. x [b, t, kv, w] -> [b, t, w].
torch::Tensor ofHead(const torch::Tensor& x, std::int64_t head, std::int64_t heads) {
    return x.select(2, head / (heads / x.size(2)));
}

// The symbol of each pair of row and token, under a projection of the library [S, w]: [rows, t, w].
torch::Tensor byOffsets(const torch::Tensor& library, const torch::Tensor& rows,
                        std::int64_t tokens) {
    const auto most = (library.size(0) - 1) / 2;
    const auto offsets = torch::arange(tokens).unsqueeze(0) - rows.unsqueeze(1);
    const auto index = offsets.clamp(-most, most) + most;
    return library.index_select(0, index.flatten()).view({rows.size(0), tokens, -1});
}

}  // namespace

std::vector<std::string> tokenPoints(const ModelStreams& streams, const StreamPart& part,
                                     const std::string& ownStack, const char* option) {
    const auto* block = blockOf(streams, part, ownStack);
    const auto hook = block && part.head >= 0 ? attentionOf(*block, part.kind) : std::string();
    if (hook.empty())
        throw OptionError(option, "'" + part.text() +
                                      "' attends to no tokens; name a head, or a relation or "
                                      "the symbols of one");
    std::vector<std::string> names;
    for (const char* name :
         {".hook_pattern", ".hook_v", ".hook_s", ".hook_r", ".hook_rel_q", ".hook_rel_k"})
        names.push_back(hook + name);
    names.push_back(block->hook + ".sym.hook_library");
    // An Abstractor finds its symbols once, for all of its layers.
    names.push_back(block->hook.substr(0, block->hook.rfind('.')) + ".sym.hook_library");
    return names;
}

void StreamWalk::split(const Way& way, const At& at, PartKind kind, std::int64_t head,
                       const torch::Tensor& g) {
    const auto& wanted = m_split->part;
    const bool inside = wanted.kind == PartKind::Relation || wanted.kind == PartKind::Symbols;
    const auto own = part(kind, at, static_cast<int>(head));
    if (wanted.layer != own.layer || wanted.head != own.head || wanted.stack != own.stack ||
        (inside ? kind != PartKind::RelationalHead : wanted.kind != kind))
        return;
    const auto& block = at.stack.blocks[static_cast<std::size_t>(at.layer)];
    const auto hook = attentionOf(block, wanted.kind);
    const auto& points = m_split->points;
    const auto whole = [&](const char* name) { return precise(points.at(hook + name)); };
    const auto has = [&](const char* name) { return points.count(hook + name) > 0; };
    const auto pattern = whole(".hook_pattern");  // [b, h, n, t]
    const auto heads = pattern.size(1), tokens = pattern.size(3);
    const auto alpha = pattern.select(1, head).index_select(1, m_rows.rows);  // [b, rows, t]
    // [b, t, w] -> [b, 1, t, w], for every row.
    const auto sent = [&](const torch::Tensor& weights, const torch::Tensor& values) {
        return weights.unsqueeze(3) * (values.dim() == 4 ? values : values.unsqueeze(1));
    };
    const auto library = [&](const Linear& wv) {  // [S, width of all heads]
        for (const auto& prefix : {block.hook, block.hook.substr(0, block.hook.rfind('.'))})
            if (const auto found = points.find(prefix + ".sym.hook_library"); found != points.end())
                return torch::matmul(precise(found->second), precise(wv->weight).t());
        throw Error("a pass has not met the symbols of " + hook);
    };
    torch::Tensor z;  // [b, rows, t, d_h]
    auto* relational = block.parts.relational;
    auto* abstracts = wanted.kind == PartKind::SensoryHead ? block.self : block.middle;
    if (abstracts) {
        z = sent(alpha, ofHead(whole(".hook_v"), head, heads));
        // The symbols of pairs are added to the values of an Abstractor's relational heads.
        const bool relative =
            abstracts == block.middle && block.relational &&
            m_streams.options().get<SymbolOptions>().symbol_retrieval == "position_relative";
        if (relative) {
            const auto width = abstracts->options().key_dim;
            const auto rows = library(abstracts->wv).slice(1, head * width, (head + 1) * width);
            z = z + sent(alpha, byOffsets(rows, m_rows.rows, tokens).unsqueeze(0));
        }
    } else if (!relational || wanted.kind == PartKind::SensoryHead ||
               wanted.kind == PartKind::CrossHead) {
        if (has(".hook_rel_q") && !has(".hook_v")) {  // Hadamard relations
            const auto q = whole(".hook_rel_q").squeeze(3).index_select(1, m_rows.rows),
                       k = whole(".hook_rel_k").squeeze(3);
            const auto width = q.size(2) / heads;
            z = sent(alpha, k.slice(2, head * width, (head + 1) * width)) *
                q.slice(2, head * width, (head + 1) * width).unsqueeze(2);
            if (wanted.kind == PartKind::Relation) {
                const auto d = wanted.relation - head * width;
                auto alone = torch::zeros_like(z);
                alone.select(3, d).copy_(z.select(3, d));
                z = alone;
            }
        } else {
            z = sent(alpha, ofHead(whole(".hook_v"), head, heads));
        }
    } else {
        const auto kv = relational->options().kvHeads(), width = relational->options().head_dim;
        const auto symbols = [&]() -> torch::Tensor {  // [b, t, w], or [1, rows, t, w]
            if (has(".hook_s")) return ofHead(whole(".hook_s"), head, heads);
            const auto of = head / (heads / kv);
            return byOffsets(library(relational->wv).slice(1, of * width, (of + 1) * width),
                             m_rows.rows, tokens)
                .unsqueeze(0);
        };
        auto* relations = dynamic_cast<RelationalAttentionImpl*>(relational);
        if (!relations && has(".hook_r")) {  // disrca
            z = sent(alpha * whole(".hook_r").select(3, head).index_select(1, m_rows.rows),
                     symbols());
        } else if (wanted.kind == PartKind::Symbols || !relations) {
            z = sent(alpha, symbols());
        } else {
            const auto wr = precise(relations->wr).select(0, head);  // [d_h, d_r]
            const auto r =
                whole(".hook_r").index_select(1, m_rows.rows).nan_to_num();  // [b, rows, t, d_r]
            if (wanted.kind == PartKind::Relation)
                z = (alpha * r.select(3, wanted.relation)).unsqueeze(3) *
                    wr.select(1, wanted.relation);
            else
                z = alpha.unsqueeze(3) * torch::matmul(r, wr.t()) + sent(alpha, symbols());
        }
    }
    const auto values =
        torch::matmul(z, g.t()) * way.scale.unsqueeze(-1).unsqueeze(-1);  // [b, rows, t, k]
    m_split->tokens = m_keep ? m_keep(values) : values;
}

}  // namespace relascope::core
