// SPDX-License-Identifier: GPL-3.0-or-later
// The views of a study: grid, efficiency plot and table.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "support/rooms.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

const double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Three models, four sizes, three seeds; the last size still runs.
StudyInfo study() {
    StudyInfo s;
    s.plan.preset = "relational-games-occurs";
    s.plan.models = {"dat", "transformer", "abstractor"};
    s.plan.sizes = {250, 500, 1000, 2500};
    s.plan.seeds = {0, 1, 2};
    for (const auto& model : s.plan.models)
        for (const auto size : s.plan.sizes)
            for (const auto seed : s.plan.seeds) {
                StudyCell cell;
                cell.name = model + "-n" + std::to_string(size) + "-s" + std::to_string(seed);
                cell.model = model;
                cell.size = size;
                cell.seed = seed;
                cell.info.parameters = 423010;
                cell.info.model = "ViDAT ra2";
                s.cells.push_back(cell);
            }
    return s;
}

std::vector<GridRun> gridRuns(const StudyInfo& s, const StudyLayout& layout) {
    std::vector<GridRun> runs;
    for (const auto& cell : s.cells) {
        const auto place = layout.place(studySeries(s.plan, cell.model, cell.values), cell.size);
        GridRun run;
        run.row = place.row;
        run.column = place.column;
        run.name = QString::fromStdString(cell.name);
        run.seed = cell.seed;
        if (cell.size < 2500) {
            run.state = CellState::Done;
            run.path = "/study/runs/" + run.name;
            run.value = 0.6 + 0.1 * place.column - 0.05 * place.row + 0.01 * double(cell.seed);
            run.seconds = 61;
        }
        runs.push_back(run);
    }
    return runs;
}

StudyPoint studyPoint(const std::string& series, std::int64_t size, std::vector<double> values) {
    StudyPoint p;
    p.series = series;
    p.size = size;
    p.values = std::move(values);
    p.mean = 0.0;
    for (const double v : p.values) p.mean += v / double(p.values.size());
    if (p.values.size() > 1) p.error = 0.01, p.low = p.mean - 0.02, p.high = p.mean + 0.02;
    p.parameters = 423010;
    return p;
}

std::vector<StudyPoint> points() {
    return {
        studyPoint("dat", 250, {0.6, 0.62}),         studyPoint("dat", 500, {0.8, 0.82}),
        studyPoint("dat", 1000, {0.9, 0.92}),        studyPoint("transformer", 250, {0.55}),
        studyPoint("transformer", 500, {0.6, 0.61}), studyPoint("transformer", 1000, {0.7, 0.72})};
}

const StudyMetric accuracy{"accuracy", "hexos", true, false};

struct Grid {
    StudyInfo info = study();
    StudyLayout layout{info};
    StudyGrid grid;
    std::vector<GridRun> runs = gridRuns(info, layout);
    explicit Grid(const QSize& size = {900, 220}) {
        grid.resize(size);
        grid.setStudy(layout, accuracy, runs);
        grid.show();
        QCoreApplication::processEvents();
    }
    int index(const QString& name) const {
        for (std::size_t i = 0; i < grid.runs().size(); ++i)
            if (grid.runs()[i].name == name) return static_cast<int>(i);
        return -1;
    }
    void click(const QString& name) {
        QTest::mouseClick(grid.viewport(), Qt::LeftButton, {}, grid.runRect(index(name)).center());
    }
    QImage picture() { return grid.grab().toImage(); }
};

}  // namespace

TEST(StudyLayout, PutsSizesAcrossAndModelsDown) {
    const StudyLayout layout(study());
    ASSERT_EQ(layout.rows().size(), 3u);
    ASSERT_EQ(layout.columns().size(), 4u);
    EXPECT_EQ(layout.columns()[2].title, "1,000");
    EXPECT_EQ(layout.place("abstractor", 2500), (StudyLayout::Place{2, 3}));
    EXPECT_EQ(layout.place("nobody", 2500).row, -1);
    EXPECT_EQ(layout.columnText(0), "250 training examples");
    EXPECT_TRUE(layout.rows()[0].detail.contains("423K"));
}

