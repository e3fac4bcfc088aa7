// SPDX-License-Identifier: GPL-3.0-or-later
// Runs side by side: overlay, published numbers, differences, notes on disk, and the way to the
// Workbench.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/controllers/controllers.h"
#include "app/pages/compare_page.h"
#include "options/presets.h"
#include "options/published.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_model.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/controls.h"

using namespace relascope;

namespace {

struct OpenComparePage {
    QTemporaryDir folder;
    Controllers controllers;
    AppContext context = controllers.context();
    std::unique_ptr<ComparePage> page;

    QString add(const std::string& name, const std::string& preset, const std::string& variant,
                double best) {
        const std::string path = folder.path().toStdString() + "/" + name;
        const RunOptions options = presetOptions(preset, variant);
        RunFolder run = RunFolder::create(path, options);
        for (int i = 1; i <= 20; ++i)
            run.append(MetricPoint{i * 5,
                                   i * 0.5,
                                   i * 2560,
                                   i * 2.0,
                                   Split::Validation,
                                   {{"loss", 0.7 / i}, {"accuracy", best - 0.3 / i}}});
        run.info().state = RunState::Done;
        run.info().kept = {100, {{"loss", 0.035}, {"accuracy", best}}};
        run.info().parameters = 100000 + static_cast<int>(best * 1000);
        run.saveInfo();
        run.flush();
        return QString::fromStdString(path);
    }
    void open() {
        controllers.runs.setFolder(folder.path());
        page = std::make_unique<ComparePage>(context);
        page->resize(1160, 760);
        page->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(page.get()));
    }
    bool waitForRows(int count) {
        return QTest::qWaitFor([&] { return page->table()->view()->model()->rowCount() == count; },
                               10000);
    }
    QModelIndex cell(const QString& path, int column) const {
        const auto* model = page->table()->view()->model();
        for (int row = 0; row < model->rowCount(); ++row)
            if (model->index(row, RunsModel::Run).data(RunsModel::PathRole).toString() == path)
                return model->index(row, column);
        return {};
    }
    void press(const QModelIndex& at, bool twice = false) {
        QTableView* view = page->table()->view();
        view->scrollTo(at);
        const QRect r = view->visualRect(at);
        const QPoint point =
            at.column() == RunsModel::Overlay ? QPoint(r.left() + 18, r.center().y()) : r.center();
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, point);
        if (twice) QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, point);
    }
};

}  // namespace

TEST(ComparePage, SaysWhatToDoWhenThereAreNoRuns) {
    OpenComparePage p;
    p.open();
    ASSERT_TRUE(p.page->emptyState()->isVisible());
    QSignalSpy asked(p.page.get(), &ComparePage::workbenchRequested);
    QTest::mouseClick(p.page->emptyState()->button(), Qt::LeftButton);
    EXPECT_EQ(asked.size(), 1);
}

TEST(ComparePage, CheckBoxesOverlayRunsAndShowTheirDifferences) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    const QString b = p.add("b", "relational-games-same", "dat", 0.8);
    p.open();
    ASSERT_TRUE(p.waitForRows(2));
    p.press(p.cell(a, RunsModel::Overlay));
    p.press(p.cell(b, RunsModel::Overlay));
    EXPECT_EQ(p.controllers.selection.runs().size(), 2);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return p.controllers.runs.records().points(b).size() == 20u; }, 10000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return p.page->curves()->csv().count(u'\n') > 20; }, 5000));
    EXPECT_GE(child<widgets::DiffTable>(p.page)->differingFields(),
              2);  // data.task and parameters at least
    EXPECT_TRUE(child<widgets::DiffTable>(p.page)->csv().contains("data.task"));
    p.press(p.cell(a, RunsModel::Overlay));
    EXPECT_EQ(p.controllers.selection.runs(), QStringList{b});
}

TEST(ComparePage, PublishedAccuracyIsOfTheTrainingFamily) {
    OpenComparePage p;
    const RunOptions options = presetOptions("relational-games-between");
    const QString a = p.add("a", options.preset, options.variant, 0.9);
    double wanted = std::nan("");
    for (const auto& result : publishedResults(options))
        if (result.split == options.data.family) wanted = result.accuracy;
    p.open();
    ASSERT_TRUE(p.waitForRows(1));
    const QString shown = p.cell(a, RunsModel::Published).data().toString();
    if (std::isnan(wanted))
        EXPECT_EQ(shown, QString(QChar(0x2014)));
    else
        EXPECT_EQ(shown, QString::number(100.0 * wanted, 'f', 1));
}

TEST(ComparePage, TestResultsStandAgainstThePublishedOnes) {
    OpenComparePage p;
    const RunOptions options = presetOptions("relational-games-between");
    std::vector<PublishedResult> printed = publishedResults(options);
    ASSERT_FALSE(printed.empty());
    const std::string path = p.folder.path().toStdString() + "/tested";
    {
        RunFolder run = RunFolder::create(path, options);
        run.info().state = RunState::Done;
        run.info().kept = {100, {{"accuracy", 0.99}}};
        for (const auto& result : printed)
            run.info().results.push_back(
                {result.split, 100, {{"loss", 0.1}, {"accuracy", result.accuracy - 0.02}}});
        run.saveInfo();
    }
    p.open();
    ASSERT_TRUE(p.waitForRows(1));
    const QString run = QString::fromStdString(path);
    EXPECT_EQ(p.cell(run, RunsModel::Difference).data().toString(), QString::fromUtf8("\u22122.0"))
        << "the split that was printed, not validation";
    const QString tip = p.cell(run, RunsModel::Published).data(Qt::ToolTipRole).toString();
    for (const auto& result : printed)
        EXPECT_TRUE(tip.contains(QString::fromStdString(result.split)));
    EXPECT_TRUE(tip.contains("ours"));
    EXPECT_TRUE(
        p.page->table()->csv().contains("test/" + QString::fromStdString(printed[0].split) + "/"));
}

