// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/pair_attributes.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>

namespace relascope::core {
namespace {

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

/// One line of a table: what `Example` says of its objects i and j, 0 or 1, or a number of an
/// ordered attribute; kUndefined where the question makes no sense.
template <class Example>
struct PairRule {
    std::string name;
    bool ordered = false;
    std::function<float(const Example&, std::size_t i, std::size_t j)> of;
};

float yes(bool truth) {
    return truth ? 1.0F : 0.0F;
}

template <class Example, class ExampleAt>
std::vector<PairAttribute> applied(const PairShape& shape,
                                   const std::vector<PairRule<Example>>& rules, ExampleAt at) {
    std::vector<PairAttribute> all;
    for (const auto& rule : rules) {
        PairAttribute one{rule.name, rule.ordered, {}, {}};
        if (rule.ordered)
            one.values.resize(shape.values());
        else
            one.truth.resize(shape.values());
        std::size_t place = 0;
        for (std::size_t e = 0; e < shape.examples; ++e) {
            const Example example = at(e);
            for (std::size_t i = 0; i < shape.objects; ++i)
                for (std::size_t j = 0; j < shape.objects; ++j, ++place) {
                    const float value = rule.of(example, i, j);
                    if (rule.ordered)
                        one.values[place] = value;
                    else
                        one.truth[place] = std::isnan(value) ? kPairUndefined
                                           : value > 0       ? kPairYes
                                                             : kPairNo;
                }
        }
        all.push_back(std::move(one));
    }
    return all;
}

// Facts of a data set
// -------------------------------------------------------------------------------------------------

struct FactsExample {
    const std::int32_t* facts;  // [objects, count]
    std::size_t count, columns;

