// SPDX-License-Identifier: GPL-3.0-or-later
// The menus of tables copy the command that prints them: run as it is copied, with a file, it
// writes the bytes that the menu writes.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QFile>
#include <QMenu>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>

#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/compare_page.h"
#include "question/question_words.h"
#include "run/run_folder.h"
#include "tests/widgets/child.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/export/export.h"
#include "widgets/tables/diff_table.h"
#include "widgets/tables/runs_model.h"
#include "widgets/tables/runs_table.h"
#include "window_fixture.h"
#include "wire/host.h"

using namespace relascope;

namespace {

class TableViews : public ::testing::Test {
protected:
    TableViews() {
        page.resize(1160, 760);
        page.show();
    }
    /// A run that has ended, below the folder of runs.
    QString add(const QString& name, const std::string& preset, double accuracy) {
        const QString path = runs() + u'/' + name;
        RunFolder run = RunFolder::create(path.toStdString(), presetOptions(preset, "dat"));
        run.info().state = RunState::Done;
        run.info().kept = {100, {{"loss", 0.5}, {"accuracy", accuracy}}};
        run.info().parameters = 123456;
        run.saveInfo();
        return path;
    }
    /// Shows the runs of the folder.
    void list(int count) {
        controllers.runs.setFolder(runs());
        ASSERT_TRUE(waitUntil([&] { return page.table()->shownRows() == count; }));
    }
    QString runs() const { return folder.filePath(QStringLiteral("all runs")); }
    /// The folder as the shell is given it.
    std::string quotedRuns() const { return "'" + runs().toStdString() + "'"; }

