// SPDX-License-Identifier: GPL-3.0-or-later
// What the page Data shows, as views (types/view.h) of the command `data`.
#pragma once

#include <QtGlobal>
#include <optional>

#include "types/view.h"

namespace relascope::widgets {
class SampleGrid;
}  // namespace relascope::widgets

namespace relascope::app {

class DataSource;

/// The statistics of the split that is shown; nullopt without data, and for those of a run on
/// another machine.
std::optional<View> describeStatistics(const DataSource& source);
/// One of its examples, enlarged.
std::optional<View> describeSample(const DataSource& source, qint64 index);
/// The examples that the grid shows once they have arrived, among those of the chosen label.
std::optional<View> describeGrid(const DataSource& source, const widgets::SampleGrid& grid);

}  // namespace relascope::app
