// SPDX-License-Identifier: GPL-3.0-or-later
// Tensors that depend on sizes alone: positions, indices. Made on the CPU, they would be copied to
// the device at every step, which waits for the host and cannot be part of a graph.
#pragma once

#include <torch/types.h>

#include <deque>
#include <functional>
#include <vector>

namespace relascope::core {

/// The tensors of the last few sizes asked for. Not for several threads at a time.
class KeptTensor {
public:
    /// What `make` gives, on the device and of the type of `options`. Never requires a gradient.
    torch::Tensor get(const std::vector<std::int64_t>& sizes, const torch::TensorOptions& options,
                      const std::function<torch::Tensor()>& make);

private:
    struct Entry {
        std::vector<std::int64_t> sizes;
        torch::Tensor tensor;
    };
    std::deque<Entry> m_entries;
};

}  // namespace relascope::core
