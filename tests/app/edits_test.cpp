// SPDX-License-Identifier: GPL-3.0-or-later
// Editing the inspected model in the window: keys, menus, the Edits tab, undo, files, evaluation,
// earlier weights, and edits of a training that runs.
#include <unistd.h>

#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSignalSpy>
#include <atomic>
#include <fstream>
#include <random>
#include <thread>

#include "app/controllers/edited_probe.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "app/pages/measure_page.h"
#include "interventions/relation_file.h"
#include "support/processes.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/analysis/along/along_view.h"
#include "widgets/edits/edits_panel.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/maps/map_view.h"

namespace relascope {
namespace {

class EditsTest : public WindowTest {
protected:
    EditsTab& tab() { return window->edits(); }
    InspectorEdits& edits() { return c().runEdits; }
    const EditList& list() { return edits().list(); }
    /// A finished run is shown and can be edited.
    void openEditable() {
        path = finishedRun();
        // Not one of the pictures along training.
        ASSERT_TRUE(waitUntil([this] {
            return inspector()->result() && inspector()->result()->step == 12 && edits().points() &&
                   !c().runInput.feed().task().busy();
        }));
    }
    bool editedIs(bool edited) {
        return waitUntil([this, edited] { return inspector()->edited() == edited; });
    }
    void command(const QString& text) {
        for (auto* action : window->commands())
            if (action->text() == text) return action->trigger();
        FAIL() << text.toStdString();
    }
    /// The entry of a menu or of one of its menus.
    static QAction* entry(const QMenu& menu, const QString& text) {
        for (auto* action : menu.actions()) {
            if (action->menu())
                if (auto* found = entry(*action->menu(), text)) return found;
            if (action->text().section(u'\t', 0, 0) == text) return action;
        }
        return nullptr;
    }
    static void press(const QMenu& menu, const QString& text) {
        auto* action = entry(menu, text);
        QStringList there;
        for (auto* other : menu.actions()) there << other->text();
        ASSERT_TRUE(action) << text.toStdString() << " in " << there.join(", ").toStdString();
        action->trigger();
    }
    std::vector<float> outputs() { return inspector()->choice().inspected().result->probabilities; }
    QString path;
};

TEST_F(EditsTest, XTakesTheChosenMapOutAndReturnsIt) {
    openEditable();
    const auto before = outputs();
    QTest::keyClick(window.get(), Qt::Key_X);
    ASSERT_TRUE(editedIs(true));
    ASSERT_EQ(list().edits.size(), 1U);
    EXPECT_EQ(list().edits[0].point, "blocks.0.rel.hook_r");
    EXPECT_EQ(inspector()->mapPane()->map()->values().at(1, 1), 0.0F);
    EXPECT_EQ(inspector()->choice().inspected().before->probabilities, before);
    EXPECT_NE(outputs(), before);
    EXPECT_EQ(window->bar()->interventionText(), "1 edit");
    EXPECT_EQ(tab().panel()->list()->count(), 1);
    EXPECT_TRUE(inspector()->choice().takenOut({MapKind::Relation, 0, 0}));
    QTest::keyClick(window.get(), Qt::Key_B, Qt::ShiftModifier);
    EXPECT_TRUE(inspector()->mapPane()->other()->isVisible());
    QTest::keyClick(window.get(), Qt::Key_B);
    EXPECT_EQ(inspector()->view().shown, widgets::Shown::Before);
    EXPECT_FALSE(inspector()->mapPane()->other()->isVisible()) << "they stand alone";
    QTest::keyClick(window.get(), Qt::Key_B, Qt::ShiftModifier);
    QTest::keyClick(window.get(), Qt::Key_X);
    ASSERT_TRUE(editedIs(false));
    EXPECT_TRUE(list().edits.empty());
    EXPECT_EQ(outputs(), before);
    EXPECT_EQ(window->bar()->interventionText(), "");
}

TEST_F(EditsTest, EShowsTheTabAndWordsAreAdded) {
    openEditable();
    QTest::keyClick(window.get(), Qt::Key_E);
    EXPECT_EQ(window->form()->tab(), 1);
    EXPECT_TRUE(tab().panel()->isVisible());
    auto* words = tab().panel()->words();
    QTest::keyClicks(words, "layer 9 relation 1 zero");
    QTest::keyClick(words, Qt::Key_Return);
    EXPECT_TRUE(list().edits.empty());
    bool told = false;
    for (const auto* note : tab().panel()->findChildren<FieldNote*>())
        told = told || (note->isProblem() && note->text().contains("layer 9"));
    EXPECT_TRUE(told);
    words->clear();
    QTest::keyClicks(words, "layer 2 feed-forward zero");
    QTest::keyClick(words, Qt::Key_Return);
    ASSERT_EQ(list().edits.size(), 1U);
    EXPECT_EQ(list().edits[0].point, "blocks.1.hook_mlp_out");
    EXPECT_TRUE(words->text().isEmpty());
    ASSERT_TRUE(editedIs(true));
    // What the edit does alone follows.
    EXPECT_TRUE(waitUntil([this] { return !tab().panel()->lines()[0].effect.isEmpty(); }));
    // The check box keeps the line and takes the edit back.
    tab().panel()->list()->item(0)->setCheckState(Qt::Unchecked);
    ASSERT_TRUE(editedIs(false));
    EXPECT_EQ(list().edits.size(), 1U);
}

TEST_F(EditsTest, InANarrowWindowTheListMakesRoom) {
    openEditable();
    window->resize(1024, 640);
    ASSERT_TRUE(waitUntil([this] { return window->width() == 1024; }));
    QTest::keyClick(window.get(), Qt::Key_E);
    EXPECT_TRUE(tab().panel()->isVisible());
    EXPECT_FALSE(window->sidebar()->isVisible());
    window->form()->setCollapsed(true);
    EXPECT_TRUE(window->sidebar()->isVisible());
}

TEST_F(EditsTest, UndoOfFiftyRandomActionsRestoresListAndPicture) {
    openEditable();
    edits().addWords("layer 1 symbols zero");
    ASSERT_TRUE(editedIs(true));
    const EditList first = list();
    const auto shown = outputs();
    std::mt19937 random(3);
    const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    auto& editing = tab().editing();
    std::vector<EditList> seen = {first};
    for (int k = 0; k < 50; ++k) {
        const core::MapPlace map{any(2) ? MapKind::Relation : MapKind::RelationalAttention,
                                 any(2) ? "layer 1" : "layer 2", 0, 0, 0};
        switch (any(8)) {
            case 0:
                edits().knockOut(map);
                break;
            case 1:
                edits().setCell(map, any(4), any(4), any(100) / 10.0);
                break;
            case 2:
                edits().cutEdge(map, any(4), any(4), InspectorEdits::Edge::Layer);
                break;
            case 3:
                edits().setEnabled(any(static_cast<int>(list().edits.size()) + 1), any(2) == 1);
                break;
            case 4:
                edits().move(any(5), any(5));
                break;
            case 5:
                edits().remove(any(6));
                break;
            case 6:
                edits().scale(map, 0.5);
                break;
            default:
                editing.changeCell(0.1);
        }
        seen.push_back(list());
    }
    int steps = 0;
    while (!(list() == first) && steps < 60) undo(), ++steps;
    EXPECT_EQ(list(), first);
    EXPECT_TRUE(waitUntil([&] { return inspector()->edited() && outputs() == shown; }));
    while (nextStep(c().history, true) >= 0) redo();
    EXPECT_EQ(list(), seen.back());
}

TEST_F(EditsTest, AListIsSavedAndOpened) {
    openEditable();
    edits().addWords("layer 1 relation 1 i 2 j 3 set 1.5");
    edits().addWords("layer 2 relational head 1 uniform");
    const EditList saved = list();
    const QString file = folder.filePath("cut.json");
    tab().askFile = [&](bool) { return file; };
    command("Save edits...");
    ASSERT_TRUE(waitUntil([&] { return QFileInfo::exists(file); }));
    edits().clear();
    tab().open();
    ASSERT_TRUE(waitUntil([&] { return list().edits.size() == 2; }));
    EXPECT_EQ(list().edits, saved.edits);
    std::ofstream(file.toStdString()) << "{\"format\": \"relascope-edit/1\", \"edits\": [{}]}";
    QSignalSpy refused(&edits(), &InspectorEdits::refused);
    tab().open();
    ASSERT_TRUE(refused.wait());
    EXPECT_TRUE(refused[0][0].toString().contains("cut.json"));
    EXPECT_EQ(list().edits, saved.edits) << "a bad file changes nothing";
}

TEST_F(EditsTest, ARelationThatIsFittedAgainIsShownAnew) {
    openEditable();
    const auto file = folder.filePath("same.safetensors").toStdString();
    core::RelationFile relation;
    relation.rank = relation.places = 1, relation.width = 16;
    relation.a.assign(16, 1.0F), relation.b.assign(16, 1.0F), relation.mean.assign(16, 0.0F);
    relation.point = "blocks.0.hook_resid_pre", relation.fact = "same";
    const auto saved = [&](float bias) {
        relation.bias = bias;
        core::writeRelation(relation, file);
    };
    const auto shown = [&]() -> const RelationMap* {
        for (const auto& map : inspector()->result()->maps)
            if (!map.fitted.empty()) return &map;
        return nullptr;
    };
    saved(0.0F);
    edits().addWords(QString::fromStdString("fitted " + file + " shown"));
    ASSERT_TRUE(waitUntil([&] { return shown() != nullptr; }));
    const auto isChosen = [&] {
        const auto& view = inspector()->view();
        return view.kind == shown()->kind && view.layer == shown()->layer &&
               view.index == shown()->index;
    };
    EXPECT_TRUE(isChosen());
    inspector()->showMap(MapKind::SensoryAttention, 1, 0);
    EXPECT_FALSE(isChosen());
    edits().addNew(list().edits, {});  // asked for again
    EXPECT_TRUE(isChosen());
    EXPECT_EQ(list().edits.size(), 1U);
    const float first = shown()->at(1, 2);
    for (const float bias : {3.0F, 5.0F}) {  // a file that was replaced is still watched
        saved(bias);
        EXPECT_TRUE(
            waitUntil([&] { return std::abs(shown()->at(1, 2) - first - bias) < 1e-3F; }, 10000))
            << bias;
    }
}

TEST_F(EditsTest, AMeanSaysHowWellItIsKnownAndIsSavedWithItsValues) {
    openEditable();
    edits().addWords("layer 1 sensory head 1 mean");
    ASSERT_TRUE(waitUntil([this] { return edits().means().size() == 1; }));
    const auto& taken = edits().means().at(0);
    const auto lines = tab().panel()->list();
    ASSERT_TRUE(waitUntil([&] { return lines->item(0)->text().contains(", standard error 0."); }))
        << lines->item(0)->text().toStdString();
    const auto saved = edits().listWithValues().edits[0];
    EXPECT_EQ(saved.values, taken.values);
    ASSERT_FALSE(saved.values.empty());
    EXPECT_EQ(saved.reference->examples, taken.examples);
    ASSERT_TRUE(editedIs(true));
    const auto shown = outputs();
    const QString file = folder.filePath("mean.json");
    tab().askFile = [&](bool) { return file; };
    command("Save edits...");
    ASSERT_TRUE(waitUntil([&] { return QFileInfo::exists(file); }));
    EXPECT_TRUE(list().edits[0].values.empty()) << "the list itself takes the mean of every step";
    edits().clear();
    ASSERT_TRUE(editedIs(false));
    EXPECT_TRUE(edits().means().empty());
    tab().open();
    ASSERT_TRUE(waitUntil([&] { return list().edits.size() == 1; }));
    EXPECT_EQ(list().edits[0], saved);
    ASSERT_TRUE(editedIs(true));
    EXPECT_EQ(outputs(), shown) << "the file stands alone";
    // Another line before it: what is known of the mean moves with it.
    edits().addWords("layer 2 relation 1 zero");
    edits().addWords("layer 1 relational head 1 mean");
    ASSERT_TRUE(waitUntil([this] { return edits().means().contains(2); }));
    edits().remove(0);
    EXPECT_FALSE(edits().means().contains(2));
    EXPECT_TRUE(waitUntil([this] { return edits().means().contains(1); }));
}

TEST_F(EditsTest, AnEditThatDoesNotFitIsSaidAndTheModelShownAsItIs) {
    openEditable();
    const auto before = outputs();
    Edit far;
    far.point = "blocks.0.rel.hook_r";
    far.selection["i"].places = {99};
    edits().add({far}, {});
    ASSERT_TRUE(waitUntil([this] { return !edits().problem().isEmpty(); }));
    EXPECT_TRUE(edits().problem().contains("99")) << edits().problem().toStdString();
    EXPECT_EQ(outputs(), before);
    edits().remove(0);
    EXPECT_TRUE(waitUntil([this] { return edits().problem().isEmpty(); }));
}

TEST_F(EditsTest, MenusEditTheMapTheCellAndTheObject) {
    openEditable();
    auto& editing = tab().editing();
    editing.askNumber = [](const QString&, const QString&, double) { return 2.5; };
    QMenu map;
    editing.fillMapMenu(map);
    ASSERT_TRUE(entry(map, "Mean"));
    EXPECT_FALSE(entry(map, "Make uniform")->isEnabled()) << "a relation has no weights";
    press(map, "Mean");
    EXPECT_EQ(list().edits.at(0).op, EditOp::Mean);
    ASSERT_TRUE(editedIs(true)) << edits().problem().toStdString();
    EXPECT_TRUE(tab().panel()->lines()[0].effect.contains(" examples of train, standard error "));
    press(map, "Another example");
    ASSERT_EQ(list().edits.size(), 1U) << "another way to take the same map out";
    EXPECT_EQ(list().edits.at(0).op, EditOp::Resample);
    EXPECT_TRUE(waitUntil([this] {
        return inspector()->choice().inspected().words.contains("resample");
    })) << edits().problem().toStdString();
    edits().clear();

    QMenu cell;
    editing.fillCellMenu(cell, 1, 2);
    press(cell, "Set rᵢⱼ...");
    ASSERT_EQ(list().edits.size(), 2U) << "the relations of this model are symmetric";
    ASSERT_TRUE(waitUntil([this] {
        return inspector()->edited() && inspector()->mapPane()->map()->values().at(1, 2) == 2.5F;
    }));
    EXPECT_EQ(inspector()->mapPane()->map()->values().at(2, 1), 2.5F);
    edits().clear();
    press(cell, "All heads of the layer");
    ASSERT_GE(list().edits.size(), 1U);
    for (const auto& edit : list().edits) EXPECT_EQ(edit.op, EditOp::Mask);
    edits().clear();

    QMenu object;
    editing.fillObjectMenu(object, 2);
    press(object, "Swap symbols with...");
    ASSERT_EQ(list().edits.size(), 1U);
    EXPECT_EQ(list().edits[0].op, EditOp::Swap);
    ASSERT_TRUE(waitUntil([this] { return inspector()->edited(); }));
    // A second input is needed first; a sample can be it.
    edits().clear();
    tab().useAsSecond();
    QMenu again;
    editing.fillObjectMenu(again, 2);
    press(again, "Patch this position from occurs, pentos 0");
    ASSERT_EQ(list().edits.size(), 1U);
    EXPECT_EQ(list().edits[0].op, EditOp::Patch);
    ASSERT_TRUE(editedIs(true)) << edits().problem().toStdString();
}

TEST_F(EditsTest, ADraggedCellIsOneStepOfTheHistory) {
    openEditable();
    const float value = inspector()->mapPane()->map()->values().at(2, 3);
    Q_EMIT inspector()->cellDragged(2, 3, 0);
    for (int up = 1; up <= 40; ++up) Q_EMIT inspector()->cellDragged(2, 3, up);
    Q_EMIT inspector()->cellDropped(true);
    ASSERT_TRUE(waitUntil([&] {
        return inspector()->edited() &&
               inspector()->mapPane()->map()->values().at(2, 3) > value + 0.5F;
    }));
    ASSERT_EQ(list().edits.size(), 2U);
    const double set = list().edits[0].values.numbers[0];
    EXPECT_EQ(set, std::round(set * 100.0) / 100.0) << "short in words";
    undo();
    EXPECT_TRUE(list().edits.empty());
    // Escape takes it back and leaves no step.
    const QString last = undoText();
    Q_EMIT inspector()->cellDragged(2, 3, 0);
    Q_EMIT inspector()->cellDragged(2, 3, 10);
    EXPECT_FALSE(list().edits.empty());
    Q_EMIT inspector()->cellDropped(false);
    EXPECT_TRUE(list().edits.empty());
    EXPECT_EQ(undoText(), last);
}

TEST_F(EditsTest, TheCursorOpensKeptWeightsForAnyInputAndEdit) {
    openEditable();
    ASSERT_TRUE(waitUntil([this] { return c().runs.records().kept(path).size() >= 3; }));
    const auto kept = c().runs.records().kept(path);
    const qint64 step = kept[kept.size() / 2];
    c().selection.setStep(step);
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step == step; }));
    c().runInput.chooseSample("validation", 7);
    ASSERT_TRUE(waitUntil([&] {
        return inspector()->result()->sample.origin == "occurs, pentos 7" &&
               inspector()->result()->step == step;
    }));
    const auto plain = outputs();
    command("Knock out this map");
    ASSERT_TRUE(editedIs(true));
    EXPECT_EQ(inspector()->choice().inspected().before->probabilities, plain);
    // The edit stays while the cursor moves.
    c().selection.setStep(kept.front());
    ASSERT_TRUE(waitUntil(
        [&] { return inspector()->result()->step == kept.front() && inspector()->edited(); }));
    c().selection.setStep(std::nullopt);
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step == 12; }));
    EXPECT_TRUE(inspector()->edited());
}

