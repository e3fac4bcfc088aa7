// SPDX-License-Identifier: GPL-3.0-or-later
// The curves of runs as a picture of a command and as a view.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "types/curve_look.h"
#include "types/view.h"
#include "widgets/curves/curve_data.h"
#include "wire/figures.h"

namespace relascope::widgets {
class CurvePanel;
}  // namespace relascope::widgets

namespace relascope::app {

class RunsController;

/// The published numbers of these runs, each once: seeds of one model share theirs.
std::vector<widgets::PublishedValue> publishedOf(const RunsController& runs,
                                                 const QStringList& paths);

/// What a panel with these runs shows; nullopt for runs on other machines, and for groups of runs
/// in another folder than the command would look in.
std::optional<View> describeCurves(const widgets::CurvePanel& panel, const RunsController& runs,
                                   const QStringList& paths, const QString& highlighted);
/// Gives a panel the look of a view.
void showLook(widgets::CurvePanel& panel, const CurveLook& look);

/// Reads the runs and draws their curves, or writes their table. Needs a QApplication. False with
/// the reason in `error`.
bool renderCurves(const wire::CurvesFigure& figure, const QString& out, QString* error);

}  // namespace relascope::app
