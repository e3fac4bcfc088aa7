// The menus: every entry calls something that exists elsewhere, and says why when it cannot.
#include <QAbstractSpinBox>
#include <QActionGroup>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTextEdit>

#include "app/about.h"
#include "app/command_field.h"
#include "app/controllers/controllers.h"
#include "app/documents.h"
#include "app/main_window_actions.h"
#include "app/pages/study_page.h"
#include "app/pages/workbench_page.h"
#include "app/tour.h"
#include "app/wiring.h"
#include "widgets/bar/command_palette.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/lists/rail.h"
#include "widgets/theme/icons.h"

namespace relascope {
namespace {

void enable(QAction* action, bool enabled, const QString& reason) {
    if (action->property("help").isNull()) action->setProperty("help", action->toolTip());
    action->setEnabled(enabled);
    action->setToolTip(enabled ? action->property("help").toString() : reason);
    action->setStatusTip(action->toolTip());
}

/// A field whose text can be edited, of those that Qt has; null when none is in focus.
QWidget* focusedText() {
    QWidget* field = QApplication::focusWidget();
    if (auto* spin = qobject_cast<QAbstractSpinBox*>(field)) field = spin->findChild<QLineEdit*>();
    return qobject_cast<QLineEdit*>(field) || qobject_cast<QPlainTextEdit*>(field) ||
                   qobject_cast<QTextEdit*>(field)
               ? field
               : nullptr;
}

/// Whether the field can take back (or do again) what was typed into it.
bool canUndoText(QWidget* field, bool redo) {
    if (auto* line = qobject_cast<QLineEdit*>(field))
        return redo ? line->isRedoAvailable() : line->isUndoAvailable();
    const QTextDocument* document = nullptr;
    if (auto* plain = qobject_cast<QPlainTextEdit*>(field)) document = plain->document();
    if (auto* rich = qobject_cast<QTextEdit*>(field)) document = rich->document();
    return document && (redo ? document->isRedoAvailable() : document->isUndoAvailable());
}

}  // namespace

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& key,
                         const QString& help, std::function<void()> slot) {
    auto* action = menu->addAction(text);
    if (!key.isEmpty()) action->setShortcut(key);
    action->setToolTip(help);
    action->setStatusTip(help);
    menu->setToolTipsVisible(true);
    if (!key.isEmpty()) m_actions->keys.emplace_back(key.toString(QKeySequence::NativeText), help);
    connect(action, &QAction::triggered, this, std::move(slot));
    return action;
}

void MainWindow::makeMenus() {
    makeFileMenu();
    makeEditMenu();
    makeRunMenu();
    makeViewMenu();
    makeInspectMenu();
    makeWindowMenu();
    makeHelpMenu();
    auto* field = new CommandField(this);
    menuBar()->setCornerWidget(field, Qt::TopRightCorner);
    connect(field, &QAbstractButton::clicked, this, [this] {
        if (!m_palette) m_palette = new CommandPalette(this);
        m_palette->setActions(commands());
        m_palette->popUp();
    });
    auto* find = new QAction(QStringLiteral("Find a command"), this);
    find->setShortcut(QKeySequence(QStringLiteral("Ctrl+K")));
    addAction(find);
    connect(find, &QAction::triggered, field, &QAbstractButton::click);
    m_actions->keys.emplace_back(QStringLiteral("Ctrl+K"), QStringLiteral("Find a command"));
    watchActions();
}

