// SPDX-License-Identifier: GPL-3.0-or-later
// Data other than images: their words, labels and answers; experiments that follow them; runs on
// them in the inspector; and the Data page.
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QListWidget>
#include <QSettings>
#include <QSignalSpy>
#include <cmath>
#include <set>

#include "app/controllers/examples.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "app/pages/import_dialog.h"
#include "datasets/dataset_list.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/shown_data.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "types/data_kind.h"
#include "widgets/data/sample_grid.h"
#include "widgets/data/sample_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/tile_view.h"

namespace relascope {
namespace {

DataOptions small(const std::string& kind, const std::string& task) {
    DataOptions o = core::usualData(kind, task);
    if (kind != "set") o.train_size = 60, o.validation_size = 40, o.test_size = 20;
    return o;
}

TEST(Examples, AreCountedByTheirNames) {
    EXPECT_EQ(exampleCount(small("sorting", "argsort"), 2500), "2,500 sequences");
    EXPECT_EQ(exampleCount(small("math", "polynomials__add"), 1), "1 question");
    EXPECT_EQ(exampleCount(small("relational-games", "same"), 2), "2 images");
    EXPECT_EQ(exampleCount(small("set", "attributes"), 2), "2 pairs");
    EXPECT_EQ(taskTitle("relational-games", "match_pattern"), "Match pattern");
    EXPECT_EQ(taskTitle("math", "algebra__linear_1d"), "Linear equations");
    for (const auto& entry : listDatasets())
        EXPECT_FALSE(taskTitle(entry.kind, entry.name).isEmpty()) << entry.kind;
}

class AnyDataTest : public WindowTest {
protected:
    /// A preset whose model and data take a moment; trained to its end.
    QString trained(const QString& preset, const QString& variant,
                    const std::vector<std::pair<QString, FieldValue>>& changes) {
        auto& experiment = c().experiment;
        c().selection.setPreset(preset);
        EXPECT_TRUE(experiment.choosePreset(preset, variant));
        for (const auto& [key, value] : changes) experiment.set(key, value);
        experiment.set("train.steps", std::int64_t{8});
        EXPECT_EQ(experiment.disabledReason(), QString());
        experiment.start();
        QString path;
        const auto connection = QObject::connect(&c().training, &TrainingController::runBegan,
                                                 window.get(), [&](const QString& p) { path = p; });
        EXPECT_TRUE(waitUntil([&] { return !path.isEmpty() && !c().training.busy(); }, 60000));
        QObject::disconnect(connection);
        return path;
    }
};

TEST_F(AnyDataTest, VariantsWithAPretrainingStageTrainFromTheWindow) {
    struct Variant {
        const char *preset, *name;
    };
    // Of every preset that has one: the data of each stage are opened, and its weights handed over.
    for (const auto& [preset, name] :
         {Variant{"sort-pretrain", "abstractor-decoder"}, Variant{"sort-pretrain", "transformer"},
          Variant{"sort-prelearn", "use-rel-model-decoder"}}) {
        const RunOptions usual = presetOptions(preset, name);
        QString stages = QString::fromStdString(usual.train.pretrain);
        ASSERT_FALSE(stages.isEmpty()) << preset;
        const QString sizes = " data.train_size=20 data.validation_size=10 data.test_size=10";
        stages = stages.split(u'|').join(sizes + " |") + sizes;
        const QString run = trained(preset, name,
                                    {{"train.pretrain", stages.toStdString()},
                                     {"data.train_size", std::int64_t{20}},
                                     {"data.validation_size", std::int64_t{10}},
                                     {"data.test_size", std::int64_t{10}},
                                     {"train.decode_examples", std::int64_t{2}},
                                     {"train.batch_size", std::int64_t{10}}});
        ASSERT_FALSE(run.isEmpty()) << name;
        EXPECT_EQ(readRunInfo(run.toStdString()).state, RunState::Done)
            << readRunInfo(run.toStdString()).message;
        EXPECT_EQ(readRunInfo(run.toStdString() + "/before").state, RunState::Done);
    }
}

TEST_F(AnyDataTest, ValuesThatThePapersDoNotStateSaySo) {
    auto& experiment = c().experiment;
    ASSERT_TRUE(experiment.choosePreset("relational-games-same", "dat"));
    const auto help = [&](const std::string& key) {
        for (const auto& state : experiment.states())
            if (state.key == key) return state.spec.help;
        return std::string("no field ") + key;
    };
    EXPECT_NE(help("train.epochs").find("Inferred"), std::string::npos) << help("train.epochs");
    experiment.set("train.epochs", std::int64_t{3});
    EXPECT_EQ(help("train.epochs").find("Inferred"), std::string::npos) << "the user's own value";
    ASSERT_TRUE(experiment.choosePreset("quick"));
    EXPECT_EQ(help("train.epochs").find("Inferred"), std::string::npos);
}

TEST_F(AnyDataTest, ModelsFollowTheirData) {
    auto& experiment = c().experiment;
    ASSERT_TRUE(experiment.choosePreset("pairwise-order"));
    EXPECT_EQ(experiment.options().model.number("object_dim"), 32);
    experiment.set("data.dim", std::int64_t{8});
    EXPECT_EQ(experiment.options().model.number("object_dim"), 8);
    for (const auto& state : experiment.states())
        if (state.key == "model.object_dim") {
            EXPECT_EQ(std::get<std::int64_t>(state.value), 8);
        }
    ASSERT_TRUE(experiment.choosePreset("sort-argsort"));
    experiment.set("data.longest", std::int64_t{12});
    EXPECT_EQ(experiment.options().model.number("out_block_size"), 12);
    EXPECT_EQ(experiment.options().model.number("output_size"), 13);
    EXPECT_TRUE(experiment.problems().empty());
    EXPECT_TRUE(experiment.title().contains("sequences"));
}

TEST_F(AnyDataTest, TrainOnThisFindsTheExperiment) {
    auto& experiment = c().experiment;
    ASSERT_TRUE(experiment.choosePreset("quick"));
    DataOptions order = small("pairs", "order");
    order.seed = 5;
    experiment.trainOn(order, {"task", "seed", "dim"}, DatasetInfo());
    EXPECT_EQ(experiment.options().preset, "pairwise-order");
    EXPECT_EQ(experiment.options().data.seed, 5);
    EXPECT_EQ(experiment.options().model.input(), InputKind::Objects);
    // Another run of the same kind keeps the experiment that stands in the form.
    ASSERT_TRUE(experiment.choosePreset("sort-robustness", "transformer"));
    experiment.trainOn(small("sorting", "argsort"), {"task"}, DatasetInfo());
    EXPECT_EQ(experiment.options().preset, "sort-robustness");
    EXPECT_EQ(experiment.options().variant, "transformer");
    DatasetInfo photos;
    photos.channels = 3, photos.width = 48, photos.height = 32;
    photos.classNames = {"cat", "dog", "bird"};
    experiment.trainOn(importOptions("folder", "", folder.path().toStdString()), {"task"}, photos);
    EXPECT_EQ(experiment.options().data.task, "folder");
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(experiment.options().model.value("image_shape")),
              (std::vector<std::int64_t>{3, 48, 32}));
    EXPECT_EQ(experiment.options().model.number("num_classes"), 3);
}

TEST_F(AnyDataTest, TrainOnAnImportedTextCanBeStarted) {
    auto& experiment = c().experiment;
    const QString file = folder.path() + "/own.txt";
    QFile text(file);
    ASSERT_TRUE(text.open(QIODevice::WriteOnly));
    for (int i = 0; i < 2000; ++i) text.write("the cat sat on the mat and saw the dog. ");
    text.close();
    ASSERT_TRUE(experiment.choosePreset("quick"));
    DatasetInfo info;
    experiment.trainOn(importOptions("text", "", file.toStdString()), {"task"}, info);
    EXPECT_EQ(experiment.options().preset, "text");
    EXPECT_EQ(experiment.options().data.path, file.toStdString());
    EXPECT_EQ(experiment.disabledReason(), QString());
    EXPECT_TRUE(window->bar()->startButton()->isEnabled());
    // And the run can be read again.
    EXPECT_EQ(runOptionsFromJson(runOptionsToJson(experiment.options())), experiment.options());
    // A text experiment that is in the form stays.
    ASSERT_TRUE(experiment.choosePreset("text", "transformer"));
    experiment.trainOn(importOptions("text", "", file.toStdString()), {"task"}, info);
    EXPECT_EQ(experiment.options().variant, "transformer");
}

TEST_F(AnyDataTest, PairsAreLookedIntoAndChosenByLabel) {
    trained("pairwise-order", "abstractor",
            {{"data.objects", std::int64_t{12}},
             {"data.dim", std::int64_t{6}},
             {"data.train_size", std::int64_t{0}},
             {"data.validation_size", std::int64_t{0}},
             {"data.test_size", std::int64_t{0}}});
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    const auto* pane = inspector()->sourcePane();
    ASSERT_TRUE(pane->objects()->tiles()->isVisible());
    EXPECT_EQ(pane->objects()->tiles()->rows(), 2);
    EXPECT_EQ(inspector()->view().kind, MapKind::Relation);
    for (const int label : {0, 1}) {
        c().runInput.chooseByLabel("validation", label, true);
        EXPECT_TRUE(waitUntil([&] { return inspector()->result()->sample.label == label; }));
    }
    c().runInput.chooseSample("test", 3);
    EXPECT_TRUE(waitUntil(
        [this] { return inspector()->result()->sample.origin.find("3") != std::string::npos; }));
    QSignalSpy said(&c().messages, &Messages::message);
    Q_EMIT inspector()->imageDropped(folder.path() + "/photo.png");
    ASSERT_TRUE(waitUntil([&] { return !said.isEmpty(); }));
    EXPECT_TRUE(said.last().at(1).toString().contains("The input of this run is pairs"));
    // The sidebar and the bar's words know the run by its metric and results.
    const RunInfo* info = c().runs.info(c().selection.current());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->metric, "accuracy");
    EXPECT_FALSE(std::isnan(info->kept.value(info->metric)));
    EXPECT_TRUE(waitUntil([this] {
        const RunInfo* now = c().runs.info(c().selection.current());
        return now && !now->results.empty();
    }));
}

