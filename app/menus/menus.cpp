// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QTextEdit>

#include "app/controllers/controllers.h"
#include "app/help.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/study_page.h"
#include "app/run_export.h"
#include "widgets/bar/command_palette.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

void allow(QAction* action, const QString& disabledReason) {
    if (action->property("help").isNull()) action->setProperty("help", action->toolTip());
    action->setEnabled(disabledReason.isEmpty());
    action->setToolTip(disabledReason.isEmpty() ? action->property("help").toString()
                                                : disabledReason);
    action->setStatusTip(action->toolTip());
}

AppMenu::AppMenu(MainWindow& window, QMenu* menu, KeyList& keys)
    : m_window(window), m_c(window.controllers()), m_menu(menu), m_keys(keys) {
    connect(menu, &QMenu::aboutToShow, this, [this] { refresh(); });
}

QAction* AppMenu::add(const QString& text, const QKeySequence& key, const QString& help, Slot slot,
                      QMenu* into) {
    QMenu* menu = into ? into : m_menu;
    auto* action = menu->addAction(text);
    if (!key.isEmpty()) {
        action->setShortcut(key);
        m_keys.emplace_back(key.toString(QKeySequence::NativeText), help);
    }
    action->setToolTip(help);
    action->setStatusTip(help);
    menu->setToolTipsVisible(true);
    connect(action, &QAction::triggered, this, std::move(slot));
    return action;
}

QAction* AppMenu::addToggle(const QString& text, const QKeySequence& key, const QString& help,
                            Slot slot) {
    auto* action = add(text, key, help, std::move(slot));
    action->setCheckable(true);
    return action;
}

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
    make<MainViewMenu>("&View");
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
    auto* field = new widgets::CommandField(&m_window);
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
    connect(&m_window.duelPage()->probes(), &DuelProbes::answered, this, &Menus::refresh);
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

namespace {

CheckpointPage* checkpointPage(const MainWindow& window) {
    return qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
}

}  // namespace

FileMenu::FileMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add("New run", QKeySequence::New, "Reset the options to the preset for a new run", [this] {
        const auto& options = m_c.experiment.options();
        m_c.experiment.choosePreset(QString::fromStdString(options.preset),
                                    QString::fromStdString(options.variant));
    });
    add("New study...", QKeySequence("Ctrl+Shift+N"), "Compare models, training sizes and seeds",
        [this] {
            m_window.showPage(PageId::Study);
            m_window.studyPage()->newStudy();
        });
    add("Open checkpoint...", QKeySequence::Open,
        "Open a checkpoint: .safetensors, .pt, or the config.json of a folder",
        [this] { checkpointPage(m_window)->openFile(); });
    add("Open checkpoint folder...", {}, "Open a folder with config.json and its weights",
        [this] { checkpointPage(m_window)->openFolder(); });
    add("Open from hub...", QKeySequence("Ctrl+Shift+H"), "Open a model by its name on the hub",
        [this] { checkpointPage(m_window)->openFromHub(); });
    m_onHosts = m_menu->addMenu("Open checkpoint on");
    add("Open run...", QKeySequence("Ctrl+Alt+O"), "Open a run folder", [this] {
        const QString path =
            QFileDialog::getExistingDirectory(&m_window, "Open a run folder", m_c.runs.folder());
        if (!path.isEmpty()) m_window.opener().openRun(path);
    });
    add("Open study...", {}, "Open the folder of a study", [this] {
        m_window.showPage(PageId::Study);
        m_window.studyPage()->openStudy();
    });
    m_recent = m_menu->addMenu("Open recent");
    m_menu->addSeparator();
    add("Import data...", {}, "Read images from files on the Data page", [this] {
        m_window.showPage(PageId::Data);
        qobject_cast<DataPage*>(m_window.page(PageId::Data))->importWanted();
    });
    m_menu->addSeparator();
    add("Export view...", QKeySequence("Ctrl+E"), "Save a view as PNG, SVG, PDF or CSV",
        [this] { m_window.exporter().popUpMenu(); });
    add("Save screenshot...", {}, "Save an image of the whole window",
        [this] { saveScreenshot(); });
    m_menu->addSeparator();
    add("Quit", QKeySequence("Ctrl+Q"), "Close the window; asks first if a run is in progress",
        [this] { m_window.close(); });
    connect(&m_window.opener(), &Opener::recentChanged, this, &FileMenu::fillRecent);
    fillRecent();
    connect(&m_c.hosts, &HostsController::changed, this, &FileMenu::fillHosts);
    fillHosts();
}

void FileMenu::fillHosts() {
    m_onHosts->clear();
    for (const QString& host : m_c.hosts.usable())
        m_onHosts->addAction(host + QStringLiteral("..."), this,
                             [this, host] { checkpointPage(m_window)->openOn(host); });
    m_onHosts->menuAction()->setVisible(!m_c.hosts.hosts().empty());
    m_onHosts->menuAction()->setEnabled(!m_onHosts->isEmpty());
    m_onHosts->menuAction()->setToolTip(m_onHosts->isEmpty() ? "No machine is connected"
                                                             : QString());
}

