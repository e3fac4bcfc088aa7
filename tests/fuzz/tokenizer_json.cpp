// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes are either a tokenizer that is the same after writing, or a FileError.
#include "text/tokenizer_json.h"

#include <cstdlib>

#include "support/rooms.h"
#include "types/error.h"

namespace {

using namespace relascope;

void check(const TokenizerPtr& tokenizer, const std::string& text) {
    for (const auto id : tokenizer->encode(text))
        if (id < 0 || id >= tokenizer->size()) std::abort();
    const auto again = parseTokenizerJson(tokenizerJson(*tokenizer), "again.json");
    if (again->encode(text) != tokenizer->encode(text)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        check(parseTokenizerJson(text, "tokenizer.json"), text);
    } catch (const FileError&) {
    }
    // Few mutations keep all 256 bytes in a vocabulary: the merges alone, behind GPT-2's first 400.
    static const std::string few = [] {
        const std::string json = tokenizerJson(*gpt2Tokenizer());
        const auto start = json.find("\"vocab\": {") + 9;
        const std::string first = json.substr(start, json.find("\": 400,") - start);
        return first.substr(0, first.rfind(",\n")) + "}";
    }();
    try {
        check(parseVocabulary(few, "vocab.json", text, "merges.txt"), text);
    } catch (const FileError&) {
    }
    return 0;
}
