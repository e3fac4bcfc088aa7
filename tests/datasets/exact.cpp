// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/exact.h"
#include "support/rooms.h"

#include <stdexcept>

namespace relascope::testing_support {
namespace {

__int128 gcd(__int128 a, __int128 b) {
    return b == 0 ? (a < 0 ? -a : a) : gcd(b, a % b);
}

[[noreturn]] void fail(std::string_view what, std::string_view text) {
    throw std::runtime_error(std::string(what) + " in '" + std::string(text) + "'");
}

int orderOf(const std::string& word) {
    return word == "first" ? 1 : word == "second" ? 2 : word == "third" ? 3 : 0;
}

}  // namespace

Fraction::Fraction(__int128 a, __int128 b) {
    const auto common = gcd(a, b) * (b < 0 ? -1 : 1);
    above = a / common, below = b / common;
}

Exact Exact::number(const Fraction& value) {
    Exact e;
    if (value.above != 0) e.terms[{}] = value;
    return e;
}
Exact Exact::letter(char c) {
    Exact e;
    e.terms[{{c, 1}}] = 1;
    return e;
}
bool Exact::isNumber() const {
    return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
}
Fraction Exact::value() const {
    if (!isNumber()) throw std::runtime_error("not a number");
    return terms.empty() ? Fraction() : terms.begin()->second;
}

Exact operator+(const Exact& a, const Exact& b) {
    Exact sum = a;
    for (const auto& [powers, f] : b.terms) {
        auto& g = sum.terms[powers];
        g = Fraction(g.above * f.below + f.above * g.below, g.below * f.below);
        if (g.above == 0) sum.terms.erase(powers);
    }
    return sum;
}
Exact operator*(const Exact& a, const Exact& b) {
    Exact product;
    for (const auto& [p, f] : a.terms)
        for (const auto& [q, g] : b.terms) {
            Exact term;
            Powers powers = p;
            for (const auto& [c, n] : q) powers[c] += n;
            term.terms[powers] = Fraction(f.above * g.above, f.below * g.below);
            product = product + term;
        }
    return product;
}
Exact operator-(const Exact& a, const Exact& b) {
    return a + Exact::number(-1) * b;
}

Exact Exact::derivative(char c) const {
    Exact result;
    for (const auto& [powers, f] : terms) {
        if (!powers.count(c)) continue;
        Powers lower = powers;
        const int n = lower[c]--;
        if (n == 1) lower.erase(c);
        result.terms[lower] = Fraction(f.above * n, f.below);
    }
    return result;
}

Exact Exact::with(char c, const Exact& value) const {
    Exact result;
    for (const auto& [powers, f] : terms) {
        Exact term = number(f);
        for (const auto& [letter, n] : powers)
            for (int i = 0; i < n; ++i) term = term * (letter == c ? value : Exact::letter(letter));
        result = result + term;
    }
    return result;
}

class Parser {
public:
    Parser(const Reader& reader, std::string_view text) : m_reader(reader), m_text(text) {}
    Exact all() {
        const auto value = sum();
        blank();
        if (m_at != m_text.size()) fail("something more", m_text.substr(m_at));
        return value;
    }

private:
    void blank() {
        while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    }
    bool take(std::string_view sign) {
        blank();
        // "*" is not the beginning of "**".
        if (m_text.substr(m_at, sign.size()) != sign ||
            (sign == "*" && m_text.substr(m_at, 2) == "**"))
            return false;
        m_at += sign.size();
        return true;
    }
    Exact sum() {
        auto value = product();
        for (;;) {
            if (take("+"))
                value = value + product();
            else if (take("-"))
                value = value - product();
            else
                return value;
        }
    }
    Exact product() {
        auto value = sign();
        for (;;) {
            if (take("*")) {
                value = value * sign();
            } else if (take("/")) {
                const auto by = sign().value();
                if (by.above == 0) fail("a division by 0", m_text);
                value = value * Exact::number({by.below, by.above});
            } else {
                return value;
            }
        }
    }
    Exact sign() { return take("-") ? Exact::number(-1) * sign() : power(); }
    Exact power() {
        const auto base = atom();
        if (!take("**")) return base;
        const auto n = atom().value();
        if (n.below != 1 || n.above < 0) fail("an odd power", m_text);
        Exact value = Exact::number(1);
        for (int i = 0; i < n.above; ++i) value = value * base;
        return value;
    }
    Exact atom() {
        blank();
        if (m_at >= m_text.size()) fail("the end", m_text);
        if (take("(")) {
            const auto value = sum();
            if (!take(")")) fail("an open bracket", m_text);
            return value;
        }
        const char c = m_text[m_at];
        if (c >= '0' && c <= '9') {
            __int128 number = 0;
            while (m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9')
                number = number * 10 + (m_text[m_at++] - '0');
            return Exact::number(number);
        }
        if (c < 'a' || c > 'z') fail("no value", m_text.substr(m_at));
        ++m_at;
        if (take("(")) {
            const auto argument = sum();
            if (!take(")")) fail("an open bracket", m_text);
            const auto f = m_reader.m_functions.find(c);
            if (f == m_reader.m_functions.end()) fail("an unknown function", m_text);
            return f->second.value.with(f->second.letter, argument);
        }
        const auto known = m_reader.m_letters.find(c);
        return known == m_reader.m_letters.end() ? Exact::letter(c) : known->second;
    }

    const Reader& m_reader;
    std::string_view m_text;
    std::size_t m_at = 0;
};

Exact Reader::expression(std::string_view text) const {
    return Parser(*this, text).all();
}

// One equation in one unknown, or two in two (by Cramer's rule).
void Reader::suppose(const std::string& equations) {
    std::vector<Exact> zero;
    std::string rest = equations + ", ";
    for (std::size_t end; (end = rest.find(", ")) != std::string::npos; rest.erase(0, end + 2)) {
        const auto equals = rest.find(" = ");
        if (equals > end) fail("no equation", rest);
        zero.push_back(expression(rest.substr(0, equals)) -
                       expression(rest.substr(equals + 3, end - equals - 3)));
    }
    std::map<char, int> unknowns;
    for (const auto& e : zero)
        for (const auto& [powers, f] : e.terms) {
            if (powers.size() > 1 || (!powers.empty() && powers.begin()->second != 1))
                fail("no linear equation", equations);
            if (!powers.empty()) unknowns[powers.begin()->first] = 1;
        }
    if (zero.size() > 2 || unknowns.size() != zero.size()) fail("another system", equations);
    const auto at = [&](std::size_t row, char c) {
        const Powers powers = c ? Powers{{c, 1}} : Powers{};
        const auto found = zero[row].terms.find(powers);
        return Exact::number(found == zero[row].terms.end() ? Fraction() : found->second);
    };
    const char x = unknowns.begin()->first, y = unknowns.rbegin()->first;
    const auto solve = [&](char unknown, const Exact& above, const Exact& below) {
        const auto a = above.value(), b = below.value();
        if (b.above == 0) fail("no single solution", equations);
        m_letters[unknown] = Exact::number({a.above * b.below, a.below * b.above});
    };
    const auto minus = Exact::number(-1);
    if (zero.size() == 1) return solve(x, minus * at(0, 0), at(0, x));
    const auto below = at(0, x) * at(1, y) - at(1, x) * at(0, y);
    const auto ofX = at(1, 0) * at(0, y) - at(0, 0) * at(1, y),
               ofY = at(0, 0) * at(1, x) - at(1, 0) * at(0, x);
    solve(x, ofX, below);
    solve(y, ofY, below);
}

void Reader::sentence(const std::string& text) {
    const auto starts = [&](std::size_t at, const std::string& with) {
        return text.compare(at, with.size(), with) == 0;
    };
    if (starts(0, "Suppose ")) return suppose(text.substr(8));
    if (!starts(0, "Let ")) fail("another sentence", text);
    const char name = text[4];
    if (m_letters.count(name) || m_functions.count(name)) fail("a letter used before", text);
    if (starts(5, " = ")) {
        m_letters[name] = expression(text.substr(8));
    } else if (starts(5, " be ")) {
        m_letters[name] = expression(text.substr(9));
    } else if (starts(5, "(") && starts(7, ") = ")) {
        m_functions[name] = {text[6], expression(text.substr(11))};
    } else if (starts(5, "(") && starts(7, ") be the ")) {
        const auto word = text.substr(16, text.find(' ', 16) - 16);
        const std::string of = " derivative of ";
        if (!starts(16 + word.size(), of) || orderOf(word) == 0) fail("another sentence", text);
        auto value = expression(text.substr(16 + word.size() + of.size()));
        for (int i = orderOf(word); i > 0; --i) value = value.derivative(text[6]);
        m_functions[name] = {text[6], value};
    } else {
        fail("another sentence", text);
    }
}

Exact Reader::question(const std::string& text) {
    std::size_t at = 0;
    for (std::size_t end; (end = text.find(". ", at)) != std::string::npos; at = end + 2)
        sentence(text.substr(at, end - at));
    for (const std::string ask : {"What is ", "Calculate ", "Give ", "Determine "})
        if (text.compare(at, ask.size(), ask) == 0)
            return expression(text.substr(at + ask.size(), text.size() - at - ask.size() - 1));
    fail("another question", text);
}

}  // namespace relascope::testing_support
