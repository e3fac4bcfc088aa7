// SPDX-License-Identifier: GPL-3.0-or-later
// The Study page: a study on the disk, its numbers, its work in child processes, new ones.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>

#include "app/controllers/controllers.h"
#include "app/pages/new_study_dialog.h"
#include "app/pages/slurm_dialog.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "question/question_words.h"
#include "study/study.h"
#include "study_fixture.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_progress.h"
#include "widgets/study/study_table.h"
#include "window_fixture.h"

using namespace relascope;

namespace {

const char* const kCli = RELASCOPE_BIN "/relascope-cli";

class StudyPageTest : public WindowTest {
protected:
    void SetUp() override {
        qputenv("RELASCOPE_CLI", kCli);
        WindowTest::SetUp();
        c().study.setFolder(folder.filePath("studies"));
        window->showPage(PageId::Study);
    }
    void TearDown() override {
        if (window) {
            c().study.stopHere();
            EXPECT_TRUE(waitUntil([this] { return c().study.workedOn().isEmpty(); }, 60000));
        }
        WindowTest::TearDown();
        qunsetenv("RELASCOPE_CLI");
    }
    StudyPage* page() { return window->studyPage(); }
    StudyController& study() { return c().study; }
    QString occurs() { return makeOccurs(folder.filePath("studies/occurs")); }
    bool opened(const QString& path) {
        window->opener().openStudy(path);
        return waitUntil([this] { return study().reading() != nullptr; });
    }
    QString tiny(const StudyPlan& plan) {
        const QString path = folder.filePath("studies/tiny");
        createStudy(path.toStdString(), plan);
        return path;
    }
    int run(const QString& name) {
        const auto& runs = page()->runs()->grid()->runs();
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (runs[i].name == name) return static_cast<int>(i);
        return -1;
    }
    /// A program that says and ends as it is told.
    void pretendCli(const QByteArray& script) {
        QFile file(folder.filePath("cli"));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + script);
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("RELASCOPE_CLI", file.fileName().toUtf8());
    }
};

}  // namespace

TEST_F(StudyPageTest, SaysWhatToDoWhenThereIsNone) {
    EXPECT_TRUE(page()->emptyState()->isVisible());
    int asked = 0;
    page()->ask = [&](NewStudyDialog&) { return ++asked, false; };
    click(page()->emptyState()->button());
    EXPECT_EQ(asked, 1);
}

TEST_F(StudyPageTest, ShowsAStudyAsItStandsOnTheDisk) {
    ASSERT_TRUE(opened(occurs()));
    EXPECT_EQ(page()->runs()->grid()->runs().size(), 24u);
    EXPECT_EQ(page()->progress()->text(), "17 of 24 runs, 1 failed, stopped");
    EXPECT_TRUE(child<widgets::StudyFailures>(page())->isVisible());
    EXPECT_TRUE(
        child<widgets::StudyFailures>(page())->text().contains("the loss became NaN at step 12"));
    EXPECT_EQ(child<QComboBox>(page()->runs(), "Measure")->currentText(), "accuracy on pentos");
    const auto* model = page()->table()->view()->model();
    EXPECT_EQ(model->rowCount(), 3);
    EXPECT_EQ(model->index(0, 4).data().toString(), "90.5 ± 0.5");
    // The means reach 90% between two sizes.
    EXPECT_NE(page()->table()->neededView()->model()->index(0, 1).data().toString(), "not reached");
    EXPECT_EQ(page()->table()->neededView()->model()->index(0, 2).data().toString(), "not reached");
    EXPECT_EQ(page()->curves()->plot()->legendTexts().first(), "dat-relational 90.5%");
    EXPECT_TRUE(page()->curves()->plot()->has(CurveSource::Published));
    // Nothing is invented for what has not run.
    EXPECT_EQ(model->index(0, 5).data().toString(), QString(QChar(0x2014)));
}

