// SPDX-License-Identifier: GPL-3.0-or-later
// System calls that fail, as on a full disk or a lost file server: this program's own open, write,
// fsync, ftruncate, rename, mkdir and statvfs stand in for those of the C library.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "support/rooms.h"

namespace relascope::testing_support {

struct FailingCalls {
    std::string below;   ///< paths that begin with this
    std::string ending;  ///< and end with this; renames count by their target
    int error = 0;       ///< errno of the calls that fail
    bool opens = false;  ///< only open() is counted and fails
    int first = 1;       ///< the first call that fails, counted from 1
    int count = std::numeric_limits<int>::max();  ///< how many fail in a row
};

/// Makes these calls fail until it is destroyed. Only one may exist at a time.
class FailureScope {
public:
    explicit FailureScope(const FailingCalls& calls);
    ~FailureScope();
    FailureScope(const FailureScope&) = delete;
    FailureScope& operator=(const FailureScope&) = delete;
    /// The number of calls that were counted so far.
    int counted() const;
};

/// Makes statvfs() report this free space on every disk until it is destroyed.
class LittleSpace {
public:
    explicit LittleSpace(std::uint64_t bytes);
    ~LittleSpace();
    LittleSpace(const LittleSpace&) = delete;
    LittleSpace& operator=(const LittleSpace&) = delete;
};

}  // namespace relascope::testing_support
