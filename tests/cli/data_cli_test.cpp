// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli data: statistics, examples and grids of experiments, kinds of data, runs and files.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

class DataCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("data-cli");
        ASSERT_EQ(runCli("train quick --steps 1 --threads 1 --out " + at("run") +
                         " --set data.train_size=64 --set data.validation_size=48 --set "
                         "data.test_size=16 --set data.seed=5")
                      .code,
                  0);
        ASSERT_EQ(runCli("data relational-games-between --count 40 --out " + at("own.npz")).code,
                  0);
        std::string text;
        for (int k = 0; k < 200; ++k) text += "a line, \"quoted\", with\ttabs\n";
        core::writeTextFile(at("notes.txt"), text);
    }
    static void TearDownTestSuite() { delete folder; }
    static std::string at(const std::string& name) { return folder->path() + "/" + name; }
    /// What a command printed with --json.
    static nlohmann::json said(const std::string& words) {
        const auto o = runCli("data " + words + " --json");
        EXPECT_EQ(o.code, 0) << words << "\n" << o.err;
        return o.code == 0 ? json(o) : nlohmann::json();
    }
    static std::string written(const std::string& words, const std::string& name) {
        const auto o = runCli("data " + words + " --out " + at(name));
        EXPECT_EQ(o.code, 0) << words << "\n" << o.err;
        EXPECT_TRUE(o.out.empty()) << o.out;
        return slurp(at(name));
    }
    static inline TemporaryFolder* folder = nullptr;
};

TEST_F(DataCli, StatisticsOfExperimentsKindsRunsAndFiles) {
    // An experiment and a kind of data with its default task.
    for (const std::string place : {"relational-games-between", "relational-games"}) {
        const auto all = said(place + " --statistics");
        EXPECT_EQ(all["data"], "Between");
        EXPECT_EQ(all["split"], "train");
        EXPECT_EQ(all["size"], 2500);
        EXPECT_EQ(all["counted"], 2000);
        EXPECT_EQ(all["counts"].size(), 2U);
        EXPECT_EQ(all["facts"].back()["value"], "generated, seed 0");
    }
    const auto set = said(
        "relational-games --set data.task=same --seed 3 --set data.train_size=30 "
        "--split train --statistics");
    EXPECT_EQ(set["data"], "Same");
    EXPECT_EQ(set["counted"], 30);
    EXPECT_EQ(set["facts"].back()["value"], "generated, seed 3");
    const auto run = said(at("run") + " --split validation --statistics --count 10");
    EXPECT_EQ(run["data"], "run");
    EXPECT_EQ(run["size"], 48);
    EXPECT_EQ(run["counted"], 10);
    const auto file = said(at("own.npz") + " --statistics");
    EXPECT_EQ(file["data"], "own.npz");
    EXPECT_EQ(file["size"], 40);
    EXPECT_EQ(file, said(at("own.npz") + " --form npz --statistics"));
    EXPECT_EQ(said(at("notes.txt") + " --statistics")["split"],
              said(at("notes.txt") + " --form text --statistics")["split"]);
    EXPECT_EQ(said("text --data " + at("notes.txt") + " --statistics")["data"], "Text");
    const auto plain = runCli("data " + at("own.npz") + " --statistics");
    EXPECT_NE(plain.out.find("40 of 40 counted"), std::string::npos) << plain.out;
    EXPECT_NE(plain.out.find("#"), std::string::npos) << plain.out;
    const auto csv = written(at("own.npz") + " --statistics", "statistics.csv");
    EXPECT_TRUE(csv.starts_with("class,count\n0,20\n1,20\n")) << csv;
    EXPECT_NE(csv.find("\nOrigin,own.npz\n"), std::string::npos) << csv;
}

