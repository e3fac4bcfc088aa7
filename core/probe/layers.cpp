// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/layers.h"

#include "model/public/public_options.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

std::vector<std::string> labelsOf(const ProbeSequence& sequence) {
    std::vector<std::string> labels;
    for (int i = 0; i < sequence.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at < sequence.labels.size())
            labels.push_back(sequence.text ? pieceText(sequence.labels[at]).text
                                           : sequence.labels[at]);
        else if (sequence.width == 0)
            labels.push_back(std::to_string(sequence.tokens[at]));
        else
            labels.push_back(std::to_string(i));
    }
    return labels;
}

}  // namespace

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

// Relational heads mix relations, or symbols weighted by relations; the others mix features.
bool isRelational(const std::string& module, const LayerPlace& place) {
    for (const char* tail : {"relational_attention", ".rca", ".rel_attn"})
        if (module.ends_with(tail)) return true;
    return module == "relation" || module == "regression" ||
           (place.relational && !module.ends_with("self_attn"));
}

int layerOfSymbols(const std::vector<LayerPlace>& places, const ModelOptions& o,
                   const std::string& module, int retrieval) {
    if (o.info().symbolLayer)
        return layerOfModule(places, o.info().symbolLayer(o, module, retrieval));
    return retrieval < static_cast<int>(places.size()) ? retrieval : -1;
}

std::vector<ProbeSide> probeSides(const ModelOptions& o, const ProbeSample& sample) {
    std::vector<ProbeSide> sides;
    const auto source = labelsOf(sample.source);
    switch (o.input()) {
        case InputKind::Images:
            sides = {{"patches", {}}};
            if (const auto* images = o.find<PublicImageOptions>();
                images && images->pool == "query")
                sides.push_back({"query", {"learned query"}});
            break;
        case InputKind::Tokens:
            sides = {{"tokens", source}};
            break;
        case InputKind::Objects:
            sides = {{"objects", source}};
            break;
        case InputKind::Pairs: {
            sides = {{"source", source}, {"target", labelsOf(sample.target)}};
            auto both = source;
            for (const auto& label : source) both.push_back("abs " + label);
            sides.push_back({"encoder and abstractor", std::move(both)});
            break;
        }
    }
    const auto& further = o.info().furtherSides;
    sides.insert(sides.end(), further.begin(), further.end());
    return sides;
}

}  // namespace relascope::core