TEST(StudyLayout, PutsAnOptionAcrossWhereThereIsOneSize) {
    StudyInfo s;
    s.plan.models = {"dat", "abstractor"};
    s.plan.vary = {{"model.n_layers", {"1", "2"}}, {"model.n_heads_ra", {"1", "2", "4"}}};
    for (const auto& model : s.plan.models)
        for (const auto& layers : s.plan.vary[0].values)
            for (const auto& heads : s.plan.vary[1].values) {
                StudyCell cell;
                cell.model = model;
                cell.size = 500;
                cell.values = {layers, heads};
                s.cells.push_back(cell);
            }
    const StudyLayout layout(s);
    EXPECT_EQ(layout.axisTitle(), "n_heads_ra");
    EXPECT_TRUE(layout.numeric());
    EXPECT_FALSE(layout.sizesAcross());
    ASSERT_EQ(layout.rows().size(), 4u);
    EXPECT_EQ(layout.rows()[1].name, "dat, n_layers=2");
    EXPECT_EQ(layout.columns()[2].x, 4.0);
    EXPECT_EQ(layout.place("abstractor, n_layers=2, n_heads_ra=4", 500),
              (StudyLayout::Place{3, 2}));
    s.plan.vary[1].values = {"relu", "tanh", "none"};
    for (std::size_t i = 0; i < s.cells.size(); ++i)
        s.cells[i].values[1] = s.plan.vary[1].values[i % 3];
    EXPECT_FALSE(StudyLayout(s).numeric());
    // The number of parameters is a row's where the option across does not change it.
    for (auto& cell : s.cells) cell.info.parameters = 423010;
    EXPECT_FALSE(StudyLayout(s).rows()[0].sizeVaries);
    EXPECT_EQ(StudyLayout(s).rows()[0].parameters, 423010);
    s.cells[2].info.parameters = 500000;
    EXPECT_TRUE(StudyLayout(s).rows()[0].sizeVaries);
    EXPECT_FALSE(StudyLayout(s).rows()[1].sizeVaries);
}

TEST(StudyMetric, WritesNumbersAsTheyAreRead) {
    EXPECT_EQ(accuracy.text(0.9674), "96.7");
    EXPECT_EQ(accuracy.text(0.9674, 0.0041), "96.7 ± 0.4");
    EXPECT_EQ(accuracy.text(kMissing), QString(QChar(0x2014)));
    EXPECT_EQ(accuracy.title(), "accuracy on hexos, %");
    const StudyMetric error{"mean_error", "test", false, true};
    EXPECT_EQ(error.text(0.12345, 0.01), "0.1235 ± 0.0100");
    EXPECT_EQ(error.title(), "mean error on test");
}

TEST(StudyGrid, ClickChoosesAndDoubleClickOpens) {
    Grid g;
    QSignalSpy chosen(&g.grid, &StudyGrid::currentChanged);
    QSignalSpy opened(&g.grid, &StudyGrid::runActivated);
    g.click("transformer-n500-s1");
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(g.grid.current(), g.index("transformer-n500-s1"));
    QTest::mouseDClick(g.grid.viewport(), Qt::LeftButton, {},
                       g.grid.runRect(g.index("dat-n250-s2")).center());
    ASSERT_EQ(opened.size(), 1);
    EXPECT_EQ(opened[0][0].toString(), "/study/runs/dat-n250-s2");
    // One that has not begun has nothing to open.
    QTest::mouseDClick(g.grid.viewport(), Qt::LeftButton, {},
                       g.grid.runRect(g.index("dat-n2500-s0")).center());
    EXPECT_EQ(opened.size(), 1);
}