void MainWindow::makeFileMenu() {
    auto& c = *m_controllers;
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&File"));
    add(menu, QStringLiteral("New run"), QKeySequence::New,
        QStringLiteral("Reset the options to the preset for a new run"), [&c] {
            const auto& options = c.experiment.options();
            c.experiment.choosePreset(QString::fromStdString(options.preset),
                                      QString::fromStdString(options.variant));
        });
    add(menu, QStringLiteral("New study..."), QKeySequence(QStringLiteral("Ctrl+Shift+N")),
        QStringLiteral("Compare models, training sizes and seeds"), [this] {
            showPage(QStringLiteral("Study"));
            studyPage()->newStudy();
        });
    add(menu, QStringLiteral("Open checkpoint..."), QKeySequence::Open,
        QStringLiteral("Open a checkpoint: .safetensors, .pt, or the config.json of a folder"),
        [this] { m_actions->openCheckpoint(false); });
    add(menu, QStringLiteral("Open checkpoint folder..."), {},
        QStringLiteral("Open a folder with config.json and its weights"),
        [this] { m_actions->openCheckpoint(true); });
    add(menu, QStringLiteral("Open run..."), QKeySequence(QStringLiteral("Ctrl+Alt+O")),
        QStringLiteral("Open a run folder"), [this, &c] {
            const QString path = QFileDialog::getExistingDirectory(
                this, QStringLiteral("Open a run folder"), c.runs.folder());
            if (!path.isEmpty()) openRun(path);
        });
    add(menu, QStringLiteral("Open study..."), {}, QStringLiteral("Open the folder of a study"),
        [this] {
            showPage(QStringLiteral("Study"));
            studyPage()->openStudy();
        });
    m_actions->recent = menu->addMenu(QStringLiteral("Open recent"));
    menu->addSeparator();
    m_actions->import = add(menu, QStringLiteral("Import data..."), {},
                            QStringLiteral("Read images from files on the Data page"), [this] {
                                showPage(QStringLiteral("Data"));
                                m_actions->importData();
                            });
    menu->addSeparator();
    m_actions->exporting =
        add(menu, QStringLiteral("Export view..."), QKeySequence(QStringLiteral("Ctrl+E")),
            QStringLiteral("Save a view as PNG, SVG, PDF or CSV"), [this] { showExportMenu(); });
    add(menu, QStringLiteral("Save screenshot..."), {},
        QStringLiteral("Save an image of the whole window"), [this, &c] {
            QString path = QFileDialog::getSaveFileName(
                this, QStringLiteral("Save a screenshot of the window"),
                QStringLiteral("relascope.png"), QStringLiteral("PNG (*.png)"));
            if (path.isEmpty()) return;
            if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".png");
            if (grab().save(path, "PNG"))
                c.messages.ok(QString("Wrote %1").arg(path));
            else
                c.messages.error(
                    QString("%1: could not be written; choose a folder that you may write to")
                        .arg(path));
        });
    menu->addSeparator();
    add(menu, QStringLiteral("Quit"), QKeySequence(QStringLiteral("Ctrl+Q")),
        QStringLiteral("Close the window; asks first if a run is in progress"),
        [this] { close(); });
}

void MainWindow::makeEditMenu() {
    auto& c = *m_controllers;
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&Edit"));
    auto& a = *m_actions;
    a.undo = add(menu, QStringLiteral("Undo"), QKeySequence(QStringLiteral("Ctrl+Z")),
                 QStringLiteral("Undo the last change of the options or the runs"),
                 [this] { undo(false); });
    a.redo = add(menu, QStringLiteral("Redo"), QKeySequence(QStringLiteral("Ctrl+Shift+Z")),
                 QStringLiteral("Redo the change that was undone"), [this] { undo(true); });
    menu->addSeparator();
    const auto text = [this, menu](const QString& words, QKeySequence::StandardKey key,
                                   const QString& help, const char* slot) {
        return add(menu, words, key, help, [slot] {
            if (QWidget* field = focusedText()) QMetaObject::invokeMethod(field, slot);
        });
    };
    a.cut = text(QStringLiteral("Cut"), QKeySequence::Cut,
                 QStringLiteral("Cut the selected text of the field"), "cut");
    a.copyText = text(QStringLiteral("Copy"), QKeySequence::Copy,
                      QStringLiteral("Copy the selected text of the field"), "copy");
    a.paste = text(QStringLiteral("Paste"), QKeySequence::Paste,
                   QStringLiteral("Paste text into the field"), "paste");
    menu->addSeparator();
    connect(menu, &QMenu::aboutToShow, this, &MainWindow::refreshEditActions);
    m_actions->copy =
        add(menu, QStringLiteral("Copy numbers"), QKeySequence(QStringLiteral("Ctrl+Shift+C")),
            QStringLiteral("Copy the values of the selected cell"),
            [this] { copyText(activeInspector()->footerText()); });
    m_actions->inspect << m_actions->copy;
    m_actions->inspect << add(menu, QStringLiteral("Copy map as table"), {},
                              QStringLiteral("Copy the values of the map as comma-separated text"),
                              [this] { copyText(activeInspector()->csv()); });
    menu->addSeparator();
    m_actions->reset =
        add(menu, QStringLiteral("Reset options"), {},
            QStringLiteral("Reset all options to the preset"), [&c] { c.experiment.reset(); });
    menu->addSeparator();
    add(menu, QStringLiteral("Find experiment or run"), QKeySequence::Find,
        QStringLiteral("Filter the experiments and runs"), [this] {
            m_rail->show();
            m_rail->searchField()->setFocus(Qt::ShortcutFocusReason);
        });
}

