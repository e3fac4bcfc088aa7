// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of options that several architectures share: inputs, widths, and the symbols of relational
// heads. The option struct of an architecture inherits its groups, one of which is its input:
// tokens() is the number of objects of the longest one, outputs() the number of outputs of the
// model, and tokenNumbers() how many numbers the input and the output have for each token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

/// The widths of all layers of an MLP: input, hidden ones, output.
inline std::vector<std::int64_t> mlpWidths(std::int64_t input, std::vector<std::int64_t> hidden,
                                           std::int64_t output) {
    hidden.insert(hidden.begin(), input);
    hidden.push_back(output);
    return hidden;
}

/// The options of the residual stream.
struct StreamOptions {
    std::int64_t d_model = 128;
    bool operator==(const StreamOptions&) const = default;
};

/// The depth of one stack of blocks on the stream.
struct StackDepth {
    std::int64_t n_layers = 2;
    bool operator==(const StackDepth&) const = default;
};

/// The depths of an encoder and a decoder.
struct EncoderDecoderDepth {
    std::int64_t n_layers_enc = 2;
    std::int64_t n_layers_dec = 2;
    bool operator==(const EncoderDecoderDepth&) const = default;
};

/// Images [b, channels, height, width], cut into patches and classified.
struct ImageInput {
    std::vector<std::int64_t> image_shape = {3, 36, 36};  // channels, width, height
    std::vector<std::int64_t> patch_size = {12, 12};      // width, height
    std::int64_t num_classes = 2;

    std::int64_t channels() const { return image_shape.at(0); }
    std::int64_t gridColumns() const { return image_shape.at(1) / patch_size.at(0); }
    std::int64_t gridRows() const { return image_shape.at(2) / patch_size.at(1); }
    std::int64_t patches() const { return gridRows() * gridColumns(); }
    std::int64_t patchDim() const { return channels() * patch_size.at(0) * patch_size.at(1); }
    std::int64_t tokens() const { return patches(); }
    std::int64_t outputs() const { return num_classes; }
    std::int64_t tokenNumbers() const { return patchDim(); }
    bool operator==(const ImageInput&) const = default;
};

/// One sequence of tokens, whose next token is predicted.
struct TokenInput {
    std::int64_t vocab_size = 256;
    std::int64_t max_block_size = 256;

    std::int64_t tokens() const { return max_block_size; }
    std::int64_t outputs() const { return vocab_size; }
    bool operator==(const TokenInput&) const = default;
};

/// A source and a target sequence, each of tokens or of vectors.
struct PairInput {
    std::string input_type = "token";  // or "vector"
    std::int64_t input_size = 85;      // vocabulary, or dimension
    std::string output_type = "token";
    std::int64_t output_size = 85;
    std::int64_t out_dim = 85;
    std::int64_t in_block_size = 161;
    std::int64_t out_block_size = 31;
    std::int64_t loss_ignore_idx = -1;

    std::int64_t longest() const { return std::max(in_block_size, out_block_size); }
    std::int64_t tokens() const { return in_block_size; }
    std::int64_t outputs() const { return out_dim; }
    std::int64_t tokenNumbers() const { return out_dim; }
    bool operator==(const PairInput&) const = default;
};

/// A set of objects [b, n_objects, object_dim].
struct ObjectInput {
    std::int64_t n_objects = 3;
    std::int64_t object_dim = 8;
    std::int64_t out_dim = 85;

    std::int64_t tokens() const { return n_objects; }
    std::int64_t outputs() const { return out_dim; }
    std::int64_t tokenNumbers() const { return object_dim + out_dim; }
    bool operator==(const ObjectInput&) const = default;

    /// out_dim for so many classes: two are one number, the logit of the second.
    static std::int64_t outputsFor(std::int64_t classes) { return classes <= 2 ? 1 : classes; }
};

/// How symbols are assigned to senders (DAT 2.3).
struct SymbolOptions {
    std::string symbol_retrieval = "positional_symbols";
    std::int64_t max_length = 0;   // positional: 0 = as many as the longest input has objects
    std::int64_t max_rel_pos = 0;  // position-relative: 0 = the longest input
    std::int64_t n_symbols = 64;   // symbolic attention
    std::int64_t symbol_heads = 4;
    double symbol_dropout = 0.0;
    double symbol_scale = 0.0;  // 0: 1/sqrt(d / heads)
    bool trainable_symbols = true;
    std::int64_t rel_n_heads = 4;  // relational symbolic attention
    std::int64_t nbhd_delta = 2;
    bool causal_nbhd = true;
    bool include_self = false;
    bool normalize_rels = true;
    double rel_scale = 0.0;  // 0: 1/sqrt(d / rel_n_heads)

    /// Rows of a positional library for inputs of at most `longest` objects.
    std::int64_t symbolRows(std::int64_t longest) const {
        return max_length > 0 ? max_length : longest;
    }
    /// The largest offset of position-relative symbols.
    std::int64_t largestOffset(std::int64_t longest) const {
        return max_rel_pos > 0 ? max_rel_pos : longest;
    }
    bool operator==(const SymbolOptions&) const = default;
};

}  // namespace relascope
