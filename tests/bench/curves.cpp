// SPDX-License-Identifier: GPL-3.0-or-later
// How long the curves take: appending, and replotting 100,000 and 1,000,000 points. Run by hand.
#include <QApplication>
#include <QElapsedTimer>
#include <cmath>
#include <cstdio>

#include "support/rooms.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/theme/theme.h"

using namespace relascope;

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    applyTheme(application, ThemeMode::Light);
    for (const int count : {100000, 1000000}) {
        CurvePanel panel;
        panel.resize(920, 270);
        panel.show();
        panel.setRuns({{"a", "run", "", 0, true}});
        std::vector<MetricPoint> points;
        for (int i = 0; i < count; ++i) {
            const double noise = 0.05 * std::sin(i * 12.9898) * std::cos(i * 78.233);
            points.push_back({i,
                              i / 1000.0,
                              i,
                              i * 0.01,
                              Split::Train,
                              {{"loss", 0.7 * std::exp(-3.0 * i / count) + noise + 0.1},
                               {"accuracy", 0.9 - 0.4 * std::exp(-3.0 * i / count) + noise}}});
        }
        QElapsedTimer timer;
        timer.start();
        panel.appendPoints("a", points);
        const double append = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        timer.restart();
        panel.flush();
        const double take = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        double best[2] = {1e9, 1e9};
        for (int i = 0; i < 7; ++i) {
            best[0] = std::min(best[0], panel.lossPlot()->replotNow());
            best[1] = std::min(best[1], panel.accuracyPlot()->replotNow());
        }
        // As a running job does: 50 points a tick. The first tick may move whole columns to larger
        // room.
        constexpr int tick = 50, ticks = 20;
        std::vector<MetricPoint> more(points.end() - tick, points.end());
        double small = 0.0, worst = 0.0;
        for (int round = 0; round < ticks; ++round) {
            for (int i = 0; i < tick; ++i)
                more[static_cast<std::size_t>(i)].step = count + round * tick + i;
            timer.restart();
            panel.appendPoints("a", more);
            panel.flush();
            const double took = static_cast<double>(timer.nsecsElapsed()) / 1e6;
            small += took / ticks;
            worst = std::max(worst, took);
        }
        timer.restart();
        panel.setCursorStep(count / 2);
        const double cursor = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        std::printf(
            "%d points: append %.1f ms, take over %.1f ms, replot loss %.1f ms, accuracy %.1f ms; "
            "append 50 more %.2f ms (worst %.2f); move the cursor %.2f ms\n",
            count, append, take, best[0], best[1], small, worst, cursor);
    }
    return 0;
}
