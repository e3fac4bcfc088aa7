// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <cmath>

#include "analysis/answer_names.h"
#include "analysis/attribute/attribution.h"
#include "analysis/attribute/direction.h"
#include "analysis/open_model.h"
#include "analysis/parts/answer_stream.h"
#include "analysis/parts/block_parts.h"
#include "analysis/parts/stream_parts.h"
#include "analysis/run_analysis.h"
#include "interventions/editor.h"
#include "model/abstractor/abstractor_options.h"
#include "model/model.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "model/seq2seq/seq2seq_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

void requireSum(const ModelOptions& o, const AnswerStream& stream) {
    if (const auto* encoder = o.find<EncoderDetails>())
        throw OptionError("model", "the output of a " + modelTitle(o) + " passes a " +
                                       (encoder->head_activation == "relu" ? "relu" : "gelu") +
                                       ", so that no fixed sum of parts exists; use the lens "
                                       "instead");
    if (!partsOf(*stream.blocks->begin()->get()).feedForward)
        throw OptionError(
            "model", "direct attribution needs the blocks of a Transformer, and " + modelTitle(o) +
                         " has those of an Abstractor, which normalise or replace the stream "
                         "they get; use the lens instead");
    const auto* pairs = o.find<Seq2SeqTransformerOptions>();
    const auto& block = pairs ? pairs->decoder : o.get<BlockOptions>();
    if (!block.norm_first && block.norm_type != "none")
        throw OptionError("model",
                          "the blocks are post-norm (norm_first = false): each norm rescales all "
                          "that came before it, so that no fixed sum of parts exists; use the lens "
                          "instead, or a model with norm_first = true");
}

/// Collects the parts of one layer after another.
class Collector {
public:
    Collector(Attribution& result, const Direction& direction,
              const std::map<std::string, torch::Tensor>& points)
        : m_result(result), m_direction(&direction), m_points(points) {}
    /// What follows is read in that direction, which must outlive it.
    void setDirection(const Direction& direction) { m_direction = &direction; }

