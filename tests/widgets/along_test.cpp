// SPDX-License-Identifier: GPL-3.0-or-later
// A map and a cell along training: the lines, the film strip, what a click chooses, and the files.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "support/rooms.h"
#include "widgets/analysis/along/along_view.h"
#include "widgets/analysis/along/film_strip.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

AlongTraining alongOf(int count, bool edited = false, int side = 10) {
    AlongTraining along;
    along.cell = {MapKind::Relation, 0, 0, 0, 1, 4};
    along.layerName = "layer 1";
    along.rows = along.columns = side;
    along.edited = edited;
    along.answer = 1, along.answerName = "occurs";
    along.wanted = count;
    for (int k = 0; k < count; ++k) {
        AlongStep at;
        at.step = k == 0 ? 0 : static_cast<std::int64_t>(std::lround(std::pow(2.0, k / 6.0))) + k;
        const double formed = 1.0 / (1.0 + std::exp(0.5 * (count * 0.7 - k)));
        for (AlongValues* values : {&at.now, &at.before}) {
            for (int i = 0; i < side; ++i)
                for (int j = 0; j < side; ++j)
                    values->map.push_back(static_cast<float>(
                        (i == j ? 0.6 : 0.1 * std::sin(3.0 * i + j)) +
                        formed * 3.0 * std::cos(0.7 * i * j) * (values == &at.now ? 1.0 : 0.5)));
            values->value = static_cast<double>(values->map[static_cast<std::size_t>(side + 4)]);
            values->probability = 0.5 + 0.45 * formed;
        }
        along.steps.push_back(at);
    }
    return along;
}

struct ShownLines {
    AlongView view;
    explicit ShownLines(const AlongTraining& along) {
        core::Analysis analysis;
        analysis.csv = [](const Answer&) { return std::string("step,value\n"); };
        view.setAnalysis(analysis);
        view.resize(1200, 640);
        view.setAlong(along);
        view.show();
        QApplication::processEvents();
    }
};

