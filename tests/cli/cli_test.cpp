// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli as a user meets it: words in, exit code, stdout and stderr out.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

const std::string kTiny =
    "quick --set model.d_model=16 --set model.dff=16 --set data.train_size=64 --set "
    "data.validation_size=32 --set data.test_size=40 "
    "--set train.batch_size=16 --device cpu --threads 1 ";

TEST(Cli, ListsForPeopleAndPrograms) {
    EXPECT_EQ(runCli("--help").code, 0);
    EXPECT_EQ(runCli("--version").out.rfind("relascope 0.", 0), 0u);
    const auto presets = json(runCli("presets --json"));
    EXPECT_EQ(presets.size(), 37u);
    for (const auto& p : presets) {
        if (p["name"] != "relational-games-same") continue;
        EXPECT_EQ(p["models"].size(), 14u);
        EXPECT_EQ(p["models"][0]["name"], "dat");
        EXPECT_EQ(p["models"][0]["parameters"], 404706);
    }
    EXPECT_GE(json(runCli("datasets --json")).size(), 5u);
    EXPECT_EQ(json(runCli("devices --json"))[0]["name"], "cpu");
    EXPECT_NE(runCli("presets").out.find("relational-games-between"), std::string::npos);
}

TEST(Cli, RefusesBadUseWithTheNearestName) {
    expectRefused("", 2, "--help lists the commands");
    expectRefused("trian quick", 2, "did you mean 'train'?");
    expectRefused("train quik", 2, "did you mean 'quick'?");
    expectRefused("train quick --model dta", 2, "dat");
    expectRefused("train quick --set model.d_modle=3", 2, "did you mean 'model.d_model'");
    expectRefused("train quick --set model.d_model=65", 2, "not a multiple");
    expectRefused("train quick --set model.d_model", 2, "KEY=VALUE");
    expectRefused("train quick --epoch 3", 2, "--epochs");
    expectRefused("train quick --device cuda:9", 2, "cuda:9");
    expectRefused("train", 2, "presets");
    expectRefused("train quick --out /proc/x/y", 1, "/proc/x/y");
    expectRefused("train --resume /nonexistent", 1, "/nonexistent");
    expectRefused("eval /nonexistent", 1, "does not exist");
    expectRefused("verify /nonexistent", 1, "/nonexistent: does not exist");
    expectRefused("data quick --count 0 --out x.npz", 2, "--count");
    expectRefused("data quick --count 2 --out b.txt", 2, "'b.txt' must end in .npz");
    expectRefused("train quick --set data.context_length=9", 2, "did you mean 'data.context'");
    expectRefused("train zzzzzz", 2, "the nearest is '");
    expectRefused("info /nonexistent", 1, "/nonexistent");
}

TEST(Cli, ARefusedStartLeavesNoFolderBehind) {
    TemporaryFolder home("refused");
    std::filesystem::create_directories(home.path());
    const std::string run = home / "run";
    const std::string bad[] = {
        "train quick --data /nonexistent.npz --out " + run,                  // no such data
        "train quick --set data.train_size=0 --out " + run,                  // a bad option
        "train text --set data.path=/etc/hostname --steps 2 --out " + run};  // too short a text
    for (const auto& words : bad) {
        EXPECT_NE(runCli(words).code, 0) << words;
        EXPECT_FALSE(std::filesystem::exists(run)) << words;
    }
    const std::string there = home / "there";
    std::filesystem::create_directory(there);
    EXPECT_NE(runCli("train quick --data /nonexistent.npz --out " + there).code, 0);
    EXPECT_TRUE(std::filesystem::is_empty(there)) << "a folder of the user's stays";
}

