// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/text_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "files/sha256.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

bool isOneOf(const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// "x.JSON.gz" -> ".json"
std::string formSuffix(const fs::path& path) {
    std::string suffix = path.extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return suffix == ".gz" ? formSuffix(path.stem()) : suffix;
}

bool isShard(const fs::path& path) {
    return isOneOf(path.extension().string(), {".bin", ".npy"});
}
bool isText(const fs::path& path) {
    return isOneOf(formSuffix(path), {".txt", ".text", ".md", ".json", ".jsonl", ".ndjson"}) &&
           !isOneOf(path.filename().string(), {"tokenizer.json", "vocab.json", "merges.txt"});
}

TextFile describe(const fs::path& path) {
    TextFile file;
    file.path = path.string();
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0)
        throw FileError(file.path, "cannot be opened: " + std::string(std::strerror(errno)));
    if (!S_ISREG(status.st_mode)) throw FileError(file.path, "is not a file");
    file.form = isShard(path)                                               ? TextForm::Shard
                : isOneOf(formSuffix(path), {".json", ".jsonl", ".ndjson"}) ? TextForm::Json
                                                                            : TextForm::Plain;
    if (isOneOf(formSuffix(path), {".zip", ".tar", ".xz", ".bz2", ".zst", ".parquet", ".arrow",
                                   ".pdf", ".pt", ".safetensors"}))
        throw FileError(file.path, "is not a text file (" + formSuffix(path) +
                                       "); unpack it to .txt, .jsonl or .gz first");
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    file.modified =
        static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    return file;
}

}  // namespace

std::vector<TextFile> listTextFiles(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error))
        throw FileError(
            path,
            "does not exist; give a text file, a folder of text files, JSON lines or token shards");
    if (!fs::is_directory(path, error)) return {describe(path)};
    std::vector<fs::path> all;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
        if (std::error_code ignored; !at->path().filename().string().starts_with('.') &&
                                     fs::is_regular_file(at->path(), ignored))
            all.push_back(at->path());
    if (error) throw FileError(path, "cannot be read: " + error.message());
    std::sort(all.begin(), all.end());
    for (const auto& wanted : {isShard, isText})
        if (std::any_of(all.begin(), all.end(), wanted)) {
            std::erase_if(all, [&](const fs::path& file) { return !wanted(file); });
            break;
        }
    if (all.empty())
        throw FileError(path,
                        "contains no supported files: .txt, .md, .json and .jsonl (also .gz), and "
                        "token shards .bin and .npy");
    std::vector<TextFile> files;
    for (const auto& file : all) files.push_back(describe(file));
    return files;
}

std::string signatureOf(const std::vector<TextFile>& files) {
    Sha256 hash;
    hash.addField("relascope files 1");
    for (const auto& file : files) {
        std::error_code error;
        const auto whole = fs::canonical(file.path, error);
        hash.addField(error ? file.path : whole.string());
        hash.addField(std::to_string(file.bytes));
        hash.addField(std::to_string(file.modified));
    }
    return hash.hex();
}

}  // namespace relascope::core
