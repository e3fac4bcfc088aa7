// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either rows as wide as the first line or a FileError.
#include <cstdlib>

#include "files/csv.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        relascope::CsvReader csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
        std::int64_t line = 0;
        while (csv.next()) {
            if (csv.fields().size() != csv.columns().size() || csv.line() <= line) std::abort();
            line = csv.line();
            for (std::size_t c = 0; c < csv.columns().size(); ++c) try {
                    csv.number(c);
                    csv.whole(c);
                } catch (const relascope::FileError&) {
                }
        }
    } catch (const relascope::FileError&) {
    }
    return 0;
}
