#include "app/pages/study_page.h"

#include <QComboBox>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPushButton>
#include <QSaveFile>
#include <QSpinBox>
#include <QStackedLayout>
#include <QUrl>

#include "app/app_context.h"
#include "app/controllers/study_controller.h"
#include "app/pages/new_study_dialog.h"
#include "app/pages/slurm_dialog.h"
#include "app/pages/study_page_words.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_progress.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"

namespace relascope {

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
    connect(m_empty, &EmptyState::activated, this, &StudyPage::newStudy);
    connect(m_chooser, &QComboBox::activated, this, &StudyPage::studyChosen);
    connect(m_measure, &QComboBox::activated, this, [this](int index) {
        if (!m_c.reading() || index < 0) return;
        const auto& measures = m_c.reading()->measures;
        if (index < static_cast<int>(measures.size()))
            m_c.setMeasure(measures[static_cast<std::size_t>(index)]);
    });
    connect(m_band, &QComboBox::activated, this, [this](int index) {
        m_plot->setBand(static_cast<StudyBand>(index));
        Q_EMIT viewChanged();
    });
    connect(m_log, &QAbstractButton::toggled, this, [this](bool on) {
        m_plot->setLogX(on);
        Q_EMIT viewChanged();
    });
    connect(m_published, &QAbstractButton::toggled, this, [this](bool on) {
        m_plot->setShown(CurveSource::Published, on);
        Q_EMIT viewChanged();
    });
    connect(m_reference, &QAbstractButton::toggled, this, [this](bool on) {
        m_plot->setShown(CurveSource::Relascope, on);
        Q_EMIT viewChanged();
    });
    connect(m_start, &QPushButton::clicked, this, &StudyPage::toggleWork);
    connect(m_grid, &StudyGrid::runActivated, this, &StudyPage::runRequested);
    connect(m_grid, &StudyGrid::folderRequested, this, &StudyPage::openPath);
    connect(m_grid, &StudyGrid::retryRequested, this, &StudyPage::retryFailed);
    connect(m_failures, &StudyFailures::retryRequested, this, &StudyPage::retryFailed);
    connect(m_failures, &StudyFailures::showRequested, this, &StudyPage::showFailed);
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
    // The icon of the main button is in the colour of its words.
    if (event->type() == QEvent::PaletteChange && m_grid && m_gridMenu) showWork();
}

// The list
// ---------------------------------------------------------------------------------------------------

void StudyPage::fillChooser() {
    const QSignalBlocker quiet(m_chooser);
    m_chooser->clear();
    for (const QString& path : m_c.studies()) {
        m_chooser->addItem(StudyController::name(path), path);
        m_chooser->setItemData(m_chooser->count() - 1, plainTip(path), Qt::ToolTipRole);
    }
    if (m_chooser->count() > 0) m_chooser->insertSeparator(m_chooser->count());
    m_chooser->addItem(icon("folder"), QStringLiteral("Open a study\u2026"));
    m_chooser->setCurrentIndex(m_c.path().isEmpty() ? -1 : m_chooser->findData(m_c.path()));
    m_chooser->setToolTip(m_c.path().isEmpty() ? QStringLiteral("Study to show")
                                               : plainTip(m_c.path()));
    // The newest is what one most likely came for.
    if (m_c.path().isEmpty() && isVisible() && !m_c.studies().isEmpty())
        m_c.open(m_c.studies().first());
}

void StudyPage::studyChosen(int index) {
    if (index + 1 < m_chooser->count()) return m_c.open(m_chooser->itemData(index).toString());
    m_chooser->setCurrentIndex(m_chooser->findData(m_c.path()));
    openStudy();
}

void StudyPage::newStudy() {
    NewStudyDialog dialog(m_c.folder(), preset(), m_jobs->value(), this);
    if (!ask(dialog)) return;
    m_jobs->setValue(dialog.jobs());
    m_c.create(dialog.path(), dialog.plan(), dialog.startsAtOnce() ? dialog.jobs() : 0);
}

