// SPDX-License-Identifier: GPL-3.0-or-later
// The window Measure on small stored runs: what it computes, cancels, refuses and asks for.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "analysis/open_model.h"
#include "answers/answer_text.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "app/pages/data_source.h"
#include "datasets/examples.h"
#include "datasets/registry.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/trained.h"
#include "tests/widgets/child.h"
#include "widgets/analysis/ablate/ablation_view.h"
#include "widgets/analysis/along/along_view.h"
#include "widgets/analysis/attribute/attribution_view.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/export/export.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/controls.h"
#include "window_fixture.h"
#include "wire/figures.h"

using namespace relascope;

namespace {

const std::string kRuns = RELASCOPE_FIXTURES "/runs/0.5/";

/// What a session says of these data.
std::shared_ptr<const wire::OpenedData> openedData(const DataOptions& options) {
    auto opened = std::make_shared<wire::OpenedData>();
    opened->data.options = options;
    const auto splits = datasets::openData(options);
    for (const auto& name : splits.names()) {
        const auto data = splits.find(name);
        opened->splits.push_back({name, data->info(), false, datasets::exampleOf(*data, 0)});
    }
    return opened;
}
ProbeSample validationSample(const DataOptions& options, std::int64_t example) {
    return datasets::openData(options).validation->sample(example);
}

Subject subjectOf(const std::string& run, std::int64_t example = 1) {
    Subject subject;
    subject.model().path = run;
    subject.model().device = "cpu";
    subject.name = QStringLiteral("tiny");
    subject.setData(openedData(core::runData(run, core::readRunOptions(run).data)));
    subject.asked.sample = validationSample(subject.data->data.options, example);
    subject.sampleName = QStringLiteral("validation %1").arg(example);
    subject.asked.classNames = subject.data->at("validation").info.classNames;
    return subject;
}

/// A checkpoint or run without its data.
Subject withoutData(const std::string& path) {
    Subject subject;
    subject.model().path = path;
    subject.name = QStringLiteral("golden");
    subject.asked.sample = core::OpenedModel(path, "", "cpu").randomInput(1);
    subject.sampleName = QStringLiteral("random 1");
    return subject;
}

class MeasureWindowTest : public ::testing::Test {
protected:
    void SetUp() override { window.resize(1440, 900); }
    void open(const std::string& run, const std::string& analysis) {
        window.setSubject(subjectOf(run));
        window.showTab(analysis);
    }
    LongTask& task(const std::string& name) { return window.tab(name)->asking().task(); }
    bool idle(const std::string& name) {
        return waitUntil([&] { return !task(name).busy(); }, 60000);
    }
    template <class View>
    View* view(const std::string& name) {
        return dynamic_cast<View*>(window.tab(name)->view());
    }
    AblationView* table() { return view<AblationView>("ablate"); }
    /// Counts results of that analysis: how many, and whether the last one was finished.
    struct Reports {
        int count = 0;
        bool finished = false;
    };
    std::unique_ptr<Reports> reportsOf(const std::string& name) {
        auto reports = std::make_unique<Reports>();
        QObject::connect(&window.tab(name)->asking(), &Asking::reported, &window,
                         [to = reports.get()](const Answer&, bool finished) {
                             ++to->count;
                             to->finished = finished;
                         });
        return reports;
    }