TEST_F(StudyPageTest, OpensTheNewestOneByItself) {
    occurs();
    study().refreshList();
    EXPECT_TRUE(waitUntil([this] { return study().reading() != nullptr; }));
    EXPECT_EQ(page()->chooser()->currentText(), "occurs");
}

TEST_F(StudyPageTest, FollowsTheFolder) {
    const QString path = occurs();
    ASSERT_TRUE(opened(path));
    const auto plan = occursPlan();
    for (const auto& cell : studyCells(plan))
        if (cell.name == "transformer-n2500-s0")
            writeRun(path.toStdString(), plan, cell, RunState::Done, 0.95);
    study().refresh();
    EXPECT_TRUE(waitUntil([this] { return study().reading()->done == 18; }));
    EXPECT_EQ(page()->curves()->plot()->legendTexts()[1], "transformer 95.0%");
}

TEST_F(StudyPageTest, MeasureBandAndAxisChangeWhatIsShown) {
    ASSERT_TRUE(opened(occurs()));
    const int loss = child<QComboBox>(page()->runs(), "Measure")->findText("loss on hexos");
    ASSERT_GE(loss, 0);
    child<QComboBox>(page()->runs(), "Measure")->setCurrentIndex(loss);
    Q_EMIT child<QComboBox>(page()->runs(), "Measure")->activated(loss);
    ASSERT_TRUE(waitUntil([this] { return study().reading()->metric.name == "loss"; }));
    EXPECT_FALSE(page()->table()->neededView()->isVisible());
    EXPECT_TRUE(page()
                    ->runs()
                    ->grid()
                    ->picture()
                    .cells.text(run("transformer-n250-s0"))
                    .contains("loss on hexos"));
    EXPECT_FALSE(page()->curves()->plot()->has(CurveSource::Published));
    page()->curves()->setBand(StudyBand::None);
    EXPECT_EQ(child<QComboBox>(page()->curves(), "Band")->currentText(), "none");
    QTest::mouseClick(page()->curves()->logChip(), Qt::LeftButton);
    EXPECT_TRUE(page()->curves()->plot()->logX());
}

TEST_F(StudyPageTest, EveryMenuCopiesACommandThatMakesTheSame) {
    const QString path = occurs();
    ASSERT_TRUE(opened(path));
    page()->curves()->setLook({"two-standard-errors", true, true, false});
    const auto menuOf = [this](const QWidget* view) {
        for (auto* menu : page()->findChildren<ViewMenu*>())
            if (menu->view() == view) return menu;
        return static_cast<ViewMenu*>(nullptr);
    };
    const auto run = [&](ViewMenu* menu, const QString& out, QStringList more = {}) {
        QStringList words = std::move(more);
        for (const auto& word : core::wordsOf(*menu->describe()))
            words << QString::fromStdString(word);
        if (!out.isEmpty())
            words << QString::fromStdString(core::outOption(*menu->describe())) << out;
        QProcess command;
        command.start(QStringLiteral(RELASCOPE_BIN "/relascope-cli"), words);
        EXPECT_TRUE(command.waitForFinished(60000));
        return command.readAllStandardOutput();
    };
    const auto bytes = [](const QString& name) {
        QFile file(name);
        EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name.toStdString();
        const QByteArray all = file.readAll();
        return all.mid(all.indexOf("</desc>"));
    };
    QString error;
    auto* plot = menuOf(page()->curves()->plot());
    ASSERT_TRUE(plot->write(folder.filePath("menu.svg"), &error)) << error.toStdString();
    run(plot, folder.filePath("command.svg"));
    EXPECT_GT(bytes(folder.filePath("menu.svg")).size(), 1000);
    // The menu writes the caption of the page below the plot, the command a title above it.
    EXPECT_TRUE(core::commandOf(*plot->describe())
                    .ends_with(" --band two-standard-errors --log-x --no-published"));
    const QByteArray table = run(menuOf(page()->table()), {});
    EXPECT_TRUE(table.contains("mean +- s.e.m.")) << table.toStdString();
    const QByteArray runs = run(menuOf(page()->runs()->grid()), {});
    EXPECT_TRUE(runs.contains("transformer-n250-s0")) << runs.toStdString();
    // The menus behind the buttons list the entries.
    QStringList entries;
    Q_EMIT page()->table()->menu()->aboutToShow();
    for (const auto* action : page()->table()->menu()->actions())
        if (action->isVisible()) entries << action->text();
    EXPECT_TRUE(entries.contains("Copy as command")) << entries.join(u',').toStdString();
    EXPECT_FALSE(entries.contains("Save view..."));
}

