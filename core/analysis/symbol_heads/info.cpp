// SPDX-License-Identifier: GPL-3.0-or-later
// Symbol heads: the options, the decisions and the tables.
#include "analysis/symbol_heads/symbol_heads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/pairs/claims.h"
#include "answers/answer_text.h"
#include "answers/column_table.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<SymbolHeadOptions>& symbolHeadFields() {
    static const FieldTable<SymbolHeadOptions> table = [] {
        using O = SymbolHeadOptions;
        FieldTable<O> all = {
            fields::integer(&O::pairs, "pairs", "Pairs",
                            "pairs of contexts, of each of the two kinds", 2, 1e6),
            fields::integer(&O::examples, "examples", "Examples",
                            "whole sequences in a context, at most", 1, 1000),
            fields::texts(&O::where, "where", "Where",
                          "the positions that are patched, apart from each other",
                          {"examples", "last"}),
            fields::texts(&O::what, "what", "Parts", "which parts are patched",
                          {"heads", "relations", "columns", "paths", "mlp"}),
            fields::choice(&O::rule_tokens, "rule_tokens", "Tokens",
                           "single tokens of the sequences: words behind a blank, letters, or any "
                           "that can be printed; auto: the first of these that the tokenizer has",
                           {"auto", "words", "letters", "any"}),
            fields::text(&O::separator, "separator", "Separator",
                         "what stands between two items; auto: ^, or what the tokenizer has"),
            fields::text(&O::end, "end", "End",
                         "what ends a sequence, \\n for a line end; auto: a line end, or what the "
                         "tokenizer has"),
            fields::integer(&O::permutations, "permutations", "Permutations",
                            "random signs of the draws for the test", 1, 1e5),
            fields::integer(&O::seed, "seed", "Seed", "draws the tokens and the signs", 0, 1e9),
            fields::integer(&O::untrained, "untrained", "Untrained models",
                            "models with the same options and fresh weights that answer the same "
                            "prompts; with fewer than four nothing is said of any part",
                            0, 64)};
        all[2].spec.choiceTitles = {"Third items", "Last position"};
        all[2].spec.choiceHelp = {"The third items of the examples, where a rule can be read",
                                  "The last position, where the answer is given"};
        all[3].spec.choiceTitles = {"Heads", "Relations", "Relation x head", "Paths",
                                    "Feed-forward"};
        all[3].spec.choiceHelp = {"Sensory and relational heads, one at a time",
                                  "One relation at a time, for every head",
                                  "One relation at a time, for one head",
                                  "Of a layer: attention, all relations, all symbols",
                                  "The feed-forward part of a layer"};
        all[4].spec.choiceTitles = {"Automatic", "Words", "Letters", "Any"};
        return all;
    }();
    return table;
}