TEST_F(DataCli, OneExample) {
    const auto image = said(at("own.npz") + " --sample 7");
    EXPECT_EQ(image["index"], 7);
    EXPECT_EQ(image["image"]["pixels"].size(), 36U * 36 * 3);
    EXPECT_TRUE(image["label"] == "0" || image["label"] == "1");
    const auto csv = written(at("own.npz") + " --sample 7", "sample.csv");
    EXPECT_TRUE(csv.starts_with("row,column,channel,value\n0,0,0,"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 36 * 36 * 3);
    EXPECT_NE(csv, written(at("own.npz") + " --sample 8", "other.csv"));
    const auto text = written(at("notes.txt") + " --sample 0", "text.csv");
    EXPECT_TRUE(text.starts_with("id,text\n")) << text.substr(0, 60);
    EXPECT_NE(text.find(",\u21b5\n"), std::string::npos) << text.substr(0, 400);
    EXPECT_NE(text.find(",\u21e5\n"), std::string::npos);
    const auto sorted = said("sort-argsort --set data.train_size=4 --sample 3");
    EXPECT_EQ(sorted["order"].size(), sorted["objects"].size());
    EXPECT_EQ(said("minimal-pairs --sample 2 --set data.train_size=3")["index"], 2);
    const auto shown = runCli("data quick --split validation --sample 3");
    EXPECT_NE(shown.out.find("36 x 36 pixels\nlabel: "), std::string::npos) << shown.out;
    // Streamed images differ between epochs.
    const auto epoch = [](const std::string& n) {
        return said("relational-games --set data.streaming=true --sample 1 --epoch " + n)["image"];
    };
    EXPECT_EQ(epoch("2"), epoch("2"));
    EXPECT_NE(epoch("2"), epoch("3"));
}

TEST_F(DataCli, AGridOfExamples) {
    const auto all = said(at("own.npz") + " --label 1 --grid --first 2 --count 3");
    ASSERT_EQ(all["examples"].size(), 3U);
    EXPECT_EQ(all["label"], "1");
    EXPECT_LT(all["shown"], 40);
    for (const auto& example : all["examples"]) EXPECT_EQ(example["label"], "1");
    const auto between = said("relational-games-between --label 'not between' --grid --count 4");
    ASSERT_EQ(between["examples"].size(), 4U);
    for (const auto& example : between["examples"]) EXPECT_EQ(example["label"], "not between");
    EXPECT_EQ(said(at("own.npz") + " --grid --first 38")["examples"].size(), 2U);
    const auto lines = runCli("data " + at("run") + " --split pentos --grid --count 5").out;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 5) << lines;
}

TEST_F(DataCli, SavesTheExamplesOfASplit) {
    EXPECT_EQ(runCli("data " + at("run") + " --split validation --out " + at("part.npz")).code, 0);
    EXPECT_EQ(said(at("part.npz") + " --statistics")["size"], 48);
    const auto o = runCli("data " + at("own.npz") + " --label 0 --count 5 --out " + at("no.npz"));
    EXPECT_EQ(o.code, 0) << o.err;
    const auto few = said(at("no.npz") + " --grid");
    ASSERT_EQ(few["examples"].size(), 5U);
    for (const auto& example : few["examples"]) EXPECT_EQ(example["label"], "0");
    EXPECT_EQ(said("quick --count 3 --out " + at("three.npz"))["file"], at("three.npz"));
}

TEST_F(DataCli, RefusesInASentence) {
    const auto refused = [](const std::string& words, const std::string& sentence, int code = 2) {
        expectRefused("data " + words, code, sentence);
    };
    const auto own = at("own.npz");
    refused("quick --statistics --split vaidation", "did you mean 'validation'?");
    refused(own + " --label maybe --grid", "unknown label 'maybe'");
    refused("sort-argsort --set data.train_size=4 --label yes --grid", "have no labels");
    refused(own + " --sample 40", "--sample: 40 is behind the last of 40 examples of own.npz, ");
    refused(own + " --sample -1", "--sample");
    refused(own + " --grid --first 40", "--first: 40 is behind the last of 40");
    refused(own + " --grid --count 5000", "more than the 4000 examples of a grid");
    refused(own + " --grid --out x.csv", "--grid prints its examples");
    for (const std::string file : {"x.npz", "x.svg"})
        refused(own + " --statistics --out " + file, "must end in .csv; the page Data saves");
    refused(own + " --statistics --label yes", "--label: needs --grid or a .npz file");
    refused(own + " --out x.svg", "must end in .npz");
    refused(own, "--out: is missing");
    refused("quick", "--out: is missing");
    refused(own + " --grid --sample 3", "give one of --statistics, --sample and --grid");
    refused(own + " --first 3 --out x.npz", "--first: needs --grid");
    refused(own + " --form pictures --statistics", "--form");
    refused("quick --form npz --statistics", "--form: is of files to import; quick is none");
    refused(own + " --data x --statistics", "--data: is for an experiment or a kind of data");
    refused("quik --statistics", "unknown experiment or kind of data 'quik'; did you mean 'quick'");
    refused("quick --statistics --set model.d_model", "is not KEY=VALUE");
    refused("quick --statistics --set data.sed=3", "data.sed");
    refused("relational-games --statistics --set data.task=beetween", "between");
    refused(at("nothing.npz") + " --statistics", "nothing.npz: was not found", 1);
    refused(at("notes.txt") + " --out " + at("x.npz"), "are text, which is a file already");
    core::writeTextFile(at("strange.xyz"), "x");
    refused(at("strange.xyz") + " --grid", "the format was not recognised; choose it with --form",
            1);
    core::writeTextFile(at("damaged.npz"), "PK\3\4 no archive");
    refused(at("damaged.npz") + " --grid", "damaged.npz", 1);
    EXPECT_FALSE(std::filesystem::exists(at("x.npz")));
}

}  // namespace
}  // namespace relascope