TEST_F(StudyPageTest, DoubleClickOpensTheRunInTheWorkbench) {
    const QString path = occurs();
    ASSERT_TRUE(opened(path));
    auto* grid = page()->runs()->grid();
    const QPoint at = grid->runRect(run("abstractor-n500-s1")).center();
    QTest::mouseClick(grid->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(grid->viewport(), Qt::LeftButton, {}, at);
    EXPECT_TRUE(waitUntil([this] { return window->currentPage() == PageId::Workbench; }));
    EXPECT_EQ(c().selection.current(), path + "/runs/abstractor-n500-s1");
}

TEST_F(StudyPageTest, ShowFindsTheFailedRun) {
    ASSERT_TRUE(opened(occurs()));
    click(child<QPushButton>(child<widgets::StudyFailures>(page()), "Show"));
    EXPECT_EQ(page()->runs()->grid()->current(), run("dat-relational-n250-s0"));
}

TEST_F(StudyPageTest, SavesEveryViewInEveryFormat) {
    ASSERT_TRUE(opened(occurs()));
    int views = 0;
    QString tables;
    for (auto* menu : page()->findChildren<ViewMenu*>()) {
        ++views;
        for (const char* ending : {"csv", "png", "svg", "pdf"}) {
            const QString file = folder.filePath(QString("out.%1").arg(ending));
            QFile::remove(file);
            menu->askPath = [file](const QString&, const QString&, const QString&) { return file; };
            menu->save(ending);
            EXPECT_GT(QFileInfo(file).size(), 100) << ending;
        }
        QFile table(folder.filePath("out.csv"));
        ASSERT_TRUE(table.open(QIODevice::ReadOnly));
        tables += QString::fromUtf8(table.readAll());
    }
    EXPECT_EQ(views, 3);
    EXPECT_TRUE(tables.contains("published_mean")) << tables.toStdString();
    for (auto* action : page()->table()->menu()->actions())
        if (action->text() == "Copy LaTeX") action->trigger();
    EXPECT_TRUE(QApplication::clipboard()->text().contains("\\toprule"));
}

TEST_F(StudyPageTest, AFolderCanBeDropped) {
    const QString path = occurs();
    window->showPage(PageId::Compare);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    EXPECT_TRUE(waitUntil([&] { return window->currentPage() == PageId::Study; }));
    EXPECT_TRUE(waitUntil([&] { return study().path() == path; }));
}

TEST_F(StudyPageTest, WhatIsNoStudyIsSaid) {
    QSignalSpy said(&c().messages, &Messages::message);
    page()->askFolder = [this] { return folder.path(); };
    page()->openStudy();
    ASSERT_TRUE(waitUntil([&] { return said.size() == 1; }));
    EXPECT_TRUE(said[0][1].toString().contains("is not a study"));
    EXPECT_TRUE(study().path().isEmpty());
    // One that goes away while it is shown.
    const QString path = occurs();
    ASSERT_TRUE(opened(path));
    QFile::remove(path + "/study.json");
    study().refresh();
    EXPECT_TRUE(waitUntil([&] { return study().path().isEmpty(); }));
    EXPECT_TRUE(page()->emptyState()->isVisible());
}

TEST_F(StudyPageTest, TheSessionComesBack) {
    const QString path = occurs();
    {
        MainWindow first(true);
        first.opener().openStudy(path);
        first.controllers().study.setMeasure({"accuracy", "stripes"});
        first.studyPage()->curves()->setBand(StudyBand::TwoErrors);
        first.studyPage()->jobsBox()->setValue(7);
        first.show();
        first.close();
    }
    {
        MainWindow second(true);
        EXPECT_EQ(second.controllers().study.path(), path);
        EXPECT_EQ(second.studyPage()->curves()->plot()->band(), StudyBand::TwoErrors);
        EXPECT_EQ(second.studyPage()->jobsBox()->value(), 7);
        EXPECT_TRUE(waitUntil([&] { return second.controllers().study.reading() != nullptr; }));
        EXPECT_EQ(second.controllers().study.reading()->metric.split, "stripes");
    }
    QSettings().clear();
}

TEST_F(StudyPageTest, MenusHaveWhatThePageHas) {
    QStringList texts;
    for (auto* action : window->commands()) texts << action->text();
    for (const char* entry : {"New study...", "Open study...", "Show the study", "Start study",
                              "Retry failed runs", "Slurm script...", "Study"})
        EXPECT_TRUE(texts.contains(QLatin1String(entry))) << entry;
}

TEST_F(StudyPageTest, SlurmScriptNamesTheStudy) {
    StudyInfo info;
    info.path = "/home/some one/study";
    info.plan = {.preset = "pairwise-order", .models = {"mlp"}, .seeds = {0, 1}};
    info.cells = studyCells(info.plan);
    SlurmDialog dialog(std::make_shared<const StudyInfo>(info), "/opt/relascope-cli");
    child<QSpinBox>(dialog, "Tasks")->setValue(12);
    EXPECT_TRUE(dialog.text().contains("--array=1-12\n"));
    EXPECT_TRUE(dialog.text().contains("'/home/some one/study'"));
    EXPECT_FALSE(dialog.text().contains("gpus")) << "none by default";
    child<QSpinBox>(dialog, "GPUs per node")->setValue(1);
    EXPECT_TRUE(dialog.text().contains("--gpus-per-node=1\n"));
    EXPECT_TRUE(dialog.text().contains("relascope-cli study --out"));
    child<QSpinBox>(dialog, "Nodes")->setValue(2);
    EXPECT_TRUE(dialog.text().contains("--nodes=2\n"));
    EXPECT_TRUE(dialog.text().contains("--array=1-2%12\n")) << "a job for each run";
    EXPECT_TRUE(dialog.text().contains("srun"));
    QPushButton* copy = nullptr;
    for (auto* button : dialog.findChildren<QPushButton*>())
        if (button->text() == "Copy") copy = button;
    ASSERT_NE(copy, nullptr);
    click(copy);
    EXPECT_EQ(QApplication::clipboard()->text(), dialog.text());
}

// Work
// ---------------------------------------------------------------------------------------------------

TEST_F(StudyPageTest, StartTrainsEveryRunInAChildProcess) {
    ASSERT_TRUE(QFileInfo::exists(kCli)) << "build relascope-cli";
    ASSERT_TRUE(opened(tiny(tinyStudy())));
    EXPECT_EQ(page()->startButton()->text(), "Start study");
    QSignalSpy ended(&study(), &StudyController::finished);
    click(page()->startButton());
    EXPECT_TRUE(waitUntil([this] { return study().works(); }));
    EXPECT_EQ(page()->startButton()->text(), "Stop study");
    ASSERT_TRUE(waitUntil([&] { return ended.size() == 1; }, 120000));
    ASSERT_TRUE(waitUntil([this] { return study().reading()->done == 2; }));
    EXPECT_EQ(page()->progress()->text(), "2 of 2 runs, complete");
    EXPECT_FALSE(page()->startButton()->isEnabled());
    EXPECT_EQ(page()->startButton()->toolTip(), "All runs are done");
    EXPECT_EQ(page()->curves()->plot()->legendTexts().size(), 2);
}

TEST_F(StudyPageTest, StopSavesAndGoOnGoesOn) {
    ASSERT_TRUE(QFileInfo::exists(kCli)) << "build relascope-cli";
    const QString path = tiny(tinyStudy(100000));
    ASSERT_TRUE(opened(path));
    page()->jobsBox()->setValue(2);
    page()->toggleWork();
    ASSERT_TRUE(waitUntil([this] { return study().reading()->running == 2; }, 120000));
    page()->toggleWork();
    EXPECT_TRUE(study().ending(path));
    ASSERT_TRUE(waitUntil([this] { return !study().works(); }, 60000));
    ASSERT_TRUE(waitUntil([this] { return study().reading()->interrupted == 2; }));
    EXPECT_EQ(page()->startButton()->text(), "Resume");
    const auto step = study().reading()->info->cells.front().info.step;
    EXPECT_GT(step, 0);
    // It continues without the window, and the next window finds it.
    page()->toggleWork();
    ASSERT_TRUE(waitUntil([this] { return study().reading()->running == 2; }, 120000));
    int asked = 0;
    window->confirmClose = [&] { return ++asked, MainWindow::Closing::Continue; };
    window->close();
    EXPECT_FALSE(window->isVisible());
    EXPECT_EQ(asked, 1);
    window.reset();
    window = std::make_unique<MainWindow>(false);
    EXPECT_EQ(readStudy(path.toStdString()).count(CellState::Running), 2u);
    c().study.setFolder(folder.filePath("studies"));
    ASSERT_TRUE(waitUntil([&] { return study().workedOn() == path; }));
    // A second one that would run it is refused.
    StudyController other;
    QSignalSpy failures(&other, &StudyController::failed);
    other.open(path);
    ASSERT_TRUE(waitUntil([&] { return other.reading() != nullptr; }));
    other.start(1);
    ASSERT_TRUE(waitUntil([&] { return failures.size() == 1; }));
    EXPECT_TRUE(failures[0][0].toString().contains("is run by another process"))
        << failures[0][0].toString().toStdString();
    study().stopHere();
    ASSERT_TRUE(waitUntil([this] { return study().workedOn().isEmpty(); }, 60000));
    const auto left = readStudy(path.toStdString());
    EXPECT_EQ(left.count(CellState::Running), 0u);
    EXPECT_EQ(left.count(CellState::Interrupted), 2u);
}

TEST_F(StudyPageTest, WhatTheProcessesSayIsPassedOn) {
    ASSERT_TRUE(opened(occurs()));
    QSignalSpy said(&c().messages, &Messages::message);
    pretendCli(
        "echo 'done: transformer-n2500-s0  accuracy 0.91' >&2\n"
        "echo 'failed: dat-relational-n2500-s0: no memory' >&2\n"
        "echo 'relascope-cli: /x/runs: the disk is full' >&2\nexit 1\n");
    QSignalSpy ended(&study(), &StudyController::finished);
    study().start(1);
    ASSERT_TRUE(waitUntil([&] { return ended.size() == 1; }));
    QStringList texts;
    for (const auto& one : said) texts << one[1].toString();
    EXPECT_TRUE(texts.contains("Done: transformer-n2500-s0 accuracy 0.91"))
        << texts.join('|').toStdString();
    EXPECT_TRUE(texts.contains("dat-relational-n2500-s0: no memory"));
    EXPECT_TRUE(texts.contains("The study occurs ended: /x/runs: the disk is full"));
}

TEST_F(StudyPageTest, RetryAsksForFailedRunsAndProcesses) {
    ASSERT_TRUE(opened(occurs()));
    pretendCli("echo \"$@\" > '" + folder.filePath("words").toUtf8() + "'\n");
    page()->jobsBox()->setValue(3);
    QSignalSpy ended(&study(), &StudyController::finished);
    click(child<QPushButton>(child<widgets::StudyFailures>(page()), "Retry failed"));
    ASSERT_TRUE(waitUntil([&] { return ended.size() == 1; }));
    QFile words(folder.filePath("words"));
    ASSERT_TRUE(words.open(QIODevice::ReadOnly));
    const QString text = words.readAll();
    EXPECT_TRUE(text.startsWith("study --out ")) << text.toStdString();
    EXPECT_TRUE(text.contains("--jobs 3")) << text.toStdString();
    EXPECT_TRUE(text.contains("--retry")) << text.toStdString();
}

TEST_F(StudyPageTest, AMissingProgramIsSaidBeforeAnythingStarts) {
    ASSERT_TRUE(opened(occurs()));
    qputenv("RELASCOPE_CLI", "/nowhere/relascope-cli");
    Q_EMIT study().workChanged();
    EXPECT_FALSE(page()->startButton()->isEnabled());
    EXPECT_TRUE(page()->startButton()->toolTip().contains("/nowhere/relascope-cli was not found"));
}

// A new one
// ---------------------------------------------------------------------------------------------------

TEST(StudyText, ReadsSizesAndValues) {
    using Sizes = std::vector<std::int64_t>;
    QString error;
    EXPECT_EQ(parseSizes("1000, 250,500", &error), (Sizes{250, 500, 1000}));
    EXPECT_EQ(parseSizes("250..1000 step 250, 5000", &error), (Sizes{250, 500, 750, 1000, 5000}));
    EXPECT_EQ(parseSizes("", &error), Sizes{});
    EXPECT_TRUE(error.isEmpty());
    for (const char* bad : {"many", "0", "500..250", "1..100000000 step 1", "2.5"}) {
        EXPECT_TRUE(parseSizes(bad, &error).empty()) << bad;
        EXPECT_FALSE(error.isEmpty()) << bad;
    }
    EXPECT_EQ(parseValues("1, 2,4"), (QStringList{"1", "2", "4"}));
    EXPECT_EQ(parseValues("[8], [16, 16]"), (QStringList{"[8]", "[16, 16]"}));
    EXPECT_TRUE(parseValues("  ").isEmpty());
    EXPECT_FALSE(nameProblem("a/b").isEmpty());
    EXPECT_TRUE(nameProblem("occurs 2").isEmpty());
}

TEST_F(StudyPageTest, TheDialogCountsRunsAndSaysWhatIsWrongAtItsField) {
    NewStudyDialog dialog({{QString(), study().folder()}}, "relational-games-occurs", 2);
    dialog.show();
    EXPECT_EQ(child<QComboBox>(dialog, "Experiment")->currentData().toString(),
              "relational-games-occurs");
    EXPECT_EQ(child<QLineEdit>(dialog, "Name")->text(), "relational-games-occurs");
    child<QLineEdit>(dialog, "Training sizes")->setText("250, 500");
    child<QSpinBox>(dialog, "Seeds")->setValue(3);
    ASSERT_TRUE(waitUntil([&] { return dialog.ready(); }));
    EXPECT_TRUE(dialog.summary().contains("2 models × 2 sizes × 3 seeds = 12 runs"))
        << dialog.summary().toStdString();
    OptionRow* row = dialog.sweep()->add();
    row->key()->setText("model.n_layer");
    row->values()->setText("1, 2");
    ASSERT_TRUE(waitUntil([&] { return !row->problem().isEmpty(); }));
    EXPECT_TRUE(row->problem().contains("model.n_layers")) << row->problem().toStdString();
    EXPECT_FALSE(dialog.startButton()->isEnabled());
    row->key()->setText("model.n_layers");
    ASSERT_TRUE(waitUntil([&] { return dialog.ready(); }));
    EXPECT_TRUE(dialog.summary().contains("= 24 runs"));
    row->values()->setText("1, some");
    ASSERT_TRUE(waitUntil([&] { return !row->problem().isEmpty(); }));
    Q_EMIT row->removed();
    ASSERT_TRUE(waitUntil([&] { return dialog.ready(); }));
    child<QLineEdit>(dialog, "Training sizes")->setText("250, lots");
    EXPECT_FALSE(dialog.ready());
    EXPECT_TRUE(dialog.problems().first().contains("lots"));
    // The message of two lines has room: no field is drawn over another.
    const auto bottom = [](const QWidget* field) { return field->geometry().bottom(); };
    const auto* sizes = child<QLineEdit>(dialog, "Training sizes");
    EXPECT_TRUE(waitUntil([&] {
        return bottom(child<QListWidget>(dialog, "Models")) < sizes->geometry().top() - 4;
    }));
    child<QLineEdit>(dialog, "Training sizes")->setText("250");
    for (int i = 0; i < child<QListWidget>(dialog)->count(); ++i)
        child<QListWidget>(dialog)->item(i)->setCheckState(Qt::Unchecked);
    ASSERT_TRUE(waitUntil([&] { return !dialog.problems().isEmpty(); }));
    child<QListWidget>(dialog)->item(1)->setCheckState(Qt::Checked);
    ASSERT_TRUE(waitUntil([&] { return dialog.ready(); }));
    occurs();
    child<QLineEdit>(dialog, "Name")->setText("occurs");
    ASSERT_TRUE(waitUntil([&] { return !dialog.problems().isEmpty(); }));
    EXPECT_TRUE(dialog.problems().first().contains("already exists"));
    EXPECT_FALSE(dialog.ready());
}

TEST_F(StudyPageTest, AWrongOptionIsAnsweredInOneLine) {
    page()->preset = [] { return QStringLiteral("pairwise-order"); };
    page()->ask = [](NewStudyDialog& dialog) {
        dialog.show();
        auto* row = dialog.settings()->add();
        QTest::keyClicks(row->key(), "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq");
        QTest::keyClicks(row->values(), "2");
        EXPECT_TRUE(waitUntil([&] { return !row->problem().isEmpty(); }));
        EXPECT_TRUE(row->problem().contains("the nearest is")) << row->problem().toStdString();
        EXPECT_LT(row->problem().size(), 140);
        return false;
    };
    page()->newStudy();
}

TEST_F(StudyPageTest, ShorterTrainingThanPublishedIsSaid) {
    StudyInfo info;
    info.plan.preset = "relational-games-occurs";
    info.plan.models = {"dat"};
    EXPECT_EQ(lengthNote(info), "");
    info.plan.settings = {{"train.epochs", "3"}};
    EXPECT_TRUE(lengthNote(info).startsWith("3 epochs, published "))
        << lengthNote(info).toStdString();
}

TEST_F(StudyPageTest, ANewStudyIsMadeAndBegins) {
    pretendCli("sleep 1\n");
    page()->preset = [] { return QStringLiteral("pairwise-order"); };
    page()->ask = [](NewStudyDialog& dialog) {
        dialog.show();
        child<QLineEdit>(dialog, "Training sizes")->setText("64, 128");
        child<QLineEdit>(dialog, "Name")->setText("mine");
        dialog.settings()->add()->key()->setText("train.epochs");
        dialog.findChildren<OptionRow*>().last()->values()->setText("2");
        if (!waitUntil([&] { return dialog.ready(); })) return false;
        dialog.startButton()->click();
        return dialog.result() == QDialog::Accepted;
    };
    page()->newStudy();
    ASSERT_TRUE(waitUntil([this] { return study().works() && study().reading() != nullptr; }));
    EXPECT_EQ(study().path(), study().folder() + "/mine");
    EXPECT_EQ(study().reading()->info->plan.settings.front().first, "train.epochs");
    EXPECT_EQ(page()->runs()->grid()->runs().size(), 2u * 2 * 3);
    EXPECT_EQ(page()->chooser()->currentText(), "mine");
}