namespace {

using Effect = SymbolHeads::Effect;
using Differs = SymbolHeads::Differs;
using Place = SymbolHeads::Place;

constexpr double kSymbolLevel = 0.01;    // of all effects together
constexpr double kLeastOfTheWay = 0.05;  // a smaller share is no claim, however sure
constexpr double kChanceOfRule = 0.5;
constexpr std::size_t kNamedParts = 12;  // more are left to the table

const std::vector<std::string> kDiffers = {"rule", "token"}, kPlaces = {"examples", "last"};

const char* placeWords(Place place) {
    return place == Place::Last ? "at the last position" : "at the third items of the examples";
}

std::string percentText(double fraction, int digits = 1) {
    return numberWithMinus(std::round(fraction * 1e3) == 0.0 ? 0.0 : 100.0 * fraction, digits) +
           " %";
}

/// The values of a draw: the mean of its two prompts.
double valueOf(const Effect& effect, std::size_t draw) {
    return 0.5 * (effect.values[0][draw] + effect.values[1][draw]);
}

/// The p-values of all effects by the maximum statistic. A sum over the root of the sum of squares,
/// which no signs change, rises with Student's t.
void findP(SymbolHeads& found, std::int64_t seed) {
    const auto draws = static_cast<std::size_t>(found.draws);
    std::vector<std::vector<double>> values;  // of each effect, over the root of their squares
    std::vector<double> sums;
    for (const auto& effect : found.effects) {
        std::vector<double> own(draws);
        double squares = 0.0, sum = 0.0;
        for (std::size_t k = 0; k < draws; ++k) {
            own[k] = valueOf(effect, k);
            squares += own[k] * own[k];
        }
        const double root = std::sqrt(squares);
        for (auto& one : own) sum += one = root > 0 ? one / root : 0.0;
        values.push_back(std::move(own));
        sums.push_back(sum);
    }
    std::vector<std::int64_t> beaten(values.size(), 0);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::vector<double> signs(draws);
    for (std::int64_t p = 0; p < found.permutations; ++p) {
        for (auto& sign : signs) sign = (random() >> 63) != 0 ? 1.0 : -1.0;
        double most = 0.0;
        for (const auto& own : values) {
            double sum = 0.0;
            for (std::size_t k = 0; k < draws; ++k) sum += signs[k] * own[k];
            most = std::max(most, sum);
        }
        // With all signs alike the sum is the measured one, but for rounding.
        for (std::size_t e = 0; e < sums.size(); ++e) beaten[e] += most >= sums[e] - 1e-9;
    }
    for (std::size_t e = 0; e < sums.size(); ++e)
        found.effects[e].p =
            static_cast<double>(1 + beaten[e]) / static_cast<double>(1 + found.permutations);
}

const Effect* effectOf(const SymbolHeads& found, int part, Place place, Differs differs) {
    for (const auto& effect : found.effects)
        if (effect.part == part && effect.place == place && effect.differs == differs)
            return &effect;
    return nullptr;
}

std::string shareOf(const Effect& effect) {
    return percentText(effect.share) + " of the way";
}
std::string natsOf(const Effect& effect) {
    const auto number = [](double value) { return numberWithMinus(value, 2); };
    return number(effect.all.change) + " nats [" + number(effect.all.low) + ", " +
           number(effect.all.high) + "]";
}

std::string carriedSentence(const SymbolHeads& found, const SymbolHeads::Carried& carried) {
    const auto& rule = *effectOf(found, carried.part, carried.place, Differs::Rule);
    const auto& token = *effectOf(found, carried.part, carried.place, Differs::Tokens);
    const auto name = capitalized(found.parts[static_cast<std::size_t>(carried.part)].part);
    const std::string of = " from a context of the ";
    const std::string otherRule = of + "other rule that has the same answer",
                      otherTokens = of + "same rule that has the other answer";
    if (carried.what == kDiffers[0])
        return name + " carries the rule " + placeWords(carried.place) + ": its value" + otherRule +
               " moves the answer to the other item by " + shareOf(rule) + ", " + natsOf(rule) +
               "; that" + otherTokens + " by " + percentText(token.share) + ".";
    if (carried.what == kDiffers[1])
        return name + " carries the token " + placeWords(carried.place) + ": its value" +
               otherTokens + " moves the answer to that item by " + shareOf(token) + ", " +
               natsOf(token) + "; that" + otherRule + " by " + percentText(rule.share) + ".";
    return name + " moves the answer " + placeWords(carried.place) + " by " +
           percentText(rule.share) + " of the way from a context of the other rule and by " +
           percentText(token.share) +
           " from one of the same rule with other tokens, so it cannot be said which of the two it "
           "carries.";
}

/// What is not shown at a place.
std::string noneSentence(const SymbolHeads& found, Place place, Differs differs) {
    const Effect* most = nullptr;
    for (const auto& effect : found.effects)
        if (effect.place == place && effect.differs == differs &&
            (!most || effect.all.change > most->all.change))
            most = &effect;
    if (!most) return {};
    return std::string("No part is shown to carry the ") +
           kDiffers[static_cast<std::size_t>(differs)] + " " + placeWords(place) +
           ": the most moves the answer by " + shareOf(*most) + ", " + natsOf(*most) +
           ", p = " + fixedField(most->p, 3) + " (" +
           found.parts[static_cast<std::size_t>(most->part)].part + ").";
}

std::string followedText(const SymbolHeads::Followed& one) {
    const auto fresh = untrainedShares(one.untrained);
    return percentText(one.accuracy) + " [" + fixedField(100.0 * one.low, 1) + ", " +
           fixedField(100.0 * one.high, 1) + "] of the " + one.rule + " prompts" +
           (fresh.empty() ? "" : " (" + fresh + ")");
}

}  // namespace

