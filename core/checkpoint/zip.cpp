// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>

#include "checkpoint/zip.h"
#include "files/crc32.h"
#include "types/text_piece.h"

namespace relascope::core {

std::string otherArchive(const std::string& entry) {
    if (entry.ends_with(".npy"))
        return "is an .npz archive of NumPy, not a checkpoint; save the weights as safetensors";
    if (entry.ends_with("/constants.pkl") || entry.find("/code/__torch__") != std::string::npos)
        return "is a TorchScript program; save model.state_dict() of the model instead";
    return {};
}

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50,
                        kEndOfDirectory = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint64_t kMaxDirectory = 256u << 20;
constexpr std::size_t kMaxEntryName = 4096;

std::uint16_t u16(const std::uint8_t* at) {
    return static_cast<std::uint16_t>(littleEndian(at, 2));
}
std::uint32_t u32(const std::uint8_t* at) {
    return static_cast<std::uint32_t>(littleEndian(at, 4));
}

// Names are never used as paths, but PyTorch writes no absolute names and none that lead outside.
bool leadsOutside(const std::string& name) {
    if (name.empty() || name[0] == '/' || name.find('\\') != std::string::npos ||
        name.find('\0') != std::string::npos)
        return true;
    for (std::size_t at = 0; at <= name.size();) {
        const auto end = std::min(name.find('/', at), name.size());
        if (name.compare(at, end - at, "..") == 0) return true;
        at = end + 1;
    }
    return false;
}

// Sizes and offset of 0xffffffff stand in the ZIP64 field instead; false when it lacks them.
bool readZip64(std::span<const std::uint8_t> extra, std::uint64_t& size, std::uint64_t& stored,
               std::uint64_t& offset) {
    const bool needed = size == 0xffffffff || stored == 0xffffffff || offset == 0xffffffff;
    while (needed && extra.size() >= 4) {
        const std::size_t length = u16(&extra[2]);
        if (length > extra.size() - 4) return false;
        auto field = extra.subspan(4, length);
        if (u16(extra.data()) == 1) {
            for (auto* value : {&size, &stored, &offset}) {
                if (*value != 0xffffffff) continue;
                if (field.size() < 8) return false;
                *value = littleEndian(field.data(), 8);
                field = field.subspan(8);
            }
            return true;
        }
        extra = extra.subspan(4 + length);
    }
    return !needed;
}

std::string entryText(const std::string& name) {
    return "entry '" + printable(name) + "' ";
}

}  // namespace

struct ZipDirectory::Found {
    std::uint64_t offset = 0, size = 0, entries = 0;
};

void ZipDirectory::fail(const std::string& reason) const {
    throw FileError(path(), reason);
}

ZipDirectory::ZipDirectory(std::shared_ptr<const ByteSource> bytes) : m_bytes(std::move(bytes)) {
    const Found found = findDirectory();
    readDirectory(found);
    std::vector<std::uint64_t> starts;  // starts of the local headers, which must not overlap
    for (auto& entry : m_entries) {
        starts.push_back(entry.offset);
        locate(entry, found.offset);
    }
    std::sort(m_entries.begin(), m_entries.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::sort(starts.begin(), starts.end());
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (starts[i] < end) fail(entryText(m_entries[i].name) + "overlaps another entry");
        end = m_entries[i].offset + m_entries[i].size;
    }
    m_byName.resize(m_entries.size());
    std::iota(m_byName.begin(), m_byName.end(), 0u);
    std::sort(m_byName.begin(), m_byName.end(),
              [&](auto a, auto b) { return m_entries[a].name < m_entries[b].name; });
    for (std::size_t i = 1; i < m_byName.size(); ++i)
        if (m_entries[m_byName[i]].name == m_entries[m_byName[i - 1]].name)
            fail(entryText(m_entries[m_byName[i]].name) + "appears twice");
}

// The end record is the last thing in the file but for a comment of at most 65535 bytes.
ZipDirectory::Found ZipDirectory::findDirectory() const {
    const std::uint64_t size = m_bytes->size();
    std::vector<std::uint8_t> tail(std::min<std::uint64_t>(size, 22 + 65535));
    m_bytes->read(size - tail.size(), tail);
    std::size_t at = tail.size();
    for (std::size_t i = tail.size() < 22 ? 0 : tail.size() - 21; i-- > 0;)
        if (u32(&tail[i]) == kEndOfDirectory && i + 22 + u16(&tail[i + 20]) == tail.size()) {
            at = i;
            break;
        }
    if (at == tail.size())
        fail("is a ZIP archive without its directory: it is truncated; copy or download it again");
    const auto* end = &tail[at];
    std::uint64_t position = size - tail.size() + at;
    Found found{u32(end + 16), u32(end + 12), u16(end + 10)};
    if (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != found.entries)
        fail("is one part of a multi-part ZIP archive; join the parts first");
    if (position >= 20) {
        std::uint8_t locator[20], record[56];
        m_bytes->read(position - 20, locator);
        if (u32(locator) == kLocator64) {
            const std::uint64_t start = littleEndian(locator + 8, 8);
            if (start > position - 20 || position - 20 - start < sizeof(record))
                fail("has a ZIP64 record beyond its end");
            m_bytes->read(start, record);
            if (u32(record) != kEnd64) fail("lacks the ZIP64 record that it refers to");
            found = {littleEndian(record + 48, 8), littleEndian(record + 40, 8),
                     littleEndian(record + 32, 8)};
            position = start;
        }
    }
    if (found.offset > position || found.size > position - found.offset)
        fail("has a directory beyond its end: it is truncated; copy or download it again");
    if (found.size > kMaxDirectory || found.entries > found.size / 46)
        fail("has a table of " + std::to_string(found.size) + " bytes for " +
             std::to_string(found.entries) + " entries, which is impossible");
    return found;
}

