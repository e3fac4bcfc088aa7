// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/basis.h"

#include "checkpoint/kept_weights.h"
#include "data/example_checksum.h"

namespace relascope::core {

std::string basisOf(const OpenedModel& model, const Dataset& data,
                    const std::vector<std::int64_t>& examples, const std::string& run) {
    auto text = "weights " + std::to_string(model.checksum()) + ", " +
                std::to_string(examples.size()) + " examples " +
                std::to_string(examplesChecksum(data, examples));
    if (!run.empty())
        for (const auto& kept : KeptWeights(run).localSteps())
            text += ", step " + std::to_string(kept.step) + " " + std::to_string(kept.checksum);
    return text;
}

}  // namespace relascope::core