void findSymbolHeads(SymbolHeads& found, std::int64_t seed) {
    found.carried.clear(), found.findings.clear();
    const double way = found.followed[0].margin + found.followed[1].margin;  // twice their mean
    for (auto& effect : found.effects)
        effect.share = way > 0 ? effect.all.change / way : std::nan("");
    findP(found, seed);
    for (auto& effect : found.effects)
        effect.moves = effect.p < kSymbolLevel && effect.share >= kLeastOfTheWay &&
                       effect.ofRule[0].low > 0 && effect.ofRule[1].low > 0;
    if (!enoughToSay(found.draws, false)) {
        found.findings.push_back(groupedNumber(2 * found.draws) +
                                 " pairs of contexts are too few for a sentence; " +
                                 std::to_string(2 * kFewestToSay) + " or more are needed.");
        return;
    }
    const auto all = [&](const auto& holds) {
        return std::all_of(found.followed.begin(), found.followed.end(), holds);
    };
    const auto both = followedText(found.followed[0]) + " and " + followedText(found.followed[1]);
    const auto nothing = [&](const std::string& how, const std::string& why) {
        found.findings.push_back("The model " + how + " the rules: it prefers their item in " +
                                 both + ", and " + why +
                                 ", so no part can be said to carry anything.");
    };
    if (!all([](const auto& one) { return one.low > kChanceOfRule; }))
        return nothing("does not follow", "not both are above the 50 % of chance");
    // A model that always takes the same item of the two follows one rule and not the other.
    const auto &aba = found.followed[0], &abb = found.followed[1];
    std::vector<double> weaker;
    for (std::size_t m = 0; m < std::min(aba.untrained.size(), abb.untrained.size()); ++m)
        weaker.push_back(std::min(aba.untrained[m], abb.untrained[m]));
    if (!shareAbove(std::min(aba.low, abb.low), kChanceOfRule, weaker))
        return nothing("is not shown to follow",
                       weaker.size() < kFewestUntrained
                           ? "whether untrained models do as well takes " +
                                 std::to_string(kFewestUntrained) + " of them or more"
                           : "an untrained model may do as well");
    found.findings.push_back("The model prefers the item of the rule in " + both +
                             " (50 is chance).");
    if (const double least = 1.0 / static_cast<double>(1 + found.permutations);
        least >= kSymbolLevel) {
        found.findings.push_back(
            groupedNumber(found.permutations) +
            " random signs are too few to say what a part carries: the smallest p that they can "
            "give is " +
            fixedField(least, 3) + ", and p < " + fixedField(kSymbolLevel, 2) +
            " is asked for; take " + groupedNumber(std::llround(1.0 / kSymbolLevel)) +
            " or more (permutations).");
        return;
    }
    for (std::size_t p = 0; p < found.parts.size(); ++p)
        for (const auto place : {Place::Examples, Place::Last}) {
            const auto part = static_cast<int>(p);
            const auto* rule = effectOf(found, part, place, Differs::Rule);
            const auto* token = effectOf(found, part, place, Differs::Tokens);
            if (!rule || !token || (!rule->moves && !token->moves)) continue;
            const bool ruleAlone = rule->moves && token->all.high < rule->all.low;
            const bool tokenAlone = token->moves && rule->all.high < token->all.low;
            found.carried.push_back({part, place,
                                     ruleAlone    ? kDiffers[0]
                                     : tokenAlone ? kDiffers[1]
                                                  : kDiffers[0] + " or " + kDiffers[1]});
        }
    const auto size = [&](const SymbolHeads::Carried& one) {
        return std::max(effectOf(found, one.part, one.place, Differs::Rule)->all.change,
                        effectOf(found, one.part, one.place, Differs::Tokens)->all.change);
    };
    auto named = found.carried;
    std::stable_sort(named.begin(), named.end(),
                     [&](const auto& a, const auto& b) { return size(a) > size(b); });
    for (std::size_t k = 0; k < std::min(named.size(), kNamedParts); ++k)
        found.findings.push_back(carriedSentence(found, named[k]));
    if (named.size() > kNamedParts)
        found.findings.push_back("And " + std::to_string(named.size() - kNamedParts) +
                                 " more, which the table has.");
    for (const auto place : {Place::Examples, Place::Last})
        for (const auto differs : {Differs::Rule, Differs::Tokens}) {
            const auto& what = kDiffers[static_cast<std::size_t>(differs)];
            const bool any = std::any_of(named.begin(), named.end(), [&](const auto& one) {
                return one.place == place && one.what == what;
            });
            if (any) continue;
            if (auto none = noneSentence(found, place, differs); !none.empty())
                found.findings.push_back(std::move(none));
        }
    found.findings.push_back("Looked at " + groupedNumber(std::ssize(found.effects)) +
                             " effects; what is said to be carried has p < 0.01 by the maximum of "
                             "all of them over " +
                             groupedNumber(found.permutations) + " random signs.");
}

