// SPDX-License-Identifier: GPL-3.0-or-later
// The options of qk-components, and its tables.
#include <cmath>
#include <map>

#include "analysis/dictionary/dictionary.h"
#include "analysis/parts/relation_field.h"
#include "answers/column_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

// What the map compares, and how much of its scores that is.
std::string dictionaryHead(const Answer& d, const std::string& where) {
    const auto percent = [](double share) { return numberText("%.0f %%", 100.0 * share); };
    const auto number = [&](const char* key) { return d.number(key); };
    const auto &objects = d.text("objects"), &over = d.text("over");
    const bool patches = objects == "patches";
    const auto all = objects == "tokens" ? "" : " over all pairs of their " + objects;
    std::string head = d.text("map") + ", " + groupedNumber(indexOf(number("count"))) + " " +
                       (objects == "tokens" ? "tokens" + over : over) + where;
    if (std::isnan(number("explained")))
        head += ": of the variance of the scores" + all + " ";
    else
        head += std::string(patches ? ": pixels x pixels explains "
                                    : ": features x features explain ") +
                percent(number("explained")) + " of the variance of the scores" + all +
                " (correlation " + numberText("%.2f", number("correlation")) + "); of what " +
                (patches ? "it says itself " : "they say themselves ");
    head += percent(number("pairs")) + " is what both sides say together, " +
            percent(number("receivers")) + " the receiver alone, " + percent(number("senders")) +
            " the sender alone";
    if (const auto& components = d.table("components"); components.rows() == 0)
        head += ". Nothing is compared: the score is a sum of what either side says alone";
    else
        head += ". Component 1 has " + percent(components.numbers("share").front()) +
                " of the variance of what both sides say together";
    if (const double symmetric = number("symmetric"); !std::isnan(symmetric))
        head += "; symmetric share " + numberText("%.2f", symmetric) +
                (symmetric > 1.0 - 1e-9 ? "" : " (chance 0.50)");
    if (!std::isnan(number("self"))) {
        head +=
            "; a token scores itself above another one " + percent(number("self")) + " of the time";
        if (const double error = number("self_error"); error > 0.0)
            head += " (s.e. " + numberText("%.1f", 100.0 * error) + ")";
    }
    if (const auto& attribute = d.text("attribute"); !attribute.empty())
        head += "; " + quoted(attribute) + " makes a difference of " +
                numberText("%.3g", number("attribute_difference"));
    if (number("direct") != 0.0) head += ". As if the layers before added nothing";
    if (number("edits_left_out") != 0.0) head += ". Edits are left out: these are the weights";
    return head;
}

}  // namespace

const FieldTable<DictionaryOptions>& dictionaryFields() {
    using O = DictionaryOptions;
    static const FieldTable<O> table = {
        fields::integer(&O::layer, "layer", "Layer",
                        "layer, from 1; with --stack it counts in that stack", 1, 1000),
        fields::choice(&O::kind, "kind", "Map", "relation, attention-ra or attention-sa",
                       {"relation", "attention-ra", "attention-sa"}),
        fields::integer(&O::index, "index", "Index", "index of the relation or head, from 1", 1,
                        1e6),
        relationField(&O::relation),
        fields::text(&O::stack, "stack", "Stack",
                     "encoder, decoder or abstractor, where a model has several"),
        fields::text(&O::token, "token", "Token",
                     "a token whose partners are listed: its text, or id:N"),
        fields::integer(&O::offset, "offset", "i - j",
                        "how far the tokens are apart, for rotary positions", -1e6, 1e6),
        fields::text(&O::at, "at", "At",
                     "positions I,J of the two tokens; without them the mean of learned positions"),
        fields::path(fields::text(
            &O::weights, "weights", "Weights",
            "how often tokens count: even, or as in a text file; by default as in the data, or "
            "even without data")),
        fields::text(&O::attribute, "attribute", "Attribute",
                     "of patches and sets, an attribute of the atlas, as 'same object': what share "
                     "of its difference each component has"),
        fields::integer(&O::top, "top", "Pairs",
                        "how many of the highest and of the lowest pairs, and of partners", 1,
                        10000),
        fields::integer(&O::components, "components", "Components", "how many components are shown",
                        1, 256),
        fields::integer(&O::examples, "examples", "Examples",
                        "examples whose patches or objects are described, at most", 2, 1e6)};
    return table;
}

double factShare(const std::vector<double>& scores, const std::vector<std::int64_t>& facts,
                 bool ordered) {
    constexpr double kFewestOfValue = 8.0;
    struct Group {
        double count = 0.0, sum = 0.0;
    };
    std::map<std::int64_t, Group> groups;
    double count = 0.0, mean = 0.0;
    for (std::size_t k = 0; k < facts.size(); ++k)
        if (facts[k] >= 0) count += 1.0, mean += scores[k];
    mean /= count;
    double squares = 0.0;
    for (std::size_t k = 0; k < facts.size(); ++k) {
        if (facts[k] < 0) continue;
        const double off = scores[k] - mean;
        auto& group = groups[facts[k]];
        group.count += 1.0, group.sum += off;
        squares += off * off;
    }
    double between = 0.0, first = 0.0, second = 0.0, products = 0.0;
    for (const auto& [fact, group] : groups) {
        if (!ordered && group.count < kFewestOfValue) return columns::kNone;
        const auto number = static_cast<double>(fact);
        between += group.sum * group.sum / group.count;
        first += number * group.count, second += number * number * group.count;
        products += number * group.sum;
    }
    double freedom = static_cast<double>(groups.size()) - 1.0;
    if (ordered) {
        const double spread = second - first * first / count;
        between = spread > 0.0 ? products * products / spread : 0.0;
        freedom = std::min(freedom, 1.0);
    }
    const double left = count - 1.0 - freedom;
    if (!(squares > 0.0) || !(left > 0.0) || freedom < 1.0) return columns::kNone;
    const double within = std::max(0.0, squares - between) / left;
    return (between - freedom * within) / (squares + within);
}

