// SPDX-License-Identifier: GPL-3.0-or-later
// What the benchmarks share. Private to core/train.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/model.h"

namespace relascope::core {

double medianOf(std::vector<double> values);
/// The times of `work` in milliseconds: after two runs to warm up, as many as fit into the time,
/// three at least. Each is waited for on its device.
std::vector<double> timesOf(double seconds, const torch::Device& device,
                            const std::function<void()>& work);
/// What the relational heads computed last by, as they say; "none" where there are none.
std::string lastFormOf(const ModelImpl& model);

}  // namespace relascope::core
