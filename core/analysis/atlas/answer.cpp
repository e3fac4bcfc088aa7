// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/pairs/pair_names.h"
#include "answers/column_table.h"
#include "types/metric.h"

namespace relascope::core {
namespace {

using Atlas = RelationAtlas;
using Relation = Atlas::Relation;
using columns::counted;
using columns::found;
using columns::Shown;

constexpr const char* kAtlasTable = "atlas";
constexpr std::size_t kShares = 5;

/// A count that is -1 where there is none, as an index of a row of that table.
template <class Row>
RowColumn<Row> indexColumn(std::int64_t Row::*member, std::string key, const char* into) {
    auto column = columns::derived<Row>(
        ColumnKind::Integer, std::move(key), {{}, {}, {}, {}, {}, into}, [member](const Row& row) {
            return row.*member < 0 ? columns::kNone : static_cast<double>(row.*member);
        });
    column.set = [member](Row& row, const CellValue& value) {
        row.*member = indexOf(std::get<double>(value));
    };
    return column;
}

/// A map and what is shown of its strongest attribute.
struct MapLine {
    Relation relation;
    std::string attribute;
    Atlas::Fit fit{columns::kNone, columns::kNone, columns::kNone, columns::kNone, columns::kNone,
                   columns::kNone, columns::kNone, columns::kNone, columns::kNone};
    double alone = columns::kNone, layer = columns::kNone;
    double shares[kShares] = {columns::kNone, columns::kNone, columns::kNone, columns::kNone,
                              columns::kNone};
};

template <class Ref>
RowColumn<MapLine> mapNumber(const char* key, Ref ref, Shown shown = {}) {
    return found<MapLine>(ColumnKind::Number, key, ref, std::move(shown));
}
template <class Ref>
RowColumn<MapLine> mapText(const char* key, Ref ref, Shown shown = {}) {
    return found<MapLine>(ColumnKind::Text, key, ref, std::move(shown));
}
template <class Ref>
RowColumn<MapLine> mapCount(const char* key, Ref ref, const char* into = "") {
    auto column = columns::derived<MapLine>(
        ColumnKind::Integer, key, {{}, {}, {}, {}, {}, into}, [ref](const MapLine& row) {
            const auto value = ref(const_cast<MapLine&>(row));
            return value < 0 ? columns::kNone : static_cast<double>(value);
        });
    column.set = [ref](MapLine& row, const CellValue& value) {
        ref(row) = indexOf(std::get<double>(value));
    };
    return column;
}

ColumnTable<MapLine> mapColumns(const std::string& metric) {
    using R = MapLine;
    const bool percent = metricInfo(metric.empty() ? "accuracy" : metric).isFraction();
    const NumberFormat change{percent ? 1 : 3, percent, true};
    ColumnTable<R> all = {
        mapText("relation", [](R& r) -> std::string& { return r.relation.name; }, {"Map"}),
        mapText("label", [](R& r) -> std::string& { return r.relation.label; }, {"Label"}),
        mapText("attribute", [](R& r) -> std::string& { return r.attribute; }),
        mapNumber("auc", [](R& r) -> double& { return r.fit.auc; },
                  {"AUC", {}, "Of its strongest attribute, place held fixed"}),
        mapNumber("low", [](R& r) -> double& { return r.fit.low; }),
        mapNumber("high", [](R& r) -> double& { return r.fit.high; }),
        mapNumber("untrained", [](R& r) -> double& { return r.fit.untrained; },
                  {"Untrained",
                   {2},
                   "The same of untrained models, and its range",
                   "untrained_low",
                   "untrained_high"}),
        mapNumber("untrained_low", [](R& r) -> double& { return r.fit.untrainedLow; }),
        mapNumber("untrained_high", [](R& r) -> double& { return r.fit.untrainedHigh; }),
        mapNumber("alone", [](R& r) -> double& { return r.alone; },
                  {"Alone", change,
                   "Change of the metric without it, the larger of the two "
                   "replacements"}),
        mapNumber("layer_out", [](R& r) -> double& { return r.layer; },
                  {"Layer out", change, "The same without all of its layer"}),
        mapNumber("symmetry", [](R& r) -> double& { return r.relation.symmetry; },
                  {"Symmetry", {2}, "|R + R^T| / |R - R^T|"}),
        mapNumber("effective_rank", [](R& r) -> double& { return r.relation.rank; },
                  {"Rank", {2}, "Effective rank of R, averaged over examples"}),
        mapNumber("share_place", [](R& r) -> double& { return r.shares[0]; },
                  {"Place", {0, true}, "Of its variance: what the places give"}),
        mapNumber("share_example", [](R& r) -> double& { return r.shares[1]; }),
        mapNumber("share_receiver", [](R& r) -> double& { return r.shares[2]; }),
        mapNumber("share_sender", [](R& r) -> double& { return r.shares[3]; }),
        mapNumber("share_pair", [](R& r) -> double& { return r.shares[4]; },
                  {"Pair", {0, true}, "Of its variance: what the pair alone gives"}),
        mapNumber("weight_symmetry", [](R& r) -> double& { return r.relation.weightSymmetry; }),
        mapNumber("weight_effective_rank", [](R& r) -> double& { return r.relation.weightRank; }),
        mapText("layer", [](R& r) -> std::string& { return r.relation.layer; }),
        mapText("point", [](R& r) -> std::string& { return r.relation.point; }),
        mapCount("index", [](R& r) -> std::int64_t& { return r.relation.index; }),
        mapCount("layer_index", [](R& r) -> std::int64_t& { return r.relation.layerIndex; }),
        found<R>(ColumnKind::Flag, "head", [](R& r) -> bool& { return r.relation.head; }),
        mapCount(
            "strongest", [](R& r) -> std::int64_t& { return r.relation.attribute; }, "attributes"),
        mapCount(
            "labelled", [](R& r) -> std::int64_t& { return r.relation.labelled; }, "attributes"),
        mapCount(
            "group", [](R& r) -> std::int64_t& { return r.relation.group; }, "relations"),
        mapText("reading", [](R& r) -> std::string& { return r.relation.reading; }),
        mapText("condition", [](R& r) -> std::string& { return r.relation.condition; }),
        mapText("condition_proof", [](R& r) -> std::string& { return r.relation.conditionProof; }),
        mapText("origin", [](R& r) -> std::string& { return r.relation.origin; }),
        mapNumber("untrained_farthest",
                  [](R& r) -> double& { return r.relation.untrainedFarthest; }),
        mapText("use", [](R& r) -> std::string& { return r.relation.use; }),
        mapCount("appeared_after", [](R& r) -> std::int64_t& { return r.relation.appearedAfter; }),
        mapCount("appeared_by", [](R& r) -> std::int64_t& { return r.relation.appearedBy; }),
        mapText("development", [](R& r) -> std::string& { return r.relation.development; })};
    for (const auto& [name, distribution] :
         {std::pair("", &Relation::values), {"sent_", &Relation::sent}})
        for (const auto& [key, member] : {std::pair("mean", &Atlas::Distribution::mean),
                                          {"sd", &Atlas::Distribution::sd},
                                          {"positive", &Atlas::Distribution::positive},
                                          {"lowest", &Atlas::Distribution::low},
                                          {"highest", &Atlas::Distribution::high}})
            all.push_back(
                mapNumber((std::string(name) + key).c_str(),
                          [distribution = distribution, member = member](R& r) -> double& {
                              return r.relation.*distribution.*member;
                          }));
    return all;
}

/// Something of a map, with the row of the map in front.
template <class Value>
struct OfMap {
    std::int64_t relation = 0;
    Value value{};
};
template <class Value, class Member>
RowColumn<OfMap<Value>> part(ColumnKind kind, const char* key, Member Value::*member,
                             Shown shown = {}) {
    return found<OfMap<Value>>(
        kind, key, [member](OfMap<Value>& row) -> Member& { return row.value.*member; },
        std::move(shown));
}
template <class Value>
RowColumn<OfMap<Value>> mapOf() {
    return indexColumn(&OfMap<Value>::relation, "map", "relations");
}

/// With what it stands for: an attribute, a part of a list.
struct FitLine {
    std::int64_t attribute = 0;
    std::string name, relation;
    Atlas::Fit fit;
};

const ColumnTable<OfMap<FitLine>>& fitColumns() {
    using R = OfMap<FitLine>;
    const auto number = [](const char* key, double Atlas::Fit::*member, Shown shown = {}) {
        return found<R>(
            ColumnKind::Number, key, [member](R& r) -> double& { return r.value.fit.*member; },
            std::move(shown));
    };
    static const ColumnTable<R> all = {
        part(ColumnKind::Text, "relation", &FitLine::relation, {"Map"}),
        part(ColumnKind::Text, "attribute", &FitLine::name, {"Attribute"}),
        number("auc", &Atlas::Fit::auc, {"AUC", {}, {}, "low", "high"}),
        number("low", &Atlas::Fit::low),
        number("high", &Atlas::Fit::high),
        number("p", &Atlas::Fit::p, {"p", {4}}),
        number("plain_auc", &Atlas::Fit::plainAuc, {"All pairs"}),
        number("untrained", &Atlas::Fit::untrained,
               {"Untrained", {}, {}, "untrained_low", "untrained_high"}),
        number("untrained_low", &Atlas::Fit::untrainedLow),
        number("untrained_high", &Atlas::Fit::untrainedHigh),
        number("initial", &Atlas::Fit::initial, {"Step 0"}),
        found<R>(ColumnKind::Flag, "apart",
                 [](R& r) -> bool& { return r.value.fit.exceedsUntrained; }),
        mapOf<FitLine>(),
        found<R>(ColumnKind::Integer, "attribute_row",
                 [](R& r) -> std::int64_t& { return r.value.attribute; },
                 {{}, {}, {}, {}, {}, "attributes"})};
    return all;
}

const ColumnTable<OfMap<Atlas::Use>>& useColumns() {
    using U = Atlas::Use;
    static const ColumnTable<OfMap<U>> all = {
        mapOf<U>(),
        part(ColumnKind::Text, "how", &U::how),
        part(ColumnKind::Number, "change", &U::change),
        part(ColumnKind::Number, "low", &U::low),
        part(ColumnKind::Number, "high", &U::high),
        part(ColumnKind::Number, "layer_change", &U::groupChange),
        part(ColumnKind::Number, "layer_low", &U::groupLow),
        part(ColumnKind::Number, "layer_high", &U::groupHigh)};
    return all;
}

/// One value of a list of a map: of its bins, quantiles, attributes.
struct ListItem {
    std::string list;
    double value = 0.0;
};
const ColumnTable<OfMap<ListItem>>& listColumns() {
    static const ColumnTable<OfMap<ListItem>> all = {
        mapOf<ListItem>(), part(ColumnKind::Text, "list", &ListItem::list),
        part(ColumnKind::Number, "value", &ListItem::value)};
    return all;
}

struct PairLine {
    std::string list;
    Atlas::Pair pair;
    std::int64_t picture = -1;
};
const ColumnTable<OfMap<PairLine>>& atlasPairColumns() {
    using R = OfMap<PairLine>;
    const auto count = [](const char* key, std::int64_t Atlas::Pair::*member) {
        return found<R>(ColumnKind::Integer, key,
                        [member](R& r) -> std::int64_t& { return r.value.pair.*member; });
    };
    static const ColumnTable<R> all = {
        mapOf<PairLine>(),
        part(ColumnKind::Text, "list", &PairLine::list),
        count("example", &Atlas::Pair::example),
        count("i", &Atlas::Pair::i),
        count("j", &Atlas::Pair::j),
        found<R>(ColumnKind::Number, "value", [](R& r) -> double& { return r.value.pair.value; }),
        found<R>(ColumnKind::Text, "pair", [](R& r) -> std::string& { return r.value.pair.text; }),
        count("row", &Atlas::Pair::row),
        count("column", &Atlas::Pair::column),
        columns::derived<R>(ColumnKind::Integer, "holds", {},
                            [](const R& r) {
                                return r.value.pair.holds < 0
                                           ? columns::kNone
                                           : static_cast<double>(r.value.pair.holds);
                            }),
        part(ColumnKind::Integer, "picture", &PairLine::picture)};
    return all;
}

const ColumnTable<Atlas::Attribute>& attributeColumns() {
    static const ColumnTable<Atlas::Attribute> all = {
        columns::text(&Atlas::Attribute::name, "name"),
        columns::flag(&Atlas::Attribute::ordered, "ordered"),
        columns::flag(&Atlas::Attribute::hypothesis, "hypothesis")};
    return all;
}
/// A member of a conjunction.
struct MemberLine {
    std::int64_t attribute = 0, member = 0;
    bool holds = true;
};
const ColumnTable<MemberLine>& memberColumns() {
    static const ColumnTable<MemberLine> all = {
        columns::integer(&MemberLine::attribute, "attribute", {{}, {}, {}, {}, {}, "attributes"}),
        columns::integer(&MemberLine::member, "member", {{}, {}, {}, {}, {}, "attributes"}),
        columns::flag(&MemberLine::holds, "holds")};
    return all;
}
const ColumnTable<Atlas::Step>& stepColumns() {
    static const ColumnTable<Atlas::Step> all = {
        columns::integer(&Atlas::Step::step, "step"),
        columns::number(&Atlas::Step::accuracy, "accuracy")};
    return all;
}
const ColumnTable<Atlas::Join>& joinColumns() {
    static const ColumnTable<Atlas::Join> all = {
        columns::integer(&Atlas::Join::first, "first"),
        columns::integer(&Atlas::Join::second, "second"),
        columns::number(&Atlas::Join::correlation, "correlation")};
    return all;
}
const ColumnTable<Atlas>& atlasFacts() {
    using R = Atlas;
    static const ColumnTable<R> all = {
        columns::text(&R::data, "data", {"Data"}),
        columns::text(&R::noun, "noun"),
        columns::integer(&R::examples, "examples", {"Examples"}),
        columns::integer(&R::objects, "objects", {"Objects"}),
        columns::integer(&R::columns, "columns"),
        columns::flag(&R::causal, "causal"),
        columns::integer(&R::permutations, "permutations"),
        columns::integer(&R::untrainedModels, "untrained_models", {"Untrained models"}),
        columns::flag(&R::initial, "initial"),
        columns::flag(&R::fresh, "fresh"),
        columns::integer(&R::conjunctions, "conjunctions", {"Conjunctions asked"}),
        columns::integer(&R::different, "different"),
        columns::text(&R::guard, "guard"),
        columns::text(&R::metric, "metric", {"Metric"}),
        columns::number(&R::base, "base", {"Its value", {4}}),
        columns::integer(&R::usedExamples, "use_examples"),
        columns::text(&R::remark, "remark"),
        columns::text(&R::basis, "basis")};
    return all;
}

Table valuesTable(const char* key, const std::vector<double>& values) {
    auto column = columns::columnOf(ColumnKind::Number, "value", {});
    column.numbers = values;
    return {key, {}, {std::move(column)}};
}

const std::pair<const char*, std::vector<Atlas::Pair> Relation::*> kPairLists[] = {
    {"highest", &Relation::highest},
    {"lowest", &Relation::lowest},
    {"near_zero", &Relation::nearZero},
    {"evidence", &Relation::evidence}};
const std::pair<const char*, std::vector<std::int64_t> Relation::*> kAttributeLists[] = {
    {"also", &Relation::also},
    {"as_good", &Relation::asGood},
    {"beat_members", &Relation::beatMembers}};

void turn(MapLine& line) {
    auto& fit = line.fit;
    for (double* value : {&fit.auc, &fit.low, &fit.high, &fit.untrained, &fit.untrainedLow,
                          &fit.untrainedHigh, &fit.initial})
        *value = 1.0 - *value;
    std::swap(fit.low, fit.high), std::swap(fit.untrainedLow, fit.untrainedHigh);
    const auto opposite = oppositeName(line.attribute);
    line.attribute = opposite.empty() ? "not " + line.attribute : opposite;
}

std::vector<MapLine> mapLines(const Atlas& atlas) {
    std::vector<MapLine> lines;
    for (const auto& relation : atlas.relations) {
        MapLine line{relation};
        // What stands in tables of its own is not copied.
        for (const auto& [name, list] : kPairLists) (line.relation.*list).clear();
        line.relation.fits.clear(), line.relation.uses.clear();
        if (relation.attribute >= 0) {
            const auto a = static_cast<std::size_t>(relation.attribute);
            line.attribute = atlas.attributes.at(a).name;
            line.fit = relation.fits.at(a);
            // Numbers of the words of the label: of an AUC below 0.5 the opposite.
            if (relation.labelled >= 0 && line.fit.auc < 0.5) turn(line);
        }
        for (const auto& use : relation.uses) {
            if (!(std::abs(use.change) <= std::abs(line.alone))) line.alone = use.change;
            if (!(std::abs(use.groupChange) <= std::abs(line.layer))) line.layer = use.groupChange;
        }
        std::copy_n(relation.shares.begin(), std::min(kShares, relation.shares.size()),
                    line.shares);
        lines.push_back(std::move(line));
    }
    return lines;
}

void addParts(Answer& answer, const Atlas& atlas) {
    std::vector<OfMap<FitLine>> fits;
    std::vector<OfMap<Atlas::Use>> uses;
    std::vector<OfMap<ListItem>> lists;
    std::vector<OfMap<PairLine>> pairs;
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) {
        const auto& relation = atlas.relations[m];
        const auto row = static_cast<std::int64_t>(m);
        for (std::size_t a = 0; a < relation.fits.size(); ++a)
            fits.push_back({row,
                            {static_cast<std::int64_t>(a), atlas.attributes.at(a).name,
                             relation.name, relation.fits[a]}});
        for (const auto& use : relation.uses) uses.push_back({row, use});
        const auto items = [&](const char* list, const auto& values) {
            for (const auto value : values)
                lists.push_back({row, {list, static_cast<double>(value)}});
        };
        items("bins", relation.values.bins), items("quantiles", relation.values.quantiles);
        items("sent_bins", relation.sent.bins);
        items("sent_quantiles", relation.sent.quantiles);
        for (const auto& [list, values] : kAttributeLists) items(list, relation.*values);
        for (const auto& [list, of] : kPairLists)
            for (const auto& pair : relation.*of) {
                PairLine line{list, pair};
                line.pair.picture = {};
                if (!pair.picture.empty()) {
                    line.picture = std::ssize(answer.pictures);
                    answer.pictures.push_back(pair.picture);
                }
                pairs.push_back({row, std::move(line)});
            }
    }
    std::vector<MemberLine> members;
    for (std::size_t a = 0; a < atlas.attributes.size(); ++a)
        for (const auto& [member, holds] : atlas.attributes[a].members)
            members.push_back({static_cast<std::int64_t>(a), member, holds});
    std::vector<double> stepFits;
    for (const auto& step : atlas.steps)
        stepFits.insert(stepFits.end(), step.fits.begin(), step.fits.end());
    for (auto& table :
         {tableOf("fits", "Attributes", fitColumns(), fits),
          tableOf("attributes", "", attributeColumns(), atlas.attributes),
          tableOf("members", "", memberColumns(), members),
          textsTable("hypotheses", "sentence", atlas.hypotheses),
          tableOf("uses", "", useColumns(), uses), tableOf("lists", "", listColumns(), lists),
          tableOf("pairs", "", atlasPairColumns(), pairs),
          valuesTable("correlation_place_removed", atlas.correlation),
          tableOf("linkage", "", joinColumns(), atlas.tree),
          tableOf("steps", "", stepColumns(), atlas.steps), valuesTable("step_auc", stepFits),
          valuesTable("untrained_auc", atlas.untrainedFits),
          valuesTable("untrained_scores", atlas.untrainedScores)})
        answer.tables.push_back(std::move(table));
}

void requireBelow(const char* what, std::int64_t index, std::int64_t count) {
    if (index < 0 || index >= count)
        throw Error(std::string(what) + " is " + std::to_string(index) + ", and there are " +
                    std::to_string(count));
}
void requireCount(const char* what, std::size_t count, std::size_t wanted) {
    if (count > 0 && count != wanted)
        throw Error(std::string(what) + " are " + std::to_string(count) + " in place of " +
                    std::to_string(wanted));
}

void checkAtlas(const Atlas& atlas) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    const auto maps = atlas.relations.size();
    requireBelow("the number of objects", atlas.objects, most);
    requireBelow("the number of columns", atlas.columns, atlas.objects + 1);
    requireBelow("the number of untrained models", atlas.untrainedModels, most);
    for (const auto& relation : atlas.relations) {
        requireBelow("the number of a map", relation.index, most);
        requireBelow("the layer of a map", relation.layerIndex + 1, most);
        for (const auto& [name, list] : kAttributeLists)
            for (const auto other : relation.*list)
                requireBelow("another attribute of a map", other, std::ssize(atlas.attributes));
        for (const auto& [name, list] : kPairLists)
            for (const auto& pair : relation.*list) {
                requireBelow("object i of a pair", pair.i, atlas.objects);
                requireBelow("object j of a pair", pair.j, atlas.objects);
                requireBelow("the row of a pair", pair.row, most);
                requireBelow("the column of a pair", pair.column, most);
            }
    }
    requireCount("the correlations", atlas.correlation.size(), maps * maps);
    requireCount("the joins", atlas.tree.size(), maps > 0 ? maps - 1 : 0);
    std::set<std::int64_t> joined;
    for (std::size_t k = 0; k < atlas.tree.size(); ++k)
        for (const auto side : {atlas.tree[k].first, atlas.tree[k].second}) {
            requireBelow("a side of a join", side, static_cast<std::int64_t>(maps + k));
            if (!joined.insert(side).second)
                throw Error("cluster " + std::to_string(side) + " is joined twice");
        }
    requireCount("the values of untrained models", atlas.untrainedFits.size(),
                 static_cast<std::size_t>(atlas.untrainedModels) * maps * atlas.attributes.size());
}

