// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/seq2seq/pair_config.h"

namespace relascope::core {
namespace {

void readSide(JsonArguments a, std::string& type, std::int64_t& size) {
    a.require({"type"});
    a.read("type", type);
    if (type != "token" && type != "vector")
        throw OptionError(a.key("type"), "'" + type + "' must be token or vector");
    const char* key = type == "vector" ? "dim" : "vocab_size";
    a.require({key});
    a.read(key, size, 1);
    a.done();
}

}  // namespace

void readPairConfig(PairInput& pairs, StreamOptions& stream, EncoderDecoderDepth& depth,
                    JsonArguments& a) {
    a.require({"input_spec", "output_spec", "d_model", "out_dim", "n_layers_enc", "n_layers_dec",
               "in_block_size", "out_block_size"});
    readSide(a.sub("input_spec"), pairs.input_type, pairs.input_size);
    readSide(a.sub("output_spec"), pairs.output_type, pairs.output_size);
    a.read("d_model", stream.d_model);
    a.read("out_dim", pairs.out_dim);
    a.read("n_layers_enc", depth.n_layers_enc);
    a.read("n_layers_dec", depth.n_layers_dec);
    a.read("in_block_size", pairs.in_block_size);
    a.read("out_block_size", pairs.out_block_size);
    a.read("loss_ignore_idx", pairs.loss_ignore_idx, -1'000'000);
}

ConfigJson pairConfig(const PairInput& pairs, const StreamOptions& stream,
                      const EncoderDecoderDepth& depth) {
    const auto side = [](const std::string& type, std::int64_t size) {
        return ConfigJson{{"type", type}, {type == "token" ? "vocab_size" : "dim", size}};
    };
    return {{"input_spec", side(pairs.input_type, pairs.input_size)},
            {"output_spec", side(pairs.output_type, pairs.output_size)},
            {"d_model", stream.d_model},
            {"out_dim", pairs.out_dim},
            {"n_layers_enc", depth.n_layers_enc},
            {"n_layers_dec", depth.n_layers_dec},
            {"in_block_size", pairs.in_block_size},
            {"out_block_size", pairs.out_block_size}};
}

std::string sequenceText(const std::string& type, std::int64_t size) {
    return type == "token" ? std::to_string(size) + " tokens"
                           : "vectors of " + std::to_string(size);
}

void addEmbedderShapes(ShapeList& list, const std::string& name, const std::string& type,
                       std::int64_t size, std::int64_t d) {
    if (type == "token")
        list.parameter(name + ".weight", {size, d});
    else
        list.linear(name, size, d);
}

FieldTable<EncoderDecoderDepth> fields::encoderDecoderDepth() {
    using O = EncoderDecoderDepth;
    return {integer(&O::n_layers_enc, "n_layers_enc", "Encoder layers", "Number of encoder blocks.",
                    0, 1000),
            integer(&O::n_layers_dec, "n_layers_dec", "Decoder layers", "Number of decoder blocks.",
                    1, 1000)};
}

}  // namespace relascope::core
