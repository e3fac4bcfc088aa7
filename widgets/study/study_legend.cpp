// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_legend.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kLine = 18, kSample = 24, kGap = 6, kBetween = 18, kMargin = 16, kMostLines = 4;

}  // namespace

void drawStudyMarker(QPainter& painter, const QPointF& at, double radius, StudyMarker marker,
                     const QColor& color, bool open) {
    painter.setPen(QPen(color, 1.25));
    painter.setBrush(open ? QBrush(Theme::current().panel) : QBrush(color));
    const double r = radius;
    switch (marker) {
        case StudyMarker::Disc:
            painter.drawEllipse(at, r, r);
            break;
        case StudyMarker::Square:
            painter.drawRect(QRectF(at.x() - 0.85 * r, at.y() - 0.85 * r, 1.7 * r, 1.7 * r));
            break;
        case StudyMarker::Diamond:
            painter.drawPolygon(QPolygonF({at + QPointF(0, -1.2 * r), at + QPointF(1.2 * r, 0),
                                           at + QPointF(0, 1.2 * r), at + QPointF(-1.2 * r, 0)}));
            break;
        case StudyMarker::TriangleDown:
            painter.drawPolygon(
                QPolygonF({at + QPointF(-1.1 * r, -0.8 * r), at + QPointF(1.1 * r, -0.8 * r),
                           at + QPointF(0, 1.1 * r)}));
            break;
        case StudyMarker::TriangleUp:
            painter.drawPolygon(
                QPolygonF({at + QPointF(-1.1 * r, 0.8 * r), at + QPointF(1.1 * r, 0.8 * r),
                           at + QPointF(0, -1.1 * r)}));
            break;
    }
}

StudyLegend::StudyLegend(QWidget* parent) : QWidget(parent) {
    setFixedHeight(kLine + 8);
}

void StudyLegend::setEntries(std::vector<StudyLegendEntry> entries) {
    m_entries = std::move(entries);
    QString spoken = QStringLiteral("Legend");
    for (const auto& e : m_entries) spoken += QStringLiteral(", %1 %2").arg(e.name, e.value);
    setAccessibleName(spoken);
    setFixedHeight(heightFor(width()));
    update();
}

QString curveSourceTitle(CurveSource source) {
    return source == CurveSource::Published ? QStringLiteral("published")
                                            : QStringLiteral("Relascope\u2019s own");
}

QVector<qreal> studyDashes(CurveSource source) {
    return source == CurveSource::Published ? QVector<qreal>{9 / 1.25, 4 / 1.25}
                                            : QVector<qreal>{2 / 1.25, 3 / 1.25};
}

void StudyLegend::setTitle(const QString& title) {
    m_title = title;
    setFixedHeight(heightFor(width()));
    update();
}

StudyLegend::Grid StudyLegend::grid(double width) const {
    const QFontMetricsF names{smallFont()}, values{numberFont(12)};
    double name = 0.0, value = 0.0;
    for (const auto& e : m_entries) {
        name = std::max(name, names.horizontalAdvance(e.name));
        // Values have the width of their widest form, so that moving the cursor does not shift
        // text.
        if (!e.beside && e.color.isValid())
            value = std::max({value, values.horizontalAdvance(e.value),
                              values.horizontalAdvance(QStringLiteral("100.0%"))});
    }
    Grid g;
    g.width = kSample + kGap + name + kGap + value;
    const double room = width - 2 * kMargin;
    const int count = static_cast<int>(m_entries.size());
    g.columns = std::clamp(static_cast<int>((room + kBetween) / (g.width + kBetween)), 1,
                           std::max(1, count));
    g.width = std::min(g.width, room);
    g.lines = std::min(kMostLines, (count + g.columns - 1) / g.columns);
    // A last line of one or two entries is distributed over the previous lines.
    if (g.lines > 0) g.columns = std::max(1, (count + g.lines - 1) / g.lines);
    const double room2 = (room + kBetween) / g.columns - kBetween;
    if (g.width > room2)
        g.columns = std::max(1, static_cast<int>((room + kBetween) / (g.width + kBetween)));
    g.shown = std::min(count, g.lines * g.columns);
    return g;
}

int StudyLegend::heightFor(int width) const {
    return 8 + (m_title.isEmpty() ? 0 : 22) + std::max(1, grid(width).lines) * kLine;
}

void StudyLegend::draw(QPainter& painter, const QRectF& box) const {
    const Theme& t = Theme::current();
    double top = box.top() + 6;
    if (!m_title.isEmpty()) {
        painter.setFont(headFont());
        painter.setPen(t.text);
        painter.drawText(QRectF(box.left() + kMargin, top, box.width() - 2 * kMargin, 18),
                         Qt::AlignVCenter, m_title);
        top += 22;
    }
    const Grid g = grid(box.width());
    const QFontMetricsF names{smallFont()};
    for (int i = 0; i < g.shown; ++i) {
        const auto& e = m_entries[static_cast<std::size_t>(i)];
        const double x = box.left() + kMargin + (i % g.columns) * (g.width + kBetween);
        const QRectF line(x, top + (i / g.columns) * kLine, g.width, kLine);
        const double y = line.center().y();
        const bool isRemark = !e.color.isValid();
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        QPen pen(e.color, e.beside ? 1.25 : 1.75);
        pen.setCapStyle(Qt::FlatCap);
        if (e.beside) pen.setDashPattern(studyDashes(*e.beside));
        painter.setPen(pen);
        if (!isRemark) {
            painter.drawLine(QPointF(x, y), QPointF(x + kSample, y));
            drawStudyMarker(painter, {x + kSample / 2.0, y}, e.beside ? 3.5 : 3.75,
                            !e.beside                             ? studyMarker(e.series)
                            : *e.beside == CurveSource::Published ? StudyMarker::Square
                                                                  : StudyMarker::TriangleUp,
                            e.color, e.beside || e.series >= 8);
        }
        painter.restore();
        // The last slot shows the number of entries that do not fit.
        const int rest = static_cast<int>(m_entries.size()) - g.shown;
        const bool counts = rest > 0 && i + 1 == g.shown;
        painter.setFont(numberFont(12));
        const double wide = painter.fontMetrics().horizontalAdvance(e.value);
        painter.setPen(t.text);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, e.value);
        painter.setFont(smallFont());
        const double indent = isRemark ? 0.0 : kSample + kGap;
        const QRectF room(x + indent, line.top(), g.width - indent - (wide > 0 ? wide + kGap : 0),
                          kLine);
        const QString name = counts ? QStringLiteral("%1, +%2 more").arg(e.name).arg(rest) : e.name;
        painter.setPen(e.beside || isRemark ? t.muted : t.text);
        painter.drawText(room, Qt::AlignVCenter,
                         names.elidedText(name, Qt::ElideMiddle, room.width()));
    }
}

void StudyLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    draw(painter, rect());
}

void StudyLegend::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (height() != heightFor(width())) setFixedHeight(heightFor(width()));
}

bool StudyLegend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && !m_entries.empty()) {
        QStringList lines;
        for (const auto& e : m_entries)
            lines += e.value.isEmpty() ? e.name : QStringLiteral("%1  %2").arg(e.name, e.value);
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                           plainTip(lines.join(u'\n')), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace relascope::widgets
