// SPDX-License-Identifier: GPL-3.0-or-later
// Titles for a list of checkpoints, all different.
#pragma once

#include <QStringList>

namespace relascope::app {

/// One title per path: "DAT-sa8-ra8-343M" for a folder or the weights in it, "text-dat-s0 ·
/// step-300" for a checkpoint of a run. Equal titles are extended by the names of parent folders.
QStringList checkpointTitles(const QStringList& paths);

}  // namespace relascope::app
