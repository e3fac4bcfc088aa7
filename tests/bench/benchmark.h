// SPDX-License-Identifier: GPL-3.0-or-later
// The workloads of relascope-bench.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace relascope::core {

struct BenchmarkResult {
    std::string name;
    double trainStepMs = 0.0;  ///< median: zero gradients, forward, loss, backward, AdamW
    double trainStepBestMs = 0.0;
    double forwardMs = 0.0;  ///< median, evaluation mode
    double peakRssMb = 0.0;  ///< peak of the whole process so far
    std::int64_t parameters = 0;
    std::string form;  ///< form of relational attention; "none" for a Transformer
    std::string device;
    int steps = 0;  ///< how many were timed
    /// "train_step_cpu_ms" (all threads, best: to compare on a machine that others use, too),
    /// "tokens_per_s" and whatever else the workload measures, in the order printed.
    std::vector<std::pair<std::string, double>> figures;
};

/// The workloads of a training step (relgames_dat, relgames_transformer, cifar_vidat, lm_dat_512,
/// lm_dat_512_dropout, lm_transformer_512, lm_hadamard_512, lm_dat_1024, mathematics, on CUDA
/// lm_dat_343m), of generating (generate_256, on CUDA generate_343m, with float32 and bfloat16
/// weights), of memory (lm_dat_memory: megabytes of one step at 256 to 2048 tokens), and of a busy
/// machine (contended: relgames_dat alone and beside a busy process, with the ratio), and of two
/// ranks on the CPU (ranks: lm_dat_512).
const std::vector<std::string>& benchmarkNames();
struct BenchmarkOptions {
    double seconds = 8.0;   ///< at least so long, and three steps after a warm-up
    bool bfloat16 = false;  ///< training steps round products to bfloat16
    std::string trace;      ///< a file for the trace of one step (step_trace.h); "": none
};

/// Runs a benchmark. Throws OptionError for an unknown name, and for bfloat16 or a trace where the
/// benchmark has no training step or the processor no products of bfloat16.
BenchmarkResult runBenchmark(const std::string& name, const std::string& device,
                             const BenchmarkOptions& options = {});

/// The work of the process that the benchmark `ranks` starts: it takes part in the steps until rank
/// 0 has measured. Returns the exit code of the process.
int followRankBenchmark(const std::string& device, int threads);

}  // namespace relascope::core
