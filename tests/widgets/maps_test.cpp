// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <cmath>
#include <limits>

#include "probe_fixture.h"
#include "support/rooms.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

RelationMap square(std::vector<float> values, bool causal = false) {
    const int n = static_cast<int>(std::lround(std::sqrt(values.size())));
    return {MapKind::Relation, 0, 0, n, n, std::move(values), causal};
}

TEST(MapValues, ProcessesEachValue) {
    const RelationMap map = square({0, 1, -2, 3});
    EXPECT_EQ(processed(map, Processing::Raw).values, map.values);
    const MapValues tanh = processed(map, Processing::Tanh);
    EXPECT_FLOAT_EQ(tanh.at(0, 1), std::tanh(1.0F));
    EXPECT_FLOAT_EQ(tanh.at(1, 0), std::tanh(-2.0F));
    EXPECT_FLOAT_EQ(processed(map, Processing::Sigmoid).at(1, 1), 1.0F / (1.0F + std::exp(-3.0F)));
    EXPECT_FLOAT_EQ(processed(map, Processing::Sigmoid).at(0, 0), 0.5F);
}

TEST(MapValues, SoftmaxLeavesMaskedCellsOut) {
    const MapValues out = processed(square({5, 100, 1, 2}, true), Processing::SoftmaxOverJ);
    EXPECT_FLOAT_EQ(out.at(0, 0), 1.0F) << "the masked 100 must not take part";
    EXPECT_FLOAT_EQ(out.at(0, 1), 0.0F);
    EXPECT_TRUE(out.masked(0, 1));
    EXPECT_FLOAT_EQ(out.at(1, 0), 1.0F / (1.0F + std::exp(1.0F)));
    EXPECT_FLOAT_EQ(out.at(1, 0) + out.at(1, 1), 1.0F);
}

TEST(MapValues, SoftmaxOfBrokenRows) {
    const MapValues out = processed({MapKind::Relation, 0, 0, 3, 2, {nan, 1, inf, 1, -inf, 0}},
                                    Processing::SoftmaxOverJ);
    EXPECT_TRUE(std::isnan(out.at(0, 1)));
    EXPECT_TRUE(std::isnan(out.at(1, 0)));
    EXPECT_FLOAT_EQ(out.at(2, 0), 0.0F);
    EXPECT_FLOAT_EQ(out.at(2, 1), 1.0F);
}

TEST(MapValues, TopKKeepsTheLargestSizes) {
    const MapValues out =
        processed({MapKind::Relation, 0, 0, 1, 4, {1, -3, 2, 2}}, Processing::TopK, 2);
    EXPECT_EQ(out.values, (std::vector<float>{0, -3, 2, 0}));
    EXPECT_EQ(processed({MapKind::Relation, 0, 0, 1, 2, {1, -3}}, Processing::TopK, 9).values,
              (std::vector<float>{1, -3}));
}

TEST(MapValues, ExtentsPassOverMaskedAndBroken) {
    const Extent e = extentOf(square({1, 99, nan, -2}, true));
    EXPECT_TRUE(e.any);
    EXPECT_EQ(e.low, -2);
    EXPECT_EQ(e.high, 1);
    EXPECT_FALSE(extentOf(square({nan, inf, -inf, nan})).any);
    EXPECT_FALSE(extentOf(RelationMap{}).any);
    EXPECT_FALSE(extentOf(RelationMap{MapKind::Relation, 0, 0, 4, 4, {1, 2}}).any)
        << "too few numbers for the shape";
}

TEST(MapValues, LimitsHaveWidth) {
    EXPECT_EQ(limitsOf({-2, 1, true}, true), (Limits{-2, 2}));
    EXPECT_EQ(limitsOf({0, 0, true}, true), (Limits{-1, 1}));
    EXPECT_EQ(limitsOf({0.25F, 0.25F, true}, false), (Limits{0, 0.25F}));
    EXPECT_EQ(limitsOf({0, 0, true}, false), (Limits{0, 1}));
    EXPECT_EQ(limitsOf({}, false), (Limits{0, 1}));
}