    std::int32_t fact(std::size_t object, std::size_t f) const { return facts[object * count + f]; }
    bool empty(std::size_t object) const { return fact(object, 0) == kEmptyPlace; }
    bool both(std::size_t i, std::size_t j) const { return !empty(i) && !empty(j); }
    bool same(std::size_t i, std::size_t j, std::size_t f) const {
        return fact(i, f) == fact(j, f);
    }
    std::size_t agreeing(std::size_t i, std::size_t j) const {
        std::size_t n = 0;
        for (std::size_t f = 0; f < count; ++f) n += same(i, j, f);
        return n;
    }
    std::ptrdiff_t row(std::size_t object) const {
        return static_cast<std::ptrdiff_t>(object / columns);
    }
    std::ptrdiff_t column(std::size_t object) const {
        return static_cast<std::ptrdiff_t>(object % columns);
    }
};

std::string plural(const std::string& word) {
    return word + "s";
}

std::vector<PairRule<FactsExample>> factRules(const ObjectFacts& about, bool anyEmpty) {
    using E = FactsExample;
    std::vector<PairRule<E>> rules;
    const std::size_t count = about.facts.size();
    const auto add = [&](std::string name, bool ordered, auto of) {
        rules.push_back(
            {std::move(name), ordered,
             [of](const E& e, std::size_t i, std::size_t j) -> float { return of(e, i, j); }});
    };
    // Only of two objects.
    const auto ofBoth = [&](const std::string& name, bool ordered, auto of) {
        add(name, ordered, [of](const E& e, std::size_t i, std::size_t j) -> float {
            return e.both(i, j) ? of(e, i, j) : kUndefined;
        });
    };
    if (count > 1)
        ofBoth("same object", false,
               [count](const E& e, auto i, auto j) { return yes(e.agreeing(i, j) == count); });
    for (std::size_t f = 0; f < count; ++f) {
        const auto& fact = about.facts[f];
        ofBoth("same " + fact.name, false,
               [f](const E& e, auto i, auto j) { return yes(e.same(i, j, f)); });
        if (count == 2)
            ofBoth("same " + fact.name + " where " + plural(about.facts[1 - f].name) + " differ",
                   false, [f](const E& e, auto i, auto j) {
                       return e.same(i, j, 1 - f) ? kUndefined : yes(e.same(i, j, f));
                   });
        if (!fact.ordered) continue;
        ofBoth("greater in " + fact.name, false, [f](const E& e, auto i, auto j) {
            return e.same(i, j, f) ? kUndefined : yes(e.fact(i, f) > e.fact(j, f));
        });
        ofBoth("distance in " + fact.name, true, [f](const E& e, auto i, auto j) {
            return static_cast<float>(std::abs(e.fact(i, f) - e.fact(j, f)));
        });
    }
    if (count > 2)
        ofBoth("facts that agree", true,
               [](const E& e, auto i, auto j) { return static_cast<float>(e.agreeing(i, j)); });
    if (anyEmpty) {
        add(kOneEmpty, false,
            [](const E& e, auto i, auto j) { return yes(e.empty(i) != e.empty(j)); });
        add(kBothEmpty, false,
            [](const E& e, auto i, auto j) { return yes(e.empty(i) && e.empty(j)); });
    }
    if (about.columns > 0) {
        const auto rows = (about.objects + about.columns - 1) / about.columns;
        add("neighbours", false, [](const E& e, auto i, auto j) {
            return yes(std::abs(e.row(i) - e.row(j)) <= 1 &&
                       std::abs(e.column(i) - e.column(j)) <= 1);
        });
        add("same row", false,
            [](const E& e, auto i, auto j) { return yes(e.row(i) == e.row(j)); });
        add("same column", false,
            [](const E& e, auto i, auto j) { return yes(e.column(i) == e.column(j)); });
        if (rows == about.columns)
            add("same line", false, [rows](const E& e, auto i, auto j) {
                const auto onFirst = [&](auto k) { return e.row(k) == e.column(k); };
                const auto onSecond = [&](auto k) { return e.row(k) + e.column(k) == rows - 1; };
                return yes(e.row(i) == e.row(j) || e.column(i) == e.column(j) ||
                           (onFirst(i) && onFirst(j)) || (onSecond(i) && onSecond(j)));
            });
    }
    return rules;
}

// Text
// -------------------------------------------------------------------------------------------------

enum class TokenClass { Letter, Capital, Digit, Space, Punctuation };

struct ReadToken {
    std::int64_t id = 0;
    TokenClass kind = TokenClass::Letter;
    int word = -1;              // number of its word in the window; -1: of none
    std::ptrdiff_t opens = -1;  // where a closing bracket or quotation mark was opened
};

struct TextExample {
    const ReadToken* tokens;  // tokens of the window
    std::size_t start;        // object 0
    const ReadToken& at(std::size_t object) const { return tokens[start + object]; }
};

TokenClass classOf(std::string_view piece) {
    const auto first = piece.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return TokenClass::Space;
    const auto c = static_cast<unsigned char>(piece[first]);
    if (std::isdigit(c)) return TokenClass::Digit;
    if (c < 0x80 && std::isupper(c)) return TokenClass::Capital;
    // A part of a character beyond ASCII is, most often, of a letter.
    return c >= 0x80 || std::isalpha(c) ? TokenClass::Letter : TokenClass::Punctuation;
}

// Closing brackets and straight quotation marks, which close what is open.
void matchBrackets(std::vector<ReadToken>& tokens, const std::vector<char>& marks) {
    static constexpr std::string_view open = "([{", close = ")]}";
    std::vector<std::size_t> waiting;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
        const char mark = marks[k];
        const auto closes = close.find(mark);
        const bool quotes = mark == '"' && !waiting.empty() && marks[waiting.back()] == '"';
        if (quotes || (closes != std::string_view::npos && !waiting.empty() &&
                       marks[waiting.back()] == open[closes])) {
            tokens[k].opens = static_cast<std::ptrdiff_t>(waiting.back());
            waiting.pop_back();
        } else if (mark == '"' || open.find(mark) != std::string_view::npos) {
            waiting.push_back(k);
        }
    }
}

std::vector<ReadToken> readTokens(const std::int64_t* ids, std::size_t window,
                                  const Tokenizer* tokenizer) {
    std::vector<ReadToken> tokens(window);
    std::vector<char> marks(window, ' ');  // marks of tokens that are one of a pair
    int words = 0;
    bool inWord = false;
    for (std::size_t k = 0; k < window; ++k) {
        auto& token = tokens[k];
        token.id = ids[k];
        if (!tokenizer) continue;
        const auto piece = tokenizer->piece(static_cast<std::int32_t>(ids[k]));
        token.kind = classOf(piece);
        const auto first = piece.find_first_not_of(' ');
        if (first != std::string_view::npos && first + 1 == piece.size()) marks[k] = piece[first];
        const bool ofWord =
            token.kind != TokenClass::Space && token.kind != TokenClass::Punctuation;
        const bool begins = !piece.empty() && std::isspace(static_cast<unsigned char>(piece[0]));
        if (ofWord && (!inWord || begins)) ++words;
        if (ofWord) token.word = words;
        inWord = ofWord;
    }
    matchBrackets(tokens, marks);
    return tokens;
}

std::vector<PairRule<TextExample>> textRules(bool readable) {
    using E = TextExample;
    const auto bothOf = [](TokenClass kind) {
        return [kind](const E& e, std::size_t i, std::size_t j) {
            return yes(e.at(i).kind == kind && e.at(j).kind == kind);
        };
    };
    std::vector<PairRule<E>> rules = {
        {"same token", false,
         [](const E& e, auto i, auto j) { return yes(e.at(i).id == e.at(j).id); }},
        // The token before j is the one at i: what follows it came before.
        {"induction", false,
         [](const E& e, auto i, auto j) {
             return e.start + j == 0 ? kUndefined : yes(e.tokens[e.start + j - 1].id == e.at(i).id);
         }},
        {"previous token", false, [](const E&, auto i, auto j) { return yes(j + 1 == i); }},
        {"first token", false, [](const E& e, auto, auto j) { return yes(e.start + j == 0); }},
        {"distance", true,
         [](const E&, auto i, auto j) { return static_cast<float>(i > j ? i - j : j - i); }}};
    if (!readable) return rules;
    const std::vector<PairRule<E>> more = {
        {"same class", false,
         [](const E& e, auto i, auto j) { return yes(e.at(i).kind == e.at(j).kind); }},
        {"both capitals", false, bothOf(TokenClass::Capital)},
        {"both digits", false, bothOf(TokenClass::Digit)},
        {"same word", false,
         [](const E& e, auto i, auto j) {
             return yes(e.at(i).word >= 0 && e.at(i).word == e.at(j).word);
         }},
        {"matching bracket", false, [](const E& e, auto i, auto j) {
             return yes(e.at(i).opens == static_cast<std::ptrdiff_t>(e.start + j));
         }}};
    rules.insert(rules.begin() + 1, more.begin(), more.end());
    return rules;
}

// Mathematics
// -------------------------------------------------------------------------------------------------

struct ReadCharacter {
    char c = 0;
    bool variable = false, digit = false, operates = false;
    int operand = -1;           // number of its number or variable; -1: of none
    int left = -1, right = -1;  // the operands of an operator
};
using MathExample = std::vector<ReadCharacter>;

MathExample readMathematics(const std::string& text) {
    const auto is = [&](std::size_t k, auto kind) {
        return k < text.size() && kind(static_cast<unsigned char>(text[k])) != 0;
    };
    const auto letter = [](unsigned char c) { return std::isalpha(c); };
    MathExample read(text.size());
    int operands = -1;
    for (std::size_t k = 0; k < text.size(); ++k) {
        auto& one = read[k];
        one.c = text[k];
        one.digit = is(k, [](unsigned char c) { return std::isdigit(c); });
        // A letter between others belongs to a word.
        one.variable = is(k, letter) && !is(k + 1, letter) && !(k > 0 && is(k - 1, letter));
        one.operates = one.c != 0 && std::string_view("+-*/=^").find(one.c) != std::string::npos;
        if (one.variable || (one.digit && !(k > 0 && read[k - 1].digit))) ++operands;
        if (one.variable || one.digit) one.operand = operands;
    }
    // "2*x**3": the operands beside an operator of two characters, and behind spaces.
    for (std::size_t k = 0; k < read.size(); ++k) {
        const auto passes = [&](const ReadCharacter& c) { return c.c == ' ' || c.c == read[k].c; };
        if (!read[k].operates) continue;
        std::size_t from = k, to = k;
        while (from > 0 && passes(read[from])) --from;
        while (to + 1 < read.size() && passes(read[to])) ++to;
        read[k].left = read[from].operand, read[k].right = read[to].operand;
    }
    return read;
}

std::vector<PairRule<MathExample>> mathRules() {
    using E = MathExample;
    const auto rule = [](const char* name, auto of) {
        return PairRule<E>{name, false, [of](const E& e, std::size_t i, std::size_t j) -> float {
                               const auto &a = e[i], &b = e[j];
                               return a.c == 0 || b.c == 0 ? kUndefined : yes(of(a, b));
                           }};
    };
    const auto operates = [](const ReadCharacter& a, const ReadCharacter& b) {
        return a.operates && b.operand >= 0 && (b.operand == a.left || b.operand == a.right);
    };
    return {
        rule("same character", [](const auto& a, const auto& b) { return a.c == b.c; }),
        rule("same variable",
             [](const auto& a, const auto& b) { return a.variable && b.variable && a.c == b.c; }),
        rule("both variables",
             [](const auto& a, const auto& b) { return a.variable && b.variable; }),
        rule("both digits", [](const auto& a, const auto& b) { return a.digit && b.digit; }),
        rule("operator and operand", [operates](const auto& a, const auto& b) {
            return operates(a, b) || operates(b, a);
        })};
}

// Patches of images
// -------------------------------------------------------------------------------------------------

struct PatchExample {
    const float* colours;
    const std::uint8_t* isEmpty;
    std::size_t channels, columns;
    const std::size_t* patches;

