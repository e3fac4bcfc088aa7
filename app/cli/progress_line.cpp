// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/crash/crash.h"

namespace relascope::cli {

// On a terminal the bar appears at once, elsewhere the first line comes after a minute.
ProgressLine::ProgressLine()
    : m_terminal(isatty(STDERR_FILENO) != 0),
      m_shown(std::chrono::steady_clock::now() - std::chrono::seconds(m_terminal ? 60 : 0)) {}
ProgressLine::~ProgressLine() {
    done();
}

void ProgressLine::show(double fraction, const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (now - m_shown <
        (m_terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(60000)))
        return;
    m_shown = now;
    const int percent = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100.0);
    if (!m_terminal) {
        std::fprintf(stderr, "%3d %%  %s\n", percent, text.c_str());
        return;
    }
    winsize size{};
    const int width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    const int bar = 24;
    const std::string label = " " + std::to_string(percent) + " %  " + text;
    std::fprintf(stderr, "\r[%s%s]%s\x1b[K",
                 std::string(static_cast<std::size_t>(bar * percent / 100), '#').c_str(),
                 std::string(static_cast<std::size_t>(bar - bar * percent / 100), '.').c_str(),
                 label.substr(0, static_cast<std::size_t>(std::max(0, width - bar - 3))).c_str());
    std::fflush(stderr);
    m_open = true;
}

void ProgressLine::say(const std::string& line) {
    done();
    crash::note(line);
    std::fprintf(stderr, "%s\n", line.c_str());
}

void ProgressLine::done() {
    if (m_open) std::fprintf(stderr, "\n");
    m_open = false;
}

}  // namespace relascope::cli
