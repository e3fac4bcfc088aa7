// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a report, each written within the signal handler; private to this folder.
#pragma once

#include "app/crash/safe_writer.h"

namespace relascope::crash {

/// The first line of every report.
constexpr std::string_view kTitle = "Relascope crash report, version 1";

/// Loads what the first look at a stack would load, which takes memory. Before any crash.
void prepareStack();
/// The functions of the calling thread from the place of the crash on (`context` of the signal),
/// and the files that they are in, with their build ids.
void writeStack(SafeWriter& out, const void* context);
/// The lines kept by note().
void writeNotes(SafeWriter& out);
/// Deletes the oldest reports in a folder (an open descriptor) until fewer than `most` are left.
void removeOldReports(int folder, int most);

}  // namespace relascope::crash
