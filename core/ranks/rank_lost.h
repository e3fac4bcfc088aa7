// SPDX-License-Identifier: GPL-3.0-or-later
// The failure of another rank. Does not include torch.
#pragma once

#include "types/error.h"

namespace relascope::core {

/// Part of the sentence of a run that lost a rank: "rank 1 (node7, cuda:1) was lost at step 812:
/// ...".
inline constexpr const char* kWasLost = " was lost at step ";

/// Another rank is gone, has failed, or has not answered in time. `what()` is the message of the
/// connection; RankGroup::describeLoss() tells which rank it was and why.
class RankLost : public Error {
public:
    using Error::Error;
};

}  // namespace relascope::core
