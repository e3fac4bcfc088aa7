// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/rule_prompts.h"

#include <algorithm>
#include <random>
#include <utility>

#include "text/words.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::size_t kMostItems = 1000;  // enough for prompts that do not repeat each other
constexpr std::size_t kFewestItems = 4;   // items of one example and the last sequence
constexpr std::size_t kShortestWord = 3;  // letters: " a" and " th" are no words

/// The kinds of items, those that are preferred first.
const std::vector<std::string>& itemKinds() {
    static const std::vector<std::string> all = {"words", "letters", "any"};
    return all;
}

bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool areLetters(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), isLetter);
}
bool isPrinted(std::string_view piece) {
    if (piece.empty() || !isUtf8(piece)) return false;
    while (!piece.empty()) {
        const auto c = takeCharacter(piece);
        if (!c || isControl(*c) || isWhiteSpace(*c) || *c == 0xFFFD) return false;
    }
    return true;
}
bool isOfKind(std::string_view piece, const std::string& kind) {
    if (kind == itemKinds()[0])
        return piece.starts_with(' ') && piece.size() > kShortestWord &&
               areLetters(piece.substr(1));
    return kind == itemKinds()[1] ? areLetters(piece) : isPrinted(piece);
}

std::string unescaped(std::string text) {
    for (const auto& [written, meant] : {std::pair("\\n", "\n"), std::pair("\\t", "\t")})
        for (std::size_t at; (at = text.find(written)) != std::string::npos;)
            text.replace(at, 2, meant);
    return text;
}

void append(std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

RulePrompts::RulePrompts(TokenizerPtr tokenizer, std::int64_t beginning,
                         const RulePromptOptions& options, std::int64_t context)
    : m_tokenizer(std::move(tokenizer)),
      m_seed(options.seed),
      m_examples(options.examples),
      m_beginning(beginning),
      m_separator(readAs(options.separator, {"^", ",", ":", "-", "/", " "}, "separator")) {
    m_end = readAs(options.end, {"\n", ";", ".", " "}, "end");
    if (m_end == m_separator)
        throw OptionError("end", "is the separator; a sequence has to end with something else");
    if (m_examples < 1) throw OptionError("examples", "at least one is needed");
    while (context > 0 && m_examples > 0 && lengthOf(m_examples) > context) --m_examples;
    if (m_examples < 1)
        throw OptionError("path", "the context of " + std::to_string(context) +
                                      " tokens is too short for a rule: a prompt of one example "
                                      "has " +
                                      std::to_string(lengthOf(1)));
    const auto enough = 2 * (static_cast<std::size_t>(m_examples) + 1);
    const bool any = options.tokens == "auto";
    for (const auto& kind : itemKinds()) {
        if (!any && kind != options.tokens) continue;
        auto found = itemsOf(kind, kMostItems);
        if (!m_items.empty() && found.size() <= m_items.size()) continue;
        m_items = std::move(found);
        m_kind = kind;
        if (m_items.size() >= enough) break;
    }
    if (m_items.size() < kFewestItems)
        throw OptionError("rule_tokens", "the tokenizer has " + std::to_string(m_items.size()) +
                                             " such single tokens; a rule needs " +
                                             std::to_string(kFewestItems) + " or more" +
                                             (any ? "" : ", so choose another kind"));
    m_examples = std::min(m_examples, static_cast<std::int64_t>(m_items.size() / 2) - 1);
}

std::int64_t RulePrompts::lengthOf(std::int64_t examples) const {
    const auto between = std::ssize(m_separator);
    return (m_beginning >= 0 ? 1 : 0) + examples * (3 + 2 * between + std::ssize(m_end)) + 2 +
           2 * between;
}

/// The tokens of a separator as they are behind an item, whose first letter is `a`.
std::vector<std::int64_t> RulePrompts::readAs(const std::string& given,
                                              std::vector<std::string> usual,
                                              const std::string& option) const {
    const bool any = given == "auto";
    if (!any) usual = {unescaped(given)};
    if (usual.front().empty())
        throw OptionError(option, "is empty; give one or more characters, or auto");
    const auto item = m_tokenizer->encode("a");
    const auto unknown = m_tokenizer->unknownToken();
    for (const auto& text : usual) {
        const auto ids = m_tokenizer->encode("a" + text);
        const auto [end, rest] = std::mismatch(item.begin(), item.end(), ids.begin(), ids.end());
        if (end != item.end() || rest == ids.end()) continue;
        if (unknown && std::find(rest, ids.end(), *unknown) != ids.end()) continue;
        if (any && ids.end() - rest > 1) continue;
        return {rest, ids.end()};
    }
    throw OptionError(option, any ? "the tokenizer has none of the usual ones; give one that it has"
                                  : "the tokenizer does not read '" + given +
                                        "' as tokens of its own; give another one, or auto");
}

/// Whether the item is the same token wherever it stands in the text of a prompt.
bool RulePrompts::readsBack(std::int64_t id) const {
    std::vector<std::int64_t> ids = {id};
    for (const auto* between : {&m_separator, &m_separator, &m_end, &m_separator}) {
        append(ids, *between);
        ids.push_back(id);
    }
    const auto again = m_tokenizer->encode(text(ids));
    return std::equal(ids.begin(), ids.end(), again.begin(), again.end());
}

std::vector<std::int64_t> RulePrompts::itemsOf(const std::string& kind, std::size_t most) const {
    std::vector<std::int64_t> all;
    const auto unknown = m_tokenizer->unknownToken();
    for (std::int64_t id = 0; id < m_tokenizer->ownSize(); ++id) {
        const auto token = static_cast<std::int32_t>(id);
        const bool taken =
            std::find(m_separator.begin(), m_separator.end(), id) != m_separator.end() ||
            std::find(m_end.begin(), m_end.end(), id) != m_end.end();
        if (taken || unknown == token || !isOfKind(m_tokenizer->piece(token), kind)) continue;
        all.push_back(id);
    }
    // By the seed, which makes other words stand in other prompts. Special tokens are never made
    // from text, so that they do not read back.
    std::mt19937_64 random(m_seed);
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; i < all.size() && found.size() < most; ++i) {
        std::swap(all[i], all[i + static_cast<std::size_t>(random() % (all.size() - i))]);
        if (readsBack(all[i])) found.push_back(all[i]);
    }
    return found;
}

