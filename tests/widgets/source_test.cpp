// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <set>

#include "probe_fixture.h"
#include "support/rooms.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST(Patches, NamesAndPieces) {
    const PatchGrid grid{2, 3, true};
    EXPECT_EQ(tokenName(grid, 0), "class token");
    EXPECT_EQ(tokenName(grid, 1), "patch (0, 0)");
    EXPECT_EQ(tokenName(grid, 6), "patch (1, 2)");
    EXPECT_EQ(tokenName(grid, 7), "token 7");
    EXPECT_EQ(tokenLabel(grid, 0), "cls");
    EXPECT_EQ(patchOfToken(grid, 0), -1);
    EXPECT_EQ(tokenName({2, 3, true, 1}, 1), "distillation token");
    const PatchGrid registers{2, 3, true, 4};
    EXPECT_EQ(tokenName(registers, 4), "token 4");
    EXPECT_EQ(tokenName(registers, 5), "patch (0, 0)");
    EXPECT_EQ(tokenName(registers, 11), "token 11");  // behind the patches
    EXPECT_EQ(patchRect({2, 3, false}, 5, QSize(30, 20)), QRect(20, 10, 10, 10));
    const auto result = fixture::result({.gridRows = 2, .gridColumns = 2});
    const auto tokens = patchTokens(*result, 5);
    EXPECT_TRUE(tokens[0].picture.isNull());
    EXPECT_EQ(tokens[4].picture.size(), QSize(12, 12));
    EXPECT_EQ(qRed(tokens[4].picture.pixel(3, 3)), 120);
}

TEST(Patches, GreyAndBrokenImages) {
    const QImage grey = toQImage({2, 1, 1, {7, 9}});
    EXPECT_EQ(grey.pixel(1, 0), qRgb(9, 9, 9));
    EXPECT_TRUE(toQImage({}).isNull());
    EXPECT_TRUE(toQImage({4, 4, 3, {1, 2}}).isNull());
}

class PatchViewTest : public testing::Test {
protected:
    void fill(const fixture::Shape& shape, QSize size = {300, 330}) {
        result = fixture::result(shape);
        view.resize(size);
        view.setImage(result->sample.image, result->grid);
        view.show();
        QTest::qWait(1);
    }
    std::shared_ptr<ProbeResult> result;
    PatchView view;
};

TEST_F(PatchViewTest, FillsItsRoomWithEvenPixels) {
    fill({}, {120, 160});
    EXPECT_EQ(view.imageRect().width(), 3 * 36) << "small pixels have one size";
    fill({}, {252, 330});
    EXPECT_EQ(view.imageRect().width(), 250) << "of large ones a pixel more is not seen";
    EXPECT_EQ(view.imageRect().width(), view.imageRect().height());
    const QImage shot = view.grab().toImage();
    EXPECT_EQ(shot.pixel(view.tokenRect(6).center()),
              qRgb(40 * 5 % 200, 40 * 5 % 200 + 20, 40 * 5 % 200 + 40));
}

TEST_F(PatchViewTest, OutlinesTheSourceAndTintsTheOthers) {
    fill({});
    view.setSource(1);
    view.setTarget(3);
    view.setValues({0, 0, 1, -1, 0, 0, 0, 0, 0, 0}, {},
                   ColorScale(ColorScale::Kind::Signed, {-1, 1}, Theme::current()));
    const QImage shot = view.grab().toImage();
    const QRect i = view.tokenRect(1);
    EXPECT_EQ(shot.pixelColor(i.left(), i.center().y()), Theme::current().outline);
    const QColor positive = shot.pixelColor(view.tokenRect(2).center());
    EXPECT_GT(positive.green(), positive.red()) << "green is positive";
    const QColor zero = shot.pixelColor(view.tokenRect(4).center());
    EXPECT_EQ(zero.rgb(), qRgb(120, 140, 160)) << "zero leaves the patch as it is";
    EXPECT_TRUE(view.accessibleDescription().contains("patch (0, 0)"));
}

