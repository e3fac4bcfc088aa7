// SPDX-License-Identifier: GPL-3.0-or-later
// Objects as tiles, and the words for what stands along the sides of a map.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <limits>

#include "sequence_fixture.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/source/axis_objects.h"
#include "widgets/source/input_chooser.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST(Sides, NamesAndLabels) {
    const auto two = fixture::seq2seq();
    EXPECT_EQ(objectName(*two, 1, 3), "target 3 '7'");
    EXPECT_EQ(objectName(*two, 0, 0), "source 0 'x'");
    EXPECT_EQ(objectName(*two, 1, 1), "target 1 '1'") << "a token is named though it is its number";
    EXPECT_EQ(objectLabel(*two, 1, 4), QString(QChar(0x2423))) << "a space can be seen";
    EXPECT_EQ(sideSize(*two, 1), 7);
    EXPECT_EQ(layerName(*two, 2), "decoder 1 cross");
    EXPECT_EQ(layerName(*two, 9), "layer 10");
    const auto heads = fixture::prediNet();
    EXPECT_EQ(objectName(*heads, 1, 1), "E2");
    EXPECT_EQ(objectName(*heads, 0, 4), "patch (1, 1)");
    EXPECT_FALSE(isPatchSide(*heads, 1));
    const auto set = fixture::coRelNet();
    EXPECT_EQ(objectName(*set, 0, 2), "object 2");
    EXPECT_EQ(sideTiles(*set, 0).width, 8);
    EXPECT_EQ(sideTiles(*set, 0).size(), 6);
    auto numbered = *set;
    numbered.sides[0].labels = {"1", "2", "3", "4", "5", "6"};
    EXPECT_EQ(objectName(numbered, 0, 2), "object 3") << "the number is its name";
    auto both = *two;
    both.sides.push_back({"encoder and abstractor", {"x", "abs x"}});
    EXPECT_EQ(objectName(both, 2, 1), "context 1 'abs x'");
}

class TileTest : public testing::Test {
protected:
    void SetUp() override {
        view.resize(260, 240);
        view.show();
        QTest::qWait(1);
    }
    ColorScale scale() const { return {ColorScale::Kind::Signed, {-1, 1}, Theme::current()}; }
    QRgb fillOf(int index, bool sender = true) {
        const QRect tile = view.tileRect(index, sender);
        return view.canvas()->grab().toImage().pixel(tile.left() + 4, tile.top() + 4);
    }
    void click(int index, bool sender = true, Qt::KeyboardModifiers keys = {}) {
        QTest::mouseClick(view.canvas(), Qt::LeftButton, keys,
                          view.tileRect(index, sender).center());
    }
    TileView view;
};

TEST_F(TileTest, TilesWearTheColoursOfTheMap) {
    const auto r = fixture::seq2seq();
    view.setObjects(sideTiles(*r, 0));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    view.setValues({0.1F, -0.75F, 0.5F, nan, 0}, {false, false, false, false, true}, scale());
    view.setSource(0);
    EXPECT_EQ(fillOf(1), scale().rgb(-0.75F));
    EXPECT_EQ(fillOf(2), scale().rgb(0.5F));
    EXPECT_NE(fillOf(0), scale().rgb(0.1F)) << "i itself is not tinted";
    const QImage shot = view.canvas()->grab().toImage();
    const auto has = [&](int index, const QColor& color) {
        const QRect tile = view.tileRect(index);
        for (int y = tile.top(); y <= tile.bottom(); ++y)
            for (int x = tile.left(); x <= tile.right(); ++x)
                if (shot.pixel(x, y) == color.rgb()) return true;
        return false;
    };
    const Theme& t = Theme::current();
    EXPECT_TRUE(has(0, t.outline));
    EXPECT_FALSE(has(1, t.outline));
    EXPECT_TRUE(has(4, t.hatchFill)) << "a masked one is hatched";
    EXPECT_TRUE(has(3, t.errorFill)) << "NaN is an error";
}

