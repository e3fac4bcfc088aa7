// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures from files: PNG by libpng, JPEG by libjpeg-turbo, at most 64 megapixels.
#pragma once

#include <string>

#include "types/image.h"

namespace relascope::datasets {

/// RGB, 8 bits. Throws FileError naming the file and what is wrong; other formats are refused by
/// name.
Image readImageFile(const std::string& path);
/// Scales to the model's size (area averaging down, bilinear up) and channel count.
Image fitImage(const Image& image, int width, int height, int channels);

}  // namespace relascope::datasets
