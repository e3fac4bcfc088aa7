// SPDX-License-Identifier: GPL-3.0-or-later
// Edits on the command line: points, inspect, eval, generate, ablate, patch, verify.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;
const std::string kGolden = std::string(RELASCOPE_FIXTURES) + "/golden/";
const std::string kLm = kGolden + "lm_symbolic_rope_gqa";

/// A small run of images, trained once.
const std::string& run() {
    static const TemporaryFolder folder("edit-cli-run");
    static const std::string path = [] {
        const auto out = folder.path() + "/run";
        const auto trained = runCli(
            "train quick --steps 3 --threads 1 --out " + out +
            " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16");
        EXPECT_EQ(trained.code, 0) << trained.err;
        return out;
    }();
    return path;
}

TEST(EditCli, PointsListsNamesAxesAndShapes) {
    const auto list = json(runCli("points --json " + kLm));
    const auto found = std::find_if(
        list.begin(), list.end(), [](const auto& p) { return p["name"] == "blocks.1.rel.hook_r"; });
    ASSERT_NE(found, list.end());
    EXPECT_EQ((*found)["axes"], (std::vector<std::string>{"batch", "i", "j", "relation"}));
    EXPECT_EQ((*found)["causal"], true);
    EXPECT_NE(runCli("points " + kLm).out.find("blocks.0.attn.hook_pattern"), std::string::npos);
}

TEST(EditCli, InspectShowsMapsAfterBeforeAndTheirDifference) {
    const std::string inspect = "inspect --json " + kLm +
                                " --reference 1 --layer 1 --kind relation "
                                "--index 3 --edit \"layer 1 relation 3 i 10 "
                                "j 4 set 3\"";
    const auto after = json(runCli(inspect)), before = json(runCli(inspect + " --show before")),
               change = json(runCli(inspect + " --show difference"));
    const auto columns = after["columns"].get<std::size_t>();
    const auto cell = 10 * columns + 4;
    EXPECT_EQ(after["values"][cell], 3.0);
    EXPECT_NEAR(change["values"][cell].get<double>(), 3.0 - before["values"][cell].get<double>(),
                1e-6);
    EXPECT_NE(after["sample"].get<std::string>().find("edited: layer 1 relation 3"),
              std::string::npos);
    EXPECT_NE(after["probabilities"], before["probabilities"]);
}

TEST(EditCli, EvalMeasuresTheChangeOnTheSameExamples) {
    const auto effect =
        json(runCli("eval --json " + run() +
                    " --edit \"layer 1 attention zero\" --edit \"layer 2 attention zero\""));
    EXPECT_EQ(effect["edits"].size(), 2u);
    EXPECT_EQ(effect["examples"], 48);
    const auto plain = json(runCli("eval --json --split validation " + run()));
    EXPECT_NEAR(effect["base"]["loss"].get<double>(), plain["loss"].get<double>(), 1e-5);
    EXPECT_NEAR(effect["edited"]["loss"].get<double>() - effect["base"]["loss"].get<double>(),
                effect["change"]["loss"].get<double>(), 1e-9);
    const auto interval = effect["interval"]["loss"];
    EXPECT_LE(interval[0].get<double>(), effect["change"]["loss"].get<double>());
    EXPECT_GE(interval[1].get<double>(), effect["change"]["loss"].get<double>());
    // "none" is an evaluation without edits.
    EXPECT_EQ(json(runCli("eval --json --split validation --edit none " + run()))["loss"],
              plain["loss"]);
    EXPECT_EQ(runCli("eval " + run() + " --edit \"layer 1 relation 1 mean\"").code, 0);
    EXPECT_EQ(runCli("eval " + run() + " --edit \"layer 1 relation 1 resample 5\"").code, 0);
}

