// SPDX-License-Identifier: GPL-3.0-or-later
// What the queries or the keys of one head pass behind their projection: a norm, which is held at
// the scale that it has for the whole vector, clipping, and what distances add to their scores.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "analysis/parts/stream_parts.h"

namespace relascope::core {

struct HeadSide {
    /// The side of a head of sensory attention. `at`: which of the `heads` that the side has.
    HeadSide(AttentionImpl& attention, bool queries, std::int64_t at, std::int64_t heads);
    HeadSide() = default;

    bool isPlain() const { return !m_norm && m_clip == 0.0; }
    /// The points that it reads: queries or keys as projected, and behind their norm.
    std::vector<std::string> points() const;
    /// The rows [k, d] of a projection, or [k] of its bias, of this head, times the gain of the
    /// norm and without what it takes out of the mean: all of the norm but its scale.
    torch::Tensor folded(const torch::Tensor& whole) const;
    /// The scale of the norm of each row: [b, rows]. Undefined: there is none.
    torch::Tensor scale(const PointTensors& points) const;
    /// What clipping adds to each row: [b, rows, k]. Undefined: there is none.
    torch::Tensor clipped(const PointTensors& points) const;
    /// The vectors of this head [..., k] of streams [..., d] that the projection reads.
    torch::Tensor of(const torch::Tensor& x) const;

private:
    /// Projected vectors of all heads [..., h, k] behind the norm: those of this head.
    torch::Tensor normed(const torch::Tensor& x) const;

    NormImpl* m_norm = nullptr;
    bool m_all = false;  ///< whether the norm reads all heads as one vector
    std::int64_t m_at = 0, m_heads = 1;
    double m_clip = 0.0;
    torch::Tensor m_weight, m_bias;  ///< projection of all heads
    std::string m_projected, m_normed;
};

/// What distances add to scores, as products of two numbers a side: score = scale <u_i, v_j>.
struct HeadDistance {
    HeadDistance() = default;
    HeadDistance(const HeadOptions& options, std::int64_t head);

    explicit operator bool() const { return m_slope != 0.0; }
    /// The numbers [rows, 2] of queries, or keys, at these positions.
    torch::Tensor of(bool queries, const torch::Tensor& positions) const;

private:
    bool m_inside = false;
    double m_slope = 0.0, m_scale = 1.0;
};

}  // namespace relascope::core
