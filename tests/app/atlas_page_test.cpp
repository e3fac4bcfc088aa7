// SPDX-License-Identifier: GPL-3.0-or-later
// The page Atlas: what it measures and opens again, and what it asks of the inspector.
#include <QAction>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <filesystem>

#include "analysis/atlas/answer.h"
#include "app/edits_tab.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_page.h"
#include "app/run_actions.h"
#include "app/run_export.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/analysis/atlas/atlas_sheet.h"
#include "widgets/analysis/atlas/atlas_view.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

class AtlasPageTest : public WindowTest {
protected:
    AtlasPage* page() { return qobject_cast<AtlasPage*>(window->page(PageId::Atlas)); }
    AnalysisTab* tab() { return page()->tab("atlas"); }
    AtlasView* view() { return dynamic_cast<AtlasView*>(tab()->view()); }
    /// The page of a finished run, with options that take a moment.
    void open() {
        run = finishedRun();
        tab()->setValues({{"examples", std::int64_t{24}},
                          {"untrained", std::int64_t{0}},
                          {"use_examples", std::int64_t{0}}});
        QTest::keyClick(window.get(), Qt::Key_6, Qt::ControlModifier);
        ASSERT_EQ(window->currentPage(), PageId::Atlas);
    }
    bool says(const QString& words) {
        return waitUntil([&] { return view()->sentence().contains(words); }, 60000);
    }
    bool measured() {
        return waitUntil([&] { return !view()->isEmpty() && !tab()->asking().task().busy(); },
                         60000);
    }
    void measure() {
        ASSERT_TRUE(says("about")) << view()->sentence().toStdString();
        click(tab()->runButton());
        ASSERT_TRUE(measured()) << view()->sentence().toStdString();
    }
    QString run;
};

TEST_F(AtlasPageTest, IsEmptyWithoutARunAndFitsASmallScreen) {
    QTest::keyClick(window.get(), Qt::Key_6, Qt::ControlModifier);
    EXPECT_EQ(window->currentPage(), PageId::Atlas);
    EXPECT_EQ(view()->sentence(), "Open a run or a checkpoint first.");
    EXPECT_FALSE(tab()->runButton()->isEnabled());
    window->fitTo(QSize(960, 600));
    EXPECT_EQ(window->size(), QSize(960, 600));
    EXPECT_LE(page()->minimumSizeHint().width(), 960 - 240);
}

TEST_F(AtlasPageTest, SaysWhatItWouldTakeMeasuresAndOpensItAgain) {
    open();
    ASSERT_TRUE(says("about"));
    EXPECT_TRUE(view()->sentence().contains(" maps on 24 images"))
        << view()->sentence().toStdString();
    measure();
    EXPECT_EQ(view()->result().examples, 24);
    const auto kept = run.toStdString() + "/atlas/step-12.safetensors";
    EXPECT_TRUE(std::filesystem::exists(kept));
    // At another step there is none; at this one it is there without a press.
    c().selection.setStep(0);
    ASSERT_TRUE(says("about"));
    EXPECT_TRUE(page()->about().subject->name.contains("step 0"));
    const auto before = view()->result();
    c().selection.setStep(12);
    ASSERT_TRUE(measured());
    EXPECT_EQ(view()->result().examples, 24);
    // What is measured anew is kept anew.
    std::filesystem::remove(kept);
    click(tab()->runButton());
    EXPECT_TRUE(waitUntil([&] { return std::filesystem::exists(kept); }, 60000));
}

