// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2's vocabulary as it is published for tiktoken, built into the program.
#pragma once

#include <string_view>

namespace relascope::core {

/// 50256 lines "BASE64 RANK", in the order of their ranks.
std::string_view gpt2Ranks();

}  // namespace relascope::core