    QUndoStack history;
    Measurements measurements;
    AnalysisWindow window{history, measurements};
};

/// Those with a tab of the window; others are on other pages.
std::vector<const core::Analysis*> tabs() {
    return core::analysesOf(core::AnalysisPage::Measure);
}

TEST_F(MeasureWindowTest, FitsASmallScreen) {
    for (const auto* analysis : tabs())
        EXPECT_LE(window.tab(analysis->name)->minimumSizeHint().width(), 1200) << analysis->name;
}

// Of patches the training split is read and patterns are shown; of a checkpoint
// its weights alone.
TEST_F(MeasureWindowTest, ShowsWhatAMapComparesWithDataAndWithout) {
    open(kRuns + "vision", "qk-components");
    auto* tab = window.tab("qk-components");
    auto* tables = view<DeclaredView>("qk-components");
    ASSERT_NE(tables, nullptr);
    EXPECT_EQ(child<QComboBox>(tab, "Split")->currentText(), "train");
    EXPECT_TRUE(tables->sentence().contains("says what it compares"));
    QTest::mouseClick(tab->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("qk-components"));
    ASSERT_FALSE(tables->isEmpty()) << tables->sentence().toStdString();
    const auto* rows = child<TableView>(tables)->tableModel();
    EXPECT_TRUE(rows->hasPictures());
    EXPECT_FALSE(rows->picture(0, 1).isNull());
    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/lm_symbolic_rope_gqa"));
    EXPECT_TRUE(tables->isEmpty());
    EXPECT_FALSE(child<QComboBox>(tab, "Split")->isEnabled());
    QTest::mouseClick(tab->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("qk-components"));
    ASSERT_FALSE(tables->isEmpty()) << tables->sentence().toStdString();
    EXPECT_FALSE(rows->hasPictures());
    EXPECT_GT(child<SegmentedControl>(tables, "Table")->count(), 1)
        << "components, highest and lowest pairs";
    // Of images something must vary.
    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed"));
    QTest::mouseClick(tab->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("qk-components"));
    EXPECT_TRUE(tables->isEmpty());
    EXPECT_TRUE(tables->sentence().contains("is read from examples"))
        << tables->sentence().toStdString();
}

TEST_F(MeasureWindowTest, SaysWhatAnAblationWouldTakeAndMeasuresIt) {
    open(kRuns + "vision", "ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000))
        << table()->sentence().toStdString();
    EXPECT_TRUE(table()->sentence().startsWith("Ablation takes each part of the model out "));
    EXPECT_TRUE(table()->sentence().contains(" parts x 3 ways on "));
    auto* ablation = window.tab("ablate");
    EXPECT_FALSE(child<QSpinBox>(ablation, "Examples")->isVisible());
    EXPECT_EQ(ablation->foldButton()->text(), "Options");
    ablation->foldButton()->setFocus();
    QTest::keyClick(ablation->foldButton(), Qt::Key_Space);
    EXPECT_TRUE(child<QSpinBox>(ablation, "Examples")->isVisible());
    QTest::mouseClick(child<ToggleChip>(window.tab("ablate"), "another example"), Qt::LeftButton);
    QTest::mouseClick(child<ToggleChip>(window.tab("ablate"), "Cumulative curve"), Qt::LeftButton);
    EXPECT_TRUE(table()->sentence().contains(" parts x 2 ways on "));
    child<QSpinBox>(window.tab("ablate"), "Examples")->setValue(16);
    const auto tables = reportsOf("ablate");
    QTest::mouseClick(window.tab("ablate")->runButton(), Qt::LeftButton);
    EXPECT_FALSE(window.tab("ablate")->runButton()->isEnabled());
    ASSERT_TRUE(idle("ablate"));
    ASSERT_FALSE(table()->isEmpty()) << table()->sentence().toStdString();
    EXPECT_TRUE(tables->finished);
    EXPECT_EQ(table()->result().examples, 16);
    EXPECT_EQ(table()->result().cumulative.size(), table()->result().rows.size());
    EXPECT_TRUE(table()->csv().startsWith("part,group,point,how"));
    EXPECT_TRUE(table()->menu()->endings().contains("tex"));
    // A row is knocked out in the inspector, by the button and by Enter.
    QSignalSpy edits(&window, &AnalysisWindow::editsRequested);
    EXPECT_FALSE(table()->knockOutButton()->isEnabled());
    table()->table()->setCurrentIndex(table()->table()->model()->index(0, 0));
    QTest::mouseClick(table()->knockOutButton(), Qt::LeftButton);
    QTest::keyClick(table()->table(), Qt::Key_Return);
    ASSERT_EQ(edits.size(), 2);
    EXPECT_EQ(edits[0][0].value<std::vector<Edit>>(),
              std::vector<Edit>{table()->result().rows[0].edit});
}

TEST_F(MeasureWindowTest, AblationIsCancelledAndNewSubjectsDropOldResults) {
    open(kRuns + "vision", "ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.tab("ablate"), "Examples")->setValue(1000000);
    window.tab("ablate")->strip()->setDelay(0);
    const auto tables = reportsOf("ablate");
    QTest::mouseClick(window.tab("ablate")->runButton(), Qt::LeftButton);
    EXPECT_TRUE(task("ablate").busy());
    QTest::mouseClick(window.tab("ablate")->strip()->cancelButton(), Qt::LeftButton);
    EXPECT_FALSE(task("ablate").busy());
    EXPECT_TRUE(window.tab("ablate")->runButton()->isEnabled());
    const auto before = tables->count;
    QTest::mouseClick(window.tab("ablate")->runButton(), Qt::LeftButton);
    window.setSubject(std::nullopt);
    QTest::qWait(300);
    EXPECT_EQ(tables->count, before);
    EXPECT_TRUE(table()->isEmpty());
    EXPECT_EQ(table()->sentence(), "Open a run or a checkpoint first.");
    EXPECT_FALSE(window.tab("ablate")->runButton()->isEnabled());
}

TEST_F(MeasureWindowTest, ACancelledAblationIsContinued) {
    open(kRuns + "vision", "ablate");
    auto* ablation = window.tab("ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    const auto size = window.about().subject->data->at("validation").info.size;
    QTest::mouseClick(child<ToggleChip>(ablation, "Cumulative curve"), Qt::LeftButton);
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size));
    EXPECT_EQ(ablation->runButton()->text(), "Measure");
    QObject context;
    QObject::connect(&ablation->asking(), &Asking::reported, &context,
                     [&](const Answer&, bool finished) {
                         if (!finished) task("ablate").abandon();
                     });
    QTest::mouseClick(ablation->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("ablate"));
    ASSERT_FALSE(table()->isEmpty());
    const auto measured = table()->result().examples;
    EXPECT_EQ(ablation->runButton()->text(), "Continue");
    // Other options are measured from the start, and these again where they ended.
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size) - 1);
    EXPECT_EQ(ablation->runButton()->text(), "Measure");
    child<QSpinBox>(ablation, "Examples")->setValue(static_cast<int>(size));
    EXPECT_EQ(ablation->runButton()->text(), "Continue");
    // So are other edits.
    auto subject = window.about().subject.value();
    auto edited = subject;
    edited.edits().edits.push_back(table()->result().rows[0].edit);
    window.setSubject(edited);
    EXPECT_EQ(ablation->runButton()->text(), "Measure");
    EXPECT_FALSE(table()->isEmpty()) << "it stays, with its caption";
    window.setSubject(subject);
    EXPECT_EQ(ablation->runButton()->text(), "Continue");
    ablation->asking().disconnect(&context);
    QTest::mouseClick(ablation->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("ablate"));
    EXPECT_EQ(table()->result().examples, size);
    EXPECT_GE(table()->result().examples, measured);
    EXPECT_FALSE(table()->result().cumulative.empty());
    EXPECT_EQ(ablation->runButton()->text(), "Measure");
    // The same as without the pause.
    const auto continued = table()->csv();
    QTest::mouseClick(ablation->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("ablate"));
    EXPECT_EQ(table()->csv(), continued);
}

