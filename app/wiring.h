// SPDX-License-Identifier: GPL-3.0-or-later
// The panels around the pages, each joined to the controllers it shows and steers.
#pragma once

namespace relascope {

class Controllers;
class LogDrawer;
class OptionsForm;
class Rail;
class RunActions;
class StatusStrip;
class TrainBar;

void wireBar(TrainBar& bar, Controllers& controllers);
void wireRail(Rail& rail, Controllers& controllers, RunActions& actions);
/// Adds the choice of the preset's model above the fields.
void wireForm(OptionsForm& form, Controllers& controllers);
void wireStatus(StatusStrip& strip, LogDrawer& log, Controllers& controllers);

/// Start, pause, resume, as the state has it: the one toggle of the bar, the menu and the Space
/// key.
void toggleTraining(Controllers& controllers);

}  // namespace relascope
