// SPDX-License-Identifier: GPL-3.0-or-later
// Pickles and ZIP archives by hand, good and bad.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/rooms.h"

namespace relascope::testing_support {

inline std::string le(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
}

inline void writeBytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// One entry of a ZIP archive; the optional values replace the true ones.
struct TestEntry {
    std::string name, data;
    int method = 0, flags = 0;
    std::optional<std::uint32_t> crc;
    std::optional<std::uint64_t> size, stored, offset;
    std::optional<std::string> localName;
};

inline std::string zipOf(const std::vector<TestEntry>& entries, bool zip64 = false,
                         const std::string& comment = "") {
    std::string file, table;
    for (const auto& e : entries) {
        const std::uint64_t at = file.size();
        const auto crc = e.crc.value_or(static_cast<std::uint32_t>(
            ::crc32_z(0, reinterpret_cast<const unsigned char*>(e.data.data()), e.data.size())));
        const auto size = e.size.value_or(e.data.size()), stored = e.stored.value_or(size),
                   offset = e.offset.value_or(at);
        const auto local = e.localName.value_or(e.name);
        file += le(0x04034b50, 4) + le(20, 2) + le(static_cast<unsigned>(e.flags), 2) +
                le(static_cast<unsigned>(e.method), 2) + le(0, 4) + le(crc, 4) + le(stored, 4) +
                le(size, 4) + le(local.size(), 2) + le(0, 2) + local + e.data;
        const std::string extra =
            zip64 ? le(1, 2) + le(24, 2) + le(size, 8) + le(stored, 8) + le(offset, 8) : "";
        const auto field = [&](std::uint64_t value) { return le(zip64 ? 0xffffffff : value, 4); };
        table += le(0x02014b50, 4) + le(20, 2) + le(20, 2) + le(static_cast<unsigned>(e.flags), 2) +
                 le(static_cast<unsigned>(e.method), 2) + le(0, 4) + le(crc, 4) + field(stored) +
                 field(size) + le(e.name.size(), 2) + le(extra.size(), 2) + le(0, 2) + le(0, 8) +
                 field(offset) + e.name + extra;
    }
    const std::uint64_t start = file.size(), count = entries.size();
    file += table;
    if (zip64) {
        const std::uint64_t record = file.size();
        file += le(0x06064b50, 4) + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 8) + le(count, 8) +
                le(count, 8) + le(table.size(), 8) + le(start, 8);
        file += le(0x07064b50, 4) + le(0, 4) + le(record, 8) + le(1, 4);
    }
    return file + le(0x06054b50, 4) + le(0, 4) + le(count, 2) + le(count, 2) + le(table.size(), 4) +
           le(start, 4) + le(comment.size(), 2) + comment;
}

// Pickle, a value each.
inline std::string text(const std::string& value) {
    return "X" + le(value.size(), 4) + value;
}
inline std::string number(std::int64_t value) {
    return "\x8a\x08" + le(static_cast<std::uint64_t>(value), 8);
}
inline std::string global(const std::string& module, const std::string& name) {
    return "c" + module + "\n" + name + "\n";
}
inline std::string numbers(const std::vector<std::int64_t>& values) {
    std::string all = "(";
    for (const auto value : values) all += number(value);
    return all + "t";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string all = "}(";
    for (const auto& [key, value] : items) all += text(key) + value;
    return all + "u";
}
inline std::string pickle(const std::string& value) {
    return "\x80\x02" + value + ".";
}

/// A pickled tensor of PyTorch: a view of `elements` numbers under data/`key`.
struct TestTensor {
    std::string key = "0";
    std::int64_t elements = 4;
    std::vector<std::int64_t> shape = {2, 2}, stride = {2, 1};
    std::int64_t offset = 0;
    std::string storage = "FloatStorage";
};
inline std::string tensor(const TestTensor& t = {}) {
    return global("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") +
           global("torch", t.storage) + text(t.key) + text("cpu") + number(t.elements) + "tQ" +
           number(t.offset) + numbers(t.shape) + numbers(t.stride) + "\x89" +
           global("collections", "OrderedDict") + ")RtR";
}

/// An archive as PyTorch writes it, with this state (or any other pickled value) and these records.
inline std::string archive(const std::string& value,
                           const std::map<std::string, std::string>& records = {
                               {"0", std::string(16, '\0')}}) {
    std::vector<TestEntry> entries = {{"archive/data.pkl", pickle(value)},
                                      {"archive/byteorder", "little"},
                                      {"archive/version", "3\n"}};
    for (const auto& [key, bytes] : records) entries.push_back({"archive/data/" + key, bytes});
    return zipOf(entries);
}

}  // namespace relascope::testing_support
