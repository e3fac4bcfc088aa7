// SPDX-License-Identifier: GPL-3.0-or-later
// Import: what files and folders are guessed to be, and the dialog that asks.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "app/pages/import_dialog.h"
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

}  // namespace
}  // namespace relascope
