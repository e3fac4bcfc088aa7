// SPDX-License-Identifier: GPL-3.0-or-later
// Connects the panels around the pages with the controllers.
#pragma once

#include <functional>

namespace relascope::widgets {
class LogDrawer;
class OptionsForm;
class Sidebar;
class StatusStrip;
class TrainBar;
}  // namespace relascope::widgets

namespace relascope::app {

class Controllers;
class ErrorStrip;
class Measurement;
class RunActions;

void wireBar(widgets::TrainBar& bar, Controllers& controllers);
void wireSidebar(widgets::Sidebar& sidebar, Controllers& controllers, RunActions& actions);
/// Adds the choice of the preset's model above the fields.
void wireForm(widgets::OptionsForm& form, Controllers& controllers);
void wireStatus(ErrorStrip& banner, widgets::StatusStrip& strip, widgets::LogDrawer& log,
                Controllers& controllers);

/// The measurements, in the status bar; `open` shows the result of one.
void wireJobs(widgets::StatusStrip& strip, Controllers& controllers,
              std::function<void(const Measurement&)> open);

/// Starts, pauses or resumes, depending on the state; for the bar, the menu and the Space key.
void toggleTraining(Controllers& controllers);

}  // namespace relascope::app
