// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/program_folder.h"

namespace relascope::core {

std::filesystem::path programFile() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::filesystem::path programFolder() {
    return programFile().parent_path();
}

std::string installedData(const std::string& name) {
    std::error_code error;
    const auto path = programFolder().parent_path() / "share/relascope" / name;
    return std::filesystem::exists(path, error) ? path.string() : "";
}

}  // namespace relascope::core