Answer answerOf(const SymbolHeads& found, Table facts) {
    using namespace columns;
    const NumberFormat percent{1, true};
    // Where no effect is beyond chance, bars would draw the noise large.
    const bool bars = std::any_of(found.effects.begin(), found.effects.end(),
                                  [](const Effect& effect) { return effect.moves; });
    auto parts = tableWith("parts", "Effect of each part on the answer", text("part", {"Part"}),
                           text("group"));
    std::vector<std::pair<Place, Differs>> shown;
    for (const auto differs : {Differs::Rule, Differs::Tokens})
        for (const auto place : {Place::Examples, Place::Last}) {
            if (found.parts.empty() || !effectOf(found, 0, place, differs)) continue;
            shown.emplace_back(place, differs);
            const bool rule = differs == Differs::Rule;
            parts.columns.push_back(
                number(kDiffers[static_cast<std::size_t>(differs)] + "_" +
                           kPlaces[static_cast<std::size_t>(place)],
                       {std::string(rule ? "Other rule, " : "Other token, ") +
                            (place == Place::Last ? "last" : "third items"),
                        {2, false, true, bars},
                        std::string("What the part's value ") +
                            (rule ? "from a context of the other rule with the same answer "
                                  : "from a context of the same rule with the other answer ") +
                            placeWords(place) +
                            " adds to the logit of the other item less that of the rule's, "
                            "nats"}));
        }
    parts.columns.push_back(text("carries", {"Carries"}));
    for (std::size_t k = 0; k < found.parts.size(); ++k) {
        const auto part = static_cast<int>(k);
        std::vector<double> changes;
        for (const auto& [place, differs] : shown)
            changes.push_back(effectOf(found, part, place, differs)->all.change);
        std::string carries;
        for (const auto& one : found.carried)
            if (one.part == part)
                carries += (carries.empty() ? "" : ", ") + one.what + " (" +
                           kPlaces[static_cast<std::size_t>(one.place)] + ")";
        addRow(parts, found.parts[k].part, found.parts[k].group, changes, carries);
    }

    auto findings = textsTable("findings", "finding", found.findings);
    findings.title = "What carries the rule and what the token";
    findings.columns.front().title = "Finding";

    auto rules = tableWith(
        "rules", "How the model answers", text("rule", {"Rule"}), integer("prompts", {"Prompts"}),
        integer("right"),
        number("accuracy",
               {"Right item", percent,
                "How often the item of the rule is likelier than that of the other rule; "
                "exact 95 % interval",
                "low", "high"}),
        number("low", {{}, percent}), number("high", {{}, percent}),
        number("first", {"Likeliest of all", percent, "How often no token is likelier than it"}),
        number("margin",
               {"Margin",
                {2, false, true},
                "Mean logit of the item of the rule less that of the other rule's, nats"}),
        number("untrained", {"Untrained", percent, "The most of models with fresh weights"}));
    for (const auto& one : found.followed)
        addRow(rules, one.rule, one.prompts, one.right, one.accuracy, one.low, one.high, one.first,
               one.margin,
               one.untrained.empty()
                   ? kNone
                   : *std::max_element(one.untrained.begin(), one.untrained.end()));

    auto effects = tableWith("effects", "", integer("part_row", {{}, {}, {}, {}, {}, "parts"}),
                             text("part"), text("differs"), text("place"));
    for (const std::string change : {"score", "in_aba", "in_abb"})
        for (const char* end : {"", "_low", "_high"})
            effects.columns.push_back(number(change + end));
    for (const char* key : {"share", "changed", "p"}) effects.columns.push_back(number(key));
    effects.columns.push_back(flag("moves"));
    for (const auto& effect : found.effects) {
        std::vector<double> numbers;
        for (const auto* change : {&effect.all, &effect.ofRule[0], &effect.ofRule[1]})
            numbers.insert(numbers.end(), {change->change, change->low, change->high});
        addRow(effects, effect.part, found.parts[static_cast<std::size_t>(effect.part)].part,
               kDiffers[static_cast<std::size_t>(effect.differs)],
               kPlaces[static_cast<std::size_t>(effect.place)], numbers, effect.share,
               effect.changed, effect.p, effect.moves);
    }
    return {{facts, parts, findings, rules, effects}};
}

