// SPDX-License-Identifier: GPL-3.0-or-later
// Compares fitted relations with stored ones (golden.md).
#pragma once

#include <string>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// A folder with fit.json ("format": "relascope-fit/1"), which says what is fitted and names the
/// folder of its model; data.safetensors: images, masks, facts, answers and the split of pictures;
/// relation.safetensors, the relation that is saved; and expected.safetensors, whose tensors are
/// recomputed: pairs, directions, the fit, its AUCs by ridge, rank and layer, the map, what the
/// model answers without it, heads like it, and attention by objects. Each key has the tolerance of
/// golden.md. Throws FileError if the folder is not of this form.
VerifyReport verifyFitted(const std::string& folder, const std::string& device);

}  // namespace relascope::core
