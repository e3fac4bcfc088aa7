// SPDX-License-Identifier: GPL-3.0-or-later
// Two models in one inspector: texts in other tokens, kinds that one of them lacks, and maps that
// are freed or matched.
#include <gtest/gtest.h>

#include <QTest>

#include "probe_fixture.h"
#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

class ComparedModels : public testing::Test {
protected:
    void SetUp() override {
        inspector.setThree();
        inspector.resize(1300, 560);
        inspector.show();
    }
    void show(const std::shared_ptr<const ProbeResult>& a,
              const std::shared_ptr<const ProbeResult>& b, bool sameTokens = true) {
        Inspected both;
        both.result = b;
        both.pinned = {a, "model a"};
        if (!sameTokens)
            both.pinned.tokens = std::make_shared<const TextAlignment>(
                alignTexts(a->sample.source.labels, b->sample.source.labels));
        inspector.setInspected(both);
        auto view = inspector.view();
        view.beside = true;
        inspector.setView(view);
    }
    MapPane* pane() { return inspector.mapPane(); }
    RelationInspector inspector;
};

TEST_F(ComparedModels, TextsInOtherTokensHaveOneCursorAndNoDifference) {
    const auto a = fixture::text({"the", " cat", " sat"}, 2, 3, 1),
               b = fixture::text({"t", "he", " c", "at", " sat"}, 2, 3, 1);
    show(a, b, false);
    EXPECT_TRUE(pane()->other()->isVisible());
    EXPECT_FALSE(pane()->change()->isVisible());
    EXPECT_FALSE(inspector.bar()->shown()->isItemEnabled(2)) << "there is no B - A";
    EXPECT_EQ(pane()->other()->values().rows, 3);
    EXPECT_EQ(pane()->map()->values().rows, 5);
    // A cell of B stands for that of A with the same last characters, and the other way round.
    auto view = inspector.view();
    view.source = 3, view.target = 1;
    inspector.setView(view);
    EXPECT_EQ(pane()->other()->row(), 1);
    EXPECT_EQ(pane()->other()->column(), 0);
    Q_EMIT pane()->other()->chosen(2, 1);
    EXPECT_EQ(inspector.view().source, 4);
    EXPECT_EQ(inspector.view().target, 3);
    const auto footer = inspector.choice().footer();
    EXPECT_TRUE(footer.startsWith("B: ")) << footer.toStdString();
    EXPECT_TRUE(footer.contains("A: ")) << footer.toStdString();
    // A alone is shown with its own tokens.
    Q_EMIT inspector.bar()->shown()->changed(1);
    EXPECT_EQ(inspector.view().shown, Shown::Before);
    EXPECT_EQ(inspector.view().source, 2);
    EXPECT_EQ(inspector.sourcePane()->objects()->strip()->size(), 3);
    Q_EMIT inspector.bar()->shown()->changed(2);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    EXPECT_EQ(inspector.view().source, 4);
    EXPECT_EQ(inspector.sourcePane()->objects()->strip()->size(), 5);
}

TEST_F(ComparedModels, AHasNoSecondABesideIt) {
    const auto a = fixture::result();
    show(a, a);
    EXPECT_TRUE(pane()->other()->isVisible());
    Q_EMIT inspector.bar()->shown()->changed(1);
    EXPECT_EQ(inspector.view().shown, Shown::Before);
    EXPECT_FALSE(pane()->other()->isVisible());
    Q_EMIT inspector.bar()->shown()->changed(0);
    EXPECT_TRUE(pane()->other()->isVisible());
}

TEST_F(ComparedModels, ATokenBehindTheEndOfAHasNoCellThere) {
    const auto a = fixture::text({"the", " cat"}, 2, 3, 1),
               b = fixture::text({"t", "he", " c", "at", " sat", " on"}, 2, 3, 1);
    show(a, b, false);
    auto view = inspector.view();
    view.source = 3, view.target = 1;
    inspector.setView(view);
    EXPECT_EQ(pane()->other()->row(), 1);
    EXPECT_EQ(pane()->other()->column(), 0);
    Q_EMIT pane()->map()->hovered(5, 4);
    EXPECT_EQ(pane()->other()->row(), -1);
    EXPECT_EQ(pane()->other()->column(), -1);
    Q_EMIT pane()->map()->hovered(5, 1);
    EXPECT_EQ(pane()->other()->row(), -1);
    EXPECT_EQ(pane()->other()->column(), 0);
    Q_EMIT pane()->map()->hovered(-1, -1);
    EXPECT_EQ(pane()->other()->row(), 1);
    EXPECT_EQ(pane()->other()->column(), 0);
}

