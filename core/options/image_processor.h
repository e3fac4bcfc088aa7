// SPDX-License-Identifier: GPL-3.0-or-later
// How a picture becomes the pixels of an image classifier of a public family:
// preprocessor_config.json (version 4.57 of the `transformers` package).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "types/image.h"

namespace relascope::core {

struct ImageProcessor {
    enum class Filter { Nearest = 0, Bilinear = 2, Bicubic = 3 };  ///< numbers of `resample`

    int height = 0, width = 0;  ///< size that pictures are scaled to; 0: not scaled
    bool scales = true;         ///< else pictures have that size already
    Filter filter = Filter::Bilinear;
    int cropHeight = 0, cropWidth = 0;    ///< the middle that is kept; 0: all
    std::vector<double> mean, deviation;  ///< statistics of pixels in 0..1, a number a channel

    bool operator==(const ImageProcessor&) const = default;
};

/// Parses a preprocessor_config.json for a model of RGB images. `size`: width and height of the
/// model's images, for files that leave out theirs. Throws OptionError naming key and value.
ImageProcessor imageProcessorOf(const std::string& text, int width, int height);
/// The processor without a file: scales bilinearly, mean and deviation 0.5.
ImageProcessor usualImageProcessor(int width, int height, int channels);

/// A processor as one line of text, empty for none, and back. Throws OptionError for other texts.
std::string imageProcessorText(const ImageProcessor& processor);
ImageProcessor imageProcessorFrom(const std::string& text);

/// The picture scaled and cut, 8 bits a channel: with antialiasing, in two passes that round to 8
/// bits each, as Pillow's resize().
Image prepared(const Image& image, const ImageProcessor& processor);

}  // namespace relascope::core
