// SPDX-License-Identifier: GPL-3.0-or-later
// Takes what a fitted relation reads out of a stream: x becomes x - U U'(x - m), U an orthonormal
// basis of its directions (interventions.md section 18).
#pragma once

#include <torch/types.h>

#include "interventions/relation_file.h"
#include "model/hooks/hooks.h"

namespace relascope::core {

struct StreamProjection {
    torch::Tensor basis;           ///< [d, k], orthonormal columns
    torch::Tensor mean;            ///< [places, d], or [1, d]
    std::int64_t firstTokens = 0;  ///< positions before the first place, which stay

    /// The tensor of a point, with `first` as the position of its first entry. Positions behind the
    /// last place stay, too.
    torch::Tensor out(const torch::Tensor& value, const HookPoint& point, std::int64_t first) const;
};

/// An orthonormal basis [d, k] of the rows of these matrices [.., d], without directions below 1e-6
/// of the largest.
torch::Tensor basisOfRows(const torch::Tensor& rows);
StreamProjection projectionOf(const RelationFile& relation);

}  // namespace relascope::core
