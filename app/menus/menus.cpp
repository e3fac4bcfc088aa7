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

#include "app/command_log.h"
#include "app/controllers/controllers.h"
#include "app/help.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/study_page.h"
#include "app/panes.h"
#include "app/run_export.h"
#include "widgets/bar/command_palette.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

void allow(QAction* action, const QString& reason) {
    if (action->property("help").isNull()) action->setProperty("help", action->toolTip());
    action->setEnabled(reason.isEmpty());
    action->setToolTip(reason.isEmpty() ? action->property("help").toString() : reason);
    action->setStatusTip(action->toolTip());
}

QAction* Menus::add(const QString& text, const QKeySequence& key, const QString& help, Slot slot,
                    Asked reason, Checked checked) {
    auto* action = m_menu->addAction(text);
    if (!key.isEmpty()) {
        action->setShortcut(key);
        addKey(key.toString(QKeySequence::NativeText), help);
    }
    action->setToolTip(help);
    action->setStatusTip(help);
    connect(action, &QAction::triggered, this, std::move(slot));
    if (reason)
        m_updates.emplace_back([action, reason = std::move(reason)] { allow(action, reason()); });
    if (checked) {
        action->setCheckable(true);
        m_updates.emplace_back(
            [action, checked = std::move(checked)] { action->setChecked(checked()); });
    }
    return action;
}

void Menus::named(QAction* action, Asked text) {
    m_updates.emplace_back([action, text = std::move(text)] { action->setText(text()); });
}

void Menus::addKey(const QString& key, const QString& help) {
    m_keys.push_back({m_group, key, help});
}

void Menus::separate() {
    m_menu->addSeparator();
}

QMenu* Menus::fill(QMenu* menu, const std::function<void()>& entries) {
    menu->setToolTipsVisible(true);
    connect(menu, &QMenu::aboutToShow, this, &Menus::refresh, Qt::UniqueConnection);
    QMenu* outer = std::exchange(m_menu, menu);
    entries();
    m_menu = outer;
    return menu;
}

QMenu* Menus::fill(const QString& title, const std::function<void()>& entries) {
    if (m_menu) return fill(m_menu->addMenu(title), entries);
    m_group = QString(title).remove(u'&');
    return fill(m_window.menuBar()->addMenu(title), entries);
}

Menus::Menus(MainWindow& window) : m_window(window), m_c(window.controllers()) {
    fill("&File", [this] { addFile(); });
    fill("&Edit", [this] { addEdit(); });
    fill("&Run", [this] { addRun(); });
    fill("&View", [this] { addView(); });
    fill("&Inspect", [this] { addInspect(); });
    fill("&Window", [this] { addWindow(); });
    fill("&Help", [this] { addHelp(); });
    addSearch();
    watch();
}

void Menus::refresh() {
    for (const auto& update : m_updates) update();
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
    addKey("Ctrl+K", "Find a command");
}

void Menus::watch() {
    auto& c = m_c;
    connect(&c.training, &TrainingController::stateChanged, this, &Menus::refresh);
    connect(&c.experiment, &ExperimentController::changed, this, &Menus::refresh);
    connect(&c.experiment, &ExperimentController::problemsChanged, this, &Menus::refresh);
    connect(&c.selection, &Selection::currentChanged, this, &Menus::refresh);
    connect(&c.selection, &Selection::runsChanged, this, &Menus::refresh);
    auto* exporting = &m_window.runActions().exporter().task();
    connect(exporting, &LongTask::began, this, &Menus::refresh);
    connect(exporting, &LongTask::ended, this, &Menus::refresh);
    connect(&c.checkpoint.feed(), &InspectorFeed::inspected, this, &Menus::refresh);
    connect(&c.checkpoint, &CheckpointController::loadedChanged, this, &Menus::refresh);
    // Maps that follow maps change no entry.
    const auto shown = std::make_shared<bool>(false);
    connect(&c.runInput, &RunInput::cleared, this, [this, shown] {
        *shown = false;
        refresh();
    });
    connect(&c.runInput.feed(), &InspectorFeed::inspected, this, [this, shown] {
        if (!std::exchange(*shown, true)) refresh();
    });
    for (const auto* edits : {&c.runEdits, &c.checkpointEdits})
        connect(edits, &InspectorEdits::stateChanged, this, &Menus::refresh);
    connect(&m_window.duelPage()->feeds(), &DuelFeeds::answered, this, &Menus::refresh);
    for (const auto* inspector : m_window.findChildren<widgets::RelationInspector*>())
        for (const auto signal :
             {&widgets::RelationInspector::textShown, &widgets::RelationInspector::pinChanged})
            connect(inspector, signal, this, &Menus::refresh);
}

