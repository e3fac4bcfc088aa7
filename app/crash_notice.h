// SPDX-License-Identifier: GPL-3.0-or-later
// Says after a crash that there is a report (crash/crash.h), once for each.
#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "app/crash/crash.h"

namespace relascope::widgets {
class NoticeBar;
}  // namespace relascope::widgets

namespace relascope::app {

class MainWindow;

/// The reports that no window has told of yet; from now on they are known.
std::vector<crash::Report> newReports(const std::vector<crash::Report>& all);
/// "Relascope crashed on 1 March at 14:05 (...)": of the newest, with the number of the others.
QString crashSentence(const std::vector<crash::Report>& reports);

/// Looks for new reports in the folder off the window's thread; if there are, a notice names them.
/// `done` is called with it, or with null.
void showCrashNotice(MainWindow& window, const std::function<void(widgets::NoticeBar*)>& done = {});
/// From here on: when a run or a session crashes, and an error says so, a notice offers its report.
void followCrashes(MainWindow& window);

}  // namespace relascope::app
