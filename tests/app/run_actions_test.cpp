// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done to runs, from the sidebar's menu to undo; and undo of the options.
#include "app/run_actions.h"

#include <QComboBox>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>

#include "app/pages/compare_page.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/tables/runs_model.h"
#include "widgets/tables/runs_table.h"

namespace relascope {
namespace {

class RunActionsTest : public WindowTest {
protected:
    RunActions& actions() { return window->runActions(); }
    /// A finished run as another session would have left it.
    QString written(const std::string& name, std::int64_t epochs = 2) {
        RunOptions options = tinyOptions(0);
        options.train.epochs = epochs;
        const std::string path = folder.path().toStdString() + "/" + name;
        RunFolder run = RunFolder::create(path, options);
        run.info().state = RunState::Done;
        run.info().step = 8;
        run.saveInfo();
        return QString::fromStdString(path);
    }
    void list(int rows) {
        c().runs.refresh();
        ASSERT_TRUE(waitUntil([&] { return window->sidebar()->runs()->count() == rows; }));
    }
    QStringList shown() const {
        QStringList names;
        for (int i = 0; i < window->sidebar()->runs()->count(); ++i)
            names << window->sidebar()->runs()->item(i)->text();
        names.sort();
        return names;
    }
    void answer(const QString& text) {
        actions().askText = [text](const QString&, const QString&, const QString&) {
            return std::optional(text);
        };
    }
    QAction* command(const QString& text) {
        for (QAction* action : window->commands())
            if (action->text() == text) return action;
        ADD_FAILURE() << "no command " << text.toStdString();
        return nullptr;
    }
    /// An entry of a menu, pressed.
    void choose(QMenu& menu, const QString& text) {
        for (QAction* action : menu.actions())
            if (action->text() == text) {
                ASSERT_TRUE(action->isEnabled()) << action->toolTip().toStdString();
                return action->trigger();
            }
        FAIL() << "no entry " << text.toStdString();
    }
    QLineEdit* edit(const char* key) {
        QWidget* editor = window->form()->row(key)->editor();
        auto* line = qobject_cast<QLineEdit*>(editor);
        return line ? line : editor->findChild<QLineEdit*>();
    }
    void type(const char* key, const QString& text) {
        edit(key)->setFocus();
        edit(key)->selectAll();
        QTest::keyClicks(edit(key), text);
    }
    void leave(const char* key) {
        QFocusEvent out(QEvent::FocusOut, Qt::TabFocusReason);
        QCoreApplication::sendEvent(edit(key), &out);
        window->workbench()->setFocus();
    }
    ComparePage* compare() { return qobject_cast<ComparePage*>(window->page(PageId::Compare)); }
};

TEST_F(RunActionsTest, ARunIsRenamedAndTaggedAndUndoTakesItBack) {
    const QString a = written("a"), b = written("b");
    list(2);
    window->showPage(PageId::Compare);
    QTableView* view = compare()->table()->view();
    EXPECT_TRUE(view->isColumnHidden(RunsModel::Tags));
    answer(QStringLiteral("  The baseline "));
    choose(*actions().menu({a}), QStringLiteral("Rename..."));
    EXPECT_EQ(shown(), (QStringList{"The baseline", "b"}));
    answer(QStringLiteral("#paper, seeds,paper"));
    actions().perform(RunActions::Kind::Tags, {a, b});
    EXPECT_TRUE(window->sidebar()
                    ->runs()
                    ->item(0)
                    ->data(Qt::AccessibleTextRole)
                    .toString()
                    .contains("#paper · #seeds"));
    EXPECT_FALSE(view->isColumnHidden(RunsModel::Tags));
    EXPECT_EQ(view->model()->index(0, RunsModel::Tags).data().toString(), "paper, seeds");
    // It stays: another window reads it from the disk.
    ASSERT_TRUE(waitUntil([&] {
        const auto labels = readRunLabels(a.toStdString());
        return labels.name == "The baseline" && labels.tags.size() == 2;
    }));
    window->sidebar()->setFilter(QStringLiteral("baseline"));
    EXPECT_FALSE(window->sidebar()->runs()->item(0)->isHidden() &&
                 window->sidebar()->runs()->item(1)->isHidden());
    window->sidebar()->setFilter({});

    EXPECT_EQ(command(QStringLiteral("Undo Tags of 2 runs"))->shortcut(), QKeySequence("Ctrl+Z"));
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(shown(), (QStringList{"a", "b"}));
    EXPECT_TRUE(waitUntil([&] { return readRunLabels(a.toStdString()) == RunLabels(); }));
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(shown(), (QStringList{"The baseline", "b"}));
}

TEST_F(RunActionsTest, HiddenRunsAreFoundByReload) {
    const QString a = written("a"), b = written("b");
    list(2);
    window->showPage(PageId::Compare);
    ASSERT_EQ(compare()->table()->shownRows(), 2);
    choose(*actions().menu({a}), QStringLiteral("Hide"));
    EXPECT_EQ(shown(), QStringList{"b"});
    EXPECT_EQ(window->sidebar()->hiddenButton()->text(), "1 hidden");
    EXPECT_EQ(compare()->table()->shownRows(), 1);
    ASSERT_TRUE(waitUntil([&] { return readRunLabels(a.toStdString()).hidden; }));
    list(1);  // looking for new runs leaves it hidden
    command(QStringLiteral("Reload runs"))->trigger();
    ASSERT_TRUE(waitUntil([&] { return shown().size() == 2; }));
    choose(*actions().menu({a}), QStringLiteral("Show"));
    EXPECT_FALSE(c().runs.labels(a).hidden);
    EXPECT_FALSE(window->sidebar()->hiddenButton()->isVisible());
    undo();
    EXPECT_TRUE(c().runs.labels(a).hidden);
    QTest::mouseClick(window->sidebar()->hiddenButton(), Qt::LeftButton);
    EXPECT_EQ(shown(), QStringList{"b"});
}

TEST_F(RunActionsTest, ADeletedRunIsInTheTrashUntilUndo) {
    const QString a = written("a"), b = written("b");
    list(2);
    window->showPage(PageId::Compare);
    QTableView* view = compare()->table()->view();
    ASSERT_TRUE(waitUntil([&] { return view->model()->rowCount() == 2; }));
    c().selection.setRuns({a, b});
    // The list may be read again between the click and the key, as it is ten times a second.
    ASSERT_TRUE(waitUntil([&] {
        view->selectRow(view->model()->index(0, RunsModel::Run).data().toString() == "a" ? 0 : 1);
        QTest::keyClick(view, Qt::Key_Delete);
        return c().selection.runs() == QStringList{b};
    }));
    ASSERT_TRUE(waitUntil([&] { return !QFileInfo::exists(a); }));
    EXPECT_TRUE(isRunFolder(folder.path().toStdString() + "/.trash/a"));
    list(1);
    EXPECT_EQ(view->model()->rowCount(), 1);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    ASSERT_TRUE(waitUntil([&] { return isRunFolder(a.toStdString()); }));
    list(2);
    redo();
    ASSERT_TRUE(waitUntil([&] { return !QFileInfo::exists(a); }));
    list(1);

    // One that another process trains stays.
    QSignalSpy failed(&c().runs, &RunsController::failed);
    const auto held = RunFolder::open(b.toStdString());
    actions().perform(RunActions::Kind::Delete, {b});
    ASSERT_TRUE(waitUntil([&] { return failed.size() == 1; }));
    EXPECT_TRUE(failed[0][0].toString().contains("is being trained"));
    list(1);
}

TEST_F(RunActionsTest, TheMenuSaysWhyAnEntryIsOff) {
    chooseTiny();
    c().experiment.start();
    ASSERT_TRUE(trains(2));
    const QString path = c().training.run();
    for (const auto& entry : actions().entries({path})) {
        const bool off = entry.kind == RunActions::Kind::Delete ||
                         entry.kind == RunActions::Kind::Extend ||
                         entry.kind == RunActions::Kind::Duplicate ||
                         entry.kind == RunActions::Kind::Fetch;  // it is on this computer
        EXPECT_EQ(!entry.reason.isEmpty(), off) << entry.text.toStdString();
    }
    actions().perform(RunActions::Kind::Delete, {path});
    EXPECT_TRUE(QFileInfo::exists(path));
    for (const auto& entry : actions().entries({}))
        EXPECT_EQ(entry.reason, "Choose a run first") << entry.text.toStdString();
}

TEST_F(RunActionsTest, ADuplicateIsANewRunWithTheSameOptions) {
    const QString first = finishedRun(8);
    ASSERT_TRUE(waitUntil([&] { return c().experiment.run() == first; }));
    ASSERT_TRUE(c().experiment.choosePreset("set"));
    actions().perform(RunActions::Kind::Duplicate, {first});
    ASSERT_TRUE(waitUntil([&] { return c().experiment.options().preset == "quick"; }));
    EXPECT_EQ(c().experiment.options().model.number("d_model"), 16);
    EXPECT_TRUE(c().experiment.run().isEmpty());
    EXPECT_EQ(window->bar()->startButton()->text(), "Start");
    click(window->bar()->startButton());
    ASSERT_TRUE(
        waitUntil([&] { return c().selection.current() != first && !c().training.busy(); }));
    EXPECT_EQ(readRunOptions(c().selection.current().toStdString()),
              readRunOptions(first.toStdString()));
}

TEST_F(RunActionsTest, ADoneRunIsExtended) {
    chooseTiny(0);
    c().experiment.set("train.epochs", std::int64_t{2});
    c().experiment.start();
    ASSERT_TRUE(
        waitUntil([&] { return !c().selection.current().isEmpty() && !c().training.busy(); }));
    const QString path = c().selection.current();
    ASSERT_TRUE(waitUntil(
        [&] { return c().runs.info(path) && c().runs.info(path)->state == RunState::Done; }));
    int least = 0;
    actions().askNumber = [&](const QString&, const QString&, int, int minimum) {
        least = minimum;
        return std::optional(5);
    };
    choose(*actions().menu({path}), QStringLiteral("Extend to more epochs..."));
    EXPECT_EQ(least, 3);
    ASSERT_TRUE(waitUntil(
        [&] { return !c().training.busy() && readRunInfo(path.toStdString()).step == 20; }));
    EXPECT_EQ(readRunOptions(path.toStdString()).train.epochs, 5);
    EXPECT_EQ(c().selection.current(), path) << "the same run";
}

TEST_F(RunActionsTest, AnEditsMarkLeadsBackToItsCheckpoint) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    const QString path = c().training.run();
    type("train.learning_rate", "5e-4");
    EXPECT_DOUBLE_EQ(c().training.options().train.learning_rate, 1e-3) << "nothing on the way";
    QTest::keyClick(edit("train.learning_rate"), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !c().runs.records().marks(path).empty(); }));
    ASSERT_EQ(c().runs.records().marks(path).size(), 1u);
    const CurveMark mark = c().runs.records().marks(path).front();
    EXPECT_TRUE(mark.kept);
    EXPECT_EQ(mark.text, QStringLiteral("Learning rate 0.001 → 5e-4"));
    const auto step = static_cast<qint64>(mark.step);
    ASSERT_TRUE(trains(step + 10));
    c().training.cancel();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));

    // The mark answers the pointer: words, and a menu.
    curves()->flush();
    QSignalSpy menu(curves(), &CurvePanel::markMenuRequested);
    auto* plot = curves()->accuracyPlot();  // the one of a low strip
    const QPoint at = plot->pixelOf(mark.step, 0.0).toPoint();
    QWidget* canvas = plot->childAt(plot->width() / 2, plot->height() / 2);
    const QPoint inside(at.x() - canvas->x(), 20);
    QHelpEvent help(QEvent::ToolTip, inside, canvas->mapToGlobal(inside));
    QCoreApplication::sendEvent(canvas, &help);
    EXPECT_TRUE(QToolTip::text().contains("Learning rate 0.001")) << QToolTip::text().toStdString();
    QObject::disconnect(curves(), &CurvePanel::markMenuRequested, &actions(), nullptr);
    QContextMenuEvent press(QContextMenuEvent::Mouse, inside, canvas->mapToGlobal(inside));
    QCoreApplication::sendEvent(canvas, &press);
    ASSERT_EQ(menu.size(), 1);
    EXPECT_EQ(menu[0][0].toString(), path);

    choose(*actions().markMenu(path, mark), QStringLiteral("Go back to here"));
    ASSERT_TRUE(waitUntil([&] {
        return c().experiment.run() == c().selection.current() && c().selection.current() != path;
    }));
    const QString branch = c().selection.current();
    EXPECT_DOUBLE_EQ(c().experiment.options().train.learning_rate, 1e-3);
    EXPECT_EQ(c().runs.info(branch)->step, step);
    EXPECT_TRUE(c().experiment.resumes());
    QSignalSpy said(&c().messages, &Messages::message);
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(step + 2)) << (said.isEmpty() ? std::string()
                                                     : said.last()[1].toString().toStdString())
                                  << c().training.info().step;
    EXPECT_EQ(c().training.run(), branch);

    // An edit of a version that kept no checkpoint cannot lead back.
    CurveMark old = mark;
    old.kept = false;
    EXPECT_FALSE(actions().markMenu(path, old)->actions().front()->isEnabled());
}

