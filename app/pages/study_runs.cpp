// SPDX-License-Identifier: GPL-3.0-or-later
#include <QComboBox>
#include <QMenu>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/controllers/study_controller.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "question/question_fields.h"
#include "views/curve_look.h"
#include "views/look.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {

std::optional<View> describeStudy(const StudyController& controller, bool printed) {
    const auto& reading = controller.reading();
    const auto path = controller.path().toStdString();
    if (!reading || !reading->measure || wire::farPathOf(path)) return std::nullopt;
    View view;
    view.command = core::kStudyView;
    view.subjects = {{path, {}, {}, {}, {}}};
    view.options = {{"metric", reading->measure->metric}, {"split", reading->measure->split}};
    view.printed = printed;
    return view;
}

StudyRuns::StudyRuns(StudyController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_head(new widgets::PanelHead(QStringLiteral("Grid"), this)),
      m_grid(new widgets::StudyGrid(this)),
      m_legend(new widgets::StudyGridLegend(m_grid, this)),
      m_measure(new QComboBox(this)) {
    m_measure->setAccessibleName(QStringLiteral("Measure"));
    m_measure->setFont(widgets::smallFont());
    m_measure->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_measure->setPlaceholderText(QStringLiteral("no measurements yet"));
    m_head->addControl(m_legend);
    m_head->addControl(m_measure);
    addMenu();
    auto* column = widgets::columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_grid, 1);
    connect(m_measure, &QComboBox::activated, this, [this](int index) {
        if (!m_c.reading() || index < 0) return;
        const auto& measures = m_c.reading()->measures;
        if (index < static_cast<int>(measures.size()))
            m_c.setMeasure(measures[static_cast<std::size_t>(index)]);
    });
}

void StudyRuns::addMenu() {
    auto* more = widgets::iconButton("more", QStringLiteral("Grid: copy, save"), m_head);
    auto* menu = new widgets::ViewMenu(
        more, m_grid, [this] { return studyFileName(m_c.path(), "grid"); },
        [this] { return m_grid->picture().cells.csv(); });
    menu->paintVector = [this](QPainter& painter) { m_grid->picture().paintWhole(painter); };
    menu->wholeSize = [this] { return m_grid->picture().size(); };
    menu->caption = [this] { return studyCaption(m_c); };
    menu->describe = [this] {
        auto view = describeStudy(m_c, true);
        if (view) view->options.push_back({"runs", true});
        return view;
    };
    m_grid->setViewMenu(menu);
    m_head->addControl(more);
}

void StudyRuns::showStudy() {
    showMeasures();
    if (!m_c.reading()) {
        m_grid->setStudy({}, {}, {});
        return m_head->setSubText({});
    }
    const StudyReading& r = *m_c.reading();
    m_grid->setStudy(r.layout, r.metric, r.runs);
    m_legend->setMetric(r.metric);
    m_head->setSubText(planText(*r.info));
    m_head->setToolTip(widgets::plainTip(inferredText(*r.info)));
}

void StudyRuns::showMeasures() {
    const auto& reading = m_c.reading();
    const QSignalBlocker quiet(m_measure);
    QStringList measures;
    if (reading)
        for (const auto& measure : reading->measures)
            measures << measureText(*reading->info, measure);
    QStringList shown;
    for (int i = 0; i < m_measure->count(); ++i) shown << m_measure->itemText(i);
    if (measures != shown) {
        m_measure->clear();
        m_measure->addItems(measures);
    }
    m_measure->setEnabled(measures.size() > 1);
    m_measure->setToolTip(measures.isEmpty() ? QStringLiteral("Available once a run is done")
                                             : QStringLiteral("Metric and split to show"));
    m_measure->setCurrentIndex(reading && reading->measure ? measures.indexOf(measureText(
                                                                 *reading->info, *reading->measure))
                                                           : -1);
}

QString StudyRuns::chooseFailed() {
    const auto& runs = m_grid->runs();
    const int count = static_cast<int>(runs.size());
    for (int k = 1; k <= count; ++k) {
        const int i = (m_grid->current() + k) % count;
        if (runs[static_cast<std::size_t>(i)].state != CellState::Failed) continue;
        m_grid->setCurrent(i);
        m_grid->setFocus();
        return m_grid->picture().cells.text(i).section(u'\n', 0, 0) + QStringLiteral(": ") +
               runs[static_cast<std::size_t>(i)].message;
    }
    return {};
}

