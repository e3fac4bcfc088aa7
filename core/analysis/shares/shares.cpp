// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/shares/shares.h"

#include <torch/utils.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/parts/answer_stream.h"
#include "analysis/parts/block_parts.h"
#include "analysis/parts/stream_parts.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "interventions/active_edits.h"
#include "interventions/editor.h"
#include "model/public/family.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kShareBatch = 50, kShareWindows = 4, kTextShare = 10;

/// A part of the attention of a layer.
struct LayerPart {
    /// SensoryHead; Relation and Symbols of a relational head; RelationalHead where its relations
    /// are its attention; Bias, of all heads.
    PartKind kind = PartKind::SensoryHead;
    int layer = 0, head = -1, relation = -1;  ///< from 0; -1: has none
};

/// <c, y> summed over positions, by example and head: of a part whose c is `wo` times z, with z
/// [b, n, h, d_h], and y [b, n, d] of the same dimensions as its output.
struct Projection {
    Projection(const Linear& wo, const torch::Tensor& y, const torch::Tensor& like)
        : back(torch::matmul(y, precise(wo->weight)).view_as(like)) {}
    torch::Tensor of(const torch::Tensor& z) const { return (back * z).sum({1, 3}); }

    torch::Tensor back;  ///< W_o^T y
};

/// The shares of one batch after another: their sums and those of their squares.
class ShareSums {
public:
    /// `share`: of each example [b].
    void add(const LayerPart& part, const torch::Tensor& share) {
        const auto key =
            std::tuple(part.layer, static_cast<int>(part.kind), part.head, part.relation);
        auto [at, fresh] = m_places.emplace(key, m_rows.size());
        if (fresh) m_rows.push_back({part});
        auto& row = m_rows[at->second];
        row.sum += share.sum().item<double>();
        row.squares += share.square().sum().item<double>();
    }
    /// Calls `write` with each part, the mean of its shares and their standard deviation.
    template <class Write>
    void each(std::int64_t examples, Write write) const {
        const auto n = static_cast<double>(examples);
        for (const auto& [part, sum, squares] : m_rows)
            write(part, sum / n, std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1.0))));
    }

private:
    struct Row {
        LayerPart part;
        double sum = 0.0, squares = 0.0;
    };
    std::vector<Row> m_rows;
    std::map<std::tuple<int, int, int, int>, std::size_t> m_places;
};

class ShareRun {
public:
    explicit ShareRun(AnalysisSubject& subject)
        : m_subject(subject),
          m_model(subject.model->edited(subject.interventions)),
          m_stream(answerStream(m_model->model(), m_model->options())) {
        for (std::size_t layer = 0; layer < m_stream.blocks->size(); ++layer) {
            m_blocks.push_back(partsOf(*m_stream.blocks->ptr(layer)));
            const auto& parts = m_blocks.back();
            if (!parts.feedForward)
                throw OptionError("model", modelTitle(m_model->options()) +
                                               " does not have the blocks of a Transformer, whose "
                                               "attention is a sum of heads");
            m_points.push_back(pointOf(layer));
            if (parts.shared)
                for (const auto& heads : headsOf(*parts.shared))
                    m_points.push_back(heads.hook + ".hook_z");
            if (parts.sensory) m_points.push_back(parts.sensory->hook + ".hook_z");
            if (!parts.relational) continue;
            for (const char* name : {".hook_z", ".hook_z_sym", ".hook_attended_r"})
                m_points.push_back(parts.relational->hook + name);
        }
    }

    Answer run(const ShareOptions& options, const Watch<Answer>& watch) {
        const bool windows = m_model->options().input() == InputKind::Tokens;
        const auto wanted =
            windows ? std::max<std::int64_t>(2, options.examples / kTextShare) : options.examples;
        const auto order = drawnExamples(m_subject.data->size(), wanted, 0);
        const auto all = std::ssize(order);
        if (all < 2) throw OptionError("examples", "two examples or more are needed");
        const auto step = windows ? kShareWindows : kShareBatch;
        for (std::int64_t first = 0; first < all; first += step) {
            if (watch.stop.stop_requested() ||
                (watch.progress &&
                 !watch.progress(static_cast<double>(first) / static_cast<double>(all))))
                throw Cancelled();
            const std::vector<std::int64_t> indices(order.begin() + first,
                                                    order.begin() + std::min(all, first + step));
            const auto batch = makeBatch(*m_subject.data, indices.data(),
                                         static_cast<std::int64_t>(indices.size()));
            PointReader reader(m_points);
            m_model->answers(batch, m_subject.data, indices, &reader);
            for (std::size_t layer = 0; layer < m_blocks.size(); ++layer)
                addLayer(static_cast<int>(layer), reader.tensors());
        }
        using namespace columns;
        const auto layer = integer("layer", {"Layer"}), kind = text("kind", {"Part"});
        const auto share =
            number("share", {"Share",
                             {1, true, false, true},
                             "Of the square of the layer's output, mean over examples"});
        const auto spread =
            number("deviation", {"Spread", {1, true}, "Standard deviation over examples"});
        auto parts = tableWith("parts", "Parts", layer, kind, integer("head", {"Head"}),
                               integer("relation", {"Relation"}), share, spread);
        auto layers =
            tableWith("layers", "Layers", layer, kind, share, spread);  // sums over a kind
        // Of pairs of sequences the inspector numbers other layers.
        const bool linked = !m_model->options().find<PairInput>();
        m_parts.each(all, [&](const LayerPart& part, double mean, double deviation) {
            addRow(parts, fromOne(part.layer), partKindName(part.kind), fromOne(part.head),
                   fromOne(part.relation), mean, deviation);
            MapLink link{MapKind::SensoryAttention, linked ? part.layer : -1, part.head};
            if (part.kind == PartKind::Relation)
                link.kind = MapKind::Relation, link.index = part.relation;
            if (part.kind == PartKind::RelationalHead || part.kind == PartKind::Symbols)
                link.kind = MapKind::RelationalAttention;
            if (part.kind == PartKind::Bias) link.layer = -1;
            parts.links.push_back(link);
        });
        m_kinds.each(all, [&](const LayerPart& part, double mean, double deviation) {
            addRow(layers, fromOne(part.layer), partKindName(part.kind), mean, deviation);
        });
        return {{tableWith("", "", fact("examples", all, {"Examples"})), parts, layers}};
    }

private:
    using Points = std::map<std::string, torch::Tensor>;