    /// Enters what the tensor of a point [1, n, d], times `scale` and minus `without`, adds to the
    /// logit, less what is counted elsewhere.
    void add(PartKind kind, int layer, const std::string& point, double scale = 1.0,
             const torch::Tensor& without = {}, double less = 0.0) {
        const auto found = m_points.find(point);
        if (found == m_points.end()) return;
        auto rows = m_direction->rows(found->second) * scale;
        if (without.defined()) rows = rows - precise(without);
        put(kind, layer, -1, -1, (m_direction->weights * rows).sum().item<double>() - less);
    }
    /// What follows is multiplied by it on its way to the last stream.
    void setScale(double scale) { m_scale = scale; }
    void bias(int layer, const std::string& where, const torch::Tensor& value,
              std::int64_t at = 0) {
        if (!value.defined()) return;
        const auto weights = m_direction->weights.slice(1, at, at + value.size(0));
        putBias(layer, where, (weights * precise(value)).sum().item<double>());
    }
    void putBias(int layer, const std::string& where, double value) {
        m_result.parts.push_back({PartKind::Bias, layer, -1, -1, where, value});
    }
    /// Enters heads whose joined outputs `wo` maps to the stream from dimension `at` on.
    void heads(PartKind kind, int layer, const std::string& hook, const Linear& wo,
               std::int64_t at = 0) {
        const auto z = m_direction->rows(m_points.at(hook + ".hook_z"));  // [q, h, d_h]
        const auto values = precise((back(wo, at, z) * z).sum(0).sum(1));
        for (std::int64_t h = 0; h < values.size(0); ++h)
            put(kind, layer, h, -1, values[h].item<double>());
    }
    /// Enters Hadamard heads and, within each head, its relations of width 1: what `wo` reads.
    void hadamard(int layer, const HeadsOfShared& heads) {
        const auto z = m_direction->rows(m_points.at(heads.hook + ".hook_z"));  // [q, h, d_h]
        const auto sent = (back(heads.wo, 0, z) * z).sum(0);
        const auto whole = sent.sum(1);
        for (std::int64_t h = 0; h < sent.size(0); ++h) {
            put(heads.kind, layer, h, -1, whole[h].item<double>());
            for (std::int64_t r = 0; r < sent.size(1); ++r)
                put(PartKind::Relation, layer, h, h * sent.size(1) + r, sent[h][r].item<double>());
        }
    }
    /// Enters the heads of relational attention and, within each head, its relations and symbols.
    void relational(int layer, const RelationalAttentionImpl& attention, std::int64_t at) {
        const auto z = m_direction->rows(m_points.at(attention.hook + ".hook_z_sym"));
        const auto attended =
            m_direction->rows(m_points.at(attention.hook + ".hook_attended_r"));  // [q, h, d_r]
        const auto weights = back(attention.wo, at, z);                           // [q, h, d_h]
        const auto sent =
            torch::einsum("qhd,hdr->qhr", {weights, precise(attention.wr)}) * attended;
        const auto relations = sent.sum(0), symbols = (weights * z).sum(0).sum(1);
        const auto whole = relations.sum(1) + symbols;
        for (std::int64_t h = 0; h < whole.size(0); ++h) {
            put(PartKind::RelationalHead, layer, h, -1, whole[h].item<double>());
            for (std::int64_t r = 0; r < relations.size(1); ++r)
                put(PartKind::Relation, layer, h, r, relations[h][r].item<double>());
            put(PartKind::Symbols, layer, h, -1, symbols[h].item<double>());
        }
    }

private:
    // The direction in front of `wo`, as z [q, h, d_h].
    torch::Tensor back(const Linear& wo, std::int64_t at, const torch::Tensor& z) const {
        const auto weight = precise(wo->weight);  // [out, h * d_h]
        return torch::matmul(m_direction->weights.slice(1, at, at + weight.size(0)), weight)
            .view_as(z);
    }
    void put(PartKind kind, int layer, std::int64_t head, std::int64_t relation, double value) {
        m_result.parts.push_back(
            {kind, layer, static_cast<int>(head), static_cast<int>(relation), {}, m_scale * value});
    }

    double m_scale = 1.0;
    Attribution& m_result;
    const Direction* m_direction;
    const std::map<std::string, torch::Tensor>& m_points;
};

// The direction in front of the output of a sub-layer, through what stands behind it.
Direction behindOutput(const Direction& direction, NormImpl* norm, double scale,
                       const torch::Tensor& output) {
    auto inner = direction;
    inner.weights = direction.weights * scale;
    if (!norm) return inner;
    const auto held = heldNorm(*norm, output.unsqueeze(0));
    if (held.scale.defined())
        inner.weights = held.back(inner.weights) / held.scale[0].unsqueeze(-1);
    return inner;
}

// The bias of a norm behind a sub-layer.
void addNormBias(Collector& collector, int layer, const char* where, const NormImpl* norm,
                 const torch::Tensor& weights, double scale) {
    if (norm && norm->bias.defined())
        collector.putBias(layer, where,
                          (weights * precise(norm->bias)).sum().item<double>() * scale);
}