TEST_F(EditsTest, EvaluationSaysThePairedChange) {
    openEditable();
    command("Knock out this map");
    ASSERT_TRUE(editedIs(true));
    EXPECT_EQ(tab().splits().value(0), "train");
    tab().evaluate("validation");
    ASSERT_TRUE(waitUntil([this] {
        for (auto* label : tab().panel()->findChildren<QLabel*>())
            if (label->text().contains("32 examples") && label->text().contains("change"))
                return true;
        return false;
    }));
}

TEST_F(EditsTest, AnEvaluationLeavesNoProcess) {
    chooseTiny(2);
    c().experiment.set("train.keep_mib", std::int64_t{0});
    c().experiment.start();
    ASSERT_TRUE(waitUntil([this] {
        return !c().training.busy() && inspector()->result() && inspector()->result()->step == 2 &&
               edits().points() && !c().runInput.feed().task().busy();
    }));
    command("Knock out this map");
    ASSERT_TRUE(editedIs(true));
    ASSERT_TRUE(waitUntil([this] { return !c().looker.queue().busy(); }));
    const auto processes = [] { return testing_support::childrenOf(getpid()).size(); };
    const auto before = processes();
    QSignalSpy said(&c().messages, &Messages::message);
    tab().evaluate("validation");
    ASSERT_TRUE(waitUntil([&] {
        for (const auto& message : said)
            if (message[1].toString() == "Evaluated the edits on validation") return true;
        return false;
    }));
    EXPECT_TRUE(waitUntil([&] { return processes() == before; })) << "its process has not ended";
}

