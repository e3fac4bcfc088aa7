// SPDX-License-Identifier: GPL-3.0-or-later
// How the relations of one model match those of another over the same pairs. Pure numbers: no
// model, no LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace relascope::core {

struct RelationMatching {
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> partner;  ///< for each relation; kNone where there are fewer others
    double matched = 0.0;              ///< mean |correlation| of the pairs
    double meanOfAllPairs = 0.0;       ///< mean |correlation| over all assignments
};
/// The assignment to different others with the largest sum of |correlation| [relations, others]
/// (Kuhn 1955). NaN counts as 0.
RelationMatching matchRelations(std::span<const double> correlation, std::size_t relations,
                                std::size_t others);

}  // namespace relascope::core
