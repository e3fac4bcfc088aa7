// SPDX-License-Identifier: GPL-3.0-or-later
// Painting times of the maps and of the inspector, in milliseconds, on the software raster and one
// core. Not a test: prints the median of many runs beside the bound of each.
#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/rooms.h"
#include "tests/widgets/sourced.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/theme.h"

using namespace relascope;

namespace {

RelationMap wave(MapKind kind, int layer, int index, int n) {
    RelationMap map{kind, layer, index, n, n, std::vector<float>(static_cast<std::size_t>(n) * n),
                    false};
    std::vector<float> row(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        row[static_cast<std::size_t>(i)] =
            std::sin(0.013F * static_cast<float>(i * (index + 2) + layer * 5));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const float v =
                row[static_cast<std::size_t>(i)] * row[static_cast<std::size_t>(n - 1 - j)];
            map.values[static_cast<std::size_t>(i) * n + j] =
                kind == MapKind::Relation ? 3 * v : v * v / static_cast<float>(n);
        }
    return map;
}

std::shared_ptr<ProbeResult> model(int gridRows, int gridColumns, int layers, int maps) {
    auto result = std::make_shared<ProbeResult>();
    result->grid = {gridRows, gridColumns, false};
    for (int l = 0; l < layers; ++l) result->layers.push_back({"layer " + std::to_string(l + 1)});
    result->classNames = {"no", "yes"};
    result->probabilities = {0.3F, 0.7F};
    Image& image = result->sample.image;
    image = {gridColumns * 8, gridRows * 8, 3, {}};
    for (int k = 0; k < image.width * image.height * 3; ++k)
        image.pixels.push_back(static_cast<std::uint8_t>(k * 37));
    for (const MapKind kind :
         {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < maps; ++k)
                result->maps.push_back(wave(kind, l, k, gridRows * gridColumns));
    return result;
}

/// A language model's: words of some letters, or single letters.
std::shared_ptr<const ProbeResult> language(int tokens, int layers, int maps, bool letters) {
    auto result = std::make_shared<ProbeResult>();
    ProbeSequence& text = result->sample.source;
    text.text = true;
    for (int k = 0; k < tokens; ++k) {
        text.tokens.push_back(k);
        if (letters)
            text.labels.emplace_back(1, k % 6 == 5 ? ' ' : static_cast<char>('a' + k * 7 % 26));
        else
            text.labels.push_back(k % 9 == 8 ? "." : " " + std::string(1 + k * 5 % 8, 'o'));
    }
    result->sides = {{"tokens", text.labels}};
    for (int l = 0; l < layers; ++l)
        result->layers.push_back({"layer " + std::to_string(l + 1), 0, 0});
    for (const MapKind kind :
         {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < maps; ++k) {
                result->maps.push_back(wave(kind, l, k, tokens));
                result->maps.back().causal = true;
            }
    return result;
}

void measure(const char* name, double bound, int runs, const std::function<void(int)>& work) {
    std::vector<double> times;
    for (int k = 0; k < runs; ++k) {
        QElapsedTimer timer;
        timer.start();
        work(k);
        times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    std::sort(times.begin(), times.end());
    std::printf("%-66s median %7.2f ms   worst %7.2f ms", name, times[times.size() / 2],
                times.back());
    bound > 0 ? std::printf("   bound %5.0f ms\n", bound) : std::printf("\n");
}

/// Everything that waits to be painted, as the event loop would do it.
void paint() {
    QCoreApplication::processEvents();
}

void hover(QWidget& widget, const QPoint& point) {
    QMouseEvent event(QEvent::MouseMove, point, widget.mapToGlobal(point), Qt::NoButton,
                      Qt::NoButton, {});
    QCoreApplication::sendEvent(&widget, &event);
}

/// What a user does to a text: looks around, chooses, changes what is shown.
void measureText(const std::string& what, const std::shared_ptr<const ProbeResult>& result) {
    const int tokens = result->sample.source.size();
    const int layers = static_cast<int>(result->layers.size());
    const auto named = [&](const char* name) { return std::string(name) + ", " + what; };
    const double large = tokens > 512 ? 0 : 50;  // a thousand tokens work; no bound is set for all
    RelationInspector inspector;
    inspector.resize(1160, 460);
    inspector.show();
    paint();
    measure(named("first picture").c_str(), 300, 1, [&](int) {
        inspector.setResult(result);
        paint();
    });
    TokenStrip& strip = *inspector.sourcePane()->objects()->strip();
    InspectorView view = inspector.view();
    measure(named("strip hovered").c_str(), 16, 61, [&](int k) {
        const QPoint at(10 + k * 37 % 180, 6 + k * 23 % qMax(20, strip.canvas()->height() - 12));
        hover(*strip.canvas(), at);
        paint();
    });
    measure(named("token chosen: strip recoloured").c_str(), 50, 61, [&](int k) {
        view.source = tokens - 1 - k * 7 % tokens;
        inspector.setView(view);
        paint();
    });
    int direction = 0;
    measure(named("direction turned: strip, map, multiples").c_str(), large, 11, [&](int) {
        view.reversed = ++direction % 2;
        inspector.setView(view);
        paint();
    });
    view.reversed = false;
    for (const Processing processing :
         {Processing::Raw, Processing::Tanh, Processing::SoftmaxOverJ, Processing::TopK}) {
        view.processing = processing;
        view.layer = 0;
        inspector.setView(view);
        paint();
        measure((named("layer changed") + ", " + processingName(processing)).c_str(), large, 11,
                [&](int k) {
                    view.layer = (k + 1) % layers;
                    inspector.setView(view);
                    paint();
                });
    }
    measure(named("relation changed").c_str(), large, 24, [&](int k) {
        view.index = k % 12;
        inspector.setView(view);
        paint();
    });
}

/// A thread for work that the inspector hands over, as the application's.
class Worker {
public:
    Worker()
        : m_thread([this](std::stop_token stop) {
              for (;;) {
                  std::function<void()> job;
                  {
                      std::unique_lock lock(m_mutex);
                      if (!m_wake.wait(lock, stop, [this] { return !m_jobs.empty(); })) return;
                      job = std::move(m_jobs.front());
                      m_jobs.pop_front();
                  }
                  job();
              }
          }) {}
    Background background() {
        return [this](QObject* context, std::function<void()> work, std::function<void()> done) {
            {
                const std::lock_guard lock(m_mutex);
                m_jobs.push_back([context, work, done] {
                    work();
                    QMetaObject::invokeMethod(context, done, Qt::QueuedConnection);
                });
            }
            m_wake.notify_one();
        };
    }

private:
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<std::function<void()>> m_jobs;
    std::jthread m_thread;
};

/// A language model of 24 layers with 64 relations and 2 x 8 heads each, over 1,024 tokens.
void measureLargeModel() {
    const auto result = fixture::largeText(1024, 24, 64, 8);
    RelationInspector inspector;
    Worker worker;  // gone before the inspector, which its work refers to
    inspector.setBackground(worker.background());
    inspector.resize(1560, 560);
    inspector.show();
    paint();
    const auto wait = [&](bool all) {
        while (all ? inspector.busy() : !inspector.mapPane()->current())
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
        paint();
    };
    const auto named = [](const char* what) {
        return std::string(what) + ", 1024 tokens x 24 x 80, sources";
    };
    measure(named("result taken over").c_str(), 50, 1, [&](int) { inspector.setResult(result); });
    wait(true);
    InspectorView view = inspector.view();
    view.layer = 6;
    const auto change = [&](const char* what, auto next) {
        measure((named(what) + ", shown").c_str(), 50, 24, [&](int k) {
            next(k);
            inspector.setView(view);
            wait(false);
        });
        wait(true);
        measure((named(what) + ", window held up").c_str(), 16, 24, [&](int k) {
            next(k + 1);
            inspector.setView(view);
            paint();
        });
        wait(true);
    };
    change("relation changed", [&](int k) { view.index = k * 7 % 64; });
    change("layer changed", [&](int k) { view.layer = k * 5 % 24; });
    view.kind = MapKind::SensoryAttention;
    view.index = 0;
    change("head changed", [&](int k) { view.index = k % 8; });
    view.kind = MapKind::Relation;
    measure(named("token chosen").c_str(), 16, 61, [&](int k) {
        view.source = 1023 - k * 7;
        inspector.setView(view);
        paint();
    });
    view.allLayers = true;
    inspector.setView(view);
    QElapsedTimer measures;
    measures.start();
    wait(true);
    std::printf("%-66s %.1f s\n", "measures of 1,920 maps, and pictures of the visible ones",
                static_cast<double>(measures.elapsed()) / 1000);
    MapStrip& gallery = *inspector.smallMaps()->allMaps()->gallery();
    QScrollBar& bar = *gallery.verticalScrollBar();
    measure("1,920 small maps scrolled, pictures not made yet: a frame", 8, 200, [&](int k) {
        bar.setValue(k * 53);
        paint();
    });
    bar.setValue(0);
    wait(true);
    measure("1,920 small maps scrolled back and forth, made: a frame", 8, 200, [&](int k) {
        bar.setValue(k % 20 * 17);
        paint();
    });
    measure("1,920 small maps, all that is seen painted anew", 8, 61, [&](int) {
        gallery.refresh();
        paint();
    });
    int order = 0;
    measure("1,920 small maps sorted by another measure", 50, 11, [&](int) {
        view.order = static_cast<MapOrder>(++order % kMapOrders);
        inspector.setView(view);
        paint();
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    applyTheme(application, ThemeMode::Light);
    {
        MapView view;
        view.resize(1100, 1100);
        view.setValues(processed(wave(MapKind::Relation, 0, 0, 1024), Processing::Raw));
        view.show();
        paint();
        measure("1024 x 1024 map recoloured and drawn, 1 pixel a cell", 8, 41, [&](int k) {
            view.setScale(ColorScale(ColorScale::Kind::Signed,
                                     {-1.0F - static_cast<float>(k), 1.0F + static_cast<float>(k)},
                                     Theme::current()));
            paint();
        });
        view.resize(400, 400);
        paint();
        measure("1024 x 1024 map recoloured and drawn, 3 cells a pixel", 8, 41, [&](int k) {
            view.setScale(ColorScale(ColorScale::Kind::Signed,
                                     {-1.5F - static_cast<float>(k), 1.5F + static_cast<float>(k)},
                                     Theme::current()));
            paint();
        });
    }
    RelationInspector inspector;
    inspector.resize(1160, 460);
    inspector.show();
    paint();
    const auto large = model(16, 32, 12, 12);
    measure("first picture, 512 tokens x 12 layers x 12 maps of each kind", 300, 1, [&](int) {
        inspector.setResult(large);
        paint();
    });
    InspectorView view = inspector.view();
    measure("crosshair moved, 512 tokens", 50, 61, [&](int k) {
        view.source = (k * 37) % 512;
        view.target = (k * 101) % 512;
        inspector.setView(view);
        paint();
    });
    for (const Processing processing :
         {Processing::Raw, Processing::Tanh, Processing::SoftmaxOverJ, Processing::TopK}) {
        view.processing = processing;
        view.layer = 0;
        inspector.setView(view);
        paint();
        const std::string what =
            std::string("layer changed, 512 tokens, ") + processingName(processing);
        measure(what.c_str(), 50, 11, [&](int k) {
            view.layer = k + 1;
            inspector.setView(view);
            paint();
        });
    }
    view.processing = Processing::Raw;
    measure("relation changed, 512 tokens", 50, 24, [&](int k) {
        view.index = k % 12;
        inspector.setView(view);
        paint();
    });
    measure("map hovered, 512 tokens", 16, 61, [&](int k) {
        const QRect a = inspector.mapPane()->map()->cellRect((k * 53) % 512, (k * 19) % 512);
        hover(*inspector.mapPane()->map(), a.topLeft());
        paint();
    });
    view.range = Range::WholeModel;
    measure("whole-model scale asked for the first time", 300, 1, [&](int) {
        inspector.setView(view);
        paint();
    });
    const auto longest = model(32, 32, 1, 12);
    measure("first picture, 1024 tokens x 1 layer x 12 maps of each kind", 300, 1, [&](int) {
        inspector.setResult(longest);
        paint();
    });
    measureText("512 tokens x 12 x 12", language(512, 12, 12, false));
    measureText("512 letters x 12 x 12", language(512, 12, 12, true));
    measureText("1024 tokens x 2 x 12", language(1024, 2, 12, false));
    measureText("1024 letters x 2 x 12", language(1024, 2, 12, true));
    measureLargeModel();
    return 0;
}
