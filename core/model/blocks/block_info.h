// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptor parts of stacks of Transformer and dual-attention blocks: fields, shapes, outline,
// layers of the probe and arguments of the published constructors, for every architecture that
// consists of them.
#pragma once

#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/blocks/stack_options.h"
#include "model/group_fields.h"

namespace relascope::core {

namespace fields {

/// The fields of a dual block, without those named.
FieldTable<BlockOptions> dualBlock(const std::vector<std::string>& without);
/// The named fields of a plain block, in the order of the names: all its heads are sensory.
FieldTable<BlockOptions> plainBlock(const std::vector<std::string>& names);
inline const std::vector<std::string> kPlainBlock = {
    "n_heads_sa", "dff", "dropout_rate", "activation", "norm_first", "norm_type", "bias"};
/// kPlainBlock, the options of keys and values, and `further`.
std::vector<std::string> plainHeads(const std::vector<std::string>& further = {});

/// The description of a block option, for architectures that have it without the group.
const FieldSpec& blockSpec(const std::string& name);

/// The meaning of 0 in a block option that depends on the width of the stream; empty for other
/// options.
std::string blockWidth(const BlockOptions& block, std::int64_t d, bool dual,
                       const std::string& name);

/// Block fields of an architecture: `block` returns its block options; "decoder." precedes the
/// names if these are the options of a decoder.
template <class Options, class BlockOf>
FieldTable<Options> block(const FieldTable<BlockOptions>& table, bool dual, BlockOf block,
                          bool decoder = false) {
    FieldTable<Options> all;
    for (const auto& inner : table) {
        Field<Options> field;
        field.spec = inner.spec;
        if (decoder) {
            field.spec.name = "decoder." + inner.spec.name;
            field.spec.label = "Decoder: " + inner.spec.label;
            field.spec.advanced = inner.spec.advanced || (inner.spec.name != "n_heads_sa" &&
                                                          inner.spec.name != "n_heads_ra");
        }
        field.get = [inner, block](const Options& o) { return inner.get(block(o)); };
        field.set = [inner, block](Options& o, const FieldValue& v) { inner.set(block(o), v); };
        field.applies = [inner, block](const Options& o) { return inner.applies(block(o)); };
        if (inner.automatic)
            field.automatic = [inner, block](const Options& o) {
                return inner.automatic(block(o));
            };
        else if (inner.spec.kind == FieldKind::Integer)
            field.automatic = [block, dual, name = inner.spec.name](const Options& o) {
                return blockWidth(block(o), o.d_model, dual, name);
            };
        all.push_back(std::move(field));
    }
    return all;
}
/// Block fields of an architecture that inherits its block options.
template <class Options>
FieldTable<Options> block(const FieldTable<BlockOptions>& table, bool dual) {
    return block<Options>(
        table, dual, [](auto& o) -> auto& {
            using Block = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(o)>>,
                                             const BlockOptions, BlockOptions>;
            return static_cast<Block&>(o);
        });
}

// Fields of blocks that came after the papers, as public families and our own models have them.
template <class Options>
Field<Options> queryNorm(std::string Options::*member) {
    return advanced(choice<Options>(
        member, "qk_norm", "Query norm",
        "Norms of queries and keys: none, of each head by common weights or by its own, or of all "
        "heads as one vector.",
        {"none", "head", "heads", "all"}));
}
template <class Options>
Field<Options> normBehind(bool Options::*member) {
    return advanced(
        boolean<Options>(member, "norm_behind", "Norms behind",
                         "Norms of what attention and feed-forward add to the stream."));
}
template <class Options>
Field<Options> slidingWindow(std::int64_t Options::*member) {
    return advanced(integer<Options>(
        member, "sliding_window", "Window",
        "A token attends to so many tokens, itself included; 0 means all before it.", 0, 1e9));
}
template <class Options>
Field<Options> layerKinds(std::string Options::*member) {
    return advanced(text<Options>(
        member, "layer_kinds", "Kinds of layers",
        "A letter for each layer, repeated: F attends to all tokens before, W to those of the "
        "window; f and w without rotary positions. Empty means that all layers are alike."));
}

}  // namespace fields

/// Problems of BlockDetails::layer_kinds and its window.
void layerKindProblems(const std::string& kinds, std::int64_t window, ProblemList& list);
/// Refuses letters by layer that are not among those known.
void letterProblems(const char* field, const std::string& letters, const char* known,
                    ProblemList& list);

/// The tensors of `layers` blocks under `name`.0, `name`.1, ...
void addBlockShapes(ShapeList& list, const std::string& name, std::int64_t layers,
                    const StackOptions& plan);
/// The tensors of a symbol retriever for inputs of at most `longest` objects.
void addSymbolShapes(ShapeList& list, const std::string& name, const SymbolOptions& o,
                     std::int64_t d, std::int64_t longest, const SymbolDetails& details = {});

void addBlockOutline(OutlineBuilder& builder, const std::string& title, const std::string& name,
                     std::int64_t layers, const StackOptions& plan);
/// The symbols in words: "64 by position", "64 in a library, 4 heads".
std::string symbolText(const SymbolOptions& o, std::int64_t longest,
                       const SymbolDetails& details = {});
/// A feed-forward block in words: "swiglu, 256 wide".
std::string feedForwardText(const std::string& activation, std::int64_t dff);

/// Whether a model of blocks has relational heads and therefore symbols.
template <class Options>
constexpr bool kDual = std::is_base_of_v<SymbolOptions, Options>;

constexpr int kSourceSide = 0, kTargetSide = 1, kFurtherSide = 1, kBothSides = 2;
/// Layers "NAME 1", "NAME 2", ... of the modules MODULE0, MODULE1, ...
void addLayers(std::vector<LayerPlace>& places, const std::string& module, std::int64_t layers,
               const std::string& name, bool causal = false);
/// The layers of addLayers(), for models that have no other layers.
std::vector<LayerPlace> layersOf(const std::string& module, std::int64_t layers,
                                 const std::string& name, bool causal = false);
/// A decoder block and its cross-attention to `context`.
void addDecoderLayer(std::vector<LayerPlace>& places, const std::string& module,
                     const std::string& name, int context, bool causal);

/// The heads of a block in short: "sa4 ra4".
std::string headsText(const BlockOptions& block);
/// The work of a stack of blocks; `symbols` is null for models without symbols.
WorkEstimate blockWork(const StackOptions& plan, std::int64_t layers, const SymbolOptions* symbols);
template <class Options>
WorkEstimate blockWork(const Options& o, const StackOptions& plan, std::int64_t layers) {
    if constexpr (kDual<Options>)
        return blockWork(plan, layers, &o);
    else
        return blockWork(plan, layers, nullptr);
}

/// The published constructors' defaults of a block, where they differ from ours.
void setConstructorDefaults(BlockOptions& block, bool dual);
void readBlockConfig(BlockOptions& block, JsonArguments& a);
void readDualHeadsConfig(BlockOptions& block, JsonArguments& a, const std::string& symbols);
/// Reads the arguments of attention; `biasOut` is null for heads without an output bias.
void readAttentionConfig(JsonArguments a, std::int64_t& kvHeads, std::int64_t& keyDim, bool& biasKv,
                         bool* biasOut);
void readSymbolsConfig(SymbolOptions& o, std::int64_t d, JsonArguments a);
void writeBlockConfig(ConfigJson& a, const BlockOptions& block);
void writeDualHeadsConfig(ConfigJson& a, const BlockOptions& block, const std::string& symbols);
ConfigJson plainAttentionConfig(const BlockOptions& block);
ConfigJson symbolsConfig(const SymbolOptions& o, std::int64_t d, std::int64_t longest);
/// JSON's null for 0, which stands for the default of the model; else the number.
ConfigJson orNull(std::int64_t n);

}  // namespace relascope::core
