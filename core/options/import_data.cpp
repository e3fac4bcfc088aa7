// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/import_data.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "types/data_kind.h"

namespace relascope::core {
namespace {

ImportGuess guessOf(const DataImport& import, const ImportMatch& match) {
    return {import.form->id, match.task, match.path, match.message};
}

ImportGuess ofFolder(const std::string& folder) {
    const auto names = FolderNames::of(folder);
    for (const auto& import : dataImports())
        if (import.form->folder)
            if (const auto match = import.form->folder(names)) return guessOf(import, *match);
    return {"", "", folder, "the format was not recognised; choose it"};
}

ImportGuess ofFile(const std::string& file) {
    std::string small = file;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* ending : {".tar.gz", ".tgz", ".zip"})
        if (small.ends_with(ending))
            return {"", "", file, "is an archive; unpack it first, then import the folder"};
    for (const auto& import : dataImports())
        if (import.form->file)
            if (const auto match = import.form->file(file)) return guessOf(import, *match);
    return {"", "", file, "the format was not recognised; choose it"};
}

}  // namespace

ImportGuess guessImport(const std::string& path) {
    try {
        std::error_code error;
        if (!std::filesystem::exists(path, error)) return {"", "", path, "was not found"};
        return std::filesystem::is_directory(path, error) ? ofFolder(path) : ofFile(path);
    } catch (const std::exception&) {  // a name that cannot be read
        return {"", "", path, "cannot be read"};
    }
}

DataOptions importOptions(const std::string& id, const std::string& task, const std::string& path) {
    const auto& [kind, form] = dataImport(id);
    DataOptions o;
    o.path = path;
    o.train_size = o.validation_size = o.test_size = 0;  // all there are
    o.kind = kind->name;
    if (!form->task.empty())
        o.task = form->task;
    else if (!task.empty() || kind->tasks.empty())
        o.task = task;
    else if (!kind->findTask(o.task))
        o.task = kind->tasks.front().name;
    return o;
}

std::string importIdOf(const DataOptions& options) {
    const auto* form = importFormOf(options);
    return form ? form->id : std::string();
}

}  // namespace relascope::core
