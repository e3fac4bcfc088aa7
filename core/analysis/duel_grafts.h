// SPDX-License-Identifier: GPL-3.0-or-later
// Grafts: which parts of another model a model can use, with parts of B in the place of A's.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/duel.h"
#include "analysis/duel_examples.h"
#include "analysis/edited_model.h"

namespace relascope::core {

/// The layer of a hook point: "blocks.1.hook_attn_out" -> "layer 2", "encoder.0..." -> "encoder 1".
std::string layerOfPoint(const std::string& point);

/// The grafts that fit, not measured yet: each part of `parts` (DuelOptions::graft) of a layer of B
/// into the same layer of A, or with `across` into every layer, where the shapes agree.
std::vector<Duel::Graft> possibleGrafts(const std::vector<PointInfo>& a,
                                        const std::vector<PointInfo>& b,
                                        const std::vector<std::string>& parts, bool across);

/// The graft of that name among all that fit. Throws OptionError that names the grafts of its
/// layer, or all grafts.
Duel::Graft graftNamed(const std::vector<PointInfo>& a, const std::vector<PointInfo>& b,
                       const std::string& name);

/// Measures `duel.grafts` from number `done` on, over the first `count` examples, and the same
/// parts of `untrained`, a model like B (null: none, and nothing is claimed): chosen on the first
/// half of them, and measured on the second. After each graft
/// `progress` gets how many are done; it returns false to cancel.
void measureGrafts(Duel& duel, std::size_t done, EditedModel& a, EditedModel& b,
                   EditedModel* untrained, const DuelExamples& examples, std::int64_t count,
                   const std::function<bool(std::size_t)>& progress);

}  // namespace relascope::core
