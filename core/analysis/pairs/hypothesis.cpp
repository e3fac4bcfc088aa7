// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/hypothesis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr const char* kSame = "same";  // of two objects; tasks have this name, too
constexpr double kLeftOut = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLongestHypothesis = 4000;  // bytes
constexpr int kDeepest = 64;                      // of "not" and parentheses

using HypothesisTruth = std::function<float(const HypothesisPair&)>;
using HypothesisNumber = std::function<double(const HypothesisPair&)>;
using HypothesisText = std::function<std::string_view(const HypothesisPair&)>;

// Words and marks
// -------------------------------------------------------------------------------------------------

struct Lexeme {
    enum class Kind { Word, Number, Quoted, Mark, End };
    Kind kind = Kind::End;
    std::string text;
    std::size_t at = 0;  // byte

    bool is(const char* mark) const {
        return (kind == Kind::Mark || kind == Kind::Word) && text == mark;
    }
};

class Lexer {
public:
    Lexer(const std::string& text, const std::string& option) : m_text(text), m_option(option) {}

    [[noreturn]] void fail(std::size_t at, const std::string& why) const {
        const auto before = std::string_view(m_text).substr(0, at);
        const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        });
        throw OptionError(m_option, "column " + std::to_string(characters + 1) + ": " + why);
    }

    std::vector<Lexeme> all() const {
        if (m_text.size() > kLongestHypothesis)
            fail(kLongestHypothesis,
                 "hypotheses have at most " + std::to_string(kLongestHypothesis) + " characters");
        std::vector<Lexeme> read;
        std::size_t at = 0;
        const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
        while (true) {
            while (at < m_text.size() && blank(m_text[at])) ++at;
            if (at == m_text.size()) break;
            read.push_back(next(at));
        }
        read.push_back({Lexeme::Kind::End, {}, at});
        return read;
    }

private:
    Lexeme next(std::size_t& at) const {
        using Kind = Lexeme::Kind;
        const auto from = at;
        const char c = m_text[at];
        const auto while_ = [&](auto goesOn) {
            while (at < m_text.size() && goesOn(m_text[at])) ++at;
            return m_text.substr(from, at - from);
        };
        const auto digit = [](char d) { return d >= '0' && d <= '9'; };
        if (beginsWord(c))
            return {Kind::Word, while_([&](char d) { return beginsWord(d) || digit(d); }), from};
        if (digit(c))
            return {Kind::Number, while_([&](char d) { return digit(d) || d == '.'; }), from};
        if (c == '"' || c == '\'') return quoted(at);
        for (const char* mark : {"!=", "<=", ">=", "=", "<", ">", "(", ")", ",", "+", "-", ";"})
            if (m_text.compare(at, std::string_view(mark).size(), mark) == 0) {
                at += std::string_view(mark).size();
                return {Kind::Mark, mark, from};
            }
        fail(from, "'" + printable(m_text.substr(from, 1)) + "' has no meaning here");
    }

    Lexeme quoted(std::size_t& at) const {
        const auto from = at;
        const char mark = m_text[at++];
        std::string text;
        for (; at < m_text.size() && m_text[at] != mark; ++at) {
            if (m_text[at] == '\\' && at + 1 < m_text.size()) {
                const char c = m_text[++at];
                text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
            } else {
                text += m_text[at];
            }
        }
        if (at == m_text.size()) fail(from, std::string("this ") + mark + " is not closed");
        ++at;
        return {Lexeme::Kind::Quoted, std::move(text), from};
    }

    const std::string& m_text;
    const std::string& m_option;
};

// Grammar
// -------------------------------------------------------------------------------------------------

/// What stands on one side of a comparison.
struct Operand {
    std::variant<HypothesisNumber, HypothesisText> value;
    std::size_t at = 0;
    std::optional<std::string> word = {};  // a text as it stands, or a word of no other meaning
    const std::vector<std::string>* names = nullptr;  // of the texts, or of the numbers 0, 1, ...
    std::string what = {};                            // "colour", "token": whose those are
    bool unordered = false;
    bool quoted = false;
};

/// Numbers of files are kept as floats, so that 0.3 is only nearly 0.3.
constexpr double kFloatRounding = 4e-7;

bool compares(const std::string& sign, double x, double y) {
    const auto a = static_cast<float>(x), b = static_cast<float>(y);
    if (sign == "=") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<") return a < b;
    if (sign == "<=") return a <= b;
    return sign == ">" ? a > b : a >= b;
}

