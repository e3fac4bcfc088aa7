// SPDX-License-Identifier: GPL-3.0-or-later
// Attributes of pairs of objects that an atlas compares relations with: "same object", "same
// token". Each is a line of a table (pair_attributes.cpp). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pairs/pair_names.h"
#include "analysis/pairs/relation_statistics.h"
#include "text/tokenizer.h"
#include "types/object_facts.h"

namespace relascope::core {

struct PairAttribute {
    std::string name;      ///< "same shape where colours differ"
    bool ordered = false;  ///< it has values, not yes and no
    std::vector<std::uint8_t>
        truth;                  ///< [examples, objects, objects] as PairTruth; empty if ordered
    std::vector<float> values;  ///< the values of an ordered one, NaN: undefined
    bool hypothesis = false;    ///< the user's own (hypothesis.h), alone or joined to others
};

struct PairAttributes {
    std::vector<PairAttribute> all;
    /// Examples with the same number have the same occupied places: their attributes can be
    /// exchanged.
    std::vector<std::int32_t> occupied;
};

/// Attributes from the facts of a data set, `facts` [examples, objects, facts]. With yes and no:
/// the same fact, the same of two facts where the other differs, the same object (all facts),
/// greater by an ordered fact; one and both empty; by the grid, neighbours and the same row, column
/// and line. With values: how many facts agree (of three or more), the distance in an ordered fact.
PairAttributes attributesOfFacts(const PairShape& shape, const ObjectFacts& about,
                                 const std::vector<std::int32_t>& facts);

/// Attributes of windows of a text, `tokens` [examples, window]: objects 0, 1, ... of example e are
/// the tokens from `start[e]` on. Same token, and with a tokenizer classes and words.
PairAttributes attributesOfText(const PairShape& shape, const std::vector<std::int64_t>& tokens,
                                const std::vector<std::size_t>& start, const Tokenizer* tokenizer);

/// The names of the classes of tokens, by their numbers.
const std::vector<std::string>& tokenClassNames();
/// The classes of these tokens (letter, capital, digit, space, punctuation) as numbers: [examples,
/// objects].
std::vector<std::int64_t> tokenClasses(const PairShape& shape,
                                       const std::vector<std::int64_t>& tokens,
                                       const std::vector<std::size_t>& start,
                                       const Tokenizer& tokenizer);

/// Attributes of questions of mathematics, by their characters: same character, same variable, both
/// variables, both digits, operator and operand (a number or variable beside the operator). Object
/// k of example e is `characters[e][k]`; 0 is padding, whose pairs are left out.
PairAttributes attributesOfMathematics(const PairShape& shape,
                                       const std::vector<std::string>& characters);

/// Attributes of images in patches: object k is patch `patches[k]` of a grid with `columns`
/// columns; `colours` [examples, objects, channels] are the mean colours of the patches, 0..1, and
/// `empty` [examples, objects] is 1 for patches of one colour alone: of these nothing but their
/// emptiness is asked, and where they are.
PairAttributes attributesOfPatches(const PairShape& shape, std::size_t columns,
                                   const std::vector<std::size_t>& patches,
                                   const std::vector<float>& colours, std::size_t channels,
                                   const std::vector<std::uint8_t>& empty);

}  // namespace relascope::core
