// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/character_tokenizer.h"

#include <bit>

#include "files/sha256.h"
#include "text/words.h"

namespace relascope::core {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

}  // namespace

CharacterTokenizer::CharacterTokenizer(std::string name, std::vector<std::string> pieces,
                                       std::int32_t unknown)
    : m_name(std::move(name)), m_pieces(std::move(pieces)), m_unknown(unknown) {
    Sha256 hash;
    hash.addField("characters 1");
    hash.addField(std::to_string(m_unknown));
    for (std::size_t id = 0; id < m_pieces.size(); ++id) {
        hash.addField(m_pieces[id]);
        std::string_view rest = m_pieces[id];
        if (rest.empty()) continue;
        const auto c = takeCharacter(rest);
        if (!c || !rest.empty()) continue;  // only the unknown piece is no character
        if (*c >= m_ids.size()) m_ids.resize(*c + 1, m_unknown);
        m_ids[*c] = static_cast<std::int32_t>(id);
    }
    m_fingerprint = hash.hex();
}

void CharacterTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    while (!text.empty()) {
        const auto c = takeCharacter(text);
        ids.push_back(c && *c < m_ids.size() ? m_ids[*c] : m_unknown);
    }
}

std::size_t CharacterTokenizer::lastCut(std::string_view text) const {
    return wholeCharacters(text);
}

TokenizerPtr characterTokenizer(std::string_view characters) {
    CharacterSet set;
    set.add(characters);
    std::vector<std::string> pieces(1);
    appendUtf8(pieces[0], kReplacement);
    const std::string sorted = set.characters();
    for (std::string_view rest = sorted; !rest.empty();) {
        std::string piece;
        appendUtf8(piece, *takeCharacter(rest));
        if (piece != pieces[0]) pieces.push_back(std::move(piece));
    }
    return std::make_shared<CharacterTokenizer>("characters", std::move(pieces), 0);
}

void CharacterSet::add(std::string_view piece) {
    std::string joined;
    if (!m_rest.empty()) piece = joined = m_rest + std::string(piece);
    const std::size_t whole = wholeCharacters(piece);
    std::string rest(piece.substr(whole));
    piece = piece.substr(0, whole);
    while (!piece.empty())
        if (const auto c = takeCharacter(piece)) m_seen[*c / 64] |= std::uint64_t{1} << *c % 64;
    m_rest = std::move(rest);
}

std::string CharacterSet::characters() const {
    std::string text;
    for (std::size_t i = 0; i < m_seen.size(); ++i)
        for (std::uint64_t bits = m_seen[i]; bits != 0; bits &= bits - 1)
            appendUtf8(text, static_cast<char32_t>(64 * i) +
                                 static_cast<char32_t>(std::countr_zero(bits)));
    return text;
}

}  // namespace relascope::core
