// SPDX-License-Identifier: GPL-3.0-or-later
// What a training measures of its layers, so that one sees which of them diverges: the largest
// relation, the largest attention score, the entropy of attention and the norm of the gradients.
// Private to core/train.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace relascope::core {

struct TrainJob;

/// Values by the keys of metrics.jsonl: "largest_relation/layer 2" for a layer, "largest_relation"
/// for the extreme of all.
using HealthValues = std::vector<std::pair<std::string, double>>;

/// The values of one pass without gradients, in evaluation mode. A model whose attention or
/// relations are no inner products has fewer of them. Of sequences of more than 128 elements 128
/// rows are read, evenly spaced.
/// - largest_relation: the largest |r_ij| after its activation, over all open cells and relations.
/// - largest_score: the largest |score| before the softmax, over all open cells and heads.
/// - attention_entropy: the mean over rows and heads of - sum_j alpha_ij ln alpha_ij, nats; of all
///   layers the smallest.
HealthValues healthOf(ModelImpl& model, const ModelOptions& options, const ModelInput& input);

/// Finds values that became ten-fold, or a tenth: compared with all that were measured between
/// kRecent and kRecent + kBefore measurements earlier.
class JumpFinder {
public:
    static constexpr std::size_t kRecent = 3, kBefore = 10, kFewest = 5;
    static constexpr double kTimes = 10.0;

    /// Takes the values of a step. Returns a clause for each that jumped: "largest |r| of layer 2
    /// rose from 3.1 to 41". A value that jumped is silent for as long as it is compared with.
    std::vector<std::string> add(const HealthValues& values);

private:
    struct Track {
        std::deque<double> values;
        std::size_t silent = 0;
    };
    std::map<std::string, Track> m_tracks;
};

class LayerHealth {
public:
    /// Measures every train.health_every steps, in long runs less often; at steps that are
    /// multiples of `recordEvery`.
    LayerHealth(TrainJob& job, std::int64_t recordEvery);

    bool isDue(std::int64_t step) const { return m_every > 0 && step % m_every == 0; }
    /// The values of the step that was taken last, whose gradients are still there; `norm` is that
    /// of all of them before clipping.
    HealthValues measure(double norm);
    /// What jumped in the last measurement, as a sentence; empty if nothing did.
    std::string takeJump() { return std::exchange(m_jump, {}); }

private:
    void addGradients(HealthValues& values, double norm) const;

    TrainJob& m_job;
    std::int64_t m_every = 0;  ///< interval in steps, the same on all ranks
    bool m_measures = false;
    /// The parameters of each layer, by the layer's name.
    std::vector<std::pair<std::string, std::vector<torch::Tensor>>> m_layers;
    JumpFinder m_jumps;
    std::string m_jump;
};

}  // namespace relascope::core