class Parser {
public:
    Parser(const std::string& text, const HypothesisTerms& terms, const std::string& option)
        : m_text(text), m_terms(terms), m_lexer(text, option), m_all(m_lexer.all()) {}

    std::vector<Hypothesis> all() {
        std::vector<Hypothesis> found;
        while (true) {
            while (takes(";")) continue;
            if (now().kind == Lexeme::Kind::End) return found;
            const auto from = now().at;
            auto truth = alternatives();
            auto text = m_text.substr(from, now().at - from);
            text.erase(text.find_last_not_of(" \t\r\n") + 1);
            if (now().kind != Lexeme::Kind::End && !now().is(";"))
                expected("'and', 'or', ';' or the end");
            found.push_back({std::move(text), std::move(truth)});
        }
    }

private:
    const Lexeme& now() const { return m_all[m_at]; }
    const Lexeme& then() const { return m_all[std::min(m_at + 1, m_all.size() - 1)]; }
    Lexeme take() {
        auto taken = now();
        if (taken.kind != Lexeme::Kind::End) ++m_at;
        return taken;
    }
    bool takes(const char* mark) {
        if (!now().is(mark)) return false;
        ++m_at;
        return true;
    }
    [[noreturn]] void expected(const std::string& what) const {
        m_lexer.fail(now().at, what + (what.ends_with("expected") ? "" : " expected") +
                                   (now().kind == Lexeme::Kind::End
                                        ? std::string(" before the end")
                                        : ", not '" + printable(now().text) + "'"));
    }
    void demand(const char* mark) {
        if (!takes(mark)) expected("'" + std::string(mark) + "'");
    }
    /// Parentheses and "not" in each other, which a stack has to hold.
    struct Depth {
        explicit Depth(Parser& of) : parser(of) {
            if (++parser.m_depth > kDeepest)
                parser.m_lexer.fail(parser.now().at, "too many parentheses in each other");
        }
        ~Depth() { --parser.m_depth; }
        Parser& parser;
    };

    HypothesisTruth joined(const char* word, HypothesisTruth (Parser::*part)(), bool all) {
        std::vector<HypothesisTruth> parts = {(this->*part)()};
        while (takes(word)) parts.push_back((this->*part)());
        if (parts.size() == 1) return std::move(parts.front());
        return [parts = std::move(parts), all](const HypothesisPair& pair) {
            float result = all ? 1.0F : 0.0F;
            for (const auto& each : parts) {
                const float one = each(pair);
                if (std::isnan(one)) return one;  // the pair is left out
                result = all ? std::min(result, one) : std::max(result, one);
            }
            return result;
        };
    }
    HypothesisTruth alternatives() { return joined("or", &Parser::conjunction, false); }
    HypothesisTruth conjunction() { return joined("and", &Parser::negation, true); }

    HypothesisTruth negation() {
        const Depth depth(*this);
        if (takes("not"))
            return [of = negation()](const HypothesisPair& pair) { return 1.0F - of(pair); };
        if (takes("(")) {
            auto truth = alternatives();
            demand(")");
            return truth;
        }
        return statement();
    }

    HypothesisTruth statement() {
        const auto word = now();
        if (word.kind == Lexeme::Kind::End || word.kind == Lexeme::Kind::Mark) {
            if (!word.is("-")) expected("a statement as same(shape), same row or j - i = 1");
        } else if (word.is(kSame) && !then().is("(")) {
            take();
            return sameLine();
        } else if (word.is("adjacent")) {
            take();
            return adjacent();
        } else if (then().is("(") && isOfBoth(word)) {
            return ofBoth();
        }
        return comparison();
    }

    static bool isOfBoth(const Lexeme& word) {
        return word.is(kSame) || word.is("less") || word.is("greater") || word.is("near");
    }

    // same(shape), less(size), near(x, 2)
    HypothesisTruth ofBoth() {
        const auto how = take();
        demand("(");
        const auto at = now().at;
        const auto f = fact();
        double by = 0.0;
        if (how.is("near")) {
            demand(",");
            by = number();
        }
        demand(")");
        if (!how.is(kSame) && !m_terms.facts[f].ordered)
            m_lexer.fail(at, "'" + m_terms.facts[f].name + "' has no order; " + known(true));
        return [f, by, how = how.text](const HypothesisPair& pair) {
            const double a = valueOf(pair, f, pair.i), b = valueOf(pair, f, pair.j);
            if (std::isnan(a) || std::isnan(b)) return static_cast<float>(kLeftOut);
            return how == kSame    ? static_cast<float>(a == b)
                   : how == "less" ? static_cast<float>(a < b)
                   : how == "near" ? static_cast<float>(std::abs(a - b) <=
                                                        by + kFloatRounding *
                                                                 std::max(std::abs(a), std::abs(b)))
                                   : static_cast<float>(a > b);
        };
    }

