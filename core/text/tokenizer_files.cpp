// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers by name, file or checkpoint.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "files/atomic_file.h"
#include "files/foreign_file.h"
#include "text/tokenizer.h"
#include "text/tokenizer_folder.h"
#include "text/tokenizer_pickle.h"
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

TokenizerFolder::File fileOf(const fs::path& path) {
    if (path.extension() == ".json")
        return {path.string(), readJsonText(path.string(), kMostBytes)};
    auto text = readTextFile(path.string(), kMostBytes);
    if (const auto what = foreignContent(std::string_view(text).substr(0, 512)); !what.empty())
        throw FileError(path.string(), what);
    return {path.string(), std::move(text)};
}
std::optional<TokenizerFolder::File> fileIn(const fs::path& folder, const char* name) {
    requireTarget((folder / name).string());
    return isFile(folder / name) ? std::optional(fileOf(folder / name)) : std::nullopt;
}

// The files beside a tokenizer.json or a vocab.json that tell how these are to be read.
TokenizerFolder settingsIn(const fs::path& folder) {
    TokenizerFolder files;
    files.settings = fileIn(folder, "tokenizer_config.json");
    files.specialTokens = fileIn(folder, "special_tokens_map.json");
    files.addedTokens = fileIn(folder, "added_tokens.json");
    return files;
}

TokenizerPtr openJson(const fs::path& path) {
    auto files = settingsIn(path.parent_path());
    files.tokenizer = fileOf(path);
    return tokenizerOf(files);
}

// The file names of GPT-2, besides the library's.
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
    auto files = settingsIn(vocabulary.parent_path());
    files.vocabulary = fileOf(vocabulary);
    files.merges = fileOf(merges);
    files.model = fileIn(vocabulary.parent_path(), "config.json");
    return tokenizerOf(files);
}

// WordPiece's; another text may be named so, too, where nothing tells of a model.
fs::path linesIn(const fs::path& folder) {
    const bool told = isFile(folder / "tokenizer_config.json") || isFile(folder / "config.json");
    return told && isFile(folder / "vocab.txt") ? folder / "vocab.txt" : fs::path();
}
TokenizerPtr openLines(const fs::path& vocabulary) {
    auto files = settingsIn(vocabulary.parent_path());
    files.lines = fileOf(vocabulary);
    files.model = fileIn(vocabulary.parent_path(), "config.json");
    return tokenizerOf(files);
}

constexpr const char* kConversion =
    ", which is not read; give its tokenizer.json, which transformers writes with "
    "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER), or choose gpt2";

// The kind of a tokenizer file that is not read, by its usual name, as the end of a sentence; null
// for other files.
const char* otherKind(const fs::path& path) {
    const auto name = path.filename().string();
    if (path.extension() == ".model") return "is a SentencePiece model";
    if (path.extension() == ".tiktoken") return "is a tokenizer of tiktoken";
    if (name == "tekken.json") return "is a tokenizer of mistral-common";
    return nullptr;
}

// The file of a tokenizer of another kind; empty without one.
fs::path otherIn(const fs::path& folder) {
    for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
                             "qwen.tiktoken", "tekken.json"})
        if (isFile(folder / name)) return folder / name;
    return {};
}

// The tokenizer in a folder; nullptr if there is none that is read.
TokenizerPtr openIn(const fs::path& folder) {
    for (const char* name : {"tokenizer.json", "vocab.json", "merges.txt"})
        requireTarget((folder / name).string());
    if (const auto file = folder / "tokenizer.json"; isFile(file)) return openJson(file);
    if (const auto vocabulary = vocabularyIn(folder); !vocabulary.empty())
        return openPair(vocabulary);
    requireTarget((folder / "vocab.txt").string());
    if (const auto lines = linesIn(folder); !lines.empty()) return openLines(lines);
    requireTarget((folder / kTokenizerPickle).string());
    if (const auto pickle = tokenizerPickleBeside(folder.string()); !pickle.empty())
        return openTokenizerPickle(pickle);
    return nullptr;
}

fs::path folderOf(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? fs::path(path) : fs::path(path).parent_path();
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
    requireTarget(nameOrPath);
    if (nameOrPath.empty() || !fs::exists(path, ignored))
        throw OptionError("tokenizer", "'" + nameOrPath +
                                           "' is not gpt2, characters or a file; give a "
                                           "tokenizer.json, a vocab.json, a vocab.txt or a folder "
                                           "with one");
    if (fs::is_directory(path, ignored)) {
        if (auto found = openIn(path)) return found;
        if (const auto other = otherIn(path); !other.empty())
            throw FileError(other.string(), otherKind(other) + std::string(kConversion));
        throw FileError(
            nameOrPath,
            "contains neither a tokenizer.json, nor a vocab.json with its merges.txt, nor a "
            "vocab.txt");
    }
    if (path.extension() == ".pkl") return openTokenizerPickle(nameOrPath);
    if (path.filename() == "vocab.txt") return openLines(path);
    if (const auto* kind = otherKind(path))
        throw FileError(nameOrPath, kind + std::string(kConversion));
    const std::string text = readJsonText(nameOrPath, kMostBytes);
    // A vocab.json maps pieces to ids; only a tokenizer.json has a model.
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto model = json.is_object() ? json.find("model") : json.end();
    if (json.is_object() && (model == json.end() || model->is_number())) return openPair(path);
    return openJson(path);
}

TokenizerPtr tokenizerBeside(const std::string& path, std::int64_t vocabulary) {
    std::error_code ignored;
    const fs::path folder = folderOf(path);
    if (auto found = openIn(folder)) return found;
    // A run keeps one tokenizer for all its checkpoints/step-N.
    const fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    if (whole.parent_path().filename() == "checkpoints")
        if (auto found = openIn(whole.parent_path().parent_path())) return found;
    const bool gpt2 = (vocabulary == 50257 || vocabulary == 50304) && otherIn(folder).empty();
    return gpt2 ? gpt2Tokenizer() : nullptr;
}

std::string otherTokenizerBeside(const std::string& path) {
    const auto other = otherIn(folderOf(path));
    return other.empty() ? "" : other.string() + " " + otherKind(other) + kConversion;
}

std::vector<std::int64_t> endTokensIn(const std::string& folder) {
    const auto path = fs::path(folder) / "generation_config.json";
    requireTarget(path.string());
    if (!isFile(path)) return {};
    const auto json = nlohmann::json::parse(readJsonText(path.string(), 1u << 20), nullptr, false);
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
    if (tokenizer.ownSize() > vocabulary)
        throw OptionError("data.tokenizer",
                          tokenizer.name() + " has " + std::to_string(tokenizer.ownSize()) +
                              " tokens, but the model's vocabulary has " +
                              std::to_string(vocabulary) +
                              "; choose the tokenizer of the model, or for a new model raise "
                              "model.vocab_size");
}

}  // namespace relascope::core
