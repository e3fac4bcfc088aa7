// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of each vector width, each in a source file of its own.
#pragma once

#include "model/attention/tile_kernels.h"

namespace relascope::core {

const TileKernels* tileKernelsPlain();
const TileKernels* tileKernelsAvx2();
const TileKernels* tileKernelsAvx512();

}  // namespace relascope::core
