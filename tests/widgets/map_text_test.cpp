// SPDX-License-Identifier: GPL-3.0-or-later
// Maps over a text: words or numbers on the axes, chips at i and j, hatched masks, many layers.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/axis_objects.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

class MapTextTest : public testing::Test {
protected:
    void fill(const std::vector<std::string>& pieces, QSize size = {360, 360}) {
        result = fixture::text(pieces, 1, 1, 1);
        const auto n = static_cast<int>(pieces.size());
        view.resize(size);
        view.show();
        view.setScale(ColorScale(ColorScale::Kind::Signed, {-2, 2}, Theme::current()));
        view.setTokens(sideTokens(*result, 0, n), sideTokens(*result, 0, n));
        view.setValues(processed(result->maps[0], Processing::Raw));
        QTest::qWait(1);
    }
    /// The smallest box around all pixels of that colour within an area.
    static QRect inkIn(const QImage& image, const QRect& area, const QColor& color) {
        QRect box;
        for (int y = area.top(); y <= area.bottom(); ++y)
            for (int x = area.left(); x <= area.right(); ++x)
                if (image.rect().contains(x, y) && image.pixel(x, y) == color.rgb())
                    box |= QRect(x, y, 1, 1);
        return box;
    }
    QRect left() const {
        return {0, view.cellRect(0, 0).top(), view.cellRect(0, 0).left() - 6, 340};
    }
    QRect above() const {
        return {view.cellRect(0, 0).left(), 0, 320, view.cellRect(0, 0).top() - 6};
    }
    std::shared_ptr<ProbeResult> result;
    MapView view;
};

TEST_F(MapTextTest, LargeCellsCarryTheirWords) {
    fill({"An", " elephant", " sat", " on", " a", "\n", " computation", "al", " \xF0\x9F", " x"});
    ASSERT_GE(view.cellGeometry().cell(), 14);
    const QImage image = view.grab().toImage();
    const Theme& t = Theme::current();
    const auto rowInk = [&](int k) {
        const QRect cell = view.cellRect(k, 0);
        return inkIn(image, {0, cell.top(), left().width(), cell.height()}, t.muted);
    };
    const auto columnInk = [&](int k) {
        const QRect cell = view.cellRect(0, k);
        return inkIn(image, {cell.left(), 0, cell.width(), above().height()}, t.muted);
    };
    EXPECT_GT(rowInk(1).width(), rowInk(3).width() * 2) << "elephant is longer than on";
    EXPECT_GT(columnInk(1).height(), columnInk(1).width() * 2) << "upright on top";
    EXPECT_GT(columnInk(1).height(), columnInk(3).height() * 2);
    EXPECT_LE(rowInk(6).width(), 84) << "a long one ends in an ellipsis";
    view.setCell(1, 3);
    const QImage chosen = view.grab().toImage();
    const QRect cell = view.cellRect(1, 0);
    EXPECT_GT(inkIn(chosen, left(), t.outline).width(), 30) << "i wears red";
    EXPECT_TRUE(inkIn(chosen, left(), t.outline)
                    .intersects(QRect(0, cell.top(), left().width(), cell.height())));
    EXPECT_TRUE(inkIn(chosen, above(), t.outline).isEmpty());
}

TEST_F(MapTextTest, SmallCellsCarryNumbersAndTheChosenTheirWords) {
    fill(fixture::storyPieces());
    ASSERT_LT(view.cellGeometry().cell(), 14);
    view.setCell(42, 17);
    const QImage image = view.grab().toImage();
    const Theme& t = Theme::current();
    const QRect chip = inkIn(image, left(), t.outline);
    EXPECT_NEAR(chip.center().y(), view.cellRect(42, 0).center().y(), 2);
    EXPECT_GT(chip.width(), 25);
    const auto number = [&](int k, int high) {  // anything but the panel: digits are thin
        const QRect cell = view.cellRect(k, 0);
        int ink = 0;
        for (int y = cell.center().y() - high; y <= cell.center().y() + high; ++y)
            for (int x = 0; x < left().width(); ++x) ink += image.pixel(x, y) != t.panel.rgb();
        return ink;
    };
    EXPECT_GT(number(10, 5), 10);
    EXPECT_GT(number(20, 5), 10);
    EXPECT_EQ(number(12, 2), 0);
    EXPECT_LT(chip.top(), view.cellRect(40, 0).center().y() + 5) << "the chip reaches over the 40";
    int ink = 0;
    for (int y = view.cellRect(40, 0).center().y() - 7; y < chip.top() - 1; ++y)
        for (int x = 0; x < left().width(); ++x) ink += image.pixel(x, y) != t.panel.rgb();
    EXPECT_EQ(ink, 0) << "which goes altogether";
    // Away again, all is as before: nothing of the chip is left behind.
    view.setCell(5, 3);
    const QImage there = view.grab().toImage();
    view.setCell(42, 17);
    view.setCell(5, 3);
    EXPECT_EQ(there, view.grab().toImage());
}

