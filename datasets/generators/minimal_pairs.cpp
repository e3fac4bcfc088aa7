// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/minimal_pairs.h"

#include <array>
#include <cctype>
#include <set>
#include <span>

#include "datasets/generators/random.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::datasets {
namespace {

constexpr int kTriesAPair = 200;  // draws without a new pair: there are no more

struct Noun {
    const char *one, *many;
    const char* form(bool plural) const { return plural ? many : one; }
};
/// A verb in the present, after one and after several, and in the past.
struct PairVerb {
    const char *one, *many, *past, *ing;
    const char* form(bool plural) const { return plural ? many : one; }
};

constexpr std::array kPeople = {
    Noun{"hacker", "hackers"},   Noun{"user", "users"},       Noun{"programmer", "programmers"},
    Noun{"writer", "writers"},   Noun{"author", "authors"},   Noun{"reader", "readers"},
    Noun{"manager", "managers"}, Noun{"student", "students"}, Noun{"player", "players"},
    Noun{"wizard", "wizards"},   Noun{"expert", "experts"},   Noun{"customer", "customers"}};
constexpr std::array kThings = {Noun{"program", "programs"}, Noun{"file", "files"},
                                Noun{"message", "messages"}, Noun{"command", "commands"},
                                Noun{"book", "books"},       Noun{"word", "words"},
                                Noun{"line", "lines"},       Noun{"language", "languages"}};
// What works by itself, and what is on or in something.
constexpr std::array kAgents = {Noun{"program", "programs"}, Noun{"system", "systems"},
                                Noun{"computer", "computers"}, Noun{"machine", "machines"}};
constexpr std::array kPlaces = {Noun{"machine", "machines"}, Noun{"system", "systems"},
                                Noun{"computer", "computers"}, Noun{"network", "networks"},
                                Noun{"terminal", "terminals"}};
constexpr std::array kMen = {Noun{"man", "men"}, Noun{"boy", "boys"}, Noun{"king", "kings"},
                             Noun{"father", "fathers"}};
constexpr std::array kWomen = {Noun{"woman", "women"}, Noun{"girl", "girls"},
                               Noun{"queen", "queens"}, Noun{"mother", "mothers"}};
constexpr std::array kMass = {"software", "hardware", "memory", "information", "code",
                              "paper",    "music",    "money",  "text"};

constexpr std::array kBetweenPeople = {
    PairVerb{"knows", "know", "knew", "knowing"},   PairVerb{"likes", "like", "liked", "liking"},
    PairVerb{"helps", "help", "helped", "helping"}, PairVerb{"sees", "see", "saw", "seeing"},
    PairVerb{"needs", "need", "needed", "needing"}, PairVerb{"finds", "find", "found", "finding"}};
constexpr std::array kOnThings = {PairVerb{"reads", "read", "read", "reading"},
                                  PairVerb{"uses", "use", "used", "using"},
                                  PairVerb{"fixes", "fix", "fixed", "fixing"},
                                  PairVerb{"makes", "make", "made", "making"},
                                  PairVerb{"finds", "find", "found", "finding"},
                                  PairVerb{"changes", "change", "changed", "changing"},
                                  PairVerb{"opens", "open", "opened", "opening"},
                                  PairVerb{"writes", "write", "wrote", "writing"}};
// Always with an object: a gap cannot be meant where none is.
constexpr std::array kWithObject = {
    PairVerb{"fixes", "fix", "fixed", "fixing"},    PairVerb{"makes", "make", "made", "making"},
    PairVerb{"finds", "find", "found", "finding"},  PairVerb{"uses", "use", "used", "using"},
    PairVerb{"needs", "need", "needed", "needing"}, PairVerb{"wants", "want", "wanted", "wanting"}};
constexpr std::array kToItself = {"copied", "changed", "stopped", "started", "fixed", "protected"};
constexpr std::array kToOneself = {"helped", "saw", "liked", "knew", "found", "asked"};
constexpr std::array kOfPeople = {"old", "new", "good", "famous", "young", "wrong", "happy"};
constexpr std::array kOfThings = {"old", "new", "good", "large", "small", "useful", "common"};
constexpr std::array kBefore = {"old", "new", "good", "useful", "common", "simple", "strange"};
constexpr std::array kTimes = {"", " again", " today", " there"};

struct Words {
    std::string good, bad;
};

/// Sentences of one phenomenon.
class Grammar {
    // In front of what deduces its types from them.
    bool flip() { return m_random.below(2) == 1; }
    template <class Items>
    const auto& pick(const Items& items) {
        return items[static_cast<std::size_t>(m_random.below(static_cast<int>(items.size())))];
    }
    template <class Items>
    auto one(const Items& items) {
        if constexpr (std::is_same_v<typename Items::value_type, const char*>)
            return std::string(pick(items));
        else
            return pick(items);
    }
    std::string any(std::initializer_list<const char*> words) {
        return words.begin()[m_random.below(static_cast<int>(words.size()))];
    }
    /// A noun that the sentence does not have yet.
    template <class Nouns>
    const char* noun(const Nouns& nouns, bool plural) {
        for (;;) {
            const auto& found = pick(nouns);
            if (m_used.size() >= nouns.size() || m_used.insert(found.one).second)
                return found.form(plural);
        }
    }
    /// A verb that the sentence does not have yet.
    template <class Verbs>
    const PairVerb& pickVerb(const Verbs& verbs) {
        for (;;) {
            const auto& found = pick(verbs);
            if (m_used.insert(found.one).second) return found;
        }
    }
    const char* person(bool woman) { return woman ? noun(kWomen, false) : noun(kMen, false); }
    /// The number of a noun between: the other one if it is to attract.
    bool other(bool number) const { return m_o.attractors ? !number : number; }

