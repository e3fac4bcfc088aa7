// SPDX-License-Identifier: GPL-3.0-or-later
// Loss and accuracy over a data set.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "evaluate/scoring.h"
#include "interventions/active_edits.h"
#include "model/model.h"
#include "types/metric.h"
#include "types/model_options.h"

namespace relascope::core {

// Free-running decoding: every token follows from the earlier tokens that the model generated.

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

/// How a data set is measured.
struct EvaluationOptions {
    std::int64_t batchSize = 256;
    bool bfloat16 = false;
    /// The number of sequences for free-running decoding: 0 = none, -1 = all.
    std::int64_t freely = 0;
    ActiveEdits* edits = nullptr;  ///< in force in every pass; null for none
    /// Ranks that take the batches in turn, and all get the results of all; null: this process
    /// alone.
    RankGroup* ranks = nullptr;
};

/// Measures a model in evaluation mode, without gradients; its mode is restored. Loss and accuracy
/// are means over targets: labels, tokens (sequences with teacher forcing), bits. Throws
/// OptionError for a label out of the range of the model's classes, Cancelled.
Evaluation evaluateModel(ModelImpl& model, const ModelOptions& modelOptions, const DatasetPtr& data,
                         const EvaluationOptions& options = {}, std::stop_token stop = {},
                         const ProgressCallback& progress = {});

/// bfloat16 autocast on CUDA or on the CPU in the scope of this object, if `enabled`.
class AutocastScope {
public:
    explicit AutocastScope(bool enabled, c10::DeviceType device = torch::kCUDA);
    ~AutocastScope();
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    bool m_enabled;
    c10::DeviceType m_device;
};

}  // namespace relascope::core
