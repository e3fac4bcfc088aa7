// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/color_bar.h"

#include <QPainter>
#include <cmath>
#include <limits>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

struct Piece {
    QString text;
    bool lower = false;
};

std::vector<Piece> pieces(const QString& text) {
    std::vector<Piece> out;
    bool lower = false;
    QString run;
    const auto flush = [&] {
        if (!run.isEmpty()) out.push_back({run, lower});
        run.clear();
    };
    for (const QChar c : text) {
        if (c == u'_') {
            flush();
            lower = true;
            continue;
        }
        if (lower && !c.isLetterOrNumber()) {
            flush();
            lower = false;
        }
        run += c;
    }
    flush();
    return out;
}

}  // namespace

void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text) {
    const auto parts = pieces(text);
    const QFont normal = painter.font();
    QFont small = normal;
    small.setPixelSize(qMax(8, normal.pixelSize() - 2));
    qreal wide = 0;
    for (const Piece& p : parts)
        wide += QFontMetricsF(p.lower ? small : normal).horizontalAdvance(p.text);
    const QFontMetricsF metrics(normal);
    qreal x = box.left() + qMax(0.0, (box.width() - wide) / 2);
    const qreal y = box.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    for (const Piece& p : parts) {
        painter.setFont(p.lower ? small : normal);
        painter.drawText(QPointF(x, y + (p.lower ? 3 : 0)), p.text);
        x += QFontMetricsF(painter.font()).horizontalAdvance(p.text);
    }
    painter.setFont(normal);
}

ColorBar::ColorBar(QWidget* parent)
    : QWidget(parent), m_mark(std::numeric_limits<float>::quiet_NaN()) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Colour scale"));
}

void ColorBar::setScale(const ColorScale& scale) {
    if (scale == m_scale) return;
    m_scale = scale;
    describe();
}
void ColorBar::setExtent(const Extent& extent) {
    if (extent == m_extent) return;
    m_extent = extent;
    describe();
}
void ColorBar::describe() {
    const auto text = [this](float value) { return endText(value, m_scale.isSigned()); };
    QString range = QStringLiteral("from %1 to %2")
                        .arg(text(m_scale.limits().low), text(m_scale.limits().high));
    if (beyondLow() || beyondHigh())
        range += QStringLiteral("; the values reach from %1 to %2")
                     .arg(text(m_extent.low), text(m_extent.high));
    setAccessibleDescription(range);
    setToolTip(QStringLiteral("Colours ") + range);
    update();
}
void ColorBar::setCaption(const QString& caption) {
    if (caption == m_caption) return;
    m_caption = caption;
    updateGeometry();
    update();
}
void ColorBar::setMark(float value) {
    if (value == m_mark || (std::isnan(value) && std::isnan(m_mark))) return;
    m_mark = value;
    update();
}

QString ColorBar::endText(float value, bool isSigned) {
    const float size = std::abs(value);
    const int digits = size == std::round(size) && size < 1000 ? 0
                       : size >= 100                           ? 0
                       : size >= 10                            ? 1
                       : size >= 0.1F                          ? 2
                                                               : 3;
    if (size != 0 && (size < 0.001F || size >= 100000)) {
        QString text = QString::number(static_cast<double>(size), 'e', 1);
        return (value < 0  ? QString(QChar(0x2212))
                : isSigned ? QStringLiteral("+")
                           : QString()) +
               text;
    }
    QString text = signedNumber(value, digits);
    if (!isSigned || size == 0) text.remove(u'+');
    return text;
}

QSize ColorBar::sizeHint() const {
    return {260, m_caption.isEmpty() ? 18 : 36};
}

void ColorBar::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(numberFont(11));
    const QFontMetrics metrics(painter.font());
    const QString low = endText(m_scale.limits().low, m_scale.isSigned());
    const QString high = endText(m_scale.limits().high, m_scale.isSigned());
    const int ends = qMax(metrics.horizontalAdvance(low), metrics.horizontalAdvance(high)) + 8 +
                     (beyondLow() || beyondHigh() ? 6 : 0);
    const int wide = qBound(40, width() - 2 * ends, 200);
    const QRect bar((width() - wide) / 2, 4, wide, 10);
    painter.setPen(t.muted);
    const int before = beyondLow() ? 12 : 6, after = beyondHigh() ? 13 : 7;
    painter.drawText(QRect(bar.left() - ends - 40, 0, ends + 40 - before, 18),
                     Qt::AlignRight | Qt::AlignVCenter, low);
    painter.drawText(QRect(bar.right() + after, 0, ends + 40, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     high);
    // Drawn at its final width, so that printers and viewers do not have to scale it.
    painter.drawImage(bar, m_scale.strip(bar.width())
                               .scaled(bar.size(), Qt::IgnoreAspectRatio, Qt::FastTransformation));
    // An arrow shows that values exceed this end and have its colour.
    const auto arrow = [&](bool low) {
        const qreal x = low ? bar.left() : bar.right() + 1, out = low ? -6 : 6;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_scale.color(low ? m_scale.limits().low : m_scale.limits().high));
        painter.drawPolygon(QPolygonF({QPointF(x, bar.top()), QPointF(x, bar.bottom() + 1),
                                       QPointF(x + out, bar.center().y() + 0.5)}));
        painter.setRenderHint(QPainter::Antialiasing, false);
    };
    if (beyondLow()) arrow(true);
    if (beyondHigh()) arrow(false);
    const auto tick = [&](float value) {
        const qreal x = bar.left() + m_scale.position(value) * (bar.width() - 1) + 0.5;
        painter.setPen(QPen(t.text, 1));
        painter.drawLine(QPointF(x, bar.top() - 2), QPointF(x, bar.bottom() + 3));
    };
    if (m_scale.isSigned()) tick(0.0F);
    if (!std::isnan(m_mark)) {
        const qreal x = bar.left() + m_scale.position(m_mark) * (bar.width() - 1) + 0.5;
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.text);
        painter.drawPolygon(
            QPolygonF({QPointF(x - 3.5, bar.bottom() + 6.5), QPointF(x + 3.5, bar.bottom() + 6.5),
                       QPointF(x, bar.bottom() + 1.5)}));
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    if (m_caption.isEmpty()) return;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    // In a narrow pane the description of the scale is omitted.
    QString caption = m_caption;
    while (QFontMetrics(painter.font()).horizontalAdvance(caption) > width() &&
           caption.contains(QLatin1String(", ")))
        caption.truncate(caption.lastIndexOf(QLatin1String(", ")));
    drawSubscripted(painter, QRectF(0, 19, width(), 16), caption);
}

}  // namespace relascope::widgets
