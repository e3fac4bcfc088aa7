// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled for processors with AVX2 and FMA.
#include "model/attention/tile_levels.h"

#if defined(__AVX2__)
#define RELASCOPE_LANES 8
#include "model/attention/tile_passes_body.h"

namespace relascope::core {

const TileKernels* tileKernelsAvx2() {
    return &kKernels;
}

}  // namespace relascope::core
#else
const relascope::core::TileKernels* relascope::core::tileKernelsAvx2() {
    return nullptr;
}
#endif
