// SPDX-License-Identifier: GPL-3.0-or-later
// The normalizer and the pre_tokenizer of a tokenizer.json, read into the steps of this program.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "text/text_normalizer.h"
#include "text/text_splitter.h"

namespace relascope::core {

/// Ends of sentences about a tokenizer that is not read.
extern const char* const kTokenizersRead;

/// The field "type" of a part of a tokenizer.json; "unknown" without one.
std::string typeOf(const nlohmann::json& part);

/// None for null. Throws FileError(path, ...) naming field and value.
TextNormalizer readNormalizer(const nlohmann::json& normalizer, const std::string& path);

struct ReadSplitter {
    std::vector<SplitStep> steps;  ///< none where ByteLevel is alone
    bool bytes = false;            ///< its parts are encoded byte by byte (ByteLevel)
    bool words = false;            ///< GPT-2's words, or any of the steps
    bool prefixSpace = false;      ///< a ByteLevel without steps puts a space first
};
/// None for null. Throws FileError(path, ...) naming field and value.
ReadSplitter readSplitter(const nlohmann::json& splitter, const std::string& path);

}  // namespace relascope::core
