// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/image_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostPixels = 16384;  // of a side, as preparedSize() allows

/// The number that is all of the text; 0: there is none.
std::int64_t sideOf(std::string_view text) {
    std::int64_t side = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, side);
    return error == std::errc() && rest == end && side > 0 ? side : 0;
}

void requirePatches(std::int64_t side, std::int64_t patch) {
    if (side % patch == 0 && side <= kMostPixels) return;
    if (side > kMostPixels)
        throw OptionError("--image-size", std::to_string(side) + " is beyond " +
                                              std::to_string(kMostPixels) + " pixels a side");
    const auto below = side / patch * patch;
    throw OptionError("--image-size",
                      std::to_string(side) + " is no multiple of the patch of " +
                          std::to_string(patch) + "; give " +
                          (below > 0 ? std::to_string(below) + " or " : std::string()) +
                          std::to_string(below + patch));
}

/// The processor that makes images of a size of those of another.
void takeSize(ImageProcessor& processor, int width, int height) {
    const auto made = preparedSize(processor);
    const auto scaled = [](int side, int to, int from) {
        return from > 0 ? static_cast<int>(std::lround(static_cast<double>(side) * to / from)) : to;
    };
    if (!processor.scales) processor.scales = true, processor.fit = ImageProcessor::Fit::Exact;
    if (processor.cropWidth == 0) {
        processor.width = width, processor.height = height;
        return;
    }
    // A cut that is larger than what is cut would be filled with black.
    processor.width = std::max(width, scaled(processor.width, width, made.width));
    processor.height = std::max(height, scaled(processor.height, height, made.height));
    processor.cropWidth = width, processor.cropHeight = height;
}

}  // namespace

std::string takeImageSize(ModelOptions& options, const std::string& size) {
    if (size.empty()) return {};
    auto* o = options.find<PublicImageOptions>();
    if (!o)
        throw OptionError("--image-size", "is for public models of images; this is a " +
                                              modelTitle(options) + ", whose images have one size");
    const auto cross = size.find('x');
    const std::string_view text = size;
    const auto width = sideOf(text.substr(0, cross)),
               height = cross == std::string::npos ? width : sideOf(text.substr(cross + 1));
    if (width == 0 || height == 0)
        throw OptionError("--image-size",
                          "'" + size.substr(0, 60) +
                              "' is no size; give pixels as 448, or 448x336: width x "
                              "height");
    requirePatches(width, o->patch_size.at(0));
    requirePatches(height, o->patch_size.at(1));
    if (!o->preprocessor.empty()) {
        auto processor = imageProcessorFrom(o->preprocessor);
        takeSize(processor, static_cast<int>(width), static_cast<int>(height));
        o->preprocessor = imageProcessorText(processor);
    }
    o->image_shape[1] = width, o->image_shape[2] = height;
    const auto grid = [](std::int64_t columns, std::int64_t rows) {
        return std::to_string(columns) + " x " + std::to_string(rows);
    };
    const bool learned = o->positions != "none" || o->place_bias != "none";
    if (!learned || (o->learnedColumns() == o->gridColumns() && o->learnedRows() == o->gridRows()))
        return {};
    return "positions are scaled from " + grid(o->learnedColumns(), o->learnedRows()) + " to " +
           grid(o->gridColumns(), o->gridRows()) + " patches";
}

}  // namespace relascope::core
