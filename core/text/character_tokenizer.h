// SPDX-License-Identifier: GPL-3.0-or-later
// One token a character.
#pragma once

#include "text/tokenizer.h"

namespace relascope::core {

class CharacterTokenizer : public Tokenizer {
public:
    /// `pieces` by id: the piece of `unknown` replaces all other characters; the other pieces are
    /// distinct single characters (UTF-8), or empty for an id without one.
    CharacterTokenizer(std::string name, std::vector<std::string> pieces, std::int32_t unknown);

    std::string name() const override { return m_name; }
    std::int64_t size() const override { return static_cast<std::int64_t>(m_pieces.size()); }
    void encode(std::string_view text, std::vector<std::int32_t>& ids) const override;
    std::string_view piece(std::int32_t id) const override {
        return m_pieces.at(static_cast<std::size_t>(id));
    }
    const std::string& fingerprint() const override { return m_fingerprint; }
    std::size_t lastCut(std::string_view text) const override;

    const std::vector<std::string>& pieces() const { return m_pieces; }
    std::int32_t unknown() const { return m_unknown; }
    std::optional<std::int32_t> unknownToken() const override { return m_unknown; }

private:
    std::string m_name;
    std::vector<std::string> m_pieces;
    std::int32_t m_unknown;
    std::vector<std::int32_t> m_ids;  // by code point, up to the largest
    std::string m_fingerprint;
};

/// Collects the characters of a text that is given in pieces.
class CharacterSet {
public:
    /// Adds the characters of a piece; a character may be split between two pieces.
    void add(std::string_view piece);
    /// All characters in the order of their code points, as UTF-8.
    std::string characters() const;

private:
    std::vector<std::uint64_t> m_seen = std::vector<std::uint64_t>(0x110000 / 64);  // a bit each
    std::string m_rest;
};

}  // namespace relascope::core
