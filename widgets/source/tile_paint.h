// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of the contents of a tile.
#pragma once

#include "widgets/source/tile_layout.h"

class QPainter;

namespace relascope::widgets {

/// Paints the picture, bars or text of an object; `inside` excludes the line of its number.
void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink);

}  // namespace relascope::widgets
