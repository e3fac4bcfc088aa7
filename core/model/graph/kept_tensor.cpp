// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/graph/kept_tensor.h"

#include <torch/utils.h>

#include <algorithm>

#include "model/graph/device_graph.h"

namespace relascope::core {

torch::Tensor KeptTensor::get(const std::vector<std::int64_t>& sizes,
                              const torch::TensorOptions& options,
                              const std::function<torch::Tensor()>& make) {
    constexpr std::size_t most = 4;  // a source and a target, in training and in evaluation
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) {
        return entry.sizes == sizes && entry.tensor.device() == options.device() &&
               entry.tensor.dtype() == options.dtype();
    });
    if (found != m_entries.end()) {
        keepForGraph(found->tensor);
        return found->tensor;
    }
    const torch::NoGradGuard noGrad;
    const c10::InferenceMode lasting(false);  // training may use it after an evaluation
    if (m_entries.size() == most) m_entries.pop_front();
    m_entries.push_back({sizes, make().to(options)});
    keepForGraph(m_entries.back().tensor);
    return m_entries.back().tensor;
}

}  // namespace relascope::core