TEST_F(TileTest, ClickHoverAndShiftClick) {
    view.setObjects(sideTiles(*fixture::seq2seq(), 1));
    view.setValues(std::vector<float>(7, 0.25F), {}, scale());
    QSignalSpy hovered(&view, &TileView::hovered);
    QSignalSpy source(&view, &TileView::sourceChosen);
    QSignalSpy target(&view, &TileView::targetChosen);
    QTest::mouseMove(view.canvas(), view.tileRect(5).center());
    EXPECT_EQ(hovered.last()[0].toInt(), 5);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(view.canvas(), &leave);
    EXPECT_EQ(hovered.last()[0].toInt(), -1);
    click(3);
    EXPECT_EQ(source.last()[0].toInt(), 3);
    click(6, true, Qt::ShiftModifier);
    EXPECT_EQ(target.last()[0].toInt(), 6);
    EXPECT_EQ(view.source(), 3);
    EXPECT_EQ(view.accessibleDescription(), "i is target 3 '7', j is target 6 '<b>', value +0.25");
}

TEST_F(TileTest, TwoGroupsChooseOneEach) {
    const auto r = fixture::seq2seq();
    fillTiles(view, *r, 1, 0);
    view.setValues({0.9F, 0, 0, 0, -0.9F}, {}, scale());
    EXPECT_EQ(view.rows(), 7);
    EXPECT_EQ(view.columns(), 5);
    EXPECT_LT(view.tileRect(0, false).bottom(), view.tileRect(0, true).top());
    QSignalSpy rows(&view, &TileView::rowHovered);
    QSignalSpy columns(&view, &TileView::hovered);
    QSignalSpy source(&view, &TileView::sourceChosen);
    QSignalSpy target(&view, &TileView::targetChosen);
    QTest::mouseMove(view.canvas(), view.tileRect(2, false).center());
    EXPECT_EQ(rows.last()[0].toInt(), 2);
    EXPECT_TRUE(columns.isEmpty());
    QTest::mouseMove(view.canvas(), view.tileRect(4, true).center());
    EXPECT_EQ(rows.last()[0].toInt(), -1);
    EXPECT_EQ(columns.last()[0].toInt(), 4);
    click(6, false);
    EXPECT_EQ(source.last()[0].toInt(), 6);
    click(1, true);
    EXPECT_EQ(target.last()[0].toInt(), 1) << "a sender is a target, without Shift too";
    EXPECT_EQ(source.size(), 1);
    EXPECT_EQ(fillOf(0, true), scale().rgb(0.9F));
    EXPECT_EQ(fillOf(0, false), Theme::current().alt.rgb()) << "receivers are not tinted";
}

TEST_F(TileTest, KeysWalkThroughAThousandTiles) {
    view.setObjects(sideTiles(*fixture::language(1024), 0));
    EXPECT_GT(view.verticalScrollBar()->maximum(), 0);
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_End);
    EXPECT_EQ(view.source(), 1023);
    EXPECT_TRUE(view.canvas()->rect().contains(view.tileRect(1023).center())) << "scrolled to";
    const int row = view.tileRect(1023).top();
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_LT(view.tileRect(view.source()).top(), row);
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Home);
    EXPECT_EQ(view.source(), 0);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(view.source(), 0);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_EQ(view.target(), 1);
    EXPECT_EQ(view.source(), 0);
    // Every tile is found where it is drawn, across the whole text.
    for (const int k : {0, 17, 511, 512, 1000, 1023}) {
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->value() +
                                           view.tileRect(k).top() - 40);
        click(k);
        EXPECT_EQ(view.source(), k);
    }
}

TEST_F(TileTest, VectorsAreDrawnAsBars) {
    view.setObjects({{}, {"up", "down", "i"}, {"a", "b", "c"}, {1, 2, -1, -2, 0, 0}, 2});
    view.setSource(2);
    const auto inkRows = [&](int index) {
        // Ink above and below the middle of the tile's picture.
        const QRect tile = view.tileRect(index).adjusted(4, 17, -4, -18);
        const QImage shot = view.canvas()->grab().toImage();
        int above = 0, below = 0;
        for (int y = tile.top(); y <= tile.bottom(); ++y)
            for (int x = tile.left(); x <= tile.right(); ++x)
                if (qGray(shot.pixel(x, y)) < 60) (y < tile.center().y() ? above : below) += 1;
        return std::pair(above, below);
    };
    EXPECT_GT(inkRows(0).first, 4 * inkRows(0).second);
    EXPECT_GT(inkRows(1).second, 4 * inkRows(1).first);
    view.setObjects({});
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_FALSE(view.grab().isNull());
    EXPECT_EQ(view.accessibleDescription(), "no objects");
}

