// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures from files: PNG by libpng, JPEG by libjpeg-turbo.
#pragma once

#include <string>

#include "types/error.h"
#include "types/image.h"

namespace relascope::datasets {

/// Reads a picture of at most 64 megapixels as RGB, 8 bits: the pixels of Pillow's
/// ImageOps.exif_transpose(picture).convert("RGB"), which torchvision and transformers read as
/// well. So transparency is left out and not laid over a background, colour chunks and profiles
/// change nothing, CMYK is Adobe's (inverted), the first frame of animations is read, and EXIF's or
/// XMP's orientation is followed. 16-bit values give their upper byte, also in grey pictures, which
/// Pillow cuts off at 255. Throws FileError naming the file and the fault; other formats are
/// refused by name. The text before a ':' or ';' is the same for all files with that fault.
Image readImageFile(const std::string& path);

/// Reads a picture from bytes in memory; `path` is for messages.
Image readImageBytes(const std::string& bytes, const std::string& path);

}  // namespace relascope::datasets
