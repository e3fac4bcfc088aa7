// SPDX-License-Identifier: GPL-3.0-or-later
// Data sets as .npz that NumPy opens.
#pragma once

#include <string>

#include "data/dataset.h"

namespace relascope::datasets {

/// Images: images <u1 (N, H, W, C), labels <i8 (N, 1). Sets: objects <f4 (N, n, width), targets <f4
/// (N, t). Sequences: source <f4 (N, n, width) or <i8 (N, n), answers <i8 (N, m). Deflated, ZIP64
/// where needed, atomically. Throws FileError, for a text too, or Cancelled.
void writeNpz(const std::string& path, const core::Dataset& data,
              const core::ProgressCallback& progress = {});

}  // namespace relascope::datasets
