// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of the window.
#pragma once

#include <chrono>
#include <optional>

#include <QSize>
#include <QString>
#include <QStringList>

#include "types/run_options.h"

namespace relascope::app {

// Ends the process even if a thread does not end.

/// Ends the process with `code` after `limit` at the latest. Called after the window has closed and
/// everything has been saved.
void endProcessWithin(std::chrono::milliseconds limit, int code);

struct Launch {
    QStringList files;   ///< to be opened according to their contents; absolute paths
    bool shares = true;  ///< an open window may take the files; false: an option forbids it
    QString run;         ///< a run folder to open
    QString train;       ///< a preset to start
    QString checkpoint;  ///< a file or folder to open
    QString study;       ///< a study folder to open
    QStringList duel;    ///< A and B of the page Duel; absolute paths
    QString model;
    std::optional<RunOptions> options;  ///< options of `train`, with --set and so on applied

    QString screenshot;  ///< PNG file to save; the window closes afterwards
    QSize size{1440, 900};
    QString page, theme;
    qint64 afterSteps = 20;
};

/// The commands that are handed over to relascope-cli.
const QStringList& commandNames();
/// Whether the arguments are for relascope-cli: one of these commands, or a training without a
/// window.
bool isCommandLine(int argc, char** argv);

/// Parses the options of the window. Returns nullopt if the program must end with `exitCode`, after
/// --help or an error message on stderr.
std::optional<Launch> parseLaunch(const QStringList& arguments, int* exitCode);

}  // namespace relascope::app