TEST_F(MapTextTest, TheBoxNamesBothPieces) {
    fill(fixture::storyPieces());
    QSignalSpy hovered(&view, &MapView::hovered);
    QTest::mouseMove(&view, view.cellRect(42, 17).center());
    EXPECT_EQ(hovered.last()[0].toInt(), 42);
    const QString value = signedNumber(fixture::textValue(fixture::storyPieces(), 0, 0, 42, 17));
    EXPECT_EQ(view.accessibleDescription(),
              QString::fromUtf8("51 rows i by 51 columns j, 42 “ball” ← 17 “ball”: ") + value);
    QTest::mouseMove(&view, view.cellRect(17, 42).center());
    EXPECT_TRUE(
        view.accessibleDescription().endsWith(QString::fromUtf8("17 “ball” ← 42 “ball”: masked")));
}

TEST_F(MapTextTest, AThousandTokensZoomAndPan) {
    std::vector<std::string> pieces;
    for (int k = 0; k < 1024; ++k) pieces.push_back(" w" + std::to_string(k));
    fill(pieces);
    EXPECT_GT(view.cellGeometry().block(), 1);
    view.setCell(512, 256);
    EXPECT_FALSE(view.grab().isNull());
    const QPoint at = view.cellRect(512, 256).center();
    for (int k = 0; k < 18; ++k) {
        QWheelEvent turn(at, view.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, {},
                         Qt::NoScrollPhase, false);
        QApplication::sendEvent(&view, &turn);
    }
    EXPECT_EQ(view.cellGeometry().block(), 1);
    ASSERT_GE(view.cellGeometry().cell(), 14);
    const QPoint cell = view.cellGeometry().cellAt(at);
    EXPECT_NEAR(cell.x(), 256, 8);
    EXPECT_NEAR(cell.y(), 512, 8);
    const QImage zoomed = view.grab().toImage();
    EXPECT_FALSE(inkIn(zoomed, {0, 90, 70, 250}, Theme::current().muted).isEmpty()) << "words";
    QTest::mousePress(&view, Qt::LeftButton, {}, at);
    QMouseEvent move(QEvent::MouseMove, at - QPoint(60, 60), view.mapToGlobal(at - QPoint(60, 60)),
                     Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(&view, &move);
    QTest::mouseRelease(&view, Qt::LeftButton, {}, at - QPoint(60, 60));
    EXPECT_EQ(view.cellGeometry().cellAt(at - QPoint(60, 60)), cell) << "what was held moved along";
    EXPECT_NE(zoomed, view.grab().toImage());
}

TEST(ManyMaps, SixtyFourRelationsOfTwentyFourLayers) {
    RelationInspector inspector;
    inspector.resize(1160, 480);
    inspector.show();
    inspector.setResult(fixture::text(fixture::storyPieces(), 24, 64, 8));
    QTest::qWait(1);
    MapStrip* maps = inspector.smallMaps()->multiples();
    EXPECT_EQ(maps->tiles().pageCount(0), 4);
    int shown = 0;
    for (int k = 0; k < 64; ++k)
        shown += !maps->mapRect({MapKind::Relation, inspector.view().layer, k}).isEmpty();
    EXPECT_EQ(shown, 16);
    for (int k = 0; k < 63; ++k) inspector.stepRelation(1);
    EXPECT_EQ(inspector.view().index, 63);
    EXPECT_EQ(maps->tiles().page(0), 3) << "the page turns with the chosen one";
    EXPECT_FALSE(maps->mapRect({MapKind::Relation, inspector.view().layer, 63}).isEmpty());
    EXPECT_TRUE(maps->mapRect({MapKind::Relation, inspector.view().layer, 0}).isEmpty());
    inspector.smallMaps()->layers()->setFocus();
    QTest::keyClick(inspector.smallMaps()->layers(), Qt::Key_End);
    EXPECT_EQ(inspector.view().layer, 23);
    EXPECT_EQ(inspector.smallMaps()->layers()->accessibleDescription(), "layer 24 of 24");
    EXPECT_TRUE(
        inspector.choice().footer().startsWith(QString::fromUtf8("layer 24 · relation 64")));
    // The masked half of a small map wears the hatch, the other half does not.
    const QImage canvas = maps->canvas()->grab().toImage();
    const QRect small = maps->mapRect({MapKind::Relation, inspector.view().layer, 63});
    int hatched[2] = {0, 0};
    for (int y = 4; y < small.height() - 4; ++y)
        for (int x = 4; x < small.width() - 4; ++x)
            if (std::abs(x - y) > 3)
                hatched[x > y] +=
                    canvas.pixel(small.left() + x, small.top() + y) == Theme::current().hatch.rgb();
    EXPECT_GT(hatched[1], 60);
    EXPECT_EQ(hatched[0], 0);
}

}  // namespace
}  // namespace relascope
