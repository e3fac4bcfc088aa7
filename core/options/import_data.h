// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders with data: which form they have, and the options that open them.
#pragma once

#include <string>
#include <vector>

#include "files/npz.h"
#include "types/data_options.h"

namespace relascope::core {

struct ImportGuess {
    std::string id;    ///< id of the form (types/data_kind.h); empty: no known one
    std::string task;  ///< for kinds that have several
    std::string path;  ///< the path to read: the folder, if a file in a data folder was given
    std::string text;  ///< what was found, or why nothing was
    std::vector<NpzArray> arrays = {};  ///< arrays of numbers in an .npz
    ImageArrays chosen = {};            ///< which of them look like labelled images
};
/// Reads the names of files only, and the beginning of a single file or of its arrays. Never
/// throws.
ImportGuess guessImport(const std::string& path);

/// The options that open such files, with all examples. Throws OptionError for an unknown form.
DataOptions importOptions(const std::string& id, const std::string& task, const std::string& path);
/// The form of such options; empty if their kind cannot be imported.
std::string importIdOf(const DataOptions& options);

}  // namespace relascope::core
