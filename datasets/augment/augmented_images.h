// SPDX-License-Identifier: GPL-3.0-or-later
// Training images drawn anew in every epoch (DAT C.3).
#pragma once

#include <array>
#include <memory>

#include "data/dataset.h"
#include "datasets/augment/image_operations.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

/// The image moved by up to 4 pixels either way, black where it is uncovered (a random crop of the
/// image with a border of 4), and mirrored left to right half of the time.
void cropAndFlip(Image& image, SplitMix& random);

/// One step of a policy: with what probability, and which tenth of the operation's range.
struct PolicyStep {
    ImageOperation operation;
    double probability;
    int level;  ///< 0 .. 9
};
/// The policy learned on CIFAR-10 (Cubuk et al. 2019, table 7): 25 pairs of steps.
const std::array<std::array<PolicyStep, 2>, 25>& cifarPolicy();
/// The amount of a step on an image of that width: shear to 0.3, translation to 150/331 of the
/// image, rotation to 30 degrees, solarize from 256 down to 0, posterize from 8 bits down to 4, and
/// 0.9 to either side of 1 for the factors; `positive` chooses the side where there are two.
double amountOf(const PolicyStep& step, int side, bool positive);
/// Draws one of the pairs and applies its steps.
void autoAugment(Image& image, SplitMix& random);

enum class Augmentation { CropFlip, AutoAugment };

/// Images after crop and flip, and AutoAugment after them where that is chosen. What becomes of an
/// image depends on (seed, epoch, index) alone; labels stay.
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