TEST(Cli, OpensTheWeightsThatWereKeptAlongTraining) {
    TemporaryFolder home("cli-kept");
    std::filesystem::create_directories(home.path());
    const std::string run = home / "run";
    ASSERT_EQ(runCli("train " + kTiny + "--epochs 5 --out " + run).code, 0);
    const auto kept = json(runCli("info " + run + " --json"))["kept"];
    ASSERT_GE(kept.size(), 10u);
    EXPECT_EQ(kept.front()["step"], 0);
    EXPECT_EQ(kept.back()["step"], 20);
    EXPECT_EQ(kept.back()["form"], "float32");
    EXPECT_EQ(kept.back()["bytes"],
              std::filesystem::file_size(run + "/weights/step-20.safetensors"));
    EXPECT_EQ(kept.back()["marked"], false);

    const auto measured = runCli("eval " + run + " --step 14 --json");
    EXPECT_EQ(json(measured)["step"], 13);
    EXPECT_EQ(json(measured)["kept"], "step 13 (kept nearest to 14)");
    EXPECT_NE(measured.err.find("step 13 (kept nearest to 14)"), std::string::npos);
    EXPECT_EQ(json(runCli("eval " + run + " --checkpoint 13 --json"))["loss"],
              json(measured)["loss"]);
    const auto last = json(runCli("eval " + run + " --step 20 --json"));
    EXPECT_EQ(last["step"], 20);
    EXPECT_FALSE(last.contains("kept")) << "there is a checkpoint";
    const auto table = [&](const std::string& words) {
        EXPECT_EQ(runCli("eval " + run + words + " --out " + (home / "out.csv")).code, 0);
        return core::readTextFile((home / "out.csv"));
    };
    EXPECT_TRUE(table("").starts_with("metric,value\nloss,"));
    EXPECT_TRUE(std::filesystem::exists(home / "out.class_accuracy.csv"));
    EXPECT_TRUE(table(" --edit 'layer 1 attention zero'")
                    .starts_with("metric,base,edited,change,low,high\nloss,"));

    const auto looked = json(runCli("inspect " + run + " --step 14 --sample 1 --json"));
    EXPECT_EQ(looked["step"], 13);
    EXPECT_EQ(looked["kept"], "step 13 (kept nearest to 14)");
    // Of step 11 there are captures of the first samples.
    EXPECT_EQ(json(runCli("inspect " + run + " --step 11 --sample 20 --json"))["kept"],
              "step 11 (kept)");
    EXPECT_FALSE(json(runCli("inspect " + run + " --step 11 --sample 1 --json")).contains("kept"));
    EXPECT_NE(runCli("info " + run + "/weights/step-15.safetensors").out.find(", loads"),
              std::string::npos);

    ASSERT_EQ(runCli("train --resume " + run + " --steps 24 --set train.keep_mib=0").code, 0);
    EXPECT_EQ(json(runCli("info " + run + " --json"))["kept"].back()["step"], 20);
    std::filesystem::remove_all(run + "/weights");
    expectRefused("inspect " + run + " --step 7", 2, "was not captured; captured steps: 0, 1, 2");
    expectRefused("eval " + run + " --step 7", 1, "has no checkpoint '7'");
    expectRefused("eval " + run + " --step 7 --checkpoint last", 2, "--checkpoint");
}

// What is said of a run is what its weights do: the last line, the list, reports and eval have the
// same digits, also where early stopping has thrown the last weights away.
TEST(Cli, SaysOfARunWhatTheWeightsDoThatItKeeps) {
    TemporaryFolder home("kept-values");
    std::filesystem::create_directories(home.path());
    const std::string run = home / "run";
    const auto trained = runCli(
        "train pairwise-order --model mlp --epochs 30 --set train.early_stopping.patience=3 "
        "--set train.learning_rate=0.005 --device cpu --threads 1 --json --out " +
        run);
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto said = json(trained);
    EXPECT_LT(said["step"], said["steps"]) << "the case: other weights than the last are kept";
    const auto validation = json(runCli("eval " + run + " --split validation --threads 1 --json"));
    const auto test = json(runCli("eval " + run + " --threads 1 --json"));
    const auto info = json(runCli("info " + run + " --json"));
    for (const std::string key : {"step", "loss", "accuracy"}) {
        EXPECT_EQ(said[key], validation[key]) << key;
        EXPECT_EQ(said[key], info["validation"][key]) << key;
    }
    for (const std::string key : {"loss", "accuracy"})
        EXPECT_EQ(said["results"][0][key], test[key]) << key;
    EXPECT_EQ(test["split"], "test");
    // Once more, as text.
    const auto line = runCli("train --resume " + run + " --threads 1").out;
    char kept[128];
    std::snprintf(kept, sizeof kept, "weights of step %lld: validation loss %.4f, accuracy %.1f %%",
                  validation["step"].get<long long>(), validation["loss"].get<double>(),
                  100.0 * validation["accuracy"].get<double>());
    EXPECT_NE(line.find(kept), std::string::npos) << line << kept;
    char best[64];
    std::snprintf(best, sizeof best, "; best seen %.1f %% (step %lld, not kept)",
                  100.0 * said["best_seen"]["value"].get<double>(),
                  said["best_seen"]["step"].get<long long>());
    EXPECT_EQ(said["best_seen"]["value"] > said["accuracy"], line.find(best) != std::string::npos)
        << line << best;
}

