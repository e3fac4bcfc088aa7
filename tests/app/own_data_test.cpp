// SPDX-License-Identifier: GPL-3.0-or-later
// From files of the user's own to a training, by clicks; what a refused start says; errors that
// stay; dialogs on small screens.
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTimer>
#include <QToolButton>

#include "app/controllers/runs_controller.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "app/pages/evaluate_dialog.h"
#include "app/pages/import_dialog.h"
#include "app/pages/new_study_dialog.h"
#include "datasets/generators/relational_games.h"
#include "datasets/readers/npz.h"
#include "options/estimates.h"
#include "support/npz_file.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/bar/status_strip.h"

using namespace relascope;

namespace {

class OwnDataTest : public WindowTest {
protected:
    QString npz(const std::string& name, std::int64_t size) {
        RelationalGamesOptions options;
        options.size = size;
        const std::string path = folder.path().toStdString() + "/" + name;
        writeNpz(path, RelationalGames(options));
        return QString::fromStdString(path);
    }
    /// Pictures of several sizes, in colour, grey and with transparency.
    QString pictures(int count, const QStringList& classes) {
        const QString path = folder.path() + "/animals";
        for (int i = 0; i < count; ++i) {
            const QString in = path + u'/' + classes[i % classes.size()];
            QDir().mkpath(in);
            const QImage::Format formats[] = {QImage::Format_RGB888, QImage::Format_Grayscale8,
                                              QImage::Format_RGBA8888};
            QImage image(20 + i % 7 * 9, 40 - i % 5 * 4, formats[i % 3]);
            image.fill(QColor::fromHsv(i % 360, 200, 40 + i % classes.size() * 90));
            EXPECT_TRUE(image.save(QStringLiteral("%1/%2.png").arg(in).arg(i)));
        }
        return path;
    }
    QString text(int characters, const char* name = "tale.txt") {
        const QString path = folder.path() + u'/' + QString::fromLatin1(name);
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        QByteArray words;
        while (words.size() < characters) words += "the cat sat on the mat and saw a dog. ";
        file.write(words.left(characters));
        return path;
    }
    DataPage* data() { return qobject_cast<DataPage*>(window->page(PageId::Data)); }
    /// Imports, and presses "Set up training".
    void setUp(const QString& path) {
        window->showPage(PageId::Data);
        data()->importFile(path);
        ASSERT_TRUE(waitUntil([&] {
            return data()->source()->choice().path == path && data()->source()->info() &&
                   child<QPushButton>(data(), "Set up training")->isEnabled();
        })) << data()->errorSentence().toStdString();
        click(child<QPushButton>(data(), "Set up training"));
        EXPECT_EQ(window->currentPage(), PageId::Workbench);
    }
    /// Start trains, without an edit; the name of the run.
    QString trainsAtOnce() {
        EXPECT_EQ(c().experiment.disabledReason().toStdString(), "");
        EXPECT_TRUE(window->bar()->startButton()->isEnabled());
        EXPECT_TRUE(window->bar()->startButton()->hasFocus());
        click(window->bar()->startButton());
        EXPECT_TRUE(waitUntil([this] {
            return c().training.info().step >= 2 || c().experiment.refusal() ||
                   window->errorBanner()->isVisible();
        }));
        EXPECT_FALSE(c().experiment.refusal()) << c().experiment.refusal()->sentence.toStdString();
        EXPECT_EQ(window->errorBanner()->sentence().toStdString(), "");
        return QFileInfo(c().training.run()).fileName();
    }
    std::string tip(const QString& key) {
        return window->form()->row(key)->editor()->toolTip().toStdString();
    }
    std::int64_t number(const QString& key) {
        return std::get<std::int64_t>(
            RunOptions::field(key.toStdString()).get(c().experiment.options()));
    }
    std::vector<std::int64_t> sizes() {
        return {number("data.train_size"), number("data.validation_size"),
                number("data.test_size")};
    }
    using Sizes = std::vector<std::int64_t>;
};

}  // namespace

