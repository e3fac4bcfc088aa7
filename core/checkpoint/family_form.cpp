// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/family_form.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "files/atomic_file.h"
#include "model/public/family.h"
#include "options/published_config.h"
#include "text/tokenizer_pickle.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMostForm = 64u << 20;

// The files of a public family's folder that are copied as they are.
constexpr std::array kCopied = {"generation_config.json",
                                "preprocessor_config.json",
                                "tokenizer.json",
                                "tokenizer_config.json",
                                "special_tokens_map.json",
                                "added_tokens.json",
                                "vocab.json",
                                "merges.txt",
                                "vocab.txt",
                                "tokenizer.model",
                                kTokenizerPickle,
                                "chat_template.jinja"};

std::string tensorsFile(const std::string& run) {
    return familyFolder(run) + "/tensors.json";
}

}  // namespace

std::string familyFolder(const std::string& run) {
    return run + "/family";
}

void copyFamilyFiles(const std::string& from, const std::string& to, bool config) {
    const auto copy = [&](const char* name) {
        std::error_code none;
        const auto file = fs::path(from) / name;
        if (fs::is_regular_file(file, none))
            writeTextFile((fs::path(to) / name).string(), readTextFile(file.string(), kMostForm));
    };
    for (const char* name : kCopied) copy(name);
    if (config) copy("config.json");
}

void writeFamilyForm(const CheckpointSource& source, const ModelOptions& model,
                     const std::vector<std::string>& classNames, const std::string& run) {
    if (!hasFamilyNames(model, source)) return;
    auto tensors = nlohmann::ordered_json::array();
    const FamilyFile file(model, source.tensors());
    for (const auto& tensor : file.tensors())
        if (const auto* stored = file.find(tensor); stored || tensor.absent)
            tensors.push_back({{"name", file.nameOf(tensor)},
                               {"dtype", stored ? stored->dtype : std::string("F32")}});
    const auto folder = familyFolder(run);
    makeDirectories(folder);
    copyFamilyFiles(fs::path(source.files().at(0)).parent_path().string(), folder, false);
    copyTokenizerOfRanks(source.files().at(0), folder);
    writeTextFile(folder + "/config.json", configOfTrained(source.config(), model, classNames));
    writeTextFile(tensorsFile(run), nlohmann::ordered_json{{"tensors", tensors}}.dump(1) + "\n");
}

std::optional<FamilyForm> readFamilyForm(const std::string& run, const ModelOptions& model) {
    const auto path = tensorsFile(run);
    std::error_code none;
    if (!familyOf(model) || !fs::is_regular_file(path, none)) return std::nullopt;
    FamilyForm form{model, {}, familyFolder(run)};
    try {
        const auto json = nlohmann::json::parse(readTextFile(path, kMostForm));
        for (const auto& entry : json.at("tensors")) {
            StoredTensor tensor;
            tensor.name = tensor.stored = entry.at("name").get<std::string>();
            tensor.dtype = entry.at("dtype").get<std::string>();
            if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16" &&
                tensor.dtype != "F64")
                throw FileError(path, "gives '" + tensor.name + "' the type " + tensor.dtype +
                                          "; weights are F32, F16, BF16 or F64");
            form.tensors.push_back(std::move(tensor));
        }
    } catch (const nlohmann::json::exception& error) {
        throw FileError(path, std::string("is damaged: ") + error.what());
    }
    const FamilyFile file(model, form.tensors);
    for (const auto& tensor : file.tensors())
        if (!tensor.optional && !tensor.further && !file.find(tensor))
            throw FileError(path, "lacks '" + file.nameOf(tensor) + "', which the model has");
    return form;
}

}  // namespace relascope::core
