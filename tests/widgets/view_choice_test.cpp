// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the inspector without widgets: which view is shown for a request, and the layout of
// tiles.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QSignalSpy>
#include <QSpinBox>

#include "probe_fixture.h"
#include "support/rooms.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_options.h"
#include "widgets/source/tile_view.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

TEST(ViewChoice, StartsAtTheFirstPatchUnlessAViewWasChosen) {
    ViewChoice choice;
    EXPECT_TRUE(choice.empty());
    choice.setResult(fixture::result());
    EXPECT_EQ(choice.view().source, 1) << "the class token says less";
    EXPECT_EQ(choice.view().target, 2);

    ViewChoice restored;
    InspectorView view;
    view.layer = 7;
    view.source = 3;
    restored.setView(view);
    EXPECT_EQ(restored.view().layer, 7) << "kept until there are maps";
    restored.setResult(fixture::result());
    EXPECT_EQ(restored.view().layer, 1);
    EXPECT_EQ(restored.view().source, 3);
}

TEST(ViewChoice, WishesStayWithinTheMaps) {
    ViewChoice choice;
    choice.setResult(fixture::result());
    EXPECT_EQ(choice.granted(choice.stepped(&InspectorView::index, -1)), choice.view());
    choice.setView(choice.granted(choice.stepped(&InspectorView::index, 5)));
    EXPECT_EQ(choice.view().index, 5);
    EXPECT_FALSE(choice.ofKind(0));
    EXPECT_FALSE(choice.ofKind(6));

    const auto attention = choice.ofKind(1 + static_cast<int>(MapKind::RelationalAttention));
    ASSERT_TRUE(attention);
    choice.setView(choice.granted(*attention));
    EXPECT_EQ(choice.view().index, 0) << "no head was chosen yet";
    const auto relation = choice.ofKind(1 + static_cast<int>(MapKind::Relation));
    choice.setView(choice.granted(*relation));
    EXPECT_EQ(choice.view().kind, MapKind::Relation);
    EXPECT_EQ(choice.view().index, 5) << "back to the map that was left";
    choice.setView(choice.granted(choice.ofMap(MapKind::Relation, 6)));
    EXPECT_EQ(choice.view().index, 6);
}

TEST(ViewChoice, ThePointerShowsAnotherCell) {
    ViewChoice choice;
    choice.setResult(fixture::result());
    EXPECT_TRUE(choice.point(4, -1));
    EXPECT_FALSE(choice.point(4, -1));
    EXPECT_EQ(choice.row(), 4);
    EXPECT_EQ(choice.column(), choice.view().target) << "only the row is pointed at";
    choice.point(-1, -1);
    EXPECT_FALSE(choice.pointing());
    EXPECT_EQ(choice.row(), choice.view().source);
}

TEST(Tiles, RowsWrapAndKeysWalk) {
    TileGroup group;
    for (int k = 0; k < 30; ++k) {
        group.texts << QStringLiteral("word %1").arg(k);
        group.names << group.texts.back();
    }
    std::vector<TileSection> sections{TileSection{group}};
    const int height = layOutSections(sections, {260, 240}, 12);
    const auto& places = sections.front().places;
    ASSERT_EQ(places.size(), 30U);
    EXPECT_GT(places[29].top(), places[0].top());
    EXPECT_LE(places[29].bottom(), height);
    for (const QRect& place : places) EXPECT_LE(place.right(), 260 - 12);
    EXPECT_EQ(movedInRows(places, 0, Qt::Key_Left), 0);
    EXPECT_EQ(movedInRows(places, 3, Qt::Key_End), 29);
    EXPECT_EQ(movedInRows({}, 0, Qt::Key_End), -1);
    const int below = movedInRows(places, 0, Qt::Key_Down);
    const int row = places[static_cast<std::size_t>(below)].top();
    EXPECT_GT(row, places[0].top());
    EXPECT_EQ(movedInRows(places, below, Qt::Key_Up), 0);
    EXPECT_EQ(sections.front().from(row)->top(), row);
}

