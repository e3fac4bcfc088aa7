// SPDX-License-Identifier: GPL-3.0-or-later
// .npz archives of arrays that a test makes.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "files/npy.h"

namespace relascope::testing_support {

/// The bytes of an array of items of `width` bytes; floats by their bits.
template <class T>
std::string npyOf(const std::string& descr, const std::vector<std::int64_t>& shape,
                  const std::vector<T>& values) {
    return core::makeNpyHeader(descr, shape) +
           std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Writes an archive of members (names with ".npy").
inline void writeNpzFile(const std::string& path,
                         const std::vector<std::pair<std::string, std::string>>& members,
                         bool deflate = true) {
    std::filesystem::remove(path);
    int code = 0;
    zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, &code);
    ASSERT_NE(archive, nullptr);
    for (const auto& [name, data] : members) {
        const auto index = zip_file_add(archive, name.c_str(),
                                        zip_source_buffer(archive, data.data(), data.size(), 0), 0);
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                 deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    ASSERT_EQ(zip_close(archive), 0);
}

}  // namespace relascope::testing_support
