// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/png.h"

#include <png.h>

#include "types/error.h"

namespace relascope::core {

std::string pngBytes(const Image& image) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = PNG_FORMAT_RGB;
    png.flags = PNG_IMAGE_FLAG_FAST;  // of enlarged maps three times as fast, and as small
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);  // asking for the size would write it
    std::string bytes(size, '\0');
    if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr))
        throw Error(std::string("an image could not be written as PNG: ") + png.message);
    bytes.resize(size);
    return bytes;
}

}  // namespace relascope::core