// A block of which what is added is a norm, or a multiple, of the outputs.
void addBlockBehind(Collector& collector, const Direction& direction, int layer,
                    const std::string& block, const BlockParts& parts,
                    const std::map<std::string, torch::Tensor>& points) {
    const auto& attention = *parts.sensory;
    const double scale = parts.residualScale;
    const auto inner = behindOutput(
        direction, parts.attentionBehind, scale,
        attentionOutput(attention, direction.rows(points.at(attention.hook + ".hook_z"))));
    collector.setDirection(inner);
    collector.heads(PartKind::SensoryHead, layer, attention.hook, attention.wo);
    collector.bias(layer, "the sensory heads", attention.wo->bias);
    collector.setDirection(direction);
    addNormBias(collector, layer, "the norm behind the attention", parts.attentionBehind,
                direction.weights, scale);
    // A feed-forward is one part: what it adds, biases apart.
    const auto last = parts.feedForward->lastBias();
    double biases = 0.0;
    if (last.defined()) {
        const auto output =
            parts.feedBehind
                ? feedOutput(*parts.feedForward,
                             parts.feedNorm->forward(points.at(block + ".hook_resid_mid")))
                : torch::Tensor();
        const auto fed = behindOutput(direction, parts.feedBehind, scale,
                                      output.defined() ? direction.rows(output) : torch::Tensor());
        biases = (fed.weights * precise(last)).sum().item<double>();
        collector.putBias(layer, "the feed-forward", biases);
    }
    addNormBias(collector, layer, "the norm behind the feed-forward", parts.feedBehind,
                direction.weights, scale);
    if (parts.feedBehind && parts.feedBehind->bias.defined())
        biases +=
            (direction.weights * precise(parts.feedBehind->bias)).sum().item<double>() * scale;
    collector.add(PartKind::FeedForward, layer, block + ".hook_mlp_out", 1.0, {}, biases);
}

void addBlock(Collector& collector, int layer, const std::string& block, const BlockParts& parts) {
    std::int64_t at = 0;  // dual attention joins the outputs of its two kinds of heads
    if (parts.shared)
        for (const auto& heads : headsOf(*parts.shared))
            heads.kind == PartKind::RelationalHead
                ? collector.hadamard(layer, heads)
                : collector.heads(heads.kind, layer, heads.hook, heads.wo);
    if (auto* sensory = parts.sensory) {
        collector.heads(PartKind::SensoryHead, layer, sensory->hook, sensory->wo);
        at = sensory->wo->weight.size(0);
    }
    if (auto* relational = parts.relational) {
        if (auto* attention = dynamic_cast<RelationalAttentionImpl*>(relational))
            collector.relational(layer, *attention, at);
        else
            collector.heads(PartKind::RelationalHead, layer, relational->hook, relational->wo, at);
    }
    if (parts.sensory) collector.bias(layer, "the sensory heads", parts.sensory->wo->bias);
    if (parts.relational)
        collector.bias(layer, "the relational heads", parts.relational->wo->bias, at);
    if (auto* cross = parts.cross) {
        collector.heads(PartKind::CrossHead, layer, cross->hook, cross->wo);
        collector.bias(layer, "the cross heads", cross->wo->bias);
    }
    const auto last = parts.feedForward->lastBias();
    collector.add(PartKind::FeedForward, layer, block + ".hook_mlp_out", 1.0, last);
    collector.bias(layer, "the feed-forward", last);
}

}  // namespace

namespace {

/// How much of what enters the stream reaches its end, where blocks mix the stream with the
/// embedding: x = resid x + x0 embedding before each.
struct StreamMixes {
    double whole = 1.0;             ///< of the embedding that the stream begins with
    std::vector<double> after;      ///< of what each block adds
    std::vector<double> embedding;  ///< of the embedding that is mixed in before each block
};

StreamMixes mixesOf(ModelImpl& model, std::size_t layers) {
    StreamMixes mixes{1.0, std::vector<double>(layers, 1.0), std::vector<double>(layers, 0.0)};
    const auto* mixing = dynamic_cast<NanochatImpl*>(&model);
    if (!mixing) return mixes;
    const auto resid = precise(mixing->resid_lambdas), x0 = precise(mixing->x0_lambdas);
    for (auto layer = layers; layer-- > 0;) {
        const auto at = static_cast<std::int64_t>(layer);
        mixes.after[layer] = mixes.whole;
        mixes.embedding[layer] = mixes.whole * x0[at].item<double>();
        mixes.whole *= resid[at].item<double>();
    }
    return mixes;
}

}  // namespace

