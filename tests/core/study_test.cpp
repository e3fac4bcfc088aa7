// SPDX-License-Identifier: GPL-3.0-or-later
// Studies: cells, claims, going on, results.
#include "study/work_on_study.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "files/atomic_file.h"
#include "run/run_folder.h"
#include "study/study_results.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

StudyPlan tinyPlan() {
    StudyPlan plan;
    plan.preset = "pairwise-order";
    plan.models = {"mlp", "corelnet"};
    plan.sizes = {64, 128};
    plan.seeds = {0, 1};
    plan.settings = {{"data.dim", "4"},
                     {"train.epochs", "2"},
                     {"train.batch_size", "32"},
                     {"train.early_stopping.metric", "none"},
                     {"model.d_model", "8"}};
    return plan;
}

DataSplits openTiny(const RunOptions& options, std::stop_token) {
    DataSplits splits = tinyPairs();
    splits.train = std::make_shared<Larger>(options.data.train_size,
                                            static_cast<std::uint64_t>(options.data.seed) + 10);
    return splits;
}

void work(const std::string& path, const StudyWork& how = {}, std::stop_token stop = {}) {
    workOnStudy(
        path, how, openTiny, [](const StudyProgress&, const TrainEvent&) {}, std::move(stop));
}

TEST(Study, HasACellForEveryCombination) {
    auto plan = tinyPlan();
    plan.vary = {{"model.hidden_layers", {"[8]", "[16,16]"}}, {"train.learning_rate", {"0.01"}}};
    const auto cells = studyCells(plan);
    EXPECT_EQ(cells.size(), 2u * 2 * 2 * 2);
    std::set<std::string> names;
    for (const auto& cell : cells) names.insert(cell.name);
    EXPECT_EQ(names.size(), cells.size());
    const auto options = cellOptions(plan, cells.front());
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(options.model.value("hidden_layers")),
              std::vector<std::int64_t>{8});
    EXPECT_EQ(options.model.number("object_dim"), 4);  // follows data.dim
    EXPECT_EQ(options.data.train_size, 64);
    EXPECT_EQ(options.train.epochs, 2);
    auto other = cells.front();
    other.seed = 1;
    EXPECT_EQ(cellOptions(plan, other).data.seed, 1);
    plan.sameData = true;
    EXPECT_EQ(cellOptions(plan, other).data.seed, 0);
}

TEST(Study, RefusesPlansThatCannotRun) {
    TemporaryFolder home("bad-plans");
    const auto refuses = [&](auto change) {
        auto plan = tinyPlan();
        change(plan);
        EXPECT_THROW(createStudy(home / "study", plan), OptionError);
        EXPECT_FALSE(fs::exists(home / "study"));
    };
    refuses([](StudyPlan& p) { p.models = {"mpl"}; });
    refuses([](StudyPlan& p) { p.models.clear(); });
    refuses([](StudyPlan& p) { p.seeds.clear(); });
    refuses([](StudyPlan& p) { p.vary = {{"model.nothing", {"1"}}}; });
    refuses([](StudyPlan& p) { p.vary = {{"model.hidden", {}}}; });
    refuses([](StudyPlan& p) { p.vary = {{"model.hidden", {"a lot"}}}; });
    refuses([](StudyPlan& p) { p.seeds = {1, 1}; });
    refuses([](StudyPlan& p) { p.preset = "pairwise"; });
    // Its runs would fail one by one.
    refuses([](StudyPlan& p) { p.settings.emplace_back("train.init_from", "run"); });
    refuses([](StudyPlan& p) { p.vary = {{"train.init_from", {"run", "other"}}}; });
}

TEST(Study, KeepsItsPlanAndRefusesAnother) {
    TemporaryFolder home("plans");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    createStudy(path, tinyPlan());  // the same once more is going on with it
    EXPECT_EQ(readStudy(path).plan, tinyPlan());
    EXPECT_EQ(readStudy(path).count(CellState::Waiting), 8u);
    auto other = tinyPlan();
    other.models = {"corelnet"};
    try {
        createStudy(path, other);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("its models are mlp, corelnet, not corelnet"),
                  std::string::npos)
            << error.what();
    }
    std::string text = readTextFile(path + "/study.json");
    text.replace(text.find("\"format\": 1"), 11, "\"format\": 9");
    writeTextFile(path + "/study.json", text);
    EXPECT_THROW(readStudy(path), FileError);
    writeTextFile(path + "/study.json", "{");
    EXPECT_THROW(readStudy(path), FileError);
    EXPECT_THROW(readStudy(home / "nothing"), FileError);
    fs::create_directories(home / "full");
    writeTextFile(home / "full/file", "x");
    EXPECT_THROW(createStudy(home / "full", tinyPlan()), FileError);
}