void MainWindow::makeRunMenu() {
    auto& c = *m_controllers;
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&Run"));
    m_actions->toggle = add(menu, QStringLiteral("Start"), QKeySequence(Qt::Key_Space),
                            QStringLiteral("Start or pause"), [&c] { toggleTraining(c); });
    m_actions->step =
        add(menu, QStringLiteral("One step"), QKeySequence(Qt::Key_N),
            QStringLiteral("One optimizer step while paused"), [&c] { c.training.step(); });
    m_actions->stop =
        add(menu, QStringLiteral("Stop"), {}, QStringLiteral("Stop after this epoch"), [&c] {
            if (c.training.ending())
                c.training.cancel();
            else
                c.training.stop();
        });
    m_actions->cancel =
        add(menu, QStringLiteral("Cancel"), {}, QStringLiteral("Stop at once, after a checkpoint"),
            [&c] { c.training.cancel(); });
    menu->addSeparator();
    for (const auto& entry : m_runActions->entries({})) {
        auto* action = add(menu, entry.text, {}, entry.help, [this, kind = entry.kind] {
            m_runActions->perform(kind, {m_controllers->selection.current()});
        });
        m_actions->run.emplace_back(entry.kind, action);
    }
    menu->addSeparator();
    add(menu, QStringLiteral("Reload runs"), QKeySequence::Refresh,
        QStringLiteral("Read the runs folder again and show hidden runs"),
        [&c] { c.runs.reload(); });
    m_actions->hidden = add(menu, QStringLiteral("Show hidden runs"), {},
                            QStringLiteral("List hidden runs as well"),
                            [&c] { c.runs.setShowHidden(!c.runs.showsHidden()); });
    m_actions->hidden->setCheckable(true);
    connect(menu, &QMenu::aboutToShow, this, &MainWindow::refreshActions);
}

