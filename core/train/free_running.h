// SPDX-License-Identifier: GPL-3.0-or-later
// Free-running decoding: every token follows from the earlier tokens that the model generated.
#pragma once

#include <cstdint>
#include <stop_token>

#include "data/dataset.h"
#include "model/factory.h"
#include "types/model_options.h"

namespace relascope::core {

class RankGroup;

/// Results of free-running decoding. Padding does not count.
struct FreeRunning {
    std::int64_t sequences = 0;
    double elementAccuracy = 0.0;   ///< fraction of correct tokens
    double sequenceAccuracy = 0.0;  ///< fraction of completely correct answers
};

/// Decodes the first `examples` (all when 0) of a data set in batches, with a cache, and compares
/// the answers with the targets. Several ranks take the batches in turn, and all have the results
/// of all (collective); then a cancelled batch is decoded to its end. Throws Cancelled.
FreeRunning decodeFreeRunning(ModelImpl& model, const ModelOptions& options,
                              const SequenceDataset& data, std::int64_t examples,
                              std::int64_t batchSize, std::stop_token stop = {},
                              const ProgressCallback& progress = {}, RankGroup* ranks = nullptr);

}  // namespace relascope::core