TEST_F(OwnDataTest, AnArchiveOfImagesTrainsAtOnce) {
    setUp(npz("shapes.npz", 600));
    EXPECT_EQ(sizes(), (Sizes{420, 90, 90}));
    EXPECT_NE(tip("data.train_size").find("From the images of shapes.npz: 420 of 600"),
              std::string::npos)
        << tip("data.train_size");
    EXPECT_TRUE(c().experiment.title().startsWith("shapes, 420 images"));
    EXPECT_FALSE(window->form()->row("data.task")->isVisible()) << "a file has no task";
    EXPECT_TRUE(trainsAtOnce().startsWith("shapes-dat-s0"));
}

// As Keras saves them: other names, floats, a test split.
TEST_F(OwnDataTest, ArraysOfOtherNamesTrainAtOnce) {
    using testing_support::npyOf;
    const auto path = folder.filePath(QStringLiteral("keras.npz"));
    std::vector<float> pixels(160 * 8 * 8);
    std::vector<std::int64_t> labels(160);
    for (std::size_t k = 0; k < pixels.size(); ++k)
        pixels[k] = static_cast<float>((k * 7919) % 17) / 16.0F;
    for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<std::int64_t>(k % 3);
    const std::vector<float> few(pixels.begin(), pixels.begin() + 40 * 64);
    const std::vector<std::int64_t> their(labels.begin(), labels.begin() + 40);
    testing_support::writeNpzFile(path.toStdString(),
                                  {{"x_train.npy", npyOf("<f4", {160, 8, 8}, pixels)},
                                   {"y_train.npy", npyOf("<i8", {160}, labels)},
                                   {"x_test.npy", npyOf("<f4", {40, 8, 8}, few)},
                                   {"y_test.npy", npyOf("<i8", {40}, their)}});
    setUp(path);
    EXPECT_EQ(sizes(), (Sizes{130, 30, 40}));
    // The set-up is there again in the next window, until it is started or reset.
    const auto saved = c().experiment.saveForm();
    const auto options = c().experiment.options();
    ASSERT_TRUE(c().experiment.choosePreset(QStringLiteral("quick")));
    EXPECT_TRUE(c().experiment.saveForm().isEmpty()) << "a preset as it is";
    for (const char* bad : {"", "{}", "[", R"({"options":{},"preset":{},"reasons":{"x":"y"}})"})
        EXPECT_FALSE(c().experiment.restoreForm(bad)) << bad;
    ASSERT_TRUE(c().experiment.restoreForm(saved));
    EXPECT_TRUE(c().experiment.options() == options);
    EXPECT_TRUE(c().experiment.isSetUp());
    window->bar()->startButton()->setFocus();
    EXPECT_TRUE(trainsAtOnce().startsWith("keras-dat-s0"));
}

TEST_F(OwnDataTest, PicturesInFoldersTrainAtOnceWithASmallModel) {
    setUp(pictures(160, {"cat", "dog", "bird"}));
    EXPECT_EQ(sizes(), (Sizes{104, 24, 32}));
    EXPECT_EQ(c().experiment.options().model.number("num_classes"), 3);
    EXPECT_LT(core::parameterCount(c().experiment.options().model), 2000000);
    EXPECT_TRUE(trainsAtOnce().startsWith("animals-"));
}

TEST_F(OwnDataTest, ATableOfSetsTrainsAtOnceWithRelations) {
    const QString path = folder.path() + "/figures.csv";
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    const QByteArray shapes[] = {"circle", "square", "disc"};
    QByteArray rows = "set,label,shape,size\n";
    for (int set = 0; set < 200; ++set)
        for (int k = 0; k < 2; ++k)
            rows += QByteArray::number(set) + (set % 2 ? ",same," : ",different,") +
                    shapes[(set / 2 + (set % 2 ? 0 : k)) % 3] + ",1\n";
    file.write(rows);
    file.close();
    setUp(path);
    EXPECT_EQ(sizes(), (Sizes{140, 30, 30}));
    EXPECT_EQ(number("model.n_objects"), 2);
    EXPECT_EQ(number("model.object_dim"), 4);
    EXPECT_EQ(number("model.out_dim"), 1);
    EXPECT_NE(tip("model.object_dim").find("From the sets of figures.csv: "), std::string::npos);
    EXPECT_TRUE(trainsAtOnce().startsWith("figures-"));
}

