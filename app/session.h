// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers from one day to the next: layout, theme, recent runs, and the view that
// was open.
#pragma once

namespace relascope::app {

class MainWindow;

class Session {
public:
    /// With `enabled` false nothing is read or written: pictures and tests.
    explicit Session(bool enabled) : m_enabled(enabled) {}

    void restore(MainWindow& window) const;
    /// The runs that were chosen, once the list is there.
    void restoreRuns(MainWindow& window) const;
    void save(MainWindow& window) const;

private:
    bool m_enabled;
};

}  // namespace relascope::app
