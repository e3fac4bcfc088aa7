// SPDX-License-Identifier: GPL-3.0-or-later
// Symbol heads: which heads and relations of a language model carry the rule of a context, and
// which its tokens, by patching between contexts that share one of the two (Yang et al. 2025,
// "Emergent symbolic mechanisms support abstract reasoning in large language models", section 3;
// interventions.md section 12). Does not include torch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/edit_results.h"

namespace relascope {

struct SymbolHeads {
    /// What the context that is patched from does not share with the one that is patched.
    enum class Differs {
        Rule,   ///< the other rule with the items exchanged: both contexts have the same answer
        Tokens  ///< the same rule with the items exchanged
    };
    enum class Place {
        Examples,  ///< the third items of the examples
        Last       ///< the last position, which answers
    };

    /// Prompts of one rule, which are patched.
    struct Followed {
        std::string rule;  ///< "ABA", "ABB"
        std::int64_t prompts = 0;
        std::int64_t right = 0;  ///< the item of the rule is likelier than that of the other rule
        double accuracy = 0.0, low = 0.0, high = 0.0;  ///< with its exact 95 % interval
        double first = 0.0;   ///< fraction in which it is the likeliest of all tokens
        double margin = 0.0;  ///< mean of logit(item of the rule) - logit(of the other rule), nats
        std::vector<double> untrained = {};  ///< the accuracy of each model with fresh weights
    };

    /// A part patched at one place. Of each draw of items one prompt of each rule is patched; a
    /// score is what patching adds to logit(other item) - logit(item of the rule), in nats.
    struct Effect {
        int part = 0;
        Differs differs = Differs::Rule;
        Place place = Place::Last;
        std::array<std::vector<double>, 2> values = {};  ///< by the rule of the prompt and draw
        PairedChange all = {};                           ///< score by the means of both prompts
        std::array<PairedChange, 2> ofRule = {};
        double share = 0.0;    ///< share of the way from one item to the other, twice the margin
        double changed = 0.0;  ///< fraction of right answers that became the other item
        double p = 1.0;        ///< by the maximum over all effects
        bool moves = false;    ///< the answer towards that of the other context
    };

    /// What a part carries at a place, where that can be told.
    struct Carried {
        int part = 0;
        Place place = Place::Last;
        std::string what;  ///< "rule", "token", "rule or token"
    };

    std::int64_t draws = 0;          ///< draws of items; each kind has twice as many pairs
    std::vector<AblationRow> parts;  ///< without ways, in the order of the pass
    std::array<Followed, 2> followed = {};
    std::vector<Effect> effects;
    std::vector<Carried> carried;
    std::vector<std::string> findings;
    std::int64_t permutations = 0;
};

struct SymbolHeadOptions {
    std::int64_t pairs = 100;    ///< pairs of contexts, of each kind
    std::int64_t examples = 10;  ///< in a context, at most
    std::vector<std::string> where = {"examples", "last"};
    std::vector<std::string> what = {"heads", "relations"};              ///< groups of AblationRow
    std::string rule_tokens = "auto", separator = "auto", end = "auto";  ///< rule_prompts.h
    std::int64_t permutations = 1000, seed = 0;
    std::int64_t untrained = 4;
};

}  // namespace relascope

namespace relascope::core {

/// Decides by the values of all effects which parts carry what, and says so. p: the share of
/// random signs of the draws, alike for all effects, whose largest sum of an effect over its root
/// of squares is as large (the maximum statistic of Westfall and Young 1993). A part moves the
/// answer if p < 0.01, in prompts of both rules, by 5 % of the way or more; it carries what its
/// effects of the other kind of pairs are below, by their 95 % intervals. Below 50 draws, or where
/// the model does not follow both rules above chance and above four or more untrained models,
/// nothing is said.
void findSymbolHeads(SymbolHeads& found, std::int64_t seed);

/// The result as an answer: `facts`, "parts" (a column for each place and kind of pairs: the
/// score), "findings", "rules" (the prompts of each rule) and "effects" with everything.
Answer answerOf(const SymbolHeads& found, Table facts = {});
const FieldTable<SymbolHeadOptions>& symbolHeadFields();

}  // namespace relascope::core
