// SPDX-License-Identifier: GPL-3.0-or-later
// The size of a split, for all kinds of data.
#pragma once

#include <string>

#include "types/error.h"

namespace relascope::datasets {

/// `wanted` of `available` examples, 0 meaning all. Throws OptionError for more than there are.
inline std::int64_t splitSize(const char* field, std::int64_t wanted, std::int64_t available,
                              const std::string& what) {
    if (wanted > available)
        throw OptionError(std::string("data.") + field,
                          std::to_string(wanted) + " is more than the available " +
                              std::to_string(available) + " " + what + "; 0 uses all of them");
    return wanted > 0 ? wanted : available;
}

}  // namespace relascope::datasets