TEST(Cli, TrainsEvaluatesInspectsAndResumes) {
    TemporaryFolder home("cli");
    std::filesystem::create_directories(home.path());
    const std::string run = home / "run";
    const auto trained = runCli("train " + kTiny + "--epochs 3 --out " + run + " --json");
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(json(trained)["steps"], 12);
    EXPECT_EQ(json(trained)["run"], run);
    EXPECT_EQ(json(trained)["split"], "validation");
    expectRefused("train " + kTiny + "--out " + run, 1, "already contains a run");

    const auto evaluated = json(runCli("eval " + run + " --split validation --threads 1 --json"));
    EXPECT_EQ(evaluated["accuracy"], json(trained)["accuracy"]);
    EXPECT_EQ(evaluated["loss"], json(trained)["loss"]);
    const auto tested = json(runCli("eval " + run + " --threads 1 --json"));
    EXPECT_EQ(tested["split"], json(trained)["results"][0]["split"]) << "what it has never seen";
    EXPECT_EQ(tested["loss"], json(trained)["results"][0]["loss"]);
    EXPECT_EQ(json(runCli("eval " + run + " --split hexos --json"))["examples"], 40);
    expectRefused("eval " + run + " --split hexes", 2, "did you mean 'hexos'");
    expectRefused("eval " + run + " --checkpoint 500", 1, "available: last, best");

    const auto resumed = runCli("train --resume " + run + " --epochs 4 --json --threads 1");
    EXPECT_EQ(json(resumed)["steps"], 16) << resumed.err;
    expectRefused("train quick --resume " + run, 2, "read from the run");

    const std::string csv = home / "map.csv";
    EXPECT_EQ(runCli("inspect " + run + " --sample 3 --layer 2 --out " + csv).code, 0);
    const auto text = slurp(csv);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);  // a head and ten tokens
    const auto at =
        json(runCli("inspect " + run + " --step 0 --sample 1 --kind attention-sa --json"));
    EXPECT_EQ(at["step"], 0);
    EXPECT_EQ(at["values"].size(), 100u);
    expectRefused("inspect " + run + " --layer 3", 2, "beyond the model's 2");
    expectRefused("inspect " + run + " --index 2", 2, "beyond the layer's 1");
    expectRefused("inspect " + run + " --kind relations", 2, "did you mean 'relation'");
    expectRefused("inspect " + run + " --out map.bmp", 2, ".png, .svg, .pdf, .csv or .safetensors");
    EXPECT_NE(runCli("info " + run + "/checkpoints/step-16").out.find("encoder_blocks.0"),
              std::string::npos);

    // With half the batch an epoch has twice the steps: 16 are done, and one epoch is added.
    expectRefused("train --resume " + run + " --set model.d_model=8", 2, "--set train.batch_size");
    expectRefused("train --resume " + run + " --set train.batch_size=0", 2, "train.batch_size");
    const auto smaller =
        runCli("train --resume " + run + " --set train.batch_size=8 --epochs 5 --json");
    EXPECT_EQ(json(smaller)["steps"], 24) << smaller.err;

    const auto several = runCli("train " + kTiny + "--set train.seeds=4,5 --epochs 1 --out " +
                                (home / "two") + " --json");
    EXPECT_EQ(json(several)["runs"].size(), 2u) << several.err;
    EXPECT_TRUE(std::filesystem::exists(home / "two/seed-5/run.json"));
}

