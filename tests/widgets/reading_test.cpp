// SPDX-License-Identifier: GPL-3.0-or-later
// A text across the pane, and the search of its tokens; zooming into long maps.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QSplitter>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/inspector/find_bar.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/token_strip.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

class ReadingTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.resize(1300, 640);
        inspector.show();
        QTest::qWait(1);
    }
    void give(std::vector<std::string> pieces) {
        inspector.setResult(fixture::text(std::move(pieces)));
        QTest::qWait(1);
    }
    SourcePane* pane() const { return inspector.sourcePane(); }
    TokenStrip* strip() const { return pane()->objects()->strip(); }
    MapView* map() const { return inspector.mapPane()->map(); }
    FindBar* find() const { return pane()->find(); }
    int bottomOfText() const {
        return strip()->mapTo(&inspector, QPoint(0, strip()->height())).y();
    }
    int topOfMap() const { return map()->mapTo(&inspector, QPoint()).y(); }
    RelationInspector inspector;
};

TEST_F(ReadingTest, LongTextsAreLaidAcrossThePane) {
    give(fixture::storyPieces());
    EXPECT_FALSE(inspector.reading());
    const int narrow = strip()->width();
    give(fixture::lineOfPlay());
    EXPECT_TRUE(inspector.reading()) << "more than 100 tokens";
    EXPECT_GT(strip()->width(), 2 * narrow);
    EXPECT_LE(bottomOfText(), topOfMap());
    give(fixture::storyPieces());
    EXPECT_FALSE(inspector.reading());
    EXPECT_EQ(strip()->width(), narrow) << "as before";
}

TEST_F(ReadingTest, TheChoiceOfTheUserWins) {
    give(fixture::lineOfPlay());
    QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    QToolButton* button = inspector.bar()->reading();
    ASSERT_TRUE(button->isVisible());
    EXPECT_TRUE(button->isChecked());
    QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_FALSE(inspector.reading());
    EXPECT_EQ(inspector.view().reading, ReadingLayout::Off);
    EXPECT_EQ(changed.size(), 1) << "kept by the session";
    give(fixture::lineOfPlay());
    EXPECT_FALSE(inspector.reading());
    inspector.toggleReading();
    give(fixture::storyPieces());
    EXPECT_TRUE(inspector.reading());
    // A view from a session.
    InspectorView view = inspector.view();
    view.reading = ReadingLayout::Off;
    inspector.setView(view);
    EXPECT_FALSE(inspector.reading());
    // Images have no such layout.
    inspector.toggleReading();
    inspector.setResult(fixture::result());
    EXPECT_FALSE(inspector.reading());
    EXPECT_FALSE(button->isVisible());
}

TEST_F(ReadingTest, TheSizesOfThePanesAreKept) {
    give(fixture::storyPieces());
    inspector.restorePanes({});
    const QByteArray beside = inspector.panesState();
    inspector.toggleReading();
    EXPECT_EQ(inspector.panesState(), beside) << "what a session stores";
    inspector.toggleReading();
    EXPECT_EQ(inspector.panesState(), beside);
}

TEST_F(ReadingTest, ALowPaneGivesTheTextHalfOfItsWidth) {
    give(fixture::lineOfPlay());
    EXPECT_LE(bottomOfText(), topOfMap());
    inspector.resize(1300, 430);
    QTest::qWait(1);
    EXPECT_TRUE(inspector.reading());
    EXPECT_GT(bottomOfText(), topOfMap()) << "beside the map";
    EXPECT_GT(strip()->width(), 500);
    inspector.resize(1300, 700);
    QTest::qWait(1);
    EXPECT_LE(bottomOfText(), topOfMap());
}

TEST_F(ReadingTest, OutcomesStandBesideTheText) {
    give(fixture::lineOfPlay());
    pane()->outcome()->setNextTokens("Next token", {{1, " play", 0.4}, {2, " field", 0.1}});
    QTest::qWait(1);
    EXPECT_GE(pane()->outcome()->x(), strip()->geometry().right());
    inspector.toggleReading();
    QTest::qWait(1);
    EXPECT_GE(pane()->outcome()->y(), strip()->geometry().bottom());
    inspector.setCompact(true);
    inspector.resize(620, 960);
    inspector.toggleReading();
    QTest::qWait(1);
    EXPECT_LE(bottomOfText(), topOfMap());
    // While the outcome of the next text is computed, its place is kept.
    const int width = strip()->width();
    auto partial = std::make_shared<ProbeResult>(*fixture::text(fixture::lineOfPlay()));
    partial->partial = true;
    inspector.setResult(partial);
    pane()->outcome()->setNextTokens("Next token", {});
    QTest::qWait(1);
    EXPECT_EQ(strip()->width(), width);
    give(fixture::lineOfPlay());
    EXPECT_GT(strip()->width(), width);
}

