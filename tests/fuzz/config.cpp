// SPDX-License-Identifier: GPL-3.0-or-later
// Any text is either a model's options or an Error with a sentence, as a config.json, and the same
// as a preprocessor_config.json, or as a config.json of timm.
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
    using relascope::ImageProcessor;
    const auto read = [](auto parse) {
        try {
            const ImageProcessor processor = parse();
            if (relascope::imageProcessorFrom(relascope::imageProcessorText(processor)) !=
                processor)
                std::abort();
            const auto size = relascope::preparedSize(processor, 52, 40);
            if (size.width < 1 || size.height < 1) std::abort();
        } catch (const relascope::Error& error) {
            if (std::string(error.what()).empty()) std::abort();
        }
    };
    const std::string text(reinterpret_cast<const char*>(data), size);
    read([&] { return relascope::imageProcessorOf(text, 32, 32); });
    read([&] { return relascope::timmImageProcessor(text); });
    return 0;
}
