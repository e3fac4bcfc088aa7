// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/menus/menus.h"

#include <QAction>
#include <QMenu>
#include <QMenuBar>

#include "app/about.h"
#include "app/command_field.h"
#include "app/controllers/controllers.h"
#include "app/documents.h"
#include "app/main_window.h"
#include "app/news.h"
#include "app/run_export.h"
#include "app/tour.h"
#include "widgets/bar/command_palette.h"
#include "widgets/inspector/relation_inspector.h"

namespace relascope::app {

PagesMenu::PagesMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add("Next page", QKeySequence("Ctrl+Tab"), "Show the next page", [this] {
        const auto next = (static_cast<std::size_t>(m_window.currentPage()) + 1) % kPages.size();
        m_window.showPage(kPages[next]);
    });
    add("Minimise", {}, "Minimise the window", [this] { m_window.showMinimized(); });
    add("Resize to 1440 x 900", {},
        "Resize the window to the size of the pictures in the documentation", [this] {
            m_window.showNormal();
            m_window.resize(1440, 900);
        });
    m_menu->addSeparator();
    for (const PageId id : kPages)
        add(pageTitle(id), QKeySequence(QStringLiteral("Ctrl+%1").arg(static_cast<int>(id) + 1)),
            QString("Go to the page %1").arg(pageTitle(id)), [this, id] { m_window.showPage(id); });
}

HelpMenu::HelpMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add("Keyboard shortcuts", QKeySequence::HelpContents, "Show all keyboard shortcuts", [this] {
        auto* sheet = new widgets::ShortcutSheet(m_keys, &m_window);
        sheet->setAttribute(Qt::WA_DeleteOnClose);
        sheet->open();
    });
    add("Tour", {},
        QString::fromUtf8("What r, i \u2192 j and \u03B1 are, and the parts of the window"),
        [this] { showTour(m_window); });
    add("Documentation", QKeySequence("Ctrl+F1"), "Models, experiments, file formats, glossary",
        [this] { showDocuments(&m_window); });
    add("What is new", {}, "The changes of this version and of those before",
        [this] { showNews(m_window); });
    m_menu->addSeparator();
    add("About Relascope", {}, "Version and licences", [this] { showAbout(&m_window); });
}

Menus::Menus(MainWindow& window) : m_window(window) {
    make<FileMenu>("&File");
    make<EditMenu>("&Edit");
    make<RunMenu>("&Run");
    make<LookMenu>("&View");
    make<InspectMenu>("&Inspect");
    make<PagesMenu>("&Window");
    make<HelpMenu>("&Help");
    addSearch();
    watch();
}

Menus::~Menus() = default;

template <class Menu>
void Menus::make(const char* title) {
    m_all.push_back(std::make_unique<Menu>(
        m_window, m_window.menuBar()->addMenu(QString::fromLatin1(title)), m_keys));
}

void Menus::addSearch() {
    auto* field = new CommandField(&m_window);
    m_window.menuBar()->setCornerWidget(field, Qt::TopRightCorner);
    connect(field, &QAbstractButton::clicked, this,
            [this, palette = static_cast<widgets::CommandPalette*>(nullptr)]() mutable {
                if (!palette) palette = new widgets::CommandPalette(&m_window);
                palette->setActions(commands());
                palette->popUp();
            });
    auto* find = new QAction("Find a command", &m_window);
    find->setShortcut(QKeySequence("Ctrl+K"));
    m_window.addAction(find);
    connect(find, &QAction::triggered, field, &QAbstractButton::click);
    m_keys.emplace_back("Ctrl+K", "Find a command");
}

void Menus::watch() {
    auto& c = m_window.controllers();
    connect(&c.training, &TrainingController::stateChanged, this, &Menus::refresh);
    connect(&c.experiment, &ExperimentController::changed, this, &Menus::refresh);
    connect(&c.experiment, &ExperimentController::problemsChanged, this, &Menus::refresh);
    connect(&c.selection, &Selection::currentChanged, this, &Menus::refresh);
    connect(&c.selection, &Selection::runsChanged, this, &Menus::refresh);
    auto* exporting = &m_window.runActions().exporter().task();
    connect(exporting, &LongTask::began, this, &Menus::refresh);
    connect(exporting, &LongTask::ended, this, &Menus::refresh);
    connect(&c.checkpoint, &CheckpointController::probed, this, &Menus::refresh);
    connect(&c.checkpoint, &CheckpointController::loadedChanged, this, &Menus::refresh);
    connect(&c.probe, &ProbeController::cleared, this, &Menus::refresh);
    connect(&c.probe, &ProbeController::resultReady, this, [this, shown = false]() mutable {
        if (!std::exchange(shown, true)) refresh();
    });
    for (const auto* inspector : m_window.findChildren<widgets::RelationInspector*>())
        for (const auto signal :
             {&widgets::RelationInspector::textShown, &widgets::RelationInspector::pinChanged})
            connect(inspector, signal, this, &Menus::refresh);
}

void Menus::refresh() {
    for (const auto& menu : m_all) menu->refresh();
}

QList<QAction*> Menus::commands() const {
    QList<QAction*> all;
    const auto gather = [&all](const auto& self, const QList<QAction*>& actions) -> void {
        for (auto* action : actions) {
            if (action->menu())
                self(self, action->menu()->actions());
            else if (!action->isSeparator())
                all << action;
        }
    };
    gather(gather, m_window.menuBar()->actions());
    return all;
}

}  // namespace relascope::app
