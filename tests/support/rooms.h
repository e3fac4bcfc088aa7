// SPDX-License-Identifier: GPL-3.0-or-later
// Tests use every part of the program, so names of all parts are found without their namespace.
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
