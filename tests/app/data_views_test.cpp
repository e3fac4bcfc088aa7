// SPDX-License-Identifier: GPL-3.0-or-later
// The menus of the page Data copy commands that write the same tables, to the byte, and print the
// same examples.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <cstdlib>

#include "app/controllers/controllers.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "datasets/generators/relational_games.h"
#include "datasets/readers/npz.h"
#include "options/import_data.h"
#include "options/presets.h"
#include "options/shown_data.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/data/sample_grid.h"
#include "widgets/data/sample_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

QByteArray contentsOf(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
    return file.readAll();
}

class DataViews : public ::testing::Test {
protected:
    void SetUp() override {
        QSettings().remove(QStringLiteral("data"));  // files that another test imported
        controllers.runs.setFolder(folder.path());
        page = std::make_unique<DataPage>(context);
        page->resize(1160, 760);
        page->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(page.get()));
        ASSERT_TRUE(shown());
    }
    template <class Condition>
    static bool wait(Condition condition) {
        return QTest::qWaitFor(condition, 20000);
    }
    ViewMenu* menuOf(const QWidget* view) {
        for (auto* menu : page->findChildren<ViewMenu*>())
            if (menu->view() == view) return menu;
        return nullptr;
    }
    ViewMenu* grid() { return menuOf(page->grid()); }
    ViewMenu* sample() { return menuOf(child<SampleView>(page)); }
    ViewMenu* statistics() { return menuOf(page->statistics()); }
    /// Waits until all three views show the split.
    bool shown() {
        return wait([this] {
            const FieldValue split = page->source()->split().toStdString();
            for (auto* menu : {statistics(), sample(), grid()})
                if (const auto view = menu->describe(); !view || *view->option("split") != split)
                    return false;
            return true;
        });
    }
    QString place(const QString& name) const { return folder.filePath(name); }

    /// The line that the menu copies.
    static QString copied(ViewMenu* menu) {
        Q_EMIT menu->menu()->aboutToShow();
        for (auto* action : menu->menu()->actions())
            if (action->text() == QLatin1String("Copy as command")) {
                if (!action->isVisible()) return {};
                QApplication::clipboard()->clear();
                action->trigger();
                return QApplication::clipboard()->text();
            }
        return {};
    }
    /// Runs the line that a menu copies, with `more`; what it prints goes into a file.
    void run(ViewMenu* menu, const QString& contains, const QString& more) {
        const QString line = copied(menu);
        ASSERT_TRUE(line.startsWith(QLatin1String("relascope-cli data "))) << line.toStdString();
        EXPECT_TRUE(line.contains(contains)) << line.toStdString();
        EXPECT_FALSE(line.contains(QLatin1String(" --out "))) << line.toStdString();
        const QString command = QString::fromUtf8(RELASCOPE_BIN) + u'/' + line + more;
        ASSERT_EQ(std::system(command.toUtf8().constData()), 0) << command.toStdString();
    }
    void expectSame(ViewMenu* menu, const QString& name, const QString& contains) {
        const QString ours = place(name + QStringLiteral("-menu.csv")),
                      theirs = place(name + QStringLiteral("-command.csv"));
        QString error;
        ASSERT_TRUE(menu->write(ours, &error)) << error.toStdString();
        run(menu, contains, QStringLiteral(" --out ") + theirs);
        EXPECT_TRUE(contentsOf(ours) == contentsOf(theirs)) << name.toStdString();
    }
    void expectAllSame(const QString& name, const QString& contains) {
        expectSame(statistics(), name + QStringLiteral("-statistics"), contains);
        expectSame(sample(), name + QStringLiteral("-sample"), contains);
        const QString printed = place(name + QStringLiteral("-grid.txt"));
        run(grid(), contains, QStringLiteral(" > ") + printed);
        EXPECT_EQ(contentsOf(printed).count('\n'), page->grid()->countShown());
    }
    void open(const DataChoice& choice) {
        Q_EMIT page->chooser()->chosen(choice);
        ASSERT_TRUE(wait([&] { return page->source()->choice() == choice; }));
        ASSERT_TRUE(shown());
    }
    void openGenerated(DataOptions options, std::int64_t epoch = 0) {
        DataChoice choice;
        choice.name = QString::fromStdString(titleOfTask(options.kind, options.task));
        choice.options = std::move(options);
        choice.epoch = epoch;
        open(choice);
    }

    QTemporaryDir folder;
    Controllers controllers;
    AppContext context = controllers.context();
    std::unique_ptr<DataPage> page;
};

