// SPDX-License-Identifier: GPL-3.0-or-later
// The session saved in the settings: layout, theme, recent runs, and the last view.
#pragma once

namespace relascope::app {

class MainWindow;

class WindowState {
public:
    /// With `enabled` false nothing is read or written, for pictures and tests.
    explicit WindowState(bool enabled) : m_enabled(enabled) {}

    void restore(MainWindow& window) const;
    /// Reads the list of runs; on the first start, puts the example run among them before.
    void readRuns(MainWindow& window) const;
    /// Restores the chosen runs after the list has been read.
    void restoreRuns(MainWindow& window) const;
    void save(MainWindow& window) const;

private:
    bool m_enabled;
};

}  // namespace relascope::app
