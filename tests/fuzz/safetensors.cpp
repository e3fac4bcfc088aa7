// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either a checked header or a SafetensorsError; what is accepted keeps its promises.
#include "files/safetensors.h"
#include "support/rooms.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto header = relascope::parseSafetensorsHeader({data, size}, size, "fuzz");
        std::uint64_t at = 0;
        for (const auto& t : header.tensors) {
            if (t.begin != at || t.end < t.begin || header.dataStart + t.end > size) std::abort();
            at = t.end;
        }
        if (header.dataStart + at != size) std::abort();
    } catch (const relascope::SafetensorsError&) {
    }
    return 0;
}