    /// " that the users know": a relative clause, whose nouns are `distance` of them.
    std::string clause(bool plural) {
        if (m_o.distance < 1) return {};
        const bool subject = other(plural);
        std::string text = " that the " + std::string(noun(kPeople, subject));
        for (std::int64_t k = 1; k < m_o.distance; ++k)
            text += " " + any({"near", "behind", "with"}) + " the " + noun(kPeople, subject);
        return text + " " + one(kBetweenPeople).form(subject);
    }
    /// " near the users": phrases behind a person.
    std::string people(bool plural) {
        std::string text;
        for (std::int64_t k = 0; k < m_o.distance; ++k)
            text += " " + any({"near", "behind", "with"}) + " the " + noun(kPeople, other(plural));
        return text;
    }
    /// " of the users": phrases behind a thing.
    std::string ofPeople(bool plural) {
        std::string text;
        for (std::int64_t k = 0; k < m_o.distance; ++k)
            text += " " + (k == 0 ? any({"of", "for", "from"}) : any({"near", "behind"})) +
                    " the " + noun(kPeople, other(plural));
        return text;
    }
    /// " old", " old and useful": so many adjectives as `distance`.
    std::string adjectives(bool people = false) {
        std::string text;
        for (std::int64_t k = 0; k < m_o.distance; ++k)
            text += (k == 0 ? " " : " and ") + fresh(people ? kOfPeople : kBefore);
        return text;
    }
    /// A word that the sentence does not have yet.
    template <class Words>
    std::string fresh(const Words& words) {
        for (;;) {
            std::string word = pick(words);
            if (m_used.insert(word).second) return word;
        }
    }
    template <class Adjectives>
    Words predicate(const std::string& subject, bool plural, const Adjectives& adjectives) {
        const bool past = flip();
        const std::string single = past ? "was" : "is", several = past ? "were" : "are";
        return swapped(subject + " ", plural ? several : single, plural ? single : several,
                       " " + fresh(adjectives));
    }
    static Words swapped(const std::string& before, const std::string& good, const std::string& bad,
                         const std::string& behind = {}) {
        return {before + good + behind, before + bad + behind};
    }

public:
    Grammar(const PairGrammar& options, SplitMix& random) : m_o(options), m_random(random) {}

