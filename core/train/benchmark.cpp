#include "train/benchmark.h"

#include <sys/resource.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>

#include "model/factory.h"
#include "model/relational_attention.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "train/optimizer.h"
#include "types/suggest.h"

namespace relascope {
namespace {

struct Workload {
    ModelOptions model;
    std::int64_t batch = 0;
};

Workload workload(const std::string& name) {
    if (name == "relgames_dat")
        return {presetOptions("relational-games-between", "dat").model, 512};
    if (name == "relgames_transformer")
        return {presetOptions("relational-games-between", "transformer").model, 512};
    if (name == "cifar_vidat") {
        ModelOptions m;
        m.image_shape = {3, 32, 32};
        m.patch_size = {4, 4};
        m.num_classes = 10;
        m.d_model = m.dff = 384;
        m.n_layers = 8;
        m.n_heads_sa = m.n_heads_ra = 6;
        m.sa_n_kv_heads = m.ra_n_kv_heads = 3;
        m.activation = "gelu";
        m.dropout_rate = 0.0;
        m.bias = true;
        m.symbol_retrieval = "position_relative";
        m.symmetric_rels = true;
        return {m, 32};
    }
    throw OptionError("bench", unknownName("benchmark", name, benchmarkNames()));
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

// Times `work` in milliseconds: two runs to warm up, then as often as fits.
std::vector<double> timed(double seconds, bool cuda, const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    const auto once = [&] {
        const auto start = Clock::now();
        work();
        if (cuda) torch::cuda::synchronize();
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    };
    once(), once();
    std::vector<double> times;
    for (double total = 0; total < seconds * 1000 || times.size() < 3;)
        total += times.emplace_back(once());
    return times;
}

}  // namespace

const std::vector<std::string>& benchmarkNames() {
    static const std::vector<std::string> names = {"relgames_dat", "relgames_transformer",
                                                   "cifar_vidat"};
    return names;
}

BenchmarkResult runBenchmark(const std::string& name, const std::string& deviceName,
                             double seconds) {
    const auto [options, batch] = workload(name);
    const torch::Device device(deviceName);
    torch::manual_seed(0);
    auto model = makeModel(options);
    model->to(device);
    model->train();
    TrainOptions train;
    train.optimizer = "adamw";
    Optimizer optimizer(*model, train);
    const auto images =
        torch::rand({batch, options.image_shape[0], options.image_shape[2], options.image_shape[1]})
            .to(device);
    const auto targets = torch::randint(options.num_classes, {batch}, torch::kLong).to(device);

    const auto steps = timed(seconds, device.is_cuda(), [&] {
        optimizer.zeroGradients();
        torch::cross_entropy_loss(model->forward(images), targets).backward();
        optimizer.step(1e-3);
    });
    model->eval();
    const auto forwards = timed(std::min(seconds, 2.0), device.is_cuda(), [&] {
        const torch::NoGradGuard noGrad;
        model->forward(images);
    });
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    BenchmarkResult result{name,
                           median(steps),
                           *std::min_element(steps.begin(), steps.end()),
                           median(forwards),
                           static_cast<double>(usage.ru_maxrss) / 1024.0,
                           parameterCount(options),
                           "none",
                           deviceName,
                           static_cast<int>(steps.size())};
    for (const auto& module : model->modules())
        if (const auto* heads = dynamic_cast<const RelationalAttentionImpl*>(module.get()))
            result.form = attentionFormName(heads->chosenForm(options.tokens(), device));
    return result;
}

}  // namespace relascope
