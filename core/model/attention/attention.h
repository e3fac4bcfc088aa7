// SPDX-License-Identifier: GPL-3.0-or-later
// Sensory attention: heads that mix the features of other objects.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "model/attention/documents.h"
#include "model/attention/dropout.h"
#include "model/blocks/layers.h"
#include "model/blocks/parameters.h"
#include "model/blocks/recording.h"

namespace relascope::core {

class HookedModule;  // hooks.h
struct KernelHeads;  // cuda_attention.h

/// Options that sensory and relational heads share. 0 means the default in brackets.
struct HeadOptions : ScoreOptions {
    std::int64_t d_model = 0;     ///< width of the input
    std::int64_t n_heads = 1;     ///< query heads
    std::int64_t head_dim = 0;    ///< d_h; the output is n_heads * head_dim wide
    std::int64_t n_kv_heads = 0;  ///< key and value heads; must divide n_heads [n_heads]
    std::int64_t key_dim = 0;     ///< width of queries and keys [head_dim]
    std::int64_t out_width = 0;   ///< width of the output projection [n_heads * head_dim]
    double dropout = 0.0;         ///< on the attention weights and on the output
    double output_dropout = -1;   ///< on the output, where it differs from `dropout`
    bool add_bias_q = false;
    bool add_bias_kv = false;
    bool key_bias = true, value_bias = true;  ///< with add_bias_kv: on these
    bool add_bias_out = false;
    bool causal = false;
    bool rope = false;
    RotaryOptions rotary;  ///< with `rope`
    /// i attends to j with i - j < window, without `causal` also to those with j - i < window; 0:
    /// no window.
    std::int64_t window = 0;
    double norm_eps = 1e-5;      ///< epsilon of the norms of queries and keys
    bool norm_plus_one = false;  ///< these norms multiply by 1 + weight
    bool relational = false;     ///< also records its inner products as relations
    bool projects = true;        ///< has its projections; otherwise attend() alone can be called
    torch::Tensor added = {};    ///< position bias of the scaled scores: [h, n, m], or undefined

    std::int64_t kvHeads() const { return n_kv_heads > 0 ? n_kv_heads : n_heads; }
    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : head_dim; }
    std::int64_t width() const { return n_heads * head_dim; }
    std::int64_t outWidth() const { return out_width > 0 ? out_width : width(); }
    /// Whether the window closes cells of a map of m keys.
    bool windowed(std::int64_t m) const { return window > 0 && m > window; }
    /// Whether a map of m keys is softmax(scale q k) and nothing but a causal mask.
    bool plainMap(std::int64_t m) const { return plainScores() && !windowed(m); }
    /// What q k is multiplied by.
    double scale() const;
    double outputDropout() const { return output_dropout < 0 ? dropout : output_dropout; }
    /// Throws OptionError naming the field and the value.
    void check() const;
};

/// [b, n, heads * width] -> [b, heads, n, width].
torch::Tensor splitHeads(const torch::Tensor& x, std::int64_t heads);
/// [b, heads, n, width] -> [b, n, heads * width].
torch::Tensor joinHeads(const torch::Tensor& x);

/// How attention is computed; every form gives the same numbers (models.md 2, performance.md 1).
enum class AttentionForm {
    Automatic,
    Explicit,  ///< alpha [b, h, n, m], and r [b, d_r, n, m]: for few tokens, and for recording
    Factored,  ///< no r: <q_il, sum_j alpha_ij k_jl> / sqrt(d_p); identity activation only
    Chunked,   ///< alpha of some rows at a time, recomputed in the backward pass
    Fused,     ///< LibTorch's scaled_dot_product_attention; identity activation, no dropout
    Tiled,     ///< our CPU kernels of tiled_attention.h: float32, no scores in memory
    Cuda       ///< our CUDA kernels of cuda_attention.h: 16 bits, no scores in memory
};
const char* attentionFormName(AttentionForm form);

/// scale q k^T + mask, with the cap and the distances of the options: q [b, h, n, key_dim], k [b,
/// h_kv, m, key_dim] -> [b, h, n, m]. Each kv head serves consecutive query heads. Causal: query i
/// has position first + i, and later keys get -infinity, as do keys of other documents.
torch::Tensor attentionScores(const torch::Tensor& q, const torch::Tensor& k,
                              const HeadOptions& options, std::int64_t first = 0,
                              const Documents& documents = {});
/// softmax of attentionScores(): [b, h, n, m]. A row without an open cell gets zeros.
torch::Tensor attentionWeights(const torch::Tensor& q, const torch::Tensor& k,
                               const HeadOptions& options, std::int64_t first = 0,
                               const Documents& documents = {});
/// Scores and their softmax with the points hook_attn_scores and hook_pattern of a module: both
/// tensors are as the hooks leave them.
struct HookedWeights {
    torch::Tensor scores, alpha;
};
HookedWeights hookedWeights(const HookedModule& hooks, const torch::Tensor& q,
                            const torch::Tensor& k, const HeadOptions& options, std::int64_t first,
                            const Documents& documents = {});
