// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers by name, file or checkpoint.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "types/error.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

// The largest published vocabularies take some 30 MB.
constexpr std::uint64_t kMostBytes = 64u << 20;

bool isFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

// The file names of GPT-2 in addition to those of the library.
fs::path mergesBeside(const fs::path& vocabulary) {
    for (const char* name : {"merges.txt", "vocab.bpe"})
        if (isFile(vocabulary.parent_path() / name)) return vocabulary.parent_path() / name;
    return {};
}

fs::path vocabularyIn(const fs::path& folder) {
    for (const char* name : {"vocab.json", "encoder.json"})
        if (isFile(folder / name) && !mergesBeside(folder / name).empty()) return folder / name;
    return {};
}

TokenizerPtr openPair(const fs::path& vocabulary) {
    const fs::path merges = mergesBeside(vocabulary);
    if (merges.empty())
        throw FileError(
            vocabulary.string(),
            "needs its merges.txt in the same folder; put it there, or give a tokenizer.json");
    return parseVocabulary(readTextFile(vocabulary.string(), kMostBytes), vocabulary.string(),
                           readTextFile(merges.string(), kMostBytes), merges.string());
}

// The tokenizer in a folder; nullptr if there is none.
TokenizerPtr openIn(const fs::path& folder) {
    if (const auto file = folder / "tokenizer.json"; isFile(file))
        return parseTokenizerJson(readTextFile(file.string(), kMostBytes), file.string());
    if (const auto vocabulary = vocabularyIn(folder); !vocabulary.empty())
        return openPair(vocabulary);
    return nullptr;
}

}  // namespace

TokenizerPtr openTokenizer(const std::string& nameOrPath) {
    if (nameOrPath == "gpt2") return gpt2Tokenizer();
    if (nameOrPath == "characters")
        throw OptionError(
            "tokenizer",
            "'characters' is built from a text; give gpt2 or the tokenizer.json of a run");
    const fs::path path = nameOrPath;
    std::error_code ignored;
    if (nameOrPath.empty() || !fs::exists(path, ignored))
        throw OptionError("tokenizer", "'" + nameOrPath +
                                           "' is not gpt2, characters or a file; give a "
                                           "tokenizer.json, a vocab.json or a folder with one");
    if (fs::is_directory(path, ignored)) {
        if (auto found = openIn(path)) return found;
        throw FileError(
            nameOrPath,
            isFile(path / "tokenizer.model")
                ? "contains a SentencePiece model, which is not supported; convert it to a "
                  "tokenizer.json of byte-level BPE, or choose gpt2"
                : "contains neither a tokenizer.json nor a vocab.json with its merges.txt");
    }
    if (path.extension() == ".model")
        throw FileError(nameOrPath,
                        "is a SentencePiece model, which is not supported; give a tokenizer.json "
                        "of byte-level BPE, or choose gpt2");
    const std::string text = readTextFile(nameOrPath, kMostBytes);
    // A vocab.json maps pieces to ids; only a tokenizer.json has a model.
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto model = json.is_object() ? json.find("model") : json.end();
    if (json.is_object() && (model == json.end() || model->is_number())) return openPair(path);
    return parseTokenizerJson(text, nameOrPath);
}

TokenizerPtr tokenizerBeside(const std::string& path, std::int64_t vocabulary) {
    std::error_code ignored;
    const fs::path folder =
        fs::is_directory(path, ignored) ? fs::path(path) : fs::path(path).parent_path();
    if (auto found = openIn(folder)) return found;
    // A run keeps one tokenizer for all its checkpoints/step-N.
    const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    if (whole.parent_path().filename() == "checkpoints")
        if (auto found = openIn(whole.parent_path().parent_path())) return found;
    return vocabulary == 50257 || vocabulary == 50304 ? gpt2Tokenizer() : nullptr;
}

std::vector<std::int64_t> endTokensIn(const std::string& folder) {
    const auto path = fs::path(folder) / "generation_config.json";
    if (!isFile(path)) return {};
    const auto json = nlohmann::json::parse(readTextFile(path.string(), 1u << 20), nullptr, false);
    std::vector<std::int64_t> ends;
    const auto add = [&ends](const nlohmann::json& id) {
        if (id.is_number_unsigned() && id.get<std::uint64_t>() <= INT32_MAX)
            ends.push_back(id.get<std::int64_t>());
    };
    const auto found = json.is_object() ? json.find("eos_token_id") : json.end();
    if (!json.is_object() || found == json.end()) return {};
    if (found->is_array())
        std::for_each(found->begin(), found->end(), add);
    else
        add(*found);
    return ends;
}

void requireVocabulary(const Tokenizer& tokenizer, std::int64_t vocabulary) {
    if (tokenizer.size() > vocabulary)
        throw OptionError("data.tokenizer",
                          tokenizer.name() + " has " + std::to_string(tokenizer.size()) +
                              " tokens, but the model's vocabulary has " +
                              std::to_string(vocabulary) +
                              "; raise model.vocab_size, or choose the tokenizer of the model");
}

}  // namespace relascope::core