TEST_F(ComparedModels, OfAHeadThatAHasNotThereIsNoDifference) {
    const auto a = fixture::result({.relational = 1}), b = fixture::result({.relational = 2});
    show(a, b);
    auto view = inspector.view();
    view.kind = MapKind::AttentionTimesRelation, view.index = 1, view.head = 0;
    inspector.setView(view);
    auto* shown = inspector.bar()->shown();
    EXPECT_TRUE(shown->isItemEnabled(2));
    view.head = 1;
    inspector.setView(view);
    EXPECT_EQ(inspector.view().head, 1);
    EXPECT_FALSE(shown->isItemEnabled(2));
    EXPECT_TRUE(pane()->change()->values().empty());
    view.kind = MapKind::Relation;
    inspector.setView(view);
    EXPECT_TRUE(shown->isItemEnabled(2)) << "both have that relation";
}

TEST_F(ComparedModels, OfOtherTokensACellOfAAloneIsItsOwn) {
    const auto a = fixture::text({"the", " cat", " sat"}, 2, 3, 1),
               b = fixture::text({"t", "he", " c", "at", " sat"}, 2, 3, 1);
    show(a, b, false);
    Q_EMIT inspector.bar()->shown()->changed(1);
    ASSERT_EQ(inspector.view().shown, Shown::Before);
    Q_EMIT pane()->map()->chosen(2, 1);
    EXPECT_EQ(inspector.view().source, 2);
    EXPECT_EQ(inspector.view().target, 1);
    EXPECT_EQ(pane()->map()->row(), 2);
    const auto footer = inspector.choice().footer();
    EXPECT_TRUE(footer.contains("sat")) << footer.toStdString();
}

TEST_F(ComparedModels, ALayerThatAHasNotHasNoDifference) {
    const auto a = fixture::result({.layers = 2}), b = fixture::result({.layers = 4});
    show(a, b);
    auto* shown = inspector.bar()->shown();
    EXPECT_TRUE(shown->isItemEnabled(2));
    Q_EMIT shown->changed(2);
    ASSERT_EQ(inspector.view().shown, Shown::Difference);
    inspector.stepLayer(-1);
    EXPECT_EQ(inspector.view().shown, Shown::Difference);
    inspector.stepLayer(1);
    EXPECT_EQ(inspector.view().shown, Shown::Difference);
    inspector.stepLayer(1);
    EXPECT_EQ(inspector.view().layer, 2);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    EXPECT_FALSE(shown->isItemEnabled(2));
    Q_EMIT shown->changed(2);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    auto view = inspector.view();
    view.shown = Shown::Difference;
    inspector.setView(view);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    inspector.stepLayer(-1);
    EXPECT_TRUE(shown->isItemEnabled(2));
}

TEST_F(ComparedModels, WhetherTheyAreLinkedIsKeptUntilThereAreMaps) {
    inspector.setLinked(false);
    const auto result = fixture::result();
    show(result, result);
    ASSERT_TRUE(inspector.choice().freed());
    inspector.stepLayer(1);
    EXPECT_EQ(inspector.choice().otherView().layer, 0);
    // A matched map is shown beside, and the cell stays.
    Q_EMIT pane()->other()->chosen(1, 0);
    inspector.setPartner(MapId{MapKind::Relation, 1, 3}, ", correlation +0.50");
    EXPECT_EQ(inspector.choice().otherView().index, 3);
    EXPECT_EQ(pane()->other()->row(), 1);
    EXPECT_TRUE(inspector.choice().freed());
    EXPECT_TRUE(inspector.choice().apartNote().contains("0.50"));
    inspector.stepLayer(-1);
    EXPECT_EQ(inspector.choice().otherView().index, 3);
    EXPECT_EQ(inspector.choice().apartNote(), "") << "it was of the other map of B";
    inspector.setLinked(true);
    EXPECT_FALSE(inspector.choice().freed());
}

TEST_F(ComparedModels, MapsOfTwoKindsHaveScalesOfTheirOwnAndNoDifference) {
    const auto result = fixture::result();
    show(result, result);
    ASSERT_TRUE(pane()->change()->isVisible());
    const auto relation = pane()->map()->scale().limits();
    inspector.setLinked(false);
    auto view = inspector.view();
    view.kind = MapKind::RelationalAttention;
    inspector.setView(view);
    EXPECT_EQ(inspector.choice().otherView().kind, MapKind::Relation);
    EXPECT_FALSE(pane()->change()->isVisible());
    EXPECT_EQ(pane()->other()->scale().limits(), relation);
    EXPECT_GE(pane()->map()->scale().limits().low, 0.0F) << "attention, not that of both";
    inspector.setLinked(true);
    EXPECT_TRUE(pane()->change()->isVisible());
}

