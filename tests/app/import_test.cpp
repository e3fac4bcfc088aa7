// SPDX-License-Identifier: GPL-3.0-or-later
// Import: what files and folders are guessed to be, and the dialog that asks.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "app/pages/import_dialog.h"
#include "support/npz_file.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

struct Disk {
    QTemporaryDir folder;

    QString write(const QString& name, const QByteArray& bytes = "x") {
        const QString path = folder.filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        return path;
    }
    ImportGuess guess(const QString& name = {}) const {
        return guessImport((name.isEmpty() ? folder.path() : folder.filePath(name)).toStdString());
    }
};

TEST(ImportGuess, KnowsWhatAFolderHolds) {
    const struct {
        const char* file;
        const char* id;
        const char* task;
        const char* inside;  // the folder that is read
    } cases[] = {{"data_batch_1.bin", "cifar10", "", ""},
                 {"cifar-10-batches-bin/data_batch_1.bin", "cifar10", "", "/cifar-10-batches-bin"},
                 {"cifar-100-binary/train.bin", "cifar100", "", "/cifar-100-binary"},
                 {"train-images-idx3-ubyte", "fashion-mnist", "", ""},
                 {"raw/train-images.idx3-ubyte", "fashion-mnist", "", "/raw"},
                 {"MNIST/raw/t10k-labels-idx1-ubyte.gz", "fashion-mnist", "", "/MNIST/raw"},
                 {"train-easy/polynomials__add.txt", "math", "polynomials__add", ""},
                 {"interpolate/algebra__linear_1d.txt", "math", "algebra__linear_1d", ""},
                 {"1task_between_hexos.npz", "games", "between", ""},
                 {"cats/one.PNG", "folder", "", ""},
                 {"Train/cats/one.jpeg", "folder", "", ""},
                 {"story.txt", "text", "", ""},
                 {"AA/wiki.txt", "text", "", ""},
                 {"lines.jsonl.gz", "text", "", ""},
                 {"letter.doc", "", "", ""}};
    for (const auto& c : cases) {
        Disk disk;
        disk.write(c.file);
        const auto guess = disk.guess();
        EXPECT_EQ(guess.id, c.id) << c.file;
        EXPECT_EQ(guess.task, c.task) << c.file;
        EXPECT_EQ(guess.path, disk.folder.path().toStdString() + c.inside) << c.file;
        EXPECT_FALSE(guess.text.empty()) << c.file;
    }
    EXPECT_EQ(guessImport("/nowhere/at/all").id, "");
    EXPECT_NE(guessImport("/nowhere/at/all").text.find("not found"), std::string::npos);
}

TEST(ImportGuess, KnowsWhatAFileIs) {
    Disk disk;
    disk.write("own.npz");
    disk.write("polynomials__expand.txt");
    disk.write("t10k-labels-idx1-ubyte.gz");
    disk.write("cifar-10-binary.tar.gz");
    disk.write("notes.md");
    EXPECT_EQ(disk.guess("own.npz").id, "npz");
    EXPECT_EQ(disk.guess("polynomials__expand.txt").id, "math");
    EXPECT_EQ(disk.guess("t10k-labels-idx1-ubyte.gz").path, disk.folder.path().toStdString());
    EXPECT_EQ(disk.guess("notes.md").id, "text");
    EXPECT_EQ(disk.guess("cifar-10-binary.tar.gz").id, "");
    EXPECT_NE(disk.guess("cifar-10-binary.tar.gz").text.find("unpack"), std::string::npos);
}

TEST(ImportGuess, OptionsOpenEverythingThereIs) {
    const auto folder = importOptions("folder", "", "/pictures");
    EXPECT_EQ(folder.kind, "images");
    EXPECT_EQ(folder.task, "folder");
    EXPECT_EQ(folder.train_size, 0);
    EXPECT_TRUE(folder.problems().empty());
    for (const auto& [kind, form] : dataImports()) {
        const auto tasks = form->asksTask ? kind->taskNames() : std::vector<std::string>();
        const std::string path = form->id == "npz" ? "/a/b.npz" : "/a/b";
        const auto options = importOptions(form->id, tasks.empty() ? "" : tasks.back(), path);
        EXPECT_EQ(importIdOf(options), form->id);
        if (!tasks.empty()) {
            EXPECT_EQ(options.task, tasks.back());
        }
    }
}

TEST(ImportDialog, GuessesAndLetsTheUserCorrect) {
    Disk disk;
    disk.write("train-easy/calculus__differentiate.txt");
    ImportDialog dialog;
    dialog.show();
    EXPECT_FALSE(dialog.importButton()->isEnabled());
    dialog.setPath(disk.folder.path());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog.validating(); }, 10000));
    EXPECT_EQ(child<QComboBox>(dialog, "Format")->currentText(), "Questions and answers");
    ASSERT_TRUE(child<QComboBox>(dialog, "Task")->isVisible());
    EXPECT_EQ(dialog.options().task, "calculus__differentiate");
    EXPECT_EQ(dialog.options().path, disk.folder.path().toStdString());
    EXPECT_TRUE(dialog.importButton()->isEnabled());
    EXPECT_TRUE(dialog.note().contains("found train-easy/calculus__differentiate.txt"));
    // Corrected by hand, it stays corrected.
    child<QComboBox>(dialog, "Format")->setFocus();
    QTest::keyClick(child<QComboBox>(dialog, "Format"), Qt::Key_End);
    EXPECT_EQ(child<QComboBox>(dialog, "Format")->currentText(), "Text");
    EXPECT_FALSE(child<QComboBox>(dialog, "Task")->isVisible());
    EXPECT_EQ(dialog.options().kind, "text");
}

