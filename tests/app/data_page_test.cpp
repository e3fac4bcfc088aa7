// SPDX-License-Identifier: GPL-3.0-or-later
// Browsing data: generated, imported, a run's; files that lie; saving, cancelling, dropping.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDragEnterEvent>
#include <QFile>
#include <QImage>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/controllers/controllers.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "app/pages/import_dialog.h"
#include "datasets/generators/relational_games.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/data/sample_grid.h"
#include "widgets/data/sample_view.h"
#include "widgets/data/statistics_view.h"
#include "widgets/form/field_row.h"
#include "widgets/form/options_form.h"

using namespace relascope;

namespace {

struct Data {
    QTemporaryDir folder;
    Controllers controllers;
    AppContext context = controllers.context();
    std::unique_ptr<DataPage> page;

    Data() {
        QSettings().remove(QStringLiteral("data"));  // files that another test imported
        controllers.runs.setFolder(folder.path());
        open();
    }
    void open() {
        page = std::make_unique<DataPage>(context);
        page->resize(1160, 760);
        page->show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(page.get()));
        EXPECT_TRUE(wait([&] { return page->grid()->count() > 0; }));
    }
    template <class Condition>
    static bool wait(Condition condition) {
        return QTest::qWaitFor(condition, 15000);
    }

    QString npz(const std::string& name, std::int64_t size) {
        RelationalGamesOptions options;
        options.size = size;
        const std::string path = folder.path().toStdString() + "/" + name;
        writeNpz(path, RelationalGames(options));
        return QString::fromStdString(path);
    }
    void press(const QString& line) {
        QListWidget* list = page->chooser()->list();
        const auto found = list->findItems(line, Qt::MatchExactly);
        ASSERT_EQ(found.size(), 1) << line.toStdString();
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          list->visualItemRect(found.first()).center());
    }
    void drop(const QString& path) {
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({9, 9}, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(page.get(), &enter);
        if (!enter.isAccepted()) return;
        QDropEvent event(QPointF(9, 9), Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(page.get(), &event);
    }
};

}  // namespace

TEST(DataPage, ShowsAGeneratorAtOnceAndAnotherOnAClick) {
    Data d;
    EXPECT_EQ(d.page->grid()->count(), DataOptions().train_size);
    EXPECT_EQ(d.page->splitBox()->count(), 5);
    d.press("Same");
    EXPECT_TRUE(d.wait([&] { return d.page->source()->choice().options.task == "same"; }));
    EXPECT_TRUE(d.wait([&] { return d.page->statistics()->csv().contains("Images"); }));
    EXPECT_TRUE(child<QPushButton>(d.page, "Set up training")->isEnabled());
    EXPECT_TRUE(d.page->saveButton()->isEnabled());
}

TEST(DataPage, TheSeedChangesTheImages) {
    Data d;
    const ProbeSample before = d.page->source()->example().sample;
    QWidget* editor = d.page->chooser()->form()->row("data.seed")->editor();
    editor->setFocus();
    QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(editor, "7\r");
    ASSERT_TRUE(d.wait([&] { return d.page->source()->choice().options.seed == 7; }));
    EXPECT_NE(d.page->source()->example().sample.image, before.image);
}

TEST(DataPage, FiltersByLabelAndGoesBack) {
    Data d;
    QComboBox* box = child<QComboBox>(d.page, "Label to show");
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
    ASSERT_TRUE(d.wait([&] { return d.page->source()->label() == 0; }));
    EXPECT_EQ(d.page->grid()->count(), DataOptions().train_size / 2);
    EXPECT_EQ(
        openData(d.page->source()->options()).train->sample(d.page->source()->indexOf(5)).label, 0);
    QTest::keyClick(box, Qt::Key_Up);
    EXPECT_EQ(d.page->grid()->count(), DataOptions().train_size);
}

TEST(DataPage, ArrowKeysMoveTheLargeSample) {
    Data d;
    d.page->grid()->setFocus();
    QTest::keyClick(d.page->grid(), Qt::Key_Right);
    QTest::keyClick(d.page->grid(), Qt::Key_Right);
    EXPECT_EQ(d.page->grid()->current(), 2);
    EXPECT_TRUE(d.wait([&] {
        return child<widgets::SampleView>(d.page)->accessibleDescription().endsWith(" 2");
    }));
}

TEST(DataPage, ImportsAFileRemembersItAndOffersToTrainOnIt) {
    Data d;
    const QString path = d.npz("own.npz", 30);
    d.page->askImport = [path](const QString&) {
        return importOptions("npz", "", path.toStdString());
    };
    QTest::mouseClick(d.page->chooser()->importButton(), Qt::LeftButton);
    ASSERT_TRUE(d.wait([&] { return d.page->grid()->count() == 30; }));
    auto& experiment = d.controllers.experiment;
    ASSERT_TRUE(experiment.choosePreset("sort-argsort"));
    QObject::connect(d.page.get(), &DataPage::setUpRequested, &experiment,
                     &ExperimentController::setUp);
    QTest::mouseClick(child<QPushButton>(d.page, "Set up training"), Qt::LeftButton);
    EXPECT_EQ(experiment.options().data.path, path.toStdString());
    EXPECT_EQ(experiment.options().data.train_size, 22) << "of the 30 that are there";
    EXPECT_EQ(experiment.options().data.name, "own");
    d.page.reset();
    d.open();
    EXPECT_EQ(d.page->chooser()->files(), QStringList{path});
    d.press("own.npz");
    EXPECT_TRUE(d.wait([&] { return d.page->grid()->count() == 30; }));
}

