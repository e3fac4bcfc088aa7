// SPDX-License-Identifier: GPL-3.0-or-later
// Where cells and labels of a map stand: without a widget.
#include <gtest/gtest.h>

#include "support/rooms.h"
#include "widgets/maps/map_geometry.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

std::vector<AxisToken> words(int count, const QString& word) {
    std::vector<AxisToken> tokens;
    for (int k = 0; k < count; ++k)
        tokens.push_back({word, word, {}, true, QStringLiteral("%1 %2").arg(k).arg(word)});
    return tokens;
}

TEST(MapGeometry, AWholeMapFitsAndItsCellsAreFound) {
    MapAxes axes;
    MapGeometry geometry(axes);
    for (const QSize cells : {QSize(1, 1), QSize(10, 7), QSize(100, 100)}) {
        geometry.layOut({340, 300}, cells, false);
        EXPECT_FALSE(geometry.zoomed());
        EXPECT_EQ(geometry.block(), 1);
        EXPECT_TRUE(geometry.area().contains(geometry.map())) << cells.width();
        const QPoint last(cells.width() - 1, cells.height() - 1);
        EXPECT_EQ(geometry.cellAt(geometry.cellRect(last.y(), last.x()).center()), last);
        EXPECT_EQ(geometry.cellAt({0, 0}), QPoint(-1, -1)) << "the margin";
        EXPECT_EQ(geometry.shown(true), std::pair(0, last.y()));
    }
    geometry.layOut({340, 300}, {1000, 1000}, false);
    EXPECT_EQ(geometry.cell(), 1);
    EXPECT_GT(geometry.block(), 1) << "several cells a pixel";
    EXPECT_LE(geometry.map().width(), geometry.area().width());
}

TEST(MapGeometry, ZoomKeepsTheCellUnderThePointer) {
    MapAxes axes;
    MapGeometry geometry(axes);
    geometry.layOut({340, 340}, {64, 64}, false);
    const int whole = geometry.cell();
    const QPoint at = geometry.map().center();
    const QPoint before = geometry.cellAt(at);
    for (int k = 0; k < 6; ++k) geometry.zoom(true, at);
    EXPECT_TRUE(geometry.zoomed());
    EXPECT_GT(geometry.cell(), whole);
    EXPECT_LE((geometry.cellAt(at) - before).manhattanLength(), 3);

    EXPECT_FALSE(geometry.area().contains(geometry.cellRect(63, 63)));
    geometry.reveal(63, 63);
    EXPECT_TRUE(geometry.area().contains(geometry.cellRect(63, 63)));
    geometry.moveTo({10000, 10000});
    EXPECT_EQ(geometry.origin(), geometry.area().topLeft()) << "no gap before the first cell";
    geometry.layOut({340, 340}, {64, 64}, false);
    EXPECT_EQ(geometry.cell(), whole);
}

TEST(MapGeometry, CellsFillTheRoomWithoutWholePixels) {
    MapAxes axes;
    MapGeometry geometry(axes);
    for (const int cells : {9, 10, 61, 97, 150}) {
        geometry.layOut({460, 430}, {cells, cells}, false);
        const int side = geometry.map().height();
        EXPECT_GE(side, 396) << cells << ": at most a pixel a map is lost";
        EXPECT_TRUE(geometry.area().contains(geometry.map()));
        int end = geometry.origin().x();
        for (int k = 0; k < cells; ++k) {
            const QRect cell = geometry.cellRect(k, k);
            EXPECT_EQ(cell.left(), end) << "no gap before " << k << " of " << cells;
            EXPECT_GE(cell.width(), geometry.cell());
            EXPECT_LE(cell.width(), geometry.cell() + 1);
            end = cell.right() + 1;
            for (const QPoint at : {cell.topLeft(), cell.bottomRight()})
                EXPECT_EQ(geometry.cellAt(at), QPoint(k, k)) << cells;
        }
        EXPECT_EQ(end, geometry.map().right() + 1);
    }
}

TEST(MapGeometry, LabelsTakeTheirMargin) {
    MapAxes axes;
    MapGeometry geometry(axes);
    EXPECT_FALSE(axes.setTokens({}, {}) && axes.setTokens({}, {})) << "nothing changed";
    geometry.layOut({400, 400}, {5, 5}, false);
    const int plain = geometry.margin(true);
    EXPECT_TRUE(axes.setTokens(words(5, "elephants"), words(5, "elephants")));
    EXPECT_FALSE(axes.setTokens(words(5, "elephants"), words(5, "elephants")));
    geometry.layOut({400, 400}, {5, 5}, false);
    EXPECT_TRUE(geometry.labelled());
    EXPECT_TRUE(geometry.upright()) << "words above columns stand on end";
    EXPECT_NE(geometry.margin(true), plain);
    EXPECT_LE(geometry.chipRect(4, true).right(), geometry.area().left());
    EXPECT_LE(geometry.chipRect(4, false).bottom(), geometry.area().top());
    EXPECT_EQ(axes.label(true, 1), "elephants");
    EXPECT_EQ(axes.name(true, 1), "1 elephants") << "two tokens may be the same word";
    EXPECT_EQ(axes.label(true, 7), "7");
    EXPECT_EQ(axes.label(true, -1), "");
}

TEST(MapGeometry, ObjectsHaveTheirWholeNamesWhereThereIsRoom) {
    const QString name = QStringLiteral("yellow, square, small");
    const auto objects = [&](int count) {
        std::vector<AxisToken> all(static_cast<std::size_t>(count));
        for (auto& one : all) one.label = name, one.byName = true;
        return all;
    };
    const int whole = QFontMetrics(captionFont()).horizontalAdvance(name);
    MapAxes axes;
    MapGeometry geometry(axes);
    axes.setTokens(objects(4), objects(4));
    geometry.layOut({460, 430}, {4, 4}, false);
    ASSERT_TRUE(geometry.labelled() && geometry.upright());
    EXPECT_GE(geometry.margin(true) - 7, whole);
    EXPECT_GE(geometry.margin(false) - 12, whole);
    // In a small pane the cells come first.
    axes.setTokens(objects(8), objects(8));
    geometry.layOut({260, 260}, {8, 8}, false);
    EXPECT_TRUE(geometry.labelled());
    EXPECT_LT(geometry.margin(true), whole);
}

TEST(MapGeometry, NumbersKeepTheirDistance) {
    MapAxes axes;
    MapGeometry geometry(axes);
    for (const int cells : {20, 64, 300, 2000}) {
        geometry.layOut({340, 340}, {cells, cells}, false);
        const int step = geometry.tickStep();
        const auto [pixels, shared] = geometry.pooling();
        EXPECT_GE(step * pixels, 34 * shared) << cells;
        EXPECT_FALSE(geometry.tickRect(0, true).intersects(geometry.tickRect(step, true)));
    }
}

}  // namespace
}  // namespace relascope
