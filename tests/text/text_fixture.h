// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of a test, and a token cache of its own.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "data/text.h"
#include "files/atomic_file.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {

using testing_support::le;
using testing_support::TemporaryFolder;
using testing_support::writeBytes;

class TextTest : public ::testing::Test {
protected:
    TextTest() {
        makeDirectories(m_folder.path());
        ::setenv("XDG_CACHE_HOME", (m_folder / "cache").c_str(), 1);
    }
    ~TextTest() override { ::unsetenv("XDG_CACHE_HOME"); }

    /// Writes a file that looks an hour old, so that its time may be trusted.
    std::string write(const std::string& name, const std::string& bytes) {
        const std::string path = m_folder / name;
        makeDirectories(std::filesystem::path(path).parent_path().string());
        writeBytes(path, bytes);
        age(path);
        return path;
    }
    static void age(const std::string& path) {
        static const auto then =
            std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
        std::filesystem::last_write_time(path, then);
    }
    static DataOptions options(const std::string& path, const std::string& tokenizer = "characters",
                               std::int64_t context = 4) {
        DataOptions o;
        o.kind = "text";
        o.path = path;
        o.tokenizer = tokenizer;
        o.context = context;
        o.train_size = o.validation_size = 0;
        o.validation_fraction = 0.25;
        return o;
    }
    /// The files in the cache's folder of tokens.
    std::vector<std::string> cached() const {
        std::vector<std::string> names;
        std::error_code none;
        for (const auto& entry :
             std::filesystem::directory_iterator(m_folder / "cache/relascope/tokens", none))
            names.push_back(entry.path().string());
        return names;
    }

    TemporaryFolder m_folder{"text"};
};

inline const TokenDataset& tokensOf(const DatasetPtr& data) {
    return dynamic_cast<const TokenDataset&>(*data);
}

inline std::vector<std::int64_t> window(const DatasetPtr& data, std::int64_t index) {
    const auto& tokens = tokensOf(data);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens.context()) + 1);
    tokens.read(index, ids);
    return ids;
}

/// All tokens of a text: with a context of one the windows of training and validation together
/// leave out only what the last offset needs.
inline std::vector<std::int64_t> allTokens(DataOptions o) {
    o.context = 1, o.validation_fraction = 0.5;
    const auto splits = openText(o);
    std::vector<std::int64_t> ids;
    for (const auto& data : {splits.train, splits.validation})
        for (std::int64_t i = 0; i < data->size(); ++i) {
            const auto w = window(data, i);
            ids.push_back(w[0]);
            if (i + 1 == data->size()) ids.push_back(w[1]);
        }
    return ids;
}

inline std::string allText(DataOptions o) {
    o.context = 1, o.validation_fraction = 0.5;
    const auto tokenizer = openText(o).tokenizer;
    std::string text;
    for (const auto id : allTokens(o)) text += tokenizer->piece(static_cast<std::int32_t>(id));
    return text;
}

/// The words of the error that opening raises; empty when there is none.
inline std::string refusal(const DataOptions& o) {
    try {
        openText(o);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

inline void expectRefusal(const DataOptions& o, const std::vector<std::string>& words) {
    const std::string said = refusal(o);
    for (const auto& word : words)
        EXPECT_NE(said.find(word), std::string::npos) << "wanted '" << word << "' in: " << said;
}

/// gzip's form of the bytes.
inline std::string gzip(const std::string& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(bytes.size() + bytes.size() / 100 + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}  // namespace relascope
