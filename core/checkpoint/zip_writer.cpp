// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/zip_writer.h"

#include "files/crc32.h"

namespace relascope::core {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kLarge = 0xffffffff;  // from this value on a field is stored as ZIP64
// Bit 3: CRC and sizes follow the bytes. Bit 11: the name is UTF-8.
constexpr std::uint64_t kFlags = 0x0808;

std::string& append(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
}

std::uint64_t small(std::uint64_t value) {
    return value >= kLarge ? kLarge : value;
}

}  // namespace

void ZipWriter::put(const std::string& bytes) {
    m_file.write(bytes);
    m_offset += bytes.size();
}

void ZipWriter::begin(const std::string& name, std::uint64_t size) {
    m_entries.push_back({name, m_offset, size, 0});
    m_left = size;
    std::string extra;
    if (size >= kLarge) {
        append(append(extra, 1, 2), 16, 2);
        append(append(extra, size, 8), size, 8);
    }
    const std::uint64_t start = m_offset + 30 + name.size() + extra.size() + 4;
    const std::uint64_t padding = (kAlignment - start % kAlignment) % kAlignment;
    append(extra += "FB", padding, 2).append(padding, 'Z');
    std::string header;
    append(header, 0x04034b50, 4);
    append(header, size >= kLarge ? 45 : 0, 2);
    append(append(header, kFlags, 2), 0, 2);                                     // stored
    append(append(append(header, 0, 4), 0, 4), size >= kLarge ? kLarge : 0, 4);  // time, CRC, size
    append(header, size >= kLarge ? kLarge : 0, 4);
    append(append(header, name.size(), 2), extra.size(), 2);
    put(header + name + extra);
}

void ZipWriter::write(std::span<const std::uint8_t> bytes) {
    if (m_entries.empty() || bytes.size() > m_left)
        throw FileError(m_path, "was given more bytes than announced");
    auto& entry = m_entries.back();
    m_file.write(bytes.data(), bytes.size());
    entry.crc = crc32Of(entry.crc, bytes.data(), bytes.size());
    m_offset += bytes.size();
    m_left -= bytes.size();
}

void ZipWriter::end() {
    if (m_left != 0) throw FileError(m_path, "was given fewer bytes than announced");
    const auto& entry = m_entries.back();
    const int width = entry.size >= kLarge ? 8 : 4;
    std::string descriptor;
    append(append(descriptor, 0x08074b50, 4), entry.crc, 4);
    append(append(descriptor, entry.size, width), entry.size, width);
    put(descriptor);
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
    begin(name, bytes.size());
    write({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    end();
}

void ZipWriter::commit() {
    const std::uint64_t start = m_offset;
    for (const auto& entry : m_entries) {
        std::string extra, large;
        if (entry.size >= kLarge) append(append(large, entry.size, 8), entry.size, 8);
        if (entry.offset >= kLarge) append(large, entry.offset, 8);
        if (!large.empty()) append(append(extra, 1, 2), large.size(), 2) += large;
        std::string header;
        append(header, 0x02014b50, 4);
        append(append(header, 0, 2), large.empty() ? 0 : 45, 2);
        append(append(append(header, kFlags, 2), 0, 2), 0, 4);
        append(append(append(header, entry.crc, 4), small(entry.size), 4), small(entry.size), 4);
        append(append(header, entry.name.size(), 2), extra.size(), 2);
        append(append(append(header, 0, 2), 0, 4), 0, 4);  // comment, disk, attributes
        append(header, small(entry.offset), 4);
        put(header + entry.name + extra);
    }
    const std::uint64_t size = m_offset - start, count = m_entries.size(), end64 = m_offset;
    std::string tail;
    append(append(tail, 0x06064b50, 4), 44, 8);
    append(append(append(append(tail, 45, 2), 45, 2), 0, 4), 0, 4);
    append(append(append(append(tail, count, 8), count, 8), size, 8), start, 8);
    append(append(append(append(tail, 0x07064b50, 4), 0, 4), end64, 8), 1, 4);
    const std::uint64_t few = count >= 0xffff ? 0xffff : count;
    append(append(append(tail, 0x06054b50, 4), 0, 4), few, 2);
    append(append(append(append(tail, few, 2), small(size), 4), small(start), 4), 0, 2);
    put(tail);
    m_file.commit();
}

}  // namespace relascope::core