TEST_F(MeasureWindowTest, MeasuresTheEditedModel) {
    auto subject = subjectOf(kRuns + "vision");
    window.setSubject(subject);
    window.showTab("lens");
    auto* lens = view<DeclaredView>("lens");
    ASSERT_TRUE(waitUntil([&] { return !lens->isEmpty(); }, 60000));
    const auto own = [&](const char* column) {
        return lens->answer().table("answers").numbers(column).at(0);
    };
    const auto plain = own("logit");
    const auto read = reportsOf("lens");
    Edit edit;
    edit.point = "blocks.0.hook_attn_out";
    subject.edits().edits = {edit};
    window.setSubject(subject);
    ASSERT_TRUE(waitUntil([&] { return read->count > 0; }, 60000));
    EXPECT_NE(own("logit"), plain);
    core::OpenedModel model(subject.model().path, "", "cpu");
    const auto probed =
        model.probe(*subject.asked.sample, subject.asked.classNames, {subject.edits(), {}});
    EXPECT_NEAR(own("probability"),
                static_cast<double>(probed.probabilities[static_cast<std::size_t>(own("id"))]),
                1e-5);
    EXPECT_TRUE(child<QLabel>(&window, "With the edits of the inspector")->isVisible());
    // A line that is switched off is no change.
    read->count = 0;
    edit.enabled = false;
    edit.point = "hook_embed";
    subject.edits().edits.push_back(edit);
    window.setSubject(subject);
    QTest::qWait(100);
    EXPECT_EQ(read->count, 0);
    // Parts are taken out of the edited model, and the table says of which.
    window.showTab("ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.tab("ablate"), "Examples")->setValue(8);
    QTest::mouseClick(window.tab("ablate")->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("ablate"));
    ASSERT_FALSE(table()->isEmpty()) << table()->sentence().toStdString();
    for (const auto& row : table()->result().rows)
        if (row.edit.point == "blocks.0.hook_attn_out") {
            EXPECT_EQ(row.ways[0].change.change, 0.0) << "out already";
        }
}

TEST_F(MeasureWindowTest, PatchesASecondSampleAndSaysWhenAnswersAreTheSame) {
    open(kRuns + "vision", "patch");
    auto* patching = window.tab("patch");
    auto* example = child<QSpinBox>(patching, "Second sample");
    // The example that is offered has another answer than A.
    ASSERT_TRUE(waitUntil([&] { return example->value() != 1; }, 60000));
    const auto labelAt = [](int k) { return subjectOf(kRuns + "vision", k).asked.sample->label; };
    EXPECT_NE(labelAt(example->value()), labelAt(1));
    example->setValue(1);  // A itself
    QTest::mouseClick(patching->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("patch"));
    EXPECT_TRUE(view<DeclaredView>("patch")->sentence().startsWith("A and B give the same answer"))
        << view<DeclaredView>("patch")->sentence().toStdString();
    example->setValue(2);
    QTest::mouseClick(child<ToggleChip>(patching, "Estimate only"), Qt::LeftButton);
    QTest::mouseClick(patching->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("patch"));
    ASSERT_FALSE(view<DeclaredView>("patch")->isEmpty())
        << view<DeclaredView>("patch")->sentence().toStdString();
    EXPECT_EQ(view<DeclaredView>("patch")->answer().number("total"), 0);
    QTest::mouseClick(child<ToggleChip>(patching, "Estimate only"), Qt::LeftButton);
    QTest::mouseClick(patching->runButton(), Qt::LeftButton);
    ASSERT_TRUE(idle("patch"));
    const auto& result = view<DeclaredView>("patch")->answer();
    EXPECT_GT(result.number("total"), 0);
    EXPECT_EQ(result.number("done"), result.number("total"));
    EXPECT_EQ(result.table("positions").texts("place").at(1), "patch (0, 0)");
    EXPECT_TRUE(result.text("metric").starts_with("logit of ")) << result.text("metric");
    EXPECT_TRUE(view<DeclaredView>("patch")->csv().startsWith("map,point,row,column"));
    // A dropped input takes the place of the example of a split.
    window.setSecond(subjectOf(kRuns + "vision", 3).asked.sample.value(),
                     QStringLiteral("dropped"));
    EXPECT_TRUE(view<DeclaredView>("patch")->isEmpty());
    EXPECT_TRUE(patching->question().second);
    EXPECT_FALSE(example->isVisible());
    QTest::mouseClick(child<QPushButton>(patching, "dropped"), Qt::LeftButton);
    EXPECT_FALSE(patching->question().second);
}

TEST_F(MeasureWindowTest, HeadsAreMeasuredOnRandomTextOrTheImage) {
    auto* heads = window.tab("heads");
    auto* shown = view<DeclaredView>("heads");
    auto* seed = child<QSpinBox>(heads, "Seed");
    window.setSubject(withoutData(kRuns + "language"));
    EXPECT_TRUE(shown->isEmpty());
    window.showTab("heads");
    ASSERT_TRUE(waitUntil([&] { return !shown->isEmpty(); }, 60000))
        << shown->sentence().toStdString();
    const auto first = shown->answer();
    EXPECT_TRUE(first.text("input").ends_with("random tokens, twice")) << first.text("input");
    EXPECT_TRUE(seed->isVisible());
    // Another seed is another text; the number that is typed last counts.
    const auto measured = reportsOf("heads");
    for (const int value : {3, 31, 7}) seed->setValue(value);
    ASSERT_TRUE(waitUntil([&] { return measured->count == 1; }, 60000));
    QTest::qWait(400);
    EXPECT_EQ(measured->count, 1);
    EXPECT_NE(core::csvOf(shown->answer()), core::csvOf(first));
    // So are edits.
    auto subject = withoutData(kRuns + "language");
    Edit zero;
    zero.point = "blocks.0.hook_resid_pre";
    subject.edits().edits = {zero};
    window.setSubject(subject);
    ASSERT_TRUE(waitUntil([&] { return measured->count == 2; }, 60000));

    window.setSubject(subjectOf(kRuns + "vision"));
    ASSERT_TRUE(waitUntil([&] { return measured->count == 3; }, 60000));
    EXPECT_FALSE(seed->isVisible());
    EXPECT_EQ(shown->answer().table("even").texts("measure").back(), "neighbours");
    window.setSubject(subjectOf(kRuns + "sorting"));
    EXPECT_TRUE(
        waitUntil([&] { return shown->sentence().contains("neither text nor images"); }, 60000))
        << shown->sentence().toStdString();
}

TEST_F(MeasureWindowTest, MinimalPairsOfAFileAreScoredAndTheirPartsTakenOut) {
    QTemporaryDir folder;
    const auto write = [&](const QString& name, const QByteArray& text) {
        QFile file(folder.filePath(name));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(text);
        return file.fileName();
    };
    QByteArray lines;
    for (int k = 0; k < 10; ++k)
        lines += QByteArrayLiteral("{\"sentence_good\": \"the cat ") + QByteArray::number(k) +
                 "\", \"sentence_bad\": \"cat the " + QByteArray::number(k) +
                 "\", \"UID\": \"order\"}\n";
    const auto file = write(QStringLiteral("pairs.jsonl"), lines);
    auto* tab = window.tab("pair-accuracy");
    auto* shown = view<DeclaredView>("pair-accuracy");
    window.setSubject(withoutData(kRuns + "language"));
    window.showTab("pair-accuracy");
    auto* path = child<QLineEdit>(tab, "Pairs");
    ASSERT_TRUE(path);
    EXPECT_TRUE(shown->sentence().contains("good sentence")) << shown->sentence().toStdString();
    path->setFocus();
    QTest::keyClicks(path, file);
    QTest::mouseClick(tab->runButton(), Qt::LeftButton);
    ASSERT_TRUE(waitUntil([&] { return !shown->isEmpty(); }, 60000))
        << shown->sentence().toStdString();
    EXPECT_EQ(shown->answer().number("count"), 10.0);
    EXPECT_EQ(child<TableView>(shown, "Phenomena")->tableModel()->rowCount(), 1);
    ASSERT_FALSE(child<GridView>(shown, "Tokens of the pair")->panels().empty());
    EXPECT_TRUE(shown->headText().contains("the first token is not scored"));

    // The parts of the same model; ten pairs are too few for a sentence.
    auto* parts = window.tab("phenomena");
    auto* map = view<DeclaredView>("phenomena");
    window.showTab("phenomena");
    auto* other = child<QLineEdit>(parts, "Pairs");
    other->setFocus();
    QTest::keyClicks(other, file);
    QTest::keyClick(other, Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !map->isEmpty(); }, 60000)) << map->sentence().toStdString();
    const auto findings = child<QLabel>(map, "What carries which phenomenon")->text();
    EXPECT_TRUE(findings.contains("too few")) << findings.toStdString();
    EXPECT_GT(child<GridView>(map, "Parts and phenomena")->panels()[0].rows.size(), 1U);

    // A damaged file is refused by line, beside the options.
    const auto damaged = write(QStringLiteral("damaged.jsonl"), "{\"sentence_good\": \"a\"}\n");
    other->selectAll();
    QTest::keyClicks(other, damaged);
    QTest::keyClick(other, Qt::Key_Return);
    ASSERT_TRUE(
        waitUntil([&] { return map->sentence().contains("line 1 has no 'sentence_bad'"); }, 60000))
        << map->sentence().toStdString();

    window.setSubject(subjectOf(kRuns + "vision"));
    EXPECT_TRUE(map->sentence().contains("for language models")) << map->sentence().toStdString();
}