/// Fills the lists of the maps from the other tables.
void takeParts(Atlas& atlas, const Answer& answer) {
    const auto of = [&](std::int64_t row) -> Relation& {
        return atlas.relations.at(static_cast<std::size_t>(std::max<std::int64_t>(0, row)));
    };
    atlas.attributes = rowsOf(attributeColumns(), answer.table("attributes"));
    atlas.hypotheses = answer.table("hypotheses").texts("sentence");
    for (const auto& line : rowsOf(memberColumns(), answer.table("members"))) {
        requireBelow("a member of an attribute", line.member, std::ssize(atlas.attributes));
        requireBelow("an attribute with members", line.attribute, std::ssize(atlas.attributes));
        atlas.attributes[static_cast<std::size_t>(line.attribute)].members.emplace_back(line.member,
                                                                                        line.holds);
    }
    for (auto& relation : atlas.relations) relation.fits.resize(atlas.attributes.size());
    for (const auto& line : rowsOf(fitColumns(), answer.table("fits")))
        of(line.relation).fits.at(static_cast<std::size_t>(line.value.attribute)) = line.value.fit;
    for (const auto& line : rowsOf(useColumns(), answer.table("uses")))
        of(line.relation).uses.push_back(line.value);
    for (const auto& line : rowsOf(listColumns(), answer.table("lists"))) {
        auto& map = of(line.relation);
        const auto& item = line.value;
        if (item.list == "quantiles" || item.list == "sent_quantiles") {
            (item.list == "quantiles" ? map.values : map.sent).quantiles.push_back(item.value);
            continue;
        }
        const auto whole = indexOf(std::trunc(std::clamp(item.value, -1e15, 1e15)));
        if (item.list == "bins" || item.list == "sent_bins")
            (item.list == "bins" ? map.values : map.sent).bins.push_back(whole);
        for (const auto& [name, list] : kAttributeLists)
            if (item.list == name) (map.*list).push_back(whole);
    }
    const auto& pairs = answer.table("pairs");
    const auto* holds = pairs.find("holds");  // not in results that an earlier version kept
    for (std::size_t k = 0; auto& row : rowsOf(atlasPairColumns(), pairs)) {
        auto& line = row.value;
        if (holds && holds->kind == ColumnKind::Integer && k < holds->numbers.size())
            line.pair.holds = std::isnan(holds->numbers[k]) ? -1 : holds->numbers[k] > 0;
        ++k;
        if (line.picture >= 0) {
            requireBelow("the picture of a pair", line.picture, std::ssize(answer.pictures));
            line.pair.picture = answer.pictures[static_cast<std::size_t>(line.picture)];
        }
        for (const auto& [name, list] : kPairLists)
            if (line.list == name) (of(row.relation).*list).push_back(line.pair);
    }
    atlas.correlation = answer.table("correlation_place_removed").numbers("value");
    atlas.tree = rowsOf(joinColumns(), answer.table("linkage"));
    atlas.steps = rowsOf(stepColumns(), answer.table("steps"));
    const auto& stepFits = answer.table("step_auc").numbers("value");
    const auto maps = static_cast<std::ptrdiff_t>(atlas.relations.size());
    requireCount("the values of the steps", stepFits.size(),
                 atlas.steps.size() * atlas.relations.size());
    for (std::size_t s = 0; s < atlas.steps.size() && !stepFits.empty(); ++s) {
        const auto begin = stepFits.begin() + static_cast<std::ptrdiff_t>(s) * maps;
        atlas.steps[s].fits = {begin, begin + maps};
    }
    atlas.untrainedFits = answer.table("untrained_auc").numbers("value");
    atlas.untrainedScores = answer.table("untrained_scores").numbers("value");
}

