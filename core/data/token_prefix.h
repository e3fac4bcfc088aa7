// SPDX-License-Identifier: GPL-3.0-or-later
// Windows of a text cut to their first tokens.
#pragma once

#include "data/dataset.h"

namespace relascope::core {

/// The data with windows cut to their first `tokens` tokens; the data themselves where they are no
/// text, or their windows are no longer. 0: whole windows.
DatasetPtr withShorterWindows(DatasetPtr data, std::int64_t tokens);

}  // namespace relascope::core