StudyCurves::StudyCurves(StudyController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_head(new widgets::PanelHead(QStringLiteral("Sample efficiency"), this)),
      m_plot(new widgets::EfficiencyPlot(this)),
      m_band(new QComboBox(this)),
      m_log(new widgets::ToggleChip(QStringLiteral("log x"), this)),
      m_published(new widgets::ToggleChip(QStringLiteral("Published"), this)),
      m_reference(new widgets::ToggleChip(QStringLiteral("Relascope\u2019s own"), this)) {
    for (const auto band :
         {widgets::StudyBand::Interval, widgets::StudyBand::TwoErrors, widgets::StudyBand::None})
        m_band->addItem(widgets::studyBandName(band));
    m_band->setAccessibleName(QStringLiteral("Band"));
    m_band->setToolTip(QStringLiteral("Band around the mean over seeds"));
    m_band->setFont(widgets::smallFont());
    m_published->setChecked(true);
    addMenu();
    auto* column = widgets::columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_plot, 1);
    connect(m_band, &QComboBox::activated, m_plot,
            [this](int index) { m_plot->setBand(static_cast<widgets::StudyBand>(index)); });
    connect(m_log, &QAbstractButton::toggled, m_plot, &widgets::EfficiencyPlot::setLogX);
    connect(m_published, &QAbstractButton::toggled, m_plot,
            [this](bool on) { m_plot->setShown(CurveSource::Published, on); });
    connect(m_reference, &QAbstractButton::toggled, m_plot,
            [this](bool on) { m_plot->setShown(CurveSource::Relascope, on); });
}

void StudyCurves::addMenu() {
    auto* more = widgets::iconButton("more", QStringLiteral("Plot: copy, save"), m_head);
    auto* menu = new widgets::ViewMenu(
        more, m_plot, [this] { return studyFileName(m_c.path(), "curves"); },
        [this] { return m_c.reading() ? m_c.reading()->csv : QString(); });
    constexpr QSize size(720, 480);  // as `study --figure` draws it
    menu->paintVector = [this, size](QPainter& painter) {
        m_plot->paintVector(painter, QRectF(QPointF(0, 0), size));
    };
    menu->wholeSize = [size] { return size; };
    menu->caption = [this] { return studyCaption(m_c); };
    menu->addPgfplots([this, menu] { return m_plot->pgfplots(menu->caption()); });
    menu->describe = [this] { return described(); };
    menu->menu()->addSeparator();
    menu->menu()->addAction(QStringLiteral("Reset zoom"), m_plot,
                            &widgets::EfficiencyPlot::resetZoom);
    for (QWidget* control :
         std::initializer_list<QWidget*>{m_log, m_published, m_reference, m_band, more})
        m_head->addControl(control);
}

/// The plot as a command; a part of its axes is none.
std::optional<View> StudyCurves::described() const {
    auto view = describeStudy(m_c);
    if (!view || m_plot->zoomed()) return std::nullopt;
    core::addLook(*view, core::studyLookFields(), m_plot->look());
    return view;
}

void StudyCurves::showStudy() {
    if (!m_c.reading()) return m_plot->setStudy({}, {}, {}, {});
    const StudyReading& r = *m_c.reading();
    m_plot->setStudy(r.layout, r.metric, r.points, r.published);
    m_head->setTitle(!r.layout.sizesAcross() ? QStringLiteral("By %1").arg(r.layout.axisTitle())
                     : r.layout.columns().size() < 2 ? QStringLiteral("Comparison")
                                                     : QStringLiteral("Sample efficiency"));
    QStringList about;
    if (r.measure) about << r.metric.title();
    if (const QString length = lengthNote(*r.info);
        !length.isEmpty() && m_plot->has(CurveSource::Published))
        about << length;
    m_head->setSubText(about.join(QStringLiteral(" \u00B7 ")));
    m_log->setEnabled(m_plot->canLogX());
    m_log->setToolTip(
        m_plot->canLogX()
            ? QStringLiteral("Logarithmic horizontal axis")
            : QStringLiteral(
                  "Available when the axis shows training sizes or positive values of an option"));
    m_reference->setEnabled(m_plot->has(CurveSource::Relascope));
    m_reference->setToolTip(
        m_plot->has(CurveSource::Relascope)
            ? QStringLiteral(
                  "Results of Relascope\u2019s own runs of these presets, dotted with hollow "
                  "triangles; resources/reference describes them")
            : QStringLiteral("Relascope has no reference runs of this experiment, these models and "
                             "this metric"));
    m_published->setEnabled(m_plot->has(CurveSource::Published));
    m_published->setToolTip(
        m_plot->has(CurveSource::Published)
            ? QStringLiteral("The papers\u2019 curves, dashed with hollow squares")
            : QStringLiteral(
                  "The papers have no curve for this experiment, these models and this metric"));
}

void StudyCurves::setLook(const StudyLook& look) {
    m_plot->setLook(look);
    m_band->setCurrentIndex(static_cast<int>(m_plot->band()));
    m_log->setChecked(look.log_x);
    m_published->setChecked(!look.no_published);
    m_reference->setChecked(look.reference);
}

void StudyCurves::setBand(widgets::StudyBand band) {
    m_band->setCurrentIndex(static_cast<int>(band));
    m_plot->setBand(band);
}

}  // namespace relascope::app
