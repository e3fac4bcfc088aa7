// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.json of all bytes, "the" and " the".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "text/words.h"

namespace relascope::testing_support {

/// Bytes are their own ids; "th", "the", " the" and "<|endoftext|>" are 256 to 259.
inline nlohmann::json smallVocabulary() {
    nlohmann::json vocabulary;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary[core::spelledBytes(std::string(1, static_cast<char>(byte)))] = byte;
    vocabulary["th"] = 256, vocabulary["the"] = 257, vocabulary["Ġthe"] = 258;
    vocabulary["<|endoftext|>"] = 259;
    return vocabulary;
}

inline nlohmann::json smallTokenizer() {
    return {
        {"version", "1.0"},
        {"added_tokens", {{{"id", 259}, {"content", "<|endoftext|>"}, {"special", true}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer",
         {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
        {"model",
         {{"type", "BPE"}, {"vocab", smallVocabulary()}, {"merges", {"t h", "th e", "Ġ the"}}}}};
}

}  // namespace relascope::testing_support
