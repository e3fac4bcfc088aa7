// SPDX-License-Identifier: GPL-3.0-or-later
// Symbol assignment: which symbol identifies each sender. DAT section 2.3.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <string>

#include "model/attention/dropout.h"
#include "model/blocks/block_details.h"
#include "model/blocks/parameters.h"
#include "model/blocks/recording.h"
#include "model/graph/device_graph.h"
#include "types/option_groups.h"

namespace relascope::core {

/// The symbols of one forward pass. Absolute: `values` [b, n, d], or [n, d] when every input has
/// the same ones. Relative: `values` is the library [2 * maxOffset + 1, d] and s_ij is its row
/// clamp(j - i, -maxOffset, maxOffset) + maxOffset.
struct Symbols {
    torch::Tensor values;
    std::int64_t maxOffset = -1;  ///< -1: absolute
    bool relative() const { return maxOffset >= 0; }
};

/// The library row of every pair (i, j) of n objects: [n, n] int64.
torch::Tensor offsetRows(std::int64_t n, std::int64_t maxOffset, const torch::Device& device);

/// Assigns a symbol to each object of x [b, n, d]; called in every layer with its input.
struct SymbolRetrieverImpl : torch::nn::Module, RecordingPoint {
    /// `block`: the prefix of the hook points of the block that reads them ("blocks.0"); the points
    /// of the retrieval are `block`.sym.*.
    virtual Symbols retrieve(const torch::Tensor& x, int layer, const std::string& block) = 0;
};

/// s = softmax(q_proj(x) template_features^T / sqrt(d / heads)) symbol_library, heads split d and
/// the width of the symbols.
struct SymbolicAttentionImpl : SymbolRetrieverImpl {
    SymbolicAttentionImpl(const SymbolOptions& options, std::int64_t d,
                          const SymbolDetails& details);
    Symbols retrieve(const torch::Tensor& x, int layer, const std::string& block) override;
    /// One symbol_library for both, under both names.
    void shareLibrary(SymbolicAttentionImpl& other);

    Linear q_proj{nullptr};
    torch::Tensor template_features, symbol_library;

private:
    std::int64_t m_heads;
    double m_scale;
    Dropout m_dropout{nullptr};
};

/// Object i gets row i of the library: learned, or sinusoids (interleavedSinusoids()) that are no
/// parameter.
struct PositionalSymbolsImpl : SymbolRetrieverImpl {
    PositionalSymbolsImpl(std::int64_t width, std::int64_t max_length, bool sinusoidal = false);
    Symbols retrieve(const torch::Tensor& x, int layer, const std::string& block) override;
    void shareLibrary(PositionalSymbolsImpl& other);
    /// The rows of all positions, [max_length, width], where `like` is.
    torch::Tensor library(const torch::Tensor& like);

    Embedding symbol_library{nullptr};  ///< null for sinusoids

private:
    std::int64_t m_width, m_rows;
    KeptTensor m_sinusoids;
};

/// The library of position-relative symbols, registered as `rel_pos_enc`.
struct RelativePositionsImpl : torch::nn::Module {
    RelativePositionsImpl(std::int64_t d, std::int64_t max_rel_pos);
    torch::Tensor rel_pos_embeddings;  ///< [2 * max_rel_pos + 1, d]
};
TORCH_MODULE(RelativePositions);

/// The pair (i, j) gets row clamp(j - i, -max, max) + max.
struct PositionRelativeSymbolsImpl : SymbolRetrieverImpl {
    PositionRelativeSymbolsImpl(std::int64_t d, std::int64_t max_rel_pos);
    Symbols retrieve(const torch::Tensor& x, int layer, const std::string& block) override;

    RelativePositions rel_pos_enc{nullptr};  ///< null for rotary symbols

protected:
    explicit PositionRelativeSymbolsImpl(std::int64_t max_rel_pos) : m_max(max_rel_pos) {}
    /// The library [2 max + 1, width], where `like` is.
    virtual torch::Tensor library(const torch::Tensor& like);

    std::int64_t m_max;
};

/// Position-relative symbols that are no parameter: of offset o, at [2m] cos(o f_m) and at [2m + 1]
/// sin(o f_m), f_m = theta^(-2m / width), made in float32.
struct RotarySymbolsImpl : PositionRelativeSymbolsImpl {
    RotarySymbolsImpl(std::int64_t width, std::int64_t max_rel_pos, double theta);

protected:
    torch::Tensor library(const torch::Tensor& like) override;

private:
    std::int64_t m_width;
    double m_theta;
    KeptTensor m_table;
};

/// A symbol is retrieved by the object's relations to its neighbours.
struct RelationalSymbolicAttentionImpl : SymbolRetrieverImpl {
    RelationalSymbolicAttentionImpl(const SymbolOptions& options, std::int64_t d,
                                    const SymbolDetails& details = {});
    Symbols retrieve(const torch::Tensor& x, int layer, const std::string& block) override;

    Linear q_proj{nullptr}, k_proj{nullptr}, model_dim_proj{nullptr};
    std::shared_ptr<SymbolicAttentionImpl> symbolic_attention;

private:
    torch::Tensor neighbours(std::int64_t n) const;  // [n, neighbours] int64

    KeptTensor m_neighbours;
    std::int64_t m_heads, m_delta;
    bool m_causal, m_self, m_normalize;
    double m_scale;
};

/// The retriever that the options name, for a stream of width d and at most `longest` objects.
/// `theta`: the base of the frequencies of rotary symbols.
std::shared_ptr<SymbolRetrieverImpl> makeSymbolRetriever(const SymbolOptions& options,
                                                         std::int64_t d, std::int64_t longest,
                                                         const SymbolDetails& details = {},
                                                         double theta = 10000.0);

}  // namespace relascope::core