TEST_F(EditsTest, MeasureOpensForTheRunAndKeepsTheInspectorUsable) {
    openEditable();
    command("Ablation...");
    EXPECT_EQ(window->currentPage(), PageId::Measure);
    auto& analyses = window->measurePage()->analyses();
    EXPECT_TRUE(analyses.isVisible());
    EXPECT_EQ(analyses.current()->analysis().name, "ablate");
    Edit edit;
    edit.point = "blocks.0.rel.hook_r";
    Q_EMIT analyses.editsRequested({edit}, {});
    EXPECT_TRUE(editedIs(true));
    // A head that is chosen there is shown here.
    Q_EMIT analyses.mapRequested(MapKind::RelationalAttention, 0, 0);
    EXPECT_EQ(inspector()->view().kind, MapKind::RelationalAttention);
    EXPECT_EQ(inspector()->view().layer, 0);
}

TEST_F(EditsTest, AlongTrainingFollowsTheInspectorAndMovesTheCursor) {
    openEditable();
    command("Along training...");
    auto* measure = window->measurePage()->made();
    ASSERT_TRUE(measure);
    EXPECT_EQ(measure->current()->analysis().name, "along");
    auto* view = dynamic_cast<AlongView*>(measure->tab("along")->view());
    ASSERT_TRUE(waitUntil([&] {
        return !view->isEmpty() && view->along().wanted > 3 &&
               static_cast<std::int64_t>(view->along().steps.size()) == view->along().wanted;
    })) << view->sentence().toStdString();
    // The value at the step that is shown is that of the inspector.
    const auto& shown = inspector()->choice().view();
    const auto* map = inspector()->result()->find(shown.kind, shown.layer, shown.index);
    ASSERT_TRUE(map);
    EXPECT_FLOAT_EQ(static_cast<float>(view->along().steps.back().now.value),
                    map->at(shown.source, shown.target));
    EXPECT_TRUE(view->valuePlot()->title().contains("i = patch"))
        << view->valuePlot()->title().toStdString();
    const qint64 step = view->along().steps[2].step;
    Q_EMIT view->stepRequested(step);
    EXPECT_EQ(c().selection.step(), step);
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step == step; }));
    // Another cell is another line at once; an edit is applied at every step.
    auto other = shown;
    other.target = shown.target == 3 ? 4 : 3;
    Q_EMIT inspector()->viewChanged(other);
    EXPECT_EQ(view->along().cell.j, other.target);
    command("Knock out this map");
    ASSERT_TRUE(waitUntil([&] { return view->along().edited; }));
    EXPECT_EQ(view->along().steps.back().now.value, 0.0);
    measure->close();
}

