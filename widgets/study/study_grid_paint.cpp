// SPDX-License-Identifier: GPL-3.0-or-later
// How the grid of a study is painted; what it does is in study_grid.cpp.
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "widgets/study/study_grid.h"
#include "widgets/study/study_grid_measures.h"
#include "widgets/theme/theme.h"

namespace relascope {

using namespace study_grid;

void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill) {
    const Theme& t = Theme::current();
    const auto border = [&](const QColor& color, int width) {
        for (int i = 0; i < width; ++i) {
            const QRect r = mark.adjusted(i, i, -i, -i);
            painter.fillRect(QRect(r.left(), r.top(), r.width(), 1), color);
            painter.fillRect(QRect(r.left(), r.bottom(), r.width(), 1), color);
            painter.fillRect(QRect(r.left(), r.top(), 1, r.height()), color);
            painter.fillRect(QRect(r.right(), r.top(), 1, r.height()), color);
        }
    };
    // From below, as a glass fills.
    const auto level = [&](QColor color, float alpha) {
        color.setAlphaF(alpha);
        const int height = qRound(std::clamp(progress, 0.0, 1.0) * (mark.height() - 4));
        painter.fillRect(
            QRect(mark.left() + 2, mark.bottom() - 1 - height, mark.width() - 4, height), color);
    };
    switch (state) {
        case CellState::Done:
            painter.fillRect(mark, fill.isValid() ? fill : t.track);
            return;
        case CellState::Waiting:
            painter.fillRect(mark, t.panel);
            return border(t.controlBorder, 1);
        case CellState::Running:
            painter.fillRect(mark, t.selection);
            level(t.accent, 0.45F);
            return border(t.accent, 2);
        case CellState::Failed:
            painter.fillRect(mark, t.errorFill);
            painter.fillRect(mark, hatchBrush(t.error));
            return border(t.error, 1);
        case CellState::Interrupted: {
            painter.fillRect(mark, t.warningFill);
            level(t.warning, 0.35F);
            border(t.warning, 1);
            const QPoint c = mark.center();  // the two bars of a pause
            painter.fillRect(QRect(c.x() - 2, c.y() - 3, 2, 7), t.warning);
            painter.fillRect(QRect(c.x() + 2, c.y() - 3, 2, 7), t.warning);
            return;
        }
    }
}

void StudyGrid::paintEvent(QPaintEvent* event) {
    const Theme& t = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(event->rect(), t.panel);
    const int dx = horizontalScrollBar()->value(), dy = verticalScrollBar()->value();
    const QRect seen = viewport()->rect();
    const int rows = static_cast<int>(m_layout.rows().size());
    const int first = dy / kRow, last = std::min(rows - 1, (dy + seen.height() - kHead) / kRow);
    painter.save();
    painter.setClipRect(QRect(m_labelWidth - 4, kHead, seen.width(), seen.height() - kHead));
    painter.translate(-dx, -dy);
    for (int row = first; row <= last; ++row) paintRow(painter, row, dx + seen.width());
    painter.restore();
    painter.save();
    painter.setClipRect(QRect(0, kHead, m_labelWidth - 4, seen.height() - kHead));
    painter.translate(0, -dy);
    for (int row = first; row <= last; ++row) paintLabel(painter, row, m_labelWidth);
    painter.restore();
    painter.save();
    painter.setClipRect(QRect(0, 0, seen.width(), kHead));
    painter.translate(-dx, 0);
    paintHead(painter, dx + seen.width());
    painter.translate(dx, 0);
    painter.fillRect(QRect(0, 0, m_labelWidth - 4, kHead - 1), t.alt);
    painter.setPen(t.muted);
    painter.setFont(smallFont());
    painter.drawText(QRect(kMargin, 0, m_labelWidth - kMargin, kHead - 1), Qt::AlignVCenter,
                     QStringLiteral("Model"));
    painter.restore();
    if (dx > 0) painter.fillRect(QRect(m_labelWidth - 5, 0, 1, seen.height()), t.border);
}

void StudyGrid::paintWhole(QPainter& painter) const {
    const QSize whole = wholeSize();
    paintHead(painter, whole.width());
    painter.setPen(Theme::current().muted);
    painter.setFont(smallFont());
    painter.drawText(QRect(kMargin, 0, m_labelWidth - kMargin, kHead - 1), Qt::AlignVCenter,
                     QStringLiteral("Model"));
    for (int row = 0; row < static_cast<int>(m_layout.rows().size()); ++row) {
        paintRow(painter, row, whole.width());
        paintLabel(painter, row, m_labelWidth);
    }
}

void StudyGrid::paintHead(QPainter& painter, int width) const {
    const Theme& t = Theme::current();
    painter.fillRect(QRect(0, 0, width, kHead - 1), t.alt);
    painter.fillRect(QRect(0, kHead - 1, width, 1), t.grid);
    painter.setFont(numberFont(12));
    painter.setPen(t.muted);
    for (int c = 0; c < static_cast<int>(m_layout.columns().size()); ++c) {
        const QRect box(m_labelWidth + c * m_cellWidth, 0, m_cellWidth - 4, kHead - 1);
        painter.drawText(
            box, Qt::AlignVCenter,
            painter.fontMetrics().elidedText(m_layout.columns()[static_cast<std::size_t>(c)].title,
                                             Qt::ElideRight, box.width()));
    }
}

