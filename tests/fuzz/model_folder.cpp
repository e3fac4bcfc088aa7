// SPDX-License-Identifier: GPL-3.0-or-later
// Any files of a folder as the hub has it are a model with its tensors, tokenizer and image
// processor, or an Error with a sentence. The input is the files' texts, one after another, each
// ended by a zero byte: config.json, model.safetensors.index.json, tokenizer.json,
// preprocessor_config.json, generation_config.json, and the bytes of a shard.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/source.h"
#include "model/public/family.h"
#include "options/image_processor.h"
#include "options/published_config.h"
#include "support/rooms.h"
#include "text/tokenizer.h"

namespace {

template <class Read>
void readsOrSays(Read read) {
    try {
        read();
    } catch (const relascope::Error& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace fs = std::filesystem;
    using namespace relascope;
    static const std::string folder = [] {
        std::string name = fs::temp_directory_path() / "fuzz-model-XXXXXX";
        if (!::mkdtemp(name.data())) std::abort();
        return name;
    }();
    constexpr std::array kFiles = {"config.json", "model.safetensors.index.json", "tokenizer.json",
                                   "preprocessor_config.json", "generation_config.json"};
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    std::string config, processor;
    for (const std::string file : kFiles) {
        const auto end = rest.find('\0');
        const auto text = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (file == kFiles[0]) config = text;
        if (file == kFiles[3]) processor = text;
        std::ofstream(folder + "/" + file, std::ios::binary) << text;
    }
    std::ofstream(folder + "/shard.safetensors", std::ios::binary) << rest;
    std::unique_ptr<CheckpointSource> source;
    readsOrSays([&] { source = CheckpointSource::open(folder); });
    readsOrSays([&] {
        const auto model = modelFromPublishedConfig(config);
        if (!model.problems().empty() || !core::familyOf(model) || !source) return;
        core::FamilyFile(model, source->tensors()).problems();
    });
    readsOrSays([&] {
        const auto tokenizer = core::tokenizerBeside(folder, 0);
        if (!tokenizer) return;
        for (const auto id : tokenizer->encodeTyped("It's 12 \xE4\xB8\xAD<|endoftext|>\n"))
            if (id < 0 || id >= tokenizer->size()) std::abort();
    });
    readsOrSays([&] { imageProcessorOf(processor, 32, 32); });
    readsOrSays([&] { core::endTokensIn(folder); });
    return 0;
}
