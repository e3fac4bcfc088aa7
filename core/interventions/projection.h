// SPDX-License-Identifier: GPL-3.0-or-later
// A fitted relation of a stream, and what takes out what it reads: x becomes x - U U'(x - m), U an
// orthonormal basis of its directions (interventions.md section 18).
#pragma once

#include <torch/types.h>

#include "interventions/relation_file.h"
#include "model/hooks/hooks.h"

namespace relascope::core {

struct StreamProjection {
    torch::Tensor basis;           ///< U, [d, k] with orthonormal columns
    torch::Tensor mean;            ///< means m of the places, [places, d] or [1, d]
    std::int64_t firstTokens = 0;  ///< positions before the first place, which stay

    /// The tensor of a point, with `first` as the position of its first entry. Positions behind the
    /// last place stay, too.
    torch::Tensor out(const torch::Tensor& value, const HookPoint& point, std::int64_t first) const;
};

/// An orthonormal basis [d, k] of the rows of these matrices [.., d], without directions below 1e-6
/// of the largest.
torch::Tensor basisOfRows(const torch::Tensor& rows);
StreamProjection projectionOf(const RelationFile& relation);

/// A relation in the stream: r = <A (x_i - m_i), B (x_j - m_j)> + b.
struct StreamRelation {
    torch::Tensor a, b;  ///< A and B, [rank, d] double
    torch::Tensor mean;  ///< means m of the places, [places, d]
    double bias = 0.0;
    bool distance = false;  ///< -<A d, B d> + b of d = (x_i - m_i) - (x_j - m_j)
    /// r + b of all pairs of streams [.., places, d]: [.., places, places].
    torch::Tensor map(const torch::Tensor& stream) const;
};
StreamRelation streamRelationOf(const RelationFile& relation);

}  // namespace relascope::core
