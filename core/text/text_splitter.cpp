// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/text_splitter.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::uint32_t kMostSteps = 10'000'000;  // of one match

struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

// PCRE2's \\s includes U+180E, which is not white space in Unicode. Within a class it is replaced
// by the list of its characters, outside by a class.
std::string withUnicodeSpaces(const std::string& pattern) {
    std::string out;
    bool inClass = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c == '\\' && i + 1 < pattern.size()) {
            const char next = pattern[++i];
            if (next == 's')
                out += inClass ? whiteSpaceClass() : "[" + whiteSpaceClass() + "]";
            else if (next == 'S' && !inClass)
                out += "[^" + whiteSpaceClass() + "]";
            else
                (out += c) += next;
            continue;
        }
        if (c == '[' && !inClass)
            inClass = true;
        else if (c == ']')
            inClass = false;
        out += c;
    }
    return out;
}

/// The character that ends a text; nothing without one.
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

std::optional<char32_t> firstCharacter(std::string_view text) {
    return text.empty() ? std::nullopt : takeCharacter(text);
}

bool isWordCharacter(std::optional<char32_t> c) {
    if (!c) return false;
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(*c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC:
            return true;
        default:
            return *c == 0x200C || *c == 0x200D;
    }
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

}  // namespace

SplitPattern::SplitPattern(std::string pattern, std::string file)
    : m_pattern(std::move(pattern)), m_file(std::move(file)) {
    const std::string spelled = withUnicodeSpaces(m_pattern);
    int error = 0;
    PCRE2_SIZE at = 0;
    auto* code =
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
                      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &error, &at, nullptr);
    if (!code) {
        PCRE2_UCHAR message[128] = "";
        pcre2_get_error_message(error, message, sizeof message);
        throw FileError(
            m_file, "has the pattern '" + m_pattern.substr(0, 200) +
                        "', which cannot be compiled: " + reinterpret_cast<const char*>(message));
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    m_code = std::shared_ptr<const void>(code, [](const void* p) {
        pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(p)));
    });
}

void SplitPattern::split(std::string_view text, const TakeText& take) const {
    const auto* code = static_cast<const pcre2_code*>(m_code.get());
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
    const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits(
        pcre2_match_context_create(nullptr), &pcre2_match_context_free);
    if (!match || !limits) throw std::bad_alloc();
    pcre2_set_match_limit(limits.get(), kMostSteps);
    std::size_t at = 0;
    for (std::size_t from = 0; from < text.size();) {
        const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                      from, 0, match.get(), limits.get());
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0)
            throw FileError(m_file, "has the pattern '" + m_pattern.substr(0, 200) +
                                        "', which takes more than " + std::to_string(kMostSteps) +
                                        " steps for this text");
        const auto* place = pcre2_get_ovector_pointer(match.get());
        const std::size_t begin = place[0], end = place[1];
        if (end == begin) {
            from = end + 1;
            continue;
        }
        if (begin > at) take(text.substr(at, begin - at));
        take(text.substr(begin, end - begin));
        at = from = end;
    }
    if (at < text.size()) take(text.substr(at));
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : m_tokens(std::move(tokens)) {
    std::erase_if(m_tokens, [](const AddedToken& token) { return token.text.empty(); });
    std::stable_sort(m_tokens.begin(), m_tokens.end(),
                     [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    for (std::size_t i = 0; i < m_tokens.size(); ++i)
        m_byFirst[static_cast<unsigned char>(m_tokens[i].text[0])].push_back(i);
}

void AddedTokens::split(std::string_view text, bool normalized, bool special, const TakeText& take,
                        const std::function<void(std::int32_t)>& found) const {
    std::size_t at = 0;  // the end of what was given
    for (std::size_t i = 0; i < text.size();) {
        const AddedToken* token = nullptr;
        for (const auto k : m_byFirst[static_cast<unsigned char>(text[i])])
            if (m_tokens[k].normalized == normalized &&
                text.substr(i).starts_with(m_tokens[k].text)) {
                token = &m_tokens[k];
                break;
            }
        if (!token) {
            ++i;
            continue;
        }
        std::size_t begin = i, end = i + token->text.size();
        i = end;
        if (token->special && !special) continue;
        if (token->singleWord && (isWordCharacter(lastCharacter(text.substr(0, begin))) ||
                                  isWordCharacter(firstCharacter(text.substr(end)))))
            continue;
        if (token->leftStrip) begin = std::max(at, begin - spacesBefore(text.substr(0, begin)));
        if (token->rightStrip) end += spacesBehind(text.substr(end));
        if (begin > at) take(text.substr(at, begin - at));
        found(token->id);
        at = std::max(at, end);
    }
    if (at < text.size()) take(text.substr(at));
}

std::string normalizedNfc(std::string_view text) {
    if (std::all_of(text.begin(), text.end(),
                    [](char c) { return static_cast<signed char>(c) >= 0; }))
        return std::string(text);
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        // As much as is UTF-8, then a byte that is not.
        std::string_view valid = rest;
        std::size_t size = 0;
        while (!valid.empty() && takeCharacter(valid)) size = rest.size() - valid.size();
        utf8proc_uint8_t* composed = nullptr;
        const auto length =
            utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                         static_cast<utf8proc_ssize_t>(size), &composed,
                         static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
        if (length >= 0)
            out.append(reinterpret_cast<const char*>(composed), static_cast<std::size_t>(length));
        else
            out.append(rest.substr(0, size));
        std::free(composed);
        rest.remove_prefix(size);
        if (rest.empty()) break;
        out += rest[0];
        rest.remove_prefix(1);
    }
    return out;
}

}  // namespace relascope::core
