// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/nonfinite.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <torch/utils.h>

#include "model/blocks/recording.h"

namespace relascope::core {
namespace {

at::Generator generator(const torch::Device& device) {
    return device.is_cuda() ? at::globalContext().defaultGenerator(device)
                            : at::detail::getDefaultCPUGenerator();
}

bool finite(const torch::Tensor& t) {
    return !t.defined() || !t.is_floating_point() || torch::isfinite(t).all().item<bool>();
}

class FirstNonFinite : public Recorder {
public:
    void scores(const std::string& module, const torch::Tensor& t) override {
        check("the attention of " + module, t);
    }
    void relations(const std::string& module, const torch::Tensor& t) override {
        check("the relations of " + module, t);
    }
    void symbols(const std::string& module, int, const torch::Tensor& t) override {
        check("the symbols of " + module, t);
    }
    void hidden(const std::string& module, const torch::Tensor& t) override {
        check("the output of " + module, t);
    }
    void check(const std::string& what, const torch::Tensor& t) {
        if (found.empty() && !finite(t)) found = what + " is the first value that is not finite";
    }
    std::string found;
};

}  // namespace

torch::Tensor saveGenerator(const torch::Device& device) {
    return generator(device).get_state();
}
void restoreGenerator(const torch::Device& device, const torch::Tensor& state) {
    generator(device).set_state(state);
}

std::string firstNonFinite(ModelImpl& model, const ModelInput& input) {
    if (!finite(input.x)) return "the inputs are not finite";
    for (const auto& entry : stateOf(model))
        if (!finite(entry.tensor)) return "the weight " + entry.name + " is not finite";
    FirstNonFinite recorder;
    {
        const torch::NoGradGuard noGrad;
        const RecordingScope scope(recorder);
        recorder.check("the output of final_out", model.forward(input));
    }
    if (!recorder.found.empty()) return recorder.found;
    for (const auto& entry : stateOf(model))
        if (!finite(entry.tensor.grad()))
            return "the gradient of " + entry.name + " is the first value that is not finite";
    return "repeating the step did not show where it began";
}

}  // namespace relascope::core