TEST_F(ComparedModels, KindsOfOneAloneAreShownWithTheReason) {
    const auto relational = fixture::result(),
               plain =
                   fixture::result({.layers = 2, .relations = 0, .relational = 0, .sensory = 2});
    show(relational, plain);
    auto* kinds = inspector.bar()->kinds();
    ASSERT_EQ(inspector.view().kind, MapKind::SensoryAttention);
    EXPECT_TRUE(kinds->isItemEnabled(0));
    EXPECT_TRUE(kinds->button(0)->toolTip().startsWith("Of A alone"));
    EXPECT_TRUE(kinds->button(2)->toolTip().startsWith("Of B alone"));
    EXPECT_FALSE(kinds->isItemEnabled(4)) << "neither has symbols";
    inspector.setKindByNumber(1);
    EXPECT_EQ(inspector.view().kind, MapKind::Relation);
    EXPECT_EQ(inspector.view().shown, Shown::Before);
    EXPECT_FALSE(pane()->other()->isVisible());
    EXPECT_EQ(pane()->map()->values().at(2, 1),
              relational->find(MapKind::Relation, 0, 0)->at(2, 1));
    // B has maps of another kind.
    Q_EMIT inspector.bar()->shown()->changed(0);
    EXPECT_EQ(inspector.view().kind, MapKind::SensoryAttention);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    inspector.setKindByNumber(1);
    EXPECT_EQ(inspector.view().shown, Shown::Before);
    inspector.setKindByNumber(3);
    EXPECT_EQ(inspector.view().kind, MapKind::SensoryAttention);
    EXPECT_EQ(inspector.view().shown, Shown::After);
    EXPECT_TRUE(pane()->other()->isVisible());
    EXPECT_TRUE(pane()->other()->values().empty()) << "A has no such map, and says so";
    show(plain, relational);
    inspector.setKindByNumber(1);
    const auto footer = inspector.choice().footer();
    EXPECT_TRUE(footer.contains(QString::fromUtf8("r = none → "))) << footer.toStdString();
    EXPECT_FALSE(footer.contains("NaN")) << footer.toStdString();
}

TEST_F(ComparedModels, FreedTheyAreChosenApart) {
    const auto result = fixture::result();
    show(result, result);
    auto* other = pane()->other();
    auto view = inspector.view();
    view.source = 2, view.target = 3;
    inspector.setView(view);
    inspector.setLinked(false);
    inspector.stepRelation(1);
    inspector.stepLayer(1);
    view = inspector.view();
    EXPECT_EQ(view.index, 1);
    view.source = 5, view.target = 6;
    inspector.setView(view);
    EXPECT_EQ(other->row(), 2);
    EXPECT_EQ(other->column(), 3);
    EXPECT_EQ(other->values().at(2, 3), result->find(MapKind::Relation, 0, 0)->at(2, 3));
    EXPECT_EQ(pane()->map()->values().at(2, 3), result->find(MapKind::Relation, 1, 1)->at(2, 3));
    // A click on A's map is its own.
    Q_EMIT other->chosen(1, 0);
    EXPECT_EQ(other->row(), 1);
    EXPECT_EQ(inspector.view().source, 5);
    // It stays with another input.
    show(result, result);
    EXPECT_EQ(other->row(), 1);
    inspector.setLinked(true);
    EXPECT_EQ(other->row(), inspector.view().source);
    EXPECT_EQ(other->values().at(2, 3), result->find(MapKind::Relation, 1, 1)->at(2, 3));
}

TEST_F(ComparedModels, AMatchedMapStaysUntilAnotherIsShown) {
    const auto result = fixture::result();
    show(result, result);
    auto* other = pane()->other();
    inspector.setPartner(MapId{MapKind::Relation, 1, 3}, ", correlation +0.50");
    EXPECT_EQ(other->values().at(2, 3), result->find(MapKind::Relation, 1, 3)->at(2, 3));
    EXPECT_TRUE(inspector.choice().apartNote().contains("0.50"));
    // The cell is one.
    auto view = inspector.view();
    view.source = 4;
    inspector.setView(view);
    EXPECT_EQ(other->row(), 4);
    show(result, result);
    EXPECT_TRUE(inspector.choice().apart()) << "another input";
    inspector.stepLayer(1);
    EXPECT_FALSE(inspector.choice().apart());
    EXPECT_EQ(other->values().at(2, 3), result->find(MapKind::Relation, 1, 0)->at(2, 3));
}

}  // namespace
}  // namespace relascope
