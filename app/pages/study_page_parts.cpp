// How the Study page is put together; what it does is in study_page.cpp.
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedLayout>
#include <QThread>
#include <QVBoxLayout>
#include <algorithm>

#include "app/controllers/study_controller.h"
#include "app/pages/study_page.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_progress.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

void paper(QWidget* widget) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(QPalette::Base);
}

QVBoxLayout* columnOf(QWidget* widget) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

}  // namespace

StudyPage::StudyPage(StudyController& controller, Messages& messages, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_messages(messages),
      m_empty(new EmptyState(QStringLiteral("No study yet. A study trains models with several "
                                            "training sizes and seeds and plots the results."),
                             QStringLiteral("New study\u2026"), this)),
      m_nothingYet(new EmptyState({}, {}, this)),
      m_chooser(new QComboBox(this)),
      m_measure(new QComboBox(this)),
      m_band(new QComboBox(this)),
      m_start(new QPushButton(this)),
      m_jobs(new QSpinBox(this)),
      m_progress(new StudyProgressLine(this)),
      m_failures(new StudyFailures(this)),
      m_gridHead(new PanelHead(QStringLiteral("Grid"), this)),
      m_plotHead(new PanelHead(QStringLiteral("Sample efficiency"), this)),
      m_grid(new StudyGrid(this)),
      m_legend(new StudyGridLegend(m_grid, this)),
      m_plot(new EfficiencyPlot(this)),
      m_table(new StudyTable(this)),
      m_log(new ToggleChip(QStringLiteral("log x"), this)),
      m_published(new ToggleChip(QStringLiteral("Published"), this)),
      m_reference(new ToggleChip(QStringLiteral("Relascope\u2019s own"), this)),
      m_rows(new QSplitter(Qt::Vertical, this)),
      m_columns(new QSplitter(Qt::Horizontal, this)) {
    setAccessibleName(QStringLiteral("Study"));
    m_columns->setHandleWidth(1);
    m_columns->setChildrenCollapsible(false);
    m_columns->addWidget(makePlotPart());
    m_columns->addWidget(makeTablePart());
    m_columns->setStretchFactor(0, 5);
    m_columns->setStretchFactor(1, 5);
    m_columns->setSizes({600, 560});
    auto* results = new QWidget(this);
    paper(results);
    m_results = new QStackedLayout(results);
    m_results->addWidget(m_nothingYet);
    m_results->addWidget(m_columns);
    m_rows->setHandleWidth(1);
    m_rows->setChildrenCollapsible(false);
    m_rows->addWidget(makeGridPart());
    m_rows->addWidget(results);
    m_rows->setStretchFactor(0, 4);
    m_rows->setStretchFactor(1, 6);
    m_rows->setSizes({280, 420});
    results->setMinimumHeight(200);

    auto* study = new QWidget(this);
    paper(study);
    auto* column = columnOf(study);
    column->addWidget(makeBar());
    column->addWidget(horizontalLine(study));
    column->addWidget(m_failures);
    column->addWidget(m_rows, 1);
    paper(m_empty);
    m_stack = new QStackedLayout(this);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(study);
    wire();
}

QWidget* StudyPage::makeBar() {
    auto* bar = new QWidget(this);
    bar->setFixedHeight(48);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(16, 0, 8, 0);
    row->setSpacing(8);
    m_chooser->setAccessibleName(QStringLiteral("Study"));
    m_chooser->setFont(smallFont());
    m_chooser->setMinimumContentsLength(14);
    m_chooser->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_chooser->setMaximumWidth(260);
    m_chooser->setPlaceholderText(QStringLiteral("Choose a study"));
    auto* fresh = new QPushButton(icon("plus"), QStringLiteral("New study\u2026"), bar);
    fresh->setToolTip(QStringLiteral("Choose models, training sizes, seeds and options to sweep"));
    connect(fresh, &QPushButton::clicked, this, &StudyPage::newStudy);
    m_start->setMinimumWidth(112);
    m_jobs->setRange(1, 256);
    m_jobs->setValue(std::max(1, QThread::idealThreadCount() / 2));
    m_jobs->setAccessibleName(QStringLiteral("Processes"));
    m_jobs->setFixedWidth(58);
    auto* jobs = mutedLabel(QStringLiteral("Processes"), bar);
    jobs->setBuddy(m_jobs);
    auto* more = iconButton("more", QStringLiteral("Study: open, retry, cluster"), bar);
    auto* menu = new QMenu(more);
    menu->setToolTipsVisible(true);
    menu->addAction(icon("folder"), QStringLiteral("Open a study\u2026"), this,
                    &StudyPage::openStudy);
    auto* folder = menu->addAction(QStringLiteral("Open folder"), this, &StudyPage::openFolder);
    auto* retry = menu->addAction(icon("restart"), QStringLiteral("Retry failed runs"), this,
                                  &StudyPage::retryFailed);
    menu->addSeparator();
    auto* slurm =
        menu->addAction(QStringLiteral("Slurm script\u2026"), this, &StudyPage::showSlurm);
    slurm->setToolTip(QStringLiteral("Script of a job array that runs the study on a cluster"));
    menu->addSeparator();
    auto* forget = menu->addAction(icon("close"), QStringLiteral("Hide from the list"), this,
                                   [this] { m_c.forget(m_c.path()); });
    connect(menu, &QMenu::aboutToShow, this, [this, folder, retry, slurm, forget] {
        const bool any = !m_c.path().isEmpty();
        folder->setEnabled(any);
        slurm->setEnabled(any);
        retry->setEnabled(obstacleToRetry().isEmpty());
        retry->setToolTip(obstacleToRetry());
        const bool elsewhere = any && m_c.opened().contains(m_c.path());
        forget->setEnabled(elsewhere);
        forget->setToolTip(
            elsewhere ? QStringLiteral("The files are kept")
                      : QStringLiteral("Studies in %1 are always listed").arg(m_c.folder()));
    });
    more->setMenu(menu);
    more->setPopupMode(QToolButton::InstantPopup);
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

QWidget* StudyPage::makeGridPart() {
    auto* part = new QWidget(this);
    auto* column = columnOf(part);
    m_measure->setAccessibleName(QStringLiteral("Measure"));
    m_measure->setFont(smallFont());
    m_measure->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_measure->setPlaceholderText(QStringLiteral("no measurements yet"));
    auto* more = iconButton("more", QStringLiteral("Grid: copy, save"), m_gridHead);
    m_gridMenu = new ViewMenu(
        more, m_grid, [this] { return fileName("grid"); }, [this] { return m_grid->csv(); });
    m_gridMenu->paintVector = [this](QPainter& painter) { m_grid->paintWhole(painter); };
    m_gridMenu->wholeSize = [this] { return m_grid->wholeSize(); };
    m_gridMenu->caption = [this] {
        return StudyController::name(m_c.path()) + QStringLiteral(" \u00B7 ") +
               m_gridHead->subText();
    };
    m_grid->setViewActions(m_gridMenu->menu()->actions());
    m_gridHead->addControl(m_legend);
    m_gridHead->addControl(m_measure);
    m_gridHead->addControl(more);
    column->addWidget(m_gridHead);
    column->addWidget(m_grid, 1);
    return part;
}

QWidget* StudyPage::makePlotPart() {
    auto* part = new QWidget(this);
    auto* column = columnOf(part);
    m_band->addItems({QStringLiteral("95% bootstrap"), QStringLiteral("\u00B1 2 s.e.m."),
                      QStringLiteral("No band")});
    m_band->setAccessibleName(QStringLiteral("Band"));
    m_band->setToolTip(QStringLiteral("Band around the mean over seeds"));
    m_band->setFont(smallFont());
    m_published->setChecked(true);
    auto* more = iconButton("more", QStringLiteral("Plot: copy, save"), m_plotHead);
    auto* menu = new ViewMenu(
        more, m_plot, [this] { return fileName("curves"); },
        [this] { return m_c.reading() ? m_c.reading()->csv : QString(); });
    constexpr QSize size(720, 480);  // as `study --figure` draws it
    menu->paintVector = [this, size](QPainter& painter) {
        m_plot->paintVector(painter, QRectF(QPointF(0, 0), size));
    };
    menu->wholeSize = [size] { return size; };
    menu->caption = [this] {
        return StudyController::name(m_c.path()) + QStringLiteral(" \u00B7 ") +
               m_gridHead->subText();
    };
    menu->addPgfplots([this, menu] { return m_plot->pgfplots(menu->caption()); });
    menu->menu()->addSeparator();
    menu->menu()->addAction(QStringLiteral("Reset zoom"), m_plot, &EfficiencyPlot::resetZoom);
    for (QWidget* control :
         std::initializer_list<QWidget*>{m_log, m_published, m_reference, m_band, more})
        m_plotHead->addControl(control);
    column->addWidget(m_plotHead);
    column->addWidget(m_plot, 1);
    return part;
}

QWidget* StudyPage::makeTablePart() {
    // The table has its own "..." button: the export menu hangs on one that is never shown, and
    // its entries are listed in the table's menu.
    auto* carrier = new QToolButton(this);
    carrier->hide();
    auto* exporter = new ViewMenu(
        carrier, m_table, [this] { return fileName("table"); },
        [this] { return m_c.reading() ? m_c.reading()->csv : QString(); });
    QMenu* menu = m_table->menu();
    menu->addAction(QStringLiteral("Copy LaTeX"), this, [this] {
        if (m_c.reading()) QApplication::clipboard()->setText(m_c.reading()->latex);
    });
    menu->addSeparator();
    for (QAction* action : exporter->menu()->actions())
        if (action->text() != QLatin1String("Copy") && !action->isSeparator())
            menu->addAction(action);
    menu->addAction(QStringLiteral("LaTeX..."), this, &StudyPage::saveLatex);
    connect(m_table, &StudyTable::csvRequested, exporter,
            [exporter] { exporter->save(QStringLiteral("csv")); });
    m_table->setMinimumWidth(280);
    return m_table;
}

}  // namespace relascope
