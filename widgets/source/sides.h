// SPDX-License-Identifier: GPL-3.0-or-later
// What stands along the rows and columns of a map, whatever is looked at: patches, tokens, vectors.
#pragma once

#include <QString>
#include <vector>

#include "types/relation_map.h"
#include "widgets/source/patches.h"
#include "widgets/source/tile_view.h"

namespace relascope::widgets {

/// "layer 2", "decoder 1 cross"; numbered where the result has no name.
QString layerName(const ProbeResult& result, int layer);
/// The side along the rows (columns) of a layer's maps, an index of ProbeResult::sides; 0 where
/// the result does not say.
int rowSide(const ProbeResult& result, int layer);
int columnSide(const ProbeResult& result, int layer);
/// Whether the side is the patches (and class token) of the image.
bool isPatchSide(const ProbeResult& result, int side);
/// The text whose pieces stand along the side; nullptr where none does.
const ProbeSequence* textAlong(const ProbeResult& result, int side);
/// How many objects stand along the side; 0 when the result does not say.
int sideSize(const ProbeResult& result, int side);
/// One of its objects: "target", "token"; "token" where the side has no name.
QString sideWord(const ProbeResult& result, int side);
/// In a sentence: "patch (0, 1)", "class token", "target 3 '7'", "E1", "token 39 “ball”".
QString objectName(const ProbeResult& result, int side, int index);
/// On an axis: "(0,1)", "cls", "7", "E1".
QString objectLabel(const ProbeResult& result, int side, int index);
/// The marks of an axis with `count` objects.
std::vector<AxisToken> sideTokens(const ProbeResult& result, int side, int count);
/// The objects of a side as tiles.
TileGroup sideTiles(const ProbeResult& result, int side);
/// Fills a view with the objects that receive and send, those that are patches left out: PatchView
/// shows them. `columns` is -1 where no objects send.
void fillTiles(TileView& tiles, const ProbeResult& result, int rows, int columns);

}  // namespace relascope::widgets
