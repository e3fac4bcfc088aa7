// SPDX-License-Identifier: GPL-3.0-or-later
// Continuing a text with a language model: how, and what comes out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "types/field.h"

namespace relascope {

/// How the next token is chosen from the model's probabilities.
struct GenerateOptions {
    std::int64_t tokens = 200;  // how many to add
    double temperature = 0.8;   // 0: always the likeliest
    std::int64_t top_k = 0;     // only the k likeliest; 0 = all
    double top_p = 1.0;         // only the likeliest that together have this probability
    std::int64_t seed = 0;
    std::string stop;               // ends once this text has been written; empty: never
    std::int64_t alternatives = 8;  // likeliest tokens reported with each

    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("FIELD: ...") with the first problem.
    void check() const;
    bool operator==(const GenerateOptions&) const = default;
};

/// A token that could have come, and its probability by the model itself (before temperature and
/// cuts).
struct TokenChoice {
    std::int64_t id = 0;
    std::string piece;  ///< its bytes
    double probability = 0.0;
    bool operator==(const TokenChoice&) const = default;
};

/// One token of a generated text.
struct GeneratedToken {
    TokenChoice chosen;
    std::vector<TokenChoice> alternatives;  ///< the likeliest, best first; may hold the chosen one
    bool operator==(const GeneratedToken&) const = default;
};

/// Receives each token as it comes, pieces filled in; returns false to stop.
using TokenSink = std::function<bool(const GeneratedToken&)>;

/// Why a text ended.
enum class TextEnd { Length, StopText, EndOfText, Stopped };

}  // namespace relascope
