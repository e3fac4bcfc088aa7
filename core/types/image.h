// SPDX-License-Identifier: GPL-3.0-or-later
// An image as bytes, the form in which data, models and widgets exchange images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace relascope {

/// 8-bit image, interleaved [height, width, channels] (HWC, row-major, top row first), 1 or 3
/// channels (grey or RGB).
struct Image {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::vector<std::uint8_t> pixels;

    bool empty() const { return pixels.empty(); }
    std::size_t index(int row, int column, int channel) const {
        return (static_cast<std::size_t>(row) * width + column) * channels + channel;
    }
    bool operator==(const Image&) const = default;
};

}  // namespace relascope