TEST_F(RunActionsTest, UndoOfOptionsGoesFieldByField) {
    chooseTiny();
    c().experiment.endEdit();
    const auto epochs = c().experiment.options().train.epochs;
    type("train.epochs", "37");
    leave("train.epochs");
    type("train.batch_size", "24");
    leave("train.batch_size");
    EXPECT_EQ(c().experiment.options().train.epochs, 37);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(c().experiment.options().train.batch_size, 16);
    EXPECT_EQ(edit("train.batch_size")->text(), "16");
    EXPECT_EQ(c().experiment.options().train.epochs, 37) << "one field at a time, not one key";
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(c().experiment.options().train.epochs, epochs);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(c().experiment.options().train.epochs, 37);
    // Another experiment by mistake: the fields come back.
    ASSERT_TRUE(c().experiment.choosePreset("set"));
    undo();
    EXPECT_EQ(c().experiment.options().preset, "quick");
    EXPECT_EQ(c().experiment.options().train.epochs, 37);
    // A run that was started is not undone.
    c().experiment.start();
    ASSERT_TRUE(trains(1));
    EXPECT_LT(nextStep(c().history, false), 0);
    type("train.learning_rate", "5e-4");
    QTest::keyClick(edit("train.learning_rate"), Qt::Key_Return);
    leave("train.learning_rate");
    EXPECT_DOUBLE_EQ(c().training.options().train.learning_rate, 5e-4);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_DOUBLE_EQ(c().training.options().train.learning_rate, 1e-3);
    EXPECT_EQ(edit("train.learning_rate")->text(), "1e-3");
}