void Menus::addWindow() {
    add("Next page", QKeySequence("Ctrl+Tab"), "Show the next page", [this] {
        const auto next = (static_cast<std::size_t>(m_window.currentPage()) + 1) % kPages.size();
        m_window.showPage(kPages[next]);
        enterPage(m_window);
    });
    add("Minimise", {}, "Minimise the window", [this] { m_window.showMinimized(); });
    add("Resize to 1440 x 900", {},
        "Resize the window to the size of the pictures in the documentation", [this] {
            m_window.showNormal();
            m_window.resize(1440, 900);
        });
    separate();
    for (const PageId id : kPages)
        add(pageTitle(id), QKeySequence(QStringLiteral("Ctrl+%1").arg(static_cast<int>(id) + 1)),
            QString("Go to the page %1").arg(pageTitle(id)), [this, id] {
                m_window.showPage(id);
                enterPage(m_window);
            });
    separate();
    add("Next part of the window", QKeySequence(Qt::Key_F6),
        "Move the keyboard to the next part: bar, lists, map, curves, options",
        [this] { enterNextPane(m_window, false); });
    add("Previous part of the window", QKeySequence("Shift+F6"),
        "Move the keyboard to the part before", [this] { enterNextPane(m_window, true); });
}

void Menus::addHelp() {
    add("Keyboard shortcuts", QKeySequence::HelpContents, "Show all keyboard shortcuts", [this] {
        auto* sheet = new widgets::ShortcutSheet(m_keys, &m_window);
        sheet->setAttribute(Qt::WA_DeleteOnClose);
        sheet->open();
    });
    add("Tour", {},
        QString::fromUtf8("What r, i \u2190 j and \u03B1 are, and the parts of the window"),
        [this] { showTour(m_window); });
    add("Documentation", QKeySequence("Ctrl+F1"), "Models, experiments, file formats, glossary",
        [this] { showDocuments(&m_window); });
    add("What is new", {}, "The changes of this version and of those before",
        [this] { showNews(m_window); });
    separate();
    add("About Relascope", {}, "Version and licences", [this] { showAbout(&m_window); });
}

namespace {

CheckpointPage* checkpointPage(const MainWindow& window) {
    return qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
}

}  // namespace

void Menus::addFile() {
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
        "Open a checkpoint: .safetensors, .pt, or a folder with config.json",
        [this] { checkpointPage(m_window)->openFile(); });
    add("Open from hub...", QKeySequence("Ctrl+Shift+H"), "Open a model by its name on the hub",
        [this] { checkpointPage(m_window)->openFromHub(); });
    add("Open served model...", {}, "Open a model that a program of yours serves: relascope.serve",
        [this] { checkpointPage(m_window)->openServed(); });
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
    add("Open view...", {}, "Open a view that was saved: name.relaview", [this] {
        const QString path =
            QFileDialog::getOpenFileName(&m_window, "Open a view", {}, "Views (*.relaview)");
        if (!path.isEmpty()) m_window.opener().openAll({path});
    });
    m_recent = m_menu->addMenu("Open recent");
    m_recent->setToolTipsVisible(true);
    separate();
    add("Import data...", {}, "Read images from files on the Data page", [this] {
        m_window.showPage(PageId::Data);
        qobject_cast<DataPage*>(m_window.page(PageId::Data))->importWanted();
    });
    separate();
    add("Export view...", QKeySequence("Ctrl+E"), "Save a view as PNG, SVG, PDF or CSV",
        [this] { m_window.exporter().popUpMenu(); });
    add("Save screenshot...", {}, "Save an image of the whole window",
        [this] { saveScreenshot(); });
    add(
        "Commands...", {}, "What was done in this window, as a script that does it again",
        [this] {
            auto* dialog = new CommandLogDialog(&m_window);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        },
        [] { return commandLog().isEmpty() ? QString("Nothing was opened yet") : QString(); });
    separate();
    add("Quit", QKeySequence("Ctrl+Q"), "Close the window; asks first if a run is in progress",
        [this] { m_window.close(); });
    connect(&m_window.opener(), &Opener::recentChanged, this, &Menus::fillRecent);
    fillRecent();
    connect(&m_c.hosts, &HostsController::changed, this, &Menus::fillHosts);
    fillHosts();
}

