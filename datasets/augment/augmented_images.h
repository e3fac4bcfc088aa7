// SPDX-License-Identifier: GPL-3.0-or-later
// Data augmentation of training images (DAT C.3).
#pragma once

#include <array>
#include <memory>

#include "data/dataset.h"
#include "datasets/augment/image_operations.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

/// The image shifted by up to 4 pixels in each direction, with black in uncovered areas (a random
/// crop of the image with a border of 4), and flipped horizontally with probability 1/2.
void cropAndFlip(Image& image, SplitMix& random);

/// One step of a policy: its probability, and its magnitude in tenths of the range of the
/// operation.
struct PolicyStep {
    ImageOperation operation;
    double probability;
    int level;  ///< 0 .. 9
};
/// The policy learned on CIFAR-10 (Cubuk et al. 2019, table 7): 25 pairs of steps.
const std::array<std::array<PolicyStep, 2>, 25>& cifarPolicy();
/// The magnitude of a step on an image of that width: shear to 0.3, translation to 150/331 of the
/// image, rotation to 30 degrees, solarize from 256 down to 0, posterize from 8 bits down to 4, and
/// 0.9 to either side of 1 for the factors; `positive` selects the sign, if there is one.
double amountOf(const PolicyStep& step, int side, bool positive);
/// Draws one of the pairs and applies its steps.
void autoAugment(Image& image, SplitMix& random);

enum class Augmentation { CropFlip, AutoAugment };

/// Images after crop and flip, and optionally AutoAugment after them. The result depends only on
/// (seed, epoch, index); labels are unchanged.
class AugmentedImages : public core::ImageDataset {
public:
    AugmentedImages(core::ImageDatasetPtr images, Augmentation how, std::uint64_t seed,
                    std::int64_t epoch);
    const DatasetInfo& info() const override { return m_images->info(); }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override;

private:
    core::ImageDatasetPtr m_images;
    Augmentation m_how;
    std::uint64_t m_seed;
};

}  // namespace relascope::datasets
