// SPDX-License-Identifier: GPL-3.0-or-later
// A picture for an object that is a vector, for display.
#pragma once

#include <string>

#include "types/image.h"

namespace relascope::datasets {

/// Sides of a tile in pixels.
inline constexpr int kTileSide = 28;

/// [28, 28, 3]: one of eight hues that are distinguishable for colour-blind users (Okabe and Ito
/// 2008; `hue` counts round), with up to two characters in black or white upon it.
Image objectTile(int hue, const std::string& characters);

}  // namespace relascope::datasets
