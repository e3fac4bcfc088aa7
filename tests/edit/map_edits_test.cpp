// SPDX-License-Identifier: GPL-3.0-or-later
// The edits of the inspector's maps: on every model, what is set in a cell is what the map shows.
#include "interventions/map_edits.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <set>

#include "interventions/check_edits.h"
#include "interventions/edited_run.h"
#include "model/architecture.h"
#include "model/model.h"
#include "probe/probe.h"
#include "support/rooms.h"
#include "support/zoo.h"
#include "types/error.h"
#include "types/map_difference.h"

namespace relascope {
namespace {

struct Probed {
    ModelOptions options;
    ModelPtr model;
    ProbeSample sample;
    std::vector<PointInfo> points;
    std::shared_ptr<const ProbeResult> result;
};

ProbeResult probeWith(Probed& p, const EditList& list) {
    checkEdits(list, p.points, EditUse::Inspect);
    Editor editor(list);
    takeValues(editor, *p.model, inputOf(p.sample, p.options));
    const HookScope scope(&editor);
    return probeModel(*p.model, p.options, p.sample, 0, {});
}

Probed probed(const ModelOptions& options) {
    torch::manual_seed(5);
    Probed p{options, makeModel(options), randomSample(options, 7), {}, {}};
    p.model->eval();
    p.points = pointsOf(*p.model, inputOf(p.sample, options));
    p.result =
        std::make_shared<const ProbeResult>(probeModel(*p.model, p.options, p.sample, 0, {}));
    return p;
}

EditList onlyEdit(Edit edit) {
    EditList list;
    list.edits.push_back(std::move(edit));
    return list;
}

MapPlace placeOf(const Probed& p, const RelationMap& map) {
    return {map.kind, p.result->layers.at(static_cast<std::size_t>(map.layer)).name, map.index,
            map.rows, map.columns};
}

class EveryMap : public testing::TestWithParam<std::pair<std::string, ModelOptions>> {
protected:
    torch::NoGradGuard noGrad;
};

TEST_P(EveryMap, ASetCellIsWhatTheMapShows) {
    auto p = probed(GetParam().second);
    int maps = 0;
    for (const auto& map : p.result->maps) {
        SCOPED_TRACE(std::string(mapKindName(map.kind)) + " " + std::to_string(map.layer) + " " +
                     std::to_string(map.index));
        // The sensory maps of a layer with two attentions share their numbers: the first is shown.
        if (p.result->find(map.kind, map.layer, map.index) != &map) continue;
        const auto target = targetOf(placeOf(p, map), p.points);
        ++maps;
        if (target.values.empty()) {
            EXPECT_THROW(cellEdit(target, 0, 0, 1.0), OptionError);
            continue;
        }
        if (map.kind == MapKind::Symbols) {
            checkEdits(onlyEdit(partEdit(target, EditOp::Zero)), p.points, EditUse::Inspect);
            continue;
        }
        const auto* values = &findPoint(p.points, target.values, "at");
        if (values->dimension("i") < 0 || values->dimension("j") < 0) continue;  // PrediNet
        const int i = map.rows - 1, j = map.columns > 1 ? map.columns / 2 : 0;
        const auto after = probeWith(p, onlyEdit(cellEdit(target, i, j, 0.375)));
        const auto* now = after.find(map.kind, map.layer, map.index);
        ASSERT_TRUE(now);
        EXPECT_FLOAT_EQ(now->at(i, j), 0.375F);
        // Every other cell of the same map stays, as it is computed before anything is changed.
        for (int a = 0; a < map.rows; ++a)
            for (int b = 0; b < map.columns; ++b) {
                if (map.masked(a, b) || (a == i && b == j)) continue;
                EXPECT_NEAR(now->at(a, b), map.at(a, b), 1e-5) << a << ", " << b;
            }
    }
    EXPECT_EQ(maps > 0, !p.result->maps.empty());
}

TEST_P(EveryMap, WholePartsCanBeTakenOut) {
    auto p = probed(GetParam().second);
    for (const auto& map : p.result->maps) {
        const auto target = targetOf(placeOf(p, map), p.points);
        auto list = onlyEdit(partEdit(target, EditOp::Zero));
        EXPECT_NO_THROW(checkEdits(list, p.points, EditUse::Inspect));
        EXPECT_TRUE(takesOut(list, target));
        list.edits[0].enabled = false;
        EXPECT_FALSE(takesOut(list, target));
        EXPECT_EQ(indexOf(list, partEdit(target, EditOp::Zero)), 0);
        EXPECT_EQ(indexOf(list, partEdit(target, EditOp::Mean)), -1);
        if (const auto others = othersEdit(target, EditOp::Zero)) {
            const auto rest = onlyEdit(*others);
            checkEdits(rest, p.points, EditUse::Inspect);
            EXPECT_FALSE(takesOut(rest, target));
            auto other = target;
            other.index = target.index == 0 ? 1 : 0;
            EXPECT_TRUE(takesOut(rest, other));
        }
        if (target.values.ends_with("hook_pattern") && map.kind != MapKind::Symbols)
            checkEdits(onlyEdit(uniformEdit(target)), p.points, EditUse::Inspect);
    }
}

TEST_P(EveryMap, ACutEdgeHasNoWeight) {
    auto p = probed(GetParam().second);
    for (const auto& map : p.result->maps) {
        if (map.kind != MapKind::RelationalAttention && map.kind != MapKind::SensoryAttention)
            continue;
        const auto target = targetOf(placeOf(p, map), p.points);
        if (target.scores.empty()) {
            EXPECT_THROW(edgeEdit(target, 0, 0, false), OptionError);
            continue;
        }
        const int i = map.rows - 1;
        const int j = target.firstColumn < 0 ? 1 : 0;
        const auto after = probeWith(p, onlyEdit(edgeEdit(target, i, j, false)));
        EXPECT_EQ(after.find(map.kind, map.layer, map.index)->at(i, j), 0.0F)
            << GetParam().first << " " << map.layer;
    }
}

/// A regression is solved, not attended to: it has no hook points.
std::vector<std::pair<std::string, ModelOptions>> hookedModels() {
    auto models = smallModels();
    std::erase_if(models,
                  [](const auto& entry) { return entry.first.starts_with("RobustRegression"); });
    return models;
}

INSTANTIATE_TEST_SUITE_P(Zoo, EveryMap, testing::ValuesIn(hookedModels()), [](const auto& info) {
    std::string name = info.param.first;
    for (auto& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name + "_" + std::to_string(info.index);
});

Probed dual() {
    for (const auto& [name, options] : smallModels())
        if (options.info().dual && options.info().layers(options).size() > 1)
            return probed(options);
    throw std::logic_error("the zoo has no such model");
}

TEST(MapDifference, IsZeroWhereNothingMovedAndExactWhereItDid) {
    const torch::NoGradGuard noGrad;
    auto p = dual();
    const auto* relation = p.result->find(MapKind::Relation, 0, 0);
    ASSERT_TRUE(relation);
    const auto target = targetOf(placeOf(p, *relation), p.points);
    const auto after =
        std::make_shared<const ProbeResult>(probeWith(p, onlyEdit(cellEdit(target, 2, 1, 4.0))));
    const auto difference = differenceOf(after, p.result);
    ASSERT_EQ(difference.maps.size(), p.result->maps.size());
    const auto* changed = difference.find(MapKind::Relation, 0, 0);
    for (int i = 0; i < changed->rows; ++i)
        for (int j = 0; j < changed->columns; ++j)
            EXPECT_FLOAT_EQ(changed->at(i, j), i == 2 && j == 1 ? 4.0F - relation->at(2, 1) : 0.0F);
    EXPECT_TRUE(mapMoved(*after->find(MapKind::Relation, 0, 0), *relation));
    const auto* alpha = p.result->find(MapKind::RelationalAttention, 0, 0);
    EXPECT_FALSE(mapMoved(*after->find(alpha->kind, 0, 0), *alpha));
    const auto* later = p.result->find(MapKind::Relation, 1, 0);
    ASSERT_TRUE(later);
    EXPECT_TRUE(mapMoved(*after->find(MapKind::Relation, 1, 0), *later));
}

TEST(MapEdits, StreamAndSymbolsOfOneObject) {
    auto p = dual();
    const auto target = targetOf({MapKind::Relation, p.result->layers[0].name, 0}, p.points);
    EXPECT_EQ(streamEdit(target, p.points, 3, "B").point, target.block + ".hook_resid_pre");
    const auto swap = symbolEdit(target, p.points, 1, 2);
    EXPECT_EQ(swap.op, EditOp::Swap);
    EXPECT_NO_THROW(checkEdits(onlyEdit(swap), p.points, EditUse::Inspect));
    EXPECT_THROW(targetOf({MapKind::Relation, "layer 9", 0}, p.points), OptionError);
}

}  // namespace
}  // namespace relascope
