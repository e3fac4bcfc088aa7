// SPDX-License-Identifier: GPL-3.0-or-later
// View files, name.relaview (formats.md section 21): read with every value checked, since they come
// from others, and written. Does not include torch.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "types/view.h"

namespace relascope::core {

/// The ending of view files, with the dot.
inline constexpr const char* kViewEnding = ".relaview";
inline bool isViewFile(const std::string& path) {
    return path.ends_with(kViewEnding);
}
/// The name of the file with what a view shows, beside its file.
inline std::string viewDataName(const std::string& name) {
    return name + ".data";
}

/// Throws OptionError, whose field is the key of the file, for a view whose command, options, sizes
/// or number of subjects are none.
void checkView(const View& view);

/// The view as in a file in the absolute `folder`: paths below it are relative.
nlohmann::ordered_json viewToJson(const View& view, const std::string& folder);
/// Paths of the view become absolute; nothing is opened. A path that leads out of the folder of the
/// file is refused unless it is absolute. Throws FileError, one sentence that names file, key and
/// value.
View viewFromJson(const std::string& text, const std::string& file);

/// Reads a file of at most 1 MiB. Throws FileError.
View readViewFile(const std::string& path);
/// Checks the view and writes the file whole or not at all. Throws OptionError, FileError.
void writeViewFile(const std::string& path, const View& view);

/// "ORG/NAME@COMMIT" for a snapshot in the cache of the hub, or a file in it; else empty.
std::string hubSnapshotOf(const std::string& path);
/// Fills in what is not given: checksums of the weights and of files that options name, and the
/// version. Reads these files. Throws FileError.
void identify(View& view);
/// Finds the subjects of a view that was read: the path, else the model of the hub in its cache.
/// Then compares their weights, and the files that options name, with the checksums. Throws
/// FileError that says what is missing, or that is another; with `anyWeights` others are taken.
void findSubjects(View& view, bool anyWeights = false);

/// The bytes of the file with what the view shows. Throws FileError where they are not those that
/// were saved with it.
std::string readViewData(const View& view, const std::string& file);

}  // namespace relascope::core