Answer dictionaryTables(const std::string& objects, bool softmax) {
    using namespace columns;
    const NumberFormat scored{3, false, true, true};
    const bool pictures = objects == "patches";
    const std::string high =
        "what has high scores; high receivers score high with high senders, low ones "
        "with low ones";
    std::vector<Column> components = {
        integer("component", {"Component"}),
        number(
            "share",
            {"Share", {1, true, false, true}, "Of the variance of what both sides say together"}),
        text("receiver_follows", {"Receiver follows",
                                  {},
                                  "Share of its variance that the values of a fact explain, "
                                  "without what they explain by chance"}),
        text("sender_follows", {"Sender follows"}),
        text("receiver_high", {"Receivers high", {}, high}),
        text("sender_high", {"Senders high", {}, high}),
        text("receiver_low", {"Receivers low"}),
        text("sender_low", {"Senders low"}),
        number("difference",
               {"Of the difference", {1, true}, "Of the difference by the attribute"}),
        number("value", {"Deviation", {3}, "Standard deviation of the scores that it makes"})};
    if (objects != "tokens")
        for (const char* key : {"example", "i", "j"}) components.push_back(integer(key));
    if (pictures)  // first of all, as a side pane is narrow
        components.insert(
            components.begin() + 1,
            {integer(
                 "receiver",
                 {"Receiver", {}, "What varies in a patch as the score rises", {}, {}, "pictures"}),
             integer("sender", {"Sender", {}, "The same of the other side", {}, {}, "pictures"})});
    const std::vector<Column> pairs = {
        text("receiver_text", {"Receiver"}), text("sender_text", {"Sender"}),
        number("score", {"Score", scored, softmax ? "Above the mean of its row" : ""}),
        integer("receiver"), integer("sender")};
    auto numbers =
        pictures  // for files alone
            ? std::vector<Column>{integer("component"), text("side"),       integer("row"),
                                  integer("column"),    integer("channel"), number("value")}
            : std::vector<Column>{integer("component", {"Component"}), text("side", {"Side"}),
                                  text("feature", {"Feature"}),
                                  number("value", {"Rises by", scored,
                                                   "How much the feature changes as the score "
                                                   "rises by one standard deviation"})};
    auto facts = tableWith(
        "", "", fact("summary", "", {"Map"}), fact("map", ""), fact("objects", objects),
        fact("over", ""), fact("count", 0), fact("vocabulary", 0), fact("width", 0),
        fact("offset", 0), fact("softmax", softmax), fact("direct", false),
        fact("edits_left_out", false), fact("deviation", 0.0), fact("receivers", 0.0),
        fact("senders", 0.0), fact("pairs", 0.0), fact("symmetric", kNone), fact("self", kNone),
        fact("self_error", kNone), fact("explained", kNone), fact("correlation", kNone),
        fact("attribute", ""), fact("attribute_difference", kNone));
    return {
        {facts,
         {"components", "Components", components},
         {"partners", "Partners", pairs},
         {"extremes", "Highest and lowest pairs", pairs},
         // People read the lists of the components, which also say which facts they follow.
         tableWith("tokens", "", integer("component"), text("side"), text("end"), integer("token"),
                   text("text"), number("score"), number("weight")),
         tableWith("form", "Features", text("feature", {"Receiver"})),
         tableWith("facts", "", integer("component"), text("side"), text("fact"), number("share")),
         {"numbers", pictures ? "" : "Patterns", numbers}}};
}

Answer dictionaryAnswer(Answer answer, const std::string& where) {
    setFact(answer, "summary", dictionaryHead(answer, where));
    // Facts with too few examples have no column.
    if (answer.table("facts").rows() == 0)
        std::erase_if(answer.tables[1].columns,
                      [](const auto& one) { return one.key.ends_with("_follows"); });
    std::erase_if(answer.tables, [](const Table& table) {
        return table.rows() == 0 && table.key != "components";
    });
    return answer;
}

const RegisterAnalysis kDictionary([] {
    Analysis a;
    a.name = "qk-components";
    a.needsWeights = true;
    a.place = 110;
    a.formerNames = {"dictionary"};
    a.title = "What a map compares";
    a.group = AnalysisGroup::Pairs;
    a.summary = "shows what a map compares: which tokens, patches or features score high together";
    a.purpose =
        "Splits the weights of a map and says what it compares: which tokens, "
        "patterns of pixels or features of receivers score high with which of senders. In "
        "layer 1 this is what the model does; in later layers it is the direct path, as if the "
        "layers before added nothing. Most models take seconds.";
    a.progressText = "Reading what is compared";
    a.input = AnalysisInput::Data;
    a.dataOptional = true;
    a.split = "train";
    a.onDemand = true;
    return answering(a, dictionaryFields(), OfferedIn::Row);
});

}  // namespace relascope::core
