// SPDX-License-Identifier: GPL-3.0-or-later
// Whether edits fit a model and an input, before anything runs. Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/edit.h"

namespace relascope::core {

/// The use of edits; some operations have no meaning in some uses.
enum class EditUse {
    Inspect,   ///< one input of a known length, or a split of inputs
    Generate,  ///< a growing text; edits of positions not generated yet are skipped
    Train      ///< batches of training: no second input
};

/// The point of that name. Throws OptionError(field, ...) with the nearest names.
const PointInfo& findPoint(const std::vector<PointInfo>& points, const std::string& name,
                           const std::string& field);

/// The places of a selection on an axis of that size, from 0 and ascending as they are named.
/// Without a selection: all. Throws OptionError(field, ...) for places out of range and for an
/// empty range.
std::vector<std::int64_t> placesOf(const AxisSelection& selection, std::int64_t size,
                                   const std::string& field);

/// Whether the mean has one value for each j - i. `cells`: its point has the axes i and j; other
/// points have no offsets.
inline bool meanByOffset(const Edit& edit, bool cells) {
    return cells && edit.op == EditOp::Mean && edit.reference && edit.reference->over == "offset";
}

/// Throws OptionError("edits[2].relation", ...) for the first enabled or disabled edit that does
/// not fit: an unknown point, an axis that it has not, a place out of range, an operation that its
/// point or the use does not have, numbers of another shape, cells behind the causal mask alone.
void checkEdits(const EditList& list, const std::vector<PointInfo>& points, EditUse use);

}  // namespace relascope::core
