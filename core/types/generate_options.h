// SPDX-License-Identifier: GPL-3.0-or-later
// The options of continuing a text with a language model, and the tokens that result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "types/field.h"

namespace relascope {

/// How the next token is chosen from the model's probabilities.
struct GenerateOptions {
    std::int64_t tokens = 200;  // tokens to generate
    double temperature = 0.8;   // 0: always the most likely token
    std::int64_t top_k = 0;     // sample from the k most likely tokens only; 0 = all
    double top_p = 1.0;  // sample from the most likely tokens that together have this probability
    std::int64_t seed = 0;
    std::string stop;               // stops after generating this text; empty: never
    std::int64_t alternatives = 8;  // most likely tokens to report at each step

    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("FIELD: ...") with the first problem.
    void check() const;
    bool operator==(const GenerateOptions&) const = default;
};

/// A candidate token and its probability according to the model (before temperature, top-k and
/// top-p).
struct TokenChoice {
    std::int64_t id = 0;
    std::string piece;  ///< bytes of the token
    double probability = 0.0;
    bool operator==(const TokenChoice&) const = default;
};

/// One token of a generated text.
struct GeneratedToken {
    TokenChoice chosen;
    std::vector<TokenChoice> alternatives;  ///< the most likely tokens, best first
    bool operator==(const GeneratedToken&) const = default;
};

/// Called with each generated token, its piece filled in; returns false to stop.
using TokenSink = std::function<bool(const GeneratedToken&)>;

/// Why generation stopped.
enum class TextEnd { Length, StopText, EndOfText, Stopped };

}  // namespace relascope