    HypothesisTruth sameLine() {
        const bool row = now().is("row");
        if (!row && !now().is("column")) expected("'(' and a name, 'row' or 'column'");
        grid(now().at);
        take();
        return [row](const HypothesisPair& pair) {
            const auto columns = static_cast<std::size_t>(pair.terms.columns);
            return static_cast<float>(row ? pair.i / columns == pair.j / columns
                                          : pair.i % columns == pair.j % columns);
        };
    }

    /// Beside each other: in a grid also with a corner, else one behind the other.
    HypothesisTruth adjacent() const {
        return [](const HypothesisPair& pair) {
            const auto by = [](std::size_t a, std::size_t b) { return a > b ? a - b : b - a; };
            const auto columns = static_cast<std::size_t>(pair.terms.columns);
            if (pair.i == pair.j) return 0.0F;
            if (columns == 0) return static_cast<float>(by(pair.i, pair.j) == 1);
            return static_cast<float>(by(pair.i / columns, pair.j / columns) <= 1 &&
                                      by(pair.i % columns, pair.j % columns) <= 1);
        };
    }

    HypothesisTruth comparison() {
        auto left = operand();
        const auto sign = take();
        if (sign.kind != Lexeme::Kind::Mark ||
            std::string_view("= != < <= > >=").find(sign.text) == std::string_view::npos) {
            if (m_at > 0 && sign.kind != Lexeme::Kind::End) --m_at;
            if (left.word) unknownStatement(left);
            expected("=, !=, <, <=, > or >=");
        }
        auto right = operand();
        resolve(left, right), resolve(right, left);
        const bool text = std::holds_alternative<HypothesisText>(left.value);
        if (text != std::holds_alternative<HypothesisText>(right.value))
            m_lexer.fail(right.at, "a text and a number are never equal");
        const bool equality = sign.text == "=" || sign.text == "!=";
        for (const Operand* side : {&left, &right})
            if (!equality && (text || side->unordered))
                m_lexer.fail(sign.at,
                             (text ? std::string("texts have") : "'" + side->what + "' has") +
                                 " no order; compare with = or !=");
        if (text)
            return [a = std::get<HypothesisText>(left.value),
                    b = std::get<HypothesisText>(right.value),
                    same = sign.text == "="](const HypothesisPair& pair) {
                return static_cast<float>((a(pair) == b(pair)) == same);
            };
        return [a = std::get<HypothesisNumber>(left.value),
                b = std::get<HypothesisNumber>(right.value),
                sign = sign.text](const HypothesisPair& pair) {
            const double x = a(pair), y = b(pair);
            if (std::isnan(x) || std::isnan(y)) return static_cast<float>(kLeftOut);
            return static_cast<float>(compares(sign, x, y));
        };
    }

    /// A word on its own is a value of what stands on the other side.
    void resolve(Operand& side, const Operand& other) {
        if (!side.word) return;
        if (other.word) unknownStatement(side);
        if (std::holds_alternative<HypothesisNumber>(other.value)) {
            if ((!other.names || other.names->empty()) && !side.quoted) unknownStatement(side);
            if (!other.names || other.names->empty())
                m_lexer.fail(side.at, "'" + printable(*side.word) + "' is no number");
            const auto at = std::find(other.names->begin(), other.names->end(), *side.word);
            if (at == other.names->end())
                m_lexer.fail(side.at, unknownName("value of " + other.what, printable(*side.word),
                                                  *other.names));
            const auto number = static_cast<double>(at - other.names->begin());
            side.value = HypothesisNumber([number](const HypothesisPair&) { return number; });
            side.unordered = other.unordered;
        } else if (other.names && !other.names->empty() &&
                   std::find(other.names->begin(), other.names->end(), *side.word) ==
                       other.names->end()) {
            m_lexer.fail(side.at, unknownName("value of " + other.what, printable(*side.word),
                                              *other.names));
        }
        // Tokens are named without the blanks before them.
        if (other.what == "token") side.value = constantText(plainToken(*side.word));
        side.word.reset();
    }

