// SPDX-License-Identifier: GPL-3.0-or-later
// The options of qk-components, and its tables.
#include <cmath>
#include <map>

#include "analysis/dictionary/dictionary.h"
#include "answers/column_table.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

// What the map compares, and how much of its scores that is.
std::string dictionaryHead(const Dictionary& d) {
    const auto percent = [](double share) { return numberText("%.0f %%", 100.0 * share); };
    std::string head = d.map + ", " + groupedNumber(d.count) + " " +
                       (d.objects == "tokens" ? "tokens" + d.over : d.over);
    const auto all = d.objects == "tokens" ? "" : " over all pairs of their " + d.objects;
    if (d.atI >= 0)
        head += " at " + std::to_string(d.atI) + " and " + std::to_string(d.atJ);
    else if (d.offset != 0)
        head += ", i - j = " + std::to_string(d.offset);
    if (std::isnan(d.explained))
        head += ": of the variance of the scores" + all + " ";
    else
        head += ": " +
                std::string(d.objects == "patches" ? "pixels x pixels explains "
                                                   : "features x features explain ") +
                percent(d.explained) + " of the variance of the scores" + all + " (correlation " +
                numberText("%.2f", d.correlation) + "); of what " +
                (d.objects == "patches" ? "it says itself " : "they say themselves ");
    head += percent(d.pairs) + " is what both sides say together, " + percent(d.receivers) +
            " the receiver alone, " + percent(d.senders) + " the sender alone";
    if (d.components.empty())
        head += ". Nothing is compared: the score is a sum of what either side says alone";
    else
        head += ". Component 1 has " + percent(d.components.front().share) +
                " of the variance of what both sides say together";
    if (!std::isnan(d.symmetric))
        head += "; symmetric share " + numberText("%.2f", d.symmetric) +
                (d.symmetric > 1.0 - 1e-9 ? "" : " (chance 0.50)");
    if (!std::isnan(d.self)) {
        head += "; a token scores itself above another one " + percent(d.self) + " of the time";
        if (d.selfError > 0.0) head += " (s.e. " + numberText("%.1f", 100.0 * d.selfError) + ")";
    }
    if (!d.attribute.empty())
        head += "; " + quoted(d.attribute) + " makes a difference of " +
                numberText("%.3g", d.difference);
    if (d.direct) head += ". As if the layers before added nothing";
    if (d.editsLeftOut) head += ". Edits are left out: these are the weights";
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
        if (!ordered && group.count < kFewestOfValue) return DictionaryComponent::kNone;
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
    if (!(squares > 0.0) || !(left > 0.0) || freedom < 1.0) return DictionaryComponent::kNone;
    const double within = std::max(0.0, squares - between) / left;
    return (between - freedom * within) / (squares + within);
}

