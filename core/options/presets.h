// SPDX-License-Identifier: GPL-3.0-or-later
// The papers' experiments by name. Definitions live in resources/presets/*.json and are built in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "types/run_options.h"

namespace relascope::core {

struct PresetInfo {
    std::string name;                      ///< "relational-games-between"
    std::string family;                    ///< "Vision relations"
    std::string title;                     ///< "Between"
    std::string help;                      ///< one sentence
    std::vector<std::string> variants;     ///< models; the first is the default
    std::vector<std::string> variantHelp;  ///< one sentence for each of them
    /// Sentences by option key: the source of the value, where the papers do not state it.
    std::map<std::string, std::string> notes;
    /// The sentence of a variant; empty for an unknown name.
    std::string helpOf(const std::string& variant) const;
    bool operator==(const PresetInfo&) const = default;
};

const std::vector<PresetInfo>& presets();

/// The preset of that name, or null.
const PresetInfo* findPreset(const std::string& name);

/// The options of a preset with one of its models ("" = the first). Throws OptionError naming the
/// nearest presets or models.
RunOptions presetOptions(const std::string& preset, const std::string& variant = "");

}  // namespace relascope::core
