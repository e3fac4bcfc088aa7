// SPDX-License-Identifier: GPL-3.0-or-later
// The window Measure on small stored runs: what it computes, cancels, refuses and asks for.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTest>

#include "analysis/open_model.h"
#include "app/controllers/measure_controller.h"
#include "app/pages/ablation_tab.h"
#include "app/pages/answer_tabs.h"
#include "app/pages/data_source.h"
#include "app/pages/measure_window.h"
#include "app/pages/patching_tab.h"
#include "datasets/registry.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/trained.h"
#include "tests/widgets/child.h"
#include "widgets/analysis/ablation_view.h"
#include "widgets/analysis/along_view.h"
#include "widgets/analysis/attribution_view.h"
#include "widgets/analysis/heads_view.h"
#include "widgets/analysis/lens_view.h"
#include "widgets/analysis/patch_maps.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "window_fixture.h"

using namespace relascope;

namespace {

using Tab = MeasureWindow::Tab;
using Kind = MeasureController::Kind;
const std::string kRuns = RELASCOPE_FIXTURES "/runs/0.5/";

MeasuredSubject subjectOf(const std::string& run, std::int64_t example = 1) {
    MeasuredSubject subject;
    subject.path = run;
    subject.name = QStringLiteral("tiny");
    subject.splits = std::make_shared<const core::DataSplits>(
        datasets::openData(core::runData(run, core::readRunOptions(run).data)));
    subject.sample = subject.splits->validation->sample(example);
    subject.sampleName = QStringLiteral("validation %1").arg(example);
    subject.classNames = subject.splits->validation->info().classNames;
    subject.device = "cpu";
    return subject;
}

/// A checkpoint or run without its data.
MeasuredSubject withoutData(const std::string& path) {
    MeasuredSubject subject;
    subject.path = path;
    subject.name = QStringLiteral("golden");
    subject.sample = core::OpenedModel(path, "", "cpu").randomInput(1);
    subject.sampleName = QStringLiteral("random 1");
    return subject;
}

class MeasureWindowTest : public ::testing::Test {
protected:
    void SetUp() override { window.resize(1440, 900); }
    void open(const std::string& run, Tab tab) {
        window.setSubject(subjectOf(run));
        window.showTab(tab);
    }
    bool idle(Kind kind) {
        return waitUntil([&] { return !window.controller().task(kind).busy(); }, 60000);
    }
    AblationView* table() { return window.ablation()->view(); }

    MeasureWindow window;
};

TEST_F(MeasureWindowTest, SaysWhatAnAblationWouldTakeAndMeasuresIt) {
    open(kRuns + "vision", Tab::Ablation);
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000))
        << table()->sentence().toStdString();
    EXPECT_TRUE(table()->sentence().startsWith("Not measured. "));
    EXPECT_TRUE(table()->sentence().contains(" parts x 3 ways on "));
    QTest::mouseClick(child<ToggleChip>(window.ablation(), "another example"), Qt::LeftButton);
    QTest::mouseClick(child<ToggleChip>(window.ablation(), "Cumulative curve"), Qt::LeftButton);
    EXPECT_TRUE(table()->sentence().contains(" parts x 2 ways on "));
    child<QSpinBox>(window.ablation(), "Examples")->setValue(16);
    QSignalSpy tables(&window.controller(), &MeasureController::ablated);
    QTest::mouseClick(window.ablation()->measureButton(), Qt::LeftButton);
    EXPECT_FALSE(window.ablation()->measureButton()->isEnabled());
    ASSERT_TRUE(idle(Kind::Ablation));
    ASSERT_FALSE(table()->isEmpty()) << table()->sentence().toStdString();
    EXPECT_TRUE(tables.last()[1].toBool());
    EXPECT_EQ(table()->table().examples, 16);
    EXPECT_EQ(table()->table().cumulative.size(), table()->table().rows.size());
    EXPECT_TRUE(table()->csv().startsWith("part,group,point,how"));
    EXPECT_TRUE(table()->menu()->endings().contains("tex"));
    // A row is knocked out in the inspector, by the button and by Enter.
    QSignalSpy edits(&window, &MeasureWindow::editRequested);
    EXPECT_FALSE(window.ablation()->knockOutButton()->isEnabled());
    table()->view()->setCurrentIndex(table()->view()->model()->index(0, 0));
    QTest::mouseClick(window.ablation()->knockOutButton(), Qt::LeftButton);
    QTest::keyClick(table()->view(), Qt::Key_Return);
    ASSERT_EQ(edits.size(), 2);
    EXPECT_EQ(edits[0][0].value<Edit>(), table()->table().rows[0].edit);
}

