// SPDX-License-Identifier: GPL-3.0-or-later
// Another size of the images that a public model reads. Does not include torch.
#pragma once

#include <string>

#include "types/model_options.h"

namespace relascope::core {

/// Lets a model read images of `size`, "448" or "448x336" (width x height): positions are scaled
/// from the grid that they were learned for, and its preprocessor makes pictures of that size, of
/// which it cuts the same share away. Returns what is to be said of it: "positions are scaled from
/// 37 x 37 to 32 x 24 patches". Empty `size`: nothing changes. Throws OptionError("image_size",
/// ...) for a text that is no size, a side that is no multiple of the patch, and other models.
std::string takeImageSize(ModelOptions& options, const std::string& size);

}  // namespace relascope::core