TEST_F(AtlasPageTest, WhatMakesTheDifferenceIsOfTheChosenMap) {
    open();
    measure();
    auto* choice = view()->panelChoice();
    ASSERT_EQ(choice->count(), 3);
    choice->button(1)->click();
    auto* difference = page()->tab("contrast");
    ASSERT_TRUE(difference->isVisible());
    auto* table = view()->table();
    const auto& names = table->table().texts("relation");
    for (std::size_t row = 0; row < names.size(); ++row)
        if (names[row] == "layer 2 relation 1") table->chooseRow(static_cast<int>(row));
    auto values = difference->values();
    EXPECT_EQ(values["layer"], FieldValue(std::int64_t{2}));
    values["attribute"] = std::string("same object");
    values["untrained"] = std::int64_t{0};
    values["examples"] = std::int64_t{32};
    difference->setValues(values);
    ASSERT_TRUE(difference->view()->isEmpty());
    click(difference->runButton());
    const auto answered = [&] {
        return !difference->asking().task().busy() &&
               (!difference->view()->isEmpty() || difference->isUnfolded());
    };
    ASSERT_TRUE(waitUntil(answered, 60000));
    // So few images have a difference or a sentence; either is of this map, and goes with it.
    const QString about = difference->view()->headText() + difference->view()->sentence();
    EXPECT_FALSE(about.isEmpty());
    for (std::size_t row = 0; row < names.size(); ++row)
        if (names[row] == "layer 1 relation 1") table->chooseRow(static_cast<int>(row));
    EXPECT_TRUE(difference->view()->isEmpty());
    EXPECT_FALSE(difference->values().contains("layer")) << "1 is the default";
    EXPECT_EQ(difference->values().at("by"), FieldValue(std::string("facts")));
    // What it compares, from the weights.
    choice->button(2)->click();
    auto* compares = page()->tab("qk-components");
    ASSERT_TRUE(compares->isVisible());
    EXPECT_EQ(compares->values().at("attribute"), difference->values().at("attribute"));
    click(compares->runButton());
    ASSERT_TRUE(waitUntil([&] { return !compares->view()->isEmpty(); }, 60000))
        << compares->view()->sentence().toStdString();
    // A pattern leads to the pair of an example that it gives most.
    auto* patterns = compares->view()->findChild<TableView*>();
    const auto& components = patterns->table();
    ASSERT_EQ(components.key, "components");
    Q_EMIT patterns->rowChosen(0);
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    const auto example = static_cast<qint64>(components.numbers("example").front());
    const auto& link = components.links.front();
    EXPECT_TRUE(waitUntil([&] {
        const auto& shown = inspector()->view();
        return c().selection.sample() == example && shown.layer == link.layer &&
               shown.source == link.i && shown.target == link.j;
    })) << c().selection.sample();
    EXPECT_EQ(c().selection.split(), "train");
}

TEST_F(AtlasPageTest, APairIsShownInTheInspector) {
    open();
    measure();
    auto* table = view()->table();
    const auto& names = table->table().texts("relation");
    for (std::size_t row = 0; row < names.size(); ++row)
        if (names[row] == "layer 2 relation 1") table->chooseRow(static_cast<int>(row));
    const auto& relation =
        view()->result().relations[static_cast<std::size_t>(view()->sheet()->relation())];
    ASSERT_EQ(relation.name, "layer 2 relation 1");
    auto* sheet = view()->sheet();
    ASSERT_GT(sheet->pairs().size(), 2U);
    const auto pair = sheet->pairs()[1];
    QTest::mouseClick(sheet, Qt::LeftButton, {}, pair.room.center());
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    EXPECT_EQ(c().selection.split(), "validation");
    EXPECT_EQ(c().selection.sample(), pair.pair.example);
    const auto shows = [&](const RelationAtlas::Pair& wanted) {
        return waitUntil([&] {
            const auto* result = inspector()->result();
            return result &&
                   result->sample.origin.ends_with(" " + std::to_string(wanted.example)) &&
                   inspector()->view().source == wanted.row &&
                   inspector()->view().target == wanted.column;
        });
    };
    EXPECT_TRUE(shows(pair.pair));
    EXPECT_EQ(inspector()->view().kind, MapKind::Relation);
    EXPECT_EQ(inspector()->view().layer, 1);
    EXPECT_EQ(inspector()->view().index, 0);
    // The value of that cell is the one that the gallery names.
    EXPECT_NEAR(inspector()
                    ->choice()
                    .maps()
                    .values(inspector()->view())
                    .at(static_cast<int>(pair.pair.row), static_cast<int>(pair.pair.column)),
                pair.pair.value, 1e-4);
    // By keyboard: the next pair, and Enter.
    window->showPage(PageId::Atlas);
    sheet->setFocus();
    QTest::keyClick(sheet, Qt::Key_Right);
    const auto next = sheet->pairs()[2].pair;
    QTest::keyClick(sheet, Qt::Key_Return);
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    EXPECT_TRUE(shows(next));
    // Enter on a row shows the map and leaves the example.
    window->showPage(PageId::Atlas);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Home);
    QTest::keyClick(table, Qt::Key_Return);
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    EXPECT_EQ(c().selection.sample(), next.example);
}

