// SPDX-License-Identifier: GPL-3.0-or-later
// QK attribution: which parts of the streams of i and j a score comes from, exactly
// (interventions.md section 13). Does not include torch.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/parts/model_part.h"
#include "types/answer.h"
#include "types/model_options.h"

namespace relascope {

/// A part of a stream on one side of a score, and the sum of its terms.
struct OriginPart {
    AttributionPart part;  ///< `value`: the sum of its terms over the parts of the other side
    std::string stack;     ///< of a part of another stack than that of the map
    std::string text() const { return (stack.empty() ? std::string() : stack + " ") + part.text(); }
};

/// A term, or the sum of the terms of two groups of parts.
struct OriginTerm {
    std::string i, j;  ///< in words
    double value = 0.0;
};

/// What a part gets from one token that its head attended.
struct OriginToken {
    int position = 0;
    std::string token;   ///< as text; may be empty
    double value = 0.0;  ///< the sum of its terms over the parts of the other side
};

struct Origins {
    std::string map;      ///< "layer 2 relation 1"
    std::string against;  ///< "none", "row", or a cell "2,9"
    int i = 0, j = 0;
    std::string iText, jText;  ///< the objects as text; may be empty
    double value = 0.0;        ///< of the cell, less what it is held against; before a cap
    double capped = std::numeric_limits<double>::quiet_NaN();  ///< what a cap makes of it
    double sum = 0.0;           ///< of all terms: `value`, up to rounding
    double cancellation = 0.0;  ///< sum |T_ab| / |value|
    std::int64_t terms = 0;
    std::vector<OriginPart> partsI, partsJ;  ///< in the order of the forward pass
    std::vector<OriginTerm> pairs;           ///< the strongest that raise it, then those that lower
    std::vector<std::string> groupsI, groupsJ;
    std::vector<OriginTerm> matrix;  ///< groups of i x groups of j
    std::string tokensOf;            ///< the part that the tokens are of; empty: none
    std::vector<OriginToken> tokensI, tokensJ;
    MapLink from;  ///< the map whose cells (i, token) the tokens stand for, without a cell
};

struct OriginOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::int64_t source = -1, to = -1;  ///< i, j; -1: the cell that is shown
    std::string stack;                  ///< empty: the layer counts as in the inspector
    std::string against;                ///< empty: row where a softmax follows, else none
    std::string grain = "layers";
    std::string tokens;  ///< a part in words
    std::int64_t top = 20;
};

}  // namespace relascope

namespace relascope::core {

struct ModelImpl;
struct ModelInput;

/// The origins of a cell for an input of one example; texts of objects are left empty. `edited`:
/// edits are in force; `features`: names of the numbers of an object. Throws OptionError naming the
/// option for a map, a cell or a part that is not there, or whose scores are no sum over parts;
/// Error where the parts do not add up.
Origins originsOf(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                  const OriginOptions& what, bool edited,
                  const std::vector<std::string>& features = {});

/// The origins as an answer with the tables "pairs", "matrix", "parts_i", "parts_j" and "tokens".
Answer answerOf(const Origins& origins);

const FieldTable<OriginOptions>& originFields();

}  // namespace relascope::core