TEST(Cli, SaysWhatMoreStepsMakeOfTheLearningRate) {
    const TemporaryFolder home("cli-cosine");
    const std::string run = home / "run";
    const auto begun =
        runCli("train " + kTiny + "--set train.schedule=cosine --steps 10 --out " + run);
    ASSERT_EQ(begun.code, 0) << begun.err;
    EXPECT_EQ(begun.err.find("the cosine now ends"), std::string::npos) << begun.err;
    const auto more = runCli("train --resume " + run + " --steps 30 --threads 1");
    ASSERT_EQ(more.code, 0) << more.err;
    const std::string note =
        "the cosine now ends at step 30 instead of 10, so that the learning rate rises from ";
    EXPECT_NE((more.out + more.err).find(note), std::string::npos) << more.out << more.err;
    const auto events = slurp(run + "/events.jsonl");
    EXPECT_NE(events.find(note), std::string::npos);
    // The rates that it names are those of the steps.
    std::ifstream metrics(run + "/metrics.jsonl");
    std::map<int, double> rates;
    for (std::string line; std::getline(metrics, line);) {
        const auto point = nlohmann::json::parse(line);
        if (point.contains("learning_rate")) rates[point["step"]] = point["learning_rate"];
    }
    const auto at = events.find(note) + note.size();
    double from = 0.0, to = 0.0;
    ASSERT_EQ(std::sscanf(events.c_str() + at, "%lf to %lf", &from, &to), 2);
    ASSERT_TRUE(rates.contains(10) && rates.contains(11));
    EXPECT_NEAR(from, rates[10], 0.01 * rates[10]);
    EXPECT_NEAR(to, rates[11], 0.01 * rates[11]);
    // As long as it was, nothing is said.
    const auto same = runCli("train --resume " + run + " --steps 30 --threads 1");
    EXPECT_EQ((same.out + same.err).find("the cosine now ends"), std::string::npos);
    const auto slow =
        runCli("train " + kTiny + "--set train.warmup_steps=50 --steps 4 --out " + (home / "slow"));
    EXPECT_NE((slow.out + slow.err).find("the warm-up takes 50 steps and the run ends at step 4"),
              std::string::npos)
        << slow.out << slow.err;
}

TEST(Cli, ReadsRealShapedDataAndRefusesAnothersShape) {
    TemporaryFolder home("cli-data");
    std::filesystem::create_directories(home.path());
    const std::string file = home / "made.npz", run = home / "run";
    EXPECT_EQ(
        runCli("data relational-games-between --count 120 --seed 3 --family hexos --out " + file)
            .code,
        0);
    const auto trained =
        runCli("train " + kTiny + "--epochs 1 --data " + file + " --out " + run + " --json");
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(json(runCli("eval " + run + " --data " + file + " --json"))["examples"], 120);
    expectRefused(
        "train " + kTiny + "--set data.train_size=500 --data " + file + " --out " + (home / "more"),
        1, "has 120 images");
    const auto small =
        runCli("train " + kTiny + "--set model.image_shape=3,24,24 --out " + (home / "shape"));
    EXPECT_EQ(small.code, 2);
    EXPECT_NE(small.err.find("model.image_shape"), std::string::npos) << small.err;
    std::ofstream(home / "bad.npz") << "not an archive";
    expectRefused("eval " + run + " --data " + (home / "bad.npz"), 1, "bad.npz");
}

TEST(Cli, AnInterruptSavesAndExits130) {
    TemporaryFolder home("cli-int");
    std::filesystem::create_directories(home.path());
    const std::string run = home / "run", program = std::string(RELASCOPE_BIN) + "/relascope-cli";
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stdout);
        freopen("/dev/null", "w", stderr);
        execl("/bin/sh", "sh", "-c",
              ("exec " + program + " train " + kTiny + "--epochs 100000 --out " + run).c_str(),
              nullptr);
        _exit(99);
    }
    for (int i = 0; i < 1500 && !std::filesystem::exists(run + "/metrics.jsonl"); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // A supervisor that sends to the process and to its group means it once.
    kill(child, SIGINT);
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
    const auto state = nlohmann::json::parse(slurp(run + "/run.json"));
    EXPECT_EQ(state["state"], "interrupted");
    EXPECT_TRUE(std::filesystem::exists(
        run + "/checkpoints/step-" + std::to_string(state["step"].get<int>()) + "/manifest.json"));
}

}  // namespace
}  // namespace relascope
