// SPDX-License-Identifier: GPL-3.0-or-later
// What stands on a tile.
#pragma once

#include "widgets/source/tile_layout.h"

class QPainter;

namespace relascope::widgets {

/// An object's picture, bars or word; the line of its number is not part of `inside`.
void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink);

}  // namespace relascope::widgets
