// SPDX-License-Identifier: GPL-3.0-or-later
// Answering sequences without help: every token follows from the model's own earlier ones.
#pragma once

#include <cstdint>
#include <stop_token>

#include "data/dataset.h"
#include "model/factory.h"
#include "types/model_options.h"

namespace relascope::core {

/// What became of the free answers to some sequences. Padding does not count.
struct FreeRunning {
    std::int64_t sequences = 0;
    double elementAccuracy = 0.0;   ///< fraction of right tokens at their place
    double sequenceAccuracy = 0.0;  ///< fraction of answers right from the first token to the last
};

/// Decodes the first `examples` (all when 0) of a data set in batches, with a cache, and holds the
/// answers against its own. Throws Cancelled.
FreeRunning decodeFreeRunning(ModelImpl& model, const ModelOptions& options,
                              const SequenceDataset& data, std::int64_t examples,
                              std::int64_t batchSize, std::stop_token stop = {},
                              const ProgressCallback& progress = {});

}  // namespace relascope::core
