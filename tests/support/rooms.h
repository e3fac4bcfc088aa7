// SPDX-License-Identifier: GPL-3.0-or-later
// A test looks into every room, so its names are found without naming the room.
#pragma once

namespace relascope {
namespace core {}
namespace datasets {}
namespace widgets {}
namespace app {}
namespace cli {}
using namespace core;
using namespace datasets;
using namespace widgets;
using namespace app;
}  // namespace relascope