void ZipDirectory::readDirectory(const Found& found) {
    std::vector<std::uint8_t> table(found.size);
    m_bytes->read(found.offset, table);
    std::span<const std::uint8_t> rest(table);
    for (std::uint64_t i = 0; i < found.entries; ++i) {
        if (rest.size() < 46 || u32(rest.data()) != kCentralHeader)
            fail("has a damaged directory at entry " + std::to_string(i));
        const std::size_t name = u16(&rest[28]), extra = u16(&rest[30]), comment = u16(&rest[32]);
        if (rest.size() - 46 < name + extra + comment)
            fail("has a damaged directory at entry " + std::to_string(i));
        ZipEntry entry;
        entry.name.assign(reinterpret_cast<const char*>(rest.data()) + 46, name);
        entry.crc = u32(&rest[16]);
        std::uint64_t stored = u32(&rest[20]);
        entry.size = u32(&rest[24]);
        entry.offset = u32(&rest[42]);
        if (name > kMaxEntryName || leadsOutside(entry.name))
            fail(entryText(entry.name) + "has a name that points outside the archive");
        if (u16(&rest[8]) & 1) fail(entryText(entry.name) + "is encrypted");
        if (u16(&rest[10]) != 0)
            fail(otherArchive(entry.name).empty()
                     ? entryText(entry.name) +
                           "is compressed, which is not supported; save the model again with "
                           "torch.save, or unpack this and pack it with zip -0 -r"
                     : otherArchive(entry.name));
        if (!readZip64(rest.subspan(46 + name, extra), entry.size, stored, entry.offset))
            fail(entryText(entry.name) + "lacks its ZIP64 sizes");
        if (stored != entry.size)
            fail(entryText(entry.name) + "is stored, but with two sizes: " +
                 std::to_string(stored) + " and " + std::to_string(entry.size) + " bytes");
        m_entries.push_back(std::move(entry));
        rest = rest.subspan(46 + name + extra + comment);
    }
}

// Replaces the offset of the local header by that of the bytes, which end before the directory.
void ZipDirectory::locate(ZipEntry& entry, std::uint64_t directory) const {
    if (entry.offset > directory || directory - entry.offset < 30)
        fail(entryText(entry.name) + "is beyond the end of the entries");
    std::uint8_t local[30];
    m_bytes->read(entry.offset, local);
    const std::uint64_t start = entry.offset + 30 + u16(local + 26) + u16(local + 28);
    if (u32(local) != kLocalHeader || u16(local + 8) != 0 || u16(local + 26) != entry.name.size())
        fail(entryText(entry.name) + "is not at the offset given in the directory");
    if (start > directory || entry.size > directory - start)
        fail(entryText(entry.name) + "is declared to have " + std::to_string(entry.size) +
             " bytes, more than the file contains");
    std::string name(entry.name.size(), '\0');
    m_bytes->read(entry.offset + 30, {reinterpret_cast<std::uint8_t*>(name.data()), name.size()});
    if (name != entry.name)
        fail(entryText(entry.name) + "has a different name in its local header");
    entry.offset = start;
}

const ZipEntry* ZipDirectory::find(std::string_view name) const {
    const auto found = std::lower_bound(m_byName.begin(), m_byName.end(), name,
                                        [&](auto i, auto key) { return m_entries[i].name < key; });
    if (found == m_byName.end() || m_entries[*found].name != name) return nullptr;
    return &m_entries[*found];
}

std::vector<std::uint8_t> ZipDirectory::read(const ZipEntry& entry, std::uint64_t limit) const {
    if (entry.size > limit)
        fail(entryText(entry.name) + "is " + std::to_string(entry.size) +
             " bytes long, more than the " + std::to_string(limit) + " that are allowed");
    std::vector<std::uint8_t> bytes(entry.size);
    m_bytes->read(entry.offset, bytes);
    if (crc32Of(0, bytes.data(), bytes.size()) != entry.crc)
        fail(entryText(entry.name) +
             "is damaged (its CRC differs); copy or download the file again");
    return bytes;
}

void ZipDirectory::readPart(const ZipEntry& entry, std::uint64_t at, std::span<std::uint8_t> out,
                            std::stop_token stop) const {
    if (at > entry.size || out.size() > entry.size - at)
        fail(entryText(entry.name) + "ends before byte " + std::to_string(at + out.size()));
    m_bytes->read(entry.offset + at, out, std::move(stop));
}

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