TEST_F(MeasureWindowTest, AblationIsCancelledAndNewSubjectsDropOldResults) {
    open(kRuns + "vision", Tab::Ablation);
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.ablation(), "Examples")->setValue(1000000);
    window.ablation()->strip()->setDelay(0);
    QSignalSpy tables(&window.controller(), &MeasureController::ablated);
    QTest::mouseClick(window.ablation()->measureButton(), Qt::LeftButton);
    EXPECT_TRUE(window.controller().task(Kind::Ablation).busy());
    QTest::mouseClick(window.ablation()->strip()->cancelButton(), Qt::LeftButton);
    EXPECT_FALSE(window.controller().task(Kind::Ablation).busy());
    EXPECT_TRUE(window.ablation()->measureButton()->isEnabled());
    const auto before = tables.size();
    QTest::mouseClick(window.ablation()->measureButton(), Qt::LeftButton);
    window.setSubject(std::nullopt);
    QTest::qWait(300);
    EXPECT_EQ(tables.size(), before);
    EXPECT_TRUE(table()->isEmpty());
    EXPECT_EQ(table()->sentence(), "Open a run or a checkpoint first.");
    EXPECT_FALSE(window.ablation()->measureButton()->isEnabled());
}

TEST_F(MeasureWindowTest, ACancelledAblationIsContinued) {
    open(kRuns + "vision", Tab::Ablation);
    auto* ablation = window.ablation();
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    const auto size = window.controller().subject()->splits->validation->size();
    QTest::mouseClick(child<ToggleChip>(ablation, "Cumulative curve"), Qt::LeftButton);
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size));
    EXPECT_EQ(ablation->measureButton()->text(), "Measure");
    QObject::connect(&window.controller(), &MeasureController::ablated, &window,
                     [&](const AblationTable&, bool finished) {
                         if (!finished) window.controller().task(Kind::Ablation).abandon();
                     });
    QTest::mouseClick(ablation->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Ablation));
    ASSERT_FALSE(table()->isEmpty());
    const auto measured = table()->table().examples;
    EXPECT_EQ(ablation->measureButton()->text(), "Continue");
    // Other options are measured from the start, and these again where they ended.
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size) - 1);
    EXPECT_EQ(ablation->measureButton()->text(), "Measure");
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size));
    EXPECT_EQ(ablation->measureButton()->text(), "Continue");
    // So are other edits.
    auto subject = window.controller().subject().value();
    auto edited = subject;
    edited.edits.edits.push_back(table()->table().rows[0].edit);
    window.setSubject(edited);
    EXPECT_EQ(ablation->measureButton()->text(), "Measure");
    EXPECT_FALSE(table()->isEmpty()) << "it stays, with its caption";
    window.setSubject(subject);
    EXPECT_EQ(ablation->measureButton()->text(), "Continue");
    window.controller().disconnect(&window);
    QTest::mouseClick(ablation->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Ablation));
    EXPECT_EQ(table()->table().examples, size);
    EXPECT_GE(table()->table().examples, measured);
    EXPECT_FALSE(table()->table().cumulative.empty());
    EXPECT_EQ(ablation->measureButton()->text(), "Measure");
    // The same as without the pause.
    const auto continued = table()->csv();
    QTest::mouseClick(ablation->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Ablation));
    EXPECT_EQ(table()->csv(), continued);
}

