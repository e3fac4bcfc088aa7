// SPDX-License-Identifier: GPL-3.0-or-later
// What works on the models of each public family, and the families that do not open: made from the
// tables (model/public/family.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace relascope::core {

/// A family whose models open. Maps, edits, lens, scan and qk-components work on all of them.
struct FamilyFacts {
    std::string type, title;
    std::string
        generation;  ///< how texts are generated: "one row a token", "with the cache", "none"
    std::string qkAttribution;  ///< "scores", or what of them is a sum over parts; "none"
    std::string attribution;    ///< "logits", "with a head" that is given, or "none"
    std::string training;       ///< "continues" from the checkpoint, or "none"
};
/// The facts of models as `model_type` alone describes them, in the order of the tables.
std::vector<FamilyFacts> familyLedger();

/// Why a configuration whose model_type is no family's does not open, and what to do instead: "is
/// 'mamba', whose layers have no attention to show; ...". Empty for a type that is not known.
std::string unopenedText(const std::string& type, const nlohmann::ordered_json& config);
/// The types of unopenedText() and what of them is not computed here.
std::vector<std::pair<std::string, std::string>> unopenedFamilies();

}  // namespace relascope::core
