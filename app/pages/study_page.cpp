// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <set>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedLayout>
#include <QUrl>
#include <QVBoxLayout>

#include "app/app_context.h"
#include "app/controllers/hosts_controller.h"
#include "app/controllers/study_controller.h"
#include "app/pages/new_study_dialog.h"
#include "app/pages/slurm_dialog.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "files/machine_limits.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_progress.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr qint64 kMostSizes = 1000;

}  // namespace

std::vector<std::int64_t> parseSizes(const QString& text, QString* error) {
    static const QRegularExpression range(
        QStringLiteral("^(\\d+)\\s*(?:\\.\\.|-|to)\\s*(\\d+)(?:\\s*step\\s*(\\d+))?$"));
    std::set<std::int64_t> sizes;
    const auto refuse = [error](const QString& sentence) {
        if (error) *error = sentence;
        return std::vector<std::int64_t>();
    };
    if (error) error->clear();
    const QStringList parts = text.split(QRegularExpression(QStringLiteral("[,;]")));
    for (const QString& piece : parts) {
        const QString part = piece.trimmed();
        if (part.isEmpty()) continue;
        bool whole = false;
        if (const qint64 size = part.toLongLong(&whole); whole) {
            if (size < 1) return refuse(QStringLiteral("%1 is not a training size").arg(part));
            sizes.insert(size);
            continue;
        }
        const auto found = range.match(part);
        if (!found.hasMatch())
            return refuse(
                QStringLiteral(
                    "\u2018%1\u2019 is not an integer; write 250, 500, 1000 or 250..2500 step 250")
                    .arg(part));
        const qint64 first = found.captured(1).toLongLong(), last = found.captured(2).toLongLong();
        const qint64 by = found.captured(3).isEmpty() ? first : found.captured(3).toLongLong();
        if (first < 1 || by < 1 || last < first)
            return refuse(
                QStringLiteral("\u2018%1\u2019 is an empty range; write 250..2500 step 250")
                    .arg(part));
        if ((last - first) / by >= kMostSizes)
            return refuse(QStringLiteral("\u2018%1\u2019 is more than 1,000 sizes").arg(part));
        for (qint64 size = first; size <= last; size += by) sizes.insert(size);
    }
    return {sizes.begin(), sizes.end()};
}

QStringList parseValues(const QString& text) {
    QStringList values;
    QString value;
    int depth = 0;
    for (const QChar c : text + u',') {
        depth += c == u'[' || c == u'{' ? 1 : c == u']' || c == u'}' ? -1 : 0;
        if (c != u',' || depth > 0) {
            value += c;
            continue;
        }
        if (!value.trimmed().isEmpty()) values << value.trimmed();
        value.clear();
    }
    if (!value.trimmed().isEmpty()) values << value.trimmed();  // a bracket was left open
    return values;
}

QString nameProblem(const QString& name) {
    if (name.trimmed().isEmpty()) return QStringLiteral("Enter a name for the study");
    if (name.contains(u'/') || name == QLatin1String(".") || name == QLatin1String(".."))
        return QStringLiteral("The name is used for a folder and must not contain /");
    return {};
}

