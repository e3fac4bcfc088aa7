// SPDX-License-Identifier: GPL-3.0-or-later
// Progress on stderr: one line rewritten on a terminal, one line a minute otherwise.
#pragma once

#include <chrono>
#include <string>

namespace relascope::cli {

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine();
    /// Shows `text` after a bar filled to `fraction` (0..1).
    void show(double fraction, const std::string& text);
    /// Prints a whole line above the bar.
    void say(const std::string& line);
    /// Ends the bar's line.
    void done();

private:
    bool m_terminal;
    bool m_open = false;
    std::chrono::steady_clock::time_point m_shown;
};

}  // namespace relascope::cli
