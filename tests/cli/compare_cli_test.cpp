// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli compare: the tables of the page Compare, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "options/presets.h"
#include "options/published.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

class CompareCli : public ::testing::Test {
protected:
    TemporaryFolder folder{"compare-cli"};

    std::string add(const std::string& name, const std::string& preset, double accuracy,
                    bool tested = false) {
        const auto path = folder.path() + "/" + name;
        const auto options = core::presetOptions(preset);
        auto run = core::RunFolder::create(path, options);
        run.info().state = RunState::Done;
        run.info().parameters = 123456;
        run.info().kept = {100, {{"loss", 0.5}, {"accuracy", accuracy}}};
        if (tested)
            for (const auto& result : core::publishedResults(options))
                run.info().results.push_back(
                    {result.split, 100, {{"loss", 0.1}, {"accuracy", result.accuracy - 0.02}}});
        run.saveInfo();
        return path;
    }
    static std::vector<std::string> names(const Outcome& o) {
        std::vector<std::string> all;
        const auto answer = json(o);
        for (const auto& row : answer.at("runs")) all.push_back(row.at("run"));
        return all;
    }
    static std::string quoted(const std::string& path) { return " '" + path + "'"; }
};

TEST_F(CompareCli, ListsTheRunsOfAFolderTheBestFirst) {
    add("a", "relational-games-between", 0.6);
    add("b", "relational-games-between", 0.9, true);
    add("group/seed-3", "relational-games-same", 0.7);
    core::writeTextFile(folder.path() + "/notes.json",
                        R"({"runs": {"b": "the \"best\", so far", "group/seed-3": 7}})");
    const auto all = runCli("compare --json" + quoted(folder.path()));
    ASSERT_EQ(all.code, 0) << all.err;
    using Names = std::vector<std::string>;
    EXPECT_EQ(names(all), (Names{"b", "group · seed-3", "a"}));
    const auto best = json(all)["runs"][0];
    EXPECT_EQ(best["parameters"], 123456);
    EXPECT_EQ(best["validation"], 0.9);
    EXPECT_EQ(best["note"], "the \"best\", so far");
    EXPECT_NEAR(best["difference"], -0.02, 1e-12) << "on the split that was published";
    EXPECT_NEAR(json(all)["runs"][2]["difference"], 0.6 - double(json(all)["runs"][2]["published"]),
                1e-12)
        << "before the test on validation";
    EXPECT_EQ(json(all)["runs"][1]["note"], "");
    // Runs by name keep their order, each once.
    EXPECT_EQ(names(runCli("compare --json" + quoted(folder / "a") + quoted(folder.path() + "/") +
                           quoted(folder / "b"))),
              (Names{"a", "b", "group · seed-3"}));
    EXPECT_EQ(names(runCli("compare --json" + quoted(folder.path()) + " --reference" +
                           quoted(folder / "a"))),
              (Names{"a", "b", "group · seed-3"}));

    const auto words = runCli("compare" + quoted(folder.path()) + " --columns run,validation");
    EXPECT_EQ(words.out,
              "Run             Val. acc.\nb                  90.0 %\ngroup · seed-3     70.0 "
              "%\na                  60.0 %\n");
}

TEST_F(CompareCli, WritesTheBytesOfTheFunctionThatThePageUses) {
    std::vector<ComparedRun> runs;
    for (const auto& [name, accuracy] : {std::pair("a", 0.9), std::pair("b", 0.8)}) {
        const auto info =
            core::readRunInfo(add(name, "relational-games-between", accuracy, accuracy > 0.85));
        runs.push_back(core::comparedRun(info, core::publishedResults(info)));
    }
    const auto out = folder / "out.csv";
    ASSERT_EQ(runCli("compare" + quoted(folder.path()) + " --out" + quoted(out)).code, 0);
    EXPECT_EQ(slurp(out), core::csvOf(core::runsTable(runs, core::usualRunColumns(runs))));
    ASSERT_EQ(
        runCli("compare" + quoted(folder.path()) + " --differences --all --out" + quoted(out)).code,
        0);
    EXPECT_EQ(slurp(out), core::csvOf(core::optionsAnswer({runs[0].info, runs[1].info}, true)));
}

TEST_F(CompareCli, NamesTheOptionsThatDiffer) {
    const auto a = add("a", "relational-games-between", 0.6),
               b = add("b", "relational-games-same", 0.9);
    const auto found = json(runCli("compare --differences --json" + quoted(a) + quoted(b)));
    EXPECT_EQ(found["differing"], found["options"].size());
    EXPECT_GT(found["fields"], found["differing"]);
    bool task = false;
    for (const auto& row : found["options"])
        if (row["field"] == "data.task") task = row["a"] == "between" && row["b"] == "same";
    EXPECT_TRUE(task) << found.dump(2);
    const auto turned = json(runCli("compare --differences --json" + quoted(a) + quoted(b) +
                                    " --reference" + quoted(b)));
    EXPECT_EQ(std::next(turned["options"][0].begin()).key(), "b") << "nlohmann::json sorts keys";
}