TEST(MapValues, PercentilesPassOverExtremes) {
    EXPECT_FALSE(percentiles({}).any);
    EXPECT_EQ(percentiles({3.0F}), (Extent{3, 3, true}));
    std::vector<float> values;
    for (int k = 100; k >= 0; --k) values.push_back(static_cast<float>(k));
    EXPECT_EQ(percentiles(values), (Extent{2, 98, true}));
    EXPECT_EQ(percentiles({0, 100}), (Extent{2, 98, true})) << "between neighbours";
    // Of a large map a part: as good as all of it, and without what is masked or broken.
    RelationMap map{MapKind::Relation, 0, 0, 512, 512, {}, true};
    for (int i = 0; i < 512; ++i)
        for (int j = 0; j < 512; ++j)
            map.values.push_back(j > i ? 1e6F : static_cast<float>(i * 512 + j));
    map.values[0] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> all;
    for (int i = 0; i < 512; ++i)
        for (int j = 0; j <= i; ++j)
            if (i > 0) all.push_back(map.at(i, j));
    const Extent part = percentiles(valueSample(map)), whole = percentiles(all);
    EXPECT_LT(valueSample(map).size(), 5000u);
    EXPECT_NEAR(part.low, whole.low, 0.01 * (whole.high - whole.low));
    EXPECT_NEAR(part.high, whole.high, 0.01 * (whole.high - whole.low));
}

TEST(MapValues, SaturationCountsTheEndsOfTheTransform) {
    RelationMap map{MapKind::Relation, 0, 0, 2, 2, {9, 0, -9, 9}, false};
    EXPECT_DOUBLE_EQ(saturatedFraction(processed(map, Processing::Tanh), Processing::Tanh), 0.75);
    EXPECT_DOUBLE_EQ(saturatedFraction(processed(map, Processing::Sigmoid), Processing::Sigmoid),
                     0.75);
    EXPECT_EQ(saturatedFraction(processed(map, Processing::Raw), Processing::Raw), 0.0);
    map.causal = true;
    map.values[2] = 0;
    EXPECT_NEAR(saturatedFraction(processed(map, Processing::Tanh), Processing::Tanh), 2.0 / 3,
                1e-9);
}

TEST(MapValues, PoolsByLargestSize) {
    const MapValues small =
        pooled(square({1, -4, 0, 0, 2, 3, 0, 0.5F, 0, 0, nan, 0, 0, 0, 7, 0}), 2);
    EXPECT_EQ(small.rows, 2);
    EXPECT_EQ(small.at(0, 0), -4);
    EXPECT_EQ(small.at(0, 1), 0.5F);
    EXPECT_EQ(small.at(1, 0), 0);
    EXPECT_TRUE(std::isnan(small.at(1, 1))) << "a NaN stays seen whatever comes after it";
    EXPECT_EQ(pooled(square({1, 50, 2, 3}, true), 2).at(0, 0), 3) << "masked cells do not count";
    EXPECT_EQ(
        pooled(RelationMap{MapKind::Relation, 0, 0, 3, 5, std::vector<float>(15, 1)}, 2).columns,
        3);
}

TEST(MapValues, TransposesWithItsMask) {
    const MapValues turned = transposed(processed(square({1, 9, 2, 3}, true), Processing::Raw));
    EXPECT_EQ(turned.at(0, 1), 2);
    EXPECT_TRUE(turned.masked(1, 0));
    EXPECT_FALSE(turned.masked(0, 1));
}

