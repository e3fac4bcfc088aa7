// SPDX-License-Identifier: GPL-3.0-or-later
// Which names of Python a checkpoint may mention.
#pragma once

#include <string_view>

namespace relascope::core {

enum class GlobalUse {
    Refused,
    Read,   ///< we know what it makes: tensors, storages, ordered dictionaries, numpy scalars
    Opaque  ///< may stand beside the weights (Lightning, optimisers), is kept unread, never
            ///< executed
};

/// `name` is "module.name".
GlobalUse globalUse(std::string_view name);

}  // namespace relascope::core
