// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-bench: measures this program on this machine. Options and figures:
// resources/docs/benchmarks.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/benchmark.h"
#include "train/devices.h"
#include "types/error.h"

namespace relascope::core {
namespace {

struct BenchArguments {
    std::vector<std::string> names;
    std::string device = "cpu";
    double seconds = 8.0;
    int threads = 0;
    bool bfloat16 = false, json = false;
    std::string trace;
};

void printBenchmark(const BenchmarkResult& r) {
    std::printf("%-20s", r.name.c_str());
    if (r.steps > 0)
        std::printf(" step %8.1f ms (best %.1f, %d steps), forward %.1f ms,", r.trainStepMs,
                    r.trainStepBestMs, r.steps, r.forwardMs);
    for (const auto& [key, value] : r.figures) std::printf(" %s %.4g,", key.c_str(), value);
    std::printf(" %lld parameters, %s relations, %.0f MB on %s\n",
                static_cast<long long>(r.parameters), r.form.c_str(), r.peakRssMb,
                r.device.c_str());
    std::fflush(stdout);  // a later benchmark may fail
}

nlohmann::ordered_json jsonOf(const BenchmarkResult& r) {
    nlohmann::ordered_json line = {
        {"peak_rss_mb", r.peakRssMb}, {"parameters", r.parameters}, {"form", r.form},
        {"device", r.device},         {"threads", threadCount()},   {"steps", r.steps}};
    if (r.steps > 0) {
        line["train_step_ms"] = r.trainStepMs;
        line["train_step_best_ms"] = r.trainStepBestMs;
        line["forward_ms"] = r.forwardMs;
    }
    for (const auto& [key, value] : r.figures) line[key] = value;
    return line;
}

void runBenchmarks(const BenchArguments& a) {
    const auto device = resolveDevice(a.device);
    auto all = nlohmann::ordered_json::object();
    for (const auto& name : a.names.empty() ? benchmarkNames() : a.names) {
        const auto result = runBenchmark(name, device, {a.seconds, a.bfloat16, a.trace});
        if (a.json)
            all[name] = jsonOf(result);
        else
            printBenchmark(result);
    }
    if (a.json) std::printf("%s\n", all.dump(2).c_str());
}

int benchMain(int argc, char** argv) {
    CLI::App app("Measures Relascope on this machine");
    BenchArguments a;
    app.add_option("name", a.names, "names of benchmarks (none: all)");
    app.add_option("--device", a.device, "auto, cpu, cuda:0");
    app.add_option("--seconds", a.seconds, "minimum time per benchmark, in seconds")
        ->check(CLI::Range(0.1, 3600.0));
    app.add_option("--threads", a.threads, "CPU threads (0: one per core)")
        ->check(CLI::Range(0, 1024));
    app.add_flag("--bf16", a.bfloat16, "training steps with products in bfloat16");
    app.add_option("--trace", a.trace,
                   "file for a trace of one step, of one benchmark: JSON that Chrome's and "
                   "Perfetto's viewers read");
    app.add_flag("--json", a.json, "print one JSON object on stdout");
    // Started by the benchmark `ranks`, with its device and threads.
    const auto* rank = app.add_subcommand("rank")->group("")->fallthrough();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        if (*rank) return followRankBenchmark(a.device, a.threads);
        initDevices(a.threads);
        runBenchmarks(a);
        return 0;
    } catch (const OptionError& error) {
        std::fprintf(stderr, "relascope-bench: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "relascope-bench: %s\n", userMessage(error).c_str());
        return 1;
    }
}

}  // namespace
}  // namespace relascope::core

int main(int argc, char** argv) {
    return relascope::core::benchMain(argc, argv);
}
