// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace relascope::cli {

/// From now on an exception that nothing catches, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print
/// one line before they end the process as they always do: what happened, and where the core dump
/// is ("relascope-cli: crashed: ...", which core::howItEnded() looks for in RUN/log). `program` is
/// a literal. A signal that has a handler already is left to it.
void installLastWords(const char* program);

}  // namespace relascope::cli