void StudyPage::openStudy() {
    const QString path = askFolder();
    if (path.isEmpty()) return;
    if (!QFileInfo::exists(path + QStringLiteral("/study.json")))
        return m_messages.error(
            QStringLiteral("%1 is not a study (no study.json); choose a study folder").arg(path));
    m_c.open(path);
}

void StudyPage::openPath(const QString& path) {
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path)))
        m_messages.warning(
            QStringLiteral("No file manager could be opened; the folder is %1").arg(path));
}

void StudyPage::openFolder() {
    if (!m_c.path().isEmpty()) openPath(m_c.path());
}

// What is shown
// ---------------------------------------------------------------------------------------------------

void StudyPage::showStudy() {
    const auto& reading = m_c.reading();
    m_stack->setCurrentIndex(m_c.path().isEmpty() ? 0 : 1);
    if (!reading) {
        m_grid->setStudy({}, {}, {});
        m_plot->setStudy({}, {}, {}, {});
        m_table->setStudy({}, {}, {}, {}, {});
        m_gridHead->setSubText({});
        m_failures->setFailures(0, {}, {});
        showMeasures();
        return showWork();
    }
    const StudyReading& r = *reading;
    showMeasures();
    m_grid->setStudy(r.layout, r.metric, r.runs);
    m_legend->setMetric(r.metric);
    m_plot->setStudy(r.layout, r.metric, r.points, r.published);
    m_table->setStudy(r.layout, r.metric, r.points, r.published, r.needed);
    m_gridHead->setSubText(planWords(*r.info));
    m_gridHead->setToolTip(inferredWords(*r.info));
    setProperty(kFigureSubject, StudyController::name(m_c.path()));
    m_plotHead->setTitle(!r.layout.sizesAcross() ? QStringLiteral("By %1").arg(r.layout.axisTitle())
                         : r.layout.columns().size() < 2 ? QStringLiteral("Comparison")
                                                         : QStringLiteral("Sample efficiency"));
    m_plotHead->setSubText(r.measure ? r.metric.title() : QString());
    m_log->setEnabled(m_plot->canLogX());
    m_log->setToolTip(
        m_plot->canLogX()
            ? QStringLiteral("Logarithmic horizontal axis")
            : QStringLiteral(
                  "Available when the axis shows training sizes or positive values of an option"));
    m_reference->setEnabled(m_plot->has(CurveSource::Relascope));
    m_reference->setToolTip(
        m_plot->has(CurveSource::Relascope)
            ? QStringLiteral("What Relascope reached itself with these presets, dotted with hollow "
                             "triangles; resources/reference says when and where")
            : QStringLiteral("Relascope has no reference runs of this experiment, these models and "
                             "this metric"));
    m_published->setEnabled(m_plot->has(CurveSource::Published));
    m_published->setToolTip(
        m_plot->has(CurveSource::Published)
            ? QStringLiteral("The papers\u2019 curves, dashed with hollow "
                             "squares")
            : QStringLiteral(
                  "The papers have no curve for this experiment, these models and this metric"));
    m_results->setCurrentIndex(r.measure ? 1 : 0);
    m_nothingYet->setSentence(
        r.done > 0      ? QStringLiteral("The finished runs have no measurements.")
        : m_c.working() ? QStringLiteral("Curves and values appear when the first run is done.")
                        : QStringLiteral("No run is done yet. Press Start study; it can be stopped "
                                         "and resumed at any time."));
    showWork();
}

void StudyPage::showMeasures() {
    const auto& reading = m_c.reading();
    const QSignalBlocker quiet(m_measure);
    QStringList words;
    if (reading)
        for (const auto& measure : reading->measures) words << measureWords(measure);
    QStringList shown;
    for (int i = 0; i < m_measure->count(); ++i) shown << m_measure->itemText(i);
    if (words != shown) {
        m_measure->clear();
        m_measure->addItems(words);
    }
    m_measure->setEnabled(words.size() > 1);
    m_measure->setToolTip(words.isEmpty() ? QStringLiteral("Available once a run is done")
                                          : QStringLiteral("Metric and split to show"));
    m_measure->setCurrentIndex(
        reading && reading->measure ? words.indexOf(measureWords(*reading->measure)) : -1);
}

