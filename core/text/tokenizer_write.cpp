// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers of this program as a tokenizer.json.
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "text/byte_pair_tokenizer.h"
#include "text/character_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// tokenizer.json as HuggingFace's `tokenizers` reads it.

using Json = nlohmann::ordered_json;

std::string jsonText(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Everything except the vocabulary and the merges, which replace `vocabulary`: as values of the
// JSON library they would take seconds.
std::string framed(Json splitter, Json decoder, Json unknown, const Json& added,
                   const std::string& vocabulary, const std::string& merges) {
    const Json file = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", added},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", std::move(splitter)},
                       {"post_processor", nullptr},
                       {"decoder", std::move(decoder)},
                       {"model",
                        {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", std::move(unknown)},
                         {"continuing_subword_prefix", nullptr},
                         {"end_of_word_suffix", nullptr},
                         {"fuse_unk", false},
                         {"byte_fallback", false},
                         {"ignore_merges", false}}}};
    std::string text = file.dump(2);
    text.resize(text.rfind("\n  }"));  // the end of the model
    return text + ",\n    \"vocab\": {" + vocabulary + "\n    },\n    \"merges\": [" + merges +
           (merges.empty() ? "]" : "\n    ]") + "\n  }\n}\n";
}

std::string entry(const std::string& spelled, std::size_t id, const std::string& before) {
    return (before.empty() ? "\n      " : ",\n      ") + jsonText(spelled) + ": " +
           std::to_string(id);
}

std::string bytePairsJson(const BytePairTokenizer& tokenizer) {
    const auto& parts = tokenizer.parts();
    if (!parts.source.empty()) return parts.source;
    std::vector<std::string> spelled;
    for (const auto& piece : parts.pieces) spelled.push_back(spelledBytes(piece));
    Json added = Json::array();
    for (const auto id : parts.special) {
        auto& piece = spelled[static_cast<std::size_t>(id)];
        piece = parts.pieces[static_cast<std::size_t>(id)];
        added.push_back({{"id", id},
                         {"content", piece},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
    std::string vocabulary, merges;
    for (std::size_t id = 0; id < spelled.size(); ++id)
        if (!spelled[id].empty()) vocabulary += entry(spelled[id], id, vocabulary);
    for (const auto& merge : parts.pairs.merges())
        merges += (merges.empty() ? "\n      " : ",\n      ") +
                  jsonText(spelled[static_cast<std::size_t>(merge.left)] + " " +
                           spelled[static_cast<std::size_t>(merge.right)]);
    const Json bytes = {{"type", "ByteLevel"},
                        {"add_prefix_space", parts.prefixSpace},
                        {"trim_offsets", true},
                        {"use_regex", parts.splitsWords}};
    return framed(bytes, bytes, nullptr, added, vocabulary, merges);
}

std::string charactersJson(const CharacterTokenizer& tokenizer) {
    std::string vocabulary;
    const auto& pieces = tokenizer.pieces();
    for (std::size_t id = 0; id < pieces.size(); ++id)
        if (!pieces[id].empty()) vocabulary += entry(pieces[id], id, vocabulary);
    const std::string unknown = pieces[static_cast<std::size_t>(tokenizer.unknown())];
    return framed(nullptr, {{"type", "Fuse"}}, unknown, Json::array(), vocabulary, "");
}

}  // namespace

std::string tokenizerJson(const Tokenizer& tokenizer) {
    if (const auto* pairs = dynamic_cast<const BytePairTokenizer*>(&tokenizer))
        return bytePairsJson(*pairs);
    if (const auto* characters = dynamic_cast<const CharacterTokenizer*>(&tokenizer))
        return charactersJson(*characters);
    throw OptionError("tokenizer",
                      "'" + tokenizer.name() + "' cannot be written in the published format");
}

void writeTokenizer(const Tokenizer& tokenizer, const std::string& path) {
    writeTextFile(path, tokenizerJson(tokenizer));
}

}  // namespace relascope::core