StudyPage::StudyPage(StudyController& controller, Messages& messages, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_messages(messages),
      m_empty(
          new widgets::EmptyState(QStringLiteral("No study yet. A study trains models with several "
                                                 "training sizes and seeds and plots the results."),
                                  QStringLiteral("New study\u2026"), this)),
      m_nothingYet(new widgets::EmptyState({}, {}, this)),
      m_chooser(new QComboBox(this)),
      m_start(new QPushButton(this)),
      m_jobs(new QSpinBox(this)),
      m_progress(new widgets::StudyProgressLine(this)),
      m_failures(new widgets::StudyFailures(this)),
      m_runs(new StudyRuns(controller, this)),
      m_curves(new StudyCurves(controller, this)),
      m_table(new widgets::StudyTable(this)),
      m_rows(new QSplitter(Qt::Vertical, this)),
      m_columns(new QSplitter(Qt::Horizontal, this)) {
    setAccessibleName(QStringLiteral("Study"));
    layOut();
    addTableMenu();
    wire();
}

void StudyPage::layOut() {
    m_columns->setHandleWidth(1);
    m_columns->setChildrenCollapsible(false);
    m_columns->addWidget(m_curves);
    m_columns->addWidget(m_table);
    m_columns->setStretchFactor(0, 5);
    m_columns->setStretchFactor(1, 5);
    m_columns->setSizes({600, 560});
    auto* results = new QWidget(this);
    widgets::paintOnPanelColour(results);
    m_results = new QStackedLayout(results);
    m_results->addWidget(m_nothingYet);
    m_results->addWidget(m_columns);
    m_rows->setHandleWidth(1);
    m_rows->setChildrenCollapsible(false);
    m_rows->addWidget(m_runs);
    m_rows->addWidget(results);
    m_rows->setStretchFactor(0, 4);
    m_rows->setStretchFactor(1, 6);
    m_rows->setSizes({280, 420});
    results->setMinimumHeight(200);

    auto* study = new QWidget(this);
    widgets::paintOnPanelColour(study);
    auto* column = widgets::columnOf(study);
    column->addWidget(makeBar());
    column->addWidget(widgets::horizontalLine(study));
    column->addWidget(m_failures);
    column->addWidget(m_rows, 1);
    widgets::paintOnPanelColour(m_empty);
    m_stack = new QStackedLayout(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(study);
}

QWidget* StudyPage::makeBar() {
    auto* bar = new QWidget(this);
    bar->setFixedHeight(48);
    auto* row = widgets::rowOf(bar, {16, 0, 8, 0}, 8);
    m_chooser->setAccessibleName(QStringLiteral("Study"));
    m_chooser->setFont(widgets::smallFont());
    m_chooser->setMinimumContentsLength(14);
    m_chooser->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_chooser->setMaximumWidth(260);
    m_chooser->setPlaceholderText(QStringLiteral("Choose a study"));
    auto* fresh = new QPushButton(widgets::icon("plus"), QStringLiteral("New study\u2026"), bar);
    fresh->setToolTip(QStringLiteral("Choose models, training sizes, seeds and options to sweep"));
    connect(fresh, &QPushButton::clicked, this, &StudyPage::newStudy);
    m_start->setMinimumWidth(112);
    m_jobs->setRange(1, 256);
    m_jobs->setValue(std::max(1, core::usableCores() / 2));
    m_jobs->setAccessibleName(QStringLiteral("Processes"));
    m_jobs->setFixedWidth(58);
    auto* jobs = widgets::mutedLabel(QStringLiteral("Processes"), bar);
    jobs->setBuddy(m_jobs);
    auto* more = widgets::iconButton("more", QStringLiteral("Study: open, retry, cluster"), bar);
    addMenu(more);
    row->addWidget(m_chooser);
    row->addWidget(fresh);
    row->addSpacing(8);
    row->addWidget(m_progress, 1);
    row->addSpacing(8);
    row->addWidget(jobs);
    row->addWidget(m_jobs);
    row->addWidget(m_start);
    row->addWidget(more);
    return bar;
}

void StudyPage::addMenu(QToolButton* button) {
    auto* menu = m_menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    menu->addAction(widgets::icon("folder"), QStringLiteral("Open a study\u2026"), this,
                    &StudyPage::openStudy);
    auto* folder = menu->addAction(QStringLiteral("Open folder"), this, &StudyPage::openFolder);
    auto* retry = menu->addAction(widgets::icon("restart"), QStringLiteral("Retry failed runs"),
                                  this, &StudyPage::retryFailed);
    menu->addSeparator();
    auto* slurm =
        menu->addAction(QStringLiteral("Slurm script\u2026"), this, &StudyPage::showSlurm);
    menu->addSeparator();
    auto* forget = menu->addAction(widgets::icon("close"), QStringLiteral("Hide from the list"),
                                   this, [this] { m_c.forget(m_c.path()); });
    connect(menu, &QMenu::aboutToShow, this, [this, folder, retry, slurm, forget] {
        const bool any = !m_c.path().isEmpty();
        folder->setEnabled(any && notHereReason().isEmpty());
        folder->setToolTip(notHereReason());
        slurm->setEnabled(m_c.reading() && notHereReason().isEmpty());
        slurm->setToolTip(
            notHereReason().isEmpty()
                ? QStringLiteral("Script of a job array that runs the study on a cluster")
                : notHereReason());
        retry->setEnabled(retryDisabledReason().isEmpty());
        retry->setToolTip(retryDisabledReason());
        const bool elsewhere = any && m_c.opened().contains(m_c.path());
        forget->setEnabled(elsewhere);
        forget->setToolTip(
            elsewhere ? QStringLiteral("The files are kept")
                      : QStringLiteral("Studies in %1 are always listed").arg(m_c.folder()));
    });
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
}

void StudyPage::addTableMenu() {
    // The table has its own "..." button: the export menu belongs to a hidden button, and its
    // entries are added to the table's menu.
    auto* carrier = new QToolButton(this);
    carrier->hide();
    auto* exporter = new widgets::ViewMenu(
        carrier, m_table, [this] { return studyFileName(m_c.path(), "table"); },
        [this] { return m_c.reading() ? m_c.reading()->csv : QString(); });
    exporter->describe = [this] { return describeStudy(m_c, true); };
    QMenu* menu = m_table->menu();
    menu->addAction(QStringLiteral("Copy LaTeX"), this, [this] {
        if (m_c.reading()) QApplication::clipboard()->setText(m_c.reading()->latex);
    });
    menu->addSeparator();
    exporter->addTo(menu);
    menu->addAction(QStringLiteral("LaTeX..."), this, &StudyPage::saveLatex);
    connect(m_table, &widgets::StudyTable::csvRequested, exporter,
            [exporter] { exporter->save(QStringLiteral("csv")); });
    m_table->setMinimumWidth(280);
}

void StudyPage::wire() {
    auto* c = &m_c;
    ask = [](NewStudyDialog& dialog) { return dialog.exec() == QDialog::Accepted; };
    askFolder = [this] {
        return QFileDialog::getExistingDirectory(this, QStringLiteral("Open a study's folder"),
                                                 m_c.folder());
    };
    connect(c, &StudyController::listChanged, this, &StudyPage::fillChooser);
    connect(c, &StudyController::openedChanged, this, [this] {
        fillChooser();
        showStudy();
    });
    connect(c, &StudyController::changed, this, &StudyPage::showStudy);
    connect(c, &StudyController::workChanged, this, &StudyPage::showWork);
    connect(m_empty, &widgets::EmptyState::activated, this, &StudyPage::newStudy);
    connect(m_chooser, &QComboBox::activated, this, &StudyPage::studyChosen);
    connect(m_start, &QPushButton::clicked, this, &StudyPage::toggleWork);
    connect(m_runs->grid(), &widgets::StudyGrid::runActivated, this, &StudyPage::runRequested);
    connect(m_runs->grid(), &widgets::StudyGrid::folderRequested, this, &StudyPage::openPath);
    connect(m_runs->grid(), &widgets::StudyGrid::retryRequested, this, &StudyPage::retryFailed);
    connect(m_failures, &widgets::StudyFailures::retryRequested, this, &StudyPage::retryFailed);
    connect(m_failures, &widgets::StudyFailures::showRequested, this, &StudyPage::showFailed);
    fillChooser();
    showStudy();
}

void StudyPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_c.refreshList();
    m_c.setWatched(true);
    if (m_c.path().isEmpty() && !m_c.studies().isEmpty()) m_c.open(m_c.studies().first());
}

void StudyPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_c.setWatched(false);
}

void StudyPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    // The icon of the main button has the colour of its text.
    if (event->type() == QEvent::PaletteChange && m_stack) showWork();
}

// The list
// ---------------------------------------------------------------------------------------------------

void StudyPage::fillChooser() {
    const QSignalBlocker quiet(m_chooser);
    m_chooser->clear();
    for (const QString& path : m_c.studies()) {
        const QString host = HostsController::hostOf(path);
        m_chooser->addItem((host.isEmpty() ? host : host + QStringLiteral(" \u00B7 ")) +
                               StudyController::name(path),
                           path);
        m_chooser->setItemData(m_chooser->count() - 1, widgets::plainTip(path), Qt::ToolTipRole);
    }
    if (m_chooser->count() > 0) m_chooser->insertSeparator(m_chooser->count());
    m_chooser->addItem(widgets::icon("folder"), QStringLiteral("Open a study\u2026"));
    m_chooser->setCurrentIndex(m_c.path().isEmpty() ? -1 : m_chooser->findData(m_c.path()));
    m_chooser->setToolTip(m_c.path().isEmpty() ? QStringLiteral("Study to show")
                                               : widgets::plainTip(m_c.path()));
    // Shows the newest study first.
    if (m_c.path().isEmpty() && isVisible() && !m_c.studies().isEmpty())
        m_c.open(m_c.studies().first());
}