TEST_F(MeasureWindowTest, MeasuresTheEditedModel) {
    auto subject = subjectOf(kRuns + "vision");
    window.setSubject(subject);
    window.showTab(Tab::Lens);
    auto* lens = window.lens()->view();
    ASSERT_TRUE(waitUntil([&] { return !lens->isEmpty(); }, 60000));
    const auto plain = lens->result().answers[0].logit;
    QSignalSpy read(&window.controller(), &MeasureController::lensRead);
    Edit edit;
    edit.point = "blocks.0.hook_attn_out";
    subject.edits.edits = {edit};
    window.setSubject(subject);
    ASSERT_TRUE(waitUntil([&] { return !read.empty(); }, 60000));
    EXPECT_NE(lens->result().answers[0].logit, plain);
    core::OpenedModel model(subject.path, "", "cpu");
    const auto probed = model.probe(*subject.sample, subject.classNames, {subject.edits, {}});
    const auto& own = lens->result().answers[0];
    EXPECT_NEAR(own.probability,
                static_cast<double>(probed.probabilities[static_cast<std::size_t>(own.id)]), 1e-5);
    EXPECT_TRUE(child<QLabel>(&window, "With the edits of the inspector")->isVisible());
    // A line that is switched off is no change.
    read.clear();
    edit.enabled = false;
    edit.point = "hook_embed";
    subject.edits.edits.push_back(edit);
    window.setSubject(subject);
    QTest::qWait(100);
    EXPECT_TRUE(read.empty());
    // Parts are taken out of the edited model, and the table says of which.
    window.showTab(Tab::Ablation);
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.ablation(), "Examples")->setValue(8);
    QTest::mouseClick(window.ablation()->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Ablation));
    ASSERT_FALSE(table()->isEmpty()) << table()->sentence().toStdString();
    for (const auto& row : table()->table().rows)
        if (row.edit.point == "blocks.0.hook_attn_out") {
            EXPECT_EQ(row.ways[0].change.change, 0.0) << "out already";
        }
}

TEST_F(MeasureWindowTest, PatchesASecondSampleAndSaysWhenAnswersAreTheSame) {
    open(kRuns + "vision", Tab::Patching);
    auto* patching = window.patching();
    EXPECT_TRUE(patching->view()->sentence().contains("validation 1"));
    patching->exampleBox()->setValue(1);  // A itself
    QTest::mouseClick(patching->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Patching));
    EXPECT_TRUE(patching->view()->sentence().startsWith("A and B give the same answer"))
        << patching->view()->sentence().toStdString();
    patching->exampleBox()->setValue(2);
    QTest::mouseClick(child<ToggleChip>(patching, "Estimate only"), Qt::LeftButton);
    QTest::mouseClick(patching->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Patching));
    ASSERT_FALSE(patching->view()->isEmpty()) << patching->view()->sentence().toStdString();
    EXPECT_EQ(patching->view()->result().total, 0);
    QTest::mouseClick(child<ToggleChip>(patching, "Estimate only"), Qt::LeftButton);
    QTest::mouseClick(patching->measureButton(), Qt::LeftButton);
    ASSERT_TRUE(idle(Kind::Patching));
    const auto& result = patching->view()->result();
    EXPECT_GT(result.total, 0);
    EXPECT_EQ(result.done, result.total);
    EXPECT_TRUE(patching->view()->csv().startsWith("map,point,row,column"));
    // A dropped input takes the place of the example of a split.
    window.setSecond(subjectOf(kRuns + "vision", 3).sample.value(), QStringLiteral("dropped"));
    EXPECT_TRUE(patching->view()->isEmpty());
    EXPECT_TRUE(patching->request().second);
    EXPECT_FALSE(patching->exampleBox()->isVisible());
    QTest::mouseClick(child<QPushButton>(patching, "dropped"), Qt::LeftButton);
    EXPECT_FALSE(patching->request().second);
}