TEST_F(OwnDataTest, TinyDataTrain) {
    setUp(npz("ten.npz", 10));
    EXPECT_EQ(sizes(), (Sizes{6, 2, 2}));
    EXPECT_TRUE(trainsAtOnce().startsWith("ten-"));
}

TEST_F(OwnDataTest, AFolderOfOneClassSaysWhatIsMissing) {
    window->showPage(PageId::Data);
    data()->importFile(pictures(12, {"cat"}));
    ASSERT_TRUE(waitUntil([this] { return !data()->errorSentence().isEmpty(); }));
    EXPECT_TRUE(data()->errorSentence().contains("at least two classes are needed"));
}

TEST_F(OwnDataTest, ATextTrainsAtOnceAndAShortOneInShorterWindows) {
    setUp(text(40000));
    EXPECT_EQ(number("data.context"), 256);
    EXPECT_TRUE(trainsAtOnce().startsWith("tale-dat-s0"));
    c().training.cancel();
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    setUp(text(700, "short.txt"));
    EXPECT_EQ(number("data.context"), 64);
    EXPECT_TRUE(trainsAtOnce().startsWith("short-dat-s0"));
}

TEST_F(OwnDataTest, ATextThatIsTooShortSaysSoWhereItWasOpened) {
    window->showPage(PageId::Data);
    data()->importFile(text(40));
    ASSERT_TRUE(waitUntil([this] { return !data()->errorSentence().isEmpty(); }));
    EXPECT_TRUE(data()->errorSentence().contains("has 40 tokens"));
    EXPECT_FALSE(window->errorBanner()->isVisible()) << "it stands on the page";
}

TEST_F(OwnDataTest, ARefusedStartStandsAtItsFieldWithWhatMendsIt) {
    ASSERT_TRUE(c().experiment.choosePreset("quick"));
    c().experiment.set("data.path", npz("shapes.npz", 600).toStdString());
    window->form()->setCollapsed(true);
    bool listed = false;
    const auto watching = QObject::connect(&c().runs, &RunsController::rowsChanged, window.get(),
                                           [&] { listed |= !c().runs.rows().empty(); });
    click(window->bar()->startButton());
    c().runs.refresh();
    ASSERT_TRUE(waitUntil([this] {
        return c().experiment.refusal() && !c().experiment.refusal()->action.isEmpty();
    }));
    c().messages.ok("Done: another study");
    auto* row = window->form()->row("data.train_size");
    EXPECT_TRUE(row->isVisible());
    EXPECT_EQ(row->problem().toStdString(),
              "Shapes.npz has 600 images; train needs the first 2000; lower Training size, "
              "Validation size or Test size");
    EXPECT_TRUE(waitUntil([row] { return row->isAncestorOf(QApplication::focusWidget()); }));
    ASSERT_TRUE(row->mendButton()->isVisible());
    EXPECT_EQ(row->mendButton()->text(), "Use 420 / 90 / 90");
    EXPECT_FALSE(window->errorBanner()->isVisible());
    EXPECT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    QObject::disconnect(watching);
    EXPECT_FALSE(listed) << "a run that was refused is never shown";
    click(row->mendButton());
    EXPECT_EQ(row->problem(), "");
    EXPECT_EQ(sizes(), (Sizes{420, 90, 90}));
    click(window->bar()->startButton());
    EXPECT_TRUE(trains(1));
}

TEST_F(OwnDataTest, AFileThatIsGoneAsksForAnother) {
    ASSERT_TRUE(c().experiment.choosePreset("text"));
    c().experiment.set("data.path", folder.path().toStdString() + "/gone.txt");
    click(window->bar()->startButton());
    auto* row = window->form()->row("data.path");
    ASSERT_TRUE(waitUntil([row] { return row->mendButton()->isVisible(); }));
    const QString other = text(40000);
    bool askedFolder = true;
    row->askPath = [&](bool of, const QString&) {
        askedFolder = of;
        return other;
    };
    QTimer::singleShot(100, window.get(), [] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        ASSERT_TRUE(menu);
        QTest::keyClick(menu, Qt::Key_Down);
        QTest::keyClick(menu, Qt::Key_Return);
    });
    click(row->mendButton());
    EXPECT_FALSE(askedFolder);
    EXPECT_EQ(c().experiment.options().data.path, other.toStdString());
    EXPECT_EQ(row->problem(), "");
    EXPECT_FALSE(row->mendButton()->isVisible());
}

