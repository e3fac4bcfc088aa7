// SPDX-License-Identifier: GPL-3.0-or-later
// What a file or folder is that somebody wants to import: guessed from what it holds.
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
    QString help;                         ///< what is expected there
    std::string kind;                     ///< of data: "relational-games"
    std::vector<std::string> tasks = {};  ///< to choose from; empty: nothing to choose
};
const std::vector<ImportKind>& importKinds();
const ImportKind& importKind(const std::string& id);

struct ImportGuess {
    std::string id;    ///< empty: nothing known is there
    std::string task;  ///< of kinds that have several
    std::string path;  ///< to be read: of a part of a folder the folder
    QString words;     ///< what was found, in words
};
/// Looks at names alone. Never throws.
ImportGuess guessImport(const std::string& path);

/// The options that open it, with every example there is. Throws OptionError for an unknown id.
DataOptions importOptions(const std::string& id, const std::string& task, const std::string& path);
/// The form that such options have; empty where their kind cannot be imported.
std::string importIdOf(const DataOptions& options);

}  // namespace relascope::app