void StudyPage::studyChosen(int index) {
    if (index + 1 < m_chooser->count()) return m_c.open(m_chooser->itemData(index).toString());
    m_chooser->setCurrentIndex(m_chooser->findData(m_c.path()));
    openStudy();
}

void StudyPage::newStudy() {
    std::vector<std::pair<QString, QString>> folders{{QString(), m_c.folder()}};
    for (const auto& [host, folder] : m_c.mirrors())
        if (m_c.isUsable(host)) folders.emplace_back(host, folder);
    NewStudyDialog dialog(folders, preset(), m_jobs->value(), this);
    if (!ask(dialog)) return;
    m_jobs->setValue(dialog.jobs());
    m_c.create(dialog.path(), dialog.plan(), dialog.startsAtOnce() ? dialog.jobs() : 0);
}

void StudyPage::openStudy() {
    const QString path = askFolder();
    if (path.isEmpty()) return;
    m_c.openFolder(path);
}

void StudyPage::openPath(const QString& path) {
    if (const QString why = notHereReason(); !why.isEmpty()) return m_messages.error(why);
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path)))
        m_messages.error(
            QStringLiteral("No file manager could be opened; the folder is %1").arg(path));
}

void StudyPage::openFolder() {
    if (!m_c.path().isEmpty()) openPath(m_c.path());
}

// The study shown
// ---------------------------------------------------------------------------------------------------

void StudyPage::showStudy() {
    const auto& reading = m_c.reading();
    m_stack->setCurrentIndex(m_c.path().isEmpty() ? 0 : 1);
    m_runs->showStudy();
    m_curves->showStudy();
    if (!reading) {
        m_table->setStudy({}, {}, {}, {}, {});
        m_failures->setFailures(0, {}, {});
        return showWork();
    }
    const StudyReading& r = *reading;
    m_table->setStudy(r.layout, r.metric, r.points, r.published, r.needed);
    setProperty(widgets::kFigureSubject, StudyController::name(m_c.path()));
    m_results->setCurrentIndex(r.measure ? 1 : 0);
    m_nothingYet->setSentence(
        r.done > 0    ? QStringLiteral("The finished runs have no measurements.")
        : m_c.works() ? QStringLiteral("Curves and values appear when the first run is done.")
                      : QStringLiteral("No run is done yet. Press Start study; it can be stopped "
                                       "and resumed at any time."));
    showWork();
}

