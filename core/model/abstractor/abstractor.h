// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor: a stack that passes on only relations. ABS algorithm 1 and section 3.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <memory>

#include "model/abstractor/abstractor_options.h"
#include "model/attention/attention.h"
#include "model/attention/symbols.h"
#include "model/blocks/layers.h"
#include "model/graph/device_graph.h"

namespace relascope::core {

/// Sinusoidal positions, sines before cosines, for any length.
class HalvedPositions {
public:
    /// The first n positions, [n, width], of the type and on the device of `options`.
    torch::Tensor rows(std::int64_t n, std::int64_t width, const torch::TensorOptions& options);
    /// x sqrt(d) + rows: x [b, n, d] or [n, d], whose row 0 has position `first`.
    torch::Tensor addedTo(const torch::Tensor& x, std::int64_t first = 0);

private:
    KeptTensor m_table;
};

/// Attention of the Abstractor models: every projection has a bias and every head has the width
/// `key_dim`, independent of d_model.
struct AbstractorHeads {
    std::int64_t d_model = 0;
    std::int64_t n_heads = 1;
    std::int64_t key_dim = 0;
    double dropout = 0.0;
    std::string activation = "softmax";  ///< sigma_rel
    bool scaled = true;                  ///< inner products / sqrt(key_dim)
    bool causal = false;
    bool mask_diagonal = false;
    bool symmetric = false;  ///< one projection for both sides
};

/// out = concat_h( sigma(<wq_h q_i, wk_h k_j> scale) wv_h v_j ) wo. Self-attention, cross-attention
/// and relational cross-attention (q = k = the objects, v = the abstract objects) are this.
struct AbstractorAttentionImpl : torch::nn::Module, RecordingPoint {
    explicit AbstractorAttentionImpl(const AbstractorHeads& heads);
    /// query [b, n, d], key and value [b, m, d] -> [b, n, d]. With relative symbols, whose library
    /// is [2 max + 1, d], the value of the pair (i, j) is value_j + s_{j-i}.
    torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& key,
                          const torch::Tensor& value, const Symbols& relative = {});

    const AbstractorHeads& options() const { return m_heads; }
    std::int64_t keyDim() const { return m_heads.key_dim; }

    Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};

private:
    AbstractorHeads m_heads;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(AbstractorAttention);

/// One sub-layer after another on the stream a, each with residual and norm: [self_attn, norm1]
/// [rca or cross_attn, norm2] [ff_block, norm3]. The blocks of the encoder, the decoder and the
/// Abstractor consist of some of these sub-layers.
struct AbstractorBlockImpl : torch::nn::Module, RecordingPoint {
    enum class Middle { None, Relational, Cross };
    struct Parts {
        AbstractorHeads self, middle;
        bool hasSelf = true, hasFeedForward = true;
        Middle kind = Middle::None;
        std::int64_t dff = 0;
        std::string norm = "layernorm";
        bool normFirst = false;
        std::string residual = "symbols";
    };
    explicit AbstractorBlockImpl(const Parts& parts);
    /// a [b, n, d]; x [b, m, d] is the input of the middle sub-layer: relations among x (RCA), or
    /// keys and values.
    torch::Tensor forward(torch::Tensor a, const torch::Tensor& x, const Symbols& relative = {});
    const Parts& parts() const { return m_parts; }

    Norm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
    AbstractorAttention self_attn{nullptr}, middle{nullptr};
    FeedForward ff_block{nullptr};

private:
    Parts m_parts;
    Dropout m_dropout{nullptr};
};
TORCH_MODULE(AbstractorBlock);

/// A_0 = the symbols (plus positions), then `n_layers_abs` blocks that relate the objects x.
struct AbstractorImpl : torch::nn::Module, RecordingPoint {
    /// There are `objects` learned symbols, or at most `longest` retrieved ones.
    AbstractorImpl(const AbstractorOptions& options, std::int64_t objects, std::int64_t longest);
    /// x [b, n, d] -> abstract objects [b, n, d].
    torch::Tensor forward(const torch::Tensor& x);

    torch::Tensor symbols;  ///< [n, d], of learned symbols
    std::shared_ptr<SymbolRetrieverImpl> symbol_retriever;
    torch::nn::ModuleList layers;

private:
    AbstractorOptions m_options;
    HalvedPositions m_positions;
};
TORCH_MODULE(Abstractor);

/// Glorot-uniform weights and zero biases for every Linear, and for the Abstractor's attention the
/// fans of a projection [d, heads, key], as the framework of the published models computes them
/// (experiments.md section 5). This matters: with smaller weights the softmax of symmetric CoRelNet
/// starts soft, and it learns an order from the lengths of its projections; with these weights it
/// stays at chance, as published.
void initGlorot(torch::nn::Module& model);

}  // namespace relascope::core