TEST(ImportDialog, SaysWhatCannotBeImported) {
    Disk disk;
    disk.write("letter.doc");
    ImportDialog dialog;
    dialog.askFile = [&] { return disk.folder.filePath("letter.doc"); };
    dialog.show();
    QTest::keyClicks(child<QLineEdit>(dialog, "Source"), disk.folder.filePath("nothing"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return dialog.note().contains("was not found"); }, 10000));
    EXPECT_FALSE(dialog.importButton()->isEnabled());
    for (QPushButton* button : dialog.findChildren<QPushButton*>())
        if (button->text().startsWith("File")) QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return dialog.note().contains("was not recognised"); }, 10000));
    EXPECT_FALSE(dialog.importButton()->isEnabled());
    QTest::keyClick(child<QComboBox>(dialog, "Format"), Qt::Key_Home);
    EXPECT_TRUE(dialog.importButton()->isEnabled()) << "at the user's word";
}

// An archive whose arrays have other names is asked about, with what was guessed chosen.
TEST(ImportDialog, AsksWhichArraysAreTheImages) {
    using testing_support::npyOf;
    Disk disk;
    const auto file = disk.folder.filePath("digits.npz");
    const std::vector<std::int64_t> four{4}, images{4, 2, 2}, two{2, 2, 2};
    testing_support::writeNpzFile(
        file.toStdString(),
        {{"scans.npy", npyOf<std::uint8_t>("|u1", images, std::vector<std::uint8_t>(16))},
         {"blurred.npy", npyOf<std::uint8_t>("|u1", images, std::vector<std::uint8_t>(16))},
         {"digit_class.npy", npyOf<std::int64_t>("<i8", four, {0, 1, 0, 1})},
         {"writer.npy", npyOf<std::int64_t>("<i8", four, {0, 0, 1, 1})},
         {"scans_test.npy", npyOf<std::uint8_t>("|u1", two, std::vector<std::uint8_t>(8))},
         {"class_test.npy", npyOf<std::int64_t>("<i8", {2}, {0, 1})}});
    ImportDialog dialog;
    dialog.show();
    const auto set = [&](const QString& path) {
        dialog.setPath(path);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog.validating(); }, 10000));
    };
    set(file);
    EXPECT_EQ(dialog.imagesBox(0)->currentText(), "scans: 4 x 2 x 2, uint8");
    EXPECT_EQ(dialog.labelsBox(0)->currentText(), "digit_class: 4, int64");
    EXPECT_TRUE(dialog.labelsBox(1)->isVisible());
    EXPECT_EQ(dialog.options().arrays, "scans,digit_class,scans_test,class_test");
    const auto choose = [](QComboBox* box, const QString& name) {
        box->setCurrentIndex(box->findData(name));
        Q_EMIT box->activated(box->currentIndex());
    };
    choose(dialog.labelsBox(0), "writer");
    choose(dialog.imagesBox(1), {});
    EXPECT_FALSE(dialog.labelsBox(1)->isVisible());
    EXPECT_EQ(dialog.options().arrays, "scans,writer");
    EXPECT_TRUE(dialog.importButton()->isEnabled());
    // Two images have no labels of their own beside those of the test split.
    choose(dialog.imagesBox(0), "scans_test");
    EXPECT_EQ(dialog.labelsBox(0)->currentText(), "class_test: 2, int64");
    // Usual names need no choice, and what has none says so at once.
    const auto usual = disk.folder.filePath("usual.npz"), none = disk.folder.filePath("none.npz");
    testing_support::writeNpzFile(
        usual.toStdString(),
        {{"images.npy", npyOf<std::uint8_t>("|u1", images, std::vector<std::uint8_t>(16))},
         {"labels.npy", npyOf<std::int64_t>("<i8", four, {0, 1, 0, 1})}});
    testing_support::writeNpzFile(none.toStdString(),
                                  {{"data.npy", npyOf<std::int64_t>("<i8", four, {0, 1, 0, 1})}});
    set(usual);
    EXPECT_FALSE(dialog.imagesBox(0)->isVisible());
    EXPECT_EQ(dialog.options().arrays, "");
    set(none);
    EXPECT_TRUE(dialog.note().contains("has no array of images: it has data: 4, int64"))
        << dialog.note().toStdString();
    EXPECT_FALSE(dialog.importButton()->isEnabled());
}

TEST(ImportDialog, AsksForTheSizeOfPictures) {
    Disk disk;
    const auto picture = [&](const QString& name, int width, int height) {
        const auto path = disk.write(name);
        ASSERT_TRUE(QImage(width, height, QImage::Format_RGB888).save(path));
    };
    picture("a/1.png", 8, 8);
    picture("b/1.png", 8, 8);
    ImportDialog dialog;
    dialog.show();
    const auto sizes = [&] {
        dialog.setPath(disk.folder.path());
        EXPECT_TRUE(QTest::qWaitFor([&] { return !dialog.validating(); }, 10000));
        EXPECT_TRUE(dialog.sideBox()->isVisible());
        return dialog.sideBox()->currentText();
    };
    EXPECT_EQ(sizes(), "8 x 8, as they are");
    EXPECT_EQ(dialog.options().image_side, 8);
    dialog.sideBox()->setCurrentIndex(1);
    EXPECT_EQ(dialog.sideBox()->currentText(), "8 x 8, scaled to 32 x 32");
    EXPECT_EQ(dialog.options().image_side, 32);
    picture("b/2.png", 20, 10);
    EXPECT_EQ(sizes(), "scaled to 32 x 32");
}

}  // namespace
}  // namespace relascope
