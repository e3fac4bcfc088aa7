// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the window that the keyboard goes through with F6.
#pragma once

#include <vector>

class QWidget;

namespace relascope::app {

class MainWindow;

/// What is in sight, from the top left: the bar, the lists, the parts of the page, the options, the
/// log.
std::vector<QWidget*> panesOf(const MainWindow& window);
/// Moves the focus into a pane: to `wanted` in it, to where it was last, or to its first control.
/// Returns false where nothing there takes it.
bool enterPane(QWidget* pane, QWidget* wanted = nullptr);
/// Moves the focus to the pane behind that which has it, or before.
void enterNextPane(const MainWindow& window, bool back);
/// Moves the focus into the page that is shown; the Workbench to its map.
void enterPage(const MainWindow& window);

}  // namespace relascope::app
