// SPDX-License-Identifier: GPL-3.0-or-later
// One optimizer step: forward and backward passes, clipping, the update of the weights. On the CPU
// its results are known when it ends. On a GPU they stay there until they are asked for, so that
// the host prepares the next steps meanwhile, and a step that was done three times is recorded and
// repeated from then on (model/graph/device_graph.h). Private to core/train.
#pragma once

#include <c10/core/Event.h>
#include <torch/types.h>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "data/batches.h"
#include "model/graph/device_graph.h"
#include "ranks/gradient_buckets.h"
#include "train/train_job.h"

namespace relascope::core {

// The batches of a step on a GPU, at places that a recorded step refers to. Private to core/train.

class StepInputs {
public:
    /// Memory for batches as large as these; `fill` is to be called before they are used.
    StepInputs(const std::vector<Batch>& like, const torch::Device& device);

    /// Whether batches have the same kinds, types and shapes.
    bool fits(const std::vector<Batch>& batches) const;
    /// Copies batches to their places, in the order of the current stream; `answers` is how many
    /// targets count in each. Does not wait for the device, unless two fills before this one are
    /// not done.
    void fill(const std::vector<Batch>& batches, const std::vector<std::int64_t>& answers);

    const std::vector<Batch>& batches() const { return m_batches; }
    /// The part of each batch in the loss, 0-dimensional float.
    const std::vector<torch::Tensor>& weights() const { return m_weights; }
    /// How many targets count in all, 0-dimensional double.
    const torch::Tensor& answers() const { return m_answers; }

private:
    /// Memory that the device reads by itself, in the order of tensorsOf().
    struct Staging {
        std::vector<torch::Tensor> tensors;
        c10::Event copied;
    };

    torch::Device m_device;
    std::vector<Batch> m_batches;
    std::vector<torch::Tensor> m_weights;
    torch::Tensor m_answers;
    std::vector<Staging> m_staging;
    std::size_t m_next = 0;
};

struct StepFigures {
    double loss = 0.0;      ///< mean over the targets that count
    double accuracy = 0.0;  ///< fraction of correct targets; NaN for regression
    double norm = 0.0;      ///< norm of the gradients, before clipping
    bool finite() const { return std::isfinite(loss) && std::isfinite(norm); }
};

class TrainStep {
public:
    explicit TrainStep(TrainJob& job);

    /// Starts a step with the gradients of all the batches together. The weights stay as they are
    /// if the loss or the gradients are not finite, in this step and all that follow. Throws
    /// Cancelled before they change, and what LibTorch throws.
    void run(const std::vector<Batch>& batches, double rate);
    /// The results of the steps since the last call, in their order; waits for them.
    std::vector<StepFigures> take();
    /// The work of a step changes: the recorded step is not repeated any more.
    void forgetRecording();
    /// Computes the gradients of the batches alone.
    void computeGradients(const std::vector<Batch>& batches);

    /// The buckets of several ranks for gradients, null for one process; for measurements.
    GradientBuckets* buckets() { return m_buckets.get(); }
    /// Whether a step may start before the results of the one before are taken.
    bool runsAhead() const { return m_ahead; }
    /// The most steps whose results are not taken yet.
    static constexpr std::int64_t kMostAhead = 64;
    /// False after an exception while the weights were changed.
    bool weightsAreWhole() const { return m_whole; }

private:
    void runOnHost(const std::vector<Batch>& batches, double rate);
    /// runOnHost() with a part of the batches on each rank. Collective.
    void runOnRanks(const std::vector<Batch>& batches, double rate);
    /// One pass of a part of a batch, weighted; adds to the loss and the right answers.
    void passOnRank(const Batch& whole, const Batch& part, std::int64_t first, double weight,
                    double& loss, double& right);
    void runAhead(const std::vector<Batch>& batches, double rate);
    /// False where the device cannot record the step: it has not been started then.
    bool runRecorded(const std::vector<Batch>& batches);
    /// A complete step that works on tensors of the device alone, so that it can be recorded.
    void compute(const StepInputs& inputs);
    /// The scores of a batch. `whole`: the complete batch, of which `batch` is the part from
    /// example `first` on; null if it is complete itself.
    torch::Tensor forward(const Batch& batch, const Batch* whole = nullptr, std::int64_t first = 0);
    void throwIfCancelled() const;

    TrainJob& m_job;
    std::unique_ptr<GradientBuckets> m_buckets;  ///< null for one process
    bool m_ahead, m_whole = true;
    std::int64_t m_ignore;
    std::vector<StepFigures> m_known;  ///< results of steps on the host, until take()

    std::int64_t m_started = 0;  ///< steps whose results are on the device
    /// On the device: the learning rate and the failure flag, float; the results of kMostAhead
    /// steps [kMostAhead, 3], double; the number of the next result, and all numbers, int64.
    torch::Tensor m_rate, m_failed, m_figures, m_slot, m_slots;

    std::unique_ptr<DeviceGraph> m_graph;
    std::unique_ptr<StepInputs> m_inputs;  ///< the inputs that the graph reads
    int m_rehearsals = 0;
    bool m_recorded = false, m_records = true;
};

}  // namespace relascope::core