TEST(StudyGrid, KeysWalkThroughSeedsColumnsAndRows) {
    Grid g;
    g.grid.setFocus();
    QTest::keyClick(&g.grid, Qt::Key_Right);
    EXPECT_EQ(g.grid.current(), g.index("dat-n250-s0"));
    for (int i = 0; i < 3; ++i) QTest::keyClick(&g.grid, Qt::Key_Right);
    EXPECT_EQ(g.grid.current(), g.index("dat-n500-s0"));
    QTest::keyClick(&g.grid, Qt::Key_Left);
    EXPECT_EQ(g.grid.current(), g.index("dat-n250-s2"));
    QTest::keyClick(&g.grid, Qt::Key_Down);
    EXPECT_EQ(g.grid.current(), g.index("transformer-n250-s2"));
    QTest::keyClick(&g.grid, Qt::Key_End);
    EXPECT_EQ(g.grid.current(), g.index("abstractor-n2500-s2"));
    QTest::keyClick(&g.grid, Qt::Key_Right);  // there is none
    EXPECT_EQ(g.grid.current(), g.index("abstractor-n2500-s2"));
    QSignalSpy opened(&g.grid, &StudyGrid::runActivated);
    QTest::keyClick(&g.grid, Qt::Key_Home);
    QTest::keyClick(&g.grid, Qt::Key_Return);
    ASSERT_EQ(opened.size(), 1);
    QTest::keySequence(&g.grid, QKeySequence::Copy);
    EXPECT_TRUE(QApplication::clipboard()->text().contains("dat-n250-s0"));
}

TEST(StudyGrid, SaysWhatARunIs) {
    Grid g;
    const QString text = g.grid.picture().cells.text(g.index("dat-n500-s1"));
    EXPECT_TRUE(text.contains("dat-n500-s1")) << text.toStdString();
    EXPECT_TRUE(text.contains("500 training examples")) << text.toStdString();
    EXPECT_TRUE(text.contains("done: accuracy on hexos 71.0%")) << text.toStdString();
    EXPECT_TRUE(text.contains("1 min 1 s")) << text.toStdString();
    g.runs[0].state = CellState::Failed;
    g.runs[0].message = "loss became NaN at step 12";
    g.grid.setStudy(g.layout, accuracy, g.runs);
    EXPECT_TRUE(g.grid.picture().cells.text(0).contains("failed: loss became NaN at step 12"));
    EXPECT_TRUE(g.grid.picture().cells.text(-1).isEmpty());
    EXPECT_TRUE(g.grid.accessibleDescription().contains("1 failed"));
}

TEST(StudyGrid, LooksDifferentInEveryState) {
    Grid g;
    std::vector<QImage> pictures{g.picture()};
    for (const auto state :
         {CellState::Waiting, CellState::Running, CellState::Failed, CellState::Interrupted}) {
        g.runs[0].state = state;
        g.grid.setStudy(g.layout, accuracy, g.runs);
        const QImage picture = g.picture();
        for (const QImage& other : pictures) EXPECT_NE(picture, other) << cellStateName(state);
        pictures.push_back(picture);
    }
    g.runs[0].state = CellState::Running;
    g.runs[0].progress = 0.7;
    g.grid.setStudy(g.layout, accuracy, g.runs);
    EXPECT_NE(g.picture(), pictures[2]);  // it fills
}

TEST(StudyGrid, ColoursFollowTheValueAndTheBetterEndIsBrighter) {
    Grid g;
    EXPECT_DOUBLE_EQ(g.grid.picture().cells.range().first, 0.5);
    EXPECT_DOUBLE_EQ(g.grid.picture().cells.range().second, 0.9);
    EXPECT_LT(qGray(g.grid.picture().fill(0.5).rgb()), qGray(g.grid.picture().fill(0.9).rgb()));
    g.grid.setStudy(g.layout, {"loss", "test", false, true}, g.runs);
    EXPECT_GT(qGray(g.grid.picture().fill(0.5).rgb()), qGray(g.grid.picture().fill(0.8).rgb()));
}

TEST(StudyGrid, EqualValuesHaveASaneScale) {
    Grid g;
    const auto rangeOf = [&](double value, const StudyMetric& metric) {
        for (auto& run : g.runs) run.value = value;
        g.grid.setStudy(g.layout, metric, g.runs);
        return g.grid.picture().cells.range();
    };
    for (const double value : {0.0, 0.5, 0.97, 1.0}) {
        const auto [low, high] = rangeOf(value, accuracy);
        EXPECT_GE(low, 0.0) << value;
        EXPECT_LE(high, 1.0) << value;
        EXPECT_NEAR(high - low, 0.1, 1e-9) << value;
        EXPECT_GE(value, low - 1e-9);
        EXPECT_LE(value, high + 1e-9);
    }
    const StudyMetric loss{"loss", "test", false, true};
    EXPECT_EQ(rangeOf(0.0, loss), std::pair(1.0, 0.0)) << "the lower, the better";
    EXPECT_EQ(rangeOf(2.0, loss), std::pair(3.0, 1.0));
}

