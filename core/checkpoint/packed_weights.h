// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that are in a file in a form that no model has: quantised, or spread over several files.
// Does not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/checkpoint_info.h"

namespace relascope::core {

/// How DeepSpeed's files become weights, as the end of a sentence.
constexpr const char* kZeroToFloat =
    "'python zero_to_fp32.py FOLDER OUT', with the script that DeepSpeed wrote there, writes them";

/// The format of packed tensors and the way out, as the end of a sentence: "holds weights that
/// bitsandbytes packed into 8 bits ('h.0.attn.SCB'); ...". Known are bitsandbytes, GPTQ, AWQ, HQQ,
/// compressed-tensors, 8-bit floats and integers, ZeRO-3 and FSDP's flat parameters; empty for
/// anything else.
std::string packedWeights(const std::vector<StoredTensor>& tensors);

}  // namespace relascope::core
