// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/import_data.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "types/data_kind.h"
#include "types/lower_case.h"

namespace relascope::core {
namespace {

ImportGuess guessOf(const DataImport& import, const ImportMatch& match) {
    return {import.form->id, match.task, match.path, match.message};
}

ImportGuess withArrays(ImportGuess guess) {
    if (!lowerCase(guess.path).ends_with(".npz")) return guess;
    try {
        const auto all = npzArrays(guess.path);
        std::copy_if(all.begin(), all.end(), std::back_inserter(guess.arrays),
                     [](const NpzArray& one) { return one.ofNumbers; });
        guess.chosen = imageArrays(all, {}, guess.path);
    } catch (const FileError& error) {
        guess.text = std::string(error.what()).substr(error.path().size() + 2);
    }
    return guess;
}

ImportGuess ofFolder(const std::string& folder) {
    const auto names = FolderNames::of(folder);
    for (const auto& import : dataImports())
        if (import.form->folder)
            if (const auto match = import.form->folder(names)) return guessOf(import, *match);
    return {"", "", folder, "the format was not recognised; choose it"};
}

ImportGuess ofFile(const std::string& file) {
    const auto small = lowerCase(file);
    for (const char* ending : {".tar.gz", ".tgz", ".zip"})
        if (small.ends_with(ending))
            return {"", "", file, "is an archive; unpack it first, then import the folder"};
    for (const char* ending : {".xlsx", ".xls", ".ods", ".parquet", ".feather", ".arrow"})
        if (small.ends_with(ending))
            return {"", "", file, "is a table of a form that is not read; save it as .csv first"};
    for (const auto& import : dataImports())
        if (import.form->file)
            if (const auto match = import.form->file(file))
                return withArrays(guessOf(import, *match));
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
