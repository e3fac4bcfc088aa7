// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled for processors with AVX-512F.
#include "model/attention/tile_levels.h"

#if defined(__AVX512F__)
#define RELASCOPE_LANES 16
#include "model/attention/tile_passes_body.h"

namespace relascope::core {

const TileKernels* tileKernelsAvx512() {
    return &kKernels;
}

}  // namespace relascope::core
#else
const relascope::core::TileKernels* relascope::core::tileKernelsAvx512() {
    return nullptr;
}
#endif
