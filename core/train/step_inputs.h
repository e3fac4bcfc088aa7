// SPDX-License-Identifier: GPL-3.0-or-later
// The batches of a step on a GPU, at places that a recorded step refers to. Private to core/train.
#pragma once

#include <c10/core/Event.h>
#include <torch/types.h>

#include <array>
#include <vector>

#include "data/batches.h"

namespace relascope::core {

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

}  // namespace relascope::core
