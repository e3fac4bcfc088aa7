// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>

#include "data/text.h"
#include "files/program_folder.h"

namespace relascope::core {

std::string installedText() {
    for (const std::string& path :
         {installedData("jargon.txt.gz"), std::string("/usr/share/doc/jargon-text/jargon.txt.gz"),
          std::string("/usr/share/doc/jargon-text/jargon.txt")}) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
    return "";
}

}  // namespace relascope::core
