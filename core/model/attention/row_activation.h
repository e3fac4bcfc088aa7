// SPDX-License-Identifier: GPL-3.0-or-later
// Activations of one row in memory, without tensors: for decoding and for maps made from factors.
#pragma once

#include <span>
#include <string>

namespace relascope::core {

/// x becomes softmax(x).
void softmaxRow(std::span<float> x);
/// x becomes activation(x), named as in applyActivation (layers.h). Throws OptionError for an
/// unknown name.
void activateRow(const std::string& activation, std::span<float> x);

}  // namespace relascope::core