TEST_F(AnyDataTest, SortingShowsTheNamesOfPlaces) {
    trained("sort-argsort", "abstractor-decoder",
            {{"data.length", std::int64_t{4}},
             {"data.longest", std::int64_t{4}},
             {"data.train_size", std::int64_t{64}},
             {"data.validation_size", std::int64_t{32}},
             {"data.test_size", std::int64_t{32}},
             {"model.d_model", std::int64_t{16}},
             {"model.key_dim", std::int64_t{8}},
             {"train.batch_size", std::int64_t{16}},
             {"train.decode_examples", std::int64_t{16}}});
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    const auto* result = inspector()->result();
    EXPECT_EQ(result->sample.source.pictures.size(), 4U);
    ASSERT_EQ(result->classNames.size(), result->probabilities.size());
    QSignalSpy asked(inspector()->sourcePane()->samples(), &SampleChooser::labelRequested);
    inspector()->sourcePane()->samples()->setLabelFilter(0);
    inspector()->sourcePane()->next();
    EXPECT_TRUE(asked.isEmpty()) << "places are no labels";
    EXPECT_TRUE(waitUntil([this] { return c().selection.sample() == 1; }));
}

struct OpenDataPage {
    QTemporaryDir folder;
    Controllers controllers;
    AppContext context = controllers.context();
    DataPage page{context};