void FileMenu::saveScreenshot() {
    QString path = QFileDialog::getSaveFileName(&m_window, "Save a screenshot of the window",
                                                "relascope.png", "PNG (*.png)");
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += ".png";
    if (m_window.grab().save(path, "PNG"))
        m_c.messages.ok(QString("Wrote %1").arg(path));
    else
        m_c.messages.error(
            QString("%1: could not be written; choose a folder that you may write to").arg(path));
}

void FileMenu::fillRecent() {
    m_recent->clear();
    const QStringList paths = m_window.opener().recentRuns();
    for (const auto& path : paths)
        add(
            m_c.runs.name(path), {}, path, [this, path] { m_window.opener().openRun(path); },
            m_recent);
    m_recent->menuAction()->setEnabled(!paths.isEmpty());
    m_recent->menuAction()->setToolTip(paths.isEmpty() ? "No run has been opened yet" : QString());
}

namespace {

/// The focused text field of Qt, or null.
QWidget* focusedText() {
    QWidget* field = QApplication::focusWidget();
    if (auto* spin = qobject_cast<QAbstractSpinBox*>(field)) field = spin->findChild<QLineEdit*>();
    return qobject_cast<QLineEdit*>(field) || qobject_cast<QPlainTextEdit*>(field) ||
                   qobject_cast<QTextEdit*>(field)
               ? field
               : nullptr;
}

/// Whether the field can undo (or redo) typing.
bool canUndoText(QWidget* field, bool redo) {
    if (auto* line = qobject_cast<QLineEdit*>(field))
        return redo ? line->isRedoAvailable() : line->isUndoAvailable();
    const QTextDocument* document = nullptr;
    if (auto* plain = qobject_cast<QPlainTextEdit*>(field)) document = plain->document();
    if (auto* rich = qobject_cast<QTextEdit*>(field)) document = rich->document();
    return document && (redo ? document->isRedoAvailable() : document->isUndoAvailable());
}

}  // namespace

EditMenu::EditMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    m_undo = add("Undo", QKeySequence("Ctrl+Z"), "Undo the last change of the options or the runs",
                 [this] { undo(false); });
    m_redo = add("Redo", QKeySequence("Ctrl+Shift+Z"), "Redo the change that was undone",
                 [this] { undo(true); });
    m_menu->addSeparator();
    const auto text = [this](const QString& name, QKeySequence::StandardKey key,
                             const QString& help, const char* slot) {
        m_text << add(name, key, help, [slot] {
            if (QWidget* field = focusedText()) QMetaObject::invokeMethod(field, slot);
        });
    };
    text("Cut", QKeySequence::Cut, "Cut the selected text of the field", "cut");
    text("Copy", QKeySequence::Copy, "Copy the selected text of the field", "copy");
    text("Paste", QKeySequence::Paste, "Paste text into the field", "paste");
    m_menu->addSeparator();
    m_inspect << add("Copy numbers", QKeySequence("Ctrl+Shift+C"),
                     "Copy the values of the selected cell",
                     [this] { copyText(m_window.activeInspector()->choice().footer()); });
    m_inspect << add("Copy map as table", {}, "Copy the values of the map as comma-separated text",
                     [this] { copyText(m_window.activeInspector()->choice().csv()); });
    m_menu->addSeparator();
    m_reset = add("Reset options", {}, "Reset all options to the preset",
                  [this] { m_c.experiment.reset(); });
    m_menu->addSeparator();
    add("Find experiment or run", QKeySequence("Ctrl+Shift+F"), "Filter the experiments and runs",
        [this] {
            m_window.sidebar()->show();
            m_window.sidebar()->searchField()->setFocus(Qt::ShortcutFocusReason);
        });
    connect(&m_c.history, &UndoHistory::changed, this, &EditMenu::refreshText);
    connect(qApp, &QApplication::focusChanged, this, &EditMenu::refreshText);
}

void EditMenu::undo(bool redo) {
    if (QWidget* field = focusedText(); canUndoText(field, redo)) {
        QMetaObject::invokeMethod(field, redo ? "redo" : "undo");
        return;
    }
    auto& history = m_c.history;
    const QString what = redo ? history.redoText() : history.undoText();
    if (what.isEmpty()) return;
    // Reported first: a step that fails reports its own error.
    m_c.messages.info(QString(redo ? "Redone: %1" : "Undone: %1").arg(what));
    redo ? history.redo() : history.undo();
}

void EditMenu::refreshText() {
    QWidget* field = focusedText();
    const auto& history = m_c.history;
    const auto show = [&](QAction* action, bool redo, const QString& verb, const QString& what,
                          bool any) {
        const bool text = canUndoText(field, redo);
        action->setText(text ? verb + " Typing" : what.isEmpty() ? verb : verb + u' ' + what);
        allow(action, text || any ? QString() : redo ? "Nothing to redo" : "Nothing to undo");
    };
    show(m_undo, false, "Undo", history.undoText(), history.canUndo());
    show(m_redo, true, "Redo", history.redoText(), history.canRedo());
    for (auto* action : m_text) allow(action, field ? QString() : "Click into a text field first");
}

void EditMenu::refresh() {
    refreshText();
    for (auto* action : m_inspect) allow(action, m_window.inspectDisabledReason());
    allow(m_reset, m_c.experiment.hasOptions() && !m_c.experiment.live()
                       ? QString()
                       : "The options of a running run cannot be reset");
}

}  // namespace relascope::app
