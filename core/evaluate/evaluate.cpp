// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/autocast_mode.h>
#include <torch/utils.h>
#include <algorithm>
#include <vector>

#include "data/batches.h"
#include "evaluate/evaluate.h"
#include "model/decode/seq2seq_decode.h"
#include "ranks/rank_group.h"

namespace relascope::core {

FreeRunning decodeFreeRunning(ModelImpl& model, const ModelOptions& options,
                              const SequenceDataset& data, std::int64_t examples,
                              std::int64_t batchSize, std::stop_token stop,
                              const ProgressCallback& progress, RankGroup* ranks) {
    const auto shape = data.shape();
    const auto device = model.device();
    const std::int64_t count = examples > 0 ? std::min(examples, data.size()) : data.size();
    const auto order = plainOrder(count);
    std::int64_t tokens = 0, rightTokens = 0, rightSequences = 0;
    const std::int64_t size = ranks ? ranks->size() : 1, rank = ranks ? ranks->rank() : 0;
    for (std::int64_t round = 0; round < count; round += size * batchSize) {
        if (ranks && ranks->any(stop.stop_requested())) throw Cancelled();
        const auto first = round + rank * batchSize;
        if (first >= count) continue;
        const auto batch =
            makeBatch(data, order.data() + first, std::min(batchSize, count - first));
        const auto answer = decodeGreedy(model, options, batch.inputs.to(device), shape.start,
                                         shape.target, shape.end,
                                         ranks ? std::stop_token() : stop);  // [b, target]
        const auto counts = shape.padding >= 0 ? batch.targets.ne(shape.padding)
                                               : torch::ones_like(batch.targets, torch::kBool);
        const auto right = answer.eq(batch.targets).logical_and(counts);
        tokens += counts.sum().item<std::int64_t>();
        rightTokens += right.sum().item<std::int64_t>();
        rightSequences += right.eq(counts).all(1).sum().item<std::int64_t>();
        if (progress &&
            !progress(static_cast<double>(first + batch.size()) / static_cast<double>(count)))
            throw Cancelled();
    }
    if (ranks) {
        const auto rows =
            ranks->gather({static_cast<double>(tokens), static_cast<double>(rightTokens),
                           static_cast<double>(rightSequences)});
        tokens = rightTokens = rightSequences = 0;
        for (const auto& row : rows) {
            tokens += static_cast<std::int64_t>(row[0]);
            rightTokens += static_cast<std::int64_t>(row[1]);
            rightSequences += static_cast<std::int64_t>(row[2]);
        }
    }
    const auto fraction = [](std::int64_t part, std::int64_t whole) {
        return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
    };
    return {count, fraction(rightTokens, tokens), fraction(rightSequences, count)};
}

AutocastScope::AutocastScope(bool enabled, c10::DeviceType device)
    : m_enabled(enabled), m_device(device == torch::kCPU ? at::kCPU : at::kCUDA) {
    if (!enabled) return;
    at::autocast::set_autocast_dtype(m_device, at::kBFloat16);
    at::autocast::set_autocast_enabled(m_device, true);
    at::autocast::clear_cache();  // not the weights of an earlier step
}
AutocastScope::~AutocastScope() {
    if (!m_enabled) return;
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, false);
}

namespace {

// With several ranks: the number of rounds in which each evaluates one batch, or none in the last.
std::int64_t roundsOf(std::int64_t size, const EvaluationOptions& options) {
    const auto each = options.batchSize * options.ranks->size();
    return (size + each - 1) / each;
}

// The examples that this process evaluates, in order: whole batches, but the last.
std::vector<std::int64_t> ownBatches(std::int64_t size, const EvaluationOptions& options) {
    const auto all = plainOrder(size);
    if (!options.ranks) return all;
    std::vector<std::int64_t> own;
    const auto step = options.batchSize * options.ranks->size();
    for (auto first = options.batchSize * options.ranks->rank(); first < size; first += step)
        own.insert(own.end(), all.begin() + first,
                   all.begin() + std::min(size, first + options.batchSize));
    return own;
}

}  // namespace

Evaluation evaluateModel(ModelImpl& model, const ModelOptions& modelOptions, const DatasetPtr& data,
                         const EvaluationOptions& options, std::stop_token stop,
                         const ProgressCallback& progress) {
    const bool training = model.is_training();
    const auto device = model.device();
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
        auto* ranks = options.ranks;
        const auto order = ownBatches(data->size(), options);
        const auto rounds = ranks ? roundsOf(data->size(), options) : 0;
        BatchLoader loader(data, order, options.batchSize);
        for (std::int64_t round = 0; !ranks || round < rounds; ++round) {
            if (ranks ? ranks->any(stop.stop_requested()) : stop.stop_requested())
                throw Cancelled();
            auto batch = loader.next();
            if (!batch) break;
            requireLabels(*batch, outputs, ignore);
            torch::Tensor scores;
            {
                const AutocastScope autocast(options.bfloat16);
                const auto input = inputOf(*batch, device);
                if (options.edits) {
                    const auto first = order.begin() + tally.examples();
                    const std::vector<std::int64_t> indices(first, first + batch->size());
                    options.edits->prepareBatch(input, data, indices);
                }
                const HookScope hooks(options.edits ? &options.edits->editor() : nullptr);
                scores = model.forward(input).to(torch::kFloat);
            }
            tally.addLoss(lossOf(scores, *batch, ignore), *batch);
            tally.add(scores, *batch);
            report((freely ? 0.5 : 1.0) * static_cast<double>(tally.examples()) /
                   static_cast<double>(order.size()));
        }
        if (ranks) tally.addRanks(*ranks);
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
                [&](double fraction) { return report(0.5 + 0.5 * fraction), true; }, ranks);
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
