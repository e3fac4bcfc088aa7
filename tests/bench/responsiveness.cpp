// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window takes to answer while a run trains as fast as it can: an event every 20 ms to
// changing widgets for 30 s, or for as many seconds as the first argument says.
#include <QApplication>
#include <QMouseEvent>
#include <QTemporaryDir>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/pages/workbench_page.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/theme.h"

using namespace relascope;
using Clock = std::chrono::steady_clock;

namespace {

const auto kAsked = static_cast<QEvent::Type>(QEvent::registerEventType());

class Asked : public QEvent {
public:
    Asked() : QEvent(kAsked) {}
    Clock::time_point when = Clock::now();
};

// Receives the timer thread's events and does what a user's event would: moves the pointer, presses
// a key.
class User : public QObject {
public:
    explicit User(MainWindow& window)
        : m_window(window),
          m_widgets{window.workbench()->inspector()->mapPane()->map(), window.sidebar(),
                    window.form(), window.workbench()->curves(), &window} {}

    std::vector<double> delays;

protected:
    bool event(QEvent* event) override {
        if (event->type() != kAsked) return QObject::event(event);
        QWidget* widget = m_widgets[m_count % m_widgets.size()];
        const QPointF at(20 + static_cast<double>(m_count * 7 % 160),
                         40 + static_cast<double>(m_count * 11 % 120));
        QMouseEvent move(QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QApplication::sendEvent(widget, &move);
        if (m_count % 25 == 0) {
            QKeyEvent key(QEvent::KeyPress, m_count % 50 ? Qt::Key_Up : Qt::Key_Down,
                          Qt::NoModifier);
            QApplication::sendEvent(&m_window, &key);
        }
        ++m_count;
        delays.push_back(std::chrono::duration<double, std::milli>(Clock::now() -
                                                                   static_cast<Asked*>(event)->when)
                             .count());
        return true;
    }

private:
    MainWindow& m_window;
    std::vector<QWidget*> m_widgets;
    std::size_t m_count = 0;
};

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const double seconds = argc > 1 ? std::atof(argv[1]) : 30.0;
    const QTemporaryDir folder;
    qputenv("RELASCOPE_RUNS", folder.path().toUtf8());
    QApplication application(argc, argv);
    applyTheme(application, ThemeMode::Light);
    MainWindow window(false);
    window.show();

    RunOptions options = presetOptions("quick");
    options.model.set("d_model", 16);
    options.model.set("dff", 16);
    options.model.set("n_layers", 1);
    options.data.train_size = 512;
    options.data.validation_size = 64;
    options.train.batch_size = 8;
    options.train.steps = 10000000;
    options.train.evaluate_every = 500;
    auto& training = window.controllers().training;
    window.controllers().experiment.begin(options);
    while (!training.running() || !window.workbench()->inspector()->result())
        application.processEvents(QEventLoop::WaitForMoreEvents);

    User user(window);
    const auto begin = Clock::now();
    const auto first = training.info().step;
    std::jthread timer([&](std::stop_token stop) {
        auto next = Clock::now();
        while (!stop.stop_requested()) {
            QCoreApplication::postEvent(&user, new Asked);
            std::this_thread::sleep_until(next += std::chrono::milliseconds(20));
        }
    });
    while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds)
        application.processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    timer.request_stop();
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    const double rate = static_cast<double>(training.info().step - first) / took;

    auto& d = user.delays;
    std::sort(d.begin(), d.end());
    std::printf(
        "events %zu, median %.2f ms, 99th percentile %.1f ms, slowest %.1f ms, %.0f steps/s\n",
        d.size(), d[d.size() / 2], d[d.size() * 99 / 100], d.back(), rate);
    training.cancel();
    while (training.busy()) application.processEvents(QEventLoop::WaitForMoreEvents);
    return d.back() < 100.0 ? 0 : 1;
}