TEST_F(MeasureWindowTest, SymbolHeadsReadPromptsOfTheirOwn) {
    auto* tab = window.tab("symbol-heads");
    window.setSubject(withoutData(kRuns + "language"));
    window.showTab("symbol-heads");
    // The characters of that run leave room for little: what does not fit is refused in a sentence.
    ASSERT_TRUE(waitUntil(
        [&] {
            const auto said = tab->view()->sentence();
            return said.contains("about") || said.contains("too short");
        },
        60000))
        << tab->view()->sentence().toStdString();
    window.setSubject(subjectOf(kRuns + "vision"));
    EXPECT_EQ(tab->view()->sentence(), "Rules in context are for language models: open one first.");
    EXPECT_FALSE(tab->runButton()->isEnabled());

    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/public/gpt2_tied"));
    auto* pairs = child<QSpinBox>(tab, "Pairs");
    auto* examples = child<QSpinBox>(tab, "Examples");
    ASSERT_TRUE(pairs && examples);
    pairs->setValue(4);
    examples->setValue(2);
    ASSERT_TRUE(waitUntil([&] { return tab->view()->sentence().contains("about"); }, 60000))
        << tab->view()->sentence().toStdString();
    QTest::mouseClick(tab->runButton(), Qt::LeftButton);
    ASSERT_TRUE(waitUntil([&] { return !tab->view()->isEmpty(); }, 60000))
        << tab->view()->sentence().toStdString();
    const auto* shown = view<DeclaredView>("symbol-heads");
    const auto& answer = shown->answer();
    const auto sentences = child<QLabel>(shown, "What carries the rule and what the token")->text();
    EXPECT_TRUE(sentences.startsWith("4 pairs of contexts are too few")) << sentences.toStdString();
    EXPECT_EQ(answer.number("examples"), 2.0);
    EXPECT_EQ(answer.table("parts").rows(), 8u);
}

