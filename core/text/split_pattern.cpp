// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::uint32_t kMostSteps = 10'000'000;  // for one match
constexpr std::size_t kLongest = 20'000;          // bytes; spelled for PCRE2, 500 times as many

struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

// Inside of classes. PCRE2's \s includes U+180E, which is not white space in Unicode, and its \w
// neither marks nor circled letters.
const std::string& noSpaceClass() {
    static const std::string all =
        "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}"
        "\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}"
        "\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}";
    return all;
}
#define RELASCOPE_WORD                                                          \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}" \
    "\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"
// Oniguruma counts the six numbers of Latin-1 as letters of words where it is asked by \w.
constexpr const char* kWordClass = RELASCOPE_WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
constexpr const char* kHexClass = "0-9A-Fa-f";

// [:space:] within a class; nothing for those that the two libraries read in their own ways.
std::string namedClassOf(std::string_view name) {
    if (name == "word") return RELASCOPE_WORD;
    if (name == "punct") return "\\p{P}\\p{S}";
    if (name == "space") return whiteSpaceClass();
    if (name == "blank") return "\\x09\\p{Zs}";
    if (name == "digit") return "\\p{Nd}";
    if (name == "xdigit") return kHexClass;
    return name == "cntrl" ? "\\p{Cc}" : "";
}
#undef RELASCOPE_WORD

/// Spells a pattern of Oniguruma (Ruby's syntax) for PCRE2; `refused` says what would be read
/// otherwise.
class Respelled {
public:
    explicit Respelled(std::string_view pattern) : m_in(pattern) {
        while (m_at < m_in.size() && refused.empty()) {
            const char c = m_in[m_at];
            if (c == '\\' && m_at + 1 < m_in.size())
                escape();
            else if (m_inClass)
                insideClass(c);
            else if (c == '[')
                openClass();
            else if (c == '(' && m_in.substr(m_at).starts_with("(?"))
                group();
            else if (c == '{')
                interval();
            else
                take(1);
        }
    }
    std::string out, refused;

private:
    void take(std::size_t count) {
        out += m_in.substr(m_at, count);
        m_at += std::min(count, m_in.size() - m_at);
    }
    void put(const std::string& text, std::size_t instead) {
        out += text;
        m_at += instead;
    }
    void classOf(const char* inside, bool no) {
        if (m_inClass && no)
            refused = "a complement (\\" + std::string(1, m_in[m_at + 1]) + ") within a class";
        else
            put(m_inClass ? inside : (no ? "[^" : "[") + std::string(inside) + "]", 2);
    }
    void escape() {
        const std::string word = "[" + std::string(kWordClass) + "]";
        switch (m_in[m_at + 1]) {
            case 's':
                return classOf(whiteSpaceClass().c_str(), false);
            case 'S':
                return classOf(noSpaceClass().c_str(), false);
            case 'w':
                return classOf(kWordClass, false);
            case 'W':
                return classOf(kWordClass, true);
            case 'h':
                return classOf(kHexClass, false);
            case 'H':
                return classOf(kHexClass, true);
            case 'b':
                if (m_inClass) return take(2);
                return put(
                    "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))", 2);
            case 'B':
                if (m_inClass) return take(2);
                return put(
                    "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))", 2);
            case 'p':
            case 'P':
                return property();
            case 'u': {
                const auto digits = m_in.substr(m_at + 2, 4);
                for (const char c : digits)
                    if (!std::isxdigit(static_cast<unsigned char>(c))) return take(2);
                return put("\\x{" + std::string(digits) + "}", 2 + digits.size());
            }
            case 'Q':
            case 'E':
                return put(std::string(1, m_in[m_at + 1]), 2);  // letters, not quotes
            default:
                return take(2);
        }
    }
    // \p{Han}: PCRE2 means all characters that are used with the script.
    void property() {
        const auto end = m_in.find('}', m_at);
        if (end == std::string_view::npos || m_in.substr(m_at + 2, 1) != "{") return take(2);
        std::string_view name = m_in.substr(m_at + 3, end - m_at - 3);
        const bool no = name.starts_with('^');
        if (no) name.remove_prefix(1);
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kLong = {
            {{"Letter", "L"},
             {"Mark", "M"},
             {"Number", "N"},
             {"Punctuation", "P"},
             {"Punct", "P"},
             {"Symbol", "S"},
             {"Separator", "Z"},
             {"Other", "C"},
             {"Any", "Any"}}};
        std::string spelled = (name.size() <= 2 ? "" : "sc:") + std::string(name);
        for (const auto& [longer, shorter] : kLong)
            if (name == longer) spelled = shorter;
        put(std::string(1, '\\') + m_in[m_at + 1] + "{" + (no ? "^" : "") + spelled + "}",
            end + 1 - m_at);
    }
    void openClass() {
        m_inClass = true;
        take(1);
        if (m_in.substr(m_at, 1) == "^") take(1);
        if (m_in.substr(m_at, 1) == "]") put("\\]", 1);
    }
    void insideClass(char c) {
        if (c == ']')
            m_inClass = false;
        else if (const auto end = m_in.find(":]", m_at + 2);
                 c == '[' && m_in.substr(m_at + 1, 1) == ":" && end != std::string_view::npos)
            return namedClass(m_in.substr(m_at + 2, end - m_at - 2));
        else if (c == '[')
            refused = "a class within a class";
        else if (m_in.substr(m_at).starts_with("&&"))
            refused = "&& within a class";
        take(1);
    }
    void namedClass(std::string_view name) {
        if (const auto inside = namedClassOf(name); !inside.empty())
            return put(inside, name.size() + 4);
        refused = "[:" + std::string(name.substr(0, 20)) + ":]";
    }
    // Ruby's option m is PCRE2's s.
    void group() {
        take(2);
        for (std::size_t end = m_at; end < m_in.size(); ++end) {
            const char c = m_in[end];
            if (c != 'i' && c != 'm' && c != 'x' && c != '-') {
                if (c != ':' && c != ')') return;
                while (m_at < end) put(std::string(1, m_in[m_at] == 'm' ? 's' : m_in[m_at]), 1);
                return;
            }
        }
    }
    // {2,3}+ repeats the repetition; in PCRE2 it is possessive.
    void interval() {
        const auto end = m_in.find('}', m_at);
        const auto inside =
            m_in.substr(m_at + 1, end == std::string_view::npos ? 0 : end - m_at - 1);
        if (inside.empty() || inside.find_first_not_of("0123456789,") != std::string_view::npos)
            return take(1);
        if (m_in.substr(end + 1, 1) == "+") refused = "{" + std::string(inside) + "}+";
        put(inside.starts_with(',') ? "{0" : "{", 1);
        take(end + 1 - m_at);
    }