// One definition of a metric: what eval says of a model is where eval --edit and ablate begin, also
// where examples have different numbers of targets.
TEST(EditCli, EveryMeasureOfAnUneditedModelIsItsMetric) {
    const TemporaryFolder folder("edit-cli-metric");
    std::filesystem::create_directories(folder.path());
    const auto tiny = [](const std::string& preset) {
        return "train " + preset +
               " --steps 4 --threads 1 --set data.train_size=64 --set data.validation_size=40"
               " --set data.test_size=8 --set train.batch_size=16 --set model.d_model=32"
               " --set model.dff=32";
    };
    const std::string decoder = " --set model.decoder.dff=32 --set train.decode_examples=0";
    const std::vector<std::pair<std::string, std::string>> runs = {
        {"decoder.0.hook_mlp_out", tiny("math-linear-1d") + decoder},
        {"decoder.0.hook_mlp_out", tiny("math-add") + decoder},
        {"decoder.0.hook_mlp_out", tiny("sort-argsort") + " --set train.decode_examples=0"},
        {"blocks.0.hook_mlp_out", tiny("relational-games-occurs")}};
    int number = 0;
    double largest = 0.0;
    for (const auto& [point, command] : runs) {
        SCOPED_TRACE(command);
        const auto path = folder.path() + "/run" + std::to_string(number++);
        const auto trained = runCli(command + " --out " + path);
        ASSERT_EQ(trained.code, 0) << trained.err;
        const auto nothing = folder.path() + "/nothing.json";
        std::ofstream(nothing)
            << R"({"format": "relascope-edit/1", "edits": [{"op": "scale", "at": ")" << point
            << R"(", "factor": 1}]})";
        const auto plain = json(runCli("eval --json --split validation " + path)),
                   edited = json(runCli("eval --json " + path + " --edit " + nothing));
        for (const std::string metric : {"loss", "accuracy"}) {
            const double value = plain[metric];
            for (const char* side : {"base", "edited"})
                largest = std::max(largest, std::abs(edited[side][metric].get<double>() - value));
            // What none of 40 examples shows may be in one of ten.
            const double low = edited["interval"][metric][0], high = edited["interval"][metric][1];
            EXPECT_NEAR(low, metric == "accuracy" ? std::pow(0.025, 1.0 / 40.0) - 1.0 : 0.0, 1e-9);
            EXPECT_NEAR(high, -low, 1e-9);
            const auto table =
                json(runCli("ablate --json --what mlp --how zero --metric " + metric + " " + path));
            largest = std::max(largest, std::abs(table["base"].get<double>() - value));
        }
        EXPECT_LT(largest, 1e-5);
    }
    RecordProperty("largest_difference", std::to_string(largest));
}

TEST(EditCli, WhatIsNotFiniteIsNoAnswer) {
    const std::string huge = " --edit \"layer 1 relation 1 scale 1e39\"",
                      overflows = " --edit \"layer 1 relation 1 scale 3e38\"";
    expectRefused("eval " + run() + huge, 2, "'1e39' is beyond the numbers of float32");
    for (const auto& [command, more] : std::vector<std::pair<std::string, std::string>>{
             {"eval", ""},
             {"ablate", " --what mlp --how zero"},
             {"lens", " --sample 1"},
             {"attribute", " --sample 1 --logit 1"},
             {"patch", " --clean sample:1 --corrupt sample:2"}})
        expectRefused(command + " " + run() + more + overflows, 1,
                      "the first such numbers are at blocks.0.");
    // The maps show where they come from, so that they are shown, with the sentence.
    const std::string inspect = "inspect " + run() + " --sample 1 --json";
    const auto shown = runCli(inspect + overflows);
    EXPECT_NE(shown.err.find("warning: the answers of the model are not finite"), std::string::npos)
        << shown.err;
    EXPECT_NE(json(shown)["not_finite"].get<std::string>().find("at blocks.0."), std::string::npos);
    EXPECT_TRUE(json(shown)["probabilities"].empty());
    const auto finite = runCli(inspect);
    EXPECT_EQ(finite.err.find("not finite"), std::string::npos) << finite.err;
    EXPECT_FALSE(json(finite).contains("not_finite"));
    EXPECT_FALSE(json(finite)["probabilities"].empty());
}

