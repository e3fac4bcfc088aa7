// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/study_runs.h"

#include <QComboBox>
#include <QMenu>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/controllers/study_controller.h"
#include "app/pages/study_page_text.h"
#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/study/study_grid_legend.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

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
    m_grid->setViewActions(menu->menu()->actions());
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
    m_head->setToolTip(inferredText(*r.info));
}

void StudyRuns::showMeasures() {
    const auto& reading = m_c.reading();
    const QSignalBlocker quiet(m_measure);
    QStringList measures;
    if (reading)
        for (const auto& measure : reading->measures) measures << measureText(measure);
    QStringList shown;
    for (int i = 0; i < m_measure->count(); ++i) shown << m_measure->itemText(i);
    if (measures != shown) {
        m_measure->clear();
        m_measure->addItems(measures);
    }
    m_measure->setEnabled(measures.size() > 1);
    m_measure->setToolTip(measures.isEmpty() ? QStringLiteral("Available once a run is done")
                                             : QStringLiteral("Metric and split to show"));
    m_measure->setCurrentIndex(
        reading && reading->measure ? measures.indexOf(measureText(*reading->measure)) : -1);
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

}  // namespace relascope::app
