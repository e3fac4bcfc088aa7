// SPDX-License-Identifier: GPL-3.0-or-later
// Masks of objects from annotations in the JSON form of COCO (cocodataset.org, "Data format").
#pragma once

#include <string>
#include <vector>

#include "types/object_facts.h"

namespace relascope::datasets {

/// The pictures of a file and the outlines of their objects.
struct CocoPictures {
    struct Outline {
        std::vector<std::vector<double>> polygons;  ///< x, y, x, y, ... in pixels
        std::vector<std::uint32_t> runs;  ///< in turn outside and inside, down the columns
        std::int32_t category = 0;        ///< number of the category in `about`
        bool counted = true;              ///< false: a crowd
    };
    struct Picture {
        std::string name;  ///< file_name
        std::string path;
        int width = 0, height = 0;
        std::vector<Outline> outlines;  ///< later ones lie above
    };
    MaskFacts about;  ///< one fact, the category
    std::vector<Picture> pictures;
};

/// The file of annotations of a folder: annotations.json, instances.json or the only
/// annotations/instances_*.json; of a path that ends in .json itself; empty: there is none.
std::string cocoFileOf(const std::string& path);

/// Reads a file of at most 256 MiB. Pictures are looked for beside the file, in the folder above
/// `annotations`, there in `images` and in the folder that the file is named for
/// (instances_val2017.json: val2017). Throws FileError naming the entry that does not fit.
CocoPictures readCocoFile(const std::string& path);

/// The mask of a picture: a pixel is inside where its middle is.
ObjectMask maskOf(const CocoPictures::Picture& picture);

/// Lengths of runs from the text that COCO's tools write: each in groups of five bits, from the
/// third on as the difference from the one before the last. Throws Error for other characters.
std::vector<std::uint32_t> cocoRuns(const std::string& text);

}  // namespace relascope::datasets