TEST(EditCli, ADamagedKeptStepIsNamed) {
    const TemporaryFolder folder("edit-cli-kept");
    std::filesystem::copy(run(), folder.path(), std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(folder.path() + "/captures");  // of the same step
    const auto file = folder.path() + "/weights/step-0.safetensors";
    ASSERT_TRUE(std::filesystem::exists(file));
    EXPECT_EQ(runCli("inspect --sample 1 --step 0 " + folder.path()).code, 0);
    std::filesystem::resize_file(file, 40);
    expectRefused("inspect --sample 1 --step 0 " + folder.path(), 1, file);
}

TEST(EditCli, MeansSayHowManyExamplesTheyAreOf) {
    const std::string words = "layer 1 relation 1 mean";
    for (const std::string command : {"eval", "inspect --sample 1", "lens --sample 1"}) {
        const auto outcome = runCli(command + " --json " + run() + " --edit \"" + words + "\"");
        const auto means = json(outcome)["means"];
        ASSERT_EQ(means.size(), 1u) << command << outcome.err;
        EXPECT_EQ(means[0]["edit"], words);
        EXPECT_EQ(means[0]["examples"], 64) << "there are no more";
        EXPECT_EQ(means[0]["split"], "train");
        EXPECT_EQ(means[0]["over"], "position");
        EXPECT_GT(means[0]["standard_error"].get<double>(), 0.0);
        EXPECT_NE(outcome.err.find(words + ": mean of 64 examples of train, standard error "),
                  std::string::npos)
            << outcome.err;
    }
    EXPECT_FALSE(json(runCli("eval --json " + run() + " --edit \"layer 1 relation 1 zero\""))
                     .contains("means"));
}

TEST(EditCli, MeasuresWithEditsInForce) {
    const std::string words = "layer 1 attention zero", edit = " --edit \"" + words + "\"";
    const std::vector<std::string> all = {words};
    const auto effect = json(runCli("eval --json " + run() + edit));
    const auto ablated =
        runCli("ablate --json " + run() + " --what mlp --how zero --metric loss" + edit);
    EXPECT_NE(ablated.err.find("with the edits: " + words), std::string::npos) << ablated.err;
    EXPECT_EQ(json(ablated)["edits"], all);
    EXPECT_NEAR(json(ablated)["base"].get<double>(), effect["edited"]["loss"].get<double>(), 1e-6);
    const std::string patch = "patch --json " + run() +
                              " --clean sample:0 --corrupt sample:1 --over attn --metric logit:0";
    const auto patched = json(runCli(patch + edit)), plain = json(runCli(patch));
    EXPECT_EQ(patched["edits"], all);
    EXPECT_NE(patched["clean"], plain["clean"]);
    EXPECT_EQ(patched["cells"][0]["exact"], 0.0);
    const std::string attribute = "attribute --json " + run() + " --sample 0 --logit 0";
    const auto parts = json(runCli(attribute + edit));
    EXPECT_EQ(parts["edits"], all);
    EXPECT_NE(parts["logit"], json(runCli(attribute))["logit"]);
    EXPECT_EQ(parts["parts"].back()["kind"], "edits") << "between the heads and the stream";
    expectRefused("lens " + run() + " --sample 0 --edit \"layer 9 relation 1 zero\"", 2,
                  "there is no layer 9");
    // A text of no split has no other examples.
    expectRefused("patch " + kLm +
                      " --clean random:1 --corrupt random:2 --edit "
                      "\"layer 1 relation 1 resample\"",
                  2, "resample needs a split of examples");
}

TEST(EditCli, AblateWritesTheTable) {
    const TemporaryFolder folder("edit-cli-1");
    std::filesystem::create_directories(folder.path());
    const auto table =
        json(runCli("ablate --json " + run() + " --examples 32 --cumulative --part-pairs --out " +
                    folder.path() + "/t.csv"));
    EXPECT_EQ(table["examples"], 32);
    ASSERT_GT(table["rows"].size(), 8u);
    double last = 1e9;
    for (std::size_t r = 0; r < table["rows"].size(); r += 3) {
        double most = 0.0;
        for (std::size_t way = r; way < r + 3; ++way) {
            EXPECT_EQ(table["rows"][way]["part"], table["rows"][r]["part"]);
            most = std::max(most, std::abs(table["rows"][way]["change"].get<double>()));
        }
        EXPECT_LE(most, last + 1e-12) << "sorted by the largest change";
        last = most;
    }
    EXPECT_EQ(3 * table["cumulative"].size(), table["rows"].size());
    const auto csv = slurp(folder.path() + "/t.csv");
    EXPECT_EQ(csv.rfind("part,group,point,how,metric,base,edited,change,low,high", 0), 0u);
    EXPECT_EQ(runCli("ablate " + run() + " --examples 16 --what relations --how zero --out " +
                     folder.path() + "/t.tex")
                  .code,
              0);
    EXPECT_NE(slurp(folder.path() + "/t.tex").find("\\begin{tabular}{lr}"), std::string::npos);
    // One part as its own evaluation has the same change.
    const auto first = table["rows"][0];
    const auto all =
        json(runCli("ablate --json " + run() + " --what paths --how zero --metric loss"));
    for (const auto& row : all["rows"]) {
        if (row["part"] != "layer 1 attention") continue;
        const auto effect =
            json(runCli("eval --json " + run() + " --edit \"layer 1 attention zero\""));
        EXPECT_NEAR(row["change"].get<double>(), effect["change"]["loss"].get<double>(), 1e-6);
    }
}

TEST(EditCli, AblateAndPatchAreDrawn) {
    if (!std::filesystem::exists(std::string(RELASCOPE_BIN) + "/relascope"))
        GTEST_SKIP() << "the program that draws is not built";
    const TemporaryFolder folder("edit-cli-figures");
    std::filesystem::create_directories(folder.path());
    const auto out = [&](const char* name) { return folder.path() + "/" + name; };
    const auto drawn = runCli("ablate " + run() +
                              " --examples 16 --how zero,mean --cumulative --out " + out("a.svg"));
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    const auto table = slurp(out("a.svg"));
    for (const char* word : {"layer 1 attention", "16 examples", "Parts removed", "run, step 3"})
        EXPECT_NE(table.find(word), std::string::npos) << word;
    const auto maps = runCli(
        "patch " + kLm + " --clean random:1 --corrupt random:2 --estimate --out " + out("p.pdf"));
    EXPECT_EQ(maps.code, 0) << maps.err;
    EXPECT_EQ(slurp(out("p.pdf")).rfind("%PDF", 0), 0u);
    // --json goes to stdout all the same.
    const auto both =
        json(runCli("patch --json " + kLm +
                    " --clean random:1 --corrupt random:2 --estimate --out " + out("p.png")));
    EXPECT_FALSE(both["maps"].empty());
    EXPECT_TRUE(std::filesystem::exists(out("p.png")));
    expectRefused("ablate " + run() + " --out t.gif", 2,
                  "must end in .png, .svg, .pdf, .csv, .tex or .json");
}

TEST(EditCli, PatchGivesExactCellsThatEqualSingleRuns) {
    const std::string inputs = " --clean tokens:5,9,3,7,1,2,8,4 --corrupt tokens:5,9,3,11,1,2,8,4";
    const auto result = json(runCli("patch --json " + kLm + inputs +
                                    " --over resid,heads,relations "
                                    "--metric logit-difference:3,7"));
    const double clean = result["clean"], corrupted = result["corrupted"];
    for (const auto& cell : result["cells"]) {
        EXPECT_TRUE(cell["exact"].is_number()) << cell["map"];
        const bool same =
            cell["map"] == "resid" && std::stoi(cell["column"].get<std::string>()) < 3;
        EXPECT_TRUE(!same || cell["exact"] == 0.0) << "before the first difference";
        // The whole of the changed position's stream in layer 1 is all of the difference.
        if (cell["map"] != "resid" || cell["row"] != "blocks.0" || cell["column"] != "3") continue;
        EXPECT_NEAR(cell["exact"].get<double>(), 1.0, 0.6);
    }
    EXPECT_NE(clean, corrupted);
    // Cells of a relation: a causal triangle, and together they are not the relation alone.
    const auto cells = json(runCli("patch --json " + kLm + inputs +
                                   " --over cells:1:1,relations --metric logit-difference:3,7"));
    ASSERT_EQ(cells["maps"].size(), 2u);
    EXPECT_EQ(cells["maps"][1]["over"], "cells:1:1");
    const auto begin = cells["cells"].size() - 64;
    ASSERT_EQ(cells["cells"][begin]["map"], "cells:1:1");
    double sum = 0.0;
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
            const auto& value = cells["cells"][begin + 8 * i + j]["exact"];
            EXPECT_EQ(value.is_number(), j <= i) << i << ", " << j;
            EXPECT_TRUE(i >= 3 || j > i || value == 0.0) << "before the first difference";
            if (value.is_number()) sum += std::abs(value.get<double>());
        }
    EXPECT_GT(sum, 0.0);
    expectRefused("patch " + kLm + inputs + " --over cells:1", 2, "cells:LAYER:RELATION");
    expectRefused("patch " + kLm + inputs + " --over cells:9:1", 2, "no layer 9");
    const auto estimate = json(runCli("patch --json --estimate " + kLm + inputs + " --over heads"));
    EXPECT_TRUE(estimate["cells"][0]["exact"].is_null());
    EXPECT_TRUE(estimate["cells"][0]["estimate"].is_number());
    expectRefused("patch " + kLm + " --clean tokens:1,2,3 --corrupt tokens:1,2,3", 2,
                  "the same answer");
    expectRefused("patch " + kLm + " --clean tokens:1,2,3 --corrupt tokens:1,2", 2,
                  "different lengths");
    expectRefused("patch " + kLm + inputs + " --metric logit:99", 2, "answer 99 of 61");
}

