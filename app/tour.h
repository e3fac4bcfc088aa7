// SPDX-License-Identifier: GPL-3.0-or-later
// The guided tour: what a relation is, and the parts of the window.
#pragma once

namespace relascope::widgets {
class TourOverlay;
}  // namespace relascope::widgets

namespace relascope::app {

class MainWindow;

/// Starts the tour on the Workbench, unless it is already running.
widgets::TourOverlay* showTour(MainWindow& window);
/// The same, but only on the first start of the program.
widgets::TourOverlay* showTourOnFirstStart(MainWindow& window);

}  // namespace relascope::app
