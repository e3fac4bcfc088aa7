// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the statistics of relations (relation_statistics.h) with stored ones.
#pragma once

#include <string>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// A folder with io.safetensors, of relations `r` [e, i, j, relation], a yes/no `attribute` with
/// the pairs where it is `defined` [e, i, j], and projections `wq_rel`, `wk_rel` [relation, width,
/// d], and with expected.json: for each relation mean, sd, symmetry (null: symmetric), the shares
/// of the variance, the effective rank of its weights and its AUCs; and the correlation of
/// relations with place removed. Each number within 1e-5, absolute plus relative. Throws FileError
/// if the folder is not of this form.
VerifyReport verifyRelations(const std::string& folder);

}  // namespace relascope::core
