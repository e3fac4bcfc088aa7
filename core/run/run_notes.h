// SPDX-License-Identifier: GPL-3.0-or-later
// The notes of a folder of runs, in its notes.json: one text per run, and one per set of runs that
// was compared.
#pragma once

#include <map>
#include <string>

namespace relascope::core {

struct RunNotes {
    std::map<std::string, std::string> runs, comparisons;
    bool readable = true;  ///< false: there is a file, and it is no notes
};

/// "FOLDER/notes.json".
std::string notesFile(const std::string& folder);
/// The notes of a folder; empty where it has no such file.
RunNotes readRunNotes(const std::string& folder);
/// The key of a run among the notes of a folder: its path relative to the folder, so that the
/// folder can be moved; absolute for runs in other folders.
std::string noteKey(const std::string& folder, const std::string& run);
/// The note on a run where a folder of runs that it is in has one, or the default folder; else
/// empty.
std::string noteOnRun(const std::string& run);

}  // namespace relascope::core
