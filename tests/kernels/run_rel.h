// SPDX-License-Identifier: GPL-3.0-or-later
// Problems as the kernels of relational attention are given them.
#pragma once

#include "kernels/reference.h"
#include "model/kernels/host_cuda.h"
#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

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
