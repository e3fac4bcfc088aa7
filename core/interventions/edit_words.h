// SPDX-License-Identifier: GPL-3.0-or-later
// Edits in words, as the command line takes them and the screen shows them. Layers, heads,
// relations and symbols of a library count from 1, positions and objects from 0. Does not include
// torch.
#pragma once

#include <string>
#include <vector>

#include "types/edit.h"

namespace relascope::core {

/// One edit from words:
///     [layer N | encoder N | decoder N [cross] | abstractor N] PART [PLACES] OPERATION
/// PART is relation L [head H], relations, head H, sensory head H, relational head H, symbols,
/// symbol J, library symbol S, edge I J, attention, cross attention, feed-forward, stream, or a
/// hook point with its axes from 0 ("blocks.0.rel.hook_q position 3"). PLACES are "i A", "j B",
/// "position P", "head H". OPERATION is zero, set V, scale F, invert, add V, mean, resample
/// [SHIFT], patch INPUT, clean, uniform, mask, swap A B, or project FILE. The point of a part
/// depends on the model: where the relations of heads are their attention (RCA), relation l is the
/// pattern of head l. Throws OptionError("--edit", ...) naming the word.
Edit editFromWords(const std::string& words, const std::vector<PointInfo>& points);

/// The words of an edit: "layer 2 relation 3 zero". Parsing them gives the edit again, except for
/// members without words: its note, lists of numbers, a mean's reference, the part of a text
/// (Edit::textPart), and whether it is enabled.
std::string wordsOf(const Edit& edit);

/// The words of the enabled edits of a list: "layer 2 relation 3 zero; layer 1 attention zero".
std::string wordsOf(const EditList& list);

/// The places of a selection as lists and ranges, counted from `counted`: "3", "2,5", "4:9".
std::string placesText(const AxisSelection& selection, std::int64_t counted);

}  // namespace relascope::core
