// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace relascope::core {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxTensors = 1'000'000;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxName = 4096;
using Fault = SafetensorsFault;
using nlohmann::json;

// Reads the header as it streams by: nothing nested deeper than the format has, no key twice,
// integers as integers. Keeps the first fault.
class HeaderHandler : public nlohmann::json_sax<json> {
public:
    Fault fault = Fault::InvalidHeaderDeserialization;
    std::string reason;
    std::vector<TensorEntry> tensors;
    std::map<std::string, std::string> metadata;

    bool null() override {
        // Some programs write null for a file without metadata.
        if (m_where == Where::Top && m_key == "__metadata__") return true;
        return refuse("a null where a value belongs");
    }
    bool boolean(bool) override { return refuse("a boolean where a value belongs"); }
    bool number_integer(number_integer_t) override {
        if (m_where == Where::Offsets) return refuse(Fault::InvalidOffset, "a negative offset");
        return refuse(Fault::TensorInvalidInfo, "a negative number");
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (m_where == Where::Shape) {
            if (m_entry.shape.size() >= kMaxRank)
                return refuse(Fault::TensorInvalidInfo, "more than 64 dimensions");
            if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
                return refuse(Fault::ValidationOverflow, "the shape overflows");
            m_entry.shape.push_back(static_cast<std::int64_t>(value));
            return true;
        }
        if (m_where == Where::Offsets) {
            if (m_offsets.size() >= 2)
                return refuse(Fault::InvalidOffset, "data_offsets needs two numbers");
            m_offsets.push_back(value);
            return true;
        }
        return refuse("a number where none belongs");
    }
    bool number_float(number_float_t, const string_t& text) override {
        // The JSON library reads integers beyond 64 bits as floating point.
        const bool integer = text.find_first_of(".eE") == std::string::npos;
        return m_where == Where::Shape && integer
                   ? refuse(Fault::ValidationOverflow, "the shape overflows")
                   : refuse("a fraction where an integer belongs");
    }
    bool string(string_t& text) override {
        if (m_where == Where::Metadata) return metadata[m_key] = text, true;
        if (m_where == Where::Entry && m_field == "dtype") return m_entry.dtype = text, true;
        return refuse("a string where none belongs");
    }
    bool binary(binary_t&) override { return refuse("binary data"); }

    bool start_object(std::size_t) override {
        if (m_where == Where::Outside) return m_where = Where::Top, true;
        if (m_where == Where::Top) {
            if (m_key == "__metadata__") return m_where = Where::Metadata, m_seen.clear(), true;
            if (tensors.size() >= kMaxTensors)
                return refuse(Fault::TooManyTensors, "more than a million tensors");
            m_entry = TensorEntry{m_key, "", {}, 0, 0};
            m_fields.clear();
            m_offsets.clear();
            return m_where = Where::Entry, true;
        }
        return refuse("an object where none belongs");
    }
    bool key(string_t& name) override {
        if (m_where == Where::Top) {
            m_key = name;
            if (name.size() > kMaxName) return refuse("a name longer than 4096 bytes");
            return m_names.insert(name).second ||
                   refuse(Fault::DuplicateKey, "the name appears twice");
        }
        if (m_where == Where::Metadata)
            return m_key = name, m_seen.insert(name).second ||
                                     refuse(Fault::DuplicateKey, "the key appears twice");
        m_field = name;
        if (name != "dtype" && name != "shape" && name != "data_offsets")
            return refuse("unknown field '" + name.substr(0, 40) + "'");
        return m_fields.insert(name).second ||
               refuse(Fault::DuplicateKey, "field '" + name + "' appears twice");
    }
    bool end_object() override {
        if (m_where == Where::Metadata) return m_where = Where::Top, true;
        if (m_where == Where::Entry) {
            if (m_fields.size() != 3) return refuse("needs dtype, shape and data_offsets");
            if (m_offsets.size() != 2)
                return refuse(Fault::InvalidOffset, "data_offsets needs two numbers");
            m_entry.begin = m_offsets[0];
            m_entry.end = m_offsets[1];
            tensors.push_back(std::move(m_entry));
            return m_where = Where::Top, true;
        }
        return m_where = Where::Outside, true;
    }
    bool start_array(std::size_t) override {
        if (m_where != Where::Entry) return refuse("an array where none belongs");
        if (m_field == "shape") return m_where = Where::Shape, true;
        if (m_field == "data_offsets") return m_where = Where::Offsets, true;
        return refuse("an array where none belongs");
    }
    bool end_array() override { return m_where = Where::Entry, true; }
    bool parse_error(std::size_t position, const std::string&,
                     const json::exception& error) override {
        const bool utf8 = std::string(error.what()).find("UTF-8") != std::string::npos;
        fault = utf8 ? Fault::InvalidHeader : Fault::InvalidHeaderDeserialization;
        reason = (utf8 ? "the header is not UTF-8 at byte " : "the header is not JSON at byte ") +
                 std::to_string(position);
        return false;
    }

private:
    enum class Where { Outside, Top, Metadata, Entry, Shape, Offsets };