TEST_F(CompareCli, RefusesInASentence) {
    const auto a = add("a", "relational-games-between", 0.6);
    expectRefused("compare", 2, "runs is required");
    expectRefused("compare" + quoted(folder / "none"), 1, "does not exist");
    fs::create_directories(folder / "empty");
    expectRefused("compare" + quoted(folder / "empty"), 1, "has no run; name a run folder");
    core::writeTextFile(folder / "file", "x");
    expectRefused("compare" + quoted(folder / "file"), 1, "has no run");
    expectRefused("compare --differences" + quoted(a), 2, "needs two runs");
    expectRefused("compare --all" + quoted(a), 2, "--differences");
    expectRefused("compare --columns run,modle" + quoted(a), 2, "model");
    expectRefused("compare --out x.svg" + quoted(a), 2, "must end in .csv");
    expectRefused("compare --reference" + quoted(folder / "empty") + quoted(a), 2,
                  "is no run folder");
    EXPECT_EQ(runCli("compare --differences --all" + quoted(a)).code, 0) << "all of one run";

    // A damaged run of a folder is left out and named; by itself it is refused.
    core::writeTextFile(add("damaged", "relational-games-same", 0.5) + "/run.json", "{\"seed\": ");
    const auto rest = runCli("compare --json" + quoted(folder.path()));
    EXPECT_EQ(names(rest), std::vector<std::string>{"a"});
    EXPECT_NE(rest.err.find("left out: "), std::string::npos) << rest.err;
    EXPECT_NE(rest.err.find("damaged/run.json"), std::string::npos) << rest.err;
    expectRefused("compare" + quoted(folder / "damaged"), 1, "run.json");
}

TEST_F(CompareCli, RunsOfOtherMetricsAndEqualNamesStandSideBySide) {
    const auto one = [&](const std::string& where, const std::string& metric, double value) {
        RunInfo info;
        info.path = folder.path() + "/" + where + "/x";
        info.metric = metric;
        info.kept = {1, {{metric, value}}};
        info.options = {{"a", where}};
        return ComparedRun{info};
    };
    std::vector<ComparedRun> runs = {one("p", "mean_error", 0.5), one("q", "accuracy", 0.2),
                                     one("r", "mean_error", 0.1)};
    runs.push_back(one("s", "accuracy", 0.9));
    const auto table = core::runsTable(runs, {"run", "validation"});
    EXPECT_EQ(table.column("metric").title, "Metric") << "each row says which";
    EXPECT_FALSE(table.column("validation").format.percent);
    core::sortBestFirst(runs);
    EXPECT_EQ(runs[0].info.metric, runs[1].info.metric) << "those of one metric stand together";
    const auto options = core::optionsAnswer({runs[0].info, runs[1].info}, false);
    EXPECT_EQ(options.table("options").columns[1].key, runs[0].info.path) << "x is both names";
    EXPECT_THROW(core::runsTable(runs, {"x"}), OptionError);
}

TEST_F(CompareCli, ListsTheCellsOfAStudyToo) {
    add("study/runs/dat-32-s0", "relational-games-same", 0.5);
    add("study/runs/dat-32-s1", "relational-games-same", 0.6);
    core::writeTextFile(folder / "study/study.json", "{}");
    EXPECT_EQ(names(runCli("compare --json" + quoted(folder / "study"))),
              (std::vector<std::string>{"dat-32-s1", "dat-32-s0"}));
}

TEST_F(CompareCli, PrintsTheCurvesOfValidation) {
    const auto a = add("a", "relational-games-between", 0.6);
    const auto b = add("b", "relational-games-between", 0.9);
    const auto write = [](const std::string& run, std::vector<MetricPoint> points) {
        std::string lines;
        for (const auto& point : points) lines += core::metricToLine(point) + "\n";
        core::writeTextFile(run + "/metrics.jsonl", lines);
    };
    write(a, {{10, 0.5, 100, 2.0, Split::Train, {{"loss", 0.9}}},
              {20, 1.0, 200, 4.0, Split::Validation, {{"loss", 0.7}, {"accuracy", 0.6}}}});
    write(b, {{30, 1.5, 300, 6.0, Split::Validation, {{"loss", 0.5}}}});
    const auto found = json(runCli("curves --json" + quoted(a) + quoted(b)));
    ASSERT_EQ(found["curves"].size(), 2U) << found;
    EXPECT_EQ(found["curves"][0]["run"], "a");
    EXPECT_EQ(found["curves"][0]["step"], 20);
    EXPECT_EQ(found["curves"][0]["accuracy"], 0.6);
    EXPECT_EQ(found["curves"][1]["seconds"], 6.0);
    EXPECT_TRUE(found["curves"][1]["accuracy"].is_null());
    const auto printed = runCli("curves" + quoted(a)).out;
    EXPECT_NE(printed.find("60.0 %"), std::string::npos) << printed;
    expectRefused("curves", 2, "runs is required");
    expectRefused("curves" + quoted(folder / "none"), 1, "none");
    expectRefused("curves" + quoted(a) + " --out x.txt", 2, ".csv");
}

}  // namespace
}  // namespace relascope