/// Whether the hooks of a module want scores or weights, which only the explicit form computes.
bool takesWeights(const HookedModule& hooks);
/// The causal mask: true where query i of n, at position first + i, may not attend to key j of m:
/// [n, m] bool. With a window also to keys that are `window` or more positions before it; without
/// `causal` to later keys as far as that.
torch::Tensor futureMask(std::int64_t n, std::int64_t m, std::int64_t first,
                         const torch::Device& device, std::int64_t window = 0, bool causal = true);
/// The slope m_h of each head (ALiBi), [heads] float32: 2^(-8 (k + 1) / p) of the first p heads, p
/// the largest power of 2 that is not above their number, then 2^(-4 (2 k + 1) / p).
torch::Tensor distanceSlopes(std::int64_t heads);
/// What distances add to the scores of n queries from position `first` on and m keys: [h, n or 1,
/// m].
torch::Tensor distanceScores(const HeadOptions& options, std::int64_t n, std::int64_t m,
                             std::int64_t first, const torch::TensorOptions& like);
/// The output of attention by LibTorch's kernels, which do not return the weights: q, k as above, v
/// [b, h_kv, m, w] -> [b, h, n, w].
torch::Tensor fusedAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             const HeadOptions& options, const Documents& documents = {});
/// Whether LibTorch has a kernel with linear memory for fusedAttention() of these tensors; its math
/// kernel keeps n x n scores.
bool hasFusedKernel(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                    const HeadOptions& options, const Documents& documents = {});
/// Rows of one block: few enough for the cache, and enough for efficient matrix products.
inline constexpr std::int64_t kChunkRows = 128;
/// alpha [b, h, n, m] times values [b, h_kv, m, w] -> [b, h, n, w], kv heads shared as above.
torch::Tensor mixValues(const torch::Tensor& alpha, const torch::Tensor& values);

/// out = concat_h( softmax(q_h k_h^T / sqrt(d_h)) v_h ) wo.   DAT section 2.1.
struct AttentionImpl : torch::nn::Module, RecordingPoint {
    explicit AttentionImpl(const HeadOptions& options);
    /// query [b, n, d], key and value [b, m, d] -> [b, n, n_heads * head_dim]. All three are x for
    /// self-attention, key and value the context for cross-attention; relational cross-attention
    /// takes its values from the symbols.
    torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& key,
                          const torch::Tensor& value) {
        return finish(heads(query, key, value));
    }
    /// The joined heads of forward(), before `wo`.
    torch::Tensor heads(const torch::Tensor& query, const torch::Tensor& key,
                        const torch::Tensor& value);
    /// The joined heads of queries q [b, h, n, key_dim], the first of which has position `past`,
    /// and of keys and values [b, h_kv, m, ...]: [b, n, h d_h]. `documents`: of the same texts.
    torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                         std::int64_t past, const HookedModule& hooks,
                         const Documents& documents = {});
    /// The weights alpha [b, h, n, m] that attend() uses, as hooks leave them and recorders get
    /// them.
    torch::Tensor weights(const torch::Tensor& q, const torch::Tensor& k, std::int64_t past,
                          const HookedModule& hooks);
    /// The sizes, for our CUDA kernels.
    KernelHeads kernelHeads() const;
    const HeadOptions& options() const { return m_options; }
    /// The width of the joined heads.
    std::int64_t width() const { return m_options.width(); }
    torch::Tensor finish(const torch::Tensor& heads) { return dropOutput(wo(heads)); }
    torch::Tensor dropOutput(const torch::Tensor& output) { return m_outputDropout(output); }

    Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};
    Norm q_norm{nullptr}, k_norm{nullptr};  ///< null without such norms
    /// Tables of biases by place: of this block, and of all blocks, which their model owns.
    torch::Tensor place_bias, shared_places;
    AttentionForm form = AttentionForm::Automatic;

private:
    AttentionForm chosenForm(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             const Documents& documents) const;
    /// The heads alpha v by whole matrices alpha: [b, h, n, d_h].
    torch::Tensor explicitHeads(const torch::Tensor& q, const torch::Tensor& k,
                                const torch::Tensor& v, std::int64_t past,
                                const HookedModule& hooks, const Documents& documents);
    torch::Tensor explicitWeights(const torch::Tensor& q, const torch::Tensor& k, std::int64_t past,
                                  const HookedModule& hooks, const Documents& documents);
    /// Gives a recorder of factors the queries and keys, where alpha is their product alone.
    void recordFactors(const torch::Tensor& q, const torch::Tensor& k, const HookedModule& hooks,
                       const Documents& documents);
    /// Queries or keys [b, heads, n, key_dim] behind their norm.
    torch::Tensor normedHeads(Norm& norm, const torch::Tensor& x) const;
    /// Queries, keys or values clipped to +-clip_qkv.
    torch::Tensor clipped(const torch::Tensor& x) const;
    double weightDropout() const { return is_training() ? m_options.dropout : 0.0; }

    HeadOptions m_options;
    RotaryPositions m_rotary;
    Dropout m_weightDropout{nullptr}, m_outputDropout{nullptr};
};
TORCH_MODULE(Attention);

}  // namespace relascope::core
