// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either a tokenizer that is the same after writing, or a FileError: as a
// tokenizer.json, and as the files of a folder.
#include "text/tokenizer_json.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/rooms.h"
#include "text/tokenizer_folder.h"
#include "types/error.h"

namespace {

using namespace relascope;
using nlohmann::json;

void check(const TokenizerPtr& tokenizer, const std::string& text) {
    const auto ids = tokenizer->encodeTyped(text);
    for (const auto id : ids)
        if (id < 0 || id >= tokenizer->size()) std::abort();
    const auto again = parseTokenizerJson(tokenizerJson(*tokenizer), "again.json");
    if (again->encodeTyped(text) != ids || again->fingerprint() != tokenizer->fingerprint())
        std::abort();
    if (again->encode(text) != tokenizer->encode(text)) std::abort();
    if (again->decode(ids) != tokenizer->decode(ids)) std::abort();
}

void readsOrSays(const std::function<void()>& read) {
    try {
        read();
    } catch (const FileError& error) {
        if (std::string(error.what()).empty()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    readsOrSays([&] { check(parseTokenizerJson(text, "tokenizer.json"), text); });

    if (text.find('\0') == std::string::npos) return 0;

    // Few mutations keep all 256 bytes in a vocabulary: the rest around GPT-2's first 400.
    static const json few = [] {
        auto file = json::parse(tokenizerJson(*gpt2Tokenizer()));
        json vocabulary = json::object();
        for (const auto& [piece, id] : file["model"]["vocab"].items())
            if (id < 400) vocabulary[piece] = id;
        file["model"]["vocab"] = vocabulary;
        file["model"]["merges"].get_ref<json::array_t&>().resize(144);
        file["added_tokens"] = json::array();
        return file;
    }();
    std::string_view rest = text;
    const auto next = [&] {
        const auto end = rest.find('\0');
        const auto part = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        return std::string(part);
    };
    auto file = few;
    for (const char* part : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
        if (auto value = json::parse(next(), nullptr, false); !value.is_discarded())
            file[part] = std::move(value);
    const std::string settings = next(), special = next(), added = next(), config = next();
    TokenizerFolder folder;
    if (!settings.empty()) folder.settings = {"tokenizer_config.json", settings};
    if (!special.empty()) folder.specialTokens = {"special_tokens_map.json", special};
    if (!added.empty()) folder.addedTokens = {"added_tokens.json", added};
    if (!config.empty()) folder.model = {"config.json", config};
    const std::string typed(rest);
    static const std::string vocabulary = few["model"]["vocab"].dump();
    auto pair = folder;
    pair.vocabulary = {"vocab.json", vocabulary};
    pair.merges = {"merges.txt", typed};
    readsOrSays([&] { check(tokenizerOf(pair), typed); });
    auto lines = folder;
    lines.lines = {"vocab.txt", "[UNK]\n" + typed};
    readsOrSays([&] { check(tokenizerOf(lines), typed); });
    folder.tokenizer = {"tokenizer.json",
                        file.dump(-1, ' ', false, json::error_handler_t::replace)};
    readsOrSays([&] { check(tokenizerOf(folder), typed); });
    return 0;
}