TEST_F(MeasureWindowTest, HeadsAreMeasuredOnRandomTextOrTheImage) {
    auto* heads = window.heads();
    window.setSubject(withoutData(kRuns + "language"));
    EXPECT_TRUE(heads->view()->isEmpty());
    QTest::keyClick(&window, Qt::Key_6, Qt::ControlModifier);
    EXPECT_EQ(window.tab(), Tab::Heads);
    window.show();
    ASSERT_TRUE(waitUntil([&] { return !heads->view()->isEmpty(); }, 60000))
        << heads->view()->sentence().toStdString();
    const auto first = heads->view()->result();
    EXPECT_TRUE(first.input.ends_with("random tokens, twice")) << first.input;
    EXPECT_TRUE(heads->seedBox()->isVisible());
    // Another seed is another text; the number that is typed last counts.
    QSignalSpy measured(&window.controller(), &MeasureController::headsMeasured);
    for (const int seed : {3, 31, 7}) heads->seedBox()->setValue(seed);
    ASSERT_TRUE(waitUntil([&] { return measured.size() == 1; }, 60000));
    QTest::qWait(400);
    EXPECT_EQ(measured.size(), 1);
    EXPECT_NE(heads->view()->result().heads, first.heads);
    // So are edits.
    auto subject = withoutData(kRuns + "language");
    Edit zero;
    zero.point = "blocks.0.hook_resid_pre";
    subject.edits.edits = {zero};
    window.setSubject(subject);
    ASSERT_TRUE(waitUntil([&] { return measured.size() == 2; }, 60000));

    window.setSubject(subjectOf(kRuns + "vision"));
    ASSERT_TRUE(waitUntil([&] { return measured.size() == 3; }, 60000));
    EXPECT_FALSE(heads->seedBox()->isVisible());
    EXPECT_EQ(heads->view()->result().measures.back(), "neighbours");
    window.setSubject(subjectOf(kRuns + "sorting"));
    EXPECT_TRUE(waitUntil(
        [&] { return heads->view()->sentence().contains("neither text nor images"); }, 60000))
        << heads->view()->sentence().toStdString();
}

TEST_F(MeasureWindowTest, LensAndAttributionAreThereWhenSeen) {
    window.setSubject(withoutData(kRuns + "language"));
    window.showTab(Tab::Lens);
    auto* lens = window.lens()->view();
    ASSERT_TRUE(waitUntil([&] { return !lens->isEmpty(); }, 60000))
        << lens->sentence().toStdString();
    EXPECT_GT(lens->result().columns(), 1u);
    EXPECT_TRUE(lens->csv().startsWith("after,position,input"));
    lens->grid()->setFocus();
    QTest::keyClick(lens->grid(), Qt::Key_Home);
    auto* attribution = window.attribution()->view();
    EXPECT_TRUE(attribution->isEmpty()) << "not yet seen";
    QTest::keyClick(&window, Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window.tab(), Tab::Attribution);
    ASSERT_TRUE(waitUntil([&] { return !attribution->isEmpty(); }, 60000))
        << attribution->sentence().toStdString();
    EXPECT_EQ(attribution->result().position, 0) << "the column chosen in the lens";
    EXPECT_EQ(attribution->result().answer.id, lens->result().answers[0].id);
    EXPECT_NEAR(attribution->result().sum(), attribution->result().logit, 1e-3);
    EXPECT_TRUE(attribution->csv().startsWith("part,kind,layer"));
    // Another answer, and one that there is not.
    attribution->answerBox()->setEditText("id:1");
    QTest::keyClick(attribution->answerBox(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return attribution->result().answer.id == 1; }));
    attribution->minusBox()->setEditText("no such answer at all");
    QTest::keyClick(attribution->minusBox(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !attribution->problem().isEmpty(); }));
    EXPECT_FALSE(attribution->isEmpty());
}

