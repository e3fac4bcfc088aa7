// SPDX-License-Identifier: GPL-3.0-or-later
// What examples of any data set are called.
#pragma once

#include <string>

#include <QString>

#include "types/data_options.h"

namespace relascope::app {

/// "image", "sequence", "pair": one example of such data; with a count "2,500 images".
QString exampleWord(const DataOptions& options, bool several);
QString exampleCount(const DataOptions& options, qint64 count);
/// "Linear equations" for math / algebra__linear_1d, "Between".
QString taskTitle(const std::string& kind, const std::string& task);

}  // namespace relascope::app