    /// What an entry of a menu copies; empty where it is not shown.
    static std::string copied(QMenu* menu, const QString& entry) {
        Q_EMIT menu->aboutToShow();
        for (QAction* action : menu->actions())
            if (action->text() == entry && action->isVisible()) {
                action->trigger();
                return QApplication::clipboard()->text().toStdString();
            }
        return {};
    }
    static std::string command(QMenu* menu) {
        return copied(menu, QStringLiteral("Copy as command"));
    }
    static bool shows(QMenu* menu, const QString& entry) {
        Q_EMIT menu->aboutToShow();
        for (const QAction* action : menu->actions())
            if (action->text().startsWith(entry)) return action->isVisible();
        return false;
    }
    /// The file that a copied line writes.
    QByteArray written(const std::string& line) {
        const QString out = folder.filePath(QStringLiteral("out.csv"));
        QFile::remove(out);
        QProcess shell;
        shell.start(
            QStringLiteral("/bin/sh"),
            {QStringLiteral("-c"), QString::fromStdString(RELASCOPE_BIN "/" + line + " --out '" +
                                                          out.toStdString() + "'")});
        EXPECT_TRUE(shell.waitForFinished(60000));
        EXPECT_EQ(shell.exitCode(), 0) << line << "\n"
                                       << shell.readAllStandardError().toStdString();
        QFile file(out);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void expectSame(QMenu* menu, const QString& csv) {
        const auto line = command(menu);
        ASSERT_TRUE(line.starts_with("relascope-cli ")) << line;
        EXPECT_EQ(written(line).toStdString(), csv.toStdString()) << line;
    }

    QTemporaryDir folder;
    Controllers controllers;
    AppContext context = controllers.context();
    ComparePage page{context};
};

}  // namespace

TEST_F(TableViews, AllRunsOfAFolderAreTheFolder) {
    add("a", "relational-games-between", 0.6);
    add("b", "relational-games-same", 0.9);
    add("it's $c", "relational-games-same", 0.7);
    QFile notes(runs() + QStringLiteral("/notes.json"));
    ASSERT_TRUE(notes.open(QIODevice::WriteOnly));
    notes.write(R"({"runs": {"b": "best, so far"}})");
    notes.close();
    list(3);
    ASSERT_TRUE(waitUntil([&] { return page.table()->csv().contains("best, so far"); }));
    QMenu* menu = page.table()->menu();
    EXPECT_EQ(command(menu), "relascope-cli compare " + quotedRuns());
    EXPECT_FALSE(shows(menu, "Save view")) << "a table has no picture that could be drawn again";
    EXPECT_EQ(copied(menu, "Copy as Python"),
              "relascope.command(\"compare\", \"" + runs().toStdString() + "\")");
    expectSame(menu, page.table()->csv());
}

TEST_F(TableViews, AFilteredOrSortedTableIsItsRunsAndColumns) {
    const QString a = add("a", "relational-games-between", 0.6),
                  b = add("b", "relational-games-same", 0.9);
    add("it's $c", "relational-games-same", 0.7);
    list(3);
    QMenu* menu = page.table()->menu();
    page.table()->view()->sortByColumn(widgets::RunsModel::Run, Qt::DescendingOrder);
    EXPECT_TRUE(command(menu).ends_with("/it'\\''s $c' '" + b.toStdString() + "' '" +
                                        a.toStdString() + "'"))
        << command(menu);
    expectSame(menu, page.table()->csv());
    page.table()->setFilter(QStringLiteral("acc < 65"));
    EXPECT_EQ(command(menu), "relascope-cli compare '" + a.toStdString() + "'");
    page.table()->setColumnShown(widgets::RunsModel::Time, false);
    EXPECT_TRUE(command(menu).find("--columns difference --columns note") != std::string::npos)
        << command(menu);
    expectSame(menu, page.table()->csv());
    page.table()->setFilter(QStringLiteral("nothing like it"));
    EXPECT_EQ(command(menu), "");
}

TEST_F(TableViews, DifferencesNameTheReferenceFirst) {
    const QString a = add("a", "relational-games-between", 0.6),
                  b = add("b", "relational-games-same", 0.9);
    list(2);
    controllers.selection.setRuns({a, b});
    auto* table = child<widgets::DiffTable>(&page);
    ASSERT_TRUE(waitUntil([&] { return table->runs().size() == 2u; }));
    const QString first = QString::fromStdString(table->runs()[0].info.path);
    EXPECT_EQ(command(table->menu()), "relascope-cli compare '" + first.toStdString() + "' '" +
                                          (first == a ? b : a).toStdString() + "' --differences");
    expectSame(table->menu(), table->csv());
    table->setAllFields(true);
    expectSame(table->menu(), table->csv());
    table->setAllFields(false);
    controllers.selection.setRuns({a});
    ASSERT_TRUE(waitUntil([&] { return table->runs().size() == 1u; }));
    EXPECT_EQ(command(table->menu()), "") << "one run differs from none";
}

TEST_F(TableViews, TheTablesOfACheckpointAreInfoAndVerify) {
    Messages messages;
    CheckpointController controller;
    CheckpointPage checkpoint(controller, messages);
    checkpoint.resize(1160, 760);
    checkpoint.show();
    auto* table = child<widgets::TensorTable>(&checkpoint);
    EXPECT_EQ(command(table->menu()->menu()), "") << "nothing is open";
    const QString path = QStringLiteral(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed");
    QSignalSpy opened(&controller, &CheckpointController::opened);
    checkpoint.askFile = [path] { return path; };
    checkpoint.openFile();
    ASSERT_TRUE(waitUntil([&] { return opened.size() == 1; }));
    ASSERT_TRUE(waitUntil([&] { return controller.numbers().complete(); }));
    EXPECT_EQ(command(table->menu()->menu()), "relascope-cli info " + path.toStdString());
    EXPECT_FALSE(shows(table->menu()->menu(), "Save view"));
    expectSame(table->menu()->menu(), table->csv());

    auto* histogram = checkpoint.details()->histogram();
    EXPECT_EQ(command(histogram->menu()->menu()), "") << "no tensor is chosen";
    const QString tensor = QString::fromStdString(controller.info()->tensors.front().name);
    table->choose(tensor);
    ASSERT_TRUE(histogram->statistics().has_value());
    EXPECT_EQ(command(histogram->menu()->menu()),
              "relascope-cli info " + path.toStdString() + " --tensor " + tensor.toStdString());
    expectSame(histogram->menu()->menu(), histogram->csv());
    EXPECT_EQ(command(child<widgets::ProblemsList>(&checkpoint)->menu()->menu()),
              "relascope-cli info " + path.toStdString());

    using Details = CheckpointDetails;
    EXPECT_EQ(command(checkpoint.details()->menu(Details::Configuration)->menu()),
              "relascope-cli info " + path.toStdString());
    EXPECT_EQ(command(checkpoint.details()->menu(Details::Outline)->menu()),
              "relascope-cli info " + path.toStdString() + " --outline");
    EXPECT_EQ(command(checkpoint.details()->menu(Details::Evaluated)->menu()), "");

    auto* badge = checkpoint.head()->badge();
    ASSERT_TRUE(badge->describe());
    EXPECT_EQ(badge->describe()->command, "verify");
    badge->setReport({true, 0.0, {{"output", 0.0, 0.0, true, ""}}});
    badge->showLines();
    ASSERT_NE(badge->lines(), nullptr);
    EXPECT_EQ(command(child<QMenu>(badge->lines())), "relascope-cli verify " + path.toStdString());
    delete badge->lines();
}

TEST(TableViewsOfFiles, NameTheHubAndNoOtherMachine) {
    EXPECT_EQ(CheckpointPage::describeFiles("info", wire::mirrorPath("far", "/models/gpt2")),
              std::nullopt);
    const auto view =
        CheckpointPage::describeFiles("info", "/cache/models--org--name/snapshots/abc");
    ASSERT_TRUE(view);
    EXPECT_EQ(core::commandOf(*view), "relascope-cli info hub:org/name@abc");
    const std::string file = "/cache/models--org--name/snapshots/abc/model.safetensors";
    EXPECT_EQ(core::commandOf(*CheckpointPage::describeFiles("info", file)),
              "relascope-cli info " + file);
}