Answer answerOf(const Dictionary& dictionary) {
    const NumberFormat bar{1, true, false, true}, plain{3, false, true},
        scored{3, false, true, true};
    Answer answer;
    using C = DictionaryComponent;
    const bool pictures = dictionary.objects == "patches";
    const auto picture = [&](Image C::*member) {
        std::vector<double> at;
        for (const auto& component : dictionary.components) {
            const auto& image = component.*member;
            at.push_back(image.empty() ? C::kNone : static_cast<double>(answer.pictures.size()));
            if (!image.empty()) answer.pictures.push_back(image);
        }
        return at;
    };
    const auto pictureColumn = [&](const char* key, const char* title, const char* help,
                                   Image C::*member) {
        Column column{key, title, help, ColumnKind::Integer};
        column.into = "pictures", column.numbers = picture(member);
        return column;
    };
    const char* high =
        "what has high scores; high receivers score high with high senders, low ones "
        "with low ones";
    ColumnTable<C> components = {
        columns::integer(&C::number, "component", {"Component"}),
        columns::number(&C::share, "share",
                        {"Share", bar, "Of the variance of what both sides say together"}),
        columns::text(&C::receiverFollows, "receiver_follows",
                      {"Receiver follows",
                       {},
                       "Share of its variance that the values of a fact explain, without what "
                       "they explain by chance"}),
        columns::text(&C::senderFollows, "sender_follows", {"Sender follows"}),
        columns::text(&C::receiverHigh, "receiver_high", {"Receivers high", {}, high}),
        columns::text(&C::senderHigh, "sender_high", {"Senders high", {}, high}),
        columns::text(&C::receiverLow, "receiver_low", {"Receivers low"}),
        columns::text(&C::senderLow, "sender_low", {"Senders low"}),
        columns::number(&C::difference, "difference",
                        {"Of the difference", {1, true}, "Of the difference by the attribute"}),
        columns::number(&C::value, "value",
                        {"Deviation", {3}, "Standard deviation of the scores that it makes"})};
    using D = Dictionary;
    const ColumnTable<D> facts = {
        columns::derived<D>(ColumnKind::Text, "summary", {"Map"}, dictionaryHead),
        columns::text(&D::map, "map"),
        columns::text(&D::objects, "objects"),
        columns::text(&D::over, "over"),
        columns::integer(&D::count, "count"),
        columns::integer(&D::vocabulary, "vocabulary"),
        columns::integer(&D::width, "width"),
        columns::integer(&D::offset, "offset"),
        columns::flag(&D::softmax, "softmax"),
        columns::flag(&D::direct, "direct"),
        columns::flag(&D::editsLeftOut, "edits_left_out"),
        columns::number(&D::deviation, "deviation"),
        columns::number(&D::receivers, "receivers"),
        columns::number(&D::senders, "senders"),
        columns::number(&D::pairs, "pairs"),
        columns::number(&D::symmetric, "symmetric"),
        columns::number(&D::self, "self"),
        columns::number(&D::selfError, "self_error"),
        columns::number(&D::explained, "explained"),
        columns::number(&D::correlation, "correlation"),
        columns::text(&D::attribute, "attribute"),
        columns::number(&D::difference, "attribute_difference")};
    answer.tables.push_back(factsOf(facts, dictionary));
    // Facts with too few examples have no column.
    if (dictionary.facts.empty())
        std::erase_if(components,
                      [](const auto& one) { return one.column.key.ends_with("_follows"); });
    if (dictionary.objects != "tokens") {
        components.push_back(columns::integer(&C::example, "example"));
        components.push_back(columns::integer(&C::i, "i"));
        components.push_back(columns::integer(&C::j, "j"));
    }
    auto main = tableOf("components", "Components", components, dictionary.components);
    for (const auto& component : dictionary.components) {
        auto link = dictionary.link;
        link.i = component.i, link.j = component.j;
        if (component.example < 0) link.layer = -1;
        main.links.push_back(link);
    }
    if (pictures) {
        const auto where = main.columns.begin() + 1;  // first of all, as a side pane is narrow
        main.columns.insert(
            where, {pictureColumn("receiver", "Receiver",
                                  "What varies in a patch as the score rises", &C::receiver),
                    pictureColumn("sender", "Sender", "The same of the other side", &C::sender)});
    }
    answer.tables.push_back(std::move(main));
    using P = DictionaryPair;
    const auto pairs = [&](const char* key, const char* title, const std::vector<P>& rows) {
        const ColumnTable<P> table = {
            columns::text(&P::receiverText, "receiver_text", {"Receiver"}),
            columns::text(&P::senderText, "sender_text", {"Sender"}),
            columns::number(
                &P::score, "score",
                {"Score", scored, dictionary.softmax ? "Above the mean of its row" : ""}),
            columns::integer(&P::receiver, "receiver"), columns::integer(&P::sender, "sender")};
        if (!rows.empty()) answer.tables.push_back(tableOf(key, title, table, rows));
    };
    pairs("partners", "Partners", dictionary.partners);
    pairs("extremes", "Highest and lowest pairs", dictionary.extremes);
    using T = DictionaryToken;
    // People read the lists of the components.
    const ColumnTable<T> tokens = {columns::integer(&T::component, "component"),
                                   columns::text(&T::side, "side"),
                                   columns::text(&T::end, "end"),
                                   columns::integer(&T::token, "token"),
                                   columns::text(&T::text, "text"),
                                   columns::number(&T::score, "score"),
                                   columns::number(&T::weight, "weight")};
    if (!dictionary.tokens.empty())
        answer.tables.push_back(tableOf("tokens", "", tokens, dictionary.tokens));
    const auto& features = dictionary.features;
    if (!features.empty()) {
        Table form{"form", "Features"};
        Column names{"feature", "Receiver", {}, ColumnKind::Text};
        names.texts = features;
        form.columns.push_back(std::move(names));
        for (std::size_t b = 0; b < features.size(); ++b) {
            Column column{features[b], features[b],
                          "Score of the receiver's feature with this one"};
            column.format = plain;
            for (std::size_t a = 0; a < features.size(); ++a)
                column.numbers.push_back(dictionary.form[a * features.size() + b]);
            form.columns.push_back(std::move(column));
        }
        answer.tables.push_back(std::move(form));
    }
    using F = DictionaryFact;
    // The components say which facts they follow.
    const ColumnTable<F> known = {columns::integer(&F::component, "component"),
                                  columns::text(&F::side, "side"), columns::text(&F::fact, "fact"),
                                  columns::number(&F::share, "share")};
    if (!dictionary.facts.empty())
        answer.tables.push_back(tableOf("facts", "", known, dictionary.facts));
    using N = DictionaryNumber;
    ColumnTable<N> numbers = {columns::integer(&N::component, "component", {"Component"}),
                              columns::text(&N::side, "side", {"Side"})};
    if (pictures) {  // for files alone
        numbers[0].column.title.clear(), numbers[1].column.title.clear();
        numbers.push_back(columns::integer(&N::row, "row"));
        numbers.push_back(columns::integer(&N::column, "column"));
        numbers.push_back(columns::integer(&N::channel, "channel"));
    } else {
        numbers.push_back(columns::text(&N::feature, "feature", {"Feature"}));
    }
    numbers.push_back(columns::number(
        &N::value, "value",
        pictures ? columns::Shown()
                 : columns::Shown{"Rises by", scored,
                                  "How much the feature changes as the score rises by one "
                                  "standard deviation"}));
    if (!dictionary.numbers.empty())
        answer.tables.push_back(
            tableOf("numbers", pictures ? "" : "Patterns", numbers, dictionary.numbers));
    return answer;
}

const RegisterAnalysis kDictionary([] {
    Analysis a;
    a.name = "qk-components";
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
