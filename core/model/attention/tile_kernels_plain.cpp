// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled for processors with no more than the platform's own vectors.
#define RELASCOPE_LANES 4
#include "model/attention/tile_levels.h"
#include "model/attention/tile_passes_body.h"

namespace relascope::core {

const TileKernels* tileKernelsPlain() {
    return &kKernels;
}

}  // namespace relascope::core
