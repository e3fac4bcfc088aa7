// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_grid_legend.h"

#include <QPainter>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr std::pair<CellState, const char*> kStates[] = {{CellState::Waiting, "waiting"},
                                                         {CellState::Running, "running"},
                                                         {CellState::Interrupted, "interrupted"},
                                                         {CellState::Failed, "failed"}};
constexpr int kBar = 80;

}  // namespace

StudyGridLegend::StudyGridLegend(const StudyGrid* grid, QWidget* parent)
    : QWidget(parent), m_grid(grid) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Legend of the grid"));
    setFixedHeight(24);
}

void StudyGridLegend::setMetric(const StudyMetric& metric) {
    m_metric = metric;
    setToolTip(QStringLiteral("Each square is a run; brighter is better, from %1 to %2")
                   .arg(metric.text(m_grid->picture().cells.range().first) + metric.unit(),
                        metric.text(m_grid->picture().cells.range().second) + metric.unit()));
    updateGeometry();
    update();
}

int StudyGridLegend::barWidth() const {
    const QFontMetrics numbers{numberFont(11)};
    const auto [low, high] = m_grid->picture().cells.range();
    return kBar + 12 + numbers.horizontalAdvance(m_metric.text(low) + m_metric.unit()) +
           numbers.horizontalAdvance(m_metric.text(high) + m_metric.unit());
}

QSize StudyGridLegend::sizeHint() const {
    int width = barWidth();
    for (const auto& [state, text] : kStates)
        width += 16 + 18 + QFontMetrics(captionFont()).horizontalAdvance(QLatin1String(text));
    return {width, 24};
}
QSize StudyGridLegend::minimumSizeHint() const {
    return {barWidth(), 24};
}

void StudyGridLegend::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(numberFont(11));
    painter.setPen(t.muted);
    const auto [low, high] = m_grid->picture().cells.range();
    const QString ends[] = {m_metric.text(low) + m_metric.unit(),
                            m_metric.text(high) + m_metric.unit()};
    int x = width() - painter.fontMetrics().horizontalAdvance(ends[1]);
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, ends[1]);
    x -= 6 + kBar;
    for (int i = 0; i < kBar; ++i)
        painter.fillRect(QRect(x + i, 6, 1, 12),
                         m_grid->picture().fill(low + (high - low) * (i + 0.5) / kBar));
    const int before = painter.fontMetrics().horizontalAdvance(ends[0]);
    x -= 6 + before;
    painter.drawText(QRect(x, 0, before + 2, height()), Qt::AlignVCenter, ends[0]);
    painter.setFont(captionFont());
    for (auto it = std::rbegin(kStates); it != std::rend(kStates); ++it) {
        const QString text = QLatin1String(it->second);
        const int wide = painter.fontMetrics().horizontalAdvance(text);
        x -= 16 + 18 + wide;
        if (x < 0) return;
        paintStudyMark(painter, QRect(x, 4, 12, 16), it->first, 0.5, {});
        painter.setPen(t.muted);
        painter.drawText(QRect(x + 18, 0, wide + 2, height()), Qt::AlignVCenter, text);
    }
}

}  // namespace relascope::widgets
