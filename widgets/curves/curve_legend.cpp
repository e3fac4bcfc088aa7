// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_legend.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/theme/theme.h"

namespace relascope::widgets {

CurveLegend::CurveLegend(const QString& title, QWidget* parent) : QWidget(parent), m_title(title) {
    setFixedHeight(26);
}

void CurveLegend::setEntries(std::vector<LegendEntry> entries) {
    m_entries = std::move(entries);
    QString spoken = m_title;
    for (const auto& e : m_entries) spoken += QString(", %1 %2").arg(e.name, e.value);
    setAccessibleName(spoken);
    update();
}

void CurveLegend::setTitle(const QString& title) {
    m_title = title;
    update();
}

void CurveLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    draw(painter, rect());
}

bool CurveLegend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && !m_entries.empty()) {
        QStringList lines;
        for (const auto& e : m_entries) lines += QString("%1  %2").arg(e.name, e.value);
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(u'\n'), this);
        return true;
    }
    return QWidget::event(event);
}

void CurveLegend::drawSample(QPainter& painter, const LegendEntry& e, double x, double middle) {
    QPen pen(e.color, e.published || e.dotted ? 1.25 : e.dashed ? 1.5 : 2.0);
    pen.setCapStyle(Qt::FlatCap);
    if (e.published) pen.setDashPattern({9 / 1.25, 4 / 1.25});
    if (e.dashed) pen.setDashPattern({5 / 1.5, 3 / 1.5});
    if (e.dotted) pen.setDashPattern({1.5, 3.0});
    painter.setPen(pen);
    painter.drawLine(QPointF(x, middle), QPointF(x + 18, middle));
}

int CurveLegend::drawWhole(QPainter* painter, int width) const {
    constexpr int lineHeight = 18, margin = 16;
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    if (painter) {
        painter->setFont(bold);
        painter->setPen(Theme::current().text);
        painter->drawText(QRectF(margin, 0, width, lineHeight + 6), Qt::AlignVCenter, m_title);
    }
    const QFontMetricsF names{smallFont()};
    const double first = margin + QFontMetricsF(bold).horizontalAdvance(m_title) + 16;
    double x = first, y = 3;
    for (const LegendEntry& e : m_entries) {
        // Figures contain the quality of a fitted law, but no values at the cursor.
        const QString text = e.dotted ? e.name + u' ' + e.value : e.name;
        const double wide = 24 + names.horizontalAdvance(text) + 14;
        if (x > first && x + wide > width - margin) {
            x = first;
            y += lineHeight;
        }
        if (painter) {
            drawSample(*painter, e, x, y + lineHeight / 2.0);
            painter->setPen(Theme::current().text);
            painter->setFont(smallFont());
            painter->drawText(QRectF(x + 24, y, wide, lineHeight), Qt::AlignVCenter, text);
        }
        x += wide;
    }
    return static_cast<int>(y) + lineHeight + 5;
}

void CurveLegend::draw(QPainter& painter, const QRectF& box) const {
    const Theme& t = Theme::current();
    painter.setFont([] {
        QFont f = smallFont();
        f.setWeight(QFont::DemiBold);
        return f;
    }());
    painter.setPen(t.text);
    painter.drawText(box.adjusted(16, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, m_title);
    const double first = box.left() + 16 + painter.fontMetrics().horizontalAdvance(m_title) + 16;
    const QFontMetricsF names{smallFont()}, values{numberFont(12)};
    // Values have the width of their widest form, so that moving the cursor does not shift text.
    const auto valueWidth = [&](const LegendEntry& e) {
        return e.value.isEmpty() ? 0.0
                                 : 6 + std::max(values.horizontalAdvance(e.value),
                                                values.horizontalAdvance("00.0%"));
    };
    const auto width = [&](const LegendEntry& e) {
        return 24 + names.horizontalAdvance(e.name) + valueWidth(e);
    };
    const double room = box.right() - 16 - first;
    std::size_t shown = 0;
    double used = 0.0;
    while (shown < m_entries.size()) {
        const double more = width(m_entries[shown]) + (shown > 0 ? 14 : 0);
        const double reserve = shown + 1 < m_entries.size() ? 36 : 0;
        if (used + more + reserve > room) break;
        used += more;
        ++shown;
    }
    const QString rest =
        shown < m_entries.size() ? QString("+%1").arg(m_entries.size() - shown) : QString();
    double x = box.right() - 16 - used - (rest.isEmpty() ? 0 : 32);
    const double middle = box.center().y();
    for (std::size_t i = 0; i < shown; ++i) {
        const LegendEntry& e = m_entries[i];
        drawSample(painter, e, x, middle);
        painter.setPen(t.text);
        painter.setFont(smallFont());
        painter.drawText(
            QRectF(x + 24, box.top(), names.horizontalAdvance(e.name) + 2, box.height()),
            Qt::AlignVCenter, e.name);
        painter.setFont(numberFont(12));
        painter.drawText(QRectF(x, box.top(), width(e), box.height()),
                         Qt::AlignVCenter | Qt::AlignRight, e.value);
        x += width(e) + 14;
    }
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(0, 0, -16, 0), Qt::AlignVCenter | Qt::AlignRight, rest);
}

}  // namespace relascope::widgets