TEST(StudyGrid, KeepsTheChosenRunWhenOthersChange) {
    Grid g;
    g.click("abstractor-n500-s2");
    g.runs[0].value = 0.99;
    g.grid.setStudy(g.layout, accuracy, g.runs);
    EXPECT_EQ(g.grid.current(), g.index("abstractor-n500-s2"));
}

TEST(StudyGrid, WritesEveryRunAsALine) {
    Grid g;
    const QStringList lines = g.grid.picture().cells.csv().trimmed().split('\n');
    ASSERT_EQ(lines.size(), 37);
    EXPECT_EQ(lines[0], "run,model,train_size,seed,state,accuracy hexos,message");
    EXPECT_EQ(lines[1], "dat-n250-s0,dat,250,0,done,0.6,");
    EXPECT_TRUE(lines[10].startsWith("dat-n2500-s0,dat,2500,0,waiting,,"));
}

TEST(StudyCells, FindsAndWalksWithoutAWidget) {
    const StudyInfo info = study();
    const StudyLayout layout(info);
    StudyCells cells;
    cells.set(layout, accuracy, gridRuns(info, layout));
    EXPECT_EQ(cells.find("nobody"), -1);
    const int first = cells.find(cells.runs().front().name);
    EXPECT_EQ(first, 0);
    EXPECT_EQ(cells.stepped(0, -1, 0), -1) << "nothing before the first";
    EXPECT_EQ(cells.place(cells.stepped(0, 1, 0)), 1) << "the next seed of the cell";
    const int below = cells.stepped(0, 0, 1);
    EXPECT_EQ(cells.run(below).row, cells.run(0).row + 1);
    EXPECT_EQ(cells.stepped(below, 0, -1), 0);
    EXPECT_EQ(cells.run(cells.stepped(0, 0, 99)).row, cells.rows() - 1);

    StudyGridPicture picture;
    picture.cells = cells;
    picture.measure(900);
    for (int k = 0; k < static_cast<int>(cells.runs().size()); ++k)
        EXPECT_EQ(picture.runAt(picture.runRect(k).center()), k);
    EXPECT_EQ(picture.runAt({0, 0}), -1) << "the head";
}

TEST(StudyGrid, ScrollsThousandsOfRunsQuickly) {
    StudyInfo s;
    for (int m = 0; m < 40; ++m) s.plan.models.push_back("model-" + std::to_string(m));
    for (int n = 1; n <= 20; ++n) s.plan.sizes.push_back(250 * n);
    for (const auto& model : s.plan.models)
        for (const auto size : s.plan.sizes)
            for (int seed = 0; seed < 10; ++seed) {
                StudyCell cell;
                cell.name = model + std::to_string(size) + std::to_string(seed);
                cell.model = model;
                cell.size = size;
                cell.seed = seed;
                s.cells.push_back(cell);
            }
    Grid g({900, 400});
    const StudyLayout layout(s);
    g.grid.setStudy(layout, accuracy, gridRuns(s, layout));
    EXPECT_GT(g.grid.horizontalScrollBar()->maximum(), 0);
    EXPECT_GT(g.grid.verticalScrollBar()->maximum(), 0);
    g.grid.setCurrent(static_cast<int>(g.grid.runs().size()) - 1);
    EXPECT_TRUE(g.grid.viewport()->rect().contains(
        g.grid.runRect(static_cast<int>(g.grid.runs().size()) - 1)));
    QElapsedTimer timer;
    timer.start();
    g.picture();
    EXPECT_LT(timer.elapsed(), 250);
    EXPECT_GT(g.grid.picture().size().height(), 40 * 40);
}

