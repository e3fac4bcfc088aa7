// SPDX-License-Identifier: GPL-3.0-or-later
// Two files of kept weights, the second one perhaps the difference to the first: u32 length of the
// first, its bytes, those of the second.
#include <algorithm>
#include <cstdlib>

#include "checkpoint/kept_file.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    if (size < 4) return 0;
    const auto length = std::min<std::uint64_t>(littleEndian(data, 4), size - 4);
    const std::span<const std::uint8_t> all(data + 4, size - 4);
    try {
        const KeptFile first(memoryBytes(all.first(length), "first"), 1);
        WeightValues values;
        if (first.base() < 0) first.read(values);
        const KeptFile second(memoryBytes(all.subspan(length), "second"), 2);
        second.read(values);
        // What is accepted keeps its promises.
        if (values.bytes() != second.valueBytes()) std::abort();
    } catch (const FileError&) {
    }
    return 0;
}
