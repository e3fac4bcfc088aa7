// SPDX-License-Identifier: GPL-3.0-or-later
// The names of timm's ViTs that open, and of those that do not. Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace relascope::core {

struct TimmName {
    std::string name;
    std::int64_t heads;
    double eps;              ///< epsilon of the norms
    std::string activation;  ///< as FeedForwardImpl has it
    std::string pool;        ///< as PublicImageOptions has it
    bool poolAll;            ///< ImageEndOptions::pool_all
};

/// The ViTs that open.
const std::vector<TimmName>& timmNames();
/// The names of ViTs that do not open, each with what this program does not compute.
const std::vector<std::pair<std::string, std::string>>& refusedTimmNames();

}  // namespace relascope::core
