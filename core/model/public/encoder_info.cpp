// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of encoders of public families.
#include "model/blocks/block_info.h"
#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {

StackOptions stackOf(const PublicEncoderOptions& o) {
    auto s = stackOf(static_cast<const PublicDecoderOptions&>(o));
    s.causal = false;
    return s;
}

bool normsFirstAttention(const PublicEncoderOptions& o) {
    return !o.norm_first || !o.embed_norm;
}

bool readsBothWays(const ModelOptions& options) {
    return options.find<EncoderDetails>() != nullptr;
}

std::string noNextTokenText(const ModelOptions& options) {
    if (!readsBothWays(options)) return {};
    return "a " + modelTitle(options) +
           " reads in both directions and writes no text; put [MASK] into a text to see what it "
           "expects there";
}

void requireNextToken(const ModelOptions& options, const std::string& what) {
    if (readsBothWays(options))
        throw OptionError("model", what + " needs a model of next tokens, and a " +
                                       modelTitle(options) + " reads in both directions");
}

namespace {

using Encoder = PublicEncoderOptions;

FieldTable<EncoderDetails> encoderDetailFields() {
    using namespace fields;
    using O = EncoderDetails;
    return {advanced(integer(&O::token_types, "token_types", "Types of tokens",
                             "Rows of the embedding of types, of which every token has the first; "
                             "0 means none.",
                             0, 1024)),
            advanced(integer(&O::padding_row, "padding_row", "Padding",
                             "Id of the token that has a position of its own and is not counted; "
                             "-1 means none.",
                             -1, 10000000)),
            advanced(choice(&O::head_activation, "head_activation", "Output activation",
                            "Activation before the output layer.", {"exact_gelu", "gelu", "relu"})),
            advanced(boolean(&O::head_bias, "head_bias", "Output layer bias",
                             "Adds a bias to the layer before the output layer."))};
}

const RegisterArchitecture encoder([] {
    using namespace fields;
    Architecture<Encoder> a;
    a.name = kPublicEncoder;
    a.title = "Public encoder";
    a.order = 1005;
    a.fields = joined<Encoder>(
        {of<Encoder>(publicDecoderFields(encoderFamilies())), of<Encoder>(encoderDetailFields())});
    a.defaults.family = encoderFamilies().front().type;
    a.defaults.activation = "exact_gelu", a.defaults.dropout_rate = 0.0, a.defaults.n_heads_ra = 0;
    a.problems = [](const Encoder& o, ProblemList& list) { publicDecoderProblems(o, list); };
    a.text = [](const Encoder& o) { return publicDecoderText(o); };
    a.shapes = [](const Encoder& o, ShapeList& list) {
        ShapeList all;
        publicDecoderShapes(o, all);
        for (const auto& shape : all.take())
            if (!shape.aliasOf.empty())
                list.alias(shape.name, shape.aliasOf);
            else if (normsFirstAttention(o) || !shape.name.starts_with("layers.blocks.0.norm1."))
                list.parameter(shape.name, shape.shape, shape.trainable);
        if (o.token_types > 0)
            list.parameter("layers.token_types.weight", {o.token_types, o.d_model});
        list.linear("layers.head.dense", o.d_model, o.d_model, o.head_bias);
        list.norm("layers.head.norm", o.d_model, o.norm_type);
    };
    a.outline = [](const Encoder& o, OutlineBuilder& builder) {
        publicDecoderOutline(o, builder);
        builder.add("types of tokens", "layers.token_types",
                    std::to_string(o.token_types) + " learned");
        builder.add("output of hidden words", "layers.head",
                    "a layer, " + o.head_activation + ", a norm");
    };
    a.layers = [](const Encoder& o) { return layersOf("layers.blocks.", o.n_layers, "layer"); };
    a.work = [](const Encoder& o) { return blockWork(stackOf(o), o.n_layers, nullptr); };
    a.opened = true;
    return a;
}());

}  // namespace
}  // namespace relascope::core