    bool refuse(const std::string& why) { return refuse(Fault::InvalidHeaderDeserialization, why); }
    bool refuse(Fault what, const std::string& why) {
        fault = what;
        reason = (m_key.empty() ? "header: " : "tensor '" + m_key.substr(0, 200) + "': ") + why;
        return false;
    }

    Where m_where = Where::Outside;
    std::string m_key, m_field;
    TensorEntry m_entry;
    std::vector<std::uint64_t> m_offsets;
    std::set<std::string> m_fields, m_seen, m_names;
};

// shape and dtype against the offsets, each product with an overflow check.
void checkSize(const TensorEntry& t, const std::string& path) {
    const auto fail = [&](Fault fault, const std::string& why) {
        throw SafetensorsError(fault, path, "tensor '" + t.name.substr(0, 200) + "': " + why);
    };
    const int bits = dtypeBits(t.dtype);
    if (bits == 0) fail(Fault::UnknownDtype, "unknown dtype '" + t.dtype.substr(0, 40) + "'");
    std::uint64_t elements = 1;
    for (const auto size : t.shape)
        if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements))
            fail(Fault::ValidationOverflow, "the shape overflows");
    std::uint64_t total = 0;
    if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(bits), &total))
        fail(Fault::ValidationOverflow, "the size in bits overflows");
    if (total % 8 != 0) fail(Fault::MisalignedSlice, "the size is not a whole number of bytes");
    if (t.bytes() != total / 8)
        fail(Fault::TensorInvalidInfo, "its shape and dtype need " + std::to_string(total / 8) +
                                           " bytes, its offsets give " + std::to_string(t.bytes()));
}

}  // namespace

