// SPDX-License-Identifier: GPL-3.0-or-later
// Any text is either a model's options or an Error with a sentence, as a config.json, and the same
// as a preprocessor_config.json.
#include <cstdlib>
#include <string>

#include "options/image_processor.h"
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
    try {
        const auto processor =
            relascope::imageProcessorOf({reinterpret_cast<const char*>(data), size}, 32, 32);
        if (relascope::imageProcessorFrom(relascope::imageProcessorText(processor)) != processor)
            std::abort();
    } catch (const relascope::Error& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
    return 0;
}
