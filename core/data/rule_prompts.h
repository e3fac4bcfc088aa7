// SPDX-License-Identifier: GPL-3.0-or-later
// Rules in context: prompts such as "a^b^a\nc^d^c\nx^y^", whose sequences of three items follow the
// rule ABA or the rule ABB, over single tokens of any tokenizer (Yang et al. 2025, "Emergent
// symbolic mechanisms support abstract reasoning in large language models", section 3: identity
// rules). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/minimal_pairs.h"

namespace relascope::core {

/// The third item repeats the first one, or the second one.
enum class PromptRule { ABA, ABB };
inline const char* promptRuleName(PromptRule rule) {
    return rule == PromptRule::ABA ? "ABA" : "ABB";
}

struct RulePromptOptions {
    std::int64_t examples = 10;  ///< whole sequences before the last one, at most
    /// The tokens that are items: "words" (letters behind a blank), "letters", "any" (whatever can
    /// be printed); "auto": the first of these that has enough.
    std::string tokens = "auto";
    /// What stands between two items, and behind a sequence; \n and \t are a line end and a tab.
    /// "auto": ^ and a line end, or what the tokenizer has in their place.
    std::string separator = "auto", end = "auto";
    std::uint64_t seed = 0;
};

class RulePrompts {
public:
    /// `beginning`: the token that a prompt begins with (beginningToken(), pair_scores.h); -1:
    /// none. `context`: the most tokens of a prompt; 0: any number. Fewer examples are taken where
    /// more do not fit, or where the tokenizer has too few items. Throws OptionError("rule_tokens",
    /// "separator", "end", "examples", or "path" for a context that is too short).
    RulePrompts(TokenizerPtr tokenizer, std::int64_t beginning, const RulePromptOptions& options,
                std::int64_t context);

    struct Prompt {
        std::vector<std::int64_t> ids;  ///< with the beginning token; ends with a separator
        std::int64_t answer = 0;        ///< the item that follows by the rule
        std::int64_t other = 0;         ///< the one that would follow by the other rule
    };
    /// The items of prompt `draw` differ from each other, and are the same for both rules;
    /// `exchanged`: the two items of every sequence have changed places.
    Prompt prompt(std::int64_t draw, PromptRule rule, bool exchanged = false) const;

    std::int64_t examples() const { return m_examples; }
    std::int64_t length() const { return lengthOf(m_examples); }  ///< tokens of every prompt
    /// Where the third items of the examples stand, which is alike in all prompts.
    std::vector<std::int64_t> thirdItems() const;
    const std::vector<std::int64_t>& items() const { return m_items; }
    const std::string& itemKind() const { return m_kind; }  ///< never "auto"
    std::int64_t beginning() const { return m_beginning; }  ///< -1: there is none
    const TokenizerPtr& tokenizer() const { return m_tokenizer; }
    /// Tokens as text, without the beginning token.
    std::string text(std::vector<std::int64_t> ids) const;

private:
    std::int64_t lengthOf(std::int64_t examples) const;
    std::vector<std::int64_t> readAs(const std::string& given, std::vector<std::string> usual,
                                     const std::string& option) const;
    std::vector<std::int64_t> itemsOf(const std::string& kind, std::size_t most) const;
    bool readsBack(std::int64_t id) const;

    TokenizerPtr m_tokenizer;
    std::uint64_t m_seed;
    std::int64_t m_examples, m_beginning;
    std::vector<std::int64_t> m_separator, m_end, m_items;
    std::string m_kind;
};

/// Prompts with the right answer beside the same with the other one, `count` of each rule: first
/// those of ABA, or, `mixed`, one of each in turn.
std::vector<MinimalPair> rulePairs(const RulePrompts& prompts, std::int64_t count,
                                   bool mixed = false);

}  // namespace relascope::core
