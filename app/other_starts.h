// SPDX-License-Identifier: GPL-3.0-or-later
// What the window does when the program is started again.
#pragma once

namespace relascope::app {

class MainWindow;
class OneWindow;

/// Comes to the front and opens the files, once no dialog asks for an answer. A window that closes
/// takes no more.
void serveOtherStarts(MainWindow& window, OneWindow& others);

}  // namespace relascope::app