void MainWindow::makeViewMenu() {
    auto* curves = m_workbench->curves();
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&View"));
    QMenu* theme = menu->addMenu(QStringLiteral("Theme"));
    m_actions->themes = new QActionGroup(this);
    for (const auto& [words, mode] : {std::pair{"System", ThemeMode::System},
                                      {"Light", ThemeMode::Light},
                                      {"Dark", ThemeMode::Dark}}) {
        auto* action =
            add(theme, QString("%1 theme").arg(QLatin1String(words)), {},
                QStringLiteral("Colours of the window"), [this, mode] { setTheme(mode); });
        action->setCheckable(true);
        action->setData(static_cast<int>(mode));
        m_actions->themes->addAction(action);
    }
    menu->addSeparator();
    const auto toggle = [&](const QString& text, const QKeySequence& key, const QString& help,
                            std::function<void()> slot) {
        auto* action = add(menu, text, key, help, std::move(slot));
        action->setCheckable(true);
        return action;
    };
    m_actions->rail =
        toggle(QStringLiteral("Experiments and runs"), QKeySequence(QStringLiteral("Ctrl+B")),
               QStringLiteral("Show or hide the experiments and runs"),
               [this] { m_rail->setVisible(m_rail->isHidden()); });
    m_actions->options =
        toggle(QStringLiteral("Options"), QKeySequence(QStringLiteral("Ctrl+Shift+O")),
               QStringLiteral("Show or collapse the options"),
               [this] { m_form->setCollapsed(!m_form->collapsed()); });
    m_actions->log = toggle(QStringLiteral("Log"), QKeySequence(QStringLiteral("Ctrl+Shift+L")),
                            QStringLiteral("Show or hide the log"), [this] {
                                m_log->setVisible(m_log->isHidden());
                                m_status->setLogShown(!m_log->isHidden());
                            });
    menu->addSeparator();
    QMenu* axis = menu->addMenu(QStringLiteral("Horizontal axis"));
    m_actions->axes = new QActionGroup(this);
    for (const auto& [words, value] : {std::pair{"Step", CurveAxis::Step},
                                       {"Epoch", CurveAxis::Epoch},
                                       {"Time", CurveAxis::Time},
                                       {"Tokens", CurveAxis::Tokens}}) {
        auto* action = add(axis, QString("Curves by %1").arg(QString::fromLatin1(words).toLower()),
                           {}, QStringLiteral("Quantity on the horizontal axis of the curves"),
                           [curves, value] { curves->setAxis(value); });
        action->setCheckable(true);
        action->setData(static_cast<int>(value));
        m_actions->axes->addAction(action);
    }
    m_actions->logX = toggle(QStringLiteral("Logarithmic x"), {},
                             QStringLiteral("Logarithmic horizontal axis of the curves"),
                             [curves] { curves->setLogX(!curves->logX()); });
    m_actions->logY =
        toggle(QStringLiteral("Logarithmic y"), QKeySequence(Qt::Key_L),
               QStringLiteral("Logarithmic loss"), [curves] { curves->setLogY(!curves->logY()); });
    m_actions->smooth = toggle(QStringLiteral("Smooth curves"), {},
                               QStringLiteral("Exponential moving average of the curves"),
                               [curves] { curves->setSmooth(!curves->smooth()); });
    add(menu, QStringLiteral("Reset zoom"), QKeySequence(Qt::Key_Home),
        QStringLiteral("Show the full range of the curves"), [curves] { curves->resetZoom(); });
    makeStudyMenu(menu);
    menu->addSeparator();
    m_actions->full = toggle(QStringLiteral("Full screen"), QKeySequence(Qt::Key_F11),
                             QStringLiteral("Show the window on the whole screen"),
                             [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    connect(menu, &QMenu::aboutToShow, this, &MainWindow::refreshActions);
    connect(axis, &QMenu::aboutToShow, this, &MainWindow::refreshActions);
}

void MainWindow::makeInspectMenu() {
    auto& c = *m_controllers;
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&Inspect"));
    const auto inspector = [this] { return activeInspector(); };
    const auto entry = [&](const QString& text, const QKeySequence& key, const QString& help,
                           std::function<void()> slot) {
        auto* action = add(menu, text, key, help, std::move(slot));
        m_actions->inspect << action;
        return action;
    };
    const char* kinds[] = {"Relation r", "Relational attention", "Sensory attention",
                           "Attention x relation", "Symbols"};
    for (int k = 0; k < 5; ++k)
        entry(QString::fromLatin1(kinds[k]), QKeySequence(Qt::Key_1 + k),
              QString("Show %1").arg(QString::fromLatin1(kinds[k]).toLower()),
              [inspector, k] { inspector()->setKindByNumber(k + 1); });
    menu->addSeparator();
    // The arrow keys are the window's own (MainWindow::keyPressEvent): panes with the focus use
    // them first.
    const auto arrow = [&](const QString& text, const QString& key, const QString& help,
                           std::function<void()> slot) {
        entry(text + u'\t' + key, {}, help, std::move(slot));
        m_actions->keys.emplace_back(key, help);
    };
    arrow(QStringLiteral("Previous relation"), QStringLiteral("Left"),
          QStringLiteral("Show the previous map"),
          [inspector] { inspector()->previousRelation(); });
    arrow(QStringLiteral("Next relation"), QStringLiteral("Right"),
          QStringLiteral("Show the next map"), [inspector] { inspector()->nextRelation(); });
    arrow(QStringLiteral("Next layer"), QStringLiteral("Up"), QStringLiteral("Show the next layer"),
          [inspector] { inspector()->nextLayer(); });
    arrow(QStringLiteral("Previous layer"), QStringLiteral("Down"),
          QStringLiteral("Show the previous layer"), [inspector] { inspector()->previousLayer(); });
    menu->addSeparator();
    entry(QStringLiteral("Swap direction (i \u2194 j)"), QKeySequence(Qt::Key_D),
          QStringLiteral("Switch between i \u2192 j and j \u2192 i"),
          [inspector] { inspector()->toggleDirection(); });
    entry(QStringLiteral("Next transform"), QKeySequence(Qt::Key_P),
          QStringLiteral("Raw, tanh, sigmoid, softmax, top k"),
          [inspector] { inspector()->cycleProcessing(); });
    menu->addSeparator();
    entry(QStringLiteral("Random sample"), QKeySequence(Qt::Key_R),
          QStringLiteral("Show a random sample"), [inspector] { inspector()->randomSample(); });
    entry(QStringLiteral("Next sample"), QKeySequence(QStringLiteral("Ctrl+Right")),
          QStringLiteral("Show the next sample"),
          [inspector] { inspector()->sourcePane()->next(); });
    entry(QStringLiteral("Previous sample"), QKeySequence(QStringLiteral("Ctrl+Left")),
          QStringLiteral("Show the previous sample"),
          [inspector] { inspector()->sourcePane()->previous(); });
    m_actions->write =
        add(menu, QStringLiteral("Generate text with this run"), {},
            QStringLiteral(
                "Generate text with the newest weights of the run shown, on the Checkpoint page"),
            [this, &c] { writeWithRun(c.selection.current()); });
    m_actions->image = entry(
        QStringLiteral("Inspect image..."), {},
        QStringLiteral("Inspect a PNG or JPEG file; files can also be dropped onto the inspector"),
        [this, &c] {
            const QString path =
                QFileDialog::getOpenFileName(this, QStringLiteral("Inspect image"), {},
                                             QStringLiteral("Images (*.png *.jpg *.jpeg)"));
            if (!path.isEmpty()) c.probe.chooseImage(path);
        });
    menu->addSeparator();
    m_actions->live = entry(QStringLiteral("Follow the newest weights"), {},
                            QStringLiteral("Move the time cursor to the newest step"),
                            [&c] { c.selection.setStep(std::nullopt); });
}

void MainWindow::makeWindowMenu() {
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&Window"));
    m_actions->pages = menu;
    add(menu, QStringLiteral("Next page"), QKeySequence(QStringLiteral("Ctrl+Tab")),
        QStringLiteral("Show the next page"),
        [this] { m_tabs->setCurrentIndex((m_tabs->currentIndex() + 1) % m_tabs->count()); });
    add(menu, QStringLiteral("Minimise"), {}, QStringLiteral("Minimise the window"),
        [this] { showMinimized(); });
    add(menu, QStringLiteral("Resize to 1440 x 900"), {},
        QStringLiteral("Resize the window to the size of the pictures in the documentation"),
        [this] {
            showNormal();
            resize(1440, 900);
        });
    menu->addSeparator();
}

void MainWindow::makeHelpMenu() {
    QMenu* menu = menuBar()->addMenu(QStringLiteral("&Help"));
    add(menu, QStringLiteral("Keyboard shortcuts"), QKeySequence::HelpContents,
        QStringLiteral("Show all keyboard shortcuts"), [this] { showShortcuts(); });
    add(menu, QStringLiteral("Tour"), {},
        QString::fromUtf8("What r, i \u2192 j and \u03B1 are, and the parts of the window"),
        [this] { showTour(*this); });
    add(menu, QStringLiteral("Documentation"), QKeySequence(QStringLiteral("Ctrl+F1")),
        QStringLiteral("Models, experiments, file formats, glossary"),
        [this] { showDocuments(this); });
    menu->addSeparator();
    add(menu, QStringLiteral("About Relascope"), {}, QStringLiteral("Version and licences"),
        [this] { showAbout(this); });
}

QList<QAction*> MainWindow::commands() const {
    QList<QAction*> all;
    const auto gather = [&all](const auto& self, const QList<QAction*>& actions) -> void {
        for (auto* action : actions) {
            if (action->menu())
                self(self, action->menu()->actions());
            else if (!action->isSeparator())
                all << action;
        }
    };
    gather(gather, menuBar()->actions());
    return all;
}

void MainWindow::fillRecent() {
    if (!m_actions->recent) return;
    m_actions->recent->clear();
    for (const auto& path : m_recent)
        add(m_actions->recent, m_controllers->runs.name(path), {}, path,
            [this, path] { openRun(path); });
    m_actions->recent->menuAction()->setEnabled(!m_recent.isEmpty());
    m_actions->recent->menuAction()->setToolTip(
        m_recent.isEmpty() ? QStringLiteral("No run has been opened yet") : QString());
}

void MainWindow::watchActions() {
    const QList<QKeySequence> keys = {
        QKeySequence(QStringLiteral("Ctrl+1")), QKeySequence(QStringLiteral("Ctrl+2")),
        QKeySequence(QStringLiteral("Ctrl+3")), QKeySequence(QStringLiteral("Ctrl+4")),
        QKeySequence(QStringLiteral("Ctrl+5"))};
    // Pages come after the menus: their entries are made when the first page changes or the menu
    // opens.
    const auto fillPages = [this, keys] {
        for (int i = m_actions->pageCount; i < m_tabs->count(); ++i) {
            add(m_actions->pages, m_tabs->tabText(i), keys.value(i),
                QString("Go to the page %1").arg(m_tabs->tabText(i)),
                [this, i] { m_tabs->setCurrentIndex(i); });
            m_actions->pageCount = i + 1;
        }
    };
    connect(m_actions->pages, &QMenu::aboutToShow, this, fillPages);
    QMetaObject::invokeMethod(this, fillPages, Qt::QueuedConnection);
    connect(&m_controllers->probe, &ProbeController::resultReady, this,
            [this, shown = false](const std::shared_ptr<const ProbeResult>&) mutable {
                if (!std::exchange(shown, true)) refreshActions();
            });
    connect(&m_controllers->probe, &ProbeController::cleared, this, &MainWindow::refreshActions);
}

void MainWindow::refreshActions() {
    const auto& c = *m_controllers;
    auto& a = *m_actions;
    if (!a.toggle || !a.exporting) return;
    const bool running = c.training.running(), paused = c.training.paused(),
               busy = c.training.busy();
    const QString nothing = QStringLiteral("No run is training");
    a.toggle->setText(running                            ? QStringLiteral("Pause")
                      : paused || c.experiment.resumes() ? QStringLiteral("Resume")
                                                         : QStringLiteral("Start"));
    enable(
        a.toggle,
        busy ? !c.training.preparing() && !c.training.endingNow()
             : c.experiment.obstacle().isEmpty(),
        busy ? QStringLiteral("Wait until the run has started or ended") : c.experiment.obstacle());
    enable(a.step, paused, QStringLiteral("Available while the run is paused"));
    const QString saving = QStringLiteral("The run is saving a checkpoint");
    const bool now = c.training.endingNow();
    a.stop->setText(c.training.ending() && !now ? QStringLiteral("Stop now")
                                                : QStringLiteral("Stop"));
    enable(a.stop, (running || paused) && !now, now ? saving : nothing);
    enable(a.cancel, busy && !now, now ? saving : nothing);
    enable(a.reset, c.experiment.hasOptions() && !c.experiment.live(),
           QStringLiteral("The options of a running run cannot be reset"));
    const QString current = c.selection.current();
    const auto entries =
        m_runActions->entries(current.isEmpty() ? QStringList() : QStringList{current});
    for (std::size_t i = 0; i < entries.size(); ++i) {
        a.run[i].second->setText(entries[i].text);
        enable(a.run[i].second, entries[i].reason.isEmpty(), entries[i].reason);
    }
    a.hidden->setChecked(c.runs.showsHidden());
    enable(a.hidden, c.runs.hiddenRuns() > 0, QStringLiteral("No run is hidden"));
    enable(a.import, page(QStringLiteral("Data")) != nullptr,
           QStringLiteral("There is no Data page in this window"));
    const bool looking = activeInspector()->result() != nullptr;
    const bool onCheckpoint = activeInspector() != m_workbench->inspector();
    for (auto* action : a.inspect)
        enable(action, looking,
               onCheckpoint ? QStringLiteral("Press Inspect to load the weights")
                            : QStringLiteral("Start or open a run to inspect it"));
    enable(a.image, looking && !onCheckpoint,
           onCheckpoint ? QStringLiteral("Use the source pane of the checkpoint's inspector")
                        : QStringLiteral("Start or open a run to inspect it"));
    enable(a.write, c.probe.readsText(),
           QStringLiteral("Select a run of a language model on the Workbench first"));
    enable(a.live, looking && !onCheckpoint && c.selection.step().has_value(),
           QStringLiteral("The inspector already shows the newest weights"));
    const auto* curves = m_workbench->curves();
    for (auto* action : a.themes->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(m_theme));
    for (auto* action : a.axes->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(curves->axis()));
    a.logX->setChecked(curves->logX());
    a.logY->setChecked(curves->logY());
    a.smooth->setChecked(curves->smooth());
    a.rail->setChecked(!m_rail->isHidden());
    a.options->setChecked(!m_form->collapsed());
    a.log->setChecked(!m_log->isHidden());
    a.full->setChecked(isFullScreen());
    refreshStudyActions();
    refreshEditActions();
}

void MainWindow::undo(bool redo) {
    if (QWidget* field = focusedText(); canUndoText(field, redo)) {
        QMetaObject::invokeMethod(field, redo ? "redo" : "undo");
        return;
    }
    auto& history = m_controllers->history;
    const QString what = redo ? history.redoText() : history.undoText();
    if (what.isEmpty()) return;
    // Said first: a step that fails reports that itself.
    m_controllers->messages.info(
        (redo ? QStringLiteral("Redone: %1") : QStringLiteral("Undone: %1")).arg(what));
    redo ? history.redo() : history.undo();
}

void MainWindow::refreshEditActions() {
    auto& a = *m_actions;
    if (!a.paste) return;
    QWidget* field = focusedText();
    const auto& history = m_controllers->history;
    const auto show = [&](QAction* action, bool redo, const QString& verb, const QString& what,
                          bool any) {
        const bool text = canUndoText(field, redo);
        action->setText(text             ? verb + QStringLiteral(" Typing")
                        : what.isEmpty() ? verb
                                         : verb + u' ' + what);
        enable(action, text || any,
               redo ? QStringLiteral("Nothing to redo") : QStringLiteral("Nothing to undo"));
    };
    show(a.undo, false, QStringLiteral("Undo"), history.undoText(), history.canUndo());
    show(a.redo, true, QStringLiteral("Redo"), history.redoText(), history.canRedo());
    const QString none = QStringLiteral("Click into a text field first");
    for (QAction* action : {a.cut, a.copyText, a.paste}) enable(action, field != nullptr, none);
}

void MainWindow::showExportMenu() {
    QMenu menu(this);
    menu.setToolTipsVisible(true);
    for (auto* view : findChildren<ViewMenu*>()) {
        if (!view->view()->isVisible()) continue;
        view->menu()->setTitle(view->view()->accessibleName());
        menu.addMenu(view->menu());
    }
    menu.addSeparator();
    menu.addAction(exportAllAction());
    menu.exec(mapToGlobal(QPoint(menuBar()->actionGeometry(menuBar()->actions().first()).left() + 8,
                                 menuBar()->height() + 4)));
}

QAction* MainWindow::exportAllAction() {
    if (!m_exportAll) {
        m_exportAll = new QAction(QStringLiteral("Export all views of this page..."), this);
        m_exportAll->setToolTip(
            QStringLiteral("Each view as PDF and PNG, with its table as CSV, into one folder"));
        connect(m_exportAll, &QAction::triggered, this, [this] {
            const QString folder = QFileDialog::getExistingDirectory(
                this, QStringLiteral("Folder for the figures of this page"));
            if (!folder.isEmpty()) exportAllViews(folder);
        });
    }
    return m_exportAll;
}

QStringList MainWindow::exportAllViews(const QString& folder) {
    QString error;
    const QStringList written = exportAll(*m_pages->currentWidget(), folder, &error);
    if (error.isEmpty())
        m_controllers->messages.ok(
            QStringLiteral("Wrote %1 files into %2").arg(written.size()).arg(folder));
    else
        m_controllers->messages.error(error);
    return written;
}

void MainWindow::showShortcuts() {
    auto* sheet = new ShortcutSheet(m_actions->keys, this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->open();
}

}  // namespace relascope