TEST(Study, RunsEveryCellOnceAndSumsThemUp) {
    TemporaryFolder home("sums");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    work(path);
    const auto study = readStudy(path);
    EXPECT_EQ(study.count(CellState::Done), 8u);
    const auto measures = studyMeasures(study);
    ASSERT_FALSE(measures.empty());
    EXPECT_EQ(measures.front(), (StudyMeasure{"accuracy", "test"}));
    const auto points = studyPoints(study, measures.front());
    ASSERT_EQ(points.size(), 4u);
    for (const auto& p : points) {
        ASSERT_EQ(p.values.size(), 2u);
        EXPECT_NEAR(p.mean, (p.values[0] + p.values[1]) / 2, 1e-12);
        EXPECT_NEAR(p.error, std::abs(p.values[0] - p.values[1]) / 2, 1e-12);
        EXPECT_GE(p.mean, p.low);
        EXPECT_LE(p.mean, p.high);
        EXPECT_GT(p.parameters, 0);
    }
    const auto csv = studyCsv(study, measures.front());
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
    EXPECT_NE(studyLatex(study, measures.front()).find("\\pm"), std::string::npos);
    // Working on it once more changes nothing.
    const auto before = readTextFile(path + "/runs/mlp-n64-s0/run.json");
    work(path);
    EXPECT_EQ(readTextFile(path + "/runs/mlp-n64-s0/run.json"), before);
    EXPECT_EQ(listStudies(home.path()), std::vector<std::string>{path});
}

// Pairs whose labels say nothing of them.
class Noise : public Larger {
public:
    using Larger::Larger;
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        Larger::read(index, objects, targets);
        targets[0] = static_cast<float>(
            (static_cast<std::uint64_t>(index) + info().size) * 0x9e3779b97f4a7c15ULL >> 63);
    }
};

TEST(Study, NoiseIsChanceUnlessTheBestIsAskedFor) {
    for (const bool restores : {false, true}) {
        SCOPED_TRACE(restores);
        TemporaryFolder home("noise");
        const std::string path = home / "study";
        auto plan = tinyPlan();
        plan.models = {"corelnet"}, plan.sizes = {64}, plan.seeds = {0, 1, 2, 3, 4, 5};
        plan.settings.emplace_back("train.evaluate_every", "1");
        plan.settings.emplace_back("train.steps", "24");
        plan.settings.emplace_back("train.learning_rate", "0.02");
        plan.settings.emplace_back("train.early_stopping.restore_best",
                                   restores ? "true" : "false");
        plan.settings.emplace_back("train.early_stopping.min_delta", "0");
        createStudy(path, plan);
        workOnStudy(
            path, {},
            [](const RunOptions& o, std::stop_token) {
                const auto seed = static_cast<std::uint64_t>(o.data.seed);
                DataSplits splits;
                splits.train = std::make_shared<Noise>(64 + o.data.seed, seed + 10);
                splits.validation = std::make_shared<Noise>(100 + o.data.seed, seed + 20);
                return splits;
            },
            [](const StudyProgress&, const TrainEvent&) {}, {});
        const auto study = readStudy(path);
        const auto measures = studyMeasures(study);
        ASSERT_EQ(measures.size(), restores ? 3u : 2u);
        const auto first = studyPoints(study, measures.front()).at(0);
        EXPECT_LT(first.low, 0.5);
        EXPECT_GT(first.high, 0.5);
        EXPECT_EQ(splitTitle(study, measures.front()),
                  restores ? "validation, last weights" : "validation");
        const auto best = studyPoints(study, measures.back()).at(0);
        EXPECT_EQ(splitTitle(study, measures.back()), "validation, best of 24 evaluations");
        EXPECT_GT(best.low, 0.5) << "what is chosen among many is better than chance";
        EXPECT_GT(best.mean, first.mean);
        if (!restores) continue;
        EXPECT_EQ(splitTitle(study, measures[1]), "validation, which chose the weights");
        EXPECT_EQ(studyPoints(study, measures[1]).at(0).values, best.values);
    }
}

