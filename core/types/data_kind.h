// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of a kind of data: its properties that are known before any data are opened. The
// form, the command line, the Data page, estimates and training use it instead of comparing names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/data_options.h"
#include "types/field.h"
#include "types/model_options.h"

namespace relascope {

/// The noun for examples: "image", "images".
struct Unit {
    std::string one, several;
};

/// A task: a value of data.task.
struct DataTask {
    std::string name;   ///< "match_pattern"
    std::string title;  ///< "Match pattern"
    std::string help;   ///< one sentence
    /// Names of the classes, by label, or of the answers of a multi-label task; empty where they
    /// are known only after opening, or where there are none.
    std::vector<std::string> classNames = {};
    std::optional<Unit> unit = {};  ///< noun for examples, where it differs from the kind's
};

/// A field of DataOptions that only this kind has, with its place in the form (run_fields.cpp lists
/// the places of the common fields; places of new kinds begin at 300).
struct OwnField {
    int order = 300;
    Field<DataOptions> field;
};

/// A common field of DataOptions (run_fields.cpp) that this kind uses, and the condition under
/// which it does; an empty `when` means always.
struct CommonField {
    std::string name;
    std::function<bool(const DataOptions&)> when = {};
};

/// The names in a folder, by which its format is recognised.
struct FolderNames {
    std::string path;
    std::vector<std::string> files, folders;  ///< sorted, as written on disk

    bool hasFile(const std::string& name) const;
    bool hasFolder(const std::string& name) const;
    /// The names in the subfolder of that name.
    FolderNames inside(const std::string& folder) const;
    /// The first 20,000 names in the folder `path`; none if it cannot be read.
    static FolderNames of(const std::string& path);
};

/// The result of recognising a folder or file.
struct ImportMatch {
    std::string path;  ///< the file or folder to read; the folder where a part of it was recognised
    std::string task;  ///< the task, for forms without a fixed one
    std::string message;  ///< "found data_batch_1.bin"; may be empty for a file
};

/// A format in which examples of a kind can be imported.
struct ImportForm {
    std::string id;         ///< "npz"
    std::string title;      ///< "Labelled images (.npz)"
    std::string help;       ///< what is expected there
    std::string note;       ///< short note for the list of imported files
    int order = 300;        ///< place in the list; a folder is the first form that recognises it
    std::string task = {};  ///< its fixed task; empty: the chosen one or the default
    bool asksTask = false;  ///< the user chooses among the tasks of the kind
    bool anyTask = false;   ///< the files do not name their task
    std::function<std::optional<ImportMatch>(const FolderNames&)> folder = {};
    std::function<std::optional<ImportMatch>(const std::string& path)> file = {};
};

struct DataKind {
    std::string name;    ///< data.kind: "relational-games"
    std::string title;   ///< "Relational Games"
    std::string help;    ///< one sentence
    std::string family;  ///< the heading under which lists show it: "Vision relations"
    int order = 300;     ///< place in the form and in lists; places of new kinds begin at 300
    InputKind input = InputKind::Objects;
    Unit unit;
    std::vector<DataTask> tasks = {};        ///< the first is the default; empty: there is no task
    std::vector<std::string> families = {};  ///< names of its test splits, if these are fixed
    std::vector<std::string> attributes = {};  ///< attributes in which objects of examples differ

    bool trains = true;       ///< false: models are measured on it, and not trained
    bool generated = true;    ///< false: its examples come only from files
    bool endless = false;     ///< there is no "all": sizes of 0 are refused
    bool tasksAlike = false;  ///< options that are valid for one task are valid for the others

    std::string metric = "accuracy";  ///< the main metric of a run (types/metric.h)
    std::string freeMetric = {};      ///< the main metric with free-running decoding; empty: none

    std::vector<CommonField> common = {};
    std::vector<OwnField> (*fields)() = nullptr;  ///< null: none
    /// Adds the problems that the ranges of the fields do not cover.
    void (*problems)(const DataOptions&, std::vector<FieldProblem>& found) = nullptr;
    /// Sets the model options that follow from the data: sizes of objects, vocabularies, lengths,
    /// classes. Called with any task, also an unknown one. Null: nothing.
    void (*fit)(const DataOptions&, ModelOptions&) = nullptr;
    /// The number of training examples when data.train_size is 0; 0 where it is known only after
    /// opening. Null: 0.
    std::int64_t (*allExamples)(const DataOptions&) = nullptr;
    /// Whether the size of images and the number of classes are known only from the opened files.
    /// Null: never.
    bool (*sizesFromFiles)(const DataOptions&) = nullptr;

    std::vector<ImportForm> imports = {};
    /// Which of several import forms these options use; null: the first.
    std::string (*importOf)(const DataOptions&) = nullptr;

    /// The task with that name; null if it is unknown.
    const DataTask* findTask(std::string_view task) const;
    std::vector<std::string> taskNames() const;
    const Unit& unitOf(std::string_view task) const;
    /// Whether a common field applies to these options, which are of this kind.
    bool uses(std::string_view field, const DataOptions& options) const;
};

/// Every kind, in the order of the form. Not to be called while static objects are initialised.
const std::vector<const DataKind*>& dataKinds();
/// The kind with that name; null if it is unknown.
const DataKind* findDataKind(std::string_view name);
/// The kind with that name. Throws OptionError with the nearest name for an unknown one.
const DataKind& dataKind(std::string_view name);
/// The tasks of a kind by name. Throws OptionError for an unknown kind.
std::vector<std::string> tasksOf(std::string_view kind);

/// A form with its kind.
struct DataImport {
    const DataKind* kind;
    const ImportForm* form;
};
/// The forms of all kinds, in their order.
const std::vector<DataImport>& dataImports();
/// The form with that id. Throws OptionError for an unknown one.
const DataImport& dataImport(std::string_view id);
/// The import form of these options; null where nothing of their kind can be imported.
const ImportForm* importFormOf(const DataOptions& options);

/// Registers a kind from a static object in its own file, so that no list names all of them. `make`
/// is called when the kinds are first asked for, not before.
struct DataKindRegistrar {
    explicit DataKindRegistrar(DataKind (*make)());
};

}  // namespace relascope