// Of a fitted relation NaN is no number that went wrong: some objects have no mean.
TEST(MapValues, GapsOfAFittedRelationAreNoErrors) {
    auto map = square({nan, nan, nan, nan, 1, -4, nan, 2, 3});
    EXPECT_FALSE(processed(map, Processing::Raw).masked(0, 0)) << "of the model's own it is one";
    map.fitted = "same-kind.safetensors";
    const MapValues raw = processed(map, Processing::Raw);
    EXPECT_TRUE(raw.masked(0, 1) && raw.masked(2, 0));
    EXPECT_FALSE(raw.masked(1, 1));
    EXPECT_TRUE(transposed(raw).isGap(0, 2));
    EXPECT_EQ(raw.row(1).masked, (std::vector<bool>{true, false, false}));
    const MapValues soft = processed(map, Processing::SoftmaxOverJ);
    EXPECT_TRUE(soft.isGap(1, 0) && soft.isGap(0, 1));
    EXPECT_NEAR(soft.at(2, 1) + soft.at(2, 2), 1.0F, 1e-6F);
    EXPECT_NEAR(soft.at(2, 2), 1.0 / (1.0 + std::exp(-1.0)), 1e-6);
    const MapValues small = pooled(map, 2);
    EXPECT_EQ(small.at(0, 0), 1) << "a block has the value that is there";
    EXPECT_EQ(small.at(1, 1), 3);
    EXPECT_EQ(pooled(raw, 2), small);
    EXPECT_TRUE(pooled(product(square({1, 1, 1, 1, 1, 1, 1, 1, 1}), map), 1).isGap(0, 2));
    EXPECT_EQ(extentOf(map), (Extent{-4, 3, true}));
    EXPECT_EQ(measuresOf(map).magnitude, 4);
    EXPECT_NEAR(measuresOf(map).symmetry, 2.0 / 8.0, 1e-6) << "of the cells that have values";
    const ColorScale scale(ColorScale::Kind::Signed, {-4, 4}, Theme::light());
    EXPECT_EQ(cellImage(raw, scale).pixel(0, 0), Theme::light().hatchFill.rgb());
    EXPECT_EQ(cellImage(raw, scale).pixel(1, 1), scale.rgb(1));
}

TEST(MapValues, MultipliesAttentionAndRelation) {
    const RelationMap out = product(square({0.5F, 0.5F, 1, 0}), square({2, -4, 3, 9}));
    EXPECT_EQ(out.values, (std::vector<float>{1, -2, 3, 0}));
    EXPECT_TRUE(product(square({1}), square({1, 2, 3, 4})).values.empty());
}

TEST(ColorScale, ZeroIsTheNeutralColour) {
    for (const Theme* theme : {&Theme::light(), &Theme::darkTheme()}) {
        const ColorScale scale(ColorScale::Kind::Signed, {-2, 2}, *theme);
        EXPECT_EQ(scale.rgb(0), theme->signedStops[5].rgb());
        EXPECT_EQ(scale.rgb(-2), theme->signedStops[0].rgb());
        EXPECT_EQ(scale.rgb(2), theme->signedStops[10].rgb());
        EXPECT_EQ(scale.rgb(inf), theme->signedStops[10].rgb());
        EXPECT_EQ(scale.color(nan).rgb(), theme->errorFill.rgb());
        EXPECT_EQ(ColorScale(ColorScale::Kind::Paper, {-2, 2}, *theme).rgb(-2),
                  theme->paperStops[0].rgb());
        EXPECT_EQ(ColorScale(ColorScale::Kind::Sequential, {0, 1}, *theme).rgb(0),
                  theme->viridis[0].rgb());
    }
}

TEST(ColorScale, ColoursCellsMaskAndNaN) {
    const Theme& t = Theme::light();
    const ColorScale scale(ColorScale::Kind::Signed, {-1, 1}, t);
    const QImage image =
        cellImage(processed(square({1, 1, nan, -1}, true), Processing::Raw), scale);
    EXPECT_EQ(image.size(), QSize(2, 2));
    EXPECT_EQ(image.format(), QImage::Format_RGB32);
    EXPECT_EQ(image.pixel(0, 0), t.signedStops[10].rgb());
    EXPECT_EQ(image.pixel(1, 0), t.hatchFill.rgb());
    EXPECT_EQ(image.pixel(0, 1), t.errorFill.rgb());
    EXPECT_EQ(image.pixel(1, 1), t.signedStops[0].rgb());
    EXPECT_TRUE(cellImage(MapValues{}, scale).isNull());
}

class MapViewTest : public testing::Test {
protected:
    void fill(int rows, int columns, bool causal = false) {
        RelationMap map = fixture::map(MapKind::Relation, 0, 0, rows, columns);
        map.causal = causal;
        view.resize(340, 340);
        view.setScale(ColorScale(ColorScale::Kind::Signed, {-2, 2}, Theme::current()));
        view.setValues(processed(map, Processing::Raw));
        view.show();
        QTest::qWait(1);
    }
    QPoint center(int row, int column) { return view.cellRect(row, column).center(); }
    MapView view;
};

