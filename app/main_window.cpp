// SPDX-License-Identifier: GPL-3.0-or-later
#include <utility>

#include <QAbstractButton>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressDialog>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTabBar>
#include <QUrl>
#include <QVBoxLayout>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/compare_page.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "app/pages/duel_page.h"
#include "app/pages/measure_page.h"
#include "app/pages/study_page.h"
#include "app/pages/workbench_page.h"
#include "app/panes.h"
#include "app/run_actions.h"
#include "app/run_export.h"
#include "app/view_files.h"
#include "app/window_state.h"
#include "app/wiring.h"
#include "widgets/analysis/scan/findings_bar.h"
#include "widgets/bar/notice_bar.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"

namespace relascope::app {
namespace {

constexpr int kNarrow = 1240;  ///< px; below it the three panes of the inspector would overlap

}  // namespace

MainWindow::MainWindow(bool remember)
    : m_controllers(std::make_unique<Controllers>()),
      m_session(std::make_unique<WindowState>(remember)),
      m_runActions(new RunActions(*m_controllers, this)),
      m_opener(new Opener(*this)),
      m_exporter(new PageExport(*this)),
      m_views(new ViewFiles(*this)),
      m_bar(new widgets::TrainBar),
      m_sidebar(new widgets::Sidebar),
      m_form(new widgets::OptionsForm),
      m_error(new ErrorStrip),
      m_status(new widgets::StatusStrip),
      m_log(new widgets::LogDrawer),
      m_tabs(new QTabBar),
      m_pages(new QStackedWidget),
      m_workbench(new WorkbenchPage(*m_controllers)) {
    setWindowTitle(QStringLiteral("Relascope"));
    setWindowIcon(widgets::applicationIcon());
    setAcceptDrops(true);
    resize(1440, 900);
    setMinimumSize(1024, 640);

    auto& c = *m_controllers;
    wireBar(*m_bar, c);
    wireSidebar(*m_sidebar, c, *m_runActions);
    wireForm(*m_form, c);
    wireStatus(*m_error, *m_status, *m_log, c);
    wireJobs(*m_status, c, [this](const Measurement& one) { m_views->open(one); });
    setCentralWidget(makeCentre());
    addPage(PageId::Workbench, m_workbench);
    addFurtherPages(*this);
    // A run that is chosen in the list is what is measured.
    connect(&c.selection, &Selection::currentChanged, this,
            [this] { m_inspected = PageId::Workbench; });
    m_edits = new EditsTab(*this);
    m_menus = std::make_unique<Menus>(*this);

    connect(m_form, &widgets::OptionsForm::collapsedChanged, this, [this](bool collapsed) {
        if (!m_arranging && width() >= kNarrow && currentPage() == PageId::Workbench)
            m_formFolded = collapsed;
        if (!m_arranging && currentPage() == PageId::Checkpoint) m_checkpointForm = !collapsed;
        m_bar->setOptionsShown(!collapsed);
        refreshMenus();
    });
    connect(m_bar, &widgets::TrainBar::optionsToggled, this,
            [this](bool shown) { showOptions(shown); });
    connect(m_workbench, &WorkbenchPage::runOptionsRequested, this, [this, &c](bool shown) {
        shown ? c.experiment.showRun(c.selection.current()) : c.experiment.showNewRun();
        if (shown) showOptions(true);
    });
    connect(m_workbench->curves(), &widgets::CurvePanel::markMenuRequested, m_runActions,
            &RunActions::popUpMark);
    connect(m_tabs, &QTabBar::currentChanged, this, &MainWindow::pageChanged);
    connect(&c.runs, &RunsController::rowsChanged, this, [this, restored = false]() mutable {
        // A run given by name replaces those of the last session; a checkpoint stays before them.
        const QScopedValueRollback<PageId> kept(m_inspected);
        if (!std::exchange(restored, true) && !m_opener->opensRun()) m_session->restoreRuns(*this);
    });
    connect(m_sidebar, &widgets::Sidebar::left, this, [this] { enterPage(*this); });
    connect(&c.training, &TrainingController::stuck, this, &MainWindow::showStuck);
    confirmClose = [this] { return askToClose(); };
    qApp->installEventFilter(this);
    m_workbench->setScansAtEnd(remember);
    m_session->restore(*this);
    refreshMenus();
    m_session->readRuns(*this);
    c.hosts.load();
}

MainWindow::~MainWindow() {
    qApp->removeEventFilter(this);
    m_menus.reset();
    delete std::exchange(m_edits, nullptr);
    // Pages use the controllers until they are destroyed.
    delete takeCentralWidget();
}

QWidget* MainWindow::makeCentre() {
    auto* all = new QWidget(this);
    auto* column = m_column = widgets::columnOf(all);
    column->addWidget(m_bar);
    column->addWidget(m_error);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(m_sidebar);
    row->addWidget(makePages(), 1);
    row->addWidget(m_form);
    column->addLayout(row, 1);
    auto* exporting = new JobStrip(all);
    exporting->setObjectName(QStringLiteral("runExport"));
    exporting->follow(m_runActions->exporter().task());
    column->addWidget(exporting);
    column->addWidget(m_log);
    column->addWidget(m_status);
    return all;
}

QWidget* MainWindow::makePages() {
    auto* centre = new QWidget(this);
    widgets::paintOnPanelColour(centre);
    auto* middle = widgets::columnOf(centre);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(4, 0, 8, 0);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setElideMode(Qt::ElideRight);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(QStringLiteral("Pages"));
    head->addWidget(m_tabs);
    head->addStretch(1);
    auto* more = widgets::iconButton("more", QStringLiteral("Page: copy, save"), centre);
    auto* menu =
        new widgets::ViewMenu(more, m_pages, [this] { return pageTitle(currentPage()).toLower(); });
    menu->menu()->addSeparator();
    menu->menu()->addAction(m_exporter->allAction());
    m_pages->setAccessibleName(QStringLiteral("Page"));
    m_exporter->listen(menu);
    head->addWidget(more);
    middle->addLayout(head);
    middle->addWidget(widgets::horizontalLine(centre));
    middle->addWidget(m_pages, 1);
    return centre;
}

void MainWindow::addPage(PageId id, QWidget* page) {
    Q_ASSERT(m_pages->count() == static_cast<int>(id));
    m_pages->addWidget(page);
    m_tabs->addTab(pageTitle(id));
    for (auto* menu : page->findChildren<widgets::ViewMenu*>()) m_exporter->listen(menu);
}

void MainWindow::fitTo(const QSize& room) {
    setMinimumSize(minimumSize().boundedTo(room));
    resize(size().boundedTo(room));
}

void MainWindow::showNotice(widgets::NoticeBar* notice) {
    m_column->insertWidget(m_column->indexOf(m_bar) + 1, notice);
    notice->show();
}

void MainWindow::showStuck(const QString& run) {
    auto* notice = new widgets::NoticeBar(
        QString("%1 does not answer.").arg(m_controllers->runs.name(run)), this);
    connect(notice->addButton(QStringLiteral("End its process...")), &QPushButton::clicked, this,
            [this, run] { m_runActions->perform(RunActions::Kind::EndProcess, {run}); });
    connect(&m_controllers->training, &TrainingController::finished, notice, &QObject::deleteLater);
    showNotice(notice);
}

StudyPage* MainWindow::studyPage() const {
    return qobject_cast<StudyPage*>(page(PageId::Study));
}

void MainWindow::showSetUp() {
    auto& c = *m_controllers;
    c.selection.setPreset(QString::fromStdString(c.experiment.options().preset));
    // The page is that of the new run; one that trains stays in sight.
    if (!c.training.busy()) c.selection.setRuns({});
    showPage(PageId::Workbench);
    m_form->showTab(0);
    m_bar->startButton()->setFocus(Qt::OtherFocusReason);
    c.messages.info(QStringLiteral("Set up %1; press Start to train").arg(c.experiment.title()));
}

MeasurePage* MainWindow::measurePage() const {
    return qobject_cast<MeasurePage*>(page(PageId::Measure));
}

QMenu* MainWindow::measureMenu() const {
    return m_menus->measureMenu();
}

DuelPage* MainWindow::duelPage() const {
    return qobject_cast<DuelPage*>(page(PageId::Duel));
}

void MainWindow::showDuel(const QStringList& paths) {
    showPage(PageId::Duel);
    if (paths.size() > 1)
        for (const std::size_t side : {0, 1}) duelPage()->setSubject(side, std::nullopt);
    for (const auto& path : paths) duelPage()->take(path);
}

PageId MainWindow::inspectedPage() const {
    const auto shown = currentPage();
    const bool measures = shown == PageId::Measure || shown == PageId::Atlas;
    const auto inspected = measures && m_controllers->checkpoint.info() ? m_inspected : shown;
    return inspected == PageId::Checkpoint ? inspected : PageId::Workbench;
}

widgets::RelationInspector* MainWindow::activeInspector() const {
    if (inspectedPage() == PageId::Checkpoint)
        return qobject_cast<const CheckpointPage*>(page(PageId::Checkpoint))->inspector();
    const auto* duel = qobject_cast<const DuelPage*>(m_pages->currentWidget());
    return duel ? duel->inspector() : m_workbench->inspector();
}

QString MainWindow::inspectDisabledReason() const {
    if (activeInspector()->result()) return {};
    if (currentPage() == PageId::Duel) return QStringLiteral("Choose A and B first");
    return activeInspector() != m_workbench->inspector()
               ? QStringLiteral("Press Inspect to load the weights")
               : QStringLiteral("Start or open a run to inspect it");
}

void MainWindow::showPage(PageId id) {
    m_tabs->setCurrentIndex(static_cast<int>(id));
}

PageId MainWindow::currentPage() const {
    return static_cast<PageId>(m_tabs->currentIndex());
}

QWidget* MainWindow::page(PageId id) const {
    return m_pages->widget(static_cast<int>(id));
}

QList<QAction*> MainWindow::commands() const {
    return m_menus->commands();
}

void MainWindow::refreshMenus() {
    if (m_menus) m_menus->refresh();
}

void MainWindow::pageChanged(int index) {
    if (const auto id = static_cast<PageId>(index);
        id == PageId::Workbench || id == PageId::Checkpoint)
        m_inspected = id;
    m_pages->setCurrentIndex(index);
    arrangeForm();
    m_edits->refresh();
    refreshMenus();
}

void MainWindow::foldForm(bool folded) {
    m_formFolded = folded;
    arrangeForm();
}

void MainWindow::showOptions(bool shown) {
    if (shown && currentPage() != PageId::Workbench) showPage(PageId::Workbench);
    if (shown) m_form->showTab(0);
    m_form->setCollapsed(!shown);
    m_bar->setOptionsShown(!m_form->collapsed());
}

void MainWindow::arrangeForm() {
    // Tables and narrow windows need the width: the form is collapsed there and restored
    // afterwards.
    const QScopedValueRollback<bool> own(m_arranging, true);
    // The edits of a checkpoint are in the same column.
    if (currentPage() == PageId::Checkpoint) return m_form->setCollapsed(!m_checkpointForm);
    const bool narrow = width() < kNarrow || currentPage() != PageId::Workbench;
    m_form->setCollapsed(m_formFolded || narrow);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    arrangeForm();
}

void MainWindow::setTheme(widgets::ThemeMode mode) {
    m_theme = mode;
    widgets::applyTheme(*qApp, mode);
    refreshMenus();
}

MainWindow::Closing MainWindow::askToClose() {
    const auto& study = m_controllers->study;
    const auto& training = m_controllers->training;
    QStringList sentences;
    if (training.busy())
        sentences << QString(training.paused() ? "%1 stays paused without the window."
                                               : "%1 continues without the window.")
                         .arg(m_controllers->runs.name(training.run()));
    if (const QString here = study.workedOn(); !here.isEmpty())
        sentences << QStringLiteral("The study %1 continues without the window.")
                         .arg(StudyController::name(here));
    const bool goesOn = !sentences.isEmpty();
    if (const int measured = m_controllers->measurements.active(); measured > 0)
        sentences << (measured == 1
                          ? QStringLiteral("A measurement ends with the window.")
                          : QStringLiteral("%1 measurements end with the window.").arg(measured));
    QMessageBox box(QMessageBox::Question, QStringLiteral("Close Relascope"), sentences.join(u' '),
                    QMessageBox::Cancel, this);
    if (goesOn)
        box.setInformativeText(
            training.busy()
                ? QStringLiteral("The next window that shows the run can pause or stop it.")
                : QStringLiteral("The next window can stop it."));
    auto* close = box.addButton(QStringLiteral("Close"), QMessageBox::AcceptRole);
    const bool both = training.busy() && !study.workedOn().isEmpty();
    auto* stop = goesOn ? box.addButton(both ? QStringLiteral("Stop them first")
                                             : QStringLiteral("Stop it first"),
                                        QMessageBox::DestructiveRole)
                        : nullptr;
    box.setDefaultButton(close);
    box.exec();
    return box.clickedButton() == close          ? Closing::Continue
           : stop && box.clickedButton() == stop ? Closing::StopFirst
                                                 : Closing::Stay;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    const auto& training = m_controllers->training;
    const auto& study = m_controllers->study;
    const bool measures = m_controllers->measurements.active() > 0;
    if (const QString here = study.workedOn();
        (training.busy() || !here.isEmpty() || measures) && !m_closing) {
        const bool ending = !measures && (!training.busy() || training.ending()) &&
                            (here.isEmpty() || study.ending(here));
        const Closing choice = ending ? Closing::StopFirst : confirmClose();
        if (choice != Closing::Continue) {
            event->ignore();
            if (choice == Closing::StopFirst) stopAndClose();
            return;
        }
    }
    m_session->save(*this);
    Q_EMIT closing();
    QMainWindow::closeEvent(event);
}

void MainWindow::closeNow() {
    m_closing = true;
    close();
}

void MainWindow::stopAndClose() {
    auto& training = m_controllers->training;
    auto& study = m_controllers->study;
    Q_EMIT closing();
    auto* progress =
        new QProgressDialog(study.workedOn().isEmpty() ? QStringLiteral("Saving a checkpoint")
                                                       : QStringLiteral("Saving the running runs"),
                            QString(), 0, 0, this);
    progress->setWindowModality(Qt::WindowModal);
    progress->setMinimumDuration(1000);
    progress->setAttribute(Qt::WA_DeleteOnClose);
    const auto ended = [this, progress, &training, &study] {
        if (training.busy() || !study.workedOn().isEmpty()) return;
        progress->close();
        closeNow();
    };
    connect(&training, &TrainingController::finished, progress, ended);
    connect(&study, &StudyController::workChanged, progress, ended);
    if (training.busy()) training.cancel();
    study.stopHere();
    ended();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && currentPage() == PageId::Workbench &&
        m_workbench->filled() != WorkbenchPage::Fill::Nothing)
        return m_workbench->fill(WorkbenchPage::Fill::Nothing);
    if (event->modifiers() == Qt::NoModifier && currentPage() == PageId::Workbench &&
        m_workbench->arrowKey(event->key()))
        return;
    if (event->modifiers() == Qt::NoModifier && activeInspector() != m_workbench->inspector()) {
        const int key = event->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right)
            return activeInspector()->stepRelation(key == Qt::Key_Left ? -1 : 1);
        if (key == Qt::Key_Up || key == Qt::Key_Down)
            return activeInspector()->stepLayer(key == Qt::Key_Up ? 1 : -1);
    }
    // The key of an entry that cannot be used says why.
    for (const auto* entry : commands())
        if (!entry->isEnabled() && entry->shortcut() == QKeySequence(event->keyCombination()))
            m_controllers->messages.info(entry->toolTip());
    QMainWindow::keyPressEvent(event);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusIn) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        const auto* widget = qobject_cast<const QWidget*>(watched);
        // When a menu or another window closes, the focus returns as it was.
        const bool back = reason == Qt::PopupFocusReason || reason == Qt::MenuBarFocusReason ||
                          reason == Qt::ActiveWindowFocusReason;
        if (widget && widget->window() == this && !back)
            m_byKeyboard = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
                           reason == Qt::ShortcutFocusReason;
    } else if (event->type() == QEvent::ShortcutOverride && m_byKeyboard &&
               static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        // After keyboard navigation with Tab, Space presses the focused control.
        if (qobject_cast<QAbstractButton*>(watched) || qobject_cast<QComboBox*>(watched)) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    if (paths.isEmpty()) return;
    event->acceptProposedAction();
    m_opener->openAll(paths);
}

