// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/import_guess.h"

#include <filesystem>

#include "app/controllers/examples.h"
#include "types/data_kind.h"

namespace relascope::app {
namespace {

namespace fs = std::filesystem;

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

ImportGuess guessOf(const DataImport& import, const ImportMatch& match) {
    return {import.form->id, match.task, match.path, text(match.message)};
}

ImportGuess ofFolder(const std::string& folder) {
    const auto names = FolderNames::of(folder);
    for (const auto& import : dataImports())
        if (import.form->folder)
            if (const auto match = import.form->folder(names)) return guessOf(import, *match);
    return {"", "", folder, QStringLiteral("the format was not recognised; choose it")};
}

ImportGuess ofFile(const std::string& file) {
    for (const char* ending : {".tar.gz", ".tgz", ".zip"})
        if (text(file).endsWith(QLatin1String(ending), Qt::CaseInsensitive))
            return {"", "", file,
                    QStringLiteral("is an archive; unpack it first, then import the folder")};
    for (const auto& import : dataImports())
        if (import.form->file)
            if (const auto match = import.form->file(file)) return guessOf(import, *match);
    return {"", "", file, QStringLiteral("the format was not recognised; choose it")};
}

}  // namespace

const std::vector<ImportKind>& importKinds() {
    static const std::vector<ImportKind> kinds = [] {
        std::vector<ImportKind> all;
        for (const auto& [kind, form] : dataImports())
            all.push_back({form->id, text(form->title), text(form->help), kind->name,
                           form->asksTask ? kind->taskNames() : std::vector<std::string>()});
        return all;
    }();
    return kinds;
}

const ImportKind& importKind(const std::string& id) {
    for (const auto& kind : importKinds())
        if (kind.id == id) return kind;
    return importKinds().front();
}

ImportGuess guessImport(const std::string& path) {
    try {
        std::error_code error;
        if (!fs::exists(path, error)) return {"", "", path, QStringLiteral("was not found")};
        return fs::is_directory(path, error) ? ofFolder(path) : ofFile(path);
    } catch (const std::exception&) {  // a name that cannot be read
        return {"", "", path, QStringLiteral("cannot be read")};
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

std::string importIdOf(const DataOptions& o) {
    const auto* form = importFormOf(o);
    return form ? form->id : std::string();
}

}  // namespace relascope::app