TEST_F(MapViewTest, CellsAreSquareWholePixelsInTheScalesColour) {
    fill(10, 10);
    EXPECT_GE(view.cellGeometry().cell(), 20);
    const QImage shot = view.grab().toImage();
    const ColorScale scale(ColorScale::Kind::Signed, {-2, 2}, Theme::current());
    for (const auto& [i, j] : {std::pair{0, 0}, {3, 7}, {9, 9}, {9, 0}}) {
        const QRect cell = view.cellRect(i, j);
        EXPECT_EQ(cell.width(), cell.height());
        const QRgb expected = scale.rgb(fixture::relationValue(0, 0, i, j));
        EXPECT_EQ(shot.pixel(cell.center()), expected);
        EXPECT_EQ(shot.pixel(cell.topLeft() + QPoint(3, 3)), expected)
            << "not smoothed towards its neighbour";
    }
}

TEST_F(MapViewTest, ClickChoosesAndHoverPreviews) {
    fill(10, 10);
    QSignalSpy chosen(&view, &MapView::chosen);
    QSignalSpy hovered(&view, &MapView::hovered);
    QTest::mouseMove(&view, center(2, 5));
    ASSERT_FALSE(hovered.isEmpty());
    EXPECT_EQ(hovered.last(), (QVariantList{2, 5}));
    QTest::mouseClick(&view, Qt::LeftButton, {}, center(4, 1));
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0], (QVariantList{4, 1}));
    EXPECT_EQ(view.row(), 4);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&view, &leave);
    EXPECT_EQ(hovered.last(), (QVariantList{-1, -1}));
    EXPECT_TRUE(view.accessibleDescription().contains("10 rows"));
}

TEST_F(MapViewTest, ArrowKeysMoveAndStopAtTheEdge) {
    fill(3, 3);
    view.setCell(0, 0);
    QSignalSpy chosen(&view, &MapView::chosen);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(chosen.last(), (QVariantList{1, 1}));
    QTest::keyClick(&view, Qt::Key_Left);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(chosen.last(), (QVariantList{1, 0}));
    QTest::keyClick(&view, Qt::Key_End);
    EXPECT_EQ(view.row(), 2);
    EXPECT_EQ(view.column(), 2);
}

TEST_F(MapViewTest, CrosshairIsDrawnAroundRowColumnAndCell) {
    fill(10, 10);
    view.setCell(3, 6);
    const QImage shot = view.grab().toImage();
    const QRgb ink = Theme::current().text.rgb();
    const QRect cell = view.cellRect(3, 6);
    EXPECT_EQ(shot.pixel(view.cellRect(3, 1).center().x(), cell.top() - 1), ink);
    int dark = 0;
    const int from = view.cellRect(0, 6).top();
    const int to = view.cellRect(2, 6).bottom();
    for (int y = from; y <= to; ++y) dark += shot.pixel(cell.left() - 1, y) == ink;
    EXPECT_GT(dark, (to - from) / 3) << "dashes";
    EXPECT_LT(dark, to - from - 5) << "and gaps";
}

TEST_F(MapViewTest, MaskedCellsAreHatched) {
    fill(10, 10, true);
    const QImage shot = view.grab().toImage();
    const QRect cell = view.cellRect(2, 7);
    int lines = 0;
    int ground = 0;
    for (int y = cell.top() + 2; y < cell.bottom() - 2; ++y)
        for (int x = cell.left() + 2; x < cell.right() - 2; ++x) {
            lines += shot.pixel(x, y) == Theme::current().hatch.rgb();
            ground += shot.pixel(x, y) == Theme::current().hatchFill.rgb();
        }
    EXPECT_GT(lines, 20);
    EXPECT_GT(ground, lines);
    const QRect open = view.cellRect(7, 2);
    EXPECT_NE(shot.pixel(open.center()), Theme::current().hatchFill.rgb());
}

TEST_F(MapViewTest, AnySizeFits) {
    for (const auto& [rows, columns] :
         {std::pair{1, 1}, {2, 1}, {10, 64}, {64, 10}, {300, 300}, {1024, 1024}}) {
        fill(rows, columns);
        view.setCell(rows - 1, columns - 1);
        EXPECT_TRUE(view.rect().contains(view.cellRect(rows - 1, columns - 1)))
            << rows << " x " << columns;
        EXPECT_FALSE(view.grab().isNull());
        QTest::mouseClick(&view, Qt::LeftButton, {}, center(0, 0));
        EXPECT_EQ(view.row(), 0);
    }
    EXPECT_GT(view.cellGeometry().block(), 1) << "1024 cells do not fit 300 pixels one by one";
    view.setValues({});
    EXPECT_FALSE(view.grab().isNull());
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(20, 20));
}