    OpenDataPage() {
        QSettings().remove(QStringLiteral("data"));
        controllers.runs.setFolder(folder.path());
        page.resize(1160, 760);
        page.show();
        EXPECT_TRUE(waitUntil([&] { return page.grid()->count() > 0; }));
    }
    void open(const std::string& kind, const std::string& task) {
        DataChoice choice;
        choice.options = small(kind, task);
        choice.name = taskTitle(kind, task);
        page.chooser()->setCurrent(choice);
        page.source()->open(choice);
        EXPECT_TRUE(waitUntil([&] {
            return page.source()->choice().options.task == task &&
                   page.source()->choice().options.kind == kind;
        })) << page.errorSentence().toStdString();
        EXPECT_TRUE(
            waitUntil([&] { return !page.statistics()->csv().startsWith("class,count\n\n"); }));
    }
};

TEST(AnyDataPage, EveryKindIsListedAndShown) {
    OpenDataPage p;
    const auto* list = p.page.chooser()->list();
    for (const auto& entry : listDatasets())
        EXPECT_EQ(list->findItems(taskTitle(entry.kind, entry.name), Qt::MatchExactly).size(), 1)
            << entry.kind << entry.name;
    for (const auto& entry : listDatasets()) {
        if (!dataKind(entry.kind).generated) continue;  // from files only
        if (entry.kind == "set") continue;              // trains its card network first
        p.open(entry.kind, entry.name);
        EXPECT_EQ(p.page.errorSentence(), "") << entry.kind << " " << entry.name;
        const QImage shot = p.page.grab().toImage();
        EXPECT_FALSE(shot.isNull());
        ASSERT_TRUE(waitUntil(
            [&] {
                return !child<widgets::SampleView>(p.page)->accessibleDescription().startsWith(
                    "no label, ");
            },
            3000))
            << entry.name;
    }
}

