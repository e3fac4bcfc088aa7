// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/evaluate.h"

#include <ATen/autocast_mode.h>

#include <numeric>

#include "data/batches.h"
#include "train/free_running.h"

namespace relascope::core {

AutocastScope::AutocastScope(bool enabled) : m_enabled(enabled) {
    if (!enabled) return;
    at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    at::autocast::clear_cache();  // not the weights of an earlier step
}
AutocastScope::~AutocastScope() {
    if (!m_enabled) return;
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
}

Evaluation evaluateModel(ModelImpl& model, const ModelOptions& modelOptions, const DatasetPtr& data,
                         const EvaluationOptions& options, std::stop_token stop,
                         const ProgressCallback& progress) {
    const bool training = model.is_training();
    const auto device = model.parameters().front().device();
    const std::int64_t outputs = modelOptions.outputs(), ignore = modelOptions.ignoredTarget();
    const auto* sequences = dynamic_cast<const SequenceDataset*>(data.get());
    const bool freely = sequences && options.freely != 0;
    const auto report = [&](double fraction) {
        if (progress && !progress(fraction)) throw Cancelled();
    };
    const torch::NoGradGuard noGrad;
    model.eval();
    Evaluation result;
    MetricAccumulator tally(outputs, ignore);
    try {
        BatchLoader loader(data, plainOrder(data->size()), options.batchSize);
        while (auto batch = loader.next()) {
            if (stop.stop_requested()) throw Cancelled();
            requireLabels(*batch, outputs, ignore);
            torch::Tensor scores;
            {
                const AutocastScope autocast(options.bfloat16);
                const auto input = inputOf(*batch, device);
                if (options.edits) {
                    std::vector<std::int64_t> indices(static_cast<std::size_t>(batch->size()));
                    std::iota(indices.begin(), indices.end(), tally.examples());
                    options.edits->prepareBatch(input, data, indices);
                }
                const HookScope hooks(options.edits ? &options.edits->editor() : nullptr);
                scores = model.forward(input).to(torch::kFloat);
            }
            tally.addLoss(lossOf(scores, *batch, ignore), *batch);
            tally.add(scores, *batch);
            report((freely ? 0.5 : 1.0) * static_cast<double>(tally.examples()) /
                   static_cast<double>(data->size()));
        }
        result.values = tally.values();
        if (!data->info().exactTargets)
            std::erase_if(result.values, [](const auto& value) {
                return metricInfo(value.first).id == Metric::Recovered;
            });
        if (freely) {
            if (options.edits) options.edits->forgetValues();
            const HookScope hooks(options.edits ? &options.edits->editor() : nullptr);
            const auto free = decodeFreeRunning(
                model, modelOptions, *sequences, std::max<std::int64_t>(0, options.freely),
                options.batchSize, stop,
                [&](double fraction) { return report(0.5 + 0.5 * fraction), true; });
            result.values.emplace_back("element_accuracy", free.elementAccuracy);
            result.values.emplace_back("sequence_accuracy", free.sequenceAccuracy);
        }
    } catch (...) {
        model.train(training);
        throw;
    }
    model.train(training);
    result.examples = tally.examples();
    result.loss = tally.loss();
    result.accuracy = tally.accuracy();
    result.classAccuracy = tally.classAccuracy();
    return result;
}

}  // namespace relascope::core