TEST_F(MeasureWindowTest, ModelsWithoutOneSayWhy) {
    open(kRuns + "image-abstractor", Tab::Attribution);
    auto* view = window.attribution()->view();
    ASSERT_TRUE(waitUntil([&] { return view->sentence().contains("Abstractor"); }, 60000))
        << view->sentence().toStdString();
    EXPECT_TRUE(view->isEmpty());
    EXPECT_FALSE(view->sentence().startsWith("model:"));
    // A checkpoint has no data: no ablation, but everything about one input.
    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed"));
    window.showTab(Tab::Lens);
    ASSERT_TRUE(waitUntil([&] { return !window.lens()->view()->isEmpty(); }, 60000));
    EXPECT_FALSE(window.lens()->view()->grid()->isVisible()) << "one answer: bars";
    window.showTab(Tab::Ablation);
    EXPECT_TRUE(table()->sentence().startsWith("There are no data"));
    window.showTab(Tab::Patching);
    EXPECT_TRUE(window.patching()->view()->sentence().startsWith("Choose a second input"));
    QTest::keyClick(&window, Qt::Key_Escape);
    EXPECT_FALSE(window.isVisible());
}

/// A run that kept its weights at several steps, with its second example.
struct KeptRun {
    testing_support::TemporaryFolder home{"measure-along"};
    std::string path = home / "run";
    MeasuredSubject subject;
    KeptRun() {
        auto folder = core::RunFolder::create(path, testing_support::tinyOptions());
        core::Control control;
        testing_support::trainIn(folder, control);
        const auto data = testing_support::tinyData();
        subject.path = path;
        subject.name = QStringLiteral("tiny");
        subject.splits = std::make_shared<const core::DataSplits>(data);
        subject.sample = data.validation->sample(1);
        subject.sampleName = QStringLiteral("validation 1");
        subject.classNames = data.validation->info().classNames;
        subject.device = "cpu";
        subject.map = MapCell{MapKind::Relation, 0, 0, 0, 1, 3};
        subject.cellName = QStringLiteral("i = patch 1, j = patch 3");
    }
};

TEST_F(MeasureWindowTest, ShowsTheMapAndTheCellAlongTraining) {
    KeptRun run;
    window.setSubject(run.subject);
    QSignalSpy results(&window.controller(), &MeasureController::alongRead);
    window.showTab(Tab::Along);
    auto* view = window.along()->view();
    ASSERT_TRUE(waitUntil([&] { return !results.empty() && results.last()[1].toBool(); }, 60000));
    ASSERT_FALSE(view->isEmpty()) << view->sentence().toStdString();
    const auto count = view->along().steps.size();
    EXPECT_GT(count, 6u);
    EXPECT_EQ(static_cast<std::size_t>(view->along().wanted), count);
    EXPECT_FALSE(window.along()->continueButton()->isVisible());
    const auto value = [&] { return view->along().steps[2].now.value; };
    core::OpenedModel model(run.path, std::to_string(view->along().steps[2].step), "cpu");
    const auto probed = model.probe(*run.subject.sample, run.subject.classNames);
    EXPECT_EQ(value(), static_cast<double>(probed.find(MapKind::Relation, 0, 0)->at(1, 3)));
    EXPECT_TRUE(view->csv().startsWith("step,value,probability"));
    // A step is asked for; that of the subject changes nothing else.
    QSignalSpy steps(&window, &MeasureWindow::stepRequested);
    Q_EMIT view->stepChosen(8);
    ASSERT_EQ(steps.size(), 1);
    EXPECT_EQ(steps[0][0].toLongLong(), 8);
    results.clear();
    run.subject.checkpoint = "8";
    window.setSubject(run.subject);
    // Another cell of the map is read from what is there.
    run.subject.map->j = 5;
    window.setSubject(run.subject);
    EXPECT_EQ(value(), static_cast<double>(probed.find(MapKind::Relation, 0, 0)->at(1, 5)));
    // Another map and edits are not.
    run.subject.map->kind = MapKind::RelationalAttention;
    window.setSubject(run.subject);
    ASSERT_TRUE(
        waitUntil([&] { return view->along().cell.kind == MapKind::RelationalAttention; }, 60000));
    Edit edit;
    edit.point = "blocks.0.rel.hook_r";
    edit.op = EditOp::Zero;
    run.subject.edits.edits.push_back(edit);
    window.setSubject(run.subject);
    ASSERT_TRUE(waitUntil([&] { return view->along().edited; }, 60000));
    ASSERT_TRUE(idle(Kind::Along));
    run.subject.map->index = 99;
    window.setSubject(run.subject);
    ASSERT_TRUE(waitUntil([&] { return view->isEmpty(); }, 60000));
    EXPECT_EQ(view->sentence(),
              "100 is out of range: the last of the attention-ra maps of layer 1 is 1");
    // Without kept weights.
    auto checkpoint = withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed");
    checkpoint.map = MapCell{};
    window.setSubject(checkpoint);
    ASSERT_TRUE(waitUntil([&] { return view->sentence().contains("open a run"); }, 60000))
        << view->sentence().toStdString();
}