void Menus::fillHosts() {
    m_onHosts->clear();
    for (const QString& host : m_c.hosts.usable())
        m_onHosts->addAction(host + QStringLiteral("..."), this,
                             [this, host] { checkpointPage(m_window)->openOn(host); });
    m_onHosts->menuAction()->setVisible(!m_c.hosts.hosts().empty());
    m_onHosts->menuAction()->setEnabled(!m_onHosts->isEmpty());
    m_onHosts->menuAction()->setToolTip(m_onHosts->isEmpty() ? "No machine is connected"
                                                             : QString());
}

void Menus::saveScreenshot() {
    QString path = widgets::chooseSaveFile(&m_window, "Save a screenshot of the window",
                                           "relascope.png", "PNG (*.png)");
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += ".png";
    if (m_window.grab().save(path, "PNG"))
        m_c.messages.ok(QString("Wrote %1").arg(path));
    else
        m_c.messages.error(
            QString("%1: could not be written; choose a folder that you may write to").arg(path));
}

void Menus::fillRecent() {
    m_recent->clear();
    const QStringList paths = m_window.opener().recentRuns();
    QMenu* outer = std::exchange(m_menu, m_recent);
    for (const auto& path : paths)
        add(m_c.runs.name(path), {}, path, [this, path] { m_window.opener().openRun(path); });
    m_menu = outer;
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

void Menus::addEdit() {
    const auto undoes = [this](bool redo, const QString& verb, const char* key, const QString& help,
                               const QString& nothing) {
        auto* action = add(
            verb, QKeySequence(key), help, [this, redo] { undo(redo); },
            [this, redo, nothing] {
                const bool any = nextStep(m_c.history, redo) >= 0;
                return any || canUndoText(focusedText(), redo) ? QString() : nothing;
            });
        named(action, [this, redo, verb] {
            const QString what = canUndoText(focusedText(), redo)
                                     ? QStringLiteral("Typing")
                                     : m_c.history.text(nextStep(m_c.history, redo));
            return what.isEmpty() ? verb : verb + u' ' + what;
        });
    };
    undoes(false, "Undo", "Ctrl+Z", "Undo the last change of the options or the runs",
           "Nothing to undo");
    undoes(true, "Redo", "Ctrl+Shift+Z", "Redo the change that was undone", "Nothing to redo");
    separate();
    const auto text = [this](const QString& name, QKeySequence::StandardKey key,
                             const QString& help, const char* slot) {
        add(
            name, key, help,
            [slot] {
                if (QWidget* field = focusedText()) QMetaObject::invokeMethod(field, slot);
            },
            [] { return focusedText() ? QString() : "Click into a text field first"; });
    };
    text("Cut", QKeySequence::Cut, "Cut the selected text of the field", "cut");
    text("Copy", QKeySequence::Copy, "Copy the selected text of the field", "copy");
    text("Paste", QKeySequence::Paste, "Paste text into the field", "paste");
    separate();
    const auto inspects = [this] { return m_window.inspectDisabledReason(); };
    add(
        "Copy numbers", QKeySequence("Ctrl+Shift+C"), "Copy the values of the selected cell",
        [this] { copyText(m_window.activeInspector()->choice().footer()); }, inspects);
    add(
        "Copy map as table", {}, "Copy the values of the map as comma-separated text",
        [this] { copyText(m_window.activeInspector()->choice().csv()); }, inspects);
    separate();
    add(
        "Reset options", {}, "Reset all options to the preset", [this] { m_c.experiment.reset(); },
        [this] {
            return m_c.experiment.hasOptions() && !m_c.experiment.live()
                       ? QString()
                       : "The options of a running run cannot be reset";
        });
    separate();
    add("Find experiment or run", QKeySequence("Ctrl+Shift+F"), "Filter the experiments and runs",
        [this] {
            m_window.sidebar()->show();
            m_window.sidebar()->searchField()->setFocus(Qt::ShortcutFocusReason);
        });
    connect(&m_c.history, &QUndoStack::indexChanged, this, &Menus::refresh);
    connect(qApp, &QApplication::focusChanged, this, &Menus::refresh);
}

void Menus::undo(bool redo) {
    if (QWidget* field = focusedText(); canUndoText(field, redo)) {
        QMetaObject::invokeMethod(field, redo ? "redo" : "undo");
        return;
    }
    const QString what = m_c.history.text(nextStep(m_c.history, redo));
    if (what.isEmpty()) return;
    // Reported first: a step that fails reports its own error.
    m_c.messages.info(QString(redo ? "Redone: %1" : "Undone: %1").arg(what));
    takeStep(m_c.history, redo);
}

}  // namespace relascope::app