void addMaps(Answer& answer, const Atlas& atlas) {
    auto maps = tableOf("relations", "Maps", mapColumns(atlas.metric), mapLines(atlas));
    for (const auto& relation : atlas.relations)
        maps.links.push_back(
            {!relation.head                                          ? MapKind::Relation
             : relation.name.find("relational") != std::string::npos ? MapKind::RelationalAttention
                                                                     : MapKind::SensoryAttention,
             static_cast<int>(relation.layerIndex), static_cast<int>(relation.index)});
    answer.tables.push_back(std::move(maps));
    addParts(answer, atlas);
}

Atlas atlasOf(const Answer& answer, const Table& own) {
    auto facts = rowsOf(atlasFacts(), own);
    if (facts.size() != 1) throw Error("an atlas has no values of its own");
    auto atlas = std::move(facts.front());
    for (auto& line : rowsOf(mapColumns(atlas.metric), answer.table("relations"))) {
        const bool known = std::any_of(std::begin(line.shares), std::end(line.shares),
                                       [](double share) { return !std::isnan(share); });
        if (known) line.relation.shares.assign(std::begin(line.shares), std::end(line.shares));
        atlas.relations.push_back(std::move(line.relation));
    }
    takeParts(atlas, answer);
    checkAtlas(atlas);
    return atlas;
}

}  // namespace

Answer answerOf(const RelationAtlas& atlas) {
    Answer answer{{factsOf(atlasFacts(), atlas)}};
    addMaps(answer, atlas);
    return answer;
}

RelationAtlas relationAtlasOf(const Answer& answer) {
    return atlasOf(answer, answer.table(""));
}

void addAtlas(Answer& answer, const RelationAtlas& atlas) {
    answer.tables.push_back(
        tableOf(kAtlasTable, "", atlasFacts(), std::vector<RelationAtlas>{atlas}));
    addMaps(answer, atlas);
}

RelationAtlas atlasIn(const Answer& answer) {
    return atlasOf(answer, answer.table(kAtlasTable));
}

}  // namespace relascope::core
