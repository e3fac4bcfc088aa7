// SPDX-License-Identifier: GPL-3.0-or-later
// What the processor can do that decides what is offered.
#pragma once

namespace relascope::core {

/// Whether this processor multiplies bfloat16: /proc/cpuinfo lists avx512_bf16 or amx_bf16 (Intel's
/// Xeon from Cooper Lake on, AMD's from Zen 4 on). RELASCOPE_BFLOAT16=off in the environment hides
/// the flags.
bool hasBFloat16Products();
/// What is said without the flags, before the way out.
inline constexpr const char* kNoBFloat16Products =
    "bfloat16 on the CPU needs a processor with avx512_bf16 or amx_bf16, and this one has neither";

/// Hides the flags while it exists, for all threads. For tests.
class HiddenBFloat16Scope {
public:
    HiddenBFloat16Scope();
    ~HiddenBFloat16Scope();
    HiddenBFloat16Scope(const HiddenBFloat16Scope&) = delete;
    HiddenBFloat16Scope& operator=(const HiddenBFloat16Scope&) = delete;
};

}  // namespace relascope::core
