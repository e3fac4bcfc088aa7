// SPDX-License-Identifier: GPL-3.0-or-later
// Names of checkpoints in a list, each different from the others.
#pragma once

#include <QStringList>

namespace relascope::app {

/// One title a path: "DAT-sa8-ra8-343M" for a folder or the weights in it, "text-dat-s0 · step-300"
/// for a checkpoint of a run. Where titles are the same, the folders above tell more.
QStringList checkpointTitles(const QStringList& paths);

}  // namespace relascope::app