TEST(ComparePage, ClickedRowBecomesTheReference) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    const QString b = p.add("b", "relational-games-same", "dat", 0.8);
    p.open();
    ASSERT_TRUE(p.waitForRows(2));
    p.controllers.selection.setRuns({a, b});
    for (const QString& path : {b, a}) {
        p.press(p.cell(path, RunsModel::Model));
        EXPECT_EQ(p.page->reference(), path);
        const auto* shown = child<widgets::DiffTable>(p.page)->view()->model();
        EXPECT_TRUE(shown->headerData(1, Qt::Horizontal)
                        .toString()
                        .contains(QFileInfo(path).fileName() + " (reference)"));
    }
}

TEST(ComparePage, DoubleClickOpensTheRunInTheWorkbench) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    p.open();
    ASSERT_TRUE(p.waitForRows(1));
    QSignalSpy asked(p.page.get(), &ComparePage::workbenchRequested);
    p.press(p.cell(a, RunsModel::Model), true);
    EXPECT_EQ(asked.size(), 1);
    EXPECT_EQ(p.controllers.selection.current(), a);
}

TEST(ComparePage, NotesBelongToTheComparisonAndStay) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    const QString b = p.add("b", "relational-games-same", "dat", 0.8);
    p.open();
    ASSERT_TRUE(p.waitForRows(2));
    EXPECT_FALSE(p.page->notes()->isEnabled());
    p.controllers.selection.setRuns({a, b});
    QTest::keyClicks(p.page->notes(), "both of them");
    p.controllers.selection.setRuns({a});
    EXPECT_EQ(p.page->notes()->toPlainText(), "");
    QTest::keyClicks(p.page->notes(), "one alone");
    p.page->table()->view()->model()->setData(p.cell(b, RunsModel::NoteText), "baseline");
    p.page.reset();  // closing the window writes what waits

    p.open();
    ASSERT_TRUE(p.waitForRows(2));
    EXPECT_TRUE(QTest::qWaitFor([&] { return p.page->notes()->toPlainText() == "one alone"; }));
    p.controllers.selection.setRuns({b, a});
    EXPECT_EQ(p.page->notes()->toPlainText(), "both of them");
    EXPECT_EQ(p.cell(b, RunsModel::NoteText).data().toString(), "baseline");
}

TEST(ComparePage, DamagedNotesAreLeftAsTheyAre) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    const std::string file = p.folder.path().toStdString() + "/notes.json";
    std::ofstream(file) << "{\"runs\": torn";
    QSignalSpy said(&p.controllers.messages, &Messages::message);
    p.open();
    ASSERT_TRUE(p.waitForRows(1));
    EXPECT_TRUE(QTest::qWaitFor([&] { return !said.isEmpty(); }));
    p.controllers.selection.setRuns({a});
    QTest::keyClicks(p.page->notes(), "x");
    p.page.reset();
    QFile left(QString::fromStdString(file));
    ASSERT_TRUE(left.open(QIODevice::ReadOnly));
    EXPECT_EQ(left.readAll(), "{\"runs\": torn");
}

TEST(ComparePage, LivePointsFlowIntoTheCurvesAndTheTable) {
    OpenComparePage p;
    p.open();
    RunInfo info;
    info.path = p.folder.path().toStdString() + "/live";
    info.name = "live";
    info.state = RunState::Running;
    const QString path = QString::fromStdString(info.path);
    p.controllers.runs.setLive(path);
    p.controllers.runs.liveInfo(info);
    p.controllers.selection.setRuns({path});
    ASSERT_TRUE(p.waitForRows(1));
    std::filesystem::create_directories(info.path);
    std::string line =
        metricToLine(MetricPoint{
            5, 0.5, 2560, 2.0, Split::Validation, {{"loss", 0.5}, {"accuracy", 0.75}}}) +
        "\n";
    appendLines(info.path + "/metrics.jsonl", line);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return !p.controllers.runs.records().points(path).empty(); }));
    line = metricToLine(MetricPoint{
               6, 0.6, 2560, 2.0, Split::Validation, {{"loss", 0.5}, {"accuracy", 0.75}}}) +
           "\n";
    appendLines(info.path + "/metrics.jsonl", line);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return p.controllers.runs.records().points(path).size() == 2; }));
    p.page->curves()->flush();
    EXPECT_TRUE(p.page->curves()->csv().contains("0.75"));
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return p.cell(path, RunsModel::Kept).data().toString() == "75.0"; }, 3000));
}

TEST(ComparePage, SavesTableCurvesAndDifferences) {
    OpenComparePage p;
    const QString a = p.add("a", "relational-games-between", "dat", 0.9);
    const QString b = p.add("b", "relational-games-same", "dat", 0.8);
    p.open();
    ASSERT_TRUE(p.waitForRows(2));
    p.controllers.selection.setRuns({a, b});
    for (ViewMenu* menu : {p.page->tableMenu(), p.page->curvesMenu(), p.page->differencesMenu()}) {
        for (const char* ending : {"csv", "png", "svg", "pdf"}) {
            const QString path = p.folder.filePath(QString("out.%1").arg(ending));
            QFile::remove(path);
            menu->askPath = [path](const QString&, const QString&, const QString&) { return path; };
            menu->save(ending);
            EXPECT_GT(QFileInfo(path).size(), 10) << ending;
        }
    }
    EXPECT_TRUE(p.page->curves()->controls()->menu()->actions().contains(
        p.page->curvesMenu()->menu()->actions().first()));
}
