// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/bfloat16_gain.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "evaluate/evaluate.h"
#include "files/home_folder.h"
#include "files/processor.h"
#include "model/blocks/bfloat16.h"
#include "model/blocks/parameters.h"
#include "train/devices.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using GainClock = std::chrono::steady_clock;

double secondsOfLayer(bool rounds) {
    const auto x = torch::randn({1024, 512}).requires_grad_(true);
    const Linear layer(512, 512, false);
    double best = 1e9, total = 0.0;
    for (int i = 0; i < 3 || total < 0.05; ++i) {
        const auto start = GainClock::now();
        torch::Tensor y;
        {
            const AutocastScope autocast(rounds, torch::kCPU);
            y = layer->forward(x);
        }
        y.backward(torch::ones_like(y));
        const double seconds = std::chrono::duration<double>(GainClock::now() - start).count();
        best = std::min(best, seconds), total += seconds;
    }
    return best;
}

// "model name" of /proc/cpuinfo, by which the kept number is known.
std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 1);
    return {};
}

double measuredGain() {
    const auto folder = programCacheFolder();
    const auto path = folder.empty() ? folder : folder + "/bfloat16.json";
    const nlohmann::json key = {{"processor", processorName()}, {"torch", torchVersion()}};
    if (std::ifstream file(path); file) {
        const auto kept = nlohmann::json::parse(file, nullptr, false);
        if (kept.is_object() && kept.value("of", nlohmann::json()) == key &&
            kept.contains("gain") && kept["gain"].is_number())
            return kept["gain"].get<double>();
    }
    const double gain = secondsOfLayer(false) / secondsOfLayer(true);
    if (!path.empty()) {  // without it the next start measures again
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        std::ofstream(path) << nlohmann::json{{"of", key}, {"gain", gain}}.dump() << "\n";
    }
    return gain;
}

}  // namespace

std::string bfloat16Text() {
    if (!hasBFloat16Products()) return {};
    static const double gain = measuredGain();
    return "bfloat16 products, about " + numberText("%.1f", gain) +
           " times as fast as float32 here";
}

}  // namespace relascope::core