TEST(EditCli, RefusesByNameWhatDoesNotFit) {
    const std::string inspect = "inspect " + kLm + " --reference 1 --edit ";
    expectRefused(inspect + "\"layer 9 relation 1 zero\"", 2, "there is no layer 9; there are 2");
    expectRefused(inspect + "\"layer 1 relation 9 zero\"", 2, "out of range: there are 4");
    expectRefused(inspect + "\"layer 1 relation 1 zap\"", 2, "did you mean");
    expectRefused(inspect + "missing.json", 1, "missing.json");
    expectRefused("ablate " + kLm, 2, "has no data of its own; give a .npz file with --data");
    expectRefused("ablate " + run() + " --what headz", 2, "did you mean 'heads'");
    expectRefused("eval " + run() + " --edit \"layer 1 relation 1 i 0 j 1 mask\"", 2,
                  "hook_attn_scores only");
    const TemporaryFolder folder("edit-cli-2");
    std::filesystem::create_directories(folder.path());
    std::ofstream(folder.path() + "/e.json")
        << R"({"format": "relascope-edit/1", "edits": [{"op": "zero"}]})";
    expectRefused(inspect + folder.path() + "/e.json", 1, "edits[0].at: is missing");
    // Of several files the one is named, by its own numbers; a long text is cut.
    const auto write = [&](const std::string& name, const std::string& edits) {
        std::ofstream(folder.path() + name)
            << R"({"format": "relascope-edit/1", "edits": [)" << edits << "]}";
        return folder.path() + name;
    };
    const auto good = write("/good.json", R"({"op": "zero", "at": "blocks.0.rel.hook_r"})"),
               bad = write("/bad.json", R"({"op": "zero", "at": "blocks.0.rel.hook_q9"})");
    expectRefused(inspect + good + " --edit " + bad, 1, "bad.json: edits[0].at: ");
    const auto outcome = runCli(inspect + "\"" + std::string(3000, 'x') + "\"");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_LT(outcome.err.size(), 700u) << outcome.err;
    EXPECT_NE(outcome.err.find("xxx..."), std::string::npos) << outcome.err;
    std::ofstream(folder.path() + "/picture.json")
        << R"({"format": "relascope-edit/1", "inputs": {"B": {"image": "none.png"}},
              "edits": [{"op": "patch", "at": "blocks.0.rel.hook_r", "from": "B"}]})";
    expectRefused("inspect " + run() + " --sample 1 --edit " + folder.path() + "/picture.json", 2,
                  "inputs.B.image: ");
    // Tensors of something else are no values.
    std::filesystem::copy(kLm + "/model.safetensors", folder.path() + "/other.safetensors");
    std::ofstream(folder.path() + "/values.json")
        << R"({"format": "relascope-edit/1", "edits": [{"op": "mean", "at": "blocks.0.rel.hook_r",
              "values": {"file": "other.safetensors", "tensor": "edits.0.values"}}]})";
    expectRefused(inspect + folder.path() + "/values.json", 1, "relascope-edit-values/1");
}