TEST_F(MeasureWindowTest, LensAndAttributionAreThereWhenSeen) {
    window.setSubject(withoutData(kRuns + "language"));
    window.showTab("lens");
    auto* lens = view<DeclaredView>("lens");
    ASSERT_TRUE(waitUntil([&] { return !lens->isEmpty(); }, 60000))
        << lens->sentence().toStdString();
    EXPECT_GT(lens->answer().table("answers").rows(), 1u);
    EXPECT_TRUE(lens->csv().startsWith("after,position,input"));
    // A file is taken when its path is complete, and belongs to this model.
    const auto jacobian = [&] { return window.tab("lens")->values().count("jacobian"); };
    auto* file = child<QLineEdit>(window.tab("lens"), "Jacobian lens");
    QTest::keyClicks(file, "none.safetensors");
    EXPECT_EQ(jacobian(), 0u);
    QTest::keyClick(file, Qt::Key_Return);
    EXPECT_EQ(jacobian(), 1u);
    ASSERT_TRUE(waitUntil([&] { return lens->sentence().contains("none.safetensors"); }, 60000));
    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed"));
    EXPECT_EQ(jacobian(), 0u);
    EXPECT_TRUE(file->text().isEmpty());
    window.setSubject(withoutData(kRuns + "language"));
    ASSERT_TRUE(waitUntil([&] { return !lens->isEmpty(); }, 60000));
    auto* grid = child<GridView>(lens, "Answers after each layer");
    grid->setFocus();
    QTest::keyClick(grid, Qt::Key_Home);
    auto* attribution = view<AttributionView>("attribute");
    EXPECT_TRUE(attribution->isEmpty()) << "not yet seen";
    QTest::keyClick(&window, Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window.current(), window.tab("attribute"));
    ASSERT_TRUE(waitUntil([&] { return !attribution->isEmpty(); }, 60000))
        << attribution->sentence().toStdString();
    EXPECT_EQ(attribution->answer().number("position"), 0) << "the column chosen in the lens";
    EXPECT_EQ(attribution->answer().number("answer_id"),
              lens->answer().table("answers").numbers("id")[0]);
    EXPECT_NEAR(attribution->answer().number("sum"), attribution->answer().number("logit"), 1e-3);
    EXPECT_TRUE(attribution->csv().startsWith("part,kind,layer"));
    // Another answer, and one that there is not.
    attribution->answerBox()->setEditText("id:1");
    QTest::keyClick(attribution->answerBox(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return attribution->answer().number("answer_id") == 1; }));
    attribution->minusBox()->setEditText("no such answer at all");
    QTest::keyClick(attribution->minusBox(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !attribution->problem().isEmpty(); }));
    EXPECT_FALSE(attribution->isEmpty());
}

