// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/npy.h"

#include <cctype>
#include <cstring>
#include <optional>

namespace relascope::core {
namespace {

constexpr std::size_t kMaxNpyHeader = 64 * 1024;

// The Python dict literal of the header: exactly descr, fortran_order and shape, in any order.
class DictParser {
public:
    DictParser(std::string_view text, const std::string& path) : m_text(text), m_path(path) {}

    void parse() {
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr" && !m_descr)
                m_descr = quoted("descr must be a simple type such as '<i8'");
            else if (key == "fortran_order" && !m_fortran)
                m_fortran = boolean();
            else if (key == "shape" && !m_shape)
                m_shape = tuple();
            else
                fail("has a field '" + key.substr(0, 40) + "' that is unknown or given twice");
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skipSpace();
        if (m_at != m_text.size()) fail("has text after its dictionary");
        if (!m_descr || !m_fortran || !m_shape) fail("lacks descr, fortran_order or shape");
    }
    const std::string& descr() const { return *m_descr; }
    bool fortran() const { return *m_fortran; }
    const std::vector<std::int64_t>& shape() const { return *m_shape; }

    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(m_path, "its npy header " + why);
    }

private:
    void skipSpace() {
        while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at])))
            ++m_at;
    }
    bool accept(char c) {
        skipSpace();
        if (m_at >= m_text.size() || m_text[m_at] != c) return false;
        ++m_at;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(std::string("lacks a '") + c + "' at byte " + std::to_string(m_at));
    }
    std::string quoted(const char* otherwise = "needs a quoted name") {
        skipSpace();
        if (m_at >= m_text.size() || (m_text[m_at] != '\'' && m_text[m_at] != '"')) fail(otherwise);
        const char quote = m_text[m_at++];
        const auto end = m_text.find(quote, m_at);
        if (end == std::string_view::npos) fail("has an unterminated string");
        std::string text(m_text.substr(m_at, end - m_at));
        m_at = end + 1;
        return text;
    }
    bool boolean() {
        skipSpace();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (m_text.substr(m_at, word.size()) == word) return m_at += word.size(), value;
        }
        fail("needs True or False for fortran_order");
    }
    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> numbers;
        expect('(');
        while (!accept(')')) {
            skipSpace();
            std::int64_t value = 0;
            std::size_t digits = 0;
            while (m_at < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at]))) {
                if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
                    __builtin_add_overflow(value, m_text[m_at] - '0', &value))
                    fail("has a shape that overflows");
                ++m_at, ++digits;
            }
            if (digits == 0) fail("has a shape that is not a tuple of sizes");
            if (m_at < m_text.size() && m_text[m_at] == 'L') ++m_at;  // written by Python 2
            numbers.push_back(value);
            if (numbers.size() > 32) fail("has more than 32 dimensions");
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return numbers;
    }

    std::string_view m_text;
    const std::string& m_path;
    std::size_t m_at = 0;
    std::optional<std::string> m_descr;
    std::optional<bool> m_fortran;
    std::optional<std::vector<std::int64_t>> m_shape;
};

}  // namespace

std::uint64_t NpyHeader::elements() const {
    std::uint64_t count = 1;
    for (const auto n : shape) count *= static_cast<std::uint64_t>(n);
    return count;
}

std::size_t npyHeaderLength(std::span<const std::uint8_t> start, const std::string& path) {
    static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (std::memcmp(start.data(), magic, std::min<std::size_t>(6, start.size())) != 0)
        throw FileError(path, "is not a .npy array");
    if (start.size() < 12) return 0;
    const int major = start[6];
    if (major < 1 || major > 3)
        throw FileError(
            path, "is .npy version " + std::to_string(major) + "; versions 1 to 3 are supported");
    const std::size_t length = major == 1 ? start[8] | start[9] << 8
                                          : start[8] | start[9] << 8 | start[10] << 16 |
                                                static_cast<std::size_t>(start[11]) << 24;
    if (length > kMaxNpyHeader)
        throw FileError(path, "has an npy header of " + std::to_string(length) +
                                  " bytes; at most 65536 are allowed");
    return (major == 1 ? 10 : 12) + length;
}

NpyHeader parseNpyHeader(std::span<const std::uint8_t> bytes, const std::string& path) {
    if (bytes.size() < 12) throw FileError(path, "is truncated within its npy header");
    const std::size_t length = npyHeaderLength(bytes, path);
    if (bytes.size() < length) throw FileError(path, "is truncated within its npy header");
    const std::size_t start = bytes[6] == 1 ? 10 : 12;
    DictParser dict({reinterpret_cast<const char*>(bytes.data()) + start, length - start}, path);
    dict.parse();

    NpyHeader header;
    header.headerBytes = length;
    header.shape = dict.shape();
    const std::string& d = dict.descr();
    if (d.find('O') != std::string::npos)
        dict.fail("contains Python objects, which are not supported");
    const bool known = d.size() == 3 && std::strchr("<>|=", d[0]) && std::strchr("uifb", d[1]) &&
                       std::strchr("1248", d[2]);
    if (!known)
        dict.fail("has the type '" + d.substr(0, 40) +
                  "'; only plain integers and floats are supported");
    header.kind = d[1];
    header.itemBytes = d[2] - '0';
    header.bigEndian = d[0] == '>' && header.itemBytes > 1;
    std::uint64_t total = static_cast<std::uint64_t>(header.itemBytes);
    bool empty = false;
    for (const auto n : header.shape) empty = empty || n == 0;
    for (const auto n : header.shape)
        if (!empty && __builtin_mul_overflow(total, static_cast<std::uint64_t>(n), &total))
            dict.fail("has a shape that overflows");
    if (empty && header.shape.size() > 1)  // (0, huge, huge) must not wrap elements()
        for (auto& n : header.shape) n = std::min<std::int64_t>(n, 1 << 20);
    if (dict.fortran() && header.shape.size() > 1)
        dict.fail("is in Fortran order; convert it with numpy.ascontiguousarray");
    return header;
}

std::string makeNpyHeader(const std::string& descr, const std::vector<std::int64_t>& shape) {
    std::string sizes;
    for (const auto n : shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
    if (shape.size() == 1) sizes += ",";
    std::string dict =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
    dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 11, ' ');
    dict += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dict.size() & 0xff);
    bytes += static_cast<char>(dict.size() >> 8);
    return bytes + dict;
}

}  // namespace relascope::core
