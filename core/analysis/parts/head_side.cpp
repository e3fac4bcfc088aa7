// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/head_side.h"
#include "analysis/parts/block_parts.h"

#include <torch/utils.h>

#include "model/attention/attention.h"

namespace relascope::core {
HeadSide::HeadSide(AttentionImpl& attention, bool queries, std::int64_t at, std::int64_t heads)
    : m_at(at), m_heads(heads), m_clip(attention.options().clip_qkv) {
    const auto& norm = queries ? attention.q_norm : attention.k_norm;
    if (!norm.is_empty()) m_norm = norm.ptr().get();
    m_all = attention.options().qk_norm == "all";
    if (isPlain()) return;
    const auto& linear = queries ? attention.wq : attention.wk;
    m_weight = precise(linear->weight), m_bias = precise(linear->bias);
    m_projected = attention.hook + (queries ? ".hook_q" : ".hook_k");
    if (m_norm) m_normed = m_projected + "_normed";
}

std::vector<std::string> HeadSide::points() const {
    if (isPlain()) return {};
    return m_norm ? std::vector{m_projected, m_normed} : std::vector{m_projected};
}

torch::Tensor HeadSide::folded(const torch::Tensor& whole) const {
    auto rows = precise(whole).unflatten(0, {m_heads, whole.size(0) / m_heads});  // [h, k, ...]
    if (!m_norm) return rows.select(0, m_at);
    if (m_norm->centres())
        rows = rows - (m_all ? rows.flatten(0, 1).mean(0, true) : rows.mean(1, true));
    auto own = rows.select(0, m_at);
    auto gain = precise(m_norm->gain());
    if (!gain.defined()) return own;
    if (m_all) gain = gain.view({m_heads, -1});
    if (gain.dim() == 2) gain = gain.select(0, m_at);
    return whole.dim() == 2 ? own * gain.unsqueeze(1) : own * gain;
}

torch::Tensor HeadSide::scale(const PointTensors& points) const {
    if (!m_norm) return {};
    const auto all = precise(points.at(m_projected));  // [b, rows, h, k]
    return heldNorm(*m_norm, m_all ? all.flatten(2) : all.select(2, m_at)).scale;
}

torch::Tensor HeadSide::clipped(const PointTensors& points) const {
    if (m_clip == 0.0) return {};
    const auto whole = precise(points.at(m_norm ? m_normed : m_projected)).select(2, m_at);
    return whole.clamp(-m_clip, m_clip) - whole;
}

torch::Tensor HeadSide::normed(const torch::Tensor& x) const {
    if (!m_norm) return x.select(-2, m_at);
    const auto own = m_all ? x.flatten(-2) : x.select(-2, m_at);
    const auto held = heldNorm(*m_norm, own);
    auto y = (held.centres ? own - own.mean(-1, true) : own) / held.scale.unsqueeze(-1);
    if (held.weights.defined())
        y = y * (held.weights.dim() == 2 ? held.weights.select(0, m_at) : held.weights);
    return m_all ? y.unflatten(-1, {m_heads, -1}).select(-2, m_at) : y;
}

torch::Tensor HeadSide::of(const torch::Tensor& x) const {
    auto y = torch::matmul(x, m_weight.t());
    if (m_bias.defined()) y = y + m_bias;
    y = normed(y.unflatten(-1, {m_heads, -1}));
    return m_clip > 0.0 ? y.clamp(-m_clip, m_clip) : y;
}

HeadDistance::HeadDistance(const HeadOptions& options, std::int64_t head)
    : m_inside(options.distance == "inside"), m_scale(options.scale()) {
    if (options.distance != "none") m_slope = distanceSlopes(options.n_heads)[head].item<double>();
}

torch::Tensor HeadDistance::of(bool queries, const torch::Tensor& positions) const {
    const auto at = positions.to(torch::kDouble);
    const auto one = torch::ones_like(at);
    // m j inside the scale, rounded as the model rounds it; or m (j - i) behind it.
    const auto rounded = [&] {
        const auto slope = torch::tensor(m_slope, torch::kFloat).to(torch::kBFloat16);
        return (slope * positions.to(torch::kBFloat16)).to(torch::kDouble);
    };
    const double slope = m_slope / m_scale;
    if (queries) return torch::stack({one, m_inside ? torch::zeros_like(at) : at * -slope}, 1);
    return torch::stack({m_inside ? rounded() : at * slope, one}, 1);
}

}  // namespace relascope::core
