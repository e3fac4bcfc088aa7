// SPDX-License-Identifier: GPL-3.0-or-later
// Compares origins, contrasts and dictionaries with stored ones (golden.md).
#pragma once

#include <string>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// A folder with why.json ("format": "relascope-why/1"), whose queries name maps and cells of the
/// model in the folder that it names, in `models` (empty: the folder two levels up), and with
/// io.safetensors, the terms of each. Terms, groups and tokens are held within 2e-5 plus 2e-5 of
/// the largest number of their tensor, shares within 1e-4, pictures of components within 1e-3 of
/// their largest number, and the parts by their names. Throws FileError if the folder
/// is not of this form.
VerifyReport verifyWhy(const std::string& folder, const std::string& device,
                       const std::string& models);

}  // namespace relascope::core
