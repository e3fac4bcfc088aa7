// SPDX-License-Identifier: GPL-3.0-or-later
// SentencePiece's precompiled_charsmap: a table of texts and what replaces them
// (builder.h of SentencePiece; the tree is darts-clone's).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relascope::core {

/// Immutable, for all threads.
class Charsmap {
public:
    /// `bytes`: u32 size of the tree, the tree of 32-bit units, then texts that end in 0, all
    /// little endian. Throws FileError(file, ...) for one that is cut or has a text outside of
    /// them.
    Charsmap(std::string bytes, std::string file);

    /// The text with its graphemes or characters replaced: a grapheme of fewer than 6 bytes by the
    /// shortest entry that it begins with, one that is longer or has none by its characters. Bytes
    /// that are no UTF-8 stay. Throws FileError where the text gets longer than `most` bytes.
    std::string apply(std::string_view text, std::size_t most) const;
    const std::string& bytes() const { return m_bytes; }

private:
    struct Entry {
        std::string_view text;
        bool there = false;
    };
    [[noreturn]] void fail(const std::string& why) const;
    void checkPlaces() const;
    Entry find(std::string_view key) const;

    std::string m_bytes, m_file;
    std::vector<std::uint32_t> m_tree;
    std::string_view m_texts;
    std::array<Entry, 128> m_ascii;  ///< most texts are mostly these
};

}  // namespace relascope::core
