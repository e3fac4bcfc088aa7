// SPDX-License-Identifier: GPL-3.0-or-later
// Our generator of pictures with coloured shapes and masks of them: does a shape occur twice, and
// is the relation of one pair that of another (relational match to sample; Lepori et al. 2024). A
// picture depends only on (seed, index) and is generated when it is read.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

struct ShapePicturesOptions {
    std::string task = "same-different";  ///< or "rmts"; with "-anywhere": off the grid of patches
    std::int64_t size = 1000;
    std::uint64_t seed = 0, epoch = 0;
    bool newKinds = false;  ///< shapes are of the kinds that are kept for testing
};

/// A shape in a picture.
struct PlacedShape {
    int colour = 0, shape = 0, x = 0, y = 0;  ///< x, y: place of the upper left corner
    int pair = -1;                            ///< pair of the shape in rmts, 0 or 1; -1: none
    bool sameKind(const PlacedShape& other) const {
        return colour == other.colour && shape == other.shape;
    }
};
struct ShapeScene {
    std::vector<PlacedShape> shapes;
    int label = 0;
};

/// Labels are balanced: one of two neighbouring indices is positive.
class ShapePictures : public core::ImageDataset {
public:
    static constexpr int kSide = 32, kShapeSide = 8, kColours = 6, kShapes = 6;

    /// Throws OptionError for an unknown task.
    explicit ShapePictures(ShapePicturesOptions options);
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override;
    const MaskFacts* maskFacts() const override { return &m_facts; }
    ObjectMask mask(std::int64_t index) const override;

    ShapeScene scene(std::int64_t index) const;

private:
    ShapePicturesOptions m_options;
    DatasetInfo m_info;
    MaskFacts m_facts;
    bool m_rmts = false, m_aligned = true;
    std::vector<std::pair<int, int>> m_kinds;  // colour and shape

    std::vector<std::pair<int, int>> drawKinds(SplitMix& random, std::size_t count) const;
    void place(SplitMix& random, ShapeScene& scene) const;
};

}  // namespace relascope::datasets
