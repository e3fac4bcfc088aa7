// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of captures as pictures for other programs: what the inspector shows of a layer, as one
// sheet for each kind of maps (formats.md section 15).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "types/image.h"
#include "types/map_cells.h"

namespace relascope::core {

/// Bounds of the pictures: sheets of a capture, maps of a sheet, and cells of a capture in all its
/// sheets, which larger maps are pooled to.
constexpr int kMostSheets = 48, kMostSheetMaps = 64;
constexpr std::int64_t kMostSheetCells = 3 << 20;
/// A map has at most this many cells along its longer side.
constexpr int kLongestSide = 512;
/// Smaller maps are enlarged by whole numbers to about this many pixels; of more than 16 maps to
/// half of it.
constexpr int kLeastSide = 200;
constexpr int kSheetGap = 8;  ///< pixels between maps

/// All maps of one kind in a layer for one input, from the upper left in rows.
struct MapSheet {
    std::string name;   ///< "relations/layer 2/validation 0"
    std::string about;  ///< what the colours say, in a few sentences
    Limits limits;      ///< the values at the ends of the colours
    int maps = 0;       ///< of the layer; at most kMostSheetMaps are drawn
    Image image;        ///< RGB
};

/// One capture, read when it is drawn, an input at a time.
class CaptureSheets {
public:
    /// `folder` holds the captures of a run. Throws FileError for a damaged file, as draw() does.
    CaptureSheets(std::string folder, std::int64_t step);

    int sheets() const;   ///< that are drawn: those of the first inputs
    int leftOut() const;  ///< that are not
    /// Cells that are drawn, at most kMostSheetCells.
    std::int64_t cells() const { return m_cells; }
    /// Calls `visit` with each sheet until it returns false.
    void draw(const std::function<bool(const MapSheet&)>& visit) const;

private:
    /// The maps of one kind in a layer.
    struct Group {
        MapKind kind;
        int layer, maps, rows, columns;
    };
    MapSheet sheet(const ProbeResult& result, const Group& group, std::int64_t sample) const;

    std::string m_folder;
    std::int64_t m_step, m_samples, m_cells = 0;
    std::vector<Group> m_groups;
    int m_side = kLongestSide;  ///< of a map in a sheet, in cells
};

/// The ends of the colours of maps of one kind that share a scale, as the inspector chooses them.
Limits sharedLimits(const std::vector<const RelationMap*>& maps);

}  // namespace relascope::core
