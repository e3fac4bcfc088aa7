// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that continue from a checkpoint: trained, resumed and looked into by every command.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

const std::string kStarts = std::string(RELASCOPE_FIXTURES) + "/golden/public/";

class StartFromCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        s_home = new TemporaryFolder("start-from-cli");
        fs::create_directories(s_home->path());
        ::setenv("XDG_CACHE_HOME", (*s_home / "cache").c_str(), 1);
        std::ofstream text(*s_home / "text.txt");
        for (int i = 0; i < 200; ++i) text << "the cat sat on the mat. A dog ran, twice!\n";
        text.close();
        s_trained = train("text", "gpt2_tied", run(), words());
    }
    static void TearDownTestSuite() {
        ::unsetenv("XDG_CACHE_HOME");
        delete s_home;
    }
    static Outcome train(const std::string& preset, const std::string& from, const std::string& out,
                         const std::string& more) {
        return runCli("train " + preset + " --json --steps 4 --device cpu --init-from " + kStarts +
                      from + " --out " + out + " --set train.batch_size=2 " + more);
    }
    static std::string words() {
        return "--data " + *s_home / "text.txt" +
               " --set data.context=16 --set data.validation_size=4 --set data.sample_tokens=4";
    }
    static std::string run() { return *s_home / "run"; }
    static TemporaryFolder* s_home;
    static Outcome s_trained;
};
TemporaryFolder* StartFromCli::s_home = nullptr;
Outcome StartFromCli::s_trained;

TEST_F(StartFromCli, EveryCommandOpensTheRun) {
    ASSERT_EQ(s_trained.code, 0) << s_trained.err;
    EXPECT_NE(s_trained.err.find("training needs about"), std::string::npos) << s_trained.err;
    const auto loss = json(s_trained)["loss"].get<double>();
    EXPECT_NEAR(json(runCli("eval --json " + run()))["loss"].get<double>(), loss, 1e-6);
    const auto step = run() + "/checkpoints/step-4";
    const auto info = json(runCli("info --json " + step));
    EXPECT_EQ(info["family"], "GPT-2");
    EXPECT_EQ(info["loads"], true);
    for (const std::string& command : std::vector<std::string>{
             "info --json " + run(), "eval " + step + " --data " + *s_home / "text.txt",
             "generate " + run() + " --prompt 'the cat' --tokens 4",
             "generate " + step + " --prompt 'the cat' --tokens 4",
             "lens " + run() + " --text 'the cat sat'",
             "attribute " + run() + " --text 'the cat sat'",
             "inspect " + run() + " --text 'the cat sat' --kind attention-sa", "ablate " + run(),
             "convert " + step + " " + *s_home / "converted",
             "duel " + run() + " " + kStarts + "gpt2_tied --examples 4"}) {
        const auto o = runCli(command);
        EXPECT_EQ(o.code, 0) << command << "\n" << o.err;
    }
    EXPECT_EQ(slurp(*s_home / "converted/config.json"), slurp(kStarts + "gpt2_tied/config.json"));
}

TEST_F(StartFromCli, ResumesAndGoesOnFromARun) {
    ASSERT_EQ(s_trained.code, 0) << s_trained.err;
    const auto path = *s_home / "resumed";
    ASSERT_EQ(train("text", "gpt2_tied", path, words()).code, 0);
    const auto more = runCli("train --json --resume " + path + " --steps 6");
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(json(more)["steps"], 6);
    expectRefused("train --resume " + path + " --init-from " + kStarts + "gpt2_tied", 2,
                  "--resume");
    // The next one begins where that one ended, and saves the family's form again.
    const auto next = runCli("train text --json --steps 2 --device cpu --init-from " + path +
                             " --out " + *s_home / "next --set train.batch_size=2 " + words());
    ASSERT_EQ(next.code, 0) << next.err;
    EXPECT_EQ(json(runCli("info --json " + *s_home / "next/checkpoints/step-2"))["family"],
              "GPT-2");
}

TEST_F(StartFromCli, RefusesInOneSentence) {
    const auto refused = [](const Outcome& o, const std::vector<std::string>& parts) {
        EXPECT_NE(o.code, 0);
        for (const auto& part : parts)
            EXPECT_NE(o.err.find(part), std::string::npos) << part << " is not in: " << o.err;
    };
    const auto out = *s_home / "refused";
    refused(train("text", "mistral_window", out, words()), {"data.tokenizer", "mistral_window"});
    refused(train("text", "gpt2_tied", out, words() + " --set data.tokenizer=gpt2"),
            {"data.tokenizer", "gpt2_tied"});
    refused(train("text", "gpt2_tied", out, words() + " --set data.context=64"),
            {"data.context", "64", "48"});
    refused(train("text", "vit", out, words()), {"data.kind"});
    refused(train("fashion-mnist", "vit", out, ""), {"model.num_classes", "10"});
    EXPECT_FALSE(fs::exists(out));
}

TEST_F(StartFromCli, AnImageModelLearnsNewClasses) {
    const auto out = *s_home / "images";
    const auto o = train("fashion-mnist", "deit_teacher", out,
                         "--set model.num_classes=10 --set data.train_size=64 "
                         "--set data.validation_size=16 --set data.test_size=16");
    if (o.err.find("is not installed") != std::string::npos) GTEST_SKIP() << o.err;
    ASSERT_EQ(o.code, 0) << o.err;
    const auto info = json(runCli("info --json " + out + "/checkpoints/step-4"));
    EXPECT_EQ(info["loads"], true);
    EXPECT_EQ(info["classes"][9], "Ankle boot");
    const auto again = runCli("eval --json " + out);
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_TRUE(std::isfinite(json(again)["loss"].get<double>()));
    EXPECT_EQ(runCli("inspect " + out + " --index 3 --kind attention-sa").code, 0);
}

}  // namespace
}  // namespace relascope