TEST_F(AtlasPageTest, TheScanIsItsSecondTab) {
    run = finishedRun();
    window->edits().measure("scan");
    EXPECT_EQ(window->currentPage(), PageId::Atlas);
    auto* scan = page()->tab("scan");
    EXPECT_EQ(page()->current(), scan);
    EXPECT_LE(page()->minimumSizeHint().width(), 960 - 240);
    scan->setValues({{"examples", std::int64_t{24}}, {"untrained", std::int64_t{0}}});
    ASSERT_TRUE(waitUntil([&] { return scan->runButton()->isEnabled(); }));
    click(scan->runButton());
    auto* shown = dynamic_cast<DeclaredView*>(scan->view());
    ASSERT_TRUE(
        waitUntil([&] { return !shown->isEmpty() && !scan->asking().task().busy(); }, 120000))
        << shown->sentence().toStdString();
    EXPECT_TRUE(shown->headText().startsWith("24 images")) << shown->headText().toStdString();
    EXPECT_GT(child<QListWidget>(shown, "Findings")->count(), 0)
        << "what was not found is said, too";
    EXPECT_GT(child<TableView>(shown, "Parts")->model()->rowCount(), 4);
}

TEST_F(AtlasPageTest, OfAGroupOneMapIsKept) {
    open();
    measure();
    auto alike = view()->result();
    for (auto& relation : alike.relations) relation.group = 0;
    alike.relations[1].labelled = alike.relations[1].attribute = 0;
    view()->showResult(core::answerOf(alike));
    ASSERT_TRUE(view()->keepOneButton()->isVisible());
    click(view()->keepOneButton());
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    const auto& edits = c().runEdits.list().edits;
    ASSERT_EQ(edits.size(), alike.relations.size() - 1);
    for (const auto& edit : edits) {
        EXPECT_EQ(edit.op, EditOp::Mean);
        EXPECT_FALSE(edit.point == alike.relations[1].point &&
                     edit.selection.begin()->second.places.at(0) == alike.relations[1].index);
    }
    ASSERT_TRUE(waitUntil([&] { return inspector()->edited(); })) << "they fit the model";
    EXPECT_TRUE(c().runEdits.problem().isEmpty()) << c().runEdits.problem().toStdString();
    // Again: they are there. One undo takes all of them back.
    window->showPage(PageId::Atlas);
    click(view()->keepOneButton());
    EXPECT_EQ(edits.size(), alike.relations.size() - 1);
    undo();
    EXPECT_TRUE(edits.empty());
    // Without maps that are alike there is nothing to keep.
    for (std::size_t m = 0; m < alike.relations.size(); ++m)
        alike.relations[m].group = static_cast<std::int64_t>(m);
    view()->showResult(core::answerOf(alike));
    EXPECT_FALSE(view()->keepOneButton()->isVisibleTo(view()));
}

// What is asked for about a checkpoint is shown on its page.
TEST_F(AtlasPageTest, OfACheckpointThePageCheckpointShowsWhatIsAskedFor) {
    const std::string golden =
        std::string(RELASCOPE_FIXTURES) + "/golden/fitted-relations/same_kind";
    auto* shown = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    run = finishedRun();
    window->opener().openCheckpoint(QString::fromStdString(golden + "/model"));
    ASSERT_TRUE(waitUntil([&] { return c().checkpoint.info().has_value(); }));
    EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    window->showPage(PageId::Atlas);
    EXPECT_TRUE(says("Press Inspect on the page Checkpoint."));
    c().checkpoint.load();
    const auto* maps = shown->inspector();
    ASSERT_TRUE(waitUntil([&] { return maps->result() && !maps->result()->partial; }));
    window->showPage(PageId::Atlas);
    ASSERT_TRUE(page()->about().subject);
    Q_EMIT page()->mapRequested(MapKind::SensoryAttention, 2, 1);
    EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    EXPECT_EQ(maps->view().layer, 2);
    window->showPage(PageId::Atlas);
    Edit edit;
    edit.op = EditOp::Project, edit.enabled = false;
    edit.relation = golden + "/relation.safetensors";
    edit.point = "blocks.2.hook_resid_pre";
    Q_EMIT page()->editsRequested({edit}, "Show it");
    EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    EXPECT_TRUE(c().runEdits.list().edits.empty());
    EXPECT_TRUE(waitUntil([&] { return maps->view().kind == MapKind::Relation; }));
    EXPECT_EQ(c().checkpointEdits.list().edits.size(), 1U);
    window->showPage(PageId::Atlas);
    EXPECT_EQ(page()->about().subject->edits().edits.size(), 1U);
    const auto path = page()->about().subject->model().path;
    EXPECT_EQ(path, golden + "/model");
    // An example of the data that are measured on, with its cell.
    c().measurements.setDataOf(path, QString::fromStdString(golden + "/pictures"));
    Q_EMIT page()->exampleRequested({}, 2, MapCell{MapKind::SensoryAttention, 1, 0, 0, 4, 5});
    EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    const auto& feed = c().checkpoint.feed();
    ASSERT_TRUE(waitUntil([&] { return feed.shown().option("data") && feed.settled(); }));
    EXPECT_EQ(feed.shown().value<std::int64_t>("sample"), 2);
    EXPECT_EQ(maps->view().layer, 1);
    EXPECT_EQ(maps->view().source, 4);
    EXPECT_EQ(maps->view().target, 5);
    const auto view = app::viewOf(feed.shown());
    ASSERT_TRUE(view);
    EXPECT_EQ(view->text("data"), golden + "/pictures");
    // A run that is looked at again is the subject again.
    window->showPage(PageId::Workbench);
    window->showPage(PageId::Atlas);
    EXPECT_EQ(page()->about().subject->model().path, run.toStdString());
}

