// SPDX-License-Identifier: GPL-3.0-or-later
// The duel as tables, and back.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/duel/duel.h"
#include "answers/column_table.h"
#include "types/metric.h"

namespace relascope::core {
namespace {

using columns::found;
using columns::Shown;

constexpr const char* kBetter =
    "Than four or more pairs of untrained models, by more than their range";
constexpr const char* kAllLayers = "all layers";

/// A layer in a table: "layer 1", and of all layers at once these words.
template <class Row>
RowColumn<Row> layerColumn(std::string Row::*member, std::string key, Shown shown) {
    auto column = columns::derived<Row>(
        ColumnKind::Text, std::move(key), std::move(shown),
        [member](const Row& r) { return (r.*member).empty() ? kAllLayers : r.*member; });
    column.set = [member](Row& r, const CellValue& value) {
        const auto& name = std::get<std::string>(value);
        r.*member = name == kAllLayers ? "" : name;
    };
    return column;
}

template <class Row>
RowColumn<Row> mapsColumn(bool Row::*heads) {
    auto column = columns::derived<Row>(ColumnKind::Text, "maps", {"Maps"}, [heads](const Row& r) {
        return r.*heads ? "attention" : "relations";
    });
    column.set = [heads](Row& r, const CellValue& value) {
        r.*heads = std::get<std::string>(value) == "attention";
    };
    return column;
}

const ColumnTable<Duel::Match>& matchColumns() {
    using R = Duel::Match;
    static const ColumnTable<R> all = {
        mapsColumn(&R::heads),
        layerColumn(&R::a, "a", {"A"}),
        layerColumn(&R::b, "b", {"B"}),
        columns::number(
            &R::matched, "correlation",
            {"Matched", {}, "Mean |correlation| of the best assignment, place removed"}),
        columns::number(&R::meanOfAllPairs, "random_assignments",
                        {"Random", {}, "The same over all assignments"}),
        columns::number(
            &R::level, "untrained_level",
            {"Untrained", {}, "The best pair of layers of any pair of untrained models"}),
        columns::number(&R::explained, "a_explained_by_b",
                        {"A by B", {2}, "Held-out R\u00B2 of a linear map from B's maps to A's"}),
        columns::number(&R::back, "b_explained_by_a",
                        {"B by A", {2}, "Held-out R\u00B2 of a linear map from A's maps to B's"}),
        columns::flag(&R::better, "better_than_chance", {"Better", {}, kBetter}),
        columns::integer(&R::ours, "maps_of_a"),
        columns::integer(&R::theirs, "maps_of_b")};
    return all;
}

/// How well one pair of untrained models matches: a row of the table.
struct UntrainedMatch {
    std::int64_t match = 0;
    double correlation = 0.0, explained = 0.0;
};

const ColumnTable<UntrainedMatch>& untrainedColumns() {
    using R = UntrainedMatch;
    static const ColumnTable<R> all = {
        columns::integer(&R::match, "match", {{}, {}, {}, {}, {}, "matching"}),
        columns::number(&R::correlation, "correlation"),
        columns::number(&R::explained, "explained")};
    return all;
}

const ColumnTable<Duel::Partner>& partnerColumns() {
    using R = Duel::Partner;
    static const ColumnTable<R> all = {
        columns::text(&R::a, "a", {"Map of A", {}, "A click shows both"}),
        columns::text(&R::b, "b", {"Map of B", {}, "A click shows both; empty: there is none"}),
        columns::number(&R::correlation, "correlation",
                        {"Correlation", {}, "Over pairs of objects, place removed"}),
        columns::flag(&R::heads, "heads"),
        columns::integer(&R::layerA, "layer_a"),
        columns::integer(&R::indexA, "index_a"),
        columns::integer(&R::layerB, "layer_b"),
        columns::integer(&R::indexB, "index_b")};
    return all;
}

const char* whoIsRight(const Duel::Difference& d) {
    if (d.rightA && d.rightB) return "both right";
    if (d.rightA) return "A right, B wrong";
    return d.rightB ? "A wrong, B right" : "both wrong";
}

ColumnTable<Duel::Difference> differenceColumns(const std::string& divergence) {
    using R = Duel::Difference;
    auto position = columns::derived<R>(
        ColumnKind::Integer, "position", {"Position"},
        [](const R& d) { return d.position < 0 ? columns::kNone : double(d.position); });
    position.set = [](R& d, const CellValue& value) {
        d.position = indexOf(std::get<double>(value));
    };
    return {
        columns::derived<R>(ColumnKind::Text, "kind",
                            {"Who is right", {}, "A click shows the example in both"}, whoIsRight),
        columns::text(&R::a, "a", {"A"}),
        columns::text(&R::b, "b", {"B"}),
        columns::text(&R::wanted, "wanted", {"Wanted"}),
        columns::integer(&R::example, "example", {"Example", {}, "Its number in the split"}),
        std::move(position),
        columns::number(&R::divergence, "divergence", {"Divergence", {4}, divergence}),
        columns::number(&R::probabilityA, "probability_a",
                        {"p of A", {}, "Probability of the wanted answer"}),
        columns::number(&R::probabilityB, "probability_b",
                        {"p of B", {}, "Probability of the wanted answer"}),
        columns::flag(&R::rightA, "right_a"),
        columns::flag(&R::rightB, "right_b")};
}

/// How alike the streams of two layers are: a row of the table.
struct Alignment {
    std::string a, b;
    double cka = 0.0, untrained = columns::kNone;
    bool alike = false;
};

const ColumnTable<Alignment>& alignmentColumns() {
    using R = Alignment;
    static const ColumnTable<R> all = {
        columns::text(&R::a, "a", {"After A's"}), columns::text(&R::b, "b", {"after B's"}),
        columns::number(&R::cka, "linear_cka", {"Linear CKA", {}, "Of the streams, 0 to 1"}),
        columns::number(&R::untrained, "untrained",
                        {"Untrained", {}, "The largest of pairs of untrained models"}),
        columns::flag(&R::alike, "better_than_chance", {"Better", {}, kBetter})};
    return all;
}

const ColumnTable<PairedChange>& changeColumns() {
    using R = PairedChange;
    static const ColumnTable<R> all = {
        columns::text(&R::metric, "metric", {"Metric"}),
        columns::number(&R::base, "a", {"A", {4}}),
        columns::number(&R::edited, "b", {"B", {4}}),
        columns::number(&R::change, "change", {"Change", {4, false, true}, {}, "low", "high"}),
        columns::number(&R::low, "low"),
        columns::number(&R::high, "high")};
    return all;
}

const ColumnTable<Duel::PairChange>& pairColumns() {
    using R = Duel::PairChange;
    const NumberFormat percent{1, true}, points{1, true, true}, nats{2, false, true};
    const auto number = [](const char* key, Shown shown, auto ref) {
        return found<R>(ColumnKind::Number, key, ref, std::move(shown));
    };
    static const ColumnTable<R> all = {
        columns::text(&R::phenomenon, "phenomenon", {"Phenomenon"}),
        columns::integer(&R::pairs, "pairs", {"Pairs"}),
        number("a", {"A", percent, "Pair accuracy"},
               [](R& r) -> double& { return r.accuracy.base; }),
        number("b", {"B", percent, "Pair accuracy"},
               [](R& r) -> double& { return r.accuracy.edited; }),
        number("change", {"Change", points, "From A to B", "low", "high"},
               [](R& r) -> double& { return r.accuracy.change; }),
        number("low", {{}, points}, [](R& r) -> double& { return r.accuracy.low; }),
        number("high", {{}, points}, [](R& r) -> double& { return r.accuracy.high; }),
        columns::integer(&R::onlyA, "a_alone", {"A alone", {}, "Pairs that only A finds right"}),
        columns::integer(&R::onlyB, "b_alone", {"B alone", {}, "Pairs that only B finds right"}),
        columns::integer(&R::words, "words",
                         {"Words", {}, "How many sets of words the pairs differ in"}),
        columns::number(&R::untrainedA, "untrained_a",
                        {"Untrained A", percent, "The most of models like A with fresh weights"}),
        columns::number(&R::untrainedB, "untrained_b",
                        {"Untrained B", percent, "The most of models like B with fresh weights"}),
        columns::flag(&R::prefersA, "preferred_a",
                      {"A prefers", {}, "Above 50 %, above untrained models and frequencies"}),
        columns::flag(&R::prefersB, "preferred_b",
                      {"B prefers", {}, "Above 50 %, above untrained models and frequencies"}),
        number("difference_a", {{}, nats}, [](R& r) -> double& { return r.difference.base; }),
        number("difference_b", {{}, nats}, [](R& r) -> double& { return r.difference.edited; }),
        number("difference_change", {{}, nats},
               [](R& r) -> double& { return r.difference.change; }),
        number("difference_low", {{}, nats}, [](R& r) -> double& { return r.difference.low; }),
        number("difference_high", {{}, nats}, [](R& r) -> double& { return r.difference.high; })};
    return all;
}

const ColumnTable<Duel>& duelFacts() {
    using R = Duel;
    const auto side = [](const char* key, const char* title, Duel::Side R::*one,
                         std::string Duel::Side::*member) {
        return found<R>(ColumnKind::Text, key,
                        [one, member](R& r) -> std::string& { return r.*one.*member; }, {title});
    };
    static const ColumnTable<R> all = {
        side("a", "A", &R::a, &Duel::Side::name),
        side("a_architecture", "", &R::a, &Duel::Side::architecture),
        side("b", "B", &R::b, &Duel::Side::name),
        side("b_architecture", "", &R::b, &Duel::Side::architecture),
        columns::flag(&R::same, "same"),
        columns::text(&R::data, "data", {"Data"}),
        columns::text(&R::noun, "noun"),
        columns::integer(&R::examples, "examples", {"Examples"}),
        columns::integer(&R::objects, "objects"),
        columns::text(&R::whyNot, "maps_not_compared"),
        columns::integer(&R::answers, "answers"),
        columns::integer(&R::bothRight, "both_right"),
        columns::integer(&R::onlyA, "a_alone"),
        columns::integer(&R::onlyB, "b_alone"),
        columns::integer(&R::bothWrong, "both_wrong"),
        columns::integer(&R::different, "different"),
        columns::number(&R::mcnemar, "mcnemar_p"),
        columns::text(&R::divergence, "divergence"),
        columns::number(&R::meanDivergence, "mean_divergence"),
        columns::number(&R::largestDifference, "largest_difference"),
        columns::integer(&R::rows, "rows"),
        columns::integer(&R::untrained, "untrained_pairs", {"Pairs of untrained models"}),
        columns::flag(&R::text, "text"),
        columns::flag(&R::complete, "complete"),
        columns::text(&R::basis, "basis")};
    return all;
}

Table numbersTable(std::string key, std::vector<double> values) {
    auto column = columns::columnOf(ColumnKind::Number, "value", {});
    column.numbers = std::move(values);
    return {std::move(key), {}, {std::move(column)}};
}

}  // namespace

Answer answerOf(const Duel& duel) {
    auto says = textsTable("says", "text", duel.sentences);
    says.columns.front().title = "What it shows";
    Answer answer;
    answer.tables = {
        factsOf(duelFacts(), duel),
        std::move(says),
        tableOf("matching", "Matched |correlation|, place removed", matchColumns(), duel.matches),
        tableOf("changes", "From A to B", changeColumns(), duel.changes),
        tableOf("differences", "Where they disagree", differenceColumns(duel.divergence),
                duel.differences),
        tableOf("partners", "Maps", partnerColumns(), duel.partners)};
    auto& level = answer.tables[2].columns[5].numbers;
    std::replace(level.begin(), level.end(), -1.0, columns::kNone);
    for (const auto& partner : duel.partners)
        answer.tables.back().links.push_back(
            {!partner.heads                                      ? MapKind::Relation
             : partner.b.find("relational") != std::string::npos ? MapKind::RelationalAttention
                                                                 : MapKind::SensoryAttention,
             static_cast<int>(partner.layerB), static_cast<int>(partner.indexB)});
    std::vector<Alignment> alignments;
    const auto across = std::max<std::size_t>(1, duel.b.streams.size());
    for (std::size_t k = 0; k < duel.cka.size(); ++k) {
        alignments.push_back(
            {duel.a.streams.at(k / across), duel.b.streams.at(k % across), duel.cka[k]});
        if (k < duel.untrainedCka.size()) alignments.back().untrained = duel.untrainedCka[k];
        alignments.back().alike = k < duel.alike.size() && duel.alike[k];
    }
    answer.tables.push_back(tableOf("streams", "Streams", alignmentColumns(), alignments));
    std::vector<UntrainedMatch> untrained;
    for (std::size_t m = 0; m < duel.matches.size(); ++m)
        for (std::size_t k = 0; k < duel.matches[m].untrained.size(); ++k)
            untrained.push_back({static_cast<std::int64_t>(m), duel.matches[m].untrained[k],
                                 k < duel.matches[m].untrainedExplained.size()
                                     ? duel.matches[m].untrainedExplained[k]
                                     : columns::kNone});
    answer.tables.push_back(tableOf("untrained_matching", "", untrainedColumns(), untrained));
    answer.tables.push_back(numbersTable("untrained_streams", duel.untrainedCkas));
    answer.tables.push_back(textsTable("streams_of_a", "name", duel.a.streams));
    answer.tables.push_back(textsTable("streams_of_b", "name", duel.b.streams));
    if (!duel.pairs.empty())
        answer.tables.push_back(
            tableOf("pairs", "Minimal pairs, from A to B", pairColumns(), duel.pairs));
    answer.complete = duel.complete;
    return answer;
}

Duel duelOf(const Answer& answer) {
    auto duel = factsIn(duelFacts(), answer);
    duel.a.streams = answer.table("streams_of_a").texts("name");
    duel.b.streams = answer.table("streams_of_b").texts("name");
    duel.matches = rowsOf(matchColumns(), answer.table("matching"));
    for (auto& match : duel.matches)
        if (std::isnan(match.level)) match.level = -1.0;
    for (const auto& one : rowsOf(untrainedColumns(), answer.table("untrained_matching"))) {
        auto& match = duel.matches.at(static_cast<std::size_t>(one.match));
        match.untrained.push_back(one.correlation);
        match.untrainedExplained.push_back(one.explained);
    }
    duel.partners = rowsOf(partnerColumns(), answer.table("partners"));
    duel.changes = rowsOf(changeColumns(), answer.table("changes"));
    duel.differences = rowsOf(differenceColumns(duel.divergence), answer.table("differences"));
    const auto alignments = rowsOf(alignmentColumns(), answer.table("streams"));
    if (!alignments.empty() && alignments.size() != duel.a.streams.size() * duel.b.streams.size())
        throw Error("the streams of a duel have " + std::to_string(alignments.size()) + " values");
    for (const auto& one : alignments) {
        duel.cka.push_back(one.cka);
        if (std::isnan(one.untrained) && duel.untrained == 0) continue;
        duel.untrainedCka.push_back(one.untrained);
        duel.alike.push_back(one.alike);
    }
    duel.untrainedCkas = answer.table("untrained_streams").numbers("value");
    if (duel.untrainedCkas.size() % std::max<std::size_t>(1, duel.cka.size()) != 0)
        throw Error("the untrained streams of a duel do not have its layers");
    duel.sentences = answer.table("says").texts("text");
    if (const auto* pairs = answer.find("pairs")) duel.pairs = rowsOf(pairColumns(), *pairs);
    return duel;
}

}  // namespace relascope::core
