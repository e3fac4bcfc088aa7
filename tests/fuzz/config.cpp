// SPDX-License-Identifier: GPL-3.0-or-later
// Any text is either a model's options or an Error with a sentence.
#include <cstdlib>
#include <string>

#include "options/published_config.h"
#include "support/rooms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto model =
            relascope::modelFromPublishedConfig({reinterpret_cast<const char*>(data), size});
        model.problems();
    } catch (const relascope::Error& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
    return 0;
}