    Words relativeClause() {
        const bool plural = flip();
        const auto subject = "the " + std::string(noun(kPeople, plural)) + clause(plural);
        return predicate(subject, plural, kOfPeople);
    }
    Words prepositionalPhrase() {
        const bool plural = flip();
        const auto subject = "the " + std::string(noun(kThings, plural)) + ofPeople(plural);
        return predicate(subject, plural, kOfThings);
    }
    Words reflexiveNumber() {
        const bool plural = flip();
        std::string text = "the " + std::string(noun(kAgents, plural));
        for (std::int64_t k = 0; k < m_o.distance; ++k)
            text += " " + any({"near", "behind"}) + " the " + noun(kPlaces, other(plural));
        text += " " + one(kToItself) + " ";
        const auto end = std::string(one(kTimes));
        return swapped(text, plural ? "themselves" : "itself", plural ? "itself" : "themselves",
                       end);
    }
    Words reflexiveGender() {
        const bool woman = flip();
        std::string text = "the " + std::string(person(woman));
        for (std::int64_t k = 0; k < m_o.distance; ++k)
            text += " " + any({"near", "behind", "with"}) + " the " + person(other(woman));
        text += " " + one(kToOneself) + " ";
        const auto end = std::string(one(kTimes));
        return swapped(text, woman ? "herself" : "himself", woman ? "himself" : "herself", end);
    }
    Words determinerNoun() {
        const bool plural = flip();
        const auto& things = pick(kThings);
        const auto text = "the " + std::string(noun(kPeople, flip())) + " " + one(kOnThings).past +
                          " " + (plural ? any({"these", "those"}) : any({"this", "that"})) +
                          adjectives() + " ";
        return swapped(text, things.form(plural), things.form(!plural));
    }
    Words quantifierNumber() {
        const bool plural = flip(), people = flip();
        std::string rest = adjectives(people) + " ";
        rest += people ? noun(kPeople, plural) : noun(kThings, plural);
        rest += flip() ? (plural ? " are " : " is ") : (plural ? " were " : " was ");
        rest += people ? fresh(kOfPeople) : fresh(kOfThings);
        return swapped("", plural ? "all" : "every", plural ? "every" : "all", rest);
    }
    Words quantifierCountability() {
        const bool count = flip();
        const bool plural = flip();
        const auto verb = any({"need", "want", "have", "use"});
        const std::string form = plural ? verb : verb == "have" ? "has" : verb + "s";
        const auto text = "the " + std::string(noun(kPeople, plural)) + " " + form + " too ";
        const auto rest =
            adjectives() + " " + (count ? std::string(noun(kThings, true)) : one(kMass));
        return swapped(text, count ? "many" : "much", count ? "much" : "many", rest);
    }
    Words fillerGap() {
        const bool gap = flip(), plural = flip();
        const std::string text =
            "the " + std::string(noun(kPeople, flip())) + " " + any({"knew", "saw", "said"}) + " ";
        std::string rest = " the " + std::string(noun(kPeople, plural)) + people(plural) + " " +
                           one(kWithObject).past;
        if (!gap) rest += " the " + std::string(noun(kThings, flip()));
        return swapped(text, gap ? "what" : "that", gap ? "that" : "what", rest);
    }
    Words adjunctIsland() {
        const bool plural = flip();
        const auto subject = "what did the " + std::string(noun(kPeople, plural)) + people(plural) +
                             " " + pickVerb(kWithObject).many;
        const auto when = " " + any({"before", "after", "without"}) + " ";
        const std::string second = pickVerb(kOnThings).ing;
        const auto object = " the " + std::string(noun(kThings, flip()));
        return {subject + when + second + object + "?", subject + object + when + second + "?"};
    }
    Words coordinateIsland() {
        const bool plural = flip();
        const auto first = "what did the " + std::string(noun(kPeople, flip()));
        const auto second = " and the " + std::string(noun(kPeople, plural)) + people(plural);
        const auto verb = std::string(" ") + one(kWithObject).many;
        return {first + second + verb + "?", first + verb + second + "?"};
    }
    Words polarity() {
        const bool plural = flip();
        const auto subject = std::string(noun(kPeople, plural));
        const auto rest = std::string(plural ? " have" : " has") + " ever " +
                          any({"read", "used", "fixed", "found", "opened", "changed"}) + " the " +
                          noun(kThings, flip());
        const auto clauses = m_o.distance > 0 ? clause(plural) : std::string();
        // The second licensor stands in the clause, from where it does not reach the verb.
        auto inside = clauses;
        if (m_o.attractors && !clauses.empty()) inside.replace(inside.find("the "), 4, "no ");
        return {"no " + subject + clauses + rest, "the " + subject + inside + rest};
    }
    Words argumentOrder() {
        const bool plural = flip();
        const auto who = "the " + std::string(noun(kPeople, plural)) + people(plural),
                   what = "the " + std::string(noun(kThings, flip()));
        const auto verb = " " + any({"read", "wrote", "opened", "printed", "typed"}) + " ";
        return {who + verb + what, what + verb + who};
    }

private:
    const PairGrammar& m_o;
    SplitMix& m_random;
    std::set<std::string> m_used;
};

struct Rule {
    PairPhenomenon phenomenon;
    Words (Grammar::*make)();
};

const std::vector<Rule>& rules() {
    static const char *morphology = "morphology", *syntax = "syntax", *semantics = "semantics",
                      *both = "syntax_semantics";
    static const std::vector<Rule> all = {
        {{"agreement_relative_clause", morphology, "subject_verb_agreement"},
         &Grammar::relativeClause},
        {{"agreement_prepositional_phrase", morphology, "subject_verb_agreement"},
         &Grammar::prepositionalPhrase},
        {{"reflexive_number", morphology, "anaphor_agreement"}, &Grammar::reflexiveNumber},
        {{"reflexive_gender", morphology, "anaphor_agreement"}, &Grammar::reflexiveGender},
        {{"determiner_noun", morphology, "determiner_noun_agreement"}, &Grammar::determinerNoun},
        {{"quantifier_number", semantics, "quantifiers"}, &Grammar::quantifierNumber},
        {{"quantifier_countability", semantics, "quantifiers"}, &Grammar::quantifierCountability},
        {{"filler_gap", syntax, "filler_gap_dependency"}, &Grammar::fillerGap},
        {{"adjunct_island", syntax, "island_effects"}, &Grammar::adjunctIsland},
        {{"coordinate_island", syntax, "island_effects"}, &Grammar::coordinateIsland},
        {{"polarity_licensor", both, "npi_licensing"}, &Grammar::polarity},
        {{"argument_order", both, "argument_structure"}, &Grammar::argumentOrder}};
    return all;
}

std::string asSentence(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text.ends_with('?') ? text : text + ".";
}

void addPairs(const Rule& rule, std::uint64_t stream, const PairGrammar& options,
              std::vector<core::MinimalPair>& pairs) {
    SplitMix random(options.seed, stream);
    std::set<std::string> known;
    for (int tries = 0; std::ssize(known) < options.pairs; ++tries) {
        if (tries > kTriesAPair)
            throw OptionError("data.train_size",
                              "is more than the " + std::to_string(known.size()) +
                                  " pairs that were found of " + rule.phenomenon.name +
                                  "; give fewer, or a larger data.distance");
        Grammar grammar(options, random);
        const auto words = (grammar.*rule.make)();
        if (!known.insert(words.good).second) continue;
        tries = 0;
        pairs.push_back({asSentence(words.good),
                         {asSentence(words.bad)},
                         {},
                         rule.phenomenon.name,
                         rule.phenomenon.field,
                         rule.phenomenon.term});
    }
}

}  // namespace

const std::vector<PairPhenomenon>& pairPhenomena() {
    static const std::vector<PairPhenomenon> all = [] {
        std::vector<PairPhenomenon> found;
        for (const auto& rule : rules()) found.push_back(rule.phenomenon);
        return found;
    }();
    return all;
}

std::vector<core::MinimalPair> generatePairs(const PairGrammar& options) {
    std::vector<core::MinimalPair> pairs;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < rules().size(); ++k) {
        names.emplace_back(rules()[k].phenomenon.name);
        if (options.phenomenon.empty() || options.phenomenon == names.back())
            addPairs(rules()[k], k, options, pairs);
    }
    if (pairs.empty())
        throw OptionError("data.task", unknownName("phenomenon", options.phenomenon, names));
    return pairs;
}

}  // namespace relascope::datasets