TEST_F(AtlasPageTest, FollowsTheRunWhileTheWorkbenchIsHidden) {
    open();
    ASSERT_TRUE(says("about"));
    const QString first = page()->about().subject->name;
    window->showPage(PageId::Atlas);
    c().selection.setCurrent({});
    EXPECT_TRUE(says("Open a run or a checkpoint first."));
    ASSERT_TRUE(openRun(run));
    window->showPage(PageId::Atlas);
    EXPECT_TRUE(says("about")) << view()->sentence().toStdString();
    EXPECT_EQ(page()->about().subject->name, first);
    // Options are taken back with the other steps of the window.
    auto* examples = child<QSpinBox>(tab(), "Examples");
    examples->setValue(31);
    EXPECT_EQ(std::get<std::int64_t>(tab()->values().at("examples")), 31);
    undo();
    EXPECT_EQ(examples->value(), 24);
}

TEST_F(AtlasPageTest, FiguresAreDrawnAsTheCommandDoes) {
    const auto entry = [this](const QString& name) -> QAction* {
        for (auto* action : window->commands())
            if (action->text() == name + "...") return action;
        ADD_FAILURE() << name.toStdString();
        return nullptr;
    };
    const auto refreshed = [&](const QString& name) {
        for (QMenu* menu : window->findChildren<QMenu*>()) Q_EMIT menu->aboutToShow();
        return entry(name);
    };
    EXPECT_FALSE(refreshed("Ablation table")->isEnabled());
    EXPECT_TRUE(entry("Ablation table")->toolTip().contains("Open a run first"));
    EXPECT_TRUE(entry("Tasks of the Relational Games")->isEnabled());
    open();
    EXPECT_TRUE(refreshed("Ablation table")->isEnabled());
    EXPECT_FALSE(entry("Sample efficiency on SET")->isEnabled());
    auto& exporter = window->runActions().exporter();
    const QString out = folder.filePath("relation");
    QString suggested;
    exporter.askFile = [&](const QString&, const QString& name, const QString&) {
        suggested = name;
        return out;
    };
    entry("An image, tinted by a relation")->trigger();
    EXPECT_EQ(suggested, "vidat-relation.pdf");
    EXPECT_TRUE(exporter.task().busy());
    EXPECT_FALSE(refreshed("Ablation table")->isEnabled()) << "one at a time";
    ASSERT_TRUE(waitUntil([&] { return !exporter.task().busy(); }, 60000));
    EXPECT_TRUE(std::filesystem::exists(out.toStdString() + ".pdf"));
    // What the command refuses is said; Cancel ends it.
    QSignalSpy said(&c().messages, &Messages::message);
    entry("A text, tinted by a relation")->trigger();
    ASSERT_TRUE(waitUntil([&] { return !exporter.task().busy(); }, 60000));
    ASSERT_FALSE(said.empty());
    EXPECT_TRUE(said.back()[1].toString().contains("language models only"))
        << said.back()[1].toString().toStdString();
    std::filesystem::remove(out.toStdString() + ".pdf");
    entry("Atlas of relations")->trigger();
    QTest::qWait(20);  // a small atlas is drawn within half a second
    exporter.task().abandon();
    EXPECT_TRUE(waitUntil([&] { return exporter.disabledReason().isEmpty(); }));
    QTest::qWait(1500);
    EXPECT_FALSE(std::filesystem::exists(out.toStdString() + ".pdf"));
}

}  // namespace
}  // namespace relascope
