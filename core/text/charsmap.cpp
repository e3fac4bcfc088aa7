// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/charsmap.h"

#include <utf8proc.h>

#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

std::uint32_t littleEndian32(const char* at) {
    std::uint32_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(at[i]);
    return value;
}

constexpr std::uint32_t kLabel = 0x800000FF, kHasText = 0x100, kPlace = 0x7FFFFFFF;

constexpr std::uint32_t offsetOf(std::uint32_t unit) {
    return unit >> 10 << (unit >> 6 & 8);
}

}  // namespace

Charsmap::Charsmap(std::string bytes, std::string file)
    : m_bytes(std::move(bytes)), m_file(std::move(file)) {
    if (m_bytes.size() < 4)
        fail("has " + std::to_string(m_bytes.size()) + " bytes; at least 4 are needed");
    const std::uint64_t size = littleEndian32(m_bytes.data());
    if (size % 4 != 0 || size == 0 || size + 4 > m_bytes.size())
        fail("has a tree of " + std::to_string(size) + " bytes in " +
             std::to_string(m_bytes.size()) + ", so it is cut");
    m_tree.reserve(size / 4);
    for (std::size_t at = 4; at < 4 + size; at += 4)
        m_tree.push_back(littleEndian32(m_bytes.data() + at));
    m_texts = std::string_view(m_bytes).substr(4 + size);
    if (!m_texts.empty() && m_texts.back() != '\0') fail("has a last text that does not end");
    checkPlaces();
    for (std::size_t i = 0; i < m_ascii.size(); ++i) {
        const char c = static_cast<char>(i);
        m_ascii[i] = find({&c, 1});
    }
}

void Charsmap::fail(const std::string& why) const {
    throw FileError(m_file, "normalizer.precompiled_charsmap " + why);
}

// Every place that a search can reach is visited once, so that find() needs no bounds.
void Charsmap::checkPlaces() const {
    std::vector<bool> seen(m_tree.size());
    std::vector<std::uint32_t> open = {offsetOf(m_tree[0])};
    while (!open.empty()) {
        const auto from = open.back();
        open.pop_back();
        for (std::uint32_t byte = 1; byte < 256; ++byte) {
            const auto at = from ^ byte;
            if (at >= m_tree.size() || (m_tree[at] & kLabel) != byte || seen[at]) continue;
            seen[at] = true;
            const auto next = at ^ offsetOf(m_tree[at]);
            open.push_back(next);
            if ((m_tree[at] & kHasText) == 0) continue;
            if (next >= m_tree.size())
                fail("has an entry at unit " + std::to_string(next) + ", but its tree has " +
                     std::to_string(m_tree.size()));
            if (const auto place = m_tree[next] & kPlace; place >= m_texts.size())
                fail("has a text at byte " + std::to_string(place) + ", but its texts have " +
                     std::to_string(m_texts.size()));
        }
    }
}

Charsmap::Entry Charsmap::find(std::string_view key) const {
    std::uint32_t at = offsetOf(m_tree[0]);
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        at ^= byte;
        if (byte == 0 || at >= m_tree.size() || (m_tree[at] & kLabel) != byte) return {};
        const auto unit = m_tree[at];
        at ^= offsetOf(unit);
        if ((unit & kHasText) == 0) continue;
        const auto place = m_tree[at] & kPlace;
        return {m_texts.substr(place, m_texts.find('\0', place) - place), true};
    }
    return {};
}

std::string Charsmap::apply(std::string_view text, std::size_t most) const {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    const auto put = [&](std::string_view part) {
        if (out.size() + part.size() > most)
            fail("makes more than " + std::to_string(most) + " bytes of a text");
        out += part;
    };
    const auto putOne = [&](std::string_view character) {
        const auto entry = find(character);
        put(entry.there ? entry.text : character);
    };
    const auto isAscii = [](char c) { return static_cast<signed char>(c) >= 0; };
    while (!text.empty()) {
        // An ASCII character before another one is a grapheme, but CR before LF.
        if (isAscii(text[0]) && (text.size() == 1 || (isAscii(text[1]) && text[0] != '\r'))) {
            const auto& entry = m_ascii[static_cast<std::size_t>(text[0])];
            put(entry.there ? entry.text : text.substr(0, 1));
            text.remove_prefix(1);
            continue;
        }
        auto rest = text;
        auto last = takeCharacter(rest);
        if (!last) {
            put(text.substr(0, 1));
            text = rest;
            continue;
        }
        utf8proc_int32_t state = 0;
        while (!rest.empty()) {
            auto behind = rest;
            const auto next = takeCharacter(behind);
            if (!next ||
                utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(*last),
                                                 static_cast<utf8proc_int32_t>(*next), &state))
                break;
            last = next, rest = behind;
        }
        auto grapheme = text.substr(0, text.size() - rest.size());
        text = rest;
        if (grapheme.size() < 6) {
            if (const auto entry = find(grapheme); entry.there) {
                put(entry.text);
                continue;
            }
        }
        while (!grapheme.empty()) {
            const auto length = utf8Length(grapheme);
            putOne(grapheme.substr(0, length));
            grapheme.remove_prefix(length);
        }
    }
    return out;
}

}  // namespace relascope::core
