#include "checkpoint/verify.h"

#include <ATen/Context.h>
#include <torch/nn/functional.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "options/options_json.h"
#include "probe/collector.h"

namespace relascope {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

bool startsWith(const std::string& text, const char* prefix) {
    return text.rfind(prefix, 0) == 0;
}

VerifyLine compare(const std::string& name, const torch::Tensor& ours, const torch::Tensor& theirs,
                   double tolerance) {
    VerifyLine line{name};
    if (!ours.defined()) return line.note = "not computed by this model", line;
    if (ours.sizes() != theirs.sizes()) {
        line.note = "another shape";
        return line;
    }
    const auto a = ours.detach().to(torch::kCPU, torch::kDouble), b = theirs.to(torch::kDouble);
    if (a.numel() == 0) return line.ok = true, line;
    const auto difference = (a - b).abs();
    line.absolute = difference.max().item<double>();
    line.relative = (difference / b.abs().clamp_min(1e-12)).max().item<double>();
    line.ok = (difference <= tolerance + tolerance * b.abs()).all().item<bool>();
    if (!std::isfinite(line.absolute)) line.note = "not finite";
    return line;
}

torch::Tensor input(const Tensors& io, const char* key, const std::string& folder) {
    const auto found = io.find(key);
    if (found == io.end())
        throw FileError(folder + "/io.safetensors", std::string("has no tensor '") + key + "'");
    return found->second;
}

torch::Tensor trainedLosses(ModelImpl& model, const torch::Tensor& images,
                            const torch::Tensor& targets, std::int64_t steps) {
    torch::optim::AdamW optimizer(
        trainableParameters(model),
        torch::optim::AdamWOptions(1e-3).betas({0.9, 0.95}).eps(1e-8).weight_decay(0.1));
    std::vector<float> losses;
    for (std::int64_t step = 0; step < steps; ++step) {
        optimizer.zero_grad();
        const auto loss = torch::cross_entropy_loss(model.forward(images), targets);
        losses.push_back(loss.item<float>());
        loss.backward();
        optimizer.step();
    }
    return torch::tensor(losses);
}

}  // namespace

VerifyReport verifyFolder(const std::string& folder, const std::string& deviceName) {
    const auto options = [&] {
        const std::string path = folder + "/config.json";
        const auto text = readTextFile(path, 1 << 20);
        try {
            return modelFromPublishedConfig(text);
        } catch (const FileError&) {
            throw;
        } catch (const Error& error) {
            throw FileError(path, error.what());
        }
    }();
    const torch::Device device(deviceName);
    const bool cuda = device.is_cuda();
    const double outputTolerance = cuda ? 1e-4 : 2e-5, gradientTolerance = cuda ? 5e-4 : 1e-4;
    at::globalContext().setFloat32MatmulPrecision("highest");

    auto model = makeModel(options);
    loadWeights(*model, folder + "/model.safetensors");
    const Tensors io = readTensors(folder + "/io.safetensors");
    const auto images = input(io, "input/images", folder),
               targets = input(io, "input/targets", folder);
    const std::vector<std::int64_t> expected = {options.image_shape[0], options.image_shape[2],
                                                options.image_shape[1]};
    if (images.dim() != 4 || images.sizes().slice(1) != torch::IntArrayRef(expected) ||
        !images.is_floating_point())
        throw FileError(folder + "/io.safetensors",
                        "input/images does not have the model's image shape");
    if (targets.dim() != 1 || targets.size(0) != images.size(0) ||
        targets.scalar_type() != torch::kLong || targets.lt(0).any().item<bool>() ||
        targets.ge(options.num_classes).any().item<bool>())
        throw FileError(folder + "/io.safetensors",
                        "input/targets are not class numbers of this model, one an image");
    model->to(device);
    model->eval();

    Collector collector;
    torch::Tensor logits, loss;
    {
        const RecordingScope scope(collector);
        logits = model->forward(images.to(device));
    }
    loss = torch::cross_entropy_loss(logits, targets.to(device));
    loss.backward();

    Tensors ours = collector.tensors();
    ours["output/logits"] = logits;
    ours["output/loss"] = loss;
    for (const auto& entry : stateOf(*model)) {
        const auto gradient = entry.tensor.grad();
        ours["grad/" + entry.name] =
            gradient.defined() ? gradient : torch::zeros_like(entry.tensor);
    }
    for (auto& [name, tensor] : ours) tensor = tensor.detach().clone();

    VerifyReport report;
    report.ok = true;
    for (const auto& [name, theirs] : io) {
        if (startsWith(name, "input/")) continue;
        torch::Tensor computed;
        if (const auto found = ours.find(name); found != ours.end()) computed = found->second;
        if (name == "train/adamw_losses" && theirs.dim() == 1 && theirs.size(0) <= 1000)
            computed = trainedLosses(*model, images.to(device), targets.to(device), theirs.size(0));
        const bool gradient = startsWith(name, "grad/") || startsWith(name, "train/");
        auto line = compare(name, computed, theirs, gradient ? gradientTolerance : outputTolerance);
        report.ok = report.ok && line.ok;
        report.worst =
            std::isfinite(line.absolute) ? std::max(report.worst, line.absolute) : line.absolute;
        report.lines.push_back(std::move(line));
    }
    if (report.lines.empty())
        throw FileError(folder + "/io.safetensors", "holds nothing to compare");
    return report;
}

}  // namespace relascope
