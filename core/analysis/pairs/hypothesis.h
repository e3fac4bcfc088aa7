// SPDX-License-Identifier: GPL-3.0-or-later
// Hypotheses of one's own about pairs of objects i (which receives) and j (which sends), such as
// "same(colour) and not same(size)": an atlas tests them as it tests its own attributes. The
// grammar is in interventions.md section 7. Does not include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/pairs/pair_attributes.h"
#include "types/error.h"
#include "types/field.h"

namespace relascope::core {

/// What hypotheses can speak of in the data of a model.
struct HypothesisTerms {
    /// Something that each object has: a number, whose values may have names.
    struct Fact {
        std::string name;
        bool ordered = false;
        std::vector<std::string> values = {};  ///< names of 0, 1, ...; empty: numbers as they are
    };
    std::vector<Fact> facts;
    std::int64_t columns = 0;               ///< columns of the grid of the objects; 0: none
    bool tokens = false;                    ///< objects are tokens whose text is known
    std::vector<std::string> classes = {};  ///< names of the classes of tokens
    std::vector<std::string> labels = {};   ///< names of the labels of examples, by their number
};

/// The values of the terms for some examples.
struct HypothesisValues {
    std::size_t objects = 0;
    std::vector<double> facts;         ///< [examples, objects, facts]; NaN: an empty place
    std::vector<std::string> tokens;   ///< [examples, objects], without blanks at their ends
    std::vector<std::string> classes;  ///< [examples, objects]: class of each token; empty: of none
    std::vector<std::int64_t> starts;  ///< the place of object 0 of each example
    std::vector<std::int64_t> labels;  ///< label of each example; -1: it has none
};

/// One pair of objects.
struct HypothesisPair {
    const HypothesisTerms& terms;
    const HypothesisValues& values;
    std::size_t example = 0, i = 0, j = 0;
};

struct Hypothesis {
    std::string text;  ///< the user's own words
    /// 1 or 0; NaN where the pair is left out, as it has no value of a fact that is asked for.
    std::function<float(const HypothesisPair&)> holds;
};

/// Reads hypotheses that are parted by semicolons; none of an empty text. Throws OptionError with
/// the column, counted in characters from 1, what was expected there, and the nearest known name.
std::vector<Hypothesis> parseHypotheses(const std::string& text, const HypothesisTerms& terms,
                                        const std::string& option = "hypothesis");

/// A hypothesis as an attribute of these pairs, by its own words.
PairAttribute attributeOf(const Hypothesis& hypothesis, const PairShape& shape,
                          const HypothesisTerms& terms, const HypothesisValues& values);

/// All that a hypothesis about these data may be made of, for completion: "same(colour)",
/// "near(size,
/// ", "and".
std::vector<std::string> hypothesisWords(const HypothesisTerms& terms);
/// The attributes of pairs that such words tell of and the place does not, by the names of the
/// atlas: "same object", "same colour".
std::vector<std::string> attributesAmong(const std::vector<std::string>& hypothesisWords);

/// The two options of analyses that take hypotheses, whose members are named so.
template <class Options>
std::vector<Field<Options>> hypothesisFields() {
    return {
        fields::texts(&Options::hypothesis, "hypothesis", "Hypothesis",
                      "own statements about pairs, tested as attributes are: \"same(colour) and "
                      "not same(size)\"; several are parted by ;"),
        fields::text(&Options::classes, "classes", "Classes",
                     "a CSV file of classes of tokens for hypotheses: columns token and class")};
}

/// Whether a name that needs no quotes may begin with it.
bool beginsWord(char c);

/// The classes of words in a CSV file with the columns token and class. Throws FileError for a file
/// of another form.
std::map<std::string, std::string> readTokenClasses(const std::string& path);
/// A token as hypotheses name it: without blanks at its ends, unless it has nothing else.
std::string plainToken(std::string_view piece);

}  // namespace relascope::core
