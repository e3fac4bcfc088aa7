// SPDX-License-Identifier: GPL-3.0-or-later
// A place for the files of one test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/rooms.h"

namespace relascope::testing_support {

/// A folder that is removed when the test ends.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& name)
        : m_path((std::filesystem::temp_directory_path() /
                  ("relascope-test-" + name + "-" + std::to_string(::getpid())))
                     .string()) {
        std::filesystem::remove_all(m_path);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    std::string operator/(const std::string& name) const { return m_path + "/" + name; }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

}  // namespace relascope::testing_support