// What is called a 95 % interval holds the true mean so often, with as few seeds as there are.
TEST(Study, BandsHoldTheTrueMeanAsOftenAsTheySay) {
    std::mt19937_64 random(1);
    for (const int seeds : {2, 3, 5, 10}) {
        int held = 0;
        constexpr int kStudies = 4000;
        for (int k = 0; k < kStudies; ++k) {
            StudyInfo study;
            // Each run has an accuracy of its own, measured on 1,000 examples.
            for (int seed = 0; seed < seeds; ++seed) {
                StudyCell cell;
                cell.state = CellState::Done;
                const double own = std::normal_distribution<double>(0.8, 0.02)(random);
                const auto right = std::binomial_distribution<int>(1000, own)(random);
                cell.info.results = {{"test", 1000, {{"accuracy", right / 1000.0}}}};
                study.cells.push_back(cell);
            }
            const auto point = studyPoints(study, {"accuracy", "test"}).at(0);
            held += point.low <= 0.8 && 0.8 <= point.high;
        }
        EXPECT_GE(held, 0.93 * kStudies) << seeds;
        EXPECT_LE(held, 0.97 * kStudies) << seeds;
    }
    StudyInfo one;
    one.cells.resize(1);
    one.cells[0].state = CellState::Done;
    one.cells[0].info.results = {{"test", 1000, {{"accuracy", 0.8}}}};
    const auto point = studyPoints(one, {"accuracy", "test"}).at(0);
    EXPECT_EQ(point.mean, 0.8);
    EXPECT_TRUE(std::isnan(point.low)) << "one seed has no band";
    one.cells.push_back(one.cells[0]);
    one.cells[1].info.results = {{"test", 1000, {{"accuracy", 0.81}}}};
    const auto two = studyPoints(one, {"accuracy", "test"}).at(0);
    EXPECT_NEAR(two.high - two.mean, 12.706 * two.error, 1e-12);
    one.cells[1].info.results = {{"test", 1000, {{"accuracy", 0.9}}}};
    EXPECT_EQ(studyPoints(one, {"accuracy", "test"}).at(0).high, 1.0);
}

TEST(Study, ShardsShareTheCells) {
    TemporaryFolder home("shards");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    work(path, {1, 3});
    EXPECT_EQ(readStudy(path).count(CellState::Done), 3u);
    work(path, {2, 3});
    work(path, {3, 3});
    EXPECT_EQ(readStudy(path).count(CellState::Done), 8u);
}

TEST(Study, AFailedCellIsShownAndMayBeTriedAgain) {
    TemporaryFolder home("failed");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    bool broken = true;
    const DataOpener opener = [&](const RunOptions& options, std::stop_token stop) {
        if (broken && options.variant == "mlp") throw Error("the data are gone");
        return openTiny(options, std::move(stop));
    };
    const StudySink nobody = [](const StudyProgress&, const TrainEvent&) {};
    workOnStudy(path, {}, opener, nobody, {});
    auto study = readStudy(path);
    EXPECT_EQ(study.count(CellState::Failed), 4u);
    EXPECT_EQ(study.count(CellState::Done), 4u);
    EXPECT_EQ(study.cells.front().message, "the data are gone");
    broken = false;
    workOnStudy(path, {}, opener, nobody, {});
    EXPECT_EQ(readStudy(path).count(CellState::Failed), 4u);
    StudyWork retry;
    retry.retry = true;
    workOnStudy(path, retry, opener, nobody, {});
    EXPECT_EQ(readStudy(path).count(CellState::Done), 8u);
    EXPECT_TRUE(fs::exists(path + "/runs/mlp-n64-s0.failed-1"));  // nothing is thrown away
}

TEST(Study, ARunKilledBeforeItsFirstWordIsBegunAgain) {
    TemporaryFolder home("killed");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    const std::string killed = path + "/runs/mlp-n64-s0", foreign = path + "/runs/mlp-n64-s1";
    for (const auto& run : {killed, foreign}) {
        fs::create_directories(run + "/checkpoints");
        std::ofstream(run + "/.lock") << "\n";
    }
    std::ofstream(foreign + "/notes.txt") << "mine\n";
    workOnStudy(path, {}, openTiny, [](const StudyProgress&, const TrainEvent&) {}, {});
    EXPECT_EQ(readStudy(path).count(CellState::Done), 8u);
    EXPECT_FALSE(fs::exists(killed + ".failed-1")) << "nothing was in it";
    EXPECT_TRUE(fs::exists(foreign + ".failed-1/notes.txt")) << "nothing is thrown away";
}

