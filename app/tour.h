// SPDX-License-Identifier: GPL-3.0-or-later
// The tour of the window: what a relation is, and where things are.
#pragma once

namespace relascope::widgets {
class TourOverlay;
}  // namespace relascope::widgets

namespace relascope::app {

class MainWindow;

/// Starts the tour on the Workbench; one that is under way already is kept.
widgets::TourOverlay* showTour(MainWindow& window);
/// The same, but only on the first start: from then on the settings say that it was shown.
widgets::TourOverlay* showTourOnFirstStart(MainWindow& window);

}  // namespace relascope::app