void StudyPage::showWork() {
    const auto& reading = m_c.reading();
    const bool here = m_c.works();
    const QString disabledReason = m_c.disabledReason();
    const bool again = reading && reading->done + reading->running + reading->interrupted > 0;
    m_start->setText(here    ? QStringLiteral("Stop study")
                     : again ? QStringLiteral("Resume")
                             : QStringLiteral("Start study"));
    m_start->setIcon(
        widgets::icon(here ? "stop" : "play",
                      palette().color(here ? QPalette::ButtonText : QPalette::HighlightedText)));
    m_start->setProperty("primary", !here);
    const QString away = m_c.awayReason();
    m_start->setEnabled(here ? !m_c.ending(m_c.path()) && away.isEmpty()
                             : disabledReason.isEmpty());
    m_start->setToolTip(
        here ? m_c.ending(m_c.path()) ? QStringLiteral("The runs are saving their state")
               : away.isEmpty() ? QStringLiteral("Stops the running runs after saving their state")
                                : away
        : disabledReason.isEmpty()
            ? QStringLiteral("Trains all runs that are not done, with this number of processes")
            : disabledReason);
    m_start->update();
    m_jobs->setEnabled(!m_c.works());
    m_jobs->setToolTip(m_c.works()
                           ? QStringLiteral("Stop the study to change the number of processes")
                           : QStringLiteral("Number of runs trained in parallel"));
    m_runs->grid()->setRetry(retryDisabledReason().isEmpty(), retryDisabledReason());
    if (!reading) {
        m_progress->setSentence(m_c.path().isEmpty() ? QString()
                                                     : QStringLiteral("Reading the study"));
        return;
    }
    m_failures->setFailures(reading->failed, reading->firstFailure, retryDisabledReason());
    m_progress->setCounts(
        {reading->done, reading->running, reading->failed, reading->interrupted, reading->waiting},
        away.isEmpty() ? statusText(*reading, here, m_c.ending(m_c.path()), m_c.jobs())
                       : QStringLiteral("as it was heard of last"));
}

QString StudyPage::notHereReason() const {
    const auto far = wire::farPathOf(m_c.path().toStdString());
    if (!far) return {};
    return QStringLiteral("Its files are on %1: %2")
        .arg(QString::fromStdString(far->host), QString::fromStdString(far->path));
}

QString StudyPage::retryDisabledReason() const {
    if (!m_c.reading() || m_c.reading()->failed == 0) return QStringLiteral("No run has failed");
    if (m_c.works()) return QStringLiteral("Stop the study first");
    const QString why = m_c.disabledReason();  // also for a study whose other runs are done
    return m_c.reading()->left > 0.0 ? why : m_c.awayReason();
}

// Work
// ---------------------------------------------------------------------------------------------------

void StudyPage::toggleWork() {
    if (m_c.works()) return m_c.stop();
    if (const QString why = m_c.disabledReason(); !why.isEmpty()) return m_messages.error(why);
    m_c.start(m_jobs->value());
}

void StudyPage::retryFailed() {
    if (const QString why = retryDisabledReason(); !why.isEmpty()) return m_messages.error(why);
    m_c.start(m_jobs->value(), true);
}

void StudyPage::showFailed() {
    if (const QString problem = m_runs->chooseFailed(); !problem.isEmpty())
        m_messages.error(problem);
}

void StudyPage::showSlurm() {
    if (!m_c.reading()) return;
    SlurmDialog dialog(m_c.reading()->info, StudyController::program(), this);
    dialog.exec();
}

void StudyPage::saveLatex() {
    if (!m_c.reading()) return;
    QString path = widgets::chooseSaveFile(this, QStringLiteral("Save as LaTeX"),
                                           studyFileName(m_c.path(), "table.tex"),
                                           QStringLiteral("LaTeX (*.tex)"));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".tex");
    QString error;
    if (widgets::exportCsv(m_c.reading()->latex, path, &error))
        m_messages.ok(QStringLiteral("Wrote %1").arg(path));
    else
        m_messages.error(error);
}

}  // namespace relascope::app