TEST(EfficiencyPlot, LegendShowsValuesAtTheCursor) {
    EfficiencyPlot plot;
    plot.resize(560, 360);
    plot.setStudy(StudyLayout(study()), accuracy, points(), {{"dat", 500, 0.85, 0.01}});
    plot.show();
    QCoreApplication::processEvents();
    plot.replotNow();
    EXPECT_EQ(plot.legendTexts(),
              (QStringList{"dat 91.0%", "transformer 71.0%", QString("abstractor ") + QChar(0x2014),
                           "published", QString::fromUtf8("band: 95 % (Student’s t)")}));
    QSignalSpy moved(&plot, &EfficiencyPlot::cursorMoved);
    plot.setCursor(0);
    EXPECT_EQ(plot.legendTexts()[0], "dat 61.0%");
    EXPECT_EQ(moved.size(), 1);
    plot.setShown(CurveSource::Published, false);
    EXPECT_EQ(plot.legendTexts().size(), 4);
}

TEST(EfficiencyPlot, TellsOfThePointUnderThePointer) {
    EfficiencyPlot plot;
    plot.resize(560, 360);
    plot.setStudy(StudyLayout(study()), accuracy, points(), {{"dat", 500, 0.85, 0.01}});
    plot.show();
    QCoreApplication::processEvents();
    plot.replotNow();
    const QString text = plot.hoverText(plot.pixelOf(0, 1).toPoint());
    EXPECT_TRUE(text.contains("dat, 500 training examples")) << text.toStdString();
    EXPECT_TRUE(text.contains("81.0 ± 1.0 % (s.e.) over 2 runs")) << text.toStdString();
    EXPECT_TRUE(text.contains("95 % (Student’s t): 79.0 to 83.0 %")) << text.toStdString();
    EXPECT_TRUE(text.contains("published 85.0 %")) << text.toStdString();
    plot.setBand(StudyBand::TwoErrors);
    plot.replotNow();
    EXPECT_TRUE(plot.hoverText(plot.pixelOf(0, 1).toPoint()).contains("2 s.e., as the papers"));
    EXPECT_EQ(plot.legendTexts().last(), QString::fromUtf8("band: ± 2 s.e., as the papers"));
    EXPECT_TRUE(plot.hoverText({2, 2}).isEmpty());
}

TEST(EfficiencyPlot, BandAxisAndPublishedChangeThePicture) {
    EfficiencyPlot plot;
    plot.resize(560, 360);
    plot.setStudy(StudyLayout(study()), accuracy, points(), {{"dat", 500, 0.75, 0.01}});
    plot.show();
    const auto picture = [&] {
        QCoreApplication::processEvents();
        plot.replotNow();
        return plot.grab().toImage();
    };
    QImage before = picture();
    const auto changed = [&](const char* what) {
        const QImage after = picture();
        EXPECT_NE(before, after) << what;
        before = after;
    };
    plot.setBand(StudyBand::None);
    changed("band");
    ASSERT_TRUE(plot.canLogX());
    plot.setLogX(true);
    changed("log x");
    ASSERT_TRUE(plot.has(CurveSource::Published));
    plot.setShown(CurveSource::Published, false);
    changed("published");
    plot.setCursor(1);
    changed("cursor");
}

TEST(EfficiencyPlot, ReferenceRunsAreShownBesideThePublishedCurves) {
    EfficiencyPlot plot;
    plot.resize(560, 360);
    plot.setStudy(StudyLayout(study()), accuracy, points(),
                  {{"dat", 500, 0.85, 0.01}, {"dat", 500, 0.6, 0.01, CurveSource::Relascope}});
    plot.show();
    QCoreApplication::processEvents();
    plot.replotNow();
    EXPECT_TRUE(plot.has(CurveSource::Published));
    EXPECT_TRUE(plot.has(CurveSource::Relascope));
    EXPECT_FALSE(plot.isShown(CurveSource::Relascope)) << "only when it is asked for";
    const QString own = QString::fromUtf8("Relascope\u2019s own");
    EXPECT_FALSE(plot.legendTexts().contains(own));
    const QImage before = plot.grab().toImage();
    plot.setShown(CurveSource::Relascope, true);
    plot.replotNow();
    EXPECT_TRUE(plot.legendTexts().contains(own));
    EXPECT_TRUE(plot.legendTexts().contains("published"));
    EXPECT_NE(plot.grab().toImage(), before);
}