    [[noreturn]] void unknownStatement(const Operand& word) const {
        std::vector<std::string> names = {"same",  "less",  "greater", "near", "adjacent",
                                          "token", "class", "label",   "row",  "column"};
        for (const auto& fact : m_terms.facts) names.push_back(fact.name);
        m_lexer.fail(word.at, unknownName("name", printable(*word.word), names));
    }

    // j - i, size(i) + 1, token(j), label, noun, "the"
    Operand operand() {
        auto first = term(1.0);
        if (!std::holds_alternative<HypothesisNumber>(first.value) || first.word) return first;
        while (now().is("+") || now().is("-")) {
            const double sign = take().is("+") ? 1.0 : -1.0;
            const auto more = term(sign);
            if (!std::holds_alternative<HypothesisNumber>(more.value) || more.word)
                m_lexer.fail(more.at, "a number, i, j or a fact expected");
            for (const Operand* side : {&std::as_const(first), &more})
                if (side->unordered)
                    m_lexer.fail(side->at,
                                 "'" + side->what + "' has no order, so that it has no sums");
            first.value =
                HypothesisNumber([a = std::get<HypothesisNumber>(first.value),
                                  b = std::get<HypothesisNumber>(more.value)](
                                     const HypothesisPair& pair) { return a(pair) + b(pair); });
            first.names = nullptr;
        }
        return first;
    }

    Operand term(double sign) {
        while (now().is("-")) take(), sign = -sign;
        const auto word = now();
        Operand one{HypothesisNumber(), word.at};
        const auto number = [&](HypothesisNumber of) {
            one.value = sign < 0
                            ? HypothesisNumber([of = std::move(of)](const HypothesisPair& pair) {
                                  return -of(pair);
                              })
                            : std::move(of);
        };
        if (word.kind == Lexeme::Kind::Number) {
            const double value = this->number();
            number([value](const HypothesisPair&) { return value; });
            return one;
        }
        if (word.kind != Lexeme::Kind::Word && word.kind != Lexeme::Kind::Quoted)
            expected("a number, i, j, a fact as size(i), token(i), class(i) or label");
        take();
        if (word.kind == Lexeme::Kind::Word) {
            if (word.is("i") || word.is("j")) {
                number([first = word.is("i")](const HypothesisPair& pair) {
                    return static_cast<double>(placeOf(pair, first ? pair.i : pair.j));
                });
                return one;
            }
            if (word.is("abs") && now().is("(")) {
                const Depth depth(*this);
                take();
                const auto inside = operand();
                if (!std::holds_alternative<HypothesisNumber>(inside.value) || inside.word)
                    m_lexer.fail(inside.at, "a number, i, j or a fact expected");
                demand(")");
                number([of = std::get<HypothesisNumber>(inside.value)](const HypothesisPair& pair) {
                    return std::abs(of(pair));
                });
                return one;
            }
            if (word.is("label") && !now().is("(")) return label(one);
        }
        if (!now().is("(")) {
            one.word = word.text, one.quoted = word.kind == Lexeme::Kind::Quoted;
            one.value = constantText(word.text);
            return one;
        }
        return ofOne(word, one, number);
    }

    /// What one object has: row(i), token(j), size(i).
    Operand ofOne(const Lexeme& word, Operand& one,
                  const std::function<void(HypothesisNumber)>& number) {
        const auto f = findFact(word.text);
        const bool line = word.is("row") || word.is("column"),
                   text = word.is("token") || word.is("class");
        if (!f && !line && !text) {
            one.word = word.text;
            unknownStatement(one);
        }
        demand("(");
        if (!now().is("i") && !now().is("j")) expected("i or j");
        const bool first = take().is("i");
        demand(")");
        const auto object = [first](const HypothesisPair& pair) { return first ? pair.i : pair.j; };
        one.what = word.text;
        if (f) {
            one.unordered = !m_terms.facts[*f].ordered;
            one.names = &m_terms.facts[*f].values;
            number([f = *f, first](const HypothesisPair& pair) {
                const double i = valueOf(pair, f, pair.i), j = valueOf(pair, f, pair.j);
                // Also of one object only pairs of two are asked, as everywhere.
                return std::isnan(i) || std::isnan(j) ? kLeftOut : first ? i : j;
            });
            return one;
        }
        if (line) {
            grid(word.at);
            number([row = word.is("row"), object](const HypothesisPair& pair) {
                const auto columns = static_cast<std::size_t>(pair.terms.columns);
                return static_cast<double>(row ? object(pair) / columns : object(pair) % columns);
            });
            return one;
        }
        const bool token = word.is("token");
        if (!m_terms.tokens)
            m_lexer.fail(word.at, "the objects of these data are no tokens whose text is known");
        if (!token) one.names = &m_terms.classes;
        one.value = HypothesisText([token, object](const HypothesisPair& pair) {
            const auto& texts = token ? pair.values.tokens : pair.values.classes;
            return std::string_view(texts[pair.example * pair.values.objects + object(pair)]);
        });
        return one;
    }

