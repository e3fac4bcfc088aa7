#include "probe/layers.h"

#include "types/text_piece.h"

namespace relascope {
namespace {

constexpr int kSource = 0, kTarget = 1, kSelection = 1, kBoth = 2;

std::string number(std::int64_t i) {
    return std::to_string(i + 1);
}

void addStack(std::vector<LayerPlace>& places, const std::string& module, std::int64_t layers,
              const std::string& name, bool causal = false) {
    for (std::int64_t i = 0; i < layers; ++i)
        places.push_back(
            {module + std::to_string(i), {name + " " + number(i), kSource, kSource}, causal});
}

void addDecoderBlock(std::vector<LayerPlace>& places, const std::string& module,
                     const std::string& name, int context, bool causal) {
    places.push_back({module, {name, kTarget, kTarget}, causal});
    places.push_back({module + ".cross_attn", {name + " cross", kTarget, context}});
}

void addAbstractors(std::vector<LayerPlace>& places, const ModelOptions& o) {
    addStack(places, "abstractor.layers.", o.n_layers_abs, "abstractor");
    for (std::int64_t k = 1; k < o.n_abstractors; ++k)
        addStack(places, "abstractors." + std::to_string(k) + ".layers.", o.n_layers_abs,
                 "abstractor " + number(k) + " layer");
}

void addAbstractorDecoder(std::vector<LayerPlace>& places, const ModelOptions& o) {
    const bool two = o.abstractor_architecture == "c" || o.abstractor_architecture == "d";
    const bool inTurn = two && o.decoder_contexts == "in-turn";
    for (std::int64_t i = 0; i < o.n_layers_dec; ++i) {
        const std::string name = "decoder " + number(i);
        if (inTurn) {
            addDecoderBlock(places, "decoder_blocks." + std::to_string(2 * i), name + " (encoder)",
                            kSource, true);
            addDecoderBlock(places, "decoder_blocks." + std::to_string(2 * i + 1),
                            name + " (abstractor)", kSource, true);
        } else {
            addDecoderBlock(places, "decoder_blocks." + std::to_string(i), name,
                            two ? kBoth : kSource, true);
        }
    }
}

std::vector<std::string> labelsOf(const ProbeSequence& sequence) {
    std::vector<std::string> labels;
    for (int i = 0; i < sequence.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at < sequence.words.size())
            labels.push_back(sequence.text ? pieceText(sequence.words[at]).text
                                           : sequence.words[at]);
        else if (sequence.width == 0)
            labels.push_back(std::to_string(sequence.tokens[at]));
        else
            labels.push_back(std::to_string(i));
    }
    return labels;
}

}  // namespace

std::vector<LayerPlace> layerPlaces(const ModelOptions& o) {
    std::vector<LayerPlace> places;
    if (o.isVision() || o.is("ObjectTransformer")) {
        addStack(places, "encoder_blocks.", o.n_layers, "layer");
    } else if (o.isLanguage()) {
        addStack(places, "layers.blocks.", o.n_layers, "layer", true);
    } else if (o.isSeq2Seq()) {
        addStack(places, "layers.encoder_blocks.", o.n_layers_enc, "encoder", o.causal);
        for (std::int64_t i = 0; i < o.n_layers_dec; ++i)
            addDecoderBlock(places, "layers.decoder_blocks." + std::to_string(i),
                            "decoder " + number(i), kSource, o.decoder.causal);
    } else if (o.isSeq2SeqAbstractor()) {
        addStack(places, "encoder_blocks.", o.n_layers_enc, "encoder");
        if (o.abstractor_architecture != "none") addAbstractors(places, o);
        addAbstractorDecoder(places, o);
    } else if (o.is("ObjectAbstractor")) {
        addStack(places, "abstractor.layers.", o.n_layers_abs, "abstractor");
    } else if (o.is("AbstractorModel")) {
        addStack(places, "abstractor.abstractor_layers.", o.n_layers, "abstractor");
    } else if (o.is("MessagePassingAbstractor")) {
        addStack(places, "layers.", o.n_layers, "abstractor");
    } else if (o.isOneHead()) {
        places.push_back({"head", {"head", kSelection, kSource}});
    } else if (o.is("RobustRegression")) {
        places.push_back({"regression", {"regression", kSelection, kSource}});
    } else if (o.isCoRelNet() || o.is("InnerProductRelation") || o.is("PairRelations") ||
               o.is("FixedRelationAbstractor")) {
        places.push_back({"relation", {"relations", kSource, kSource}});
    } else if (o.is("PrediNet") || o.is("ObjectPrediNet")) {
        places.push_back({"predinet", {"selection", kSelection, kSource}});
    }
    return places;
}

int layerOfModule(const std::vector<LayerPlace>& places, const std::string& module) {
    int best = -1;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& prefix = places[i].module;
        const bool inside = module == prefix || module.rfind(prefix + ".", 0) == 0;
        if (inside && prefix.size() >= longest) best = static_cast<int>(i), longest = prefix.size();
    }
    return best;
}

int layerOfSymbols(const std::vector<LayerPlace>& places, const ModelOptions& o,
                   const std::string& module, int layer) {
    if (o.isSeq2SeqAbstractor() || o.is("ObjectAbstractor") || o.is("AbstractorModel")) {
        const auto end = module.rfind(".symbol_retriever");
        const std::string owner = module.substr(0, end);
        return layerOfModule(
            places, owner + (o.is("AbstractorModel") ? ".abstractor_layers.0" : ".layers.0"));
    }
    const int encoders = static_cast<int>(o.n_layers_enc);
    const int place =  // each decoder block has two layers: its own and its cross-attention
        o.isSeq2Seq() && layer >= encoders ? encoders + 2 * (layer - encoders) : layer;
    return place < static_cast<int>(places.size()) ? place : -1;
}

std::vector<ProbeSide> probeSides(const ModelOptions& o, const ProbeSample& sample) {
    if (o.input() == InputKind::Images) {
        std::vector<ProbeSide> sides = {{"patches", {}}};
        if (o.is("PrediNet")) sides.push_back({"selection", {"E1", "E2"}});
        return sides;
    }
    const auto source = labelsOf(sample.source);
    if (o.input() == InputKind::Tokens) return {{"tokens", source}};
    if (o.input() == InputKind::Objects) {
        std::vector<ProbeSide> sides = {{"objects", source}};
        if (o.is("ObjectPrediNet")) sides.push_back({"selection", {"E1", "E2"}});
        if (o.isOneHead()) sides.push_back({"query", {"x"}});
        if (o.is("RobustRegression")) sides.push_back({"column", {"observed"}});
        return sides;
    }
    std::vector<ProbeSide> sides = {{"source", source}, {"target", labelsOf(sample.target)}};
    auto both = source;
    for (const auto& label : source) both.push_back("abs " + label);
    sides.push_back({"encoder and abstractor", std::move(both)});
    return sides;
}

}  // namespace relascope