TEST(AnyDataPage, SortingHasNoLabelsAndIsSaved) {
    OpenDataPage p;
    p.open("sorting", "argsort");
    EXPECT_FALSE(child<QComboBox>(p.page, "Label to show")->isVisible());
    ASSERT_TRUE(waitUntil([&] { return p.page.statistics()->csv().contains("Answer length,10"); }));
    const QString path = p.folder.filePath("sorted.npz");
    p.page.saveTo(path, 25);
    EXPECT_TRUE(waitUntil([&] { return QFile::exists(path) && !p.page.saveStrip()->busy(); }));
    EXPECT_EQ(p.page.errorSentence(), "");
    p.open("pairs", "order");
    EXPECT_TRUE(child<QComboBox>(p.page, "Label to show")->isVisible());
    EXPECT_EQ(child<QComboBox>(p.page, "Label to show")->count(), 3);
    child<QComboBox>(p.page, "Label to show")->setFocus();
    QTest::keyClick(child<QComboBox>(p.page, "Label to show"), Qt::Key_End);
    ASSERT_TRUE(waitUntil([&] { return p.page.source()->label() == 1; }));
    EXPECT_LT(p.page.grid()->count(), 60);
}

TEST(AnyDataPage, TextsAreBrowsedInWindows) {
    OpenDataPage p;
    const QString path = p.folder.filePath("story.txt");
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    for (int k = 0; k < 400; ++k) file.write("The cat sat on the mat. It sat there. ");
    file.close();
    DataOptions options = importOptions("text", "", path.toStdString());
    options.context = 64;
    p.page.importData(options);
    ASSERT_TRUE(waitUntil([&] { return p.page.source()->choice().path == path; }))
        << p.page.errorSentence().toStdString();
    EXPECT_FALSE(p.page.saveButton()->isEnabled());
    EXPECT_TRUE(p.page.saveButton()->toolTip().contains("already a file"));
    EXPECT_TRUE(
        waitUntil([&] { return p.page.statistics()->csv().contains("Tokens per window"); }));
    EXPECT_TRUE(waitUntil([&] {
        return child<widgets::SampleView>(p.page)->accessibleDescription().contains("cat");
    }));
    EXPECT_EQ(p.page.chooser()->files(), QStringList{path});
}

