// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of nanochat's decoder: opened from checkpoints, and trained here.
#include "model/blocks/block_info.h"
#include "model/nanochat/nanochat_options.h"
#include "model/public/family.h"

namespace relascope::core {

StackOptions stackOf(const NanochatOptions& o) {
    auto s = stackOf(static_cast<const TransformerLMOptions&>(o));
    s.dual = true;
    return s;
}

namespace {

using Nanochat = NanochatOptions;

bool hasEmbeddings(const Nanochat& o) {
    return o.use_residual_augmentation;
}

FieldTable<Nanochat> nanochatFields(bool opened) {
    using namespace fields;
    using O = Nanochat;
    FieldTable<BlockOptions> heads;
    for (const auto& field : BlockOptions::fieldTable())
        if (field.spec.name == "n_heads_sa" || field.spec.name == "n_heads_ra")
            heads.push_back(field);
    const FieldTable<O> own = {
        advanced(automatic(integer(&O::n_kv_heads, "n_kv_heads", "Key heads",
                                   "Number of key and value heads, shared by groups of heads of "
                                   "both kinds; 0 means one per head.",
                                   0, 1024),
                           [](const O& o) { return o.heads(); })),
        advanced(text(&O::window_pattern, "window_pattern", "Windows",
                      "A letter for each layer, repeated: L sees the whole window, S half of it. "
                      "The last layer is always an L.")),
        advanced(automatic(integer(&O::sequence_len, "sequence_len", "Window",
                                   "Tokens that a layer L sees before each token; 0 means the "
                                   "context.",
                                   0, 1048576),
                           [](const O& o) { return o.max_block_size; })),
        advanced(boolean(&O::use_residual_augmentation, "use_residual_augmentation",
                         "Value embeddings",
                         "Values of some layers get an embedding of their token, by a gate.")),
        advanced(when<O>(
            hasEmbeddings,
            integer(&O::residual_stride, "residual_stride", "Embedding stride",
                    "Every so many layers, up to the last one, have value embeddings.", 1, 1000))),
        advanced(
            when<O>(hasEmbeddings,
                    integer(&O::residual_gate_channels, "residual_gate_channels", "Gate channels",
                            "First dimensions of the stream that the gates read.", 1, 65536)))};
    FieldTable<O> ofFiles;
    if (opened) {
        FieldSpec family{"family", "Family", "The public family whose checkpoint this is.",
                         FieldKind::Choice};
        for (const auto& one : nanochatFamilies())
            family.choices.push_back(one.type), family.choiceTitles.push_back(one.title);
        ofFiles = of<O>(FieldTable<FamilyName>{make(family, &FamilyName::family)});
        ofFiles.push_back(advanced(boolean(&O::hadamard, "hadamard", "Hadamard tensors",
                                           "The file has the tensors of Hadamard relations.")));
    }
    return joined<O>({ofFiles, of<O>(depth()), of<O>(stream()), block<O>(heads, true), own,
                      of<O>(tokenInput())});
}

void nanochatProblems(const Nanochat& o, ProblemList& list) {
    if (!list.empty()) return;
    list.add(o.BlockOptions::problems(o.d_model, true, true));
    if (!list.empty()) return;
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    if (o.n_kv_heads > 0 && o.heads() % o.n_kv_heads != 0)
        list.refuse("n_kv_heads",
                    n(o.n_kv_heads) + " does not divide the " + n(o.heads()) + " heads");
    if (o.window_pattern.empty() || o.window_pattern.find_first_not_of("SLsl") != std::string::npos)
        list.refuse("window_pattern", "'" + o.window_pattern.substr(0, 40) +
                                          "' has other letters than S and L; give one of these "
                                          "for each layer");
    list.atLeast("residual_stride", o.residual_stride, 1);
    list.atLeast("residual_gate_channels", o.residual_gate_channels, 1);
    if (hasEmbeddings(o) && o.residual_gate_channels > o.d_model)
        list.refuse("residual_gate_channels", n(o.residual_gate_channels) + " are more than the " +
                                                  n(o.d_model) +
                                                  " dimensions of the stream; give fewer");
}

void nanochatShapes(const Nanochat& o, ShapeList& list) {
    const auto d = o.d_model, kv = o.kvHeads() * o.headDim();
    list.parameter("layers.resid_lambdas", {o.n_layers});
    list.parameter("layers.x0_lambdas", {o.n_layers});
    list.parameter("layers.token_embedder.weight", {o.rows(), d});
    for (std::int64_t layer = 0; layer < o.n_layers; ++layer)
        if (o.hasValueEmbedding(layer))
            list.parameter("layers.value_embedders." + std::to_string(layer) + ".weight",
                           {o.rows(), kv});
    for (std::int64_t layer = 0; layer < o.n_layers; ++layer) {
        const auto block = "layers.blocks." + std::to_string(layer), attn = block + ".dual_attn";
        list.linear(attn + ".wq", d, d, false);
        list.linear(attn + ".wk", d, kv, false);
        list.linear(attn + ".wv", d, kv, false);
        if (o.hadamard) list.linear(attn + ".wk_rel", d, kv, false);
        if (o.n_heads_ra > 0) list.linear(attn + ".wq_rel", d, o.hadamardRelations(), false);
        list.linear(attn + ".wo", d, d, false);
        const auto gate = [&](const char* name, std::int64_t heads) {
            if (o.hasValueEmbedding(layer) && heads > 0)
                list.linear(attn + name, o.residual_gate_channels, o.kvHeads(), false);
        };
        gate(".value_gate", o.n_heads_sa);
        gate(".rel_gate", o.n_heads_ra);
        list.feedForward(block + ".ff_block", d, o.dff, o.activation, false);
    }
    list.linear("layers.final_out", d, o.rows(), false);
}

void nanochatOutline(const Nanochat& o, OutlineBuilder& builder) {
    const auto filled = o.rows() - o.vocab_size;
    const auto tokens = std::to_string(o.vocab_size) + " tokens" +
                        (filled > 0 ? ", " + countText(filled, "row") + " without one" : "");
    builder.add("token embedding", "layers.token_embedder", tokens);
    builder.add("value embeddings", "layers.value_embedders",
                "of every " + std::to_string(o.residual_stride) + ". layer, the last included");
    builder.add("share of the stream", "layers.resid_lambdas", "before each block");
    builder.add("share of the embedding", "layers.x0_lambdas", "before each block");
    auto* stack = builder.add("blocks", "layers.blocks", countText(o.n_layers, "block"));
    for (std::int64_t layer = 0; stack && layer < o.n_layers; ++layer) {
        auto* node = builder.add(*stack, "block " + std::to_string(layer + 1),
                                 std::to_string(layer), "pre-norm, norms without weights");
        if (!node) return;
        std::string heads = countText(o.n_heads_sa, "sensory head");
        if (o.n_heads_ra > 0)
            heads = (o.n_heads_sa > 0 ? heads + ", " : "") +
                    countText(o.n_heads_ra, "relational head") + " (Hadamard)";
        if (o.kvHeads() != o.heads()) heads += ", " + countText(o.kvHeads(), "key head");
        heads += ", rotary, " + countText(o.window(layer), "token") + " of a window";
        if (auto* attention = builder.add(*node, "attention", "dual_attn", heads))
            for (const auto& [title, name] : {std::pair{"queries", "wq"},
                                              {"keys", "wk"},
                                              {"values", "wv"},
                                              {"relation queries", "wq_rel"},
                                              {"relation keys", "wk_rel"},
                                              {"gate of values", "value_gate"},
                                              {"gate of relation keys", "rel_gate"},
                                              {"output", "wo"}})
                builder.add(*attention, title, name);
        builder.add(*node, "feed-forward", "ff_block",
                    feedForwardText(o.activation, 4 * o.d_model));
    }
    builder.add("output", "layers.final_out", tokens);
}

WorkEstimate nanochatWork(const Nanochat& o) {
    auto work = blockWork(stackOf(o), o.n_layers, nullptr);
    // No map of a relation is made in a pass: a probe keeps both factors, of width 1.
    work.relations = 0;
    work.headFactors += 2 * o.hadamardRelations();
    return work;
}

std::string nanochatText(const Nanochat& o) {
    const auto* family = findFamily(o.family);
    return (family ? "nanochat" : std::string("Hadamard-LM")) + " " + headsText(o);
}

Architecture<Nanochat> nanochatArchitecture(const char* name, const char* title, int order,
                                            bool opened) {
    Architecture<Nanochat> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.fields = nanochatFields(opened);
    if (opened) a.defaults.family = nanochatFamilies().front().type;
    a.constructed = a.defaults;
    a.problems = nanochatProblems;
    a.text = nanochatText;
    a.shapes = nanochatShapes;
    a.outline = nanochatOutline;
    a.layers = [](const Nanochat& o) {
        return layersOf("layers.blocks.", o.n_layers, "layer", true);
    };
    a.work = nanochatWork;
    a.dual = true;
    a.opened = opened;
    return a;
}

const RegisterArchitecture openedNanochat(nanochatArchitecture(kNanochatDecoder, "nanochat decoder",
                                                               1005, true));
const RegisterArchitecture trainedHadamard(nanochatArchitecture(kHadamardLM,
                                                                "Hadamard Transformer LM", 75,
                                                                false));

}  // namespace
}  // namespace relascope::core
