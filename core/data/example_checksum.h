// SPDX-License-Identifier: GPL-3.0-or-later
// A checksum of the contents of examples. Does not include torch.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace relascope::core {

/// CRC-32 of everything that a model or an analysis can read of these examples, in order: inputs,
/// targets and the facts of their objects.
std::uint32_t examplesChecksum(const Dataset& data, const std::vector<std::int64_t>& examples);

}  // namespace relascope::core
