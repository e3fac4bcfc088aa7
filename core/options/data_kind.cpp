// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of the kinds of data; the kinds themselves are in datasets/kinds.
#include "types/data_kind.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <stdexcept>

#include "types/suggest.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using Make = DataKind (*)();

constexpr std::size_t kMostNames = 20000;

// A function-local static, so that it exists before the first registrar runs.
std::vector<Make>& makers() {
    static std::vector<Make> all;
    return all;
}

std::vector<std::string> kindNames() {
    std::vector<std::string> names;
    for (const auto* kind : dataKinds()) names.push_back(kind->name);
    return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

DataKindRegistrar::DataKindRegistrar(DataKind (*make)()) {
    makers().push_back(make);
}

const std::vector<const DataKind*>& dataKinds() {
    static const std::vector<const DataKind*> kinds = [] {
        static std::deque<DataKind> made;
        std::vector<const DataKind*> all;
        for (const auto make : makers()) all.push_back(&made.emplace_back(make()));
        std::sort(all.begin(), all.end(), [](const DataKind* a, const DataKind* b) {
            return std::pair(a->order, a->name) < std::pair(b->order, b->name);
        });
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (all[i]->name == all[j]->name)
                    throw std::logic_error("two kinds of data are called " + all[i]->name);
        return all;
    }();
    return kinds;
}

const DataKind* findDataKind(std::string_view name) {
    for (const auto* kind : dataKinds())
        if (kind->name == name) return kind;
    return nullptr;
}

const DataKind& dataKind(std::string_view name) {
    if (const auto* kind = findDataKind(name)) return *kind;
    throw OptionError("data.kind", unknownName("kind of data", name, kindNames()));
}

std::vector<std::string> tasksOf(std::string_view kind) {
    return dataKind(kind).taskNames();
}

const DataTask* DataKind::findTask(std::string_view wanted) const {
    for (const auto& task : tasks)
        if (task.name == wanted) return &task;
    return nullptr;
}

std::vector<std::string> DataKind::taskNames() const {
    std::vector<std::string> names;
    for (const auto& task : tasks) names.push_back(task.name);
    return names;
}

const Unit& DataKind::unitOf(std::string_view name) const {
    const auto* task = findTask(name);
    return task && task->unit ? *task->unit : unit;
}

bool DataKind::uses(std::string_view field, const DataOptions& options) const {
    for (const auto& used : common)
        if (used.name == field) return !used.when || used.when(options);
    return false;
}

bool DataOptions::isText() const {
    return dataKind(kind).input == InputKind::Tokens;
}

std::vector<FieldProblem> DataOptions::problems() const {
    const auto* known = findDataKind(kind);
    if (!known) return {{"kind", unknownName("kind of data", kind, kindNames())}};
    if (!known->tasks.empty() && !known->findTask(task))
        return {{"task", unknownName("task of " + kind, task, known->taskNames())}};
    std::vector<FieldProblem> found;
    if (known->problems) known->problems(*this, found);
    if (streaming && !path.empty()) {
        DataOptions generated = *this;
        generated.path.clear();
        // Other kinds do not have this field; a value in it is left over from another kind.
        if (known->uses("streaming", generated))
            found.push_back({"streaming", "is for generated images only; leave data.path empty"});
    }
    return found;
}

const std::vector<DataImport>& dataImports() {
    static const std::vector<DataImport> imports = [] {
        std::vector<DataImport> all;
        for (const auto* kind : dataKinds())
            for (const auto& form : kind->imports) all.push_back({kind, &form});
        std::stable_sort(all.begin(), all.end(), [](const DataImport& a, const DataImport& b) {
            return a.form->order < b.form->order;
        });
        return all;
    }();
    return imports;
}

const DataImport& dataImport(std::string_view id) {
    std::vector<std::string> known;
    for (const auto& import : dataImports()) {
        if (import.form->id == id) return import;
        known.push_back(import.form->id);
    }
    throw OptionError("data", unknownName("format", id, known));
}

const ImportForm* importFormOf(const DataOptions& options) {
    const auto& kind = dataKind(options.kind);
    if (kind.imports.empty()) return nullptr;
    if (kind.importOf)
        for (const auto& form : kind.imports)
            if (form.id == kind.importOf(options)) return &form;
    return &kind.imports.front();
}

bool FolderNames::hasFile(const std::string& name) const {
    return contains(files, name);
}
bool FolderNames::hasFolder(const std::string& name) const {
    return contains(folders, name);
}

FolderNames FolderNames::inside(const std::string& folder) const {
    return of((fs::path(path) / folder).string());
}

FolderNames FolderNames::of(const std::string& path) {
    FolderNames found{path, {}, {}};
    std::error_code error;
    std::size_t count = 0;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
        if (++count > kMostNames) break;
        const auto name = it->path().filename().string();
        (it->is_directory(error) ? found.folders : found.files).push_back(name);
    }
    std::sort(found.files.begin(), found.files.end());
    std::sort(found.folders.begin(), found.folders.end());
    return found;
}

}  // namespace relascope
