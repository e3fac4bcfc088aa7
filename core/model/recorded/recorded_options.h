// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a run that another program recorded (formats.md section 9): what that program says
// of its model and its data, of which nothing is known here. Its curves, captured maps and kept
// weights are shown; there is no class to compute with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "types/model_options.h"
#include "types/option_groups.h"

namespace relascope::core {

struct RecordedOptions : ObjectInput {
    std::string model, data;  ///< the `settings` of options.model and options.data, JSON objects
    bool operator==(const RecordedOptions&) const = default;
};

/// The architecture and the kind of data of such a run.
inline constexpr char kRecorded[] = "recorded";

/// Why what computes with the model of such a run cannot be used, after the name of the run.
inline constexpr char kNoModel[] =
    "was recorded by another program: it has curves, captured maps and weights, and no model that "
    "Relascope can compute with";

inline bool isRecorded(const ModelOptions& model) {
    return model.find<RecordedOptions>() != nullptr;
}

/// What the other program says, as options of a run: "model.settings.depth" and "4". Values that
/// are neither numbers nor texts are JSON.
std::vector<std::pair<std::string, std::string>> settingTexts(const RecordedOptions& options);

}  // namespace relascope::core