TEST(EditCli, TrainTakesEditsAndTheRunIsMeasuredWithThem) {
    const TemporaryFolder folder("edit-cli-train");
    const auto out = folder.path() + "/run";
    const std::string tiny =
        " --threads 1 --set data.train_size=64 --set data.validation_size=48 "
        "--set data.test_size=16 --set train.batch_size=16 --out ";
    const std::string words = "layer 1 relation 1 zero";
    const auto trained = runCli("train quick --steps 3 --edit \"" + words + "\"" + tiny + out);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_NE(trained.err.find("edits in training from here on: " + words), std::string::npos)
        << trained.err;
    const auto validation = [&] {
        nlohmann::json last;
        std::ifstream lines(out + "/metrics.jsonl");
        for (std::string line; std::getline(lines, line);)
            if (const auto point = nlohmann::json::parse(line); point["split"] == "validation")
                last = point;
        return last["loss"].get<double>();
    };
    const std::vector<std::string> all = {words};
    const auto with = runCli("eval --json --split validation " + out);
    EXPECT_EQ(json(with)["edits"], all);
    EXPECT_NEAR(json(with)["loss"].get<double>(), validation(), 1e-5);
    EXPECT_NE(with.err.find("with the edits of its training: " + words), std::string::npos);
    const auto without = runCli("eval --json --split validation --edit none " + out);
    EXPECT_FALSE(json(without).contains("edits"));
    EXPECT_NE(without.err.find("without the edits of its training"), std::string::npos);
    EXPECT_NE(json(without)["loss"], json(with)["loss"]);
    // Others are measured against the run's own, or against the bare weights.
    const std::string more = " --edit \"layer 2 attention zero\"";
    const auto effect = json(runCli("eval --json " + out + more));
    EXPECT_NEAR(effect["base"]["loss"].get<double>(), json(with)["loss"].get<double>(), 1e-5);
    EXPECT_EQ(effect["training_edits"], all);
    const auto bare = json(runCli("eval --json " + out + " --edit none" + more));
    EXPECT_NEAR(bare["base"]["loss"].get<double>(), json(without)["loss"].get<double>(), 1e-5);
    EXPECT_EQ(json(runCli("info --json " + out))["edits"], all);

    const std::string inspect = "inspect --json --layer 1 --kind relation --index 1 " + out;
    const auto shown = json(runCli(inspect));
    EXPECT_EQ(shown["training_edits"], all);
    EXPECT_EQ(shown["values"][1], 0.0);
    EXPECT_NE(json(runCli(inspect + " --edit none"))["values"][1], 0.0);
    EXPECT_EQ(json(runCli(inspect + " --step 2 --edit none")).contains("training_edits"), false);
    EXPECT_EQ(json(runCli(inspect + " --step 2"))["training_edits"], all);
    for (const std::string& command :
         {"ablate " + out + " --what relations --how zero --examples 8",
          "attribute " + out + " --sample 0 --logit 0", "lens " + out + " --sample 0",
          "patch " + out + " --clean sample:0 --corrupt sample:1"}) {
        const auto outcome = runCli(command);
        EXPECT_EQ(outcome.code, 0) << command << outcome.err;
        EXPECT_NE(outcome.err.find("with the edits of its training"), std::string::npos) << command;
    }

    const auto resumed = runCli("train --resume " + out + " --steps 5 --edit none");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("no edits in training from here on"), std::string::npos);
    EXPECT_FALSE(json(runCli("eval --json " + out)).contains("edits"));
    EXPECT_EQ(json(runCli("eval --json --step 3 " + out)).contains("edits"), false);
    EXPECT_EQ(json(runCli("eval --json --step 2 " + out))["edits"], all);
    expectRefused("train --resume " + out + more, 2, "the run is at step 5 of 5");

    const auto none = folder.path() + "/none";
    expectRefused("train quick --steps 3 --edit \"layer 9 relation 1 zero\"" + tiny + none, 2,
                  "there is no layer 9");
    expectRefused("train quick --steps 3 --edit \"layer 1 relation 1 clean\"" + tiny + none, 2,
                  "clean is for single inputs, not for training");
    EXPECT_FALSE(std::filesystem::exists(none));
}

TEST(EditCli, VerifiesCasesOfEdits) {
    const auto folder = kGolden + "interventions/remove_relation";
    EXPECT_EQ(runCli("verify " + folder).code, 0);
    EXPECT_EQ(runCli("verify --models " + kGolden + " " + folder).code, 0);
    EXPECT_EQ(runCli("verify --models /nowhere " + folder).code, 1);
}

}  // namespace
}  // namespace relascope