TEST_F(OwnDataTest, EveryPathHasAButtonThatAsksForIt) {
    ASSERT_TRUE(c().experiment.choosePreset("text"));
    window->showOptions(true);
    for (const char* key : {"data.path", "data.tokenizer", "train.init_from"}) {
        auto* row = window->form()->row(key);
        ASSERT_TRUE(row->browseButton()) << key;
        EXPECT_TRUE(row->browseButton()->isVisible()) << key;
    }
    EXPECT_FALSE(window->form()->row("data.prompt")->browseButton());
}

TEST_F(OwnDataTest, AnErrorStaysUntilItIsClosedAndChatterDoesNotOverwriteIt) {
    c().messages.error("The disk is full.");
    c().messages.ok("Checkpoint at step 5");
    EXPECT_TRUE(window->errorBanner()->isVisible());
    EXPECT_EQ(window->errorBanner()->sentence(), "The disk is full.");
    EXPECT_EQ(window->status()->message(), "Checkpoint at step 5");
    EXPECT_TRUE(window->log()->text().contains("The disk is full."));
    c().selection.setPreset("quick");
    EXPECT_TRUE(window->errorBanner()->isVisible());
    QTest::mouseClick(child<QToolButton>(window->errorBanner()), Qt::LeftButton);
    EXPECT_FALSE(window->errorBanner()->isVisible());
}

TEST(FieldRow, UndoDoesNotReturnToTextsThatWereNeverInEffect) {
    FieldState state{"train.learning_rate", RunOptions::field("train.learning_rate").spec, 1e-3,
                     1e-3};
    widgets::FieldRow row(state);
    row.setRunning(true);
    static_cast<QWidget&>(row).show();
    row.activateWindow();
    auto* edit = qobject_cast<QLineEdit*>(row.editor());
    edit->setFocus();
    const auto type = [&](const char* keys) {
        edit->selectAll();
        QTest::keyClicks(edit, QString::fromLatin1(keys));
        QTest::keyClick(edit, Qt::Key_Return);
    };
    type("0");
    EXPECT_FALSE(row.valid());
    type("3");
    EXPECT_TRUE(row.valid());
    EXPECT_FALSE(edit->isUndoAvailable()) << "the window takes the option back";
    edit->selectAll();
    QTest::keyClicks(edit, "0");
    EXPECT_FALSE(row.valid());
    row.setRunning(false);  // the training ends: what was refused does not stand in the way
    EXPECT_TRUE(row.valid());
    EXPECT_EQ(edit->text(), "3");
}

TEST_F(OwnDataTest, DialogsScrollOnASmallScreen) {
    NewStudyDialog study({{QString(), folder.path()}}, QStringLiteral("quick"), 1);
    study.show();
    for (const char* button : {"Sweep an option", "Set an option for all runs"})
        for (int i = 0; i < 6; ++i) click(child<QPushButton>(&study, button));
    QLineEdit* key = study.findChild<OptionRow*>()->key();
    key->setText("model.zzzzzzzzzzzzzz");
    ASSERT_TRUE(waitUntil([&] { return !study.problems().isEmpty(); }));
    QTest::qWait(300);
    for (const auto& problem : study.problems()) EXPECT_LT(problem.size(), 200);
    EXPECT_LE(study.minimumSizeHint().height(), 600);
    EXPECT_LE(study.height(), study.screen()->availableGeometry().height());
    study.resize(640, 560);
    EXPECT_LE(study.height(), 600);
    EXPECT_TRUE(child<QPushButton>(&study, "Create")->isVisible());
    EXPECT_LE(child<QPushButton>(&study, "Create")->geometry().bottom(), study.height());
    ImportDialog import;
    import.show();
    EXPECT_LE(import.minimumSizeHint().height(), 600);
}