namespace {

constexpr const char* kNormed = "ln_final.hook_normalized";

// The scores [n, answers] before their cap, of the stream behind its last norm where it has one.
torch::Tensor uncapped(const AnswerStream& stream, const PointTensors& points) {
    const auto normed = points.find(kNormed);
    if (normed == points.end()) return stream.uncapped(points.at(stream.points.back()))[0];
    auto x = normed->second[0];
    if (!stream.project.is_empty()) x = stream.project->forward(x);
    return uncappedScores(*stream.form, stream.out->forward(x), stream.vocabulary);
}

// The direction in front of a norm of the embedding, whose bias it enters.
Direction beforeEmbedNorm(Collector& collector, const Direction& direction, ModelImpl& model,
                          const PointTensors& points) {
    auto module = moduleAt(model, "layers.embed_norm");
    if (!module) module = moduleAt(model, "embed_norm");
    auto* norm = dynamic_cast<NormImpl*>(module.get());
    if (!norm) return direction;
    auto x = points.at("hook_embed");
    if (const auto at = points.find("hook_pos_embed"); at != points.end()) x = x + at->second;
    addNormBias(collector, -1, "the norm of the embedding", norm, direction.weights, 1.0);
    return behindOutput(direction, norm, 1.0, direction.rows(x));
}

}  // namespace

Attribution attributeLogit(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                           const AttributionOptions& what) {
    const torch::NoGradGuard noGrad;
    requireAnswers(options);
    const auto stream = answerStream(model, options);
    requireSum(options, stream);
    const bool pairs = options.find<PairInput>() != nullptr;
    const std::string before = pairs ? "decoder." : "";
    const auto block = [&](std::size_t layer) {
        return stream.stack + "." + std::to_string(layer);
    };

    std::vector<BlockParts> blocks;
    std::vector<std::string> points = {before + "hook_embed", before + "hook_pos_embed",
                                       stream.points.back()};
    for (std::size_t layer = 0; layer < stream.blocks->size(); ++layer) {
        blocks.push_back(partsOf(*stream.blocks->ptr(layer)));
        const auto& parts = blocks.back();
        points.push_back(block(layer) + ".hook_mlp_out");
        if (parts.feedBehind) points.push_back(block(layer) + ".hook_resid_mid");
        if (parts.shared)
            for (const auto& heads : headsOf(*parts.shared))
                points.push_back(heads.hook + ".hook_z");
        for (const auto* attention : {parts.sensory, parts.cross})
            if (attention) points.push_back(attention->hook + ".hook_z");
        if (!parts.relational) continue;
        for (const char* name : {".hook_z", ".hook_z_sym", ".hook_attended_r"})
            points.push_back(parts.relational->hook + name);
    }
    if (stream.form) points.emplace_back(kNormed);
    PointReader reader(std::move(points));
    auto scores = readPass(model, input, reader);
    if (scores.size(1) == 1) scores = torch::cat({torch::zeros_like(scores), scores}, 1);
    requireAnswer(what.answer, scores.size(1), "logit");
    if (what.minus >= 0) requireAnswer(what.minus, scores.size(1), "minus");

    Attribution result;
    result.whole = stream.whole();
    if (result.whole && what.position != AttributionOptions().position)
        throw OptionError("position",
                          "this model gives one answer for the whole input; leave it out");
    result.position = positionIn(what.position, scores.size(0));
    const auto chances = torch::softmax(precise(scores[result.position]), 0);
    // A soft cap is no sum of parts: what is divided up is the number that it is applied to.
    const auto own = precise(stream.form ? uncapped(stream, reader.tensors())[result.position]
                                         : scores[result.position]);
    const auto named = [&](std::int64_t id) -> LensAnswer {
        if (id < 0) return {};
        return {id, {}, own[id].item<double>(), chances[id].item<double>()};
    };
    result.answer = named(what.answer), result.minus = named(what.minus);
    result.logit = result.answer.logit - result.minus.logit;

    const auto direction =
        directionOf(stream, reader.tensors().at(stream.points.back()), what, result.position);
    Collector collector(result, direction, reader.tensors());
    // Sequence models scale their embeddings before they add positions.
    const double scale =
        pairs ? std::sqrt(static_cast<double>(options.get<StreamOptions>().d_model)) : 1.0;
    const auto mixes = mixesOf(model, blocks.size());
    const auto embedded = beforeEmbedNorm(collector, direction, model, reader.tensors());
    collector.setDirection(embedded);
    collector.add(PartKind::Embedding, -1, before + "hook_embed", scale * mixes.whole);
    collector.add(PartKind::Positions, -1, before + "hook_pos_embed");
    collector.setDirection(direction);
    for (std::size_t layer = 0; layer < blocks.size(); ++layer) {
        const auto number = static_cast<int>(layer);
        if (const auto again = mixes.embedding[layer]; again != 0.0)
            collector.add(PartKind::Embedding, number, "hook_embed", again);
        collector.setScale(mixes.after[layer]);
        if (blocks[layer].addsOutputs())
            addBlock(collector, number, block(layer), blocks[layer]);
        else
            addBlockBehind(collector, direction, number, block(layer), blocks[layer],
                           reader.tensors());
        collector.setScale(1.0);
    }
    for (const auto& [where, value] : direction.biases)
        collector.putBias(-1, "the " + where, value);
    // An edit of the stream, or of the joined outputs of heads, lies between the parts.
    const double rest = result.logit - result.sum();
    if (activeHooks() && std::abs(rest) > 1e-3 * (1.0 + std::abs(result.logit)))
        result.parts.push_back({PartKind::Edits, -1, -1, -1, {}, rest});
    return result;
}

