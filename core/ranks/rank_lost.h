// SPDX-License-Identifier: GPL-3.0-or-later
// The failure of another rank. Does not include torch.
#pragma once

#include "types/error.h"

namespace relascope::core {

/// Another rank is gone, has failed, or has not answered in time. `what()` is what the connection
/// says of it; RankGroup::describeLoss() says which rank it was and why.
class RankLost : public Error {
public:
    using Error::Error;
};

}  // namespace relascope::core
