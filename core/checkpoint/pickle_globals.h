// SPDX-License-Identifier: GPL-3.0-or-later
// The Python names that a checkpoint may refer to.
#pragma once

#include <string_view>

namespace relascope::core {

enum class GlobalUse {
    Refused,
    Read,   ///< interpreted: tensors, storages, ordered dictionaries, numpy scalars
    Opaque  ///< may stand beside the weights (Lightning, optimisers), is kept unread, never
            // /< executed
};

/// `name` is "module.name".
GlobalUse globalUse(std::string_view name);

}  // namespace relascope::core
