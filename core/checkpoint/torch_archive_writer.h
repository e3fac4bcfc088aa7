// SPDX-License-Identifier: GPL-3.0-or-later
// State dictionaries as .pt files that torch.load(weights_only=True) opens.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "types/checkpoint_info.h"
#include "types/error.h"

namespace relascope::core {

using ByteSink = std::function<void(std::span<const std::uint8_t>)>;

/// Writes the tensors under their names, those with `sameAs` as second names of one storage: {name:
/// tensor, ...}, or {'config': {...}, 'model': {name: tensor, ...}} when `config` (a JSON object)
/// is not empty. `produce` is called for each tensor that has its own bytes, in order, and passes
/// them row-major and in pieces to the sink. Writes everything or nothing. Throws FileError,
/// DiskFull and what `produce` throws.
void writeTorchArchive(const std::string& path, const std::vector<StoredTensor>& tensors,
                       const std::string& config,
                       const std::function<void(const StoredTensor&, const ByteSink&)>& produce);

}  // namespace relascope::core
