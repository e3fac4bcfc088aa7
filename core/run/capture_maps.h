// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of captured samples: values, or the factors that they are made from. Private to
// core/run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "types/image.h"
#include "types/map_cells.h"
#include "types/relation_map.h"

namespace relascope::core {

// Images as PNG files.

/// The bytes of a PNG file of an image with 3 channels (8 bits each, sRGB). Throws Error if libpng
/// cannot write it.
std::string pngBytes(const Image& image);

// The maps of captures as pictures for other programs: what the inspector shows of a layer, as one
// sheet for each kind of maps (formats.md section 15).

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

/// The maps of all samples of a capture, ready to be written, for each kind and layer (KEY is
/// "relation/0"):
///   values   KEY F32 [samples, maps, rows, columns]
///   factors  KEY/queries F32 [samples, maps, rows, width] and KEY/keys F32 [samples or 1, groups,
///            width, columns]; metadata activation_KEY, scale_KEY and, of masked ones, masked_KEY
///   symbols by position  metadata symbols_KEY "ROWS COLUMNS" or "ROWS COLUMNS OFFSET"
/// and metadata causal_KEY and library_rows_KEY.
class StoredMaps {
public:
    explicit StoredMaps(const std::vector<ProbeResult>& results);
    /// The tensors point into this object.
    void addTo(std::vector<TensorToWrite>& out, std::map<std::string, std::string>& metadata) const;

private:
    using Group = std::vector<const RelationMap*>;  ///< of one sample

    void add(const std::string& key, const std::vector<Group>& samples);
    void addFactors(const std::string& key, const std::vector<Group>& samples);
    void addValues(const std::string& key, const std::vector<Group>& samples);

    struct Tensor {
        std::string key;
        std::vector<std::int64_t> shape;
        std::vector<float> values;
    };
    std::deque<Tensor> m_tensors;
    std::map<std::string, std::string> m_metadata;
};

/// The maps of one sample, of every kind in `layers` layers, sorted. Throws FileError for a damaged
/// one.
std::vector<RelationMap> loadMaps(const SafetensorsFile& file, int layers, std::int64_t sample);

}  // namespace relascope::core
