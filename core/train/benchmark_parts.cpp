// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/benchmark_parts.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>

#include "model/attention/relational_attention.h"

namespace relascope::core {

double medianOf(std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::vector<double> timesOf(double seconds, const torch::Device& device,
                            const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    const auto once = [&] {
        const auto start = Clock::now();
        work();
        if (!device.is_cpu())
            c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    };
    once(), once();
    std::vector<double> times;
    for (double total = 0; total < seconds * 1000 || times.size() < 3;)
        total += times.emplace_back(once());
    return times;
}

std::string lastFormOf(const ModelImpl& model) {
    std::string form = "none";
    for (const auto& module : model.modules())
        if (const auto* heads = dynamic_cast<const RelationalHeadsImpl*>(module.get()))
            form = heads->lastForm();
    return form;
}

}  // namespace relascope::core
