// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/words.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace relascope::core {

const std::string& whiteSpaceClass() {
    static const std::string space =
        "\\x09-\\x0D\\x20\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}"
        "\\x{205F}\\x{3000}";
    return space;
}

const std::string& gpt2Pattern() {
    static const std::string pattern = [] {
        const std::string& space = whiteSpaceClass();
        return "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" + space + "\\p{L}\\p{N}]+|[" +
               space + "]+(?![^" + space + "])|[" + space + "]+";
    }();
    return pattern;
}

namespace {

// The classes are spelled out: PCRE2's \s includes U+180E, which is not white space in Unicode.
const pcre2_code* wordPattern() {
    static const pcre2_code* code = [] {
        const std::string& pattern = gpt2Pattern();
        int error = 0;
        PCRE2_SIZE at = 0;
        auto* compiled =
            pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                          PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &error, &at, nullptr);
        if (!compiled) throw std::logic_error("GPT-2's pattern does not compile");
        pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without JIT matching is slow
        return compiled;
    }();
    return code;
}

}  // namespace

std::optional<char32_t> lastCharacter(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && text.size() - begin < 4) {
        --begin;
        if ((static_cast<unsigned char>(text[begin]) & 0xC0) != 0x80) break;
    }
    if (begin == text.size()) return std::nullopt;
    auto rest = text.substr(begin);
    const auto character = takeCharacter(rest);
    return rest.empty() ? character : std::nullopt;
}

std::size_t spacesBefore(std::string_view text) {
    const auto whole = text.size();
    for (auto c = lastCharacter(text); c && isWhiteSpace(*c); c = lastCharacter(text)) {
        std::string one;
        appendUtf8(one, *c);
        text.remove_suffix(one.size());
    }
    return whole - text.size();
}

std::size_t spacesBehind(std::string_view text) {
    const auto whole = text.size();
    for (auto rest = text; !rest.empty();) {
        const auto c = takeCharacter(rest);
        if (!c || !isWhiteSpace(*c)) break;
        text = rest;
    }
    return whole - text.size();
}

Words::Words(std::string_view text) : m_text(text), m_match(pcre2_match_data_create(1, nullptr)) {
    if (!m_match) throw std::bad_alloc();
}
Words::~Words() {
    pcre2_match_data_free(static_cast<pcre2_match_data*>(m_match));
}

bool Words::next(std::string_view& word) {
    if (m_at >= m_text.size()) return false;
    if (m_matchEnd > m_at) {
        word = m_text.substr(m_at, m_matchEnd - m_at);
        m_at = m_matchEnd;
        return true;
    }
    auto* match = static_cast<pcre2_match_data*>(m_match);
    const int found = pcre2_match(wordPattern(), reinterpret_cast<PCRE2_SPTR>(m_text.data()),
                                  m_text.size(), m_at, 0, match, nullptr);
    std::size_t begin = m_text.size(), end = begin;
    if (found > 0) {
        begin = pcre2_get_ovector_pointer(match)[0];
        end = pcre2_get_ovector_pointer(match)[1];
    }
    m_matchEnd = end;
    if (begin == m_at) begin = end;
    word = m_text.substr(m_at, begin - m_at);
    m_at = begin;
    return true;
}

std::size_t lastWordCut(std::string_view text, bool spacesOnly) {
    // No word continues from another character into white space, and the words of white space do
    // not depend on preceding text.
    for (std::size_t n = text.size(); n-- > 1;) {
        if (text[n] != ' ' && (text[n] != '\n' || spacesOnly)) continue;
        std::size_t start = n - 1;
        while (start > 0 && n - start < 4 &&
               (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80)
            --start;
        auto before = text.substr(start, n - start);
        const auto character = takeCharacter(before);
        if (character && before.empty() && !isWhiteSpace(*character)) return n;
    }
    return 0;
}

}  // namespace relascope::core
