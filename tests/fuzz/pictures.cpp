// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either a picture of RGB within its bounds or a FileError.
#include <cstdlib>

#include "datasets/readers/picture_file.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto image = relascope::readImageBytes(
            std::string(reinterpret_cast<const char*>(data), size), "fuzz.png");
        if (image.width < 1 || image.height < 1 || image.channels != 3 ||
            image.pixels.size() !=
                static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3)
            std::abort();
    } catch (const relascope::FileError&) {
    }
    return 0;
}
