// The workloads of `relascope-cli bench`.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace relascope {

struct BenchmarkResult {
    std::string name;
    double trainStepMs = 0.0;  ///< median: zero gradients, forward, loss, backward, AdamW
    double trainStepBestMs = 0.0;
    double forwardMs = 0.0;  ///< median, evaluation mode
    double peakRssMb = 0.0;  ///< of the whole process so far
    std::int64_t parameters = 0;
    std::string form;  ///< of relational attention; "none" for a Transformer
    std::string device;
    int steps = 0;  ///< timed
};

/// relgames_dat, relgames_transformer, cifar_vidat.
const std::vector<std::string>& benchmarkNames();
/// Runs one for at least `seconds` and three steps after a warm-up. Throws OptionError for an
/// unknown name.
BenchmarkResult runBenchmark(const std::string& name, const std::string& device,
                             double seconds = 8.0);

}  // namespace relascope
