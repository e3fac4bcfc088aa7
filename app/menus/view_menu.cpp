// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QActionGroup>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/workbench_page.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/sidebar.h"

namespace relascope::app {

MainViewMenu::MainViewMenu(MainWindow& window, QMenu* menu, KeyList& keys)
    : AppMenu(window, menu, keys),
      m_themes(new QActionGroup(this)),
      m_axes(new QActionGroup(this)) {
    auto* curves = m_window.workbench()->curves();
    addThemes();
    m_menu->addSeparator();
    m_sidebar = addToggle(
        "Experiments and runs", QKeySequence("Ctrl+B"), "Show or hide the experiments and runs",
        [this] { m_window.sidebar()->setVisible(m_window.sidebar()->isHidden()); });
    m_options = addToggle("Options", QKeySequence("Ctrl+Shift+O"), "Show or collapse the options",
                          [this] { m_window.form()->setCollapsed(!m_window.form()->collapsed()); });
    m_log = addToggle("Log", QKeySequence("Ctrl+Shift+L"), "Show or hide the log", [this] {
        auto* log = m_window.log();
        log->setVisible(log->isHidden());
        m_window.status()->setLogShown(!log->isHidden());
    });
    m_menu->addSeparator();
    addAxes();
    m_logX = addToggle("Logarithmic x", {}, "Logarithmic horizontal axis of the curves", [curves] {
        curves->set(&widgets::CurveOptions::logX, !curves->options().logX);
    });
    m_logY = addToggle("Logarithmic y", QKeySequence(Qt::Key_L), "Logarithmic loss", [curves] {
        curves->set(&widgets::CurveOptions::logY, !curves->options().logY);
    });
    m_smooth = addToggle("Smooth curves", {}, "Exponential moving average of the curves", [curves] {
        curves->set(&widgets::CurveOptions::smooth, !curves->options().smooth);
    });
    add("Reset zoom", QKeySequence(Qt::Key_Home), "Show the full range of the curves",
        [curves] { curves->resetZoom(); });
    m_study = std::make_unique<StudyMenu>(window, m_menu->addMenu("Study"), keys);
    m_figures = std::make_unique<FiguresMenu>(window, m_menu->addMenu("Figures"), keys);
    m_menu->addSeparator();
    m_full = addToggle(
        "Full screen", QKeySequence(Qt::Key_F11), "Show the window on the whole screen",
        [this] { m_window.setWindowState(m_window.windowState() ^ Qt::WindowFullScreen); });
}

MainViewMenu::~MainViewMenu() = default;

void MainViewMenu::addThemes() {
    QMenu* theme = m_menu->addMenu("Theme");
    for (const auto& [name, mode] : {std::pair{"System", widgets::ThemeMode::System},
                                     {"Light", widgets::ThemeMode::Light},
                                     {"Dark", widgets::ThemeMode::Dark}}) {
        auto* action = add(
            QString("%1 theme").arg(QLatin1String(name)), {}, "Colours of the window",
            [this, mode] { m_window.setTheme(mode); }, theme);
        action->setCheckable(true);
        action->setData(static_cast<int>(mode));
        m_themes->addAction(action);
    }
}

void MainViewMenu::addAxes() {
    auto* curves = m_window.workbench()->curves();
    QMenu* axis = m_menu->addMenu("Horizontal axis");
    for (const auto& [name, value] : {std::pair{"Step", widgets::CurveAxis::Step},
                                      {"Epoch", widgets::CurveAxis::Epoch},
                                      {"Time", widgets::CurveAxis::Time},
                                      {"Tokens", widgets::CurveAxis::Tokens}}) {
        auto* action = add(
            QString("Curves by %1").arg(QString::fromLatin1(name).toLower()), {},
            "Quantity on the horizontal axis of the curves",
            [curves, value] { curves->set(&widgets::CurveOptions::axis, value); }, axis);
        action->setCheckable(true);
        action->setData(static_cast<int>(value));
        m_axes->addAction(action);
    }
    connect(axis, &QMenu::aboutToShow, this, &MainViewMenu::refresh);
}

void MainViewMenu::refresh() {
    const auto* curves = m_window.workbench()->curves();
    for (auto* action : m_themes->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(m_window.theme()));
    for (auto* action : m_axes->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(curves->axis()));
    m_logX->setChecked(curves->options().logX);
    m_logY->setChecked(curves->options().logY);
    m_smooth->setChecked(curves->options().smooth);
    m_sidebar->setChecked(!m_window.sidebar()->isHidden());
    m_options->setChecked(!m_window.form()->collapsed());
    m_log->setChecked(!m_window.log()->isHidden());
    m_full->setChecked(m_window.isFullScreen());
    m_study->refresh();
    m_figures->refresh();
}

}  // namespace relascope::app
