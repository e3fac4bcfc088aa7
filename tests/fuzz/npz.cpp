// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either labelled images within their bounds or a FileError; the npy header alone as
// well.
#include <cstdlib>
#include <vector>

#include "datasets/readers/npz.h"
#include "files/npy.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        relascope::parseNpyHeader({data, size}, "fuzz.npy");
    } catch (const relascope::FileError&) {
    }
    try {
        const auto table = relascope::readNpzImages({data, size}, "fuzz.npz");
        std::vector<std::uint8_t> pixels(table->pixelBytes());
        for (const std::int64_t i : {std::int64_t{0}, table->size() - 1})
            if (table->read(i, pixels) < 0) std::abort();
    } catch (const relascope::FileError&) {
    }
    return 0;
}