TEST(Study, StopsAfterSavingAndGoesOn) {
    TemporaryFolder home("stops");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    std::stop_source stop;
    int points = 0;
    EXPECT_THROW(workOnStudy(
                     path, {}, openTiny,
                     [&](const StudyProgress&, const TrainEvent& event) {
                         if (std::holds_alternative<MetricPoint>(event) && ++points == 5)
                             stop.request_stop();
                     },
                     stop.get_token()),
                 Cancelled);
    EXPECT_LT(readStudy(path).count(CellState::Done), 8u);
    work(path);
    EXPECT_EQ(readStudy(path).count(CellState::Done), 8u);
}

TEST(Study, TwoWorkersNeverShareACell) {
    TemporaryFolder home("two");
    const std::string path = home / "study";
    createStudy(path, tinyPlan());
    // A cell claimed by somebody else is left alone; another process is simulated by another file
    // description, which is what flock tells apart.
    fs::create_directories(path + "/claims");
    {
        auto held = RunFolder::create(path + "/runs/mlp-n64-s0",
                                      cellOptions(tinyPlan(), studyCells(tinyPlan()).front()));
        held.info().state = RunState::Running;
        held.saveInfo();
        work(path);
        const auto study = readStudy(path);
        EXPECT_EQ(study.count(CellState::Done), 7u);
        EXPECT_EQ(study.cells.front().state, CellState::Running);
    }
    work(path);
    EXPECT_EQ(readStudy(path).count(CellState::Done), 8u);
}

TEST(Study, SizeToReachALevelLiesBetweenTwoSizes) {
    std::vector<StudyPoint> points(3);
    const double means[] = {0.5, 0.7, 0.9};
    for (std::size_t i = 0; i < 3; ++i)
        points[i].series = "a", points[i].size = 100 * static_cast<std::int64_t>(i + 1),
        points[i].mean = means[i];
    EXPECT_NEAR(sizeToReach(points, "a", 0.8), 250.0, 1e-9);
    EXPECT_NEAR(sizeToReach(points, "a", 0.4), 100.0, 1e-9);
    EXPECT_TRUE(std::isnan(sizeToReach(points, "a", 0.95)));
    EXPECT_TRUE(std::isnan(sizeToReach(points, "b", 0.5)));
}

TEST(Study, PublishedCurvesStandBeside) {
    StudyPlan plan;
    plan.preset = "sort-argsort";
    plan.models = {"abstractor", "transformer"};
    const auto curves = publishedCurves(plan, {"sequence_accuracy", "test"});
    EXPECT_EQ(curves.size(), 60u);
    plan.models = {"abstractor"};
    for (const auto& p : publishedCurves(plan, {"accuracy", "test"})) {
        EXPECT_EQ(p.series, "abstractor");
        if (p.size == 100) {
            EXPECT_DOUBLE_EQ(p.mean, 0.49775);
        }
    }
    plan.preset = "relational-games-occurs";
    plan.models = {"dat", "transformer"};
    EXPECT_EQ(publishedCurves(plan, {"accuracy", "pentos"}).size(), 20u);
    EXPECT_TRUE(publishedCurves(plan, {"loss", "pentos"}).empty());
    const auto own = referenceCurves(plan, {"accuracy", "pentos"});
    EXPECT_FALSE(own.empty()) << "resources/reference";
    for (const auto& p : own) {
        EXPECT_EQ(p.source, CurveSource::Relascope);
        EXPECT_GT(p.mean, 0.4);
        EXPECT_LE(p.mean, 1.0);
    }
    plan.vary = {{"model.dff", {"8", "16"}}};
    EXPECT_TRUE(publishedCurves(plan, {"accuracy", "pentos"}).empty());
}

TEST(Study, ADeviceThatIsNoneIsRefusedBeforeAnyRun) {
    TemporaryFolder home("study-device");
    StudyPlan plan{.preset = "pairwise-order", .models = {"mlp"}};
    createStudy(home / "s", plan);
    StudyWork work;
    work.device = "cuda:0,cuda:0";
    EXPECT_THROW(
        workOnStudy(
            home / "s", work, [](const RunOptions&, std::stop_token) { return DataSplits(); },
            [](const StudyProgress&, const TrainEvent&) {}, {}),
        OptionError);
    EXPECT_EQ(readStudy(home / "s").count(CellState::Waiting), 1u);
}

}  // namespace
}  // namespace relascope
