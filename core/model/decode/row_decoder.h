// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a language model for one token on raw memory: the same result as its forward pass with a
// DecodingCache, without the tensor calls that cost more than the arithmetic of one row.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/attention/row_kernels.h"
#include "model/decode/cache.h"
#include "model/language/language.h"
#include "types/model_options.h"

namespace relascope::core {

class RowDecoder {
public:
    /// Whether the model is supported: a language model on the CPU with float32 weights, or
    /// bfloat16 ones after castToBFloat16(), that can use a cache (canCache()); not nanochat's, and
    /// none with caps or distances of scores, clipping, experts or projections of the embedding.
    static bool takes(ModelImpl& model, const ModelOptions& options);

    /// Reads the weights in place: the model must outlive this and must not move them.
    RowDecoder(ModelImpl& model, const ModelOptions& options);
    ~RowDecoder();

    /// Reads `token` (of the vocabulary) after the tokens that the model has read with `cache`, at
    /// least one and fewer than its capacity, and advances it. Returns logits [vocab_size].
    void read(std::int64_t token, DecodingCache& cache, std::span<float> logits);

private:
    struct Layer;

    /// Finds the cells that the documents of the tokens so far leave open to `token`.
    void readDocument(std::int64_t token, DecodingCache& cache);
    void throughLayer(Layer& layer, DecodingCache& cache);
    /// Projects the symbol that stands for the token, and stores it behind the kept projections.
    void projectSymbol(Layer& layer, DecodingCache& cache, std::int64_t past);
    void attend(Layer& layer, DecodingCache& cache, std::int64_t past);
    /// `local`: as the layers with a window turn, where these have a base of their own.
    void rotate(std::span<float> heads, std::int64_t width, std::int64_t position, bool local);
    /// Makes room for a cache of `capacity` tokens.
    void reserve(std::int64_t capacity);
    /// cos and sin of every position's angles, [capacity, width].
    const float* rotaryTable(std::int64_t width, bool local);

    TransformerLMOptions m_options;
    LanguageModelImpl& m_model;
    bool m_normedSymbols = false;
    struct Open {
        std::int64_t first = 0;             ///< the first position of the document
        std::vector<std::int64_t> padding;  ///< closed positions from there on
        bool none = false;                  ///< the token is padding itself
    };
    Open m_open;
    std::vector<std::unique_ptr<Layer>> m_layers;
    RotaryOptions m_localRotary;
    /// By the width of heads, and whether they turn as local ones.
    std::map<std::pair<std::int64_t, bool>, std::vector<float>> m_rotaryTable;
    // Work buffers: the residual stream, the input of a sub-layer and its output.
    std::vector<float> m_x, m_added, m_attended;
    std::int64_t m_capacity = 0;
    RowInput m_stream, m_normed, m_inner, m_mixed, m_related, m_symbol;
};

}  // namespace relascope::core
