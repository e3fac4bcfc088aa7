// SPDX-License-Identifier: GPL-3.0-or-later
// A folder with the files of a tokenizer, whole and broken.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/atomic_file.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "text/tokenizer.h"
#include "types/error.h"

namespace relascope::testing_support {

using Ids = std::vector<std::int32_t>;

class TokenizerFiles : public ::testing::Test {
protected:
    TokenizerFiles() { core::makeDirectories(m_folder.path()); }

    void write(const std::string& name, const nlohmann::json& file) const {
        writeBytes(m_folder / name, file.dump());
    }
    core::TokenizerPtr open() const { return core::openTokenizer(m_folder.path()); }
    Ids typed(const std::string& text) const { return open()->encodeTyped(text); }
    /// Expects that opening the folder is refused with the path of `file` and these words.
    void expectRefusal(const std::string& file, const std::vector<std::string>& words) const {
        try {
            open();
            ADD_FAILURE() << "accepted; wanted " << words.at(0);
        } catch (const FileError& error) {
            EXPECT_EQ(error.path(), m_folder / file);
            const std::string said = error.what();
            for (const auto& word : words) EXPECT_NE(said.find(word), std::string::npos) << said;
        }
    }

    TemporaryFolder m_folder{"tokenizer-files"};
};

}  // namespace relascope::testing_support
