// SPDX-License-Identifier: GPL-3.0-or-later
// Samples: laziness, keys, pixel read-out.
#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "support/rooms.h"
#include "widgets/data/sample_grid.h"
#include "widgets/data/sample_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/source/tile_view.h"

using namespace relascope;

namespace {

ShownSample sample(int value) {
    ShownSample s;
    s.sample.image = {4, 4, 3, std::vector<std::uint8_t>(48, static_cast<std::uint8_t>(value))};
    s.sample.label = value % 2;
    s.sample.origin = "test";
    return s;
}

/// Objects with pictures of one colour, and their order.
ShownSample objects(int count) {
    ShownSample s;
    ProbeSequence& source = s.sample.source;
    source.width = 2;
    for (int k = 0; k < count; ++k) {
        source.labels.push_back("A" + std::to_string(k));
        source.vectors.insert(source.vectors.end(), {static_cast<float>(k), -1.0F});
        source.pictures.push_back(
            {28, 28, 1, std::vector<std::uint8_t>(784, static_cast<std::uint8_t>(20 * k))});
        s.order.push_back(count - 1 - k);
    }
    s.answer = "last first";
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

TEST(SampleGrid, NeverAsksBeyondTheCountOfNewData) {
    SampleGrid grid;
    grid.resize(600, 300);
    grid.show();
    grid.setData(250000, sample(0), {});
    grid.verticalScrollBar()->setValue(grid.verticalScrollBar()->maximum());
    ShownSample large = sample(0);
    large.sample.image = {3, 200, 120, std::vector<std::uint8_t>(3 * 200 * 120)};
    QSignalSpy needed(&grid, &SampleGrid::samplesNeeded);
    grid.setData(7, large, {});
    ASSERT_GE(needed.count(), 1);
    for (const auto& asked : needed) EXPECT_LE(asked[0].toLongLong() + asked[1].toInt(), 7);
}

TEST(SampleGrid, DrawsNearestNeighbourAtAWholeScale) {
    SampleGrid grid;
    grid.resize(400, 300);
    EXPECT_EQ(sampleSize(sample(0)), QSize(64, 64)) << "sixteen times";
    grid.setData(3, sample(0), {});
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
    ShownSample s = sample(7);
    s.sample.image.pixels[s.sample.image.index(1, 2, 0)] = 255;
    view.setSample(s, {"no", "yes"});
    view.show();
    QTest::qWait(1);
    const QRect picture = view.pictureRect();
    const int scale = picture.width() / 4;
    EXPECT_GE(scale, 30);
    QTest::mouseMove(view.picture(), QPoint(2 * scale + 1, scale + 1));
    EXPECT_EQ(view.pixelText(), "row 1, column 2: 255, 7, 7");
    view.clear();
    EXPECT_TRUE(view.pictureRect().isNull());
}

TEST(Samples, EveryFormHasASize) {
    EXPECT_EQ(formOf({}), SampleForm::Nothing);
    EXPECT_EQ(formOf(sample(1).sample), SampleForm::Image);
    const ShownSample ten = objects(10);
    EXPECT_EQ(formOf(ten.sample), SampleForm::Pictures);
    EXPECT_EQ(sampleSize(ten), QSize(10 * 32 - 4, 2 * 28 + 10)) << "as given, and in order below";
    EXPECT_EQ(sampleSize(objects(2)).width(), 2 * 56 + 4) << "few of them twice as large";
    ShownSample bars = objects(3);
    bars.sample.source.pictures.clear();
    EXPECT_EQ(formOf(bars.sample), SampleForm::Vectors);
    ShownSample text;
    text.sample.source.text = true;
    text.sample.source.tokens = {1, 2, 0};
    text.sample.source.labels = {"to", " be", ""};
    EXPECT_EQ(formOf(text.sample), SampleForm::Text);
    EXPECT_EQ(textOf(text.sample.source), "to be");
    // A photograph is shrunk; a file without pixels still has a cell.
    ShownSample photo;
    photo.sample.image = {600, 300, 3, std::vector<std::uint8_t>(600 * 300 * 3)};
    EXPECT_EQ(sampleSize(photo), QSize(192, 96));
    for (const auto& shown : {ten, bars, text, photo, sample(3), ShownSample()}) {
        SampleGrid grid;
        grid.resize(400, 300);
        grid.setData(9, shown, {});
        grid.setSamples(0, {shown, shown});
        EXPECT_FALSE(grid.grab().isNull());
        SampleView view;
        view.resize(280, 320);
        view.setSample(shown, {"no", "yes"});
        EXPECT_FALSE(view.grab().isNull());
        EXPECT_FALSE(view.csv().isEmpty());
    }
}

TEST(SampleGrid, ShowsObjectsInTheirOrderBelow) {
    SampleGrid grid;
    grid.resize(400, 200);
    const ShownSample three = objects(3);
    grid.setData(2, three, {});
    grid.setSamples(0, {three});
    grid.show();
    const QImage shot = grid.viewport()->grab().toImage();
    const QPoint cell = grid.cellRect(0).topLeft();
    EXPECT_EQ(qRed(shot.pixel(cell + QPoint(10, 10))), 0);
    EXPECT_EQ(qRed(shot.pixel(cell + QPoint(70, 10))), 20);
    EXPECT_EQ(qRed(shot.pixel(cell + QPoint(10, 56 + 20))), 40) << "the last comes first";
}

TEST(SampleView, ObjectsAndTextsHaveWordsAndAnswers) {
    SampleView view;
    view.resize(300, 420);
    view.show();
    view.setSample(objects(4), {"no", "yes"});
    EXPECT_EQ(view.labelText(), "answer last first");
    EXPECT_TRUE(view.tiles()->isVisible());
    EXPECT_TRUE(view.accessibleDescription().startsWith("A0, A1, A2, A3: answer last first"));
    EXPECT_TRUE(view.csv().startsWith("object,x1,x2\nA0,0,-1\nA1,1,-1\n"));
    QTest::mouseClick(view.tiles()->canvas(), Qt::LeftButton, {}, QPoint(30, 60));
    EXPECT_FALSE(view.grab().isNull()) << "a click on objects that are only shown";
    ShownSample text;
    text.sample.source.text = true;
    text.sample.source.tokens = {5, 6};
    text.sample.source.labels = {"x", "<b>"};
    text.answer = "<b>";
    view.setSample(text, {});
    EXPECT_EQ(view.labelText(), "answer &lt;b&gt;") << "no markup";
    QTest::qWait(1);
    QTest::mouseMove(view.picture(), QPoint(8, 12));
    EXPECT_EQ(view.pixelText(), QString::fromUtf8("token 0 “x”, id 5"));
    EXPECT_EQ(view.csv(), "id,text\n5,x\n6,<b>\n");
    ShownSample labelled = sample(1);
    view.setSample(labelled, {"no", "yes"});
    EXPECT_EQ(view.labelText(), "label yes");
}

TEST(StatisticsView, ListsClasses) {
    StatisticsView view;
    view.setClasses({{"no", 0}, {"yes", 5}});
    EXPECT_EQ(view.csv(), "class,count\nno,0\nyes,5\n");
    const QString tex = view.pgfplots("Between, train");
    EXPECT_TRUE(tex.startsWith("% Between, train")) << tex.toStdString();
    EXPECT_TRUE(tex.contains("ybar") && tex.contains("yes")) << tex.toStdString();
    EXPECT_FALSE(view.grab().isNull());
    view.resize(240, 100);
    const int before = view.sizeHint().height();
    view.setNote("3 pictures were skipped: they could not be read, and their names are in the log");
    EXPECT_GE(view.sizeHint().height(), before + 40) << "wrapped, not cut";
    view.setClasses({{"1 to 3", 9}}, "answer length");
    EXPECT_EQ(view.csv(), "answer length,count\n1 to 3,9\n");
}