Attribution attributionOf(AnalysisSubject& subject, const AttributionOptions& what) {
    auto& model = *subject.model;
    const auto& sample = sampleOf(subject);
    Attribution result;
    model.withInput(sample, subject.interventions, [&](ModelImpl& m, const ModelInput& input) {
        result = attributeLogit(m, model.options(), input, what);
    });
    const auto names = model.answerNames(sample, subject.classNames);
    nameAnswer(result.answer, names), nameAnswer(result.minus, names);
    const auto inputs = answeredInputs(model.options(), sample, model.tokenizer());
    if (static_cast<std::size_t>(result.position) < inputs.size())
        result.input = inputs[static_cast<std::size_t>(result.position)];
    return result;
}

namespace {

constexpr std::int64_t kOffered = 12;       // likeliest answers
constexpr std::int64_t kMostClasses = 200;  // above, only the likeliest are offered

Attribution runAttribution(AnalysisSubject& subject, const AttributionChoice& choice,
                           const Watch<Attribution>&) {
    auto& model = *subject.model;
    const auto& sample = sampleOf(subject);
    const auto& names = subject.classNames;
    AttributionOptions what;
    what.position = choice.position;
    const auto answers = model.answerNames(sample, names);
    if (!choice.logit.empty()) what.answer = answers.find(choice.logit, "logit");
    if (!choice.minus.empty()) what.minus = answers.find(choice.minus, "minus");
    // Throws for a model without attribution before the names of its answers are looked for.
    auto result = attributionOf(subject, what);
    LensOptions look;
    look.top = kOffered;
    if (!result.whole) look.position = what.position;
    const auto last = lensOf(subject, look);
    if (choice.logit.empty()) {
        what.answer = last.answers.front().id;
        result = attributionOf(subject, what);
    }
    if (!names.empty() && model.options().outputs() <= kMostClasses)
        result.offered = names;
    else
        for (const auto& answer : last.cells.back().top) result.offered.push_back(answer.name);
    if (!result.whole)
        result.positions = static_cast<int>(sample.target.size() > 0 ? sample.target.size()
                                                                     : sample.source.size());
    return result;
}

}  // namespace

const RegisterRunner kAttributionRunner("attribute", [] {
    return makeRunner(attributionFields(), runAttribution, answerOf);
});

}  // namespace relascope::core
