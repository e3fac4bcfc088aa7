// SPDX-License-Identifier: GPL-3.0-or-later
// QK components: what a map compares, from its weights (interventions.md section 15). Does not
// include torch.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "types/answer.h"
#include "types/image.h"

namespace relascope {

/// One direction that receivers are compared with senders along. NaN: not measured.
struct DictionaryComponent {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

    std::int64_t number = 1;
    double value = 0.0;         ///< standard deviation of the scores that it makes
    double share = 0.0;         ///< of the variance of the pair part
    double difference = kNone;  ///< share of the difference by the attribute
    std::string receiverHigh, receiverLow, senderHigh, senderLow;  ///< tokens or features
    Image receiver, sender;                      ///< of patches the patterns; else empty
    std::string receiverFollows, senderFollows;  ///< "colour 0.95"; may be empty
    /// The pair i, j of an example of the data that it gives most; -1: the map has no examples.
    std::int64_t example = -1;
    int i = -1, j = -1;
};

/// One token and its score on a side of a component.
struct DictionaryToken {
    std::int64_t component = 1;
    std::string side;  ///< "receiver" or "sender"
    std::string end;   ///< "high" or "low"
    std::int64_t token = 0;
    std::string text;
    double score = 0.0, weight = 0.0;
};

/// A pair of tokens. Of attention the score is less the mean of its row.
struct DictionaryPair {
    std::int64_t receiver = 0, sender = 0;
    std::string receiverText, senderText;  ///< as people read them, blanks in quotation marks
    double score = 0.0;
};

/// What a component's scores have of a fact, core::factShare().
struct DictionaryFact {
    std::int64_t component = 1;
    std::string side, fact;
    double share = 0.0;
};

/// One number of a pattern, or of the pattern on features.
struct DictionaryNumber {
    std::int64_t component = 1;
    std::string side, feature;                ///< the name of a feature; empty for pixels
    int row = -1, column = -1, channel = -1;  ///< of a patch, from 0
    double value = 0.0;
};

struct Dictionary {
    static constexpr double kNone = DictionaryComponent::kNone;

    MapLink link;              ///< the map in the inspector, without a cell
    std::string map, objects;  ///< "layer 1 relation 2"; "tokens", "patches" or "objects"
    std::string over;          ///< what the weights or the objects are of
    std::int64_t count = 0;    ///< tokens that are compared, or examples
    std::int64_t vocabulary = 0, width = 0;
    std::int64_t offset = 0;
    int atI = -1, atJ = -1;
    bool softmax = false;
    bool direct = false;  ///< layers before the map are left out
    bool editsLeftOut = false;
    double deviation = 0.0, receivers = 0.0, senders = 0.0, pairs = 0.0;  ///< shares
    double symmetric = kNone;
    double self = kNone, selfError = kNone;
    /// Numbers x numbers against the scores, over the pairs that the shares are of: the share of
    /// the variance that they explain, and its root.
    double explained = kNone, correlation = kNone;
    std::string attribute;
    double difference = kNone;  ///< of the scores by the attribute
    std::vector<DictionaryComponent> components;
    std::vector<DictionaryToken> tokens;
    std::vector<DictionaryPair> extremes;  ///< the highest, then the lowest
    std::int64_t token = -1;               ///< whose partners are listed; -1: none
    std::vector<DictionaryPair> partners;  ///< it as a receiver, then as a sender
    std::vector<DictionaryFact> facts;
    std::vector<DictionaryNumber> numbers;
    std::vector<std::string> features;  ///< of sets; at most 64
    std::vector<double> form;           ///< on features, [features, features]
};

struct DictionaryOptions {
    std::int64_t layer = 1, index = 1;  ///< from 1
    std::string kind = "relation";
    std::string stack;  ///< empty: the layer counts as in the inspector
    std::string token;  ///< an id or a text; empty: none
    std::int64_t offset = 0;
    std::string at;         ///< "I,J"; empty: the mean of the positions
    std::string weights;    ///< "even", a text file; empty: the data, or even without
    std::string attribute;  ///< of patches and sets
    std::int64_t top = 20, components = 8, examples = 1000;
};

}  // namespace relascope

namespace relascope::core {

/// The share of the variance of scores that the values of a fact explain, without what as many
/// values explain by chance (omega^2; Hays 1963); of a fact whose values have an order, what a line
/// through them does. `facts`: the value of each score, -1: not known, left out. NaN where a value
/// without an order has fewer than 8 scores, or nothing varies.
double factShare(const std::vector<double>& scores, const std::vector<std::int64_t>& facts,
                 bool ordered);

/// The dictionary as an answer with the tables "components", "tokens", "extremes", "partners",
/// "form", "facts" and "numbers".
Answer answerOf(const Dictionary& dictionary);

const FieldTable<DictionaryOptions>& dictionaryFields();

}  // namespace relascope::core