    bool empty(std::size_t k) const { return isEmpty[k] != 0; }

    float row(std::size_t k) const {
        const std::size_t whole = patches[k] / columns;
        return static_cast<float>(whole);
    }
    float column(std::size_t k) const { return static_cast<float>(patches[k] % columns); }
};

std::vector<PairRule<PatchExample>> patchRules() {
    using E = PatchExample;
    return {{"colour distance", true,
             [](const E& e, auto i, auto j) {
                 if (e.empty(i) || e.empty(j)) return kUndefined;
                 float sum = 0.0F;
                 for (std::size_t c = 0; c < e.channels; ++c) {
                     const float by = e.colours[i * e.channels + c] - e.colours[j * e.channels + c];
                     sum += by * by;
                 }
                 return std::sqrt(sum);
             }},
            {"distance", true,
             [](const E& e, auto i, auto j) {
                 return std::hypot(e.row(i) - e.row(j), e.column(i) - e.column(j));
             }},
            {kOneEmpty, false,
             [](const E& e, auto i, auto j) { return yes(e.empty(i) != e.empty(j)); }},
            {kBothEmpty, false,
             [](const E& e, auto i, auto j) { return yes(e.empty(i) && e.empty(j)); }},
            {"same side", false, [](const E& e, auto i, auto j) {
                 const float middle = static_cast<float>(e.columns - 1) / 2.0F;
                 if (e.column(i) == middle || e.column(j) == middle) return kUndefined;
                 return yes((e.column(i) < middle) == (e.column(j) < middle));
             }}};
}

}  // namespace