    std::string pointOf(std::size_t layer) const {
        return m_stream.stack + "." + std::to_string(layer) + ".hook_attn_out";
    }

    void addLayer(int layer, const Points& points) {
        const torch::NoGradGuard noGrad;
        const auto& block = m_blocks[static_cast<std::size_t>(layer)];
        const auto y = precise(points.at(pointOf(static_cast<std::size_t>(layer))));  // [b, n, d]
        const auto whole = y.square().sum({1, 2});                                    // [b]
        torch::Tensor biases = torch::zeros_like(whole);
        const auto read = beforeNorm(block, y, points, biases);
        std::map<PartKind, torch::Tensor> kinds;
        const auto add = [&](PartKind kind, std::int64_t head, std::int64_t relation,
                             const torch::Tensor& projected) {
            const auto share = projected / whole;
            m_parts.add({kind, layer, static_cast<int>(head), static_cast<int>(relation)}, share);
            auto& sum = kinds[kind];
            sum = sum.defined() ? sum + share : share;
        };
        // Dual attention joins the outputs of its two kinds of heads.
        std::int64_t at = 0;
        const auto outputs = [&](const Linear& wo) {
            const auto part = read.slice(2, at, at + wo->weight.size(0));
            if (wo->bias.defined()) biases += (part * precise(wo->bias)).sum({1, 2});
            at += wo->weight.size(0);
            return part;
        };
        const auto heads = [&](PartKind kind, const std::string& hook, const Linear& wo) {
            const auto z = precise(points.at(hook + ".hook_z"));
            const auto projected = Projection(wo, outputs(wo), z).of(z);  // [b, h]
            for (std::int64_t h = 0; h < projected.size(1); ++h)
                add(kind, h, -1, projected.select(1, h));
        };
        if (block.shared)
            for (const auto& each : headsOf(*block.shared)) {
                const auto z = precise(points.at(each.hook + ".hook_z"));
                const auto projected = Projection(each.wo, y, z).of(z);  // [b, h]
                for (std::int64_t h = 0; h < projected.size(1); ++h)
                    add(each.kind, h, -1, projected.select(1, h));
            }
        if (block.sensory) heads(PartKind::SensoryHead, block.sensory->hook, block.sensory->wo);
        if (auto* attention = dynamic_cast<RelationalAttentionImpl*>(block.relational)) {
            const auto z = precise(points.at(attention->hook + ".hook_z_sym"));
            const auto attended = precise(points.at(attention->hook + ".hook_attended_r"));
            const Projection projection(attention->wo, outputs(attention->wo), z);
            // [b, n, h, d_h] through W_r [h, d_h, r], times what each head attends of each relation
            const auto sent =
                torch::einsum("bnhd,hdr->bnhr", {projection.back, precise(attention->wr)}) *
                attended;
            const auto relations = sent.sum(1), symbols = projection.of(z);
            for (std::int64_t h = 0; h < symbols.size(1); ++h) {
                for (std::int64_t r = 0; r < relations.size(2); ++r)
                    add(PartKind::Relation, h, r, relations.select(1, h).select(1, r));
                add(PartKind::Symbols, h, -1, symbols.select(1, h));
            }
        } else if (block.relational) {
            heads(PartKind::RelationalHead, block.relational->hook, block.relational->wo);
        }
        if (biases.any().item<bool>()) add(PartKind::Bias, -1, -1, biases);
        for (const auto& [kind, share] : kinds) m_kinds.add({kind, layer}, share);
    }

    // What outputs of heads are held against, so that it gives their shares of what is added, y [b,
    // n, d], behind a norm that is held; `biases` gets the share of that norm's.
    static torch::Tensor beforeNorm(const BlockParts& block, const torch::Tensor& y,
                                    const Points& points, torch::Tensor& biases) {
        if (block.addsOutputs()) return y;
        if (!block.attentionBehind) return y * block.residualScale;
        const auto held =
            heldNorm(*block.attentionBehind,
                     attentionOutput(*block.sensory, points.at(block.sensory->hook + ".hook_z")));
        if (!held.scale.defined()) return y * block.residualScale;
        if (held.bias.defined()) biases += (y * held.bias).sum({1, 2}) * block.residualScale;
        return held.back(y) * (block.residualScale / held.scale.unsqueeze(-1));
    }

    AnalysisSubject& m_subject;
    std::unique_ptr<EditedModel> m_model;
    AnswerStream m_stream;
    std::vector<BlockParts> m_blocks;
    std::vector<std::string> m_points;
    ShareSums m_parts, m_kinds;
};

Answer runShares(AnalysisSubject& subject, const ShareOptions& options,
                 const Watch<Answer>& watch) {
    return ShareRun(subject).run(options, watch);
}

}  // namespace

const RegisterRunner kSharesRunner("shares", [] { return makeRunner(shareFields(), runShares); });

}  // namespace relascope::core