TEST_F(EditsTest, ARunningTrainingIsEditedForTheInspectorAlone) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() && edits().points(); }));
    command("Knock out this map");
    ASSERT_TRUE(editedIs(true));
    const auto step = inspector()->result()->step;
    EXPECT_TRUE(
        waitUntil([&] { return inspector()->result()->step > step + 2 && inspector()->edited(); }));
    EXPECT_TRUE(c().runs.records().marks(c().training.run()).empty()) << "training is not edited";
}

TEST_F(EditsTest, AnAnswerOfTheTrainingIsWaitedForHoweverLongItTakes) {
    chooseTiny();
    c().experiment.set("data.test_size", std::int64_t{8000});
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() && edits().points(); }));
    Edit mean;
    mean.op = EditOp::Mean, mean.point = "blocks.0.rel.hook_r";
    mean.selection["relation"] = {{0}, {}, {}};
    mean.reference = EditReference{"hexos", 8000, 0, {}};  // one probe takes seconds
    edits().add({mean}, {});
    EXPECT_TRUE(editedIs(true)) << edits().problem().toStdString();
    const auto step = inspector()->result()->step;
    EXPECT_TRUE(waitUntil([&] { return inspector()->result()->step > step; }));
    // Answers end with the run: what is shown then are its last weights.
    click(window->bar()->stopButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    const auto last = c().runs.info(c().selection.current())->step;
    EXPECT_TRUE(
        waitUntil([&] { return inspector()->result()->step == last && inspector()->edited(); }));
}