PairAttributes attributesOfFacts(const PairShape& shape, const ObjectFacts& about,
                                 const std::vector<std::int32_t>& facts) {
    PairAttributes result;
    const std::size_t count = about.facts.size();
    std::map<std::vector<bool>, std::int32_t> groups;
    bool anyEmpty = false;
    for (std::size_t e = 0; e < shape.examples; ++e) {
        std::vector<bool> taken;
        for (std::size_t k = 0; k < shape.objects; ++k)
            taken.push_back(facts[(e * shape.objects + k) * count] != kEmptyPlace);
        for (const bool one : taken) anyEmpty = anyEmpty || !one;
        const auto next = static_cast<std::int32_t>(groups.size());
        result.occupied.push_back(groups.try_emplace(taken, next).first->second);
    }
    result.all = applied<FactsExample>(shape, factRules(about, anyEmpty), [&](std::size_t e) {
        return FactsExample{&facts[e * shape.objects * count], count,
                            static_cast<std::size_t>(about.columns)};
    });
    return result;
}

PairAttributes attributesOfText(const PairShape& shape, const std::vector<std::int64_t>& tokens,
                                const std::vector<std::size_t>& start, const Tokenizer* tokenizer) {
    const std::size_t window = shape.examples > 0 ? tokens.size() / shape.examples : 0;
    std::vector<std::vector<ReadToken>> read;
    for (std::size_t e = 0; e < shape.examples; ++e)
        read.push_back(readTokens(&tokens[e * window], window, tokenizer));
    PairAttributes result;
    result.occupied.assign(shape.examples, 0);
    result.all = applied<TextExample>(shape, textRules(tokenizer != nullptr), [&](std::size_t e) {
        return TextExample{read[e].data(), start[e]};
    });
    return result;
}

const std::vector<std::string>& tokenClassNames() {
    static const std::vector<std::string> names = {"letter", "capital", "digit", "space",
                                                   "punctuation"};
    return names;
}

std::vector<std::int64_t> tokenClasses(const PairShape& shape,
                                       const std::vector<std::int64_t>& tokens,
                                       const std::vector<std::size_t>& start,
                                       const Tokenizer& tokenizer) {
    const std::size_t window = shape.examples > 0 ? tokens.size() / shape.examples : 0;
    std::vector<std::int64_t> classes;
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t k = 0; k < shape.objects; ++k) {
            const auto id = tokens[e * window + start[e] + k];
            classes.push_back(
                static_cast<std::int64_t>(classOf(tokenizer.piece(static_cast<std::int32_t>(id)))));
        }
    return classes;
}

PairAttributes attributesOfMathematics(const PairShape& shape,
                                       const std::vector<std::string>& characters) {
    PairAttributes result;
    // Attributes are exchanged among questions of the same length.
    for (const auto& text : characters)
        result.occupied.push_back(static_cast<std::int32_t>(text.find_last_not_of('\0') + 1));
    result.all = applied<MathExample>(
        shape, mathRules(), [&](std::size_t e) { return readMathematics(characters[e]); });
    return result;
}

PairAttributes attributesOfPatches(const PairShape& shape, std::size_t columns,
                                   const std::vector<std::size_t>& patches,
                                   const std::vector<float>& colours, std::size_t channels,
                                   const std::vector<std::uint8_t>& empty) {
    PairAttributes result;
    result.occupied.assign(shape.examples, 0);
    result.all = applied<PatchExample>(shape, patchRules(), [&](std::size_t e) {
        return PatchExample{&colours[e * shape.objects * channels], &empty[e * shape.objects],
                            channels, columns, patches.data()};
    });
    return result;
}

}  // namespace relascope::core