TEST(DataPage, AHostileFileChangesNothingButTheError) {
    Data d;
    const QString good = d.npz("good.npz", 40);
    QFile whole(good);
    ASSERT_TRUE(whole.open(QIODevice::ReadOnly));
    const QByteArray bytes = whole.readAll();
    const qint64 count = d.page->grid()->count();
    for (const QByteArray& bad : {QByteArray("not a zip"), bytes.left(bytes.size() / 2),
                                  QByteArray(5000, 'P'), QByteArray()}) {
        const QString path = d.folder.filePath("bad.npz");
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(bad);
        file.close();
        d.drop(path);
        ASSERT_TRUE(d.wait([&] { return d.page->errorSentence().contains("bad.npz"); }));
        EXPECT_EQ(d.page->grid()->count(), count);
        EXPECT_EQ(d.page->source()->choice().options.task, "between");
        EXPECT_TRUE(d.page->chooser()->files().isEmpty());
        EXPECT_EQ(d.page->chooser()->list()->currentItem()->text(), "Between");
        d.page->importFile(good);
        ASSERT_TRUE(d.wait([&] { return d.page->grid()->count() == 40; }));
        EXPECT_EQ(d.page->errorSentence(), "");
        d.page->chooser()->forget(good);
        d.press("Between");
        ASSERT_TRUE(d.wait([&] { return d.page->grid()->count() == count; }));
    }
}

TEST(DataPage, SavesWhatIsShownAndReadsItBack) {
    Data d;
    const QString path = d.folder.filePath("saved.npz");
    d.page->askCount = [](qint64 most) { return std::min<qint64>(most, 64); };
    d.page->askSavePath = [path](const QString&) { return path; };
    QTest::mouseClick(d.page->saveButton(), Qt::LeftButton);
    ASSERT_TRUE(d.wait([&] { return QFile::exists(path) && !d.page->saveStrip()->busy(); }));
    const auto read = readNpzImages(path.toStdString());
    ASSERT_EQ(read->size(), 64);
    EXPECT_EQ(read->sample(9).image, openData(d.page->source()->options()).train->sample(9).image);
}

TEST(DataPage, SavingCanBeCancelledAndLeavesNoFile) {
    Data d;
    d.page->saveStrip()->setDelay(0);
    auto options = d.page->source()->choice();
    options.options.train_size = 300000;
    d.page->source()->open(options);
    ASSERT_TRUE(d.wait([&] { return d.page->grid()->count() == 300000; }));
    const QString path = d.folder.filePath("cancelled.npz");
    d.page->saveTo(path, 300000);
    ASSERT_TRUE(d.wait([&] { return d.page->saveStrip()->isVisible(); }));
    QTest::mouseClick(d.page->saveStrip()->cancelButton(), Qt::LeftButton);
    EXPECT_FALSE(d.page->saveStrip()->busy());
    EXPECT_TRUE(d.page->saveButton()->isEnabled());
    d.page.reset();  // waits for the writer
    EXPECT_FALSE(QFile::exists(path));
}

TEST(DataPage, ADroppedPictureIsShownLarge) {
    Data d;
    const QString path = d.folder.filePath("cat.png");
    QImage(600, 300, QImage::Format_RGB888).save(path);
    d.drop(path);
    EXPECT_TRUE(d.wait([&] {
        return child<widgets::SampleView>(d.page)->accessibleDescription().contains(
            "cat.png, 600 x 300");
    }));
    EXPECT_EQ(d.page->grid()->current(), -1);
    d.drop(d.folder.filePath("words.txt"));
    EXPECT_EQ(d.page->errorSentence(), "");
}

TEST(DataPage, ShowsTheSplitsOfTheChosenRun) {
    Data d;
    const std::string path = d.folder.path().toStdString() + "/tiny";
    RunOptions options = presetOptions("relational-games-same");
    options.data.validation_size = 123;
    { RunFolder::create(path, options).saveInfo(); }
    const QString run = QString::fromStdString(path);
    std::optional<bool> opened;
    d.controllers.runs.open(run, [&](bool there) { opened = there; });
    ASSERT_TRUE(d.wait([&] { return opened.has_value(); }));
    ASSERT_TRUE(*opened);
    d.controllers.selection.setRuns({run});
    d.controllers.selection.setCurrent(run);
    d.press("tiny");
    ASSERT_TRUE(d.wait([&] { return d.page->source()->choice().kind == DataChoice::Kind::Run; }));
    d.page->splitBox()->setFocus();
    QTest::keyClick(d.page->splitBox(), Qt::Key_Home);
    QTest::keyClick(d.page->splitBox(), Qt::Key_Down);
    EXPECT_EQ(d.page->grid()->count(), 123);
    d.page->grid()->setFocus();
    QTest::keyClick(d.page->grid(), Qt::Key_End);
    EXPECT_EQ(d.controllers.selection.split(), "validation");
    EXPECT_EQ(d.controllers.selection.sample(), 122);
}
