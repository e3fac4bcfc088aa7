// SPDX-License-Identifier: GPL-3.0-or-later
// The image operations of AutoAugment (Cubuk et al. 2019, table 6), as the Python Imaging Library
// defines them: on bytes, for each channel, results rounded down.
#pragma once

#include "types/image.h"

namespace relascope::datasets {

enum class ImageOperation {
    ShearX,        ///< by a factor: x moves by amount * y
    ShearY,        ///< y moves by amount * x
    TranslateX,    ///< by pixels, to the left when positive
    TranslateY,    ///< by pixels, upwards when positive
    Rotate,        ///< by degrees about the centre, counter-clockwise
    AutoContrast,  ///< stretches each channel to 0 .. 255
    Invert,        ///< 255 - x
    Equalize,      ///< equalises the histogram of each channel
    Solarize,      ///< inverts what is not below the amount
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

}  // namespace relascope::datasets
