// SPDX-License-Identifier: GPL-3.0-or-later
// Masks of the objects of pictures: grey or indexed PNG, whose values are the objects' numbers
// (formats.md section 22).
#pragma once

#include <string>

#include "types/object_facts.h"

namespace relascope::datasets {

/// Reads a mask of 8 or 16 bits, or fewer, without its palette: 0 is the background, and 255 (of 16
/// bits 65535) becomes ObjectMask::kNotCounted. It has no objects yet. Throws FileError for colour
/// pictures, damaged and larger files.
ObjectMask readMaskFile(const std::string& path);

/// The mask of another size, each pixel with the number of the nearest one. [width, height]
ObjectMask scaledMask(const ObjectMask& mask, int width, int height);

}  // namespace relascope::datasets