TEST_F(RunActionsTest, TheEditMenuActsOnTheFieldInFocus) {
    auto* search = window->sidebar()->searchField();
    window->workbench()->setFocus();
    EXPECT_FALSE(command(QStringLiteral("Paste"))->isEnabled());
    search->setFocus();
    ASSERT_TRUE(waitUntil([&] { return search->hasFocus(); }));
    QTest::keyClicks(search, "between");
    search->selectAll();
    command(QStringLiteral("Cut"))->trigger();
    EXPECT_EQ(search->text(), "");
    command(QStringLiteral("Paste"))->trigger();
    command(QStringLiteral("Paste"))->trigger();
    EXPECT_EQ(search->text(), "betweenbetween");
    QAction* undo = nullptr;
    for (QAction* action : window->commands())
        if (action->text().startsWith("Undo")) undo = action;
    ASSERT_NE(undo, nullptr);
    Q_EMIT qobject_cast<QMenu*>(undo->parent())->aboutToShow();
    EXPECT_EQ(undo->text(), QStringLiteral("Undo Typing"));
    undo->trigger();
    EXPECT_EQ(search->text(), "between");
}

TEST_F(RunActionsTest, AVariantKeepsWhatTheUserSet) {
    ASSERT_TRUE(c().experiment.choosePreset("relational-games-between", "dat"));
    c().experiment.set("train.epochs", std::int64_t{37});
    c().experiment.set("train.seeds", std::vector<std::int64_t>{0, 1, 2});
    c().experiment.set("model.symmetric_rels", false);
    auto* variants = window->form()->findChild<QComboBox*>(QStringLiteral("variant"));
    ASSERT_NE(variants, nullptr);
    const int at = variants->findText(QStringLiteral("transformer"));
    ASSERT_GE(at, 0);
    variants->setCurrentIndex(at);
    Q_EMIT variants->activated(at);
    EXPECT_EQ(c().experiment.options().variant, "transformer");
    EXPECT_EQ(c().experiment.options().train.epochs, 37);
    EXPECT_EQ(c().experiment.options().train.seeds, (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(c().experiment.options().model.number("n_heads_sa"),
              presetOptions("relational-games-between", "transformer").model.number("n_heads_sa"))
        << "what was not touched is the variant's";
    EXPECT_THROW((void)c().experiment.options().model.value("symmetric_rels"), OptionError)
        << "it has no relations";
    EXPECT_TRUE(window->form()->row("train.epochs")->changed());
    EXPECT_EQ(window->form()->changedText(), "Changed: Epochs, Seeds");
    undo();
    EXPECT_EQ(c().experiment.options().variant, "dat");
    EXPECT_FALSE(std::get<bool>(c().experiment.options().model.value("symmetric_rels")));
}

TEST_F(RunActionsTest, ALiveEditShowsAsChangedInTheNextRun) {
    chooseTiny(1000);  // still trains when a busy machine sees that it has begun
    c().experiment.start();
    ASSERT_TRUE(trains(2));
    c().experiment.set("train.learning_rate", 5e-4);
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    ASSERT_TRUE(waitUntil([this] { return !c().experiment.resumes(); }));
    EXPECT_EQ(window->bar()->startButton()->text(), "Start");
    EXPECT_TRUE(window->form()->row("train.learning_rate")->changed());
    EXPECT_TRUE(window->form()->changedText().contains("Learning rate"));
    EXPECT_TRUE(window->bar()->lineText().contains("changed from the preset"))
        << window->bar()->lineText().toStdString();
}

TEST_F(RunActionsTest, NoCountsAreShownOfAValueThatIsRefused) {
    ASSERT_TRUE(c().experiment.choosePreset("quick"));
    ASSERT_FALSE(c().experiment.estimates().empty());
    type("model.d_model", "12x");
    EXPECT_TRUE(c().experiment.estimates().empty());
    EXPECT_FALSE(window->bar()->modelText().contains("parameters"))
        << window->bar()->modelText().toStdString();
    EXPECT_FALSE(window->bar()->startButton()->isEnabled());
    type("model.d_model", "64");
    EXPECT_TRUE(window->bar()->modelText().contains(c().experiment.parameters()));
}

}  // namespace
}  // namespace relascope