TEST_F(PatchViewTest, HoverClickAndShiftClick) {
    fill({});
    QSignalSpy hovered(&view, &PatchView::hovered);
    QSignalSpy source(&view, &PatchView::sourceChosen);
    QSignalSpy target(&view, &PatchView::targetChosen);
    QTest::mouseMove(&view, view.tokenRect(5).center());
    EXPECT_EQ(hovered.last()[0].toInt(), 5);
    QTest::mouseClick(&view, Qt::LeftButton, {}, view.tokenRect(9).center());
    EXPECT_EQ(source.last()[0].toInt(), 9);
    QTest::mouseClick(&view, Qt::LeftButton, Qt::ShiftModifier, view.tokenRect(2).center());
    EXPECT_EQ(target.last()[0].toInt(), 2);
    QTest::mouseClick(&view, Qt::LeftButton, {}, view.tokenRect(0).center());
    EXPECT_EQ(source.last()[0].toInt(), 0) << "the class token's chip";
    EXPECT_EQ(source.size(), 2);
}

TEST_F(PatchViewTest, ArrowKeysReachEveryToken) {
    fill({});
    view.setSource(7);  // patch (2, 0)
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.source(), 8);
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(view.source(), 5);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_EQ(view.source(), 0) << "below the last row stands the class token";
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(view.source(), 7);
    QTest::keyClick(&view, Qt::Key_Left);
    EXPECT_EQ(view.source(), 7);
    view.setTarget(1);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_EQ(view.target(), 2);
    EXPECT_EQ(view.source(), 7);
}

TEST_F(PatchViewTest, OddGridsGreyImagesAndNoClassToken) {
    fill({.gridRows = 1, .gridColumns = 1, .classToken = false, .channels = 1}, {120, 120});
    EXPECT_EQ(view.tokenAt(view.imageRect().center()), 0);
    fill({.gridRows = 5, .gridColumns = 2, .classToken = false, .patch = 40, .channels = 1},
         {90, 90});
    EXPECT_LE(view.imageRect().height(), 90) << "a large image shrinks";
    for (int t = 0; t < 10; ++t) EXPECT_EQ(view.tokenAt(view.tokenRect(t).center()), t);
    EXPECT_FALSE(view.grab().isNull());
    view.setImage({}, {});
    QTest::keyClick(&view, Qt::Key_Down);
    EXPECT_FALSE(view.grab().isNull());
}

TEST(ProbabilityBarsTest, AnAnswerThatWasImpossibleBeforeHasNoZeroAboveItsBar) {
    ProbabilityBars bars;
    bars.setProbabilities({"", ""}, {0.9F, 0.1F}, 0);
    bars.setBefore({0.0F, 1.0F});
    bars.resize(400, bars.sizeHint().height());
    const QImage picture = bars.grab().toImage();
    const QColor text = Theme::current().text;
    std::set<int> columns;  // with something above the first bar
    const int high = bars.height() / 2;
    for (int x = 0; x < 300; ++x)
        for (int y = 2; y < high / 2 - 1; ++y) {
            const QColor c = picture.pixelColor(x, y);
            if (std::abs(c.red() - text.red()) + std::abs(c.green() - text.green()) < 160)
                columns.insert(x);
        }
    EXPECT_LE(columns.size(), 1U);
}

TEST(ProbabilityBarsTest, FewestThatMatter) {
    ProbabilityBars bars;
    bars.setProbabilities({"a", "b"}, {0.2F, 0.8F}, 0);
    EXPECT_EQ(bars.shown(), (std::vector<int>{0, 1})) << "few classes keep their order";
    bars.setProbabilities({"a", "b", "c", "d", "e"}, {0.1F, 0.5F, 0.2F, 0.15F, 0.05F}, 4);
    EXPECT_EQ(bars.shown(), (std::vector<int>{1, 2, 4})) << "the likeliest, and the true one";
    EXPECT_TRUE(bars.accessibleDescription().contains("e 0.050"));
    bars.setProbabilities({}, {}, -1);
    EXPECT_TRUE(bars.shown().empty());
}

}  // namespace
}  // namespace relascope