void StudyPage::showWork() {
    const auto& reading = m_c.reading();
    const bool here = m_c.working() && m_c.workedOn() == m_c.path();
    const QString obstacle = m_c.obstacle();
    const bool again = reading && reading->done + reading->running + reading->interrupted > 0;
    m_start->setText(here    ? QStringLiteral("Stop study")
                     : again ? QStringLiteral("Resume")
                             : QStringLiteral("Start study"));
    m_start->setIcon(
        icon(here ? "stop" : "play",
             palette().color(here ? QPalette::ButtonText : QPalette::HighlightedText)));
    m_start->setProperty("primary", !here);
    m_start->setEnabled(here ? !m_c.ending() : obstacle.isEmpty());
    m_start->setToolTip(
        here ? m_c.ending() ? QStringLiteral("The runs are saving their state")
                            : QStringLiteral("Stops the running runs after saving their state")
        : obstacle.isEmpty()
            ? QStringLiteral("Trains all runs that are not done, with this number of processes")
            : obstacle);
    m_start->update();
    m_jobs->setEnabled(!m_c.working());
    m_jobs->setToolTip(m_c.working()
                           ? QStringLiteral("Stop the study to change the number of processes")
                           : QStringLiteral("Number of runs trained in parallel"));
    m_grid->setRetry(obstacleToRetry().isEmpty(), obstacleToRetry());
    if (!reading) {
        m_progress->setSentence(m_c.path().isEmpty() ? QString()
                                                     : QStringLiteral("Reading the study"));
        return;
    }
    m_failures->setFailures(reading->failed, reading->firstFailure, obstacleToRetry());
    m_progress->setCounts(
        {reading->done, reading->running, reading->failed, reading->interrupted, reading->waiting},
        workWords(*reading, here, m_c.ending(), m_c.jobs()));
}

QString StudyPage::obstacleToRetry() const {
    if (!m_c.reading() || m_c.reading()->failed == 0) return QStringLiteral("No run has failed");
    if (m_c.working()) return QStringLiteral("Stop the study first");
    return {};
}

void StudyPage::setBand(StudyBand band) {
    m_band->setCurrentIndex(static_cast<int>(band));
    m_plot->setBand(band);
}

QString StudyPage::fileName(const char* what) const {
    const QString study = StudyController::name(m_c.path());
    return (study.isEmpty() ? QStringLiteral("study") : study) + u'-' + QLatin1String(what);
}

// Work
// ---------------------------------------------------------------------------------------------------

void StudyPage::toggleWork() {
    if (m_c.working() && m_c.workedOn() == m_c.path()) return m_c.stop();
    if (const QString why = m_c.obstacle(); !why.isEmpty()) return m_messages.warning(why);
    m_c.start(m_jobs->value());
}

void StudyPage::retryFailed() {
    if (const QString why = obstacleToRetry(); !why.isEmpty()) return m_messages.warning(why);
    m_c.start(m_jobs->value(), true);
}

void StudyPage::showFailed() {
    const auto& runs = m_grid->runs();
    const int count = static_cast<int>(runs.size());
    for (int k = 1; k <= count; ++k) {
        const int i = (m_grid->current() + k) % count;
        if (runs[static_cast<std::size_t>(i)].state != CellState::Failed) continue;
        m_grid->setCurrent(i);
        m_grid->setFocus();
        return m_messages.warning(m_grid->runText(i).section(u'\n', 0, 0) + QStringLiteral(": ") +
                                  runs[static_cast<std::size_t>(i)].message);
    }
}

void StudyPage::showSlurm() {
    if (m_c.path().isEmpty()) return;
    SlurmDialog dialog(m_c.path(), StudyController::program(), this);
    dialog.exec();
}

void StudyPage::saveLatex() {
    if (!m_c.reading()) return;
    QString path =
        QFileDialog::getSaveFileName(this, QStringLiteral("Save as LaTeX"), fileName("table.tex"),
                                     QStringLiteral("LaTeX (*.tex)"));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".tex");
    QString error;
    if (exportCsv(m_c.reading()->latex, path, &error))
        m_messages.ok(QStringLiteral("Wrote %1").arg(path));
    else
        m_messages.error(error);
}

}  // namespace relascope