    std::string_view m_in;
    std::size_t m_at = 0;
    bool m_inClass = false;
};

}  // namespace

SplitPattern::SplitPattern(std::string pattern, std::string file, SplitBehavior behavior,
                           bool invert)
    : m_pattern(std::move(pattern)),
      m_file(std::move(file)),
      m_behavior(behavior),
      m_invert(invert) {
    if (m_pattern.size() > kLongest)
        throw FileError(m_file, "has a pattern of " + std::to_string(m_pattern.size()) +
                                    " bytes; at most " + std::to_string(kLongest) + " are read");
    const std::string said = "has the pattern '" + m_pattern.substr(0, 200) + "', which ";
    const Respelled spelled(m_pattern);
    if (!spelled.refused.empty())
        throw FileError(m_file,
                        said + "has " + spelled.refused +
                            ", which PCRE2 reads otherwise than `tokenizers`; spell it out");
    int error = 0;
    PCRE2_SIZE at = 0;
    const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> lines(
        pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
    if (!lines) throw std::bad_alloc();
    pcre2_set_newline(lines.get(), PCRE2_NEWLINE_LF);
    auto* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.out.data()), spelled.out.size(),
                               PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_MATCH_INVALID_UTF,
                               &error, &at, lines.get());
    if (!code) {
        PCRE2_UCHAR message[128] = "";
        pcre2_get_error_message(error, message, sizeof message);
        throw FileError(m_file,
                        said + "cannot be compiled: " + reinterpret_cast<const char*>(message));
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    m_code = std::shared_ptr<const void>(code, [](const void* p) {
        pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(p)));
    });
}

