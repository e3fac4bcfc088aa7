// SPDX-License-Identifier: GPL-3.0-or-later
// How soon the inspector shows an edit, a dragged cell and an earlier step of a finished run, and
// the page Duel another example in two models: times from the request to the picture in the window,
// for the runs that are given as arguments.
#include <QApplication>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/duel_page.h"
#include "app/pages/workbench_page.h"
#include "support/rooms.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/theme/theme.h"

using namespace relascope;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(Clock::time_point since) {
    return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

/// Handles events until `holds`; the time that took. Ends the program after a minute.
double timeUntil(const char* what, const std::function<bool()>& holds) {
    const auto begin = Clock::now();
    while (!holds()) {
        if (milliseconds(begin) > 60000.0) {
            std::fprintf(stderr, "no %s within a minute\n", what);
            std::exit(1);
        }
        QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return milliseconds(begin);
}

void print(const char* what, std::vector<double> times) {
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    std::printf("  %-28s median %7.1f ms, slowest %7.1f ms (%zu)\n", what, times[times.size() / 2],
                times.back(), times.size());
}

void measure(const QString& run) {
    MainWindow window(false);
    window.show();
    auto& c = window.controllers();
    auto* inspector = window.workbench()->inspector();
    auto& edits = c.runEdits;
    window.opener().openRun(run);
    timeUntil("run", [&] { return c.selection.current() == run; });
    timeUntil("maps of the run", [&] {
        return inspector->result() && !inspector->result()->partial && edits.points() &&
               !inspector->busy();
    });
    if (c.runInput.readsText()) {  // a text of the whole context, not the short pinned one
        const auto pinned = inspector->result();
        timeUntil("splits", [&] { return c.runInput.data() != nullptr; });
        c.runInput.chooseSample(QStringLiteral("validation"), 0);
        timeUntil("text", [&] {
            return inspector->result() != pinned && !inspector->result()->partial &&
                   !inspector->busy();
        });
    }
    const int layers = static_cast<int>(inspector->result()->layers.size());
    std::printf("%s: %d layers, %zu maps of %d objects\n", qPrintable(run), layers,
                inspector->result()->maps.size(), inspector->result()->maps.front().rows);
    widgets::InspectorView view = inspector->view();
    view.layer = layers / 2;
    inspector->setView(view);

    std::vector<double> on, off;
    auto& editing = window.edits().editing();
    for (int k = 0; k < 20; ++k) {
        editing.knockOut();
        on.push_back(timeUntil("edit", [&] { return inspector->edited(); }));
        editing.knockOut();
        off.push_back(timeUntil("end of the edit", [&] { return !inspector->edited(); }));
    }
    print("edit of the middle layer", on);
    print("edit taken back", off);

    // As fast as pictures come.
    std::vector<double> drags;
    Q_EMIT inspector->cellDragged(1, 0, 0);
    for (int up = 1; up <= 40; ++up) {
        const auto before = inspector->choice().inspected().result;
        Q_EMIT inspector->cellDragged(1, 0, up);
        drags.push_back(timeUntil("picture of a dragged cell", [&] {
            return inspector->choice().inspected().result != before;
        }));
    }
    Q_EMIT inspector->cellDropped(false);
    print("dragged cell", drags);
    timeUntil("maps without edits", [&] { return !inspector->edited(); });

    std::vector<double> steps;
    for (const qint64 step : c.runs.records().kept(run)) {
        if (step == inspector->result()->step) continue;
        const auto begin = Clock::now();
        c.selection.setStep(step);
        timeUntil("step", [&] { return inspector->result()->step == step; });
        steps.push_back(milliseconds(begin));
    }
    c.selection.setStep(std::nullopt);
    print("step of the cursor", steps);

    // A session each, so that both answer at the same time.
    window.showDuel({run, run});
    auto* duel = window.duelPage();
    auto* both = duel->inspector();
    timeUntil("duel", [&] { return both->result() != nullptr; });
    std::vector<double> examples;
    for (qint64 example = 1; example <= 20; ++example) {
        const auto before = both->choice().inspected().result;
        duel->feeds().chooseExample("validation", example);
        examples.push_back(timeUntil("example of a duel",
                                     [&] { return both->choice().inspected().result != before; }));
    }
    print("example in both of a duel", examples);
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QTemporaryDir folder;
    qputenv("RELASCOPE_RUNS", folder.path().toUtf8());
    QApplication application(argc, argv);
    applyTheme(application, ThemeMode::Light);
    QTimer clock;  // conditions are looked at again without events
    clock.start(1);
    if (argc < 2) std::fprintf(stderr, "usage: bench_edits RUN...\n");
    for (int k = 1; k < argc; ++k) measure(QString::fromLocal8Bit(argv[k]));
    return argc < 2 ? 2 : 0;
}