TEST_F(ReadingTest, ClicksChooseAndThePointerShowsTheNumber) {
    give(fixture::lineOfPlay());
    QTest::mouseClick(strip()->canvas(), Qt::LeftButton, {}, strip()->tileRect(120).center());
    EXPECT_EQ(inspector.view().source, 120);
    const QRect token = strip()->tileRect(60);
    const QImage before = strip()->canvas()->grab().toImage();
    QTest::mouseMove(strip()->canvas(), token.center());
    QTest::qWait(1);
    const QImage now = strip()->canvas()->grab().toImage();
    const QPoint below(token.center().x(), token.bottom() + 4);
    EXPECT_NE(before.pixel(below), now.pixel(below)) << "the frame of the number";
}

TEST(TokenSearch, FindsWordsAcrossTokens) {
    const auto pieces = fixture::storyPieces();
    EXPECT_EQ(findTokens(pieces, "lily"), (std::vector<TokenRange>{{11, 11}, {23, 24}, {46, 46}}));
    EXPECT_EQ(findTokens(pieces, "ball."), (std::vector<TokenRange>{{17, 18}, {42, 43}}));
    EXPECT_EQ(findTokens(pieces, " a "),
              (std::vector<TokenRange>{{2, 3}, {7, 8}, {15, 16}, {37, 38}, {40, 41}}));
    EXPECT_TRUE(findTokens(pieces, "").empty());
    EXPECT_TRUE(findTokens(pieces, "zebra").empty());
    EXPECT_TRUE(findTokens({}, "a").empty());
}

TEST_F(ReadingTest, TheSearchGoesFromMatchToMatch) {
    give(fixture::storyPieces());
    EXPECT_TRUE(find()->isHidden());
    inspector.findToken();
    ASSERT_TRUE(find()->isVisible());
    QTest::keyClicks(find()->field(), "lily");
    ASSERT_EQ(find()->matches().size(), 3U);
    EXPECT_EQ(find()->current(), 0);
    QTest::keyClick(find()->field(), Qt::Key_Return);
    EXPECT_EQ(inspector.view().source, 11);
    inspector.findNext(true);
    inspector.findNext(true);
    EXPECT_EQ(find()->current(), 2);
    EXPECT_EQ(inspector.view().source, 11) << "a look is no choice";
    inspector.findNext(true);
    EXPECT_EQ(find()->current(), 0) << "from the beginning";
    inspector.findNext(false);
    QTest::keyClick(find()->field(), Qt::Key_Return);
    EXPECT_EQ(inspector.view().source, 46);
    // On the axes, too.
    const auto marked = [&](int token) {
        const QImage shot = map()->grab().toImage();
        const QRect cell = map()->cellRect(token, 0);
        return shot.pixelColor(map()->cellGeometry().area().left() - 4, cell.center().y()) ==
               Theme::current().accent;
    };
    EXPECT_TRUE(marked(23));
    EXPECT_FALSE(marked(22));
    QTest::keyClick(find()->field(), Qt::Key_Escape);
    EXPECT_TRUE(find()->isHidden());
    EXPECT_FALSE(marked(23));
    // Another text is searched for the same.
    inspector.findToken();
    EXPECT_EQ(find()->matches().size(), 3U);
    give(fixture::lineOfPlay());
    EXPECT_TRUE(find()->matches().empty());
}

TEST_F(ReadingTest, LongMapsZoomByWheelAndKeys) {
    give(fixture::lineOfPlay());
    const auto& geometry = map()->cellGeometry();
    EXPECT_FALSE(geometry.zoomed());
    map()->setFocus();
    const auto scale = [&] { return double(geometry.cell()) / geometry.block(); };
    const double whole = scale();
    for (int k = 0; k < 30 && !geometry.labelled(); ++k) QTest::keyClick(map(), Qt::Key_Plus);
    EXPECT_TRUE(geometry.zoomed());
    EXPECT_TRUE(geometry.labelled()) << "tokens on the axes when they fit";
    EXPECT_TRUE(geometry.area().intersects(map()->cellRect(map()->row(), map()->column())));
    QTest::keyClick(map(), Qt::Key_Minus);
    EXPECT_GT(scale(), whole);
    QTest::keyClick(map(), Qt::Key_0);
    EXPECT_FALSE(geometry.zoomed());
    EXPECT_DOUBLE_EQ(scale(), whole);
    // The cell at the pointer stays there.
    const QPoint at = geometry.map().center();
    QPoint before;
    for (int k = 0; k < 9; ++k) {
        if (k == 5) before = geometry.cellAt(at);  // from here on larger than the widget
        QWheelEvent wheel(at, map()->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, {},
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(map(), &wheel);
    }
    EXPECT_LE((geometry.cellAt(at) - before).manhattanLength(), 3);
    QTest::mouseDClick(map(), Qt::LeftButton, {}, at);
    EXPECT_FALSE(geometry.zoomed());
}

}  // namespace
}  // namespace relascope