TEST_F(MapViewTest, WheelZoomsAndDoubleClickResets) {
    fill(512, 512);
    const int block = view.cellGeometry().block();
    EXPECT_GT(block, 1);
    const QPoint at = center(100, 100);
    const auto turn = [&](int delta) {
        QWheelEvent event(at, view.mapToGlobal(at), {}, {0, delta}, Qt::NoButton, {},
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&view, &event);
    };
    const QPoint before = view.cellGeometry().cellAt(at);
    for (int k = 0; k < 8; ++k) turn(120);
    EXPECT_EQ(view.cellGeometry().block(), 1);
    EXPECT_GT(view.cellGeometry().cell(), 2);
    EXPECT_LE((view.cellGeometry().cellAt(at) - before).manhattanLength(), 3)
        << "the cell under the pointer stays there";
    const QRect corner = view.cellRect(0, 0);
    QTest::mousePress(&view, Qt::LeftButton, {}, at);
    QMouseEvent move(QEvent::MouseMove, at + QPoint(40, 30), view.mapToGlobal(at + QPoint(40, 30)),
                     Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(&view, &move);
    QSignalSpy chosen(&view, &MapView::chosen);
    QTest::mouseRelease(&view, Qt::LeftButton, {}, at + QPoint(40, 30));
    EXPECT_TRUE(chosen.isEmpty()) << "a drag chooses nothing";
    EXPECT_EQ(view.cellRect(0, 0).topLeft() - corner.topLeft(), QPoint(40, 30));
    for (int k = 0; k < 40; ++k) turn(-120);
    EXPECT_EQ(view.cellGeometry().block(), block) << "out again ends at the whole map";
    turn(120);
    QTest::mouseDClick(&view, Qt::LeftButton, {}, at);
    EXPECT_EQ(view.cellGeometry().block(), block);
}

TEST(ColorBarTest, WritesItsEnds) {
    const QString minus(QChar(0x2212));
    EXPECT_EQ(ColorBar::endText(-1, true), minus + "1");
    EXPECT_EQ(ColorBar::endText(1, true), "+1");
    EXPECT_EQ(ColorBar::endText(0, false), "0");
    EXPECT_EQ(ColorBar::endText(0.853F, false), "0.85");
    EXPECT_EQ(ColorBar::endText(0.0123F, false), "0.012");
    ColorBar bar;
    bar.resize(300, 40);
    bar.setScale(ColorScale(ColorScale::Kind::Signed, {-1, 1}, Theme::current()));
    bar.setCaption("tanh r_ij, one scale for the layer");
    const QImage shot = bar.grab().toImage();
    EXPECT_EQ(shot.pixel(150, 9), Theme::current().text.rgb()) << "the mark at zero";
    EXPECT_EQ(shot.pixel(50, 9), Theme::current().signedStops[0].rgb());
}

TEST(LayerSliderTest, ClickKeysAndWheelChoose) {
    LayerSlider slider;
    slider.resize(44, 200);
    slider.setLayers(4);
    QSignalSpy chosen(&slider, &LayerSlider::chosen);
    QTest::mouseClick(&slider, Qt::LeftButton, {}, slider.positionOf(2));
    EXPECT_EQ(slider.current(), 2);
    QTest::keyClick(&slider, Qt::Key_Up);
    EXPECT_EQ(slider.current(), 3);
    QTest::keyClick(&slider, Qt::Key_Up);
    EXPECT_EQ(chosen.size(), 2) << "there is no layer above the last";
    QTest::keyClick(&slider, Qt::Key_Home);
    EXPECT_EQ(slider.current(), 0);
    EXPECT_GT(slider.positionOf(0).y(), slider.positionOf(3).y())
        << "the first layer is at the bottom";
    EXPECT_EQ(slider.accessibleDescription(), "layer 1 of 4");
    slider.setLayers(24);
    EXPECT_FALSE(slider.grab().isNull());
    slider.setLayers(0);
    EXPECT_FALSE(slider.grab().isNull());
}

}  // namespace
}  // namespace relascope
