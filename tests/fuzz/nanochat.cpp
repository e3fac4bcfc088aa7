// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either a tokenizer or a FileError, as a tokenizer.pkl, and either a model's options
// or an Error with a sentence, as a meta file of nanochat.
#include <cstdlib>
#include <string>

#include "checkpoint/nanochat_files.h"
#include "options/published_config.h"
#include "support/rooms.h"
#include "text/tokenizer_pickle.h"
#include "types/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    try {
        const auto tokenizer = core::parseTokenizerPickle({data, data + size}, "tokenizer.pkl");
        for (const auto id : tokenizer->encodeTyped("It's 12 \xE4\xB8\xAD<|bos|>\n"))
            if (id < 0 || id >= tokenizer->size()) std::abort();
    } catch (const FileError& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
    try {
        const auto config =
            core::nanochatConfigIn({reinterpret_cast<const char*>(data), size}, "meta_000001.json");
        if (core::modelFromPublishedConfig(config).problems().size() > 0) std::abort();
    } catch (const Error& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
    return 0;
}