TEST(TokenWords, AreRefusedWithTheirBounds) {
    QString problem;
    EXPECT_EQ(parseTokens("4, 17\t2", 18, 3, &problem), (std::vector<qint64>{4, 17, 2}));
    EXPECT_FALSE(parseTokens("4 seven", 18, 0, &problem));
    EXPECT_EQ(problem, "'seven' is not an integer.");
    EXPECT_FALSE(parseTokens("18", 18, 0, &problem));
    EXPECT_EQ(problem, "18 is not a token id: ids range from 0 to 17.");
    EXPECT_FALSE(parseTokens("-1", 18, 0, &problem));
    EXPECT_FALSE(parseTokens("1 2 3 4", 18, 3, &problem));
    EXPECT_EQ(problem, "4 tokens are too many: the model accepts at most 3.");
    EXPECT_FALSE(parseTokens(" ", 18, 3, &problem));
}

TEST(InputChooserTest, OffersWhatTheModelTakes) {
    InputChooser chooser;
    chooser.resize(240, 120);
    chooser.show();
    InputOffer offer{InputOffer::Kind::Tokens, 4, 20, 6, 9, 5};
    chooser.setOffer(offer);
    std::vector<std::vector<Option>> chosen;
    QObject::connect(&chooser, &InputChooser::chosen,
                     [&](const std::vector<Option>& input) { chosen.push_back(input); });
    const auto last = [&](const char* name, std::int64_t number) {
        return !chosen.empty() && chosen.back() == std::vector<Option>{{name, number}};
    };
    ASSERT_TRUE(chooser.targetField()->isVisible());
    EXPECT_FALSE(child<QPushButton>(chooser, QString::fromUtf8("Choose an image…"))->isVisible());
    EXPECT_EQ(chooser.kinds()->current(), 0) << "what was computed before can be compared";
    chooser.showReference(3);
    chooser.next();
    EXPECT_TRUE(chosen.empty()) << "there are four, 1 to 4";
    chooser.previous();
    EXPECT_TRUE(last("reference", 3));
    QTest::mouseClick(chooser.kinds()->button(1), Qt::LeftButton);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen.back().front().name, "random");
    chooser.number()->setFocus();
    chooser.number()->selectAll();
    QTest::keyClicks(chooser.number(), "77\r");
    EXPECT_TRUE(last("random", 77));
    chooser.showTokens({1, 2}, {3});
    QTest::keyClick(chooser.sourceField(), Qt::Key_Return);
    using Ids = std::vector<std::int64_t>;
    const std::vector<Option> typed = {{"tokens", Ids{1, 2}}, {"target", Ids{3}}};
    ASSERT_EQ(chosen.back(), typed);
    const auto before = chosen.size();
    chooser.targetField()->setFocus();
    QTest::keyClicks(chooser.targetField(), " 9\r");
    EXPECT_EQ(chosen.size(), before) << "the target has ids 0 to 8";
    EXPECT_TRUE(chooser.problem().contains("0 to 8")) << chooser.problem().toStdString();
    QTest::keyClick(chooser.targetField(), Qt::Key_Backspace);
    EXPECT_EQ(chooser.problem(), "");

    chooser.setOffer({InputOffer::Kind::Images, 0});
    EXPECT_FALSE(chooser.kinds()->isItemEnabled(0));
    EXPECT_EQ(chooser.kinds()->current(), 1);
    EXPECT_FALSE(chooser.sourceField()->isVisible());
    chooser.showInput({{}, {}, {{"image", std::string("cat.png")}}}, {});
    EXPECT_EQ(chooser.kinds()->current(), -1) << "a picture is neither of both";
    QTest::mouseClick(chooser.kinds()->button(1), Qt::LeftButton);
    EXPECT_EQ(chosen.back().front().name, "random");
    QSignalSpy image(&chooser, &InputChooser::imageRequested);
    QTest::mouseClick(child<QPushButton>(chooser, QString::fromUtf8("Choose an image…")),
                      Qt::LeftButton);
    EXPECT_EQ(image.size(), 1);
}

}  // namespace
}  // namespace relascope
