// SPDX-License-Identifier: GPL-3.0-or-later
// Hook points: named tensors inside the forward pass that training uses, which an editor may read
// and replace. The names are TransformerLens's where it has one ("blocks.0.rel.hook_r").
#pragma once

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relascope::core {

/// The kinds of dimensions of a hook point's tensor.
enum class Axis { Batch, Position, Head, Dim, I, J, Relation, Symbol, Slot, Expert };
/// The name of an axis: "batch", "position", "head", "dim", "i", "j", "relation", "symbol", "slot",
/// "expert".
const char* axisName(Axis axis);

using Axes = std::span<const Axis>;

/// One tensor of the forward pass.
struct HookPoint {
    std::string name;
    Axes axes;  ///< one for each dimension of the tensor, in order
    /// The position of the first entry along `position` (tensors of new tokens) or `i`: with a
    /// DecodingCache, or where rows are computed in blocks, it is not 0.
    std::int64_t first = 0;
    /// True in cells that the model itself closes (later tokens of a causal model), broadcastable
    /// to the last dimensions; undefined if there are none. They hold `closedValue`.
    torch::Tensor closed = {};
    double closedValue = 0.0;
};

class Hooks;

/// One of the things that hooks do at a point, said before the pass.
struct PointStep {
    enum class What {
        Read,      ///< `reader` looks at the tensor; what its at() returns is not used
        Multiply,  ///< whole entries along `axis` are multiplied by `values` [size]
        Put        ///< `places` get `values`
    };
    What what = What::Read;
    Hooks* reader = nullptr;
    Axis axis = Axis::Batch;
    std::vector<torch::Tensor> places = {};  ///< places by dimension, [k] int64; undefined: all
    torch::Tensor values = {};               ///< numbers; for Put broadcastable to the selection
};
using PointPlan = std::vector<PointStep>;

/// Gets the tensors of hook points while a HookScope is open on this thread.
class Hooks {
public:
    virtual ~Hooks() = default;
    /// Whether the hooks want any point whose name begins with `prefix`; modules without a wanted
    /// point keep their fastest form.
    virtual bool takes(std::string_view prefix) const = 0;
    /// Whether at() looks at more of a tensor than its sizes.
    virtual bool takesValues() const { return true; }
    /// Gets the tensor of a point and returns the one that the forward pass continues with.
    virtual torch::Tensor at(const HookPoint& point, const torch::Tensor& value) = 0;
    /// The factors [size] of the entries along `axis`, if the hooks do nothing but multiply whole
    /// entries at a point: at() is not called then, so that the point's tensor need not exist.
    /// Otherwise undefined.
    virtual torch::Tensor factors(const std::string& /*point*/, Axis /*axis*/,
                                  const torch::Tensor& /*like*/) {
        return {};
    }
    /// Appends what the hooks do at a point, in order, for a pass that runs in another process: the
    /// tensor need not come here and go back then. `like` has the point's sizes and no values.
    /// False if only at() can do it.
    virtual bool plan(const HookPoint& /*point*/, const torch::Tensor& /*like*/,
                      PointPlan& /*steps*/) {
        return false;
    }
    /// The stream after the block of that prefix, if the pass may take it instead of running the
    /// block: no earlier point is changed. Otherwise undefined.
    virtual torch::Tensor streamAfter(const std::string& /*block*/) { return {}; }
    /// Called for a text whose first tokens have slid out of the context: the position of the first
    /// token that is left.
    virtual void setOrigin(std::int64_t /*position*/) {}
};

/// The current hooks of this thread, or nullptr.
Hooks* activeHooks();

/// streamAfter() of the current hooks; undefined without any.
inline torch::Tensor keptStream(const std::string& block) {
    auto* hooks = activeHooks();
    return hooks ? hooks->streamAfter(block) : torch::Tensor();
}

/// Makes `hooks` (or none, for nullptr) current on this thread in its scope.
class HookScope {
public:
    explicit HookScope(Hooks* hooks);
    ~HookScope();
    HookScope(const HookScope&) = delete;
    HookScope& operator=(const HookScope&) = delete;

private:
    Hooks* m_previous;
};

/// The hooks of one module during one forward pass. False, and without any cost, unless the current
/// hooks want a point of the module. May be copied into functions that run later (recomputation in
/// the backward pass): the hooks must live that long.
class HookedModule {
public:
    /// Points are named `prefix` + "." + name, or name alone for an empty prefix.
    explicit HookedModule(const std::string& prefix, std::int64_t first = 0)
        : m_hooks(activeHooks()), m_first(first) {
        if (m_hooks) select(prefix);
    }

    /// No hooks.
    HookedModule() : m_hooks(nullptr), m_first(0) {}

    explicit operator bool() const { return m_hooks != nullptr; }
    bool takes(const char* name) const { return m_hooks && m_hooks->takes(m_prefix + name); }
    bool takesValues() const { return m_hooks && m_hooks->takesValues(); }
    /// The tensor to continue with at that point.
    torch::Tensor operator()(const char* name, Axes axes, const torch::Tensor& value) const {
        return m_hooks ? m_hooks->at({m_prefix + name, axes, m_first}, value) : value;
    }
    /// The point's tensor for cells (i, j), whose rows begin at position `first`.
    torch::Tensor cells(const char* name, Axes axes, const torch::Tensor& value, std::int64_t first,
                        const torch::Tensor& closed = {}, double closedValue = 0.0) const {
        if (!m_hooks) return value;
        return m_hooks->at({m_prefix + name, axes, first, closed, closedValue}, value);
    }
    /// Hooks::factors() for a point of this module.
    torch::Tensor factors(const char* name, Axis axis, const torch::Tensor& like) const {
        return m_hooks ? m_hooks->factors(m_prefix + name, axis, like) : torch::Tensor();
    }

private:
    void select(const std::string& prefix);

    Hooks* m_hooks;
    std::int64_t m_first;
    std::string m_prefix;
};

/// The axes of tensors that several modules have.
namespace axes {
inline constexpr std::array stream{Axis::Batch, Axis::Position, Axis::Dim};
inline constexpr std::array heads{Axis::Batch, Axis::Position, Axis::Head, Axis::Dim};
inline constexpr std::array relationVectors{Axis::Batch, Axis::Position, Axis::Relation, Axis::Dim};
inline constexpr std::array attended{Axis::Batch, Axis::Position, Axis::Head, Axis::Relation};
inline constexpr std::array pattern{Axis::Batch, Axis::Head, Axis::I, Axis::J};
inline constexpr std::array relations{Axis::Batch, Axis::I, Axis::J, Axis::Relation};
inline constexpr std::array library{Axis::Symbol, Axis::Dim};
inline constexpr std::array retrieval{Axis::Batch, Axis::Head, Axis::Position, Axis::Symbol};
inline constexpr std::array pooled{Axis::Batch, Axis::Dim};
inline constexpr std::array experts{Axis::Batch, Axis::Position, Axis::Expert};
}  // namespace axes

/// softmax over the last dimension; a row of -infinity alone gives zeros instead of NaN.
torch::Tensor softmaxOfOpen(const torch::Tensor& scores);
/// An activation of inner products, 0 where they are -infinity (an edge that was cut).
torch::Tensor activateOpen(const std::string& activation, const torch::Tensor& scores);

/// [b, maps, n, w] heads as hook points see them, [b, n, maps, w], through them and back.
torch::Tensor hookedHeads(const HookedModule& hooks, const char* name, Axes axes,
                          const torch::Tensor& heads);
/// hookedHeads() for joined heads [b, n, maps * w].
torch::Tensor hookedJoined(const HookedModule& hooks, const char* name, const torch::Tensor& joined,
                           std::int64_t heads);

}  // namespace relascope::core
