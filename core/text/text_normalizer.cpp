// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/text_normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "text/unicode_8.h"
#include "text/words.h"

namespace relascope::core {
namespace {

using Kind = NormalizerStep::Kind;

bool isAscii(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<signed char>(c) >= 0; });
}

std::string inForm(std::string_view text, int options) {
    if (isAscii(text)) return std::string(text);
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        // Takes as much as is valid UTF-8, then a byte that is not.
        std::string_view valid = rest;
        std::size_t size = 0;
        while (!valid.empty() && takeCharacter(valid)) size = rest.size() - valid.size();
        utf8proc_uint8_t* formed = nullptr;
        const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                         static_cast<utf8proc_ssize_t>(size), &formed,
                                         static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
        if (length >= 0)
            out.append(reinterpret_cast<const char*>(formed), static_cast<std::size_t>(length));
        else
            out.append(rest.substr(0, size));
        std::free(formed);
        rest.remove_prefix(size);
        if (rest.empty()) break;
        out += rest[0];
        rest.remove_prefix(1);
    }
    return out;
}

template <class Put>
std::string byCharacter(std::string_view text, const Put& put) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const char first = text[0];
        if (const auto c = takeCharacter(text))
            put(*c, out);
        else
            out += first;
    }
    return out;
}

void putLowercase(char32_t c, std::string& out) {
    if (c < 0x80)
        out += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    else if (c == 0x130)
        out += "i\u0307";  // the one with two characters
    else
        appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

void putUnlessMark(char32_t c, std::string& out) {
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    if (category != UTF8PROC_CATEGORY_MN && category != UTF8PROC_CATEGORY_MC &&
        category != UTF8PROC_CATEGORY_ME)
        appendUtf8(out, c);
}

// The blocks that BERT divides into single characters; 2B820 to 2B91F is missing in its source,
// too.
bool isChinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool isRemoved(char32_t c) {
    if (c < 0x20) return c != '\t' && c != '\n' && c != '\r';
    return (c >= 0x7F && c < 0xA0) || c == 0xFFFD || (c >= 0xE000 && c <= 0xF8FF) ||
           (c >= 0xF0000 && c <= 0xFFFFD) || (c >= 0x100000 && c <= 0x10FFFD) || isFormat8(c);
}

std::string normalizedAsBert(const NormalizerStep::Bert& bert, std::string_view text) {
    auto out = byCharacter(text, [&](char32_t c, std::string& to) {
        if (bert.clean && isRemoved(c)) return;
        if (bert.clean && isWhiteSpace(c))
            to += ' ';
        else if (bert.chinese && isChinese(c))
            to += ' ', appendUtf8(to, c), to += ' ';
        else
            appendUtf8(to, c);
    });
    if (bert.accents && !isAscii(out))
        out = byCharacter(inForm(out, UTF8PROC_DECOMPOSE), [](char32_t c, std::string& to) {
            if (!isNonspacingMark8(c)) appendUtf8(to, c);
        });
    return bert.lowercase ? byCharacter(out, putLowercase) : out;
}

std::string changed(const NormalizerStep& step, std::string_view text, std::size_t most) {
    switch (step.kind) {
        case Kind::Nfc:
            return inForm(text, UTF8PROC_COMPOSE);
        case Kind::Nfd:
            return inForm(text, UTF8PROC_DECOMPOSE);
        case Kind::Nfkc:
            return inForm(text, UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
        case Kind::Nfkd:
            return inForm(text, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
        case Kind::Lowercase:
            return byCharacter(text, putLowercase);
        case Kind::StripAccents:
            return byCharacter(text, putUnlessMark);
        case Kind::Strip:
            if (step.left) text.remove_prefix(spacesBehind(text));
            if (step.right) text.remove_suffix(spacesBefore(text));
            return std::string(text);
        case Kind::Prepend:
            return text.empty() ? std::string() : step.text + std::string(text);
        case Kind::Bert:
            return normalizedAsBert(step.bert, text);
        case Kind::Charsmap:
            return step.charsmap->apply(text, most);
        case Kind::Replace:
            break;
    }
    return step.pattern->replaced(text, step.text, most);
}

}  // namespace

std::string composedName(std::string_view name) {
    return inForm(name, UTF8PROC_COMPOSE);
}

std::string TextNormalizer::apply(std::string_view text) const {
    std::string out(text);
    for (const auto& step : m_steps) out = changed(step, out, longestChanged(text.size()));
    return out;
}

std::string TextNormalizer::key() const {
    // NFC alone keeps the keys of the caches of earlier versions.
    if (m_steps.size() == 1 && m_steps[0].kind == Kind::Nfc) return "nfc";
    std::string key;
    for (const auto& step : m_steps) {
        key += std::to_string(static_cast<int>(step.kind)) + (step.left ? "l" : "") +
               (step.right ? "r" : "");
        if (step.kind == Kind::Bert)
            key += std::string(step.bert.clean ? "c" : "") + (step.bert.chinese ? "h" : "") +
                   (step.bert.accents ? "a" : "") + (step.bert.lowercase ? "l" : "");
        if (step.charsmap)
            key += std::to_string(step.charsmap->bytes().size()) + ":" + step.charsmap->bytes();
        for (const auto& text : {step.text, step.pattern ? step.pattern->key() : std::string()})
            key += ":" + std::to_string(text.size()) + ":" + text;
    }
    return key;
}

}  // namespace relascope::core