RulePrompts::Prompt RulePrompts::prompt(std::int64_t draw, PromptRule rule, bool exchanged) const {
    // The first ones of a permutation (Fisher and Yates), of a stream for each draw.
    std::seed_seq stream{m_seed, static_cast<std::uint64_t>(draw), std::uint64_t{0x727565}};
    std::mt19937_64 random(stream);
    auto items = m_items;
    const auto count = 2 * (static_cast<std::size_t>(m_examples) + 1);
    for (std::size_t i = 0; i < count; ++i)
        std::swap(items[i], items[i + static_cast<std::size_t>(random() % (items.size() - i))]);
    Prompt made;
    if (m_beginning >= 0) made.ids.push_back(m_beginning);
    for (std::size_t k = 0; k < count; k += 2) {
        auto a = items[k], b = items[k + 1];
        if (exchanged) std::swap(a, b);
        const auto third = rule == PromptRule::ABA ? a : b;
        for (const auto item : {a, b}) {
            made.ids.push_back(item);
            append(made.ids, m_separator);
        }
        if (k + 2 == count) {
            made.answer = third, made.other = third == a ? b : a;
        } else {
            made.ids.push_back(third);
            append(made.ids, m_end);
        }
    }
    return made;
}

std::vector<std::int64_t> RulePrompts::thirdItems() const {
    // A third item is the answer of the prompt that ends before it.
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < m_examples; ++k) places.push_back(lengthOf(k));
    return places;
}

std::string RulePrompts::text(std::vector<std::int64_t> ids) const {
    if (m_beginning >= 0 && !ids.empty() && ids.front() == m_beginning) ids.erase(ids.begin());
    return m_tokenizer->decode(std::vector<std::int32_t>(ids.begin(), ids.end()));
}

std::vector<MinimalPair> rulePairs(const RulePrompts& prompts, std::int64_t count, bool mixed) {
    std::vector<MinimalPair> pairs;
    for (std::int64_t k = 0; k < 2 * count; ++k) {
        const auto rule = (mixed ? k % 2 == 1 : k >= count) ? PromptRule::ABB : PromptRule::ABA;
        // In turn no two prompts have the same items.
        const auto prompt = prompts.prompt(mixed ? k : k % count, rule);
        const auto ending = [&](std::int64_t item) {
            auto ids = prompt.ids;
            ids.push_back(item);
            return prompts.text(std::move(ids));
        };
        pairs.push_back({ending(prompt.answer),
                         {ending(prompt.other)},
                         prompts.text(prompt.ids),
                         rule == PromptRule::ABA ? "rule_aba" : "rule_abb",
                         "rules_in_context",
                         "identity_rule"});
    }
    return pairs;
}

}  // namespace relascope::core
