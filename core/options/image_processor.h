// SPDX-License-Identifier: GPL-3.0-or-later
// How a picture becomes the pixels of an image model of a public family: preprocessor_config.json
// (version 4.57 of the `transformers` package), or config.json of `timm` (1.0).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "types/image.h"

namespace relascope::core {

struct ImageProcessor {
    enum class Filter { Nearest = 0, Bilinear = 2, Bicubic = 3 };  ///< numbers of `resample`
    /// What becomes of the proportions of a picture that is scaled.
    enum class Fit {
        Exact,   ///< it gets the size `height` x `width`
        Cover,   ///< it keeps them, and is as small as covers that size
        Patches  ///< it keeps them but for whole patches, of which it has as many as are allowed
    };

    int height = 0, width = 0;  ///< size that pictures are scaled to; 0: not scaled
    bool scales = true;         ///< else pictures have that size already
    Fit fit = Fit::Exact;
    int patch = 0, mostPatches = 0;  ///< with Fit::Patches, in place of height and width
    Filter filter = Filter::Bilinear;
    int cropHeight = 0, cropWidth = 0;  ///< the middle that is kept; 0: all
    /// Half a pixel before the middle is rounded to even numbers, not down.
    bool halvesToEven = false;
    std::vector<double> mean, deviation;  ///< statistics of pixels in 0..1, a number a channel

    bool operator==(const ImageProcessor&) const = default;
};

/// Parses a preprocessor_config.json for a model of RGB images. `size`: width and height of the
/// model's images, for files that leave out theirs. Throws OptionError naming key and value.
ImageProcessor imageProcessorOf(const std::string& text, int width, int height);
/// Parses the `pretrained_cfg` of a config.json of `timm`, of which old files have the keys outside
/// it. Throws OptionError naming key and value.
ImageProcessor timmImageProcessor(const std::string& text);
/// The processor without a file: scales bilinearly, mean and deviation 0.5.
ImageProcessor usualImageProcessor(int width, int height, int channels);

/// A processor as one line of text, empty for none, and back. Throws OptionError for other texts.
std::string imageProcessorText(const ImageProcessor& processor);
ImageProcessor imageProcessorFrom(const std::string& text);

/// Width and height in pixels.
struct PreparedSize {
    int width = 0, height = 0;
    bool operator==(const PreparedSize&) const = default;
};
/// The size of what prepared() makes of a picture of `width` x `height` pixels, which is the size
/// that the model reads, whatever its configuration says. Throws Error for a picture that would
/// get more than 16384 pixels wide or high.
PreparedSize preparedSize(const ImageProcessor& processor, int width, int height);
/// The size that every picture gets; zeros where it depends on the picture.
PreparedSize preparedSize(const ImageProcessor& processor);

/// The picture scaled and cut, 8 bits a channel: with antialiasing, in two passes that round to 8
/// bits each, as Pillow's resize(). Throws Error as preparedSize().
Image prepared(const Image& image, const ImageProcessor& processor);

}  // namespace relascope::core
