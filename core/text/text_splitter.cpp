// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/text_splitter.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>

#include "text/words.h"

namespace relascope::core {
namespace {

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

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : m_tokens(std::move(tokens)) {
    std::erase_if(m_tokens, [](const AddedToken& token) { return token.text.empty(); });
    std::stable_sort(m_tokens.begin(), m_tokens.end(),
                     [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    for (std::size_t i = 0; i < m_tokens.size(); ++i)
        m_byFirst[static_cast<unsigned char>(m_tokens[i].text[0])].push_back(i);
}

void AddedTokens::split(std::string_view text, bool normalized, bool special, const TakeText& take,
                        const std::function<void(std::int32_t)>& found) const {
    std::size_t at = 0;  // the end of the text given so far
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

void TextSplitter::split(std::string_view text, bool begins, const TakeText& take) const {
    if (!text.empty()) splitFrom(0, text, begins, take);
}

void TextSplitter::splitFrom(std::size_t at, std::string_view text, bool begins,
                             const TakeText& take) const {
    if (at == m_steps.size()) return take(text);
    const auto& step = m_steps[at];
    switch (step.kind) {
        case SplitStep::Kind::Pattern:
            return step.pattern->split(text, [&](std::string_view part) {
                splitFrom(at + 1, part, begins && part.data() == text.data(), take);
            });
        case SplitStep::Kind::Prefix:
            if (text.starts_with(step.text) || (step.first && !begins))
                return splitFrom(at + 1, text, begins, take);
            return splitFrom(at + 1, step.text + std::string(text), begins, take);
        case SplitStep::Kind::Replace: {
            const auto most = longestChanged(text.size());
            return splitFrom(at + 1, step.pattern->replaced(text, step.text, most), begins, take);
        }
        case SplitStep::Kind::Spell:
            return splitFrom(at + 1, spelledBytes(text), begins, [&](std::string_view part) {
                if (const auto bytes = unspelledBytes(part)) take(*bytes);
            });
    }
}

std::vector<std::string> TextSplitter::keys() const {
    std::vector<std::string> keys;
    for (const auto& step : m_steps) {
        // Patterns alone keep the keys of the caches of earlier versions.
        std::string key = step.kind == SplitStep::Kind::Pattern   ? "pattern "
                          : step.kind == SplitStep::Kind::Prefix  ? "prefix "
                          : step.kind == SplitStep::Kind::Replace ? "replace "
                                                                  : "spell ";
        if (step.pattern) key += step.pattern->key();
        keys.push_back(key + (step.text.empty() ? "" : " " + step.text) +
                       (step.first ? " first" : ""));
    }
    return keys;
}

}  // namespace relascope::core