int dtypeBits(std::string_view dtype) {
    static const std::map<std::string_view, int> bits = {
        {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
        {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
        {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
        {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
        {"I64", 64},        {"U64", 64}};
    const auto found = bits.find(dtype);
    return found == bits.end() ? 0 : found->second;
}

SafetensorsHeader parseSafetensorsHeader(std::span<const std::uint8_t> prefix,
                                         std::uint64_t fileSize, const std::string& path) {
    if (fileSize < 8 || prefix.size() < 8)
        throw SafetensorsError(
            Fault::HeaderTooSmall, path,
            "is " + std::to_string(fileSize) + " bytes long; a safetensors file has at least 8");
    const std::uint64_t length = littleEndian(prefix.data(), 8);
    if (length > kMaxHeader)
        throw SafetensorsError(
            Fault::HeaderTooLarge, path,
            "is not a safetensors file: it does not begin with the length of a header");
    if (length > fileSize - 8)
        throw SafetensorsError(Fault::InvalidHeaderLength, path,
                               "is " + std::to_string(8 + length - fileSize) +
                                   " bytes shorter than its header declares");
    if (prefix.size() - 8 < length)
        throw SafetensorsError(Fault::Unreadable, path, "the header could not be read completely");

    HeaderHandler handler;
    const auto* text = reinterpret_cast<const char*>(prefix.data()) + 8;
    if (!json::sax_parse(text, text + length, &handler))
        throw SafetensorsError(handler.fault, path, handler.reason);

    SafetensorsHeader header;
    header.tensors = std::move(handler.tensors);
    header.metadata = std::move(handler.metadata);
    header.dataStart = 8 + length;
    std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t at = 0;
    for (const auto& t : header.tensors) {
        if (t.begin != at || t.end < t.begin)
            throw SafetensorsError(Fault::InvalidOffset, path,
                                   "tensor '" + t.name.substr(0, 200) + "': data_offsets [" +
                                       std::to_string(t.begin) + ", " + std::to_string(t.end) +
                                       "] leave a hole or overlap; expected a start of " +
                                       std::to_string(at));
        checkSize(t, path);
        at = t.end;
    }
    const std::uint64_t data = fileSize - header.dataStart;
    if (at > data)
        throw SafetensorsError(
            Fault::MetadataIncompleteBuffer, path,
            "file is " + std::to_string(at - data) + " bytes shorter than its header declares");
    if (at < data)
        throw SafetensorsError(Fault::MetadataIncompleteBuffer, path,
                               "has " + std::to_string(data - at) + " bytes after its last tensor");
    return header;
}

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(openFileBytes(path)) {}

SafetensorsFile::SafetensorsFile(std::shared_ptr<const ByteSource> bytes)
    : m_bytes(std::move(bytes)) {
    const std::uint64_t size = m_bytes->size();
    std::vector<std::uint8_t> prefix(std::min<std::uint64_t>(size, 8));
    m_bytes->read(0, prefix);
    if (prefix.size() == 8) {
        const std::uint64_t length = littleEndian(prefix.data(), 8);
        if (length <= kMaxHeader && length <= size - 8) {  // else the parser reports the fault
            prefix.resize(8 + length);
            m_bytes->read(8, std::span(prefix).subspan(8));
        }
    }
    m_header = parseSafetensorsHeader(prefix, size, path());
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
    for (const auto& t : m_header.tensors)
        if (t.name == name) return &t;
    return nullptr;
}

void SafetensorsFile::read(const TensorEntry& entry, std::span<std::uint8_t> out) const {
    if (out.size() != entry.bytes())
        throw SafetensorsError(Fault::Unreadable, path(),
                               "tensor '" + entry.name + "': wrong buffer");
    readPart(entry, 0, out);
}

void SafetensorsFile::readPart(const TensorEntry& entry, std::uint64_t at,
                               std::span<std::uint8_t> out, std::stop_token stop) const {
    if (at > entry.bytes() || out.size() > entry.bytes() - at)
        throw SafetensorsError(Fault::Unreadable, path(),
                               "tensor '" + entry.name + "': a range beyond its end");
    m_bytes->read(m_header.dataStart + entry.begin + at, out, std::move(stop));
}

namespace {

// Sorts the tensors, gives them their offsets, and makes the length and the header of the file.
std::string layOut(const std::string& path, std::vector<TensorEntry>& tensors,
                   const std::map<std::string, std::string>& metadata) {
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        const int left = dtypeBits(a.dtype), right = dtypeBits(b.dtype);
        return left != right ? left > right : a.name < b.name;
    });
    nlohmann::ordered_json entries = nlohmann::ordered_json::object();
    if (!metadata.empty()) entries["__metadata__"] = metadata;
    std::uint64_t at = 0;
    std::set<std::string> names = {"__metadata__"};
    for (auto& t : tensors) {
        const std::uint64_t bytes = t.bytes();
        t.begin = at, t.end = at += bytes;
        checkSize(t, path);
        if (!names.insert(t.name).second)
            throw FileError(path, "tensor '" + t.name + "' is given twice");
        // Pushed back, as the members of an ordered object are searched one by one.
        entries.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(
            t.name,
            nlohmann::ordered_json(
                {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {t.begin, t.end}}}));
    }
    std::string text = entries.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    if (text.size() > kMaxHeader)
        throw FileError(path, "the header would be longer than the format allows");
    std::string length(8, '\0');
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
    return length + text;
}

struct TensorsAtHand {
    std::vector<TensorEntry> entries;
    std::map<std::string_view, std::span<const std::uint8_t>> data;
};

TensorsAtHand tensorsAtHand(const std::vector<TensorToWrite>& tensors) {
    TensorsAtHand all;
    for (const auto& t : tensors) {
        all.entries.push_back({t.name, t.dtype, t.shape, 0, t.data.size()});
        all.data[t.name] = t.data;
    }
    return all;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorEntry> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : m_file(path), m_path(path), m_tensors(std::move(tensors)) {
    m_file.write(layOut(path, m_tensors, metadata));
}

void SafetensorsWriter::write(std::span<const std::uint8_t> bytes) {
    m_file.write(bytes.data(), bytes.size());
    m_written += bytes.size();
}

void SafetensorsWriter::commit() {
    const std::uint64_t expected = m_tensors.empty() ? 0 : m_tensors.back().end;
    if (m_written != expected)
        throw FileError(m_path, "was given " + std::to_string(m_written) + " bytes of " +
                                    std::to_string(expected));
    m_file.commit();
}

void writeSafetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                      const std::map<std::string, std::string>& metadata) {
    const auto all = tensorsAtHand(tensors);
    SafetensorsWriter writer(path, all.entries, metadata);
    for (const auto& entry : writer.tensors()) writer.write(all.data.at(entry.name));
    writer.commit();
}

void appendSafetensors(std::vector<std::uint8_t>& out, const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata) {
    auto all = tensorsAtHand(tensors);
    const std::string header = layOut("a message", all.entries, metadata);
    out.insert(out.end(), header.begin(), header.end());
    for (const auto& entry : all.entries) {
        const auto bytes = all.data.at(entry.name);
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
}

}  // namespace relascope::core
