// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "app/cli/cli.h"
#include "app/cli/run_text.h"
#include "types/metric_text.h"
#include "types/text_piece.h"

namespace relascope::cli {

namespace {

std::string printedValue(const std::string& metric, double value) {
    return metricValueText(metricInfo(metric), value, MetricForm::Printed);
}

}  // namespace

std::string metricText(const std::string& metric, double value) {
    return metricLabel(metric) + " " + printedValue(metric, value);
}

std::string scoreText(const std::vector<std::pair<std::string, double>>& values) {
    std::string text;
    const auto say = [&](Metric metric) {
        for (const auto& [key, value] : values) {
            if (metricInfo(key).id != metric || !std::isfinite(value)) continue;
            text += (text.empty() ? "" : ", ") + metricText(key, value);
            return true;
        }
        return false;
    };
    if (say(Metric::Perplexity)) return text;
    say(Metric::SequenceAccuracy);
    say(Metric::Accuracy);
    if (say(Metric::MeanError)) say(Metric::Recovered);
    return text;
}

std::string keptText(const RunInfo& info) {
    if (info.kept.step < 0) return "not evaluated yet";
    char loss[48];
    std::snprintf(loss, sizeof loss, "%.4f", info.kept.value("loss"));
    std::string text = "weights of step " + std::to_string(info.kept.step) + ": validation loss " +
                       loss + ", " + scoreText(info.kept.values);
    if (info.sawBetter())
        text += "; best seen " + printedValue(info.metric, info.best(info.metric)) + " (step " +
                std::to_string(info.bestStep) + ", not kept)";
    return text;
}

// On a terminal the bar appears at once, elsewhere the first line comes after a minute.
void sayNote(const DatasetInfo& data) {
    if (!data.note.empty())
        std::cerr << "note: " << plainName(data.name) << ": " << plainName(data.note) << "\n";
}

ProgressLine::ProgressLine()
    : m_terminal(isatty(STDERR_FILENO) != 0),
      m_shown(std::chrono::steady_clock::now() - std::chrono::seconds(m_terminal ? 60 : 0)) {}
ProgressLine::~ProgressLine() {
    done();
}

void ProgressLine::show(double fraction, const std::string& said) {
    if (const auto* steered = SteeredScope::current()) return steered->progress(fraction);
    const auto text = plainName(said);
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
    std::cerr << plainName(line) << "\n";
}

void ProgressLine::done() {
    if (m_open) std::fprintf(stderr, "\n");
    m_open = false;
}

void WaitingLine::show(const std::string& said) {
    const auto text = plainName(said);
    if (text == m_shown) return;
    m_shown = text;
    if (isatty(STDERR_FILENO) != 0) {
        std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
        std::fflush(stderr);
        return;
    }
    if (text.empty()) return;
    std::string cause = text;  // the seconds are none
    std::erase_if(cause, [](char c) { return c >= '0' && c <= '9'; });
    const auto now = std::chrono::steady_clock::now();
    if (cause == m_cause && now - m_said < std::chrono::minutes(1)) return;
    m_cause = cause, m_said = now;
    std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace relascope::cli
