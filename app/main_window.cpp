#include "app/main_window.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressDialog>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTabBar>
#include <QUrl>

#include "app/controllers/controllers.h"
#include "app/main_window_actions.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/study_page.h"
#include "app/pages/workbench_page.h"
#include "app/run_actions.h"
#include "app/session.h"
#include "app/wiring.h"
#include "widgets/bar/command_palette.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/rail.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"

namespace relascope {
namespace {

constexpr int kNarrow = 1240;  ///< px; below it the three panes of the inspector would overlap

}  // namespace

MainWindow::MainWindow(bool remember)
    : m_controllers(std::make_unique<Controllers>()),
      m_session(std::make_unique<Session>(remember)),
      m_actions(std::make_unique<Actions>()),
      m_runActions(new RunActions(*m_controllers, this)),
      m_bar(new TrainBar),
      m_rail(new Rail),
      m_form(new OptionsForm),
      m_status(new StatusStrip),
      m_log(new LogDrawer),
      m_tabs(new QTabBar),
      m_pages(new QStackedWidget),
      m_workbench(new WorkbenchPage(*m_controllers)) {
    setWindowTitle(QStringLiteral("Relascope"));
    setWindowIcon(applicationIcon());
    setAcceptDrops(true);
    resize(1440, 900);
    setMinimumSize(1024, 640);

    auto& c = *m_controllers;
    wireBar(*m_bar, c);
    wireRail(*m_rail, c, *m_runActions);
    wireForm(*m_form, c);
    wireStatus(*m_status, *m_log, c);
    setCentralWidget(makeCentre());
    addPage(QStringLiteral("Workbench"), m_workbench);
    makeMenus();
    addFurtherPages(*this);

    connect(m_form, &OptionsForm::collapsedChanged, this, [this](bool collapsed) {
        if (!m_arranging && width() >= kNarrow && m_pages->currentWidget() == m_workbench)
            m_formFolded = collapsed;
        refreshActions();
    });
    connect(m_workbench->curves(), &CurvePanel::markMenuRequested, m_runActions,
            &RunActions::popUpMark);
    connect(&c.history, &UndoHistory::changed, this, &MainWindow::refreshEditActions);
    connect(qApp, &QApplication::focusChanged, this, &MainWindow::refreshEditActions);
    connect(m_tabs, &QTabBar::currentChanged, this, &MainWindow::pageChanged);
    connect(&c.training, &TrainingController::stateChanged, this, &MainWindow::refreshActions);
    connect(&c.experiment, &ExperimentController::changed, this, &MainWindow::refreshActions);
    connect(&c.experiment, &ExperimentController::problemsChanged, this,
            &MainWindow::refreshActions);
    connect(&c.selection, &Selection::currentChanged, this, &MainWindow::refreshActions);
    connect(&c.checkpoint, &CheckpointController::probed, this, &MainWindow::refreshActions);
    connect(&c.checkpoint, &CheckpointController::loadedChanged, this, &MainWindow::refreshActions);
    connect(&c.training, &TrainingController::runBegan, this, [this](const QString& path) {
        m_recent.removeAll(path);
        m_recent.prepend(path);
        setRecentRuns(m_recent);
    });
    connect(&c.runs, &RunsController::rowsChanged, this, [this, restored = false]() mutable {
        if (!std::exchange(restored, true)) m_session->restoreRuns(*this);
    });
    confirmClose = [this] {
        auto& study = m_controllers->study;
        const bool trains = m_controllers->training.busy();
        QMessageBox box(QMessageBox::Question,
                        trains ? QStringLiteral("A run is in progress")
                               : QStringLiteral("A study is in progress"),
                        trains ? QString("%1 is training. Stop it, save a checkpoint and close?")
                                     .arg(m_controllers->runs.name(m_controllers->training.run()))
                               : QString("%1 is running. Stop it, save its runs and close?")
                                     .arg(StudyController::name(study.workedOn())),
                        QMessageBox::Cancel, this);
        box.setInformativeText(trains && study.working()
                                   ? QString("The study %1 is running too. Both can be resumed.")
                                         .arg(StudyController::name(study.workedOn()))
                                   : QStringLiteral("It can be resumed later."));
        auto* stop = box.addButton(QStringLiteral("Stop and close"), QMessageBox::AcceptRole);
        box.setDefaultButton(stop);
        box.exec();
        return box.clickedButton() == stop;
    };
    qApp->installEventFilter(this);
    m_session->restore(*this);
    refreshActions();
    c.runs.refresh();
}

MainWindow::~MainWindow() {
    qApp->removeEventFilter(this);
    // Pages look into the controllers until they are gone.
    delete takeCentralWidget();
}

QWidget* MainWindow::makeCentre() {
    auto* all = new QWidget(this);
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(m_rail);
    auto* centre = new QWidget(all);
    centre->setAutoFillBackground(true);
    centre->setBackgroundRole(QPalette::Base);
    auto* middle = new QVBoxLayout(centre);
    middle->setContentsMargins(0, 0, 0, 0);
    middle->setSpacing(0);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(4, 0, 8, 0);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(QStringLiteral("Pages"));
    head->addWidget(m_tabs);
    head->addStretch(1);
    auto* more = iconButton("more", QStringLiteral("Page: copy, save"), centre);
    auto* menu = new ViewMenu(more, m_pages, [this] { return currentPage().toLower(); });
    menu->menu()->addSeparator();
    menu->menu()->addAction(exportAllAction());
    m_pages->setAccessibleName(QStringLiteral("Page"));
    connect(menu, &ViewMenu::saved, this, [this](const QString& path) {
        m_controllers->messages.ok(QString("Wrote %1").arg(path));
    });
    connect(menu, &ViewMenu::failed, &m_controllers->messages, &Messages::error);
    head->addWidget(more);
    middle->addLayout(head);
    middle->addWidget(horizontalLine(centre));
    middle->addWidget(m_pages, 1);
    row->addWidget(centre, 1);
    row->addWidget(m_form);
    column->addLayout(row, 1);
    column->addWidget(m_log);
    column->addWidget(m_status);
    return all;
}

void MainWindow::addPage(const QString& title, QWidget* page) {
    m_pages->addWidget(page);
    m_tabs->addTab(title);
    for (auto* menu : page->findChildren<ViewMenu*>()) {
        connect(menu, &ViewMenu::saved, this, [this](const QString& path) {
            m_controllers->messages.ok(QString("Wrote %1").arg(path));
        });
        connect(menu, &ViewMenu::failed, &m_controllers->messages, &Messages::error);
    }
}

void MainWindow::fitTo(const QSize& room) {
    setMinimumSize(minimumSize().boundedTo(room));
    resize(size().boundedTo(room));
}

void MainWindow::setImportData(std::function<void()> importData) {
    m_actions->importData = std::move(importData);
}

void MainWindow::setOpenCheckpoint(std::function<void(bool folder)> openCheckpoint) {
    m_actions->openCheckpoint = std::move(openCheckpoint);
}

void MainWindow::openCheckpoint(const QString& path) {
    showPage(QStringLiteral("Checkpoint"));
    m_controllers->checkpoint.open(path);
}

void MainWindow::openStudy(const QString& path) {
    showPage(QStringLiteral("Study"));
    m_controllers->study.open(path);
}

StudyPage* MainWindow::studyPage() const {
    return qobject_cast<StudyPage*>(page(QStringLiteral("Study")));
}

RelationInspector* MainWindow::activeInspector() const {
    const auto* checkpoint = qobject_cast<const CheckpointPage*>(m_pages->currentWidget());
    return checkpoint ? checkpoint->inspector() : m_workbench->inspector();
}

bool MainWindow::showPage(const QString& title) {
    for (int i = 0; i < m_tabs->count(); ++i) {
        if (m_tabs->tabText(i).compare(title, Qt::CaseInsensitive) != 0) continue;
        m_tabs->setCurrentIndex(i);
        return true;
    }
    return false;
}

QString MainWindow::currentPage() const {
    return m_tabs->tabText(m_tabs->currentIndex());
}

QWidget* MainWindow::page(const QString& title) const {
    for (int i = 0; i < m_tabs->count(); ++i)
        if (m_tabs->tabText(i).compare(title, Qt::CaseInsensitive) == 0) return m_pages->widget(i);
    return nullptr;
}

void MainWindow::pageChanged(int index) {
    m_pages->setCurrentIndex(index);
    arrangeForm();
    refreshActions();
}

void MainWindow::foldForm(bool folded) {
    m_formFolded = folded;
    arrangeForm();
}

void MainWindow::arrangeForm() {
    // Tables and narrow windows need the width: the form folds there and comes back as it was.
    const bool narrow = width() < kNarrow || m_pages->currentWidget() != m_workbench;
    const QScopedValueRollback<bool> own(m_arranging, true);
    m_form->setCollapsed(m_formFolded || narrow);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    arrangeForm();
}

void MainWindow::setTheme(ThemeMode mode) {
    m_theme = mode;
    applyTheme(*qApp, mode);
    refreshActions();
}

bool MainWindow::openRun(const QString& path) {
    auto& c = *m_controllers;
    const QString clean = QDir::cleanPath(QDir(path).absolutePath());
    QString error;
    if (!c.runs.open(clean, &error)) {
        c.messages.error(error);
        return false;
    }
    m_recent.removeAll(clean);
    m_recent.prepend(clean);
    setRecentRuns(m_recent);
    c.selection.setRuns({clean});
    c.selection.setStep(std::nullopt);
    c.selection.setCurrent(clean);
    c.experiment.showRun(clean);
    showPage(QStringLiteral("Workbench"));
    return true;
}

void MainWindow::setRecentRuns(const QStringList& paths) {
    m_recent = paths.mid(0, 10);
    fillRecent();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    const auto& training = m_controllers->training;
    const auto& study = m_controllers->study;
    if ((training.busy() || study.working()) && !m_closing) {
        event->ignore();
        const bool ending =
            (!training.busy() || training.ending()) && (!study.working() || study.ending());
        if (!ending && !confirmClose()) return;
        return stopAndClose();
    }
    m_session->save(*this);
    QMainWindow::closeEvent(event);
}

void MainWindow::stopAndClose() {
    auto& training = m_controllers->training;
    auto& study = m_controllers->study;
    if (!training.busy() && !study.working()) {
        close();
        return;
    }
    auto* progress = new QProgressDialog(study.working() ? QStringLiteral("Saving the running runs")
                                                         : QStringLiteral("Saving a checkpoint"),
                                         QString(), 0, 0, this);
    progress->setWindowModality(Qt::WindowModal);
    progress->setMinimumDuration(1000);
    progress->setAttribute(Qt::WA_DeleteOnClose);
    const auto ended = [this, progress, &training, &study] {
        if (training.busy() || study.working()) return;
        progress->close();
        m_closing = true;
        close();
    };
    connect(&training, &TrainingController::finished, progress, ended);
    connect(&study, &StudyController::finished, progress, ended);
    if (training.busy()) training.cancel();
    study.stop();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() == Qt::NoModifier && m_pages->currentWidget() == m_workbench &&
        m_workbench->arrowKey(event->key()))
        return;
    if (event->modifiers() == Qt::NoModifier && activeInspector() != m_workbench->inspector()) {
        auto* inspector = activeInspector();
        switch (event->key()) {
            case Qt::Key_Left:
                return inspector->previousRelation();
            case Qt::Key_Right:
                return inspector->nextRelation();
            case Qt::Key_Up:
                return inspector->nextLayer();
            case Qt::Key_Down:
                return inspector->previousLayer();
            default:
                break;
        }
    }
    QMainWindow::keyPressEvent(event);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusIn) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        m_byKeyboard = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
                       reason == Qt::ShortcutFocusReason;
    } else if (event->type() == QEvent::ShortcutOverride && m_byKeyboard &&
               static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        // Who walks through the controls with Tab presses them with Space.
        if (qobject_cast<QAbstractButton*>(watched) || qobject_cast<QComboBox*>(watched)) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::writeWithRun(const QString& path) {
    auto* c = &m_controllers->checkpoint;
    // Once its header is read.
    connect(
        c, &CheckpointController::opened, this, [c] { c->load(); }, Qt::SingleShotConnection);
    openCheckpoint(path);
}

void MainWindow::takeText(const QString& path) {
    auto& c = *m_controllers;
    auto* checkpoint = qobject_cast<CheckpointPage*>(m_pages->currentWidget());
    if (checkpoint && checkpoint->takeText(path)) return;
    const bool plain =
        !path.endsWith(QLatin1String("jsonl")) && !path.endsWith(QLatin1String("gz"));
    if (plain && m_pages->currentWidget() == m_workbench && c.probe.readsText())
        return c.probe.chooseTextFile(path);
    const auto& options = c.experiment.options();
    const QString preset =
        options.data.isText() ? QString::fromStdString(options.preset) : QStringLiteral("text");
    if (!c.experiment.run().isEmpty() || !options.data.isText()) c.experiment.choosePreset(preset);
    c.selection.setPreset(preset);
    c.experiment.set(QStringLiteral("data.path"), path.toStdString());
    showPage(QStringLiteral("Workbench"));
    c.messages.info(
        QString("The next run will train on %1; press Start").arg(QFileInfo(path).fileName()));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (!url.isLocalFile()) continue;
        event->acceptProposedAction();
        const QFileInfo file(url.toLocalFile());
        const QString ending = file.suffix().toLower();
        static const QStringList texts = {"txt", "text", "md", "jsonl", "gz"};
        static const QStringList weights = {"safetensors", "pt", "pth", "ckpt", "bin", "json"};
        if (file.fileName() == "run.json")
            openRun(file.path());
        else if (file.fileName() == "study.json")
            openStudy(file.path());
        else if (file.isDir() && QFileInfo::exists(file.filePath() + "/study.json"))
            openStudy(file.filePath());
        else if (file.isDir() && QFileInfo::exists(file.filePath() + "/run.json"))
            openRun(file.filePath());
        else if (file.isDir() || weights.contains(ending))
            openCheckpoint(file.filePath());
        else if (texts.contains(ending))
            takeText(file.filePath());
        else
            m_controllers->probe.chooseImage(file.filePath());
        return;
    }
}

}  // namespace relascope