TEST(Film, FramesAreEvenlySpacedInLogOfTheStep) {
    const auto along = alongOf(48);
    const auto frames = frameSteps(along, 12);
    ASSERT_EQ(frames.size(), 12u);
    EXPECT_EQ(frames.front(), 0);
    EXPECT_EQ(frames.back(), 47);
    for (std::size_t k = 1; k < frames.size(); ++k) EXPECT_LT(frames[k - 1], frames[k]);
    const auto key = [&](std::size_t k) {
        return std::log1p(static_cast<double>(along.steps[std::size_t(frames[k])].step));
    };
    EXPECT_NEAR(key(6) - key(5), key(11) / 11, 0.2);
    EXPECT_EQ(frameSteps(alongOf(5), 12), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(frameSteps(AlongTraining{}, 12).empty());
}

TEST(Film, OneScaleIsCommonToAllSteps) {
    auto along = alongOf(20);
    along.steps[7].now.map[3] = -9.0F;
    const auto scale = filmScale(along);
    EXPECT_TRUE(scale.isSigned());
    EXPECT_EQ(scale.limits().low, -9.0F);
    EXPECT_EQ(scale.limits().high, 9.0F);
    // Masked cells have no colour.
    along.causal = true;
    EXPECT_LT(filmScale(along).limits().high, 9.0F);
    along.cell.kind = MapKind::SensoryAttention;
    EXPECT_FALSE(filmScale(along).isSigned());
    EXPECT_EQ(filmTitle(along), "Layer 1, sensory attention 1");
    EXPECT_EQ(filmFileName(along), "layer1_sensory-attention1");
    // Several cells a pixel, and whole pixels a cell.
    EXPECT_EQ(StripLayout::wholeCells({100, 100}, {64, 70}), QSize(64, 64));
    EXPECT_EQ(StripLayout::wholeCells({10, 10}, {64, 70}), QSize(60, 60));
}

TEST(AlongView, AFrameAndAPointOfTheLineChooseTheirStep) {
    ShownLines shown(alongOf(48));
    auto& view = shown.view;
    QSignalSpy steps(&view, &AlongView::stepRequested);
    auto* film = view.film();
    ASSERT_EQ(film->frames().size(), 12u);
    const auto stepOf = [&](int frame) {
        return view.along().steps[std::size_t(film->frames()[std::size_t(frame)])].step;
    };
    for (const int frame : {0, 6, 11}) {
        ASSERT_TRUE(film->rect().contains(film->tileRect(frame)));
        QTest::mouseClick(film->canvas(), Qt::LeftButton, {}, film->tileRect(frame).center());
        ASSERT_FALSE(steps.isEmpty());
        EXPECT_EQ(steps.takeLast()[0].toLongLong(), stepOf(frame));
    }
    QTest::mouseClick(film->canvas(), Qt::LeftButton, {}, {2, 2});
    EXPECT_TRUE(steps.isEmpty()) << "beside the frames";
    auto* plot = view.valuePlot();
    const qint64 step = view.along().steps[30].step;
    const QPoint at = plot->pixelOf(double(step)).toPoint();
    EXPECT_TRUE(plot->hoverText(at).startsWith(QStringLiteral("step %1: ").arg(step)));
    EXPECT_TRUE(plot->hoverText({at.x(), 3}).isEmpty());
    QTest::mouseClick(plot, Qt::LeftButton, {}, at);
    ASSERT_EQ(steps.size(), 1);
    EXPECT_EQ(steps.takeLast()[0].toLongLong(), step);
    // The axis of steps is another one.
    QTest::mouseClick(view.logChip(), Qt::LeftButton);
    EXPECT_NE(plot->pixelOf(double(step)).toPoint().x(), at.x());
    // The keys move from the inspected frame.
    view.setPlace({{}, {}, {}, stepOf(4)});
    film->setFocus();
    QTest::keyClick(film, Qt::Key_Right);
    QTest::keyClick(film, Qt::Key_Left);
    QTest::keyClick(film, Qt::Key_End);
    ASSERT_EQ(steps.size(), 3);
    EXPECT_EQ(steps[0][0].toLongLong(), stepOf(5));
    EXPECT_EQ(steps[1][0].toLongLong(), stepOf(3));
    EXPECT_EQ(steps[2][0].toLongLong(), stepOf(11));
}

TEST(AlongView, SaysWhatItShowsAndWhatIsMissing) {
    auto along = alongOf(20, true);
    ShownLines shown(along);
    auto& view = shown.view;
    EXPECT_EQ(view.headText(), "Layer 1, relation 1, 20 kept steps");
    EXPECT_EQ(view.valuePlot()->title(), "r_ij, i = 1, j = 4");
    EXPECT_EQ(view.answerPlot()->title(), QString::fromUtf8("Probability of “occurs”"));
    EXPECT_TRUE(view.valuePlot()
                    ->hoverText(view.valuePlot()->pixelOf(0).toPoint())
                    .contains(", without the edits "));
    view.setPlace({{}, {}, "i = patch (0, 1), j = patch (1, 2)", {}});
    EXPECT_EQ(view.valuePlot()->title(), "r_ij, i = patch (0, 1), j = patch (1, 2)");
    along.steps.resize(3);
    along.answer = -1;
    view.setAlong(along);
    EXPECT_EQ(view.headText(), "Layer 1, relation 1, 3 of 20 kept steps");
    EXPECT_FALSE(view.answerPlot()->isVisible());
    view.clear("No.");
    EXPECT_TRUE(view.isEmpty());
    EXPECT_EQ(view.sentence(), "No.");
    EXPECT_FALSE(view.logChip()->isVisible());
}

TEST(AlongView, WritesTheLinesTheStripAndTheFrames) {
    QTemporaryDir folder;
    ShownLines shown(alongOf(14, true));
    auto& view = shown.view;
    QString error;
    for (const char* ending : {"png", "svg", "pdf", "csv"}) {
        const QString path = folder.filePath(QStringLiteral("a.") + ending);
        ASSERT_TRUE(view.menu()->write(path, &error)) << error.toStdString();
        EXPECT_GT(QFile(path).size(), 10);
    }
    QFile svg(folder.filePath("a.svg"));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(svg.readAll());
    EXPECT_TRUE(text.contains("Layer 1, relation 1, along training"));
    EXPECT_TRUE(text.contains("step 0"));
    EXPECT_TRUE(text.contains("with the edits"));
    core::Analysis analysis;
    analysis.name = "along";
    EXPECT_TRUE(renderAnalysis(analysis, core::answerOf(view.along()), "occurs, validation 1",
                               folder.filePath("b.png"), &error));

    QDir(folder.path()).mkdir("film");
    view.setPlace({"occurs", {}, {}, {}});
    view.askFolder = [&] { return folder.filePath("film"); };
    QSignalSpy saved(view.menu(), &ViewMenu::saved);
    const auto actions = view.menu()->menu()->actions();
    ASSERT_EQ(actions.last()->text(), "Frames...");
    actions.last()->trigger();
    ASSERT_TRUE(saved.wait(20000));
    const QDir film(folder.filePath("film"));
    EXPECT_EQ(film.entryList(QDir::Files).size(), 14);
    const auto last = static_cast<int>(view.along().steps.back().step);
    const QImage first(film.filePath("occurs_layer1_relation1_step000000.png"));
    const QImage end(film.filePath(
        QStringLiteral("occurs_layer1_relation1_step%1.png").arg(last, 6, 10, QLatin1Char('0'))));
    EXPECT_FALSE(first.isNull());
    EXPECT_EQ(first.size(), end.size());
    EXPECT_NE(first, end);
    QSignalSpy failed(view.menu(), &ViewMenu::failed);
    view.saveFrames(folder.filePath("missing"));
    ASSERT_TRUE(failed.wait(20000));
    EXPECT_EQ(failed.size(), 1);
}

}  // namespace
