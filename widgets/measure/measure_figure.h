// SPDX-License-Identifier: GPL-3.0-or-later
// The measuring views as pictures, for the command line.
#pragma once

#include <QString>
#include <QStringList>

#include "types/along.h"
#include "types/edit_results.h"
#include "types/lens.h"

namespace relascope::widgets {

/// Each writes a view to .png (300 dpi), .svg or .pdf with `caption` below it. Returns false with a
/// message in `error` on failure. They need a QApplication (on the offscreen platform, too).
bool renderAblation(const AblationTable& table, const QString& caption, const QString& path,
                    QString* error);
/// `positions` are what stands at the columns of maps by position, and may be empty.
bool renderPatching(const PatchResult& result, const QStringList& positions, const QString& caption,
                    const QString& path, QString* error);
bool renderLens(const LensResult& result, const QString& caption, const QString& path,
                QString* error);
bool renderAttribution(const Attribution& result, const QString& caption, const QString& path,
                       QString* error);
bool renderAlong(const AlongTraining& along, const QString& caption, const QString& path,
                 QString* error);

}  // namespace relascope::widgets