TEST(AnyDataPage, AFolderOfPicturesAfterATextIsShown) {
    QSettings().remove(QStringLiteral("data"));  // what other tests imported
    OpenDataPage p;
    QFile file(p.folder.filePath("story.txt"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    for (int k = 0; k < 4000; ++k) file.write("The cat sat on the mat. It sat there. ");
    file.close();
    DataOptions text = importOptions("text", "", file.fileName().toStdString());
    text.context = 16;
    const QString pets = p.folder.filePath("pets");
    for (const char* name : {"cats", "dogs"}) {
        ASSERT_TRUE(QDir().mkpath(pets + u'/' + name));
        for (int k = 0; k < 6; ++k) {
            QImage image(24, 24, QImage::Format_RGB888);
            image.fill(qRgb(40 * k, 90, 20));
            ASSERT_TRUE(image.save(QString("%1/%2/%3.png").arg(pets, name).arg(k)));
        }
    }
    QSignalSpy failed(p.page.source(), &DataSource::failed);
    QSignalSpy samples(p.page.source(), &DataSource::samplesReady);
    for (int round = 0; round < 2; ++round) {
        p.page.importData(text);
        ASSERT_TRUE(waitUntil([&] { return p.page.source()->choice().path == file.fileName(); }));
        ASSERT_GT(p.page.grid()->count(), 100);
        p.page.grid()->setFocus();
        QTest::keyClick(p.page.grid(), Qt::Key_End);  // far beyond the number of pictures
        samples.clear();
        p.page.importData(importOptions("folder", "", pets.toStdString()));
        ASSERT_TRUE(waitUntil([&] { return p.page.source()->choice().path == pets; }));
        EXPECT_TRUE(waitUntil([&] { return !samples.isEmpty(); }));
    }
    EXPECT_EQ(failed.count(), 0);
    const qint64 count = p.page.source()->count();
    samples.clear();
    p.page.source()->requestSamples(count + 5, 10);  // nothing to read
    p.page.source()->requestSamples(count - 1, 10);
    ASSERT_TRUE(waitUntil([&] { return !samples.isEmpty(); }));
    // The grid may have asked as well; no answer reaches beyond the count.
    for (const auto& answer : samples)
        EXPECT_LE(answer[0].toLongLong() +
                      static_cast<qint64>(answer[1].value<std::vector<ShownSample>>().size()),
                  count);
    QSettings().remove(QStringLiteral("data"));
}

TEST(AnyDataPage, QuestionFilesAreImportedAndRemembered) {
    QSettings().remove(QStringLiteral("data"));  // what other tests imported
    OpenDataPage p;
    const QString path = p.folder.filePath("algebra__linear_1d.txt");
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    for (int k = 1; k <= 30; ++k)
        file.write(QByteArray("Solve ") + QByteArray::number(k) +
                   "*b = " + QByteArray::number(3 * k) + " for b.\n3\n");
    file.close();
    p.page.importFile(path);
    ASSERT_TRUE(waitUntil([&] { return p.page.grid()->count() == 30; }))
        << p.page.errorSentence().toStdString();
    EXPECT_TRUE(
        waitUntil([&] { return child<widgets::SampleView>(p.page)->labelText() == "answer 3"; }));
    DataChooser again;
    EXPECT_EQ(again.files(), QStringList{path});
    QSettings().remove(QStringLiteral("data"));
}

TEST(AnyDataPage, AFileThatLiesChangesNothingButTheError) {
    OpenDataPage p;
    const QString path = p.folder.filePath("polynomials__add.txt");
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("A question without an answer\n");
    file.close();
    const qint64 count = p.page.grid()->count();
    p.page.importFile(path);
    ASSERT_TRUE(waitUntil([&] { return !p.page.errorSentence().isEmpty(); }));
    EXPECT_TRUE(p.page.errorSentence().contains("polynomials__add.txt"));
    EXPECT_EQ(p.page.grid()->count(), count);
    EXPECT_TRUE(p.page.chooser()->files().isEmpty());
}

}  // namespace
}  // namespace relascope