TEST_F(EditsTest, TrainingTakesTheEditsFromHereOnWithAMark) {
    chooseTiny();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() && edits().points(); }));
    command("Knock out this map");
    ASSERT_TRUE(editedIs(true));
    ASSERT_TRUE(tab().panel()->trainButton()->isEnabled());
    click(tab().panel()->trainButton());
    const QString run = c().training.run();
    ASSERT_TRUE(waitUntil([&] { return !c().runs.records().marks(run).empty(); }));
    const auto mark = c().runs.records().marks(run).front();
    EXPECT_TRUE(mark.text.contains("layer 1 relation 1 zero")) << mark.text.toStdString();
}

TEST_F(EditsTest, EditsOfAnotherModelAreRemoved) {
    openEditable();
    edits().addWords("layer 2 relation 1 zero");
    ASSERT_TRUE(editedIs(true));
    chooseTiny(6);
    c().experiment.set("model.n_layers", std::int64_t{1});
    c().experiment.start();
    ASSERT_TRUE(waitUntil([this] {
        return !c().training.busy() && inspector()->result() &&
               inspector()->result()->layers.size() == 1;
    }));
    EXPECT_TRUE(list().edits.empty());
    EXPECT_FALSE(inspector()->edited());
}

TEST_F(EditsTest, EditsAndTheirHistoryBelongToTheirRun) {
    openEditable();
    const QString first = path;
    QTest::keyClick(window.get(), Qt::Key_X);
    ASSERT_TRUE(editedIs(true));
    openEditable();  // another run of the same model
    ASSERT_NE(path, first);
    EXPECT_TRUE(list().edits.empty());
    EXPECT_FALSE(inspector()->edited());
    EXPECT_FALSE(undoText().contains("Edit")) << "that step is of the other run";
    const auto show = [this](const QString& run) {
        c().selection.setRuns({run});
        c().selection.setCurrent(run);
    };
    show(first);
    EXPECT_EQ(list().edits.size(), 1U);
    ASSERT_TRUE(editedIs(true)) << "they return with their run";
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(list().edits.empty());
    show(path);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_TRUE(list().edits.empty()) << "nothing of the other run is redone here";
    show(first);
    ASSERT_TRUE(waitUntil([this] { return edits().points() && inspector()->result(); }));
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(list().edits.size(), 1U);
}

