// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/piece_model.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include "types/text_piece.h"

namespace relascope::core {

WordPieces::WordPieces(Parts parts)
    : m_prefix(parts.prefix), m_unknown(parts.unknown), m_longest(parts.longest) {
    std::vector<std::pair<std::string_view, std::int32_t>> begin, inside;
    for (std::size_t id = 0; id < parts.pieces.size(); ++id) {
        const std::string_view piece = parts.pieces[id];
        begin.emplace_back(piece, static_cast<std::int32_t>(id));
        if (piece.starts_with(m_prefix))
            inside.emplace_back(piece.substr(m_prefix.size()), static_cast<std::int32_t>(id));
    }
    m_begin = PieceTrie(std::move(begin));
    m_inside = PieceTrie(std::move(inside));
}

void WordPieces::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
    const auto before = ids.size();
    const auto isBegin = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    bool whole = word.size() <= m_longest || static_cast<std::size_t>(std::count_if(
                                                 word.begin(), word.end(), isBegin)) <= m_longest;
    for (std::size_t at = 0; whole && at < word.size();) {
        std::size_t longest = 0;
        std::int32_t id = 0;
        (at == 0 ? m_begin : m_inside)
            .prefixes(word.substr(at),
                      [&](std::size_t bytes, std::int32_t known) { longest = bytes, id = known; });
        whole = longest > 0;
        if (whole) ids.push_back(id);
        at += longest;
    }
    if (whole) return;
    ids.resize(before);
    ids.push_back(m_unknown);
}

std::string WordPieces::key() const {
    return "word pieces " + std::to_string(m_unknown) + " " + std::to_string(m_longest) + " " +
           m_prefix;
}

Unigram::Unigram(Parts parts)
    : m_scores(std::move(parts.scores)), m_unknown(parts.unknown), m_bytes(parts.bytes) {
    std::vector<std::pair<std::string_view, std::int32_t>> pieces;
    for (std::size_t id = 0; id < parts.pieces.size(); ++id)
        pieces.emplace_back(parts.pieces[id], static_cast<std::int32_t>(id));
    m_trie = PieceTrie(std::move(pieces));
    constexpr double kPenalty = 10.0;  // SentencePiece's
    if (!m_scores.empty())
        m_unknownScore = *std::min_element(m_scores.begin(), m_scores.end()) - kPenalty;
}

void Unigram::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
    constexpr std::int32_t kUnknown = -1;
    struct Cut {  // the best cut of the text up to here
        double score = -std::numeric_limits<double>::infinity();
        std::uint32_t begin = 0;  ///< where its last piece begins
        std::int32_t id = kUnknown;
        bool there = false;
    };
    // A text of more than 4 GB is not given in one piece.
    std::vector<Cut> cuts(word.size() + 1);
    cuts[0] = {0.0, 0, kUnknown, true};
    for (std::size_t at = 0; at < word.size();) {
        const auto rest = word.substr(at);
        const std::size_t one = std::max<std::size_t>(1, utf8Length(rest));
        const double here = cuts[at].score;
        const auto offer = [&](std::size_t bytes, double score, std::int32_t id) {
            auto& cut = cuts[at + bytes];
            if (!cut.there || here + score > cut.score)
                cut = {here + score, static_cast<std::uint32_t>(at), id, true};
        };
        bool single = false;
        m_trie.prefixes(rest, [&](std::size_t bytes, std::int32_t id) {
            offer(bytes, m_scores[static_cast<std::size_t>(id)], id);
            single = single || bytes == one;
        });
        if (!single) offer(one, m_unknownScore, kUnknown);
        at += one;
    }
    std::vector<std::pair<std::size_t, std::int32_t>> pieces;  // begin and id, the last first
    for (std::size_t end = word.size(); end > 0; end = cuts[end].begin)
        pieces.emplace_back(cuts[end].begin, cuts[end].id);
    // A piece that is the unknown token itself counts as unknown.
    const auto isUnknown = [&](std::int32_t id) { return id == kUnknown || id == m_unknown; };
    for (auto i = pieces.size(); i-- > 0;) {
        const auto [begin, id] = pieces[i];
        if (!isUnknown(id)) {
            ids.push_back(id);
            continue;
        }
        while (i > 0 && isUnknown(pieces[i - 1].second)) --i;
        const auto end = i == 0 ? word.size() : pieces[i - 1].first;
        putUnknown(word.substr(begin, end - begin), ids);
    }
}

void Unigram::putUnknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (const auto known = m_trie.find(text)) return ids.push_back(*known);
    const auto byteId = [&](char c) { return (*m_bytes)[static_cast<unsigned char>(c)]; };
    if (m_bytes && std::all_of(text.begin(), text.end(), [&](char c) { return byteId(c) >= 0; }))
        for (const char c : text) ids.push_back(byteId(c));
    else if (m_unknown)
        ids.push_back(*m_unknown);
}

std::string Unigram::key() const {
    std::string key = "unigram " + std::to_string(m_unknown.value_or(-1)) + (m_bytes ? " b" : "");
    char number[32];
    for (const double score : m_scores) {
        std::snprintf(number, sizeof number, " %.17g", score);
        key += number;
    }
    return key;
}

}  // namespace relascope::core