void addFurtherPages(MainWindow& window) {
    AppContext context = window.controllers().context();
    auto* compare = new ComparePage(context);
    window.addPage(PageId::Compare, compare);
    QObject::connect(compare, &ComparePage::workbenchRequested, &window,
                     [&window] { window.showPage(PageId::Workbench); });
    auto* actions = &window.runActions();
    QObject::connect(compare->table(), &widgets::RunsTable::runMenuRequested, actions,
                     &RunActions::popUp);
    QObject::connect(
        compare->table(), &widgets::RunsTable::deleteRequested, actions,
        [actions](const QStringList& paths) { actions->perform(RunActions::Kind::Delete, paths); });
    QObject::connect(compare->curves(), &widgets::CurvePanel::markMenuRequested, actions,
                     &RunActions::popUpMark);

    auto* study = new StudyPage(window.controllers().study, context.messages);
    window.addPage(PageId::Study, study);
    study->preset = [&window] { return window.controllers().selection.preset(); };
    QObject::connect(study, &StudyPage::runRequested, &window.opener(), &Opener::openRun);

    auto* data = new DataPage(context);
    window.addPage(PageId::Data, data);
    QObject::connect(data, &DataPage::trainOnRequested, &window,
                     [&window](const DataOptions& options, const std::vector<std::string>& fields,
                               const DatasetInfo& info) {
                         auto& c = window.controllers();
                         c.experiment.trainOn(options, fields, info);
                         window.showSetUp();
                     });
    QObject::connect(data, &DataPage::setUpRequested, &window, [&window](const OwnData& own) {
        window.controllers().experiment.setUp(own);
        window.showSetUp();
    });

    auto& c = window.controllers();
    auto* checkpoint = new CheckpointPage(c.checkpoint, c.messages);
    window.addPage(PageId::Checkpoint, checkpoint);
    checkpoint->hosts = [&c] { return c.hosts.usable(); };
    QObject::connect(checkpoint, &CheckpointPage::runChosen, &window.opener(), &Opener::openRun);
    QObject::connect(checkpoint, &CheckpointPage::opening, &window,
                     [&window] { window.showPage(PageId::Checkpoint); });
    QObject::connect(&c.checkpoint, &CheckpointController::opened, &window,
                     [&window] { window.showPage(PageId::Checkpoint); });
    QObject::connect(
        &c.checkpoint.recent(), &RecentCheckpoints::changed, window.sidebar(), [&window] {
            const auto& known = window.controllers().checkpoint.recent().list();
            QStringList paths;
            for (const auto& recent : known) paths << recent.path;
            const QStringList titles = checkpointTitles(paths);
            std::vector<widgets::CheckpointEntry> entries;
            for (std::size_t i = 0; i < known.size(); ++i) {
                const auto far = wire::farPathOf(known[i].path.toStdString());
                entries.push_back(
                    {known[i].path, titles[static_cast<qsizetype>(i)], known[i].size,
                     known[i].missing,
                     far ? QString::fromStdString(far->host + ": " + far->path) : QString()});
            }
            bool first = true;
            for (const auto& model : window.controllers().checkpoint.hub().cached()) {
                if (!model.problem.isEmpty() || paths.contains(model.path)) continue;
                if (std::exchange(first, false))
                    entries.push_back({{}, QStringLiteral("Hub cache"), {}, false});
                entries.push_back({model.path, model.name, model.size, false});
            }
            window.sidebar()->setCheckpoints(entries);
        });
    QObject::connect(&c.checkpoint.hub(), &HubModels::changed, &c.checkpoint.recent(),
                     &RecentCheckpoints::changed);
    c.checkpoint.hub().refresh();
    QObject::connect(window.sidebar(), &widgets::Sidebar::checkpointChosen, &c.checkpoint.recent(),
                     &RecentCheckpoints::choose);

    auto* atlas = new AtlasPage(c);
    window.addPage(PageId::Atlas, atlas);
    QObject::connect(atlas, &AtlasPage::workbenchRequested, &window,
                     [&window] { window.showPage(PageId::Workbench); });
    atlas->inspectsCheckpoint = [&window] { return window.inspectedPage() == PageId::Checkpoint; };
    QObject::connect(
        atlas, &AtlasPage::checkpointRequested, &window,
        [&window](const std::optional<MapCell>& map) {
            auto* page = qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
            if (map && map->i < 0)
                page->inspector()->showMap(map->kind, map->layer, map->index);
            else if (map)
                page->inspector()->showCell(map->kind, map->layer, map->index, map->i, map->j);
            window.showPage(PageId::Checkpoint);
        });

    auto* workbench = window.workbench();
    auto* findings = workbench->findings();
    QObject::connect(workbench, &WorkbenchPage::learnRequested, atlas, &AtlasPage::learn);
    workbench->followScan(atlas->scanTask());
    QObject::connect(atlas, &AtlasPage::learned, workbench, &WorkbenchPage::showFindings);
    QObject::connect(atlas, &AtlasPage::learnRefused, workbench, &WorkbenchPage::showNoFindings);
    QObject::connect(findings, &widgets::FindingsBar::moreRequested, &window, [&window, atlas] {
        window.showPage(PageId::Atlas);
        atlas->showTab("scan");
    });
    QObject::connect(findings, &widgets::FindingsBar::mapRequested, atlas,
                     &AtlasPage::mapRequested);
    QObject::connect(findings, &widgets::FindingsBar::exampleRequested, atlas,
                     [atlas](qint64 example, const MapCell& cell) {
                         const auto* scan = atlas->tab("scan");
                         Q_EMIT atlas->exampleRequested(scan->split(), example, cell);
                     });

    auto* duel = new DuelPage(c, window.runActions().exporter());
    window.addPage(PageId::Duel, duel);
    QObject::connect(compare, &ComparePage::duelRequested, &window,
                     [&window](const QString& a, const QString& b) {
                         window.showDuel({a, b});
                     });
    window.addPage(PageId::Measure, new MeasurePage(c.history, c.measurements));
}

}  // namespace relascope::app