namespace {

std::string symbolCostText(const AnalysisCost& cost, const OptionValues& values) {
    const auto options = structOf(symbolHeadFields(), values);
    if (options.what.empty()) return "choose which parts are patched";
    if (options.where.empty()) return "choose where they are patched";
    int parts = 0;
    for (const auto& group : options.what)
        if (const auto at = cost.parts.find(group); at != cost.parts.end()) parts += at->second;
    if (parts == 0) return "this model has no such parts; choose others";
    // A context is about as long as it has examples. At the last position one token is read anew.
    const double length = static_cast<double>(std::min(options.examples, cost.examples) + 1) /
                          static_cast<double>(cost.examples + 1);
    double seconds = 0.0;
    for (const auto& place : options.where)
        seconds += place == kPlaces[0] ? cost.seconds * length : cost.more;
    seconds *= 2.0 * static_cast<double>(options.pairs) * parts;
    return std::to_string(parts) + " parts on 2 x " + groupedNumber(options.pairs) +
           " pairs of contexts: about " + roughDuration(std::max(1.0, seconds));
}

/// What was found, and how the model answers; JSON has all effects.
std::string symbolText(const Answer& answer) {
    Answer shown{{answer.table("")}};
    shown.tables.push_back(answer.table("rules"));
    auto text = plainText(shown) + "\n";
    for (const auto& finding : answer.table("findings").texts("finding")) text += finding + "\n";
    return text;
}

}  // namespace

const RegisterAnalysis kSymbolHeads([] {
    Analysis a;
    a.name = "symbol-heads";
    a.needsWeights = true;
    a.place = 160;
    a.title = "Symbol heads";
    a.group = AnalysisGroup::Text;
    a.summary =
        "measures which heads and relations carry a rule in context, and which carry a token";
    a.purpose =
        "Symbol heads shows a language model sequences of the rule ABA or ABB and patches each "
        "head and relation from a context of the other rule, or of other tokens: which of them "
        "carry the rule, which the token, and which neither.";
    a.progressText = "Patching parts between contexts";
    a.input = AnalysisInput::OwnPrompts;
    a.onDemand = true;
    a.costText = symbolCostText;
    a = answering(a, symbolHeadFields(), OfferedIn::Row);
    a.terminal = symbolText;
    return a;
});

}  // namespace relascope::core
