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

TEST(TileLayout, RowsWrapAndKeysWalk) {
    TileGroup group;
    for (int k = 0; k < 30; ++k) {
        group.texts << QStringLiteral("word %1").arg(k);
        group.names << group.texts.back();
    }
    TileLayout layout;
    ASSERT_TRUE(layout.take({TileSection{group}}));
    EXPECT_FALSE(layout.take({TileSection{group}})) << "they are there already";
    layout.layOut({260, 240}, 12);
    const TileSection& section = layout.sections().front();
    EXPECT_EQ(layout.count(true), 30);
    EXPECT_GT(layout.rect(true, 29).top(), layout.rect(true, 0).top());
    for (int k = 0; k < 30; ++k) {
        EXPECT_LE(layout.rect(true, k).right(), 260 - 12);
        EXPECT_EQ(layout.placeAt(layout.rect(true, k).center()).index, k);
    }
    EXPECT_EQ(layout.placeAt({-5, -5}), TileLayout::Place());
    EXPECT_EQ(section.moved(0, Qt::Key_Left), 0);
    EXPECT_EQ(section.moved(3, Qt::Key_End), 29);
    const int below = section.moved(0, Qt::Key_Down);
    EXPECT_GT(layout.rect(true, below).top(), layout.rect(true, 0).top());
    EXPECT_EQ(section.moved(below, Qt::Key_Up), 0);
    EXPECT_EQ(section.from(layout.rect(true, below).top())->top(), layout.rect(true, below).top());
}

TEST(TileLayout, ReceiversAndSendersAreParts) {
    TileLayout layout;
    layout.take({{{"from", {"a"}, {"a"}}, true, false}, {{"to", {"b", "c"}, {"b", "c"}}, false}});
    EXPECT_EQ(layout.count(false), 1);
    EXPECT_EQ(layout.count(true), 2);
    EXPECT_FALSE(layout.part(false)->numbered()) << "only what sends has a value";
    layout.layOut({260, 240}, 0);
    EXPECT_GT(layout.rect(true, 0).top(), layout.rect(false, 0).bottom());
    EXPECT_TRUE(layout.rect(true, 2).isEmpty());
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

}  // namespace
}  // namespace relascope
