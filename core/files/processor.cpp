// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/processor.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace relascope::core {
namespace {

std::atomic<int> s_hidden = 0;

bool hiddenByEnvironment() {
    const char* value = std::getenv("RELASCOPE_BFLOAT16");
    return value && std::string_view(value) == "off";
}

}  // namespace

bool hasBFloat16Products() {
#if defined(__x86_64__)
    // Processors with amx_bf16 have avx512_bf16 as well, which the system allows without asking.
    static const bool has = [] {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx512bf16") != 0;
    }();
    static const bool hidden = hiddenByEnvironment();
    return has && !hidden && s_hidden == 0;
#else
    return false;
#endif
}

HiddenBFloat16Scope::HiddenBFloat16Scope() {
    ++s_hidden;
}
HiddenBFloat16Scope::~HiddenBFloat16Scope() {
    --s_hidden;
}

}  // namespace relascope::core
