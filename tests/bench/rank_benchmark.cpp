// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>
#include <torch/utils.h>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/benchmark.h"
#include "bench/benchmark_parts.h"
#include "bench/rank_benchmark.h"
#include "evaluate/scoring.h"
#include "files/program_folder.h"
#include "options/options_json.h"
#include "ranks/child_ranks.h"
#include "ranks/gradient_buckets.h"
#include "ranks/rank_group.h"
#include "train/devices.h"
#include "train/optimizer.h"
#include "train/rank_job.h"
#include "train/rank_run.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;
using SteadyClock = std::chrono::steady_clock;

double milliseconds(SteadyClock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

// A model with a random text for each example, and its optimizer.
struct Subject {
    Subject(const RankSteps& work, std::int64_t examples) {
        torch::manual_seed(0);
        model = makeModel(work.model);
        model->train();
        TrainOptions train;
        train.optimizer = "adamw";
        optimizer = std::make_unique<Optimizer>(*model, train);
        tokens = torch::randint(work.model.outputs(), {examples, work.tokens}, torch::kLong);
    }
    void backward(double weight) {
        (crossEntropy(model->forward(tokens), tokens) * weight).backward();
    }
    ModelPtr model;
    std::unique_ptr<Optimizer> optimizer;
    torch::Tensor tokens;
};

struct Times {
    std::vector<double> steps;
    double waited = 0.0;  ///< milliseconds a step
};

Times timed(Subject& subject, GradientBuckets& buckets, double weight, bool overlap, int steps) {
    buckets.setOverlap(overlap);
    Times times;
    const double before = buckets.secondsWaited();
    for (int i = 0; i < steps; ++i) {
        const auto begin = SteadyClock::now();
        buckets.zero();
        buckets.beginPass(true);
        subject.backward(weight);
        buckets.finish();
        subject.optimizer->clipGradNorm();
        subject.optimizer->step(1e-4);
        times.steps.push_back(milliseconds(SteadyClock::now() - begin));
    }
    times.waited = (buckets.secondsWaited() - before) * 1e3 / std::max(1, steps);
    return times;
}

// Times the steps. Called on every rank; the figures are those of rank 0.
void runSteps(RankGroup& ranks, const RankSteps& work, BenchmarkResult& result) {
    const auto share = shareOf(work.batch, ranks.rank(), ranks.size());
    Subject subject(work, share.last - share.first);
    GradientBuckets buckets(subject.optimizer->parameters(), ranks,
                            GradientBuckets::usualSizes(torch::kCPU));
    const double weight =
        static_cast<double>(share.last - share.first) / static_cast<double>(work.batch);
    timed(subject, buckets, weight, true, 3);  // the first plans the buckets
    Times beside, apart;
    for (int turn = 0; turn < 2; ++turn)  // in turns: the machine may change meanwhile
        for (const bool overlap : {true, false}) {
            const auto times = timed(subject, buckets, weight, overlap, (work.steps + 1) / 2);
            auto& all = overlap ? beside : apart;
            all.steps.insert(all.steps.end(), times.steps.begin(), times.steps.end());
            all.waited += times.waited / 2.0;
        }
    const double share2 = 2.0 * (ranks.size() - 1) / ranks.size();  // of a sum around a ring
    result.steps = static_cast<int>(beside.steps.size());
    result.trainStepMs = medianOf(beside.steps);
    result.trainStepBestMs = *std::min_element(beside.steps.begin(), beside.steps.end());
    result.figures.emplace_back("ranks_2_ms", result.trainStepMs);
    result.figures.emplace_back("ranks_2_apart_ms", medianOf(apart.steps));
    result.figures.emplace_back("moved_mb", static_cast<double>(buckets.bytes()) * share2 / 1e6);
    result.figures.emplace_back("buckets", static_cast<double>(buckets.bucketCount()));
    result.figures.emplace_back("waited_ms", beside.waited);
    result.figures.emplace_back("waited_apart_ms", apart.waited);
    result.figures.emplace_back("hidden", 1.0 - beside.waited / apart.waited);
    ranks.any(false);  // so that none closes before the other has read all
}

}  // namespace

void measureRanks(const RankSteps& work, BenchmarkResult& result) {
    const int threads = std::max(1, threadCount() / 2), before = at::get_num_threads();
    at::set_num_threads(threads);
    try {
        {
            Subject alone(work, work.batch);
            const auto times = timesOf(0.0, torch::kCPU, [&] {
                alone.optimizer->zeroGradients();
                alone.backward(1.0);
                alone.optimizer->clipGradNorm();
                alone.optimizer->step(1e-4);
            });
            result.figures.emplace_back("one_process_ms", medianOf(times));
        }
        RankPlace place;
        place.size = 2;
        place.key = randomKey();
        listenAt(place);
        ChildRanks children(place, {"cpu", "cpu"}, threads, programFile().string());
        RankGroup ranks(place, "cpu", [&](int rank) { return children.endOf(rank); });
        RunOptions options;
        options.model = work.model;
        ranks.broadcast(Json({{"options", runOptionsToJson(options)},
                              {"batch", work.batch},
                              {"tokens", work.tokens},
                              {"steps", work.steps}})
                            .dump());
        runSteps(ranks, work, result);
    } catch (...) {
        at::set_num_threads(before);
        throw;
    }
    at::set_num_threads(before);
}

int followRankBenchmark(const std::string& device, int threads) {
    const auto place = launchedPlace(processEnvironment(), "");
    if (!place || place->rank == 0)
        throw OptionError("rank", "is started by the benchmark ranks alone; name that");
    followParent();
    initDevices(threads);
    const auto ranks = joinRanks(*place, device);
    const auto json = Json::parse(ranks->broadcast(""));
    BenchmarkResult unused;
    runSteps(*ranks,
             {runOptionsFromJson(json.at("options")).model, json.at("batch"), json.at("tokens"),
              json.at("steps")},
             unused);
    return 0;
}

}  // namespace relascope::core
