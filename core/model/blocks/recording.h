// SPDX-License-Identifier: GPL-3.0-or-later
// Recording points: they pass intermediate results of the forward pass to a probe. The result of
// the model does not change (except for rounding, where whole matrices replace a fused kernel).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace relascope::core {

/// Maps before they are computed: cell (i, j) of map m is activation(scale <q_mi, k_gj>), where
/// group g serves consecutive maps. The activation is one of applyActivation (layers.h).
struct InnerProducts {
    torch::Tensor q;  ///< [b, maps, i, width]
    torch::Tensor k;  ///< [b or 1, groups, j, width]
    double scale = 1.0;
    std::string activation = "identity";
    bool causal = false;  ///< cells j > i take no part in a softmax, and are 0 otherwise
};

/// Receives intermediate results of the modules while a RecordingScope is open on this thread.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// Whether the recorder takes factors instead of maps, so that modules run their fastest form.
    /// Modules whose maps are no inner products of vectors pass maps also then.
    virtual bool takesFactors() const { return false; }
    virtual void scores(const std::string& /*module*/, const InnerProducts& /*alpha*/) {}
    virtual void relations(const std::string& /*module*/, const InnerProducts& /*r*/) {}
    virtual void symbols(const std::string& /*module*/, int /*layer*/,
                         const InnerProducts& /*weights*/) {}
    /// Receives positional symbols of n objects: object i gets row i.
    virtual void positionalSymbols(const std::string& /*module*/, int /*layer*/,
                                   std::int64_t /*n*/) {}
    /// Receives position-relative symbols of n objects: the pair (i, j) gets the library row
    /// clamp(j - i, -most, most) + most.
    virtual void relativeSymbols(const std::string& /*module*/, int /*layer*/, std::int64_t /*n*/,
                                 std::int64_t /*most*/) {}

    /// Receives attention after its softmax and before dropout, [b, heads, i, j]. `module` is the
    /// registered path: "encoder_blocks.0.dual_attn.self_attention".
    virtual void scores(const std::string& module, const torch::Tensor& alpha) = 0;
    /// Receives r_ij after its activation, [b, i, j, relation] (disrca: [b, head, i, j]).
    virtual void relations(const std::string& module, const torch::Tensor& r) = 0;
    /// Symbol retrieval: weights [b, heads, i, symbol]; for positional symbols [1, 1, i, row]; for
    /// position-relative ones the library row of each pair, [1, 1, i, j] (int64).
    virtual void symbols(const std::string& module, int layer, const torch::Tensor& weights) = 0;
    /// The residual stream after a block, [b, n, d].
    virtual void hidden(const std::string& module, const torch::Tensor& x) = 0;
};

/// The current recorder of this thread, or nullptr; then modules use their fastest path.
Recorder* activeRecorder();
/// Whether the current recorder needs the maps, which only the explicit form computes.
bool recordsMaps();
/// The current recorder if it takes factors, else nullptr.
Recorder* factorRecorder();

/// Makes `recorder` (or none, for nullptr) current on this thread in its scope.
class RecordingScope {
public:
    explicit RecordingScope(Recorder& recorder) : RecordingScope(&recorder) {}
    explicit RecordingScope(Recorder* recorder);
    ~RecordingScope();
    RecordingScope(const RecordingScope&) = delete;
    RecordingScope& operator=(const RecordingScope&) = delete;

private:
    Recorder* m_previous;
};

/// A module that knows its own registered path and the prefix of its hook points (hooks.h), both
/// set by makeModel() once a model is built.
class RecordingPoint {
public:
    virtual ~RecordingPoint() = default;
    std::string path;
    std::string hook;
};

}  // namespace relascope::core
