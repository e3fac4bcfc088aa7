#include "train/evaluate.h"

#include <ATen/autocast_mode.h>

#include "data/batches.h"

namespace relascope {

AutocastScope::AutocastScope(bool enabled) : m_enabled(enabled) {
    if (!enabled) return;
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    at::autocast::clear_cache();  // never weights of a step before
}
AutocastScope::~AutocastScope() {
    if (!m_enabled) return;
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
}

torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets, bool sum) {
    return torch::cross_entropy_loss(scores.flatten(0, -2), targets.flatten(), {},
                                     sum ? at::Reduction::Sum : at::Reduction::Mean);
}

void requireLabels(const torch::Tensor& targets, std::int64_t classes) {
    const auto* labels = targets.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < targets.numel(); ++i)
        if (labels[i] < 0 || labels[i] >= classes)
            throw OptionError("data", "label " + std::to_string(labels[i]) +
                                          " is not one of the model's " + std::to_string(classes) +
                                          " classes");
}

Evaluation evaluateModel(ModelImpl& model, const DatasetPtr& data, std::int64_t batchSize,
                         std::int64_t classes, bool bfloat16, std::stop_token stop,
                         const ProgressCallback& progress) {
    const bool training = model.is_training();
    const auto device = model.parameters().front().device();
    const torch::NoGradGuard noGrad;
    model.eval();
    Evaluation result;
    double lossSum = 0.0;
    std::vector<std::int64_t> right(static_cast<std::size_t>(classes), 0),
        seen(static_cast<std::size_t>(classes), 0);
    try {
        BatchLoader loader(data, plainOrder(data->size()), batchSize);
        while (auto batch = loader.next()) {
            if (stop.stop_requested()) throw Cancelled();
            requireLabels(batch->targets, classes);
            torch::Tensor logits;
            {
                const AutocastScope autocast(bfloat16);
                logits = model.forward(batch->inputs.to(device)).to(torch::kFloat);
            }
            lossSum += crossEntropy(logits, batch->targets.to(device), true).item<double>();
            const auto guess = logits.argmax(-1).to(torch::kCPU).contiguous();
            const auto *a = guess.const_data_ptr<std::int64_t>(),
                       *b = batch->targets.const_data_ptr<std::int64_t>();
            for (std::int64_t i = 0; i < batch->targets.numel(); ++i) {
                ++seen[static_cast<std::size_t>(b[i])];
                right[static_cast<std::size_t>(b[i])] += a[i] == b[i];
            }
            result.examples += batch->size();
            if (progress &&
                !progress(static_cast<double>(result.examples) / static_cast<double>(data->size())))
                throw Cancelled();
        }
    } catch (...) {
        model.train(training);
        throw;
    }
    model.train(training);
    std::int64_t allRight = 0, count = 0;
    for (std::size_t c = 0; c < right.size(); ++c) {
        allRight += right[c], count += seen[c];
        result.classAccuracy.push_back(seen[c] ? static_cast<double>(right[c]) /
                                                     static_cast<double>(seen[c])
                                               : std::numeric_limits<double>::quiet_NaN());
    }
    const double answers = static_cast<double>(std::max<std::int64_t>(1, count));
    result.loss = lossSum / answers;
    result.accuracy = static_cast<double>(allRight) / answers;
    return result;
}

}  // namespace relascope
