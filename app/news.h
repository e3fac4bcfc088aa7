// SPDX-License-Identifier: GPL-3.0-or-later
// What is new in this version: the sections of CHANGELOG.md, shown once after an update and in
// Help.
#pragma once

#include <QString>

namespace relascope::widgets {
class NewsDialog;
}  // namespace relascope::widgets

namespace relascope::app {

class MainWindow;

/// CHANGELOG.md, as it was when the program was built.
QString changelog();

/// The sections of a change log that are newer than the version `seen`, up to `now`: those before
/// the next version of `now`, where the newest is not released yet. Of an unknown version (empty)
/// the first section alone.
QString newsSince(const QString& changelog, const QString& seen, const QString& now);

/// The whole change log, in one window, which is brought to the front if it is open.
widgets::NewsDialog* showNews(MainWindow& window);
/// The sections since the version that was started before, if that was another; null otherwise. On
/// the first start of all there is nothing new.
widgets::NewsDialog* showNewsAfterUpdate(MainWindow& window, bool firstStart);

}  // namespace relascope::app
