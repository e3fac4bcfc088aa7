// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QMenu>
#include <QPushButton>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/atlas_page.h"
#include "app/pages/study_page.h"
#include "app/run_actions.h"
#include "app/run_export.h"
#include "wire/host_link.h"
#include "wire/named_figures.h"

namespace relascope::app {
namespace {

using Of = wire::NamedFigure::Of;

QString pathOf(const wire::NamedFigure& figure, const Controllers& c) {
    return figure.of == Of::Run     ? c.selection.current()
           : figure.of == Of::Study ? c.study.path()
                                    : QString();
}

QString whyNot(const wire::NamedFigure& figure, const Controllers& c) {
    const QString path = pathOf(figure, c);
    if (figure.of == Of::Nothing) return {};
    if (path.isEmpty())
        return QStringLiteral("Open %1 first").arg(QString::fromStdString(figure.takes));
    if (figure.of == Of::Run)
        return wire::farPathOf(path.toStdString())
                   ? QStringLiteral("Fetch the run to this computer first")
                   : QString();
    const auto reading = c.study.reading();
    const bool fits = reading && reading->info->plan.preset.starts_with(figure.preset);
    return fits ? QString()
                : QStringLiteral("It is of %1").arg(QString::fromStdString(figure.takes));
}

}  // namespace

FiguresMenu::FiguresMenu(MainWindow& window, QMenu* menu, KeyList& keys)
    : AppMenu(window, menu, keys) {
    auto* ofRuns = new QMenu(&window);
    auto* ofStudies = new QMenu(QStringLiteral("Figures"), &window);
    auto& exporter = window.runActions().exporter();
    for (const auto& figure : wire::namedFigures()) {
        const bool study = figure.of == Of::Study;
        if (study && ofStudies->isEmpty()) m_menu->addSeparator();
        m_figures << add(
            QString::fromStdString(figure.title) + QStringLiteral("..."), {},
            QStringLiteral("Draw %1, of %2")
                .arg(QString::fromStdString(figure.name), QString::fromStdString(figure.takes)),
            [this, &figure, &exporter] {
                exporter.figure(QString::fromStdString(figure.name), pathOf(figure, m_c));
            });
        (study ? ofStudies : ofRuns)->addAction(m_figures.back());
    }
    for (auto* other : {ofRuns, ofStudies}) {
        other->setToolTipsVisible(true);
        connect(other, &QMenu::aboutToShow, this, &FiguresMenu::refresh);
    }
    if (auto* study = window.studyPage()) study->menu()->addMenu(ofStudies);
    if (auto* atlas = qobject_cast<AtlasPage*>(window.page(PageId::Atlas))) {
        auto* button = new QPushButton(QStringLiteral("Figures"), atlas);
        button->setProperty("compact", true);
        button->setMenu(ofRuns);
        atlas->addControl(button);
    }
}

void FiguresMenu::refresh() {
    const QString busy = m_window.runActions().exporter().disabledReason();
    for (qsizetype k = 0; k < m_figures.size(); ++k)
        allow(m_figures[k], busy.isEmpty()
                                ? whyNot(wire::namedFigures()[static_cast<std::size_t>(k)], m_c)
                                : busy);
}

}  // namespace relascope::app
