// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/measure_page.h"

#include <QToolButton>

#include "app/pages/analysis_window.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

MeasurePage::MeasurePage(QUndoStack& history, Measurements& measurements)
    : m_history(history), m_measurements(measurements) {
    m_away =
        new widgets::EmptyState(QStringLiteral("The measurements are in a window of their own."),
                                QStringLiteral("Bring them back"), this);
    addWidget(m_away);
    connect(m_away, &widgets::EmptyState::activated, this, [this] { setApart(false); });
}

MeasurePage::~MeasurePage() {
    if (m_apart) delete m_analyses;
}

AnalysisWindow& MeasurePage::analyses() {
    if (m_analyses) return *m_analyses;
    m_analyses = new AnalysisWindow(m_history, m_measurements);
    m_analyses->restoreOptions(m_options);
    m_analyses->setWindowTitle(QStringLiteral("Measure"));
    auto* apart = widgets::iconButton("window", QStringLiteral("In a window of its own"), this);
    connect(apart, &QToolButton::clicked, this, [this] { setApart(!m_apart); });
    m_analyses->addControl(apart);
    // Once it is closed: closing hides it.
    connect(
        m_analyses, &AnalysisWindow::closed, this, [this] { setApart(false); },
        Qt::QueuedConnection);
    connect(m_analyses, &AnalysisWindow::shown, this, &MeasurePage::subjectWanted);
    Q_EMIT analysesMade();
    setCurrentIndex(addWidget(m_analyses));
    return *m_analyses;
}

void MeasurePage::setApart(bool apart) {
    if (apart == m_apart) return;
    auto& all = analyses();
    m_apart = apart;
    if (apart) {
        const QSize size = all.size();
        removeWidget(&all);
        // A window of the main window stays above it, and closes with it.
        all.setParent(window(), Qt::Window);
        all.resize(size);
        all.show();
    } else {
        all.setWindowFlags(Qt::Widget);
        setCurrentIndex(addWidget(&all));
        all.show();
    }
}

QByteArray MeasurePage::saveOptions() const {
    return m_analyses ? m_analyses->saveOptions() : m_options;
}

void MeasurePage::restoreOptions(const QByteArray& options) {
    m_options = options;
    if (m_analyses) m_analyses->restoreOptions(options);
}

void MeasurePage::showEvent(QShowEvent* event) {
    QStackedWidget::showEvent(event);
    analyses();
}

}  // namespace relascope::app
