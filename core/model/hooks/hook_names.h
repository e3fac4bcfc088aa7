// SPDX-License-Identifier: GPL-3.0-or-later
// The names of hook points from the registered names of modules. Does not include torch.
#pragma once

#include <string>

namespace relascope::core {

/// The prefix of the hook points of a module: "encoder_blocks.0.dual_attn.self_attention" of an
/// image model is "blocks.0.attn". `pairs`: the model has an encoder and a decoder ("encoder.0").
/// Modules outside of blocks keep their path ("relation", "predinet").
std::string hookName(const std::string& path, bool pairs);

}  // namespace relascope::core