std::string SplitPattern::key() const {
    const char kinds[] = "ripnc";
    std::string key = m_pattern;
    if (m_behavior != SplitBehavior::Isolated || m_invert)
        key += std::string(" ") + kinds[static_cast<int>(m_behavior)] + (m_invert ? "!" : "");
    return key;
}

void SplitPattern::forEach(std::string_view text,
                           const std::function<void(std::string_view, bool)>& take) const {
    const auto* code = static_cast<const pcre2_code*>(m_code.get());
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
    const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> limits(
        pcre2_match_context_create(nullptr), &pcre2_match_context_free);
    if (!match || !limits) throw std::bad_alloc();
    pcre2_set_match_limit(limits.get(), kMostSteps);
    std::size_t at = 0;  // the end of the last match
    bool any = false;
    for (std::size_t from = 0; from <= text.size();) {
        const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                      from, 0, match.get(), limits.get());
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0)
            throw FileError(m_file, "has the pattern '" + m_pattern.substr(0, 200) +
                                        "', which takes more than " + std::to_string(kMostSteps) +
                                        " steps for this text");
        const auto* place = pcre2_get_ovector_pointer(match.get());
        const std::size_t begin = place[0], end = place[1];
        // An empty match does not follow another one.
        if (end <= begin && any && end == at) {
            std::string_view rest = text.substr(std::min(from, text.size()));
            if (rest.empty()) break;
            takeCharacter(rest);
            from = text.size() - rest.size();
            continue;
        }
        if (begin > at) take(text.substr(at, begin - at), false);
        take(text.substr(begin, end > begin ? end - begin : 0), true);
        any = true;
        at = from = std::max(begin, end);
    }
    if (at < text.size()) take(text.substr(at), false);
}

void SplitPattern::split(std::string_view text, const TakeText& take) const {
    const auto give = [&](std::string_view part) {
        if (!part.empty()) take(part);
    };
    if (m_behavior == SplitBehavior::Isolated)
        return forEach(text, [&](std::string_view part, bool) { give(part); });
    if (m_behavior == SplitBehavior::Removed)
        return forEach(text, [&](std::string_view part, bool match) {
            if (match == m_invert) give(part);
        });
    struct Part {
        std::string_view text;
        bool match;
    };
    std::vector<Part> parts;
    forEach(text, [&](std::string_view part, bool match) {
        parts.push_back({part, match != m_invert});
    });
    // Neighbours are joined as in the published library: of several matches in a row, every second
    // one begins anew.
    const bool next = m_behavior == SplitBehavior::MergedWithNext;
    std::vector<std::string_view> joined;
    const auto join = [&](std::string_view part) {
        auto& last = joined.back();
        last = next ? std::string_view(part.data(), part.size() + last.size())
                    : std::string_view(last.data(), last.size() + part.size());
    };
    bool before = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& [part, match] = parts[next ? parts.size() - 1 - i : i];
        const bool joins =
            m_behavior == SplitBehavior::Contiguous ? match == before : match && !before;
        if (joins && !joined.empty())
            join(part);
        else
            joined.push_back(part);
        before = match;
    }
    if (next) std::reverse(joined.begin(), joined.end());
    for (const auto part : joined) give(part);
}

std::string SplitPattern::replaced(std::string_view text, std::string_view by,
                                   std::size_t most) const {
    std::string out;
    forEach(text, [&](std::string_view part, bool match) {
        out += match ? by : part;
        if (out.size() > most)
            throw FileError(m_file, "has the pattern '" + m_pattern.substr(0, 200) +
                                        "', whose replacements make this text longer than " +
                                        std::to_string(most) + " bytes");
    });
    return out;
}

std::string literalPattern(std::string_view text) {
    std::string pattern;
    for (const char c : text) {
        if (static_cast<signed char>(c) > 0 && std::ispunct(static_cast<unsigned char>(c)))
            pattern += '\\';
        pattern += c;
    }
    return pattern;
}

}  // namespace relascope::core
