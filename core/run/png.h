// SPDX-License-Identifier: GPL-3.0-or-later
// Images as PNG files.
#pragma once

#include <string>

#include "types/image.h"

namespace relascope::core {

/// The bytes of a PNG file of an image with 3 channels (8 bits each, sRGB). Throws Error if libpng
/// cannot write it.
std::string pngBytes(const Image& image);

}  // namespace relascope::core
