// SPDX-License-Identifier: GPL-3.0-or-later
// Detects the form of data to import from the contents of a file or folder.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "types/data_options.h"

namespace relascope::app {

/// A form that data on disk can have.
struct ImportKind {
    std::string id;                       ///< "npz"
    QString title;                        ///< "Labelled images (.npz)"
    QString help;                         ///< what the path must be
    std::string kind;                     ///< kind of data: "relational-games"
    std::vector<std::string> tasks = {};  ///< to choose from; empty: nothing to choose
};
const std::vector<ImportKind>& importKinds();
const ImportKind& importKind(const std::string& id);

struct ImportGuess {
    std::string id;    ///< empty: no known form
    std::string task;  ///< for kinds that have several
    std::string path;  ///< the path to read: the folder, if a file in a data folder was given
    QString text;      ///< message about what was found
};
/// Checks file names only. Never throws.
ImportGuess guessImport(const std::string& path);

/// The options that open it, with all examples. Throws OptionError for an unknown id.
DataOptions importOptions(const std::string& id, const std::string& task, const std::string& path);
/// The import form of such options; empty if their kind cannot be imported.
std::string importIdOf(const DataOptions& options);

}  // namespace relascope::app