TEST_F(DataViews, OfGeneratedData) {
    expectAllSame("first", " relational-games --split train ");
    // Another split, a label, and the grid scrolled.
    page->source()->setSplit("hexos");
    ASSERT_TRUE(wait([&] { return page->source()->split() == "hexos"; }));
    page->source()->setLabel(1);
    ASSERT_TRUE(wait([&] { return page->source()->label() == 1; }));
    page->grid()->verticalScrollBar()->setValue(3);
    ASSERT_TRUE(shown());
    QTest::mouseClick(page->grid()->viewport(), Qt::LeftButton, {},
                      page->grid()->cellRect(page->grid()->firstShown() + 2).center());
    ASSERT_TRUE(shown());
    expectAllSame("label", " --split hexos ");
    EXPECT_TRUE(copied(grid()).contains(" --label between --grid --first "));
    // Options that are not the usual ones.
    DataOptions options = usualData("relational-games", "match_pattern");
    options.seed = 7, options.train_size = 60, options.streaming = true;
    options.patterns = "AAA,ABA";
    openGenerated(options, 4);
    page->source()->setSplit("train");
    ASSERT_TRUE(shown());
    expectAllSame("streamed",
                  " relational-games --set data.task=match_pattern --set data.train_size=60 ");
    EXPECT_TRUE(copied(sample()).contains(" --epoch 4 --split train --sample "));
}

TEST_F(DataViews, OfOtherKindsOfData) {
    openGenerated(usualData("sorting", "argsort"));
    expectAllSame("sorting", " sorting ");
    openGenerated(usualData("minimal-pairs", "twelve"));
    expectAllSame("pairs", " minimal-pairs ");
    openGenerated(usualData("math", "algebra__linear_1d"));
    expectAllSame("math", " math ");
    openGenerated(namedData("pairwise-order", ""));
    expectAllSame("objects", " pairs ");
}

TEST_F(DataViews, OfFiles) {
    RelationalGamesOptions games;
    games.size = 30;
    writeNpz(place("own & more.npz").toStdString(), RelationalGames(games));
    page->importData(importOptions("npz", "", place("own & more.npz").toStdString()));
    ASSERT_TRUE(wait([&] { return page->grid()->count() == 30; }));
    ASSERT_TRUE(shown());
    expectAllSame("file", " --form npz --split ");
    QFile text(place("notes.txt"));
    ASSERT_TRUE(text.open(QIODevice::WriteOnly));
    for (int k = 0; k < 400; ++k) text.write("One line, \"quoted\", with\ttabs and \xc3\xa9.\n");
    text.close();
    page->importData(importOptions("text", "", place("notes.txt").toStdString()));
    ASSERT_TRUE(wait([&] { return page->source()->choice().name == "notes.txt"; }));
    ASSERT_TRUE(shown());
    expectAllSame("text", " --form text --split ");
    // A picture that is dropped is of no data.
    QImage image(20, 10, QImage::Format_RGB32);
    image.fill(Qt::red);
    ASSERT_TRUE(image.save(place("red.png")));
    page->showPicture(place("red.png"));
    ASSERT_TRUE(wait([&] { return !sample()->describe(); }));
    EXPECT_EQ(copied(sample()), QString());
}

TEST_F(DataViews, OfARun) {
    RunOptions options = presetOptions("quick");
    options.data.train_size = 40, options.data.validation_size = 20, options.data.seed = 3;
    const QString path = place("a run");
    RunFolder::create(path.toStdString(), options).saveInfo();
    DataChoice choice;
    choice.kind = DataChoice::Kind::Run;
    choice.path = path;
    choice.name = "named otherwise";
    open(choice);
    page->source()->setSplit("validation");
    ASSERT_TRUE(shown());
    expectAllSame("run", " --split validation ");
    EXPECT_TRUE(page->statistics()->csv().contains("Origin,a run\n"));
}

}  // namespace