TEST(Tiles, ReceiversAndSendersAreParts) {
    TileView view;
    view.resize(260, 240);
    view.setSides({"from", {"a"}, {"a"}}, {"to", {"b", "c"}, {"b", "c"}});
    EXPECT_EQ(view.rows(), 1);
    EXPECT_EQ(view.columns(), 2);
    EXPECT_GT(view.tileRect(0, true).top(), view.tileRect(0, false).bottom());
    EXPECT_EQ(view.tileAt(view.tileRect(1, true).center()), 2) << "numbered through both";
    EXPECT_EQ(view.tileAt({-5, -5}), -1);
    EXPECT_TRUE(view.tileRect(2, true).isEmpty());
}

TEST(SampleChooser, SplitsBoundTheNumberAndLabelsTheSteps) {
    SampleChooser chooser;
    EXPECT_TRUE(chooser.empty());
    chooser.setSplits({"train", "validation"}, {100, 10});
    chooser.setSample("validation", 50);
    EXPECT_EQ(chooser.index(), 9) << "the last one";
    QSignalSpy asked(&chooser, &SampleChooser::sampleRequested);
    QSignalSpy byLabel(&chooser, &SampleChooser::labelRequested);
    chooser.previous();
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][1].toLongLong(), 8);

    chooser.offerLabels({"cat", "dog"});
    EXPECT_TRUE(chooser.hasLabels());
    chooser.setLabels({"0", "1", "2"});
    chooser.offerLabels({"cat", "dog"});
    chooser.setLabelFilter(2);
    EXPECT_EQ(chooser.labelFilter(), 2) << "labels that were given stay";
    chooser.next();
    ASSERT_EQ(byLabel.size(), 1);
    EXPECT_EQ(byLabel[0][1].toInt(), 2);
    EXPECT_TRUE(byLabel[0][2].toBool());
    chooser.setLabelFilter(3);
    EXPECT_EQ(chooser.labelFilter(), -1);
}

TEST(ViewOptions, GiveTheViewAgain) {
    InspectorView view;
    view.layer = 1, view.index = 2, view.source = 5, view.target = 3;
    std::vector<InspectorView> views = {view};
    for (int form = 0; form <= static_cast<int>(Processing::Sign); ++form)
        views.push_back(view.with(&InspectorView::processing, form));
    for (int range = 0; range <= static_cast<int>(Range::Fixed); ++range)
        views.push_back(view.with(&InspectorView::range, range));
    for (int shown = 0; shown <= static_cast<int>(Shown::Difference); ++shown)
        views.push_back(view.with(&InspectorView::shown, shown));
    for (int kind = 0; kind <= static_cast<int>(MapKind::Symbols); ++kind)
        views.push_back(view.with(&InspectorView::kind, kind));
    views.push_back(view.with(&InspectorView::kind, MapKind::AttentionTimesRelation)
                        .with(&InspectorView::head, 1));
    views.push_back(
        view.with(&InspectorView::processing, Processing::TopK).with(&InspectorView::topK, 9));
    views.push_back(view.with(&InspectorView::robust, false));
    views.push_back(view.with(&InspectorView::paper, true));
    views.push_back(view.with(&InspectorView::reversed, true));
    for (const auto& one : views) {
        View options;
        addViewOptions(options, one, FigurePart::Map);
        EXPECT_EQ(inspectorViewOf(options), one);
    }
    for (int order = 0; order < kMapOrders; ++order) {
        const auto one = view.with(&InspectorView::order, order);
        View options;
        addViewOptions(options, one, FigurePart::SmallMaps);
        EXPECT_EQ(inspectorViewOf(options), one);
    }
    for (const FigureParts parts :
         {FigureParts(FigurePart::Source), FigureParts(FigurePart::Map),
          FigureParts(FigurePart::SmallMaps), FigurePart::Source | FigurePart::Map}) {
        View options;
        addViewOptions(options, view, parts);
        MapLook look;
        if (const auto* named = options.option("parts"))
            look.parts = std::get<std::vector<std::string>>(*named);
        EXPECT_EQ(partsOf(look), parts);
    }
}

}  // namespace
}  // namespace relascope