TEST_F(MeasureWindowTest, AlongTrainingIsCancelledAndContinued) {
    KeptRun run;
    window.along()->strip()->setDelay(0);
    auto* view = window.along()->view();
    QSignalSpy results(&window.controller(), &MeasureController::alongRead);
    QObject::connect(&window.controller(), &MeasureController::alongRead, &window,
                     [&](const AlongTraining& along, bool finished) {
                         if (!finished && along.steps.size() < 8)
                             window.controller().task(Kind::Along).abandon();
                     });
    window.setSubject(run.subject);
    window.showTab(Tab::Along);
    ASSERT_TRUE(waitUntil([&] { return !results.empty(); }, 60000));
    ASSERT_TRUE(idle(Kind::Along));
    const auto before = view->along().steps.size();
    if (before == static_cast<std::size_t>(view->along().wanted)) {
        // A fast machine ends before it can be cancelled: then there is nothing to continue.
        EXPECT_FALSE(window.along()->continueButton()->isVisible());
        return;
    }
    ASSERT_TRUE(window.along()->continueButton()->isVisible());
    window.controller().disconnect(&window);
    window.along()->continueButton()->click();
    ASSERT_TRUE(waitUntil(
        [&] {
            return static_cast<std::int64_t>(view->along().steps.size()) == view->along().wanted;
        },
        60000));
    EXPECT_GT(view->along().steps.size(), before);
}

TEST_F(MeasureWindowTest, AnotherSampleLeavesTheAblationAlone) {
    open(kRuns + "vision", Tab::Ablation);
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.ablation(), "Examples")->setValue(1000000);
    QTest::mouseClick(window.ablation()->measureButton(), Qt::LeftButton);
    auto subject = window.controller().subject().value();
    subject.sample = subject.splits->validation->sample(2);
    subject.sampleName = QStringLiteral("validation 2");
    window.setSubject(subject);
    subject.map = MapCell{};
    window.setSubject(subject);
    EXPECT_TRUE(window.controller().task(Kind::Ablation).busy());
    ASSERT_TRUE(waitUntil([&] { return !table()->isEmpty(); }, 60000));
    window.setSubject(subject);
    EXPECT_FALSE(table()->isEmpty());
    window.controller().task(Kind::Ablation).abandon();
    subject.checkpoint = "best";
    window.setSubject(subject);
    EXPECT_TRUE(table()->isEmpty()) << "other weights";
}

}  // namespace
