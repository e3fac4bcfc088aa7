// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the kernels of relational attention on a problem, from and to tensors in double precision.
#pragma once

#include "kernels/reference.h"
#include "model/kernels/host_cuda.h"
#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

struct RelResults {
    Outputs outputs;
    Inputs gradients;
};

/// Calls visit(place, number) for each number of a tensor whose rows lie as the view says.
template <class Visit>
void forEachNumber(const Tensor4& shape, const View& view, Visit visit) {
    std::size_t number = 0;
    for (int b = 0; b < shape.batch; ++b)
        for (int t = 0; t < shape.tokens; ++t)
            for (int h = 0; h < shape.heads; ++h)
                for (int c = 0; c < shape.width; ++c)
                    visit(b * view.batch + t * view.token + h * view.head + c, number++);
}

Activation activationOf(const std::string& name);
/// The sizes and options of a problem, without tensors.
RelArgs argsOf(const Problem& problem, DataType type);
/// Forward and backward in that order of threads. Throws std::runtime_error when a launch fails or
/// something was written between the rows of a tensor.
RelResults runRel(const Problem& problem, const Inputs& in, const Tensor4& dOut,
                  const Tensor4& dRelated, DataType type, HostOrder order);
/// Restores the device of before.
class HostDeviceScope {
public:
    HostDeviceScope() : m_before(hostDevice()) {}
    ~HostDeviceScope() { hostDevice() = m_before; }
    HostDeviceScope(const HostDeviceScope&) = delete;
    HostDeviceScope& operator=(const HostDeviceScope&) = delete;

private:
    HostDevice m_before;
};

}  // namespace relascope::core::kernels
