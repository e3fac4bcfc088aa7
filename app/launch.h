// SPDX-License-Identifier: GPL-3.0-or-later
// What the window was asked for on the command line.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>

#include "types/run_options.h"

namespace relascope::app {

struct Launch {
    QString run;         ///< a run folder to open
    QString train;       ///< a preset to start
    QString checkpoint;  ///< a file or folder to open
    QString study;       ///< a study folder to open
    QString model;
    std::optional<RunOptions> options;  ///< of `train`, with --set and so on applied

    QString screenshot;  ///< a PNG file; the window closes after it
    QSize size{1440, 900};
    QString page, theme;
    qint64 afterSteps = 20;
};

/// True for a word that belongs to the command line program ("eval", "inspect", "--version").
bool isCommandLine(int argc, char** argv);

/// Reads the window's own words. nullopt: `exitCode` says how the program ends, after --help or a
/// sentence on stderr.
std::optional<Launch> parseLaunch(const QStringList& arguments, int* exitCode);

}  // namespace relascope::app