TEST(EfficiencyPlot, OneSizeStandsSideBySide) {
    StudyInfo s = study();
    std::erase_if(s.cells, [](const StudyCell& c) { return c.size != 500; });
    EfficiencyPlot plot;
    plot.resize(560, 360);
    plot.setStudy(StudyLayout(s), accuracy,
                  {studyPoint("dat", 500, {0.8, 0.82}), studyPoint("transformer", 500, {0.6})},
                  {{"dat", 500, 0.85, 0.01}});
    plot.show();
    QCoreApplication::processEvents();
    plot.replotNow();
    EXPECT_FALSE(plot.canLogX());
    EXPECT_LT(plot.pixelOf(0, 0).x() + 60, plot.pixelOf(1, 0).x());
    EXPECT_TRUE(plot.has(CurveSource::Published));
    plot.setCursor(0);
    EXPECT_EQ(plot.cursor(), -1);
}

TEST(StudyTable, ShowsMeansPublishedAndWhatIsNeeded) {
    StudyTable table;
    table.resize(560, 420);
    table.setStudy(StudyLayout(study()), accuracy, points(), {{"dat", 500, 0.85, 0.01}},
                   {{0.8, 0.9, 0.95}, {{488, 990, kMissing}, {kMissing, kMissing, kMissing}, {}}});
    table.show();
    const auto* model = table.view()->model();
    const auto at = [&](int row, int column) {
        return model->index(row, column).data().toString();
    };
    EXPECT_EQ(model->rowCount(), 3);
    EXPECT_EQ(at(0, 0), "423K");
    EXPECT_EQ(at(0, 1), "6");
    EXPECT_EQ(at(0, 3), "81.0 ± 1.0");
    EXPECT_EQ(at(1, 2), "55.0");  // one run has no error
    EXPECT_EQ(model->index(0, 3).data(Qt::AccessibleTextRole).toString(),
              "81.0 ± 1.0, published 85.0");
    EXPECT_EQ(table.neededView()->model()->index(0, 0).data().toString(), "488");
    EXPECT_EQ(table.neededView()->model()->index(0, 2).data().toString(), "not reached");
    // Missing numbers last, both ways.
    table.view()->sortByColumn(3, Qt::AscendingOrder);
    EXPECT_EQ(at(0, 3), "60.5 ± 1.0");
    EXPECT_EQ(model->headerData(2, Qt::Vertical).toString(), "abstractor");
    table.view()->sortByColumn(3, Qt::DescendingOrder);
    EXPECT_EQ(at(0, 3), "81.0 ± 1.0");
    EXPECT_EQ(model->headerData(2, Qt::Vertical).toString(), "abstractor");
    EXPECT_TRUE(table.csv().contains("examples to reach,80%,90%,95%"));
    EXPECT_TRUE(table.text().contains("dat\t423K\t6\t"));
}

TEST(StudyTable, LeavesOutWhatNeedsSharesForOtherNumbers) {
    StudyTable table;
    table.resize(560, 420);
    table.setStudy(StudyLayout(study()), {"loss", "test", false, true}, points(), {}, {});
    table.show();
    EXPECT_FALSE(table.neededView()->isVisible());
    EXPECT_FALSE(table.csv().contains("examples to reach"));
}

TEST(StudyFigure, IsWrittenInEveryFormat) {
    QTemporaryDir folder;
    for (const char* ending : {"png", "svg", "pdf"}) {
        const QString path = folder.filePath(QString("figure.%1").arg(ending));
        QString error;
        EXPECT_TRUE(
            renderStudy(StudyLayout(study()), accuracy, points(), {}, {}, "Occurs", path, &error))
            << error.toStdString();
        EXPECT_GT(QFileInfo(path).size(), 2000) << ending;
    }
    QString error;
    EXPECT_FALSE(
        renderStudy({}, accuracy, {}, {}, {}, "none", folder.filePath("none.svg"), &error));
    EXPECT_TRUE(error.contains("nothing to draw"));
}