void StudyGrid::paintLabel(QPainter& painter, int row, int width) const {
    const Theme& t = Theme::current();
    const auto& words = m_layout.rows()[static_cast<std::size_t>(row)];
    const int top = kHead + row * kRow;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.seriesColor(row));
    painter.drawRoundedRect(QRectF(kMargin, top + 10, 10, 10), 2, 2);
    painter.restore();
    const int left = kMargin + 18, room = width - left - 10;
    painter.setPen(t.text);
    painter.setFont(bodyFont());
    painter.drawText(QRect(left, top + 5, room, 18), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(words.title, Qt::ElideMiddle, room));
    painter.setPen(t.muted);
    painter.setFont(captionFont());
    painter.drawText(QRect(left, top + 23, room, 16), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(words.detail, Qt::ElideRight, room));
    painter.fillRect(QRect(0, top + kRow - 1, width, 1), t.grid);
}

void StudyGrid::paintRow(QPainter& painter, int row, int width) const {
    const Theme& t = Theme::current();
    const int top = kHead + row * kRow;
    painter.fillRect(QRect(0, top + kRow - 1, width, 1), t.grid);
    const QRectF seen = painter.hasClipping() ? painter.clipBoundingRect() : QRectF();
    for (int column = 0; column < static_cast<int>(m_layout.columns().size()); ++column) {
        const int left = m_labelWidth + column * m_cellWidth;
        if (!seen.isEmpty() && (left > seen.right() || left + m_cellWidth < seen.left())) continue;
        const Cell& here = cell(row, column);
        for (std::size_t place = 0; place < here.runs.size(); ++place)
            paintRun(painter, here.runs[place], markRect(row, column, static_cast<int>(place)));
        painter.setFont(numberFont(11));
        painter.setPen(std::isnan(here.mean) ? t.muted : t.text);
        painter.drawText(QRect(left, top + 25, m_cellWidth - 2, 15), Qt::AlignVCenter,
                         here.runs.empty() ? QString() : m_metric.text(here.mean));
    }
}

void StudyGrid::paintRun(QPainter& painter, int index, const QRect& mark) const {
    const Theme& t = Theme::current();
    const GridRun& run = m_runs[static_cast<std::size_t>(index)];
    const QColor shade = fill(run.value);
    paintStudyMark(painter, mark, run.state, run.progress, shade);
    if (run.state == CellState::Done && m_mark >= kNumberMark && shade.isValid()) {
        painter.setFont(numberFont(11));
        painter.setPen(Theme::textOn(shade));
        painter.drawText(mark, Qt::AlignCenter, m_metric.text(run.value));
    } else if (run.state == CellState::Running && m_mark >= kNumberMark) {
        painter.setFont(numberFont(11));
        painter.setPen(t.text);
        painter.drawText(mark, Qt::AlignCenter,
                         QStringLiteral("%1%").arg(qRound(100.0 * run.progress)));
    }
    if (index != m_current && index != m_hovered) return;
    painter.setPen(QPen(index == m_current ? t.accent : t.text, index == m_current ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(index == m_current ? mark.adjusted(-2, -2, 2, 2)
                                        : mark.adjusted(-1, -1, 0, 0));
}

// The legend
// ---------------------------------------------------------------------------------------------------

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
                   .arg(metric.text(m_grid->range().first) + metric.unit(),
                        metric.text(m_grid->range().second) + metric.unit()));
    updateGeometry();
    update();
}

int StudyGridLegend::barWidth() const {
    const QFontMetrics numbers{numberFont(11)};
    const auto [low, high] = m_grid->range();
    return kBar + 12 + numbers.horizontalAdvance(m_metric.text(low) + m_metric.unit()) +
           numbers.horizontalAdvance(m_metric.text(high) + m_metric.unit());
}

QSize StudyGridLegend::sizeHint() const {
    int width = barWidth();
    for (const auto& [state, words] : kStates)
        width += 16 + 18 + QFontMetrics(captionFont()).horizontalAdvance(QLatin1String(words));
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
    const auto [low, high] = m_grid->range();
    const QString ends[] = {m_metric.text(low) + m_metric.unit(),
                            m_metric.text(high) + m_metric.unit()};
    int x = width() - painter.fontMetrics().horizontalAdvance(ends[1]);
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, ends[1]);
    x -= 6 + kBar;
    for (int i = 0; i < kBar; ++i)
        painter.fillRect(QRect(x + i, 6, 1, 12),
                         m_grid->fill(low + (high - low) * (i + 0.5) / kBar));
    const int before = painter.fontMetrics().horizontalAdvance(ends[0]);
    x -= 6 + before;
    painter.drawText(QRect(x, 0, before + 2, height()), Qt::AlignVCenter, ends[0]);
    painter.setFont(captionFont());
    for (auto it = std::rbegin(kStates); it != std::rend(kStates); ++it) {
        const QString words = QLatin1String(it->second);
        const int wide = painter.fontMetrics().horizontalAdvance(words);
        x -= 16 + 18 + wide;
        if (x < 0) return;
        paintStudyMark(painter, QRect(x, 4, 12, 16), it->first, 0.5, {});
        painter.setPen(t.muted);
        painter.drawText(QRect(x + 18, 0, wide + 2, height()), Qt::AlignVCenter, words);
    }
}

}  // namespace relascope
