// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tour.h"

#include <QSettings>
#include <QTabBar>

#include "app/main_window.h"
#include "app/pages/workbench_page.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/rail.h"
#include "widgets/tour/relation_primer.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope::app {
namespace {

constexpr const char* kShownKey = "tour/shown";

std::vector<widgets::TourStep> stepsOf(MainWindow& window) {
    const auto of = [](QWidget* widget) { return [widget] { return widget; }; };
    // Without a run the Workbench hides its panes, but the tour explains them.
    const auto panes = [page = window.workbench()] { page->showPanes(true); };
    std::vector<widgets::TourStep> steps;
    steps.push_back({QStringLiteral("Relations in one picture"),
                     widgets::RelationPrimer::text(),
                     {},
                     [](QWidget* parent) { return new widgets::RelationPrimer(parent); },
                     {}});
    steps.push_back({QStringLiteral("Experiments and runs"),
                     QStringLiteral("Choose an experiment of the papers here. Below are the runs "
                                    "you have trained; select several to compare their curves."),
                     of(window.rail()),
                     {},
                     {}});
    steps.push_back({QStringLiteral("Options"),
                     QStringLiteral("Choose the variant, that is the model, and change any option. "
                                    "Click a field to read what it does; the pencil marks options "
                                    "that can be changed during training."),
                     of(window.form()),
                     {},
                     {}});
    steps.push_back(
        {QStringLiteral("Start, pause, stop"),
         QStringLiteral("Press Start to train. Pause with Space, make single steps with "
                        "N, and resume at any time; every run is saved as it trains."),
         of(window.bar()),
         {},
         {}});
    steps.push_back({QStringLiteral("Curves"),
                     QStringLiteral("Loss and accuracy during training. Move the time cursor to "
                                    "look at the model as it was at that step."),
                     of(window.workbench()->curves()),
                     {},
                     panes});
    steps.push_back(
        {QStringLiteral("Relation inspector"),
         QString::fromUtf8("Click a patch, a token or an object to choose i. The other objects j "
                           "are tinted by r_ij; the map shows all i \u2192 j, and the small maps "
                           "show every relation and every attention head of the layer."),
         of(window.workbench()->inspector()),
         {},
         panes});
    steps.push_back(
        {QStringLiteral("What does this relation do? Cut it."),
         QStringLiteral("Press X to take the chosen map out of the model: the output shows before "
                        "and after, and B switches the maps. The menus of a map, a cell or a patch "
                        "have more edits; E lists them. Inspect > Edits measures every part."),
         of(window.workbench()->inspector()),
         {},
         panes});
    steps.push_back({QStringLiteral("Other pages"),
                     QStringLiteral("Compare runs, plan a study over models and training sizes, "
                                    "browse data, or open a checkpoint. F1 lists the keys, Ctrl+K "
                                    "finds every command, and Help shows this tour again."),
                     [&window]() -> QWidget* { return window.findChild<QTabBar*>(); },
                     {},
                     {}});
    return steps;
}

}  // namespace

widgets::TourOverlay* showTour(MainWindow& window) {
    if (auto* running = window.findChild<widgets::TourOverlay*>()) return running;
    window.showPage(PageId::Workbench);
    auto* tour = new widgets::TourOverlay(stepsOf(window), &window);
    QObject::connect(tour, &widgets::TourOverlay::ended, window.workbench(),
                     [page = window.workbench()] { page->showPanes(false); });
    return tour;
}

widgets::TourOverlay* showTourOnFirstStart(MainWindow& window) {
    QSettings settings;
    if (settings.value(QLatin1String(kShownKey), false).toBool()) return nullptr;
    settings.setValue(QLatin1String(kShownKey), true);
    return showTour(window);
}

}  // namespace relascope::app
