// SPDX-License-Identifier: GPL-3.0-or-later
// Names for the examples and tasks of any data set.
#pragma once

#include <string>

#include <QString>

#include "app/controllers/own_data.h"
#include "types/data_options.h"
#include "wire/requests.h"

namespace relascope::app {

/// The word for one or `several` examples of such data ("image", "sequence", "pair"), and the same
/// word with a count ("2,500 images").
QString exampleWord(const DataOptions& options, bool several);
QString exampleCount(const DataOptions& options, qint64 count);
/// Data that were opened as imported ones.
OwnData ownDataOf(const wire::OpenedData& opened);
/// The title of a task: "Linear equations" for math / algebra__linear_1d, "Between".
QString taskTitle(const std::string& kind, const std::string& task);

}  // namespace relascope::app
