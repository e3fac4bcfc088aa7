// SPDX-License-Identifier: GPL-3.0-or-later
// The field Start from of the form: a run that continues from a checkpoint.
#include <filesystem>

#include "files/atomic_file.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"

namespace relascope {
namespace {

class StartFromTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        c().selection.setPreset(QStringLiteral("text"));
        c().experiment.choosePreset(QStringLiteral("text"));
        std::string text;
        for (int i = 0; i < 200; ++i) text += "the cat sat on the mat. ";
        core::writeTextFile(folder.filePath("text.txt").toStdString(), text);
        c().experiment.set("data.path", folder.filePath("text.txt").toStdString());
        for (const char* key : {"train.steps", "train.batch_size", "data.validation_size"})
            c().experiment.set(key, std::int64_t{2});
        c().experiment.set("train.device", std::string("cpu"));
    }
    const RunOptions& options() { return c().experiment.options(); }
    /// Types into the field and waits until it was read.
    void type(const std::string& path) {
        c().experiment.set("train.init_from", path);
        EXPECT_EQ(options().train.init_from, path);
        ASSERT_TRUE(waitUntil([this] { return !problem().contains("is being read"); }));
    }
    QString problem() { return c().experiment.disabledReason(); }

    const std::string gpt2 = std::string(RELASCOPE_FIXTURES) + "/golden/public/gpt2_tied";
};

TEST_F(StartFromTest, TakesTheModelAndGivesItBack) {
    const RunOptions before = options();
    type(gpt2);
    EXPECT_EQ(problem(), QString());
    EXPECT_EQ(options().model.number("d_model"), 32);
    EXPECT_EQ(options().data.tokenizer, gpt2 + "/tokenizer.json");
    EXPECT_EQ(options().data.context, 48);
    EXPECT_LT(options().train.learning_rate, 1e-4);
    undo();
    EXPECT_EQ(options(), before);
    redo();
    ASSERT_TRUE(waitUntil([this] { return !problem().contains("is being read"); }));
    EXPECT_EQ(options().model.number("d_model"), 32);
    EXPECT_EQ(problem(), QString());
    // An empty field is a new model again.
    type("");
    EXPECT_EQ(options(), before);
    // So is another model of the experiment.
    type(gpt2);
    c().experiment.chooseVariant("transformer");
    EXPECT_EQ(options().train.init_from, "");
    EXPECT_EQ(options().model.architecture(), "TransformerLM");
    EXPECT_EQ(options().data.context, before.data.context);
}

TEST_F(StartFromTest, GivesBackWhatWasThereBefore) {
    c().experiment.set("data.context", std::int64_t{60});
    c().experiment.set("train.learning_rate", 0.5);
    const RunOptions before = options();
    type(gpt2);
    type("");
    EXPECT_EQ(options(), before);
}

TEST_F(StartFromTest, ResetForgetsWhatWasRefused) {
    type(gpt2 + "-not");
    EXPECT_NE(problem(), QString());
    c().experiment.reset();
    EXPECT_EQ(options().train.init_from, "");
    EXPECT_FALSE(problem().contains("does not exist")) << problem().toStdString();
    // Also while it is being read.
    c().experiment.set("train.init_from", gpt2);
    c().experiment.reset();
    EXPECT_FALSE(problem().contains("is being read")) << problem().toStdString();
}

TEST_F(StartFromTest, UndoWhileItIsReadTakesTheModelAgain) {
    const RunOptions before = options();
    c().experiment.set("train.init_from", gpt2);
    c().experiment.endEdit();  // Enter, before it was read
    ASSERT_TRUE(waitUntil([this] { return !problem().contains("is being read"); }));
    undo();
    EXPECT_EQ(options(), before);
    EXPECT_EQ(problem(), QString());
    redo();
    ASSERT_TRUE(waitUntil([this] { return !problem().contains("is being read"); }));
    EXPECT_EQ(problem(), QString());
    EXPECT_EQ(options().model.number("d_model"), 32);
    // One that was refused is read again, too.
    type(gpt2 + "-not");
    undo();
    EXPECT_EQ(options().model.number("d_model"), 32);
    redo();
    EXPECT_NE(problem(), QString());
    ASSERT_TRUE(waitUntil([this] { return problem().contains("does not exist"); }));
}

TEST_F(StartFromTest, SaysWhyACheckpointIsNotTaken) {
    type(gpt2 + "-not");
    EXPECT_TRUE(problem().contains("does not exist")) << problem().toStdString();
    EXPECT_NE(options().model.number("d_model"), 32);
    type(gpt2);
    EXPECT_EQ(problem(), QString());
    c().experiment.set("data.context", std::int64_t{49});
    EXPECT_TRUE(problem().contains("49")) << problem().toStdString();
}

TEST_F(StartFromTest, TrainsARunThatTheWindowShows) {
    type(gpt2);
    QString path;
    QObject::connect(&c().training, &TrainingController::runBegan, window.get(),
                     [&](const QString& p) { path = p; });
    c().experiment.start();
    ASSERT_TRUE(waitUntil([&] { return !path.isEmpty() && !c().training.busy(); }, 60000));
    const auto run = path.toStdString();
    EXPECT_EQ(core::readRunInfo(run).state, RunState::Done) << core::readRunInfo(run).message;
    EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/step-2/config.json"));
    EXPECT_EQ(options().train.init_from, gpt2);
    EXPECT_TRUE(openRun(path));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
}

}  // namespace
}  // namespace relascope
