// SPDX-License-Identifier: GPL-3.0-or-later
// Version and licences.
#pragma once

#include <vector>

#include <QString>

#include "widgets/help/document_viewer.h"

class QWidget;

namespace relascope::widgets {
class TourOverlay;
}  // namespace relascope::widgets

namespace relascope::app {

void showAbout(QWidget* parent);
void copyText(const QString& text);

// The built-in documentation, in its own window.

/// The documents of `resources/docs`: first the index, then the others in the order of its links.
std::vector<widgets::HelpDocument> documents();

/// Shows the documentation window of `parent`, at `link` ("models.md#...") if it is not empty.
widgets::DocumentViewer* showDocuments(QWidget* parent, const QString& link = {});

// What is new in this version: the sections of CHANGELOG.md, shown once after an update and in
// Help.

class MainWindow;

/// CHANGELOG.md, as it was when the program was built.
QString changelog();

/// The sections of a change log for the versions after `seen` up to `now`, and for what is not
/// released yet. Only the first of these sections if `seen` is unknown (empty).
QString newsSince(const QString& changelog, const QString& seen, const QString& now);

/// Shows the whole change log as a document of the documentation window.
widgets::DocumentViewer* showNews(MainWindow& window);
/// Shows the sections since the version that was started last time. Returns null if that was this
/// version, if there are no such sections, or on the first start of all.
widgets::DocumentViewer* showNewsAfterUpdate(MainWindow& window, bool firstStart);

// The guided tour: what a relation is, and the parts of the window.

/// Starts the tour on the Workbench, unless it is already running.
widgets::TourOverlay* showTour(MainWindow& window);
/// Starts the tour as showTour(), but only on the first start of the program.
widgets::TourOverlay* showTourOnFirstStart(MainWindow& window);

}  // namespace relascope::app
