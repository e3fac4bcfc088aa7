// SPDX-License-Identifier: GPL-3.0-or-later
// Data augmentation of training images (DAT C.3).
#pragma once

#include <array>
#include <memory>

#include "data/dataset.h"
#include "datasets/generators/random.h"
#include "types/image.h"

namespace relascope::datasets {

// The image operations of AutoAugment (Cubuk et al. 2019, table 6), as the Python Imaging Library
// defines them: on bytes, for each channel, results rounded down.

enum class ImageOperation {
    ShearX,        ///< by a factor: x moves by amount * y
    ShearY,        ///< y moves by amount * x
    TranslateX,    ///< by pixels, to the left when positive
    TranslateY,    ///< by pixels, upwards when positive
    Rotate,        ///< by degrees about the centre, counter-clockwise
    AutoContrast,  ///< stretches each channel to 0 .. 255
    Invert,        ///< 255 - x
    Equalize,      ///< equalises the histogram of each channel
    Solarize,      ///< inverts values that are not below the amount
    Posterize,     ///< keeps that many high bits
    Contrast,      ///< by a factor, about the mean of the grey image
    Color,         ///< by a factor, about each pixel's grey; leaves grey images as they are
    Brightness,    ///< by a factor
    Sharpness      ///< by a factor, about the image smoothed; the border stays
};

/// Applies the operation in place to an image of 1 or 3 channels. Uncovered areas are mid grey
/// (128); positions are rounded to the nearest pixel. Operations without an amount ignore it.
void applyOperation(Image& image, ImageOperation operation, double amount);

/// Grey of a pixel by Rec. 601, as the operations use it.
std::uint8_t greyOf(const std::uint8_t* rgb);

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
/// The amount of a step on an image `side` pixels wide: shear to 0.3, translation to 150/331 of the
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