TEST_F(MeasureWindowTest, ModelsWithoutOneSayWhy) {
    open(kRuns + "image-abstractor", "attribute");
    auto* shown = this->view<AttributionView>("attribute");
    ASSERT_TRUE(waitUntil([&] { return shown->sentence().contains("Abstractor"); }, 60000))
        << shown->sentence().toStdString();
    EXPECT_TRUE(shown->isEmpty());
    EXPECT_FALSE(shown->sentence().startsWith("model:"));
    // A checkpoint has no data: no ablation, but everything about one input.
    window.setSubject(withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed"));
    window.showTab("lens");
    ASSERT_TRUE(waitUntil([&] { return !view<DeclaredView>("lens")->isEmpty(); }, 60000));
    EXPECT_FALSE(
        child<GridView>(view<DeclaredView>("lens"), "Answers after each layer")->isVisible())
        << "one answer: bars";
    window.showTab("ablate");
    EXPECT_TRUE(table()->sentence().startsWith("A checkpoint has no data of its own"));
    window.showTab("patch");
    EXPECT_TRUE(view<DeclaredView>("patch")->sentence().startsWith("Choose a second input"));
    window.setSubject(withoutData(kRuns + "language"));
    auto shorter = *window.about().subject->asked.sample;
    shorter.source.tokens.pop_back();
    window.setSecond(shorter, QStringLiteral("shorter"));
    EXPECT_TRUE(view<DeclaredView>("patch")->sentence().startsWith("Patching needs two inputs of"));
    QTest::keyClick(&window, Qt::Key_Escape);
    EXPECT_FALSE(window.isVisible());
}

/// A run that kept its weights at several steps, with its second example.
struct KeptRun {
    testing_support::TemporaryFolder home{"measure-along"};
    std::string path = home / "run";
    Subject subject;
    KeptRun() {
        auto folder = core::RunFolder::create(path, testing_support::tinyOptions());
        core::Control control;
        testing_support::trainIn(folder, control);
        const auto data = testing_support::tinyData();
        subject.model().path = path;
        subject.name = QStringLiteral("tiny");
        subject.setData(openedData(testing_support::tinyOptions().data));
        subject.asked.sample = data.validation->sample(1);
        subject.sampleName = QStringLiteral("validation 1");
        subject.asked.classNames = data.validation->info().classNames;
        subject.model().device = "cpu";
        subject.asked.cell = MapCell{MapKind::Relation, 0, 0, 0, 1, 3};
        subject.cellName = QStringLiteral("i = patch 1, j = patch 3");
    }
};

TEST_F(MeasureWindowTest, ShowsTheMapAndTheCellAlongTraining) {
    KeptRun run;
    window.setSubject(run.subject);
    const auto results = reportsOf("along");
    window.showTab("along");
    auto* shown = this->view<AlongView>("along");
    ASSERT_TRUE(waitUntil([&] { return results->finished; }, 60000));
    ASSERT_FALSE(shown->isEmpty()) << shown->sentence().toStdString();
    const auto count = shown->along().steps.size();
    EXPECT_GT(count, 6u);
    EXPECT_EQ(static_cast<std::size_t>(shown->along().wanted), count);
    EXPECT_FALSE(window.tab("along")->runButton()->isVisible());
    const auto value = [&] { return shown->along().steps[2].now.value; };
    core::OpenedModel model(run.path, std::to_string(shown->along().steps[2].step), "cpu");
    const auto probed = model.probe(*run.subject.asked.sample, run.subject.asked.classNames);
    EXPECT_EQ(value(), static_cast<double>(probed.find(MapKind::Relation, 0, 0)->at(1, 3)));
    EXPECT_TRUE(shown->csv().startsWith("step,value,probability"));
    // A step is asked for; that of the subject changes nothing else.
    QSignalSpy steps(&window, &AnalysisWindow::stepRequested);
    Q_EMIT shown->stepRequested(8);
    ASSERT_EQ(steps.size(), 1);
    EXPECT_EQ(steps[0][0].toLongLong(), 8);
    run.subject.model().checkpoint = "8";
    window.setSubject(run.subject);
    // Another cell of the map is read from what is there.
    run.subject.asked.cell->j = 5;
    window.setSubject(run.subject);
    EXPECT_EQ(value(), static_cast<double>(probed.find(MapKind::Relation, 0, 0)->at(1, 5)));
    // Another map and edits are not.
    run.subject.asked.cell->kind = MapKind::RelationalAttention;
    window.setSubject(run.subject);
    ASSERT_TRUE(
        waitUntil([&] { return shown->along().cell.kind == MapKind::RelationalAttention; }, 60000));
    Edit edit;
    edit.point = "blocks.0.rel.hook_r";
    edit.op = EditOp::Zero;
    run.subject.edits().edits.push_back(edit);
    window.setSubject(run.subject);
    ASSERT_TRUE(waitUntil([&] { return shown->along().edited; }, 60000));
    ASSERT_TRUE(idle("along"));
    run.subject.asked.cell->index = 99;
    window.setSubject(run.subject);
    ASSERT_TRUE(waitUntil([&] { return shown->isEmpty(); }, 60000));
    EXPECT_EQ(shown->sentence(),
              "100 is out of range: the last of the attention-ra maps of layer 1 is 1");
    // Without kept weights.
    auto checkpoint = withoutData(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed");
    checkpoint.asked.cell = MapCell{};
    window.setSubject(checkpoint);
    ASSERT_TRUE(waitUntil([&] { return shown->sentence().contains("open a run"); }, 60000))
        << shown->sentence().toStdString();
}

TEST_F(MeasureWindowTest, AlongTrainingIsCancelledAndContinued) {
    KeptRun run;
    window.tab("along")->strip()->setDelay(0);
    auto* shown = this->view<AlongView>("along");
    const auto results = reportsOf("along");
    QObject context;
    QObject::connect(&window.tab("along")->asking(), &Asking::reported, &context,
                     [&](const Answer& along, bool finished) {
                         if (!finished && along.table("steps").rows() < 8) task("along").abandon();
                     });
    window.setSubject(run.subject);
    window.showTab("along");
    ASSERT_TRUE(waitUntil([&] { return results->count > 0; }, 60000));
    ASSERT_TRUE(idle("along"));
    const auto before = shown->along().steps.size();
    if (before == static_cast<std::size_t>(shown->along().wanted)) {
        // A fast machine ends before it can be cancelled: then there is nothing to continue.
        EXPECT_FALSE(window.tab("along")->runButton()->isVisible());
        return;
    }
    ASSERT_TRUE(window.tab("along")->runButton()->isVisible());
    window.tab("along")->asking().disconnect(&context);
    window.tab("along")->runButton()->click();
    ASSERT_TRUE(waitUntil(
        [&] {
            return static_cast<std::int64_t>(shown->along().steps.size()) == shown->along().wanted;
        },
        60000));
    EXPECT_GT(shown->along().steps.size(), before);
}

TEST_F(MeasureWindowTest, AnotherSampleLeavesTheAblationAlone) {
    open(kRuns + "vision", "ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    child<QSpinBox>(window.tab("ablate"), "Examples")->setValue(1000000);
    QTest::mouseClick(window.tab("ablate")->runButton(), Qt::LeftButton);
    auto subject = window.about().subject.value();
    subject.asked.sample = validationSample(subject.data->data.options, 2);
    subject.sampleName = QStringLiteral("validation 2");
    window.setSubject(subject);
    subject.asked.cell = MapCell{};
    window.setSubject(subject);
    EXPECT_TRUE(task("ablate").busy());
    // Nor does another split, whose cost would be found out.
    auto* split = child<QComboBox>(window.tab("ablate"), "Split");
    ASSERT_GT(split->count(), 1);
    split->setCurrentIndex((split->currentIndex() + 1) % split->count());
    EXPECT_FALSE(window.tab("ablate")->runButton()->isEnabled()) << "it still runs";
    ASSERT_TRUE(waitUntil([&] { return !table()->isEmpty(); }, 60000));
    window.setSubject(subject);
    EXPECT_FALSE(table()->isEmpty());
    task("ablate").abandon();
    subject.model().checkpoint = "best";
    window.setSubject(subject);
    EXPECT_TRUE(table()->isEmpty()) << "other weights";
}

TEST_F(MeasureWindowTest, EveryAnalysisHasATabWithItsOptions) {
    ASSERT_FALSE(tabs().empty());
    window.show();
    for (const auto* analysis : tabs()) {
        window.showTab(analysis->name);
        auto* tab = window.current();
        EXPECT_EQ(tab->analysis().name, analysis->name);
        for (const auto& field : analysis->fields) {
            if (!field.inRow) continue;
            bool found = false;
            const auto label = QString::fromStdString(field.spec.label);
            for (const auto* widget : tab->findChildren<QWidget*>()) {
                const auto* chip = qobject_cast<const ToggleChip*>(widget);
                const auto* muted = qobject_cast<const QLabel*>(widget);
                found = found || widget->accessibleName() == label ||
                        (chip && chip->text() == label) || (muted && muted->text() == label);
            }
            EXPECT_TRUE(found) << analysis->name << " has no control for " << field.spec.name;
        }
    }
}

TEST_F(MeasureWindowTest, OptionsAreTakenBackAndKeptForTheNextSession) {
    window.show();
    window.showTab("heads");
    auto* seed = child<QSpinBox>(window.tab("heads"), "Seed");
    auto* mean = child<ToggleChip>(window.tab("ablate"), "mean");
    seed->setValue(7);
    mean->click();
    EXPECT_FALSE(mean->isChecked());
    AnalysisWindow other{history, measurements};
    other.restoreOptions(window.saveOptions());
    EXPECT_EQ(child<QSpinBox>(other.tab("heads"), "Seed")->value(), 7);
    EXPECT_FALSE(child<ToggleChip>(other.tab("ablate"), "mean")->isChecked());
    EXPECT_EQ(other.tab("ablate")->values(), window.tab("ablate")->values());
    EXPECT_FALSE(other.tab("ablate")->isUnfolded());
    window.tab("ablate")->foldButton()->click();
    EXPECT_EQ(window.tab("ablate")->foldButton()->text(), "Options (1 set)");
    other.restoreOptions(window.saveOptions());
    EXPECT_TRUE(other.tab("ablate")->isUnfolded());
    EXPECT_FALSE(other.tab("patch")->isUnfolded());
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(mean->isChecked());
    EXPECT_EQ(window.current(), window.tab("ablate")) << "where the change is seen";
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(seed->value(), 0);
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(seed->value(), 7);
    // From within a field, too.
    window.showTab("heads");
    seed->setFocus();
    QTest::keyClick(seed, Qt::Key_Up);
    EXPECT_EQ(seed->value(), 8);
    QTest::keyClick(seed->findChild<QLineEdit*>(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(seed->value(), 7);
    // By the name of an analysis in an earlier version.
    other.restoreOptions("{\"dictionary\":{\"components\":3},\"unfolded\":[]}");
    EXPECT_EQ(other.tab("qk-components")->values().at("components"), FieldValue(std::int64_t{3}));
    // What another version or another program wrote.
    for (const char* text : {"", "[]", "{\"heads\":{\"seed\":\"x\"}}", "{\"heads\":{\"seed\":-4}}",
                             "{\"none\":{}}", "{\"heads\":3}", "{\"heads\":{\"new\":1}}"})
        other.restoreOptions(text);
    EXPECT_EQ(child<QSpinBox>(other.tab("heads"), "Seed")->value(), 7);
}

TEST_F(MeasureWindowTest, AnAnalysisWithoutAChosenPartIsNotMeasured) {
    open(kRuns + "vision", "ablate");
    ASSERT_TRUE(waitUntil([&] { return table()->sentence().contains("about"); }, 60000));
    for (const char* way : {"zero", "mean", "another example"})
        child<ToggleChip>(window.tab("ablate"), way)->click();
    EXPECT_FALSE(window.tab("ablate")->runButton()->isEnabled());
    EXPECT_TRUE(table()->sentence().contains("hoose what replaces a part"))
        << table()->sentence().toStdString();
    child<ToggleChip>(window.tab("ablate"), "zero")->click();
    EXPECT_TRUE(window.tab("ablate")->runButton()->isEnabled());
}

TEST_F(MeasureWindowTest, ACancelledLensIsMeasuredAgainOnDemand) {
    window.tab("lens")->strip()->setDelay(0);
    window.setSubject(subjectOf(kRuns + "vision"));
    QObject context;
    QObject::connect(&task("lens"), &LongTask::began, &context, [&] {
        QMetaObject::invokeMethod(
            &context, [&] { window.tab("lens")->strip()->cancelButton()->click(); },
            Qt::QueuedConnection);
    });
    window.showTab("lens");
    ASSERT_TRUE(waitUntil(
        [&] {
            return window.tab("lens")->runButton()->isVisible() ||
                   !view<DeclaredView>("lens")->isEmpty();
        },
        60000));
    if (!view<DeclaredView>("lens")->isEmpty()) return;  // it was done before it could be cancelled
    EXPECT_EQ(view<DeclaredView>("lens")->sentence(), "Not measured.");
    context.disconnect();
    task("lens").disconnect(&context);
    window.tab("lens")->runButton()->click();
    EXPECT_TRUE(waitUntil([&] { return !view<DeclaredView>("lens")->isEmpty(); }, 60000));
}

}  // namespace
