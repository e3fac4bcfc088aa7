// SPDX-License-Identifier: GPL-3.0-or-later
// Reads mathematics questions again, by means of its own: exact polynomials in any letters,
// sentence after sentence. Shares no code with the generator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/rooms.h"

namespace relascope::testing_support {

/// A fraction in lowest terms.
struct Fraction {
    __int128 above = 0, below = 1;
    Fraction(__int128 a = 0, __int128 b = 1);
    bool operator==(const Fraction&) const = default;
};

/// By the powers of letters; what is 0 is left out.
using Powers = std::map<char, int>;
struct Exact {
    std::map<Powers, Fraction> terms;

    static Exact number(const Fraction& value);
    static Exact letter(char c);
    bool isNumber() const;
    Fraction value() const;  ///< of a number
    Exact derivative(char c) const;
    Exact with(char c, const Exact& value) const;
    bool operator==(const Exact&) const = default;
};
Exact operator+(const Exact& a, const Exact& b);
Exact operator-(const Exact& a, const Exact& b);
Exact operator*(const Exact& a, const Exact& b);

/// What a question has said so far, and what its last sentence asks for.
class Reader {
public:
    /// "x**2*(3 - f(y))/4" with the letters and functions that are known put in. Throws
    /// std::runtime_error for what it does not understand.
    Exact expression(std::string_view text) const;
    /// Reads all sentences; returns what the last one asks for (of polynomials__add).
    Exact question(const std::string& text);

private:
    void sentence(const std::string& text);
    void suppose(const std::string& equations);

    struct Function {
        char letter;
        Exact value;
    };
    std::map<char, Exact> m_letters;
    std::map<char, Function> m_functions;
    friend class Parser;
};

}  // namespace relascope::testing_support