    Operand label(Operand one) const {
        if (m_terms.labels.empty())
            m_lexer.fail(one.at, "the examples of these data have no labels");
        one.names = &m_terms.labels, one.what = "label", one.unordered = true;
        one.value = HypothesisNumber([](const HypothesisPair& pair) {
            const auto label = pair.values.labels[pair.example];
            return label < 0 ? kLeftOut : static_cast<double>(label);
        });
        return one;
    }

    static HypothesisText constantText(const std::string& text) {
        return [text](const HypothesisPair&) { return std::string_view(text); };
    }
    static double valueOf(const HypothesisPair& pair, std::size_t fact, std::size_t object) {
        return pair.values
            .facts[(pair.example * pair.values.objects + object) * pair.terms.facts.size() + fact];
    }
    static std::int64_t placeOf(const HypothesisPair& pair, std::size_t object) {
        const auto& starts = pair.values.starts;
        return static_cast<std::int64_t>(object) + (starts.empty() ? 0 : starts[pair.example]);
    }

    double number() {
        const auto digits = take();
        double value = 0.0;
        const auto* end = digits.text.data() + digits.text.size();
        const auto read = std::from_chars(digits.text.data(), end, value);
        if (digits.kind != Lexeme::Kind::Number || read.ec != std::errc() || read.ptr != end ||
            !std::isfinite(value))
            m_lexer.fail(digits.at, "a number expected");
        return value;
    }

    void grid(std::size_t at) const {
        if (m_terms.columns == 0)
            m_lexer.fail(at, "the objects of these data have no rows and columns");
    }

    std::optional<std::size_t> findFact(const std::string& name) const {
        for (std::size_t f = 0; f < m_terms.facts.size(); ++f)
            if (m_terms.facts[f].name == name) return f;
        return std::nullopt;
    }
    /// A name of one or more words, or in quotation marks.
    std::size_t fact() {
        auto name = now();
        if (name.kind == Lexeme::Kind::Quoted) {
            take();
        } else {
            name.text.clear();
            name.kind = Lexeme::Kind::Word;
            while (now().kind == Lexeme::Kind::Word || now().kind == Lexeme::Kind::Number)
                name.text += (name.text.empty() ? "" : " ") + take().text;
            if (name.text.empty()) expected("the name of a fact");
        }
        const auto found = findFact(name.text);
        if (!found) unknownFact(name);
        return *found;
    }
    std::string known(bool ordered) const {
        std::string names;
        for (const auto& fact : m_terms.facts)
            if (fact.ordered || !ordered) names += (names.empty() ? "'" : ", '") + fact.name + "'";
        return names.empty() ? "no fact of these data has one" : "those with one are " + names;
    }
    [[noreturn]] void unknownFact(const Lexeme& name) const {
        std::vector<std::string> names;
        for (const auto& fact : m_terms.facts) names.push_back(fact.name);
        if (names.empty())
            m_lexer.fail(name.at, "nothing is known of the objects of these data but their places");
        m_lexer.fail(name.at, unknownName("fact", printable(name.text), names));
    }

    const std::string& m_text;
    const HypothesisTerms& m_terms;
    const Lexer m_lexer;
    const std::vector<Lexeme> m_all;
    std::size_t m_at = 0;
    int m_depth = 0;
};

}  // namespace

std::vector<Hypothesis> parseHypotheses(const std::string& text, const HypothesisTerms& terms,
                                        const std::string& option) {
    return Parser(text, terms, option).all();
}

PairAttribute attributeOf(const Hypothesis& hypothesis, const PairShape& shape,
                          const HypothesisTerms& terms, const HypothesisValues& values) {
    PairAttribute attribute{hypothesis.text, false, {}, {}};
    attribute.hypothesis = true;
    attribute.truth.reserve(shape.values());
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < shape.objects; ++i)
            for (std::size_t j = 0; j < shape.objects; ++j) {
                const float truth = hypothesis.holds({terms, values, e, i, j});
                attribute.truth.push_back(std::isnan(truth) ? kPairUndefined
                                          : truth > 0.0F    ? kPairYes
                                                            : kPairNo);
            }
    return attribute;
}

}  // namespace relascope::core
