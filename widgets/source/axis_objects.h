// SPDX-License-Identifier: GPL-3.0-or-later
// The objects along the rows and columns of a map: patches, tokens or vectors.
#pragma once

#include <vector>

#include <QString>

#include "types/map_cells.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/tile_view.h"

namespace relascope::widgets {

/// "layer 2", "decoder 1 cross"; numbered if the result has no name.
QString layerName(const ProbeResult& result, int layer);
/// Whether the side is the patches (and class token) of the image.
bool isPatchSide(const ProbeResult& result, int side);
/// The text along the side; nullptr if it is not a text.
const ProbeSequence* textAlong(const ProbeResult& result, int side);
/// The number of objects along the side; 0 if unknown.
int sideSize(const ProbeResult& result, int side);
/// The noun for its objects: "target", "token"; "token" if the side has no name.
QString sideWord(const ProbeResult& result, int side);
/// In a sentence: "patch (0, 1)", "class token", "target 3 '7'", "E1", "token 39 “ball”".
QString objectName(const ProbeResult& result, int side, int index);
/// On an axis: "(0,1)", "cls", "7", "E1".
QString objectLabel(const ProbeResult& result, int side, int index);
/// The marks of an axis with `count` objects.
std::vector<AxisToken> sideTokens(const ProbeResult& result, int side, int count);
/// The objects of a side as tiles.
TileGroup sideTiles(const ProbeResult& result, int side);
/// Fills a view with receivers and senders, without image patches, which PatchView shows. `columns`
/// is -1 if the senders are not objects.
void fillTiles(TileView& tiles, const ProbeResult& result, int rows, int columns);

}  // namespace relascope::widgets
