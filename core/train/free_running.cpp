// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/free_running.h"

#include <algorithm>
#include <vector>

#include "data/batches.h"
#include "model/decode/seq2seq_decode.h"
#include "ranks/rank_group.h"

namespace relascope::core {

FreeRunning decodeFreeRunning(ModelImpl& model, const ModelOptions& options,
                              const SequenceDataset& data, std::int64_t examples,
                              std::int64_t batchSize, std::stop_token stop,
                              const ProgressCallback& progress, RankGroup* ranks) {
    const auto shape = data.shape();
    const auto device = model.parameters().front().device();
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

}  // namespace relascope::core