TEST_F(EditsTest, AStepWithoutWeightsShowsTheNearestOnesWithTheEdit) {
    openEditable();
    ASSERT_TRUE(waitUntil([this] { return c().runs.records().kept(path).size() >= 3; }));
    const auto kept = c().runs.records().kept(path);
    const auto captures = c().runs.records().captures(path);
    const qint64 step = kept[1];
    ASSERT_TRUE(std::binary_search(captures.begin(), captures.end(), step));
    const auto file = QStringLiteral("%1/weights/step-%2.safetensors").arg(path).arg(step);
    ASSERT_TRUE(QFile::remove(file)) << file.toStdString();
    c().selection.setRuns({});
    c().selection.setCurrent({});
    c().runs.records().forget(path);
    c().selection.setRuns({path});
    c().selection.setCurrent(path);
    ASSERT_TRUE(waitUntil([this] { return edits().points() && inspector()->result(); }));
    c().selection.setStep(step);
    ASSERT_TRUE(waitUntil([&] { return c().runInput.feed().shownStep() == step; }));
    EXPECT_TRUE(c().runInput.showsCapture());
    EXPECT_EQ(edits().disabledReason(), "");
    QTest::keyClick(window.get(), Qt::Key_X);
    EXPECT_EQ(list().edits.size(), 1U);
    ASSERT_TRUE(editedIs(true)) << "an edit is never claimed and not made";
    EXPECT_NE(inspector()->result()->step, step);
    EXPECT_EQ(window->bar()->interventionText(), "1 edit");
    QTest::keyClick(window.get(), Qt::Key_X);
    ASSERT_TRUE(waitUntil([&] { return c().runInput.feed().shownStep() == step; }));
    EXPECT_TRUE(c().runInput.showsCapture());
}

TEST_F(EditsTest, WhereNoWeightsWereKeptTheReasonIsSaid) {
    path = finishedRun(12, false);
    ASSERT_TRUE(waitUntil([this] { return edits().points() && inspector()->result(); }));
    QTest::keyClick(window.get(), Qt::Key_X);
    ASSERT_TRUE(editedIs(true));
    ASSERT_TRUE(waitUntil([this] { return !c().runs.records().captures(path).empty(); }));
    c().selection.setStep(c().runs.records().captures(path).front());
    ASSERT_TRUE(editedIs(false));
    EXPECT_TRUE(edits().disabledReason().contains("kept no weights"))
        << edits().disabledReason().toStdString();
    c().selection.setStep(std::nullopt);
    ASSERT_TRUE(editedIs(true));
    EXPECT_EQ(edits().disabledReason(), "");
}

}  // namespace
}  // namespace relascope
