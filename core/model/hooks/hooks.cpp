// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/hooks/hooks.h"

#include <limits>

#include "model/blocks/layers.h"

namespace relascope::core {
namespace {
thread_local Hooks* t_hooks = nullptr;
}

const char* axisName(Axis axis) {
    static constexpr std::array names = {"batch", "position", "head",   "dim",  "i",
                                         "j",     "relation", "symbol", "slot", "expert"};
    return names.at(static_cast<std::size_t>(axis));
}

Hooks* activeHooks() {
    return t_hooks;
}

HookScope::HookScope(Hooks* hooks) : m_previous(t_hooks) {
    t_hooks = hooks;
}
HookScope::~HookScope() {
    t_hooks = m_previous;
}

void HookedModule::select(const std::string& prefix) {
    m_prefix = prefix.empty() ? prefix : prefix + ".";
    if (!m_hooks->takes(m_prefix)) m_hooks = nullptr;
}

torch::Tensor softmaxOfOpen(const torch::Tensor& scores) {
    // A row without an open cell is made finite first, so that its gradient is 0 as well.
    const auto dead = scores.amax(-1, true).eq(-std::numeric_limits<double>::infinity());
    return softmaxOf(scores.masked_fill(dead, 0.0)).masked_fill(dead, 0.0);
}

torch::Tensor activateOpen(const std::string& activation, const torch::Tensor& scores) {
    if (activation == "softmax") return softmaxOfOpen(scores);
    const auto cut = scores.eq(-std::numeric_limits<double>::infinity());
    return applyActivation(activation, scores.masked_fill(cut, 0.0)).masked_fill(cut, 0.0);
}

torch::Tensor hookedHeads(const HookedModule& hooks, const char* name, Axes axes,
                          const torch::Tensor& heads) {
    return hooks ? hooks(name, axes, heads.transpose(1, 2)).transpose(1, 2) : heads;
}

torch::Tensor hookedJoined(const HookedModule& hooks, const char* name, const torch::Tensor& joined,
                           std::int64_t heads) {
    if (!hooks) return joined;
    return hooks(name, axes::heads, joined.unflatten(2, {heads, joined.size(2) / heads}))
        .flatten(2);
}

}  // namespace relascope::core
