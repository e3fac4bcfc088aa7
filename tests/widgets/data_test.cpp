// Samples: laziness, keys, pixel read-out.
#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "widgets/data/samples.h"

using namespace relascope;

namespace {

ProbeSample sample(int value) {
    ProbeSample s;
    s.image = {4, 4, 3, std::vector<std::uint8_t>(48, static_cast<std::uint8_t>(value))};
    s.label = value % 2;
    s.origin = "test";
    return s;
}

}  // namespace

TEST(SampleGrid, AsksOnlyForWhatIsInSight) {
    SampleGrid grid;
    grid.resize(600, 300);
    grid.show();
    QSignalSpy needed(&grid, &SampleGrid::samplesNeeded);
    grid.setCount(250000);
    ASSERT_GE(needed.count(), 1);
    EXPECT_EQ(needed[0][0].toLongLong(), 0);
    EXPECT_LT(needed[0][1].toInt(), 200);
    const auto asked = needed.count();
    grid.viewport()->update();
    EXPECT_EQ(needed.count(), asked);  // not asked for twice
    QElapsedTimer timer;
    timer.start();
    grid.verticalScrollBar()->setValue(grid.verticalScrollBar()->maximum());
    EXPECT_GT(needed.last()[0].toLongLong(), 249000);
    EXPECT_FALSE(grid.grab().isNull());
    EXPECT_LT(timer.elapsed(), 500);
}

TEST(SampleGrid, DrawsNearestNeighbourAtAWholeScale) {
    SampleGrid grid;
    grid.resize(400, 300);
    grid.setImageSize(4, 4);
    EXPECT_EQ(grid.scale(), 16);
    grid.setCount(3);
    grid.setSamples(0, {sample(200)});
    grid.show();
    const QImage image = grid.viewport()->grab().toImage();
    const QRect cell = grid.cellRect(0);
    EXPECT_EQ(image.pixelColor(cell.left(), cell.top()), QColor(200, 200, 200));
    EXPECT_EQ(image.pixelColor(cell.left() + 63, cell.top() + 63), QColor(200, 200, 200));
}

TEST(SampleGrid, ClicksAndKeysChoose) {
    SampleGrid grid;
    grid.resize(600, 300);
    grid.setCount(100);
    grid.show();
    QSignalSpy chosen(&grid, &SampleGrid::indexChosen);
    QTest::mouseClick(grid.viewport(), Qt::LeftButton, {}, grid.cellRect(2).center());
    EXPECT_EQ(chosen.last()[0].toLongLong(), 2);
    QTest::keyClick(&grid, Qt::Key_Down);
    EXPECT_EQ(chosen.last()[0].toLongLong(), 2 + grid.columns());
    QTest::keyClick(&grid, Qt::Key_End);
    EXPECT_EQ(grid.current(), 99);
    EXPECT_GT(grid.verticalScrollBar()->value(), 0);
    QTest::keyClick(&grid, Qt::Key_Right);
    EXPECT_EQ(grid.current(), 99);
    grid.setCount(0);
    QTest::keyClick(&grid, Qt::Key_Right);
    EXPECT_EQ(grid.current(), -1);
}

TEST(SampleView, ReadsThePixelUnderThePointer) {
    SampleView view;
    view.resize(200, 260);
    ProbeSample s = sample(7);
    s.image.pixels[s.image.index(1, 2, 0)] = 255;
    view.setSample(s, {"no", "yes"});
    view.show();
    const QRect picture = view.pictureRect();
    const int scale = picture.width() / 4;
    QTest::mouseMove(&view, picture.topLeft() + QPoint(2 * scale + 1, scale + 1));
    EXPECT_EQ(view.pixelText(), "row 1, column 2: 255, 7, 7");
    view.clear();
    EXPECT_TRUE(view.pictureRect().isNull());
}

TEST(Samples, BrokenImagesAreNull) {
    EXPECT_TRUE(toPicture({}).isNull());
    EXPECT_TRUE(toPicture({4, 4, 3, std::vector<std::uint8_t>(10)}).isNull());
    EXPECT_EQ(toPicture({2, 1, 1, {3, 4}}).pixelColor(1, 0), QColor(4, 4, 4));
}

TEST(StatisticsView, ListsClasses) {
    StatisticsView view;
    view.setClasses({{"no", 0}, {"yes", 5}});
    EXPECT_EQ(view.csv(), "class,count\nno,0\nyes,5\n");
    EXPECT_FALSE(view.grab().isNull());
}
