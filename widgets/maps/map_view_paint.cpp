// How MapView draws itself; what it does is in map_view.cpp.
#include <QPaintEngine>
#include <QPaintEvent>
#include <QPainter>

#include "widgets/maps/map_view.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

QString labelOf(const std::vector<AxisToken>& tokens, int index) {
    if (index < 0) return {};
    return index < static_cast<int>(tokens.size()) ? tokens[static_cast<std::size_t>(index)].label
                                                   : QString::number(index);
}

/// For the box at the pointer: two tokens may be the same word, so those go by their names.
QString wordsOf(const std::vector<AxisToken>& tokens, int index) {
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < tokens.size() && tokens[at].byName ? tokens[at].name
                                                                 : labelOf(tokens, index);
}

}  // namespace

QStringList MapView::boxText(const Mark& mark) const {
    const QString where = QStringLiteral("%1 %2 %3")
                              .arg(wordsOf(m_rowTokens, mark.row), QChar(0x2192),
                                   wordsOf(m_columnTokens, mark.column));
    if (m_values.masked(mark.row, mark.column)) return {where, QStringLiteral("masked")};
    const float v = m_values.at(mark.row, mark.column);
    QString number = signedNumber(v, m_digits);
    if (!m_signedNumbers && number.startsWith(u'+')) number.remove(0, 1);
    return {where, number};
}

QRect MapView::boxRect(const Mark& mark) const {
    if (!mark.box || mark.row < 0 || mark.column < 0) return {};
    const QStringList lines = boxText(mark);
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    const int wide = qMax(QFontMetrics(smallFont()).horizontalAdvance(lines[0]),
                          QFontMetrics(bold).horizontalAdvance(lines[1]));
    QRect box(0, 0, wide + 18, 38);
    const QRect cell = cellRect(mark.row, mark.column);
    box.moveTopLeft(cell.bottomRight() + QPoint(8, 8));
    if (box.right() > width() - 2) box.moveRight(cell.left() - 8);
    if (box.left() < 2) box.moveLeft(2);
    if (box.bottom() > height() - 2) box.moveBottom(cell.top() - 8);
    if (box.top() < 2) box.moveTop(2);
    return box;
}

QRegion MapView::markRegion(const Mark& mark) const {
    QRegion region = boxRect(mark).adjusted(-1, -1, 1, 1);
    const int wide = m_values.columns * m_cell / m_block;
    const int high = m_values.rows * m_cell / m_block;
    if (mark.row >= 0) {
        const QRect c = cellRect(mark.row, 0);
        // Frames only, not the cells between them, unless the frames touch.
        if (c.height() > 12) {
            region |= QRect(m_origin.x() - 4, c.top() - 4, wide + 8, 8);
            region |= QRect(m_origin.x() - 4, c.bottom() - 4, wide + 8, 9);
            region |= QRect(m_origin.x() - 4, c.top(), 8, c.height());
            region |= QRect(m_origin.x() + wide - 5, c.top(), 9, c.height());
        } else {
            region |= QRect(m_origin.x() - 4, c.top() - 4, wide + 8, c.height() + 8);
        }
        region |= QRect(0, c.top() - 8, m_area.left(), c.height() + 16);
    }
    if (mark.column >= 0) {
        const QRect c = cellRect(0, mark.column);
        if (c.width() > 12) {
            region |= QRect(c.left() - 4, m_origin.y() - 4, 8, high + 8);
            region |= QRect(c.right() - 4, m_origin.y() - 4, 9, high + 8);
            region |= QRect(c.left(), m_origin.y() - 4, c.width(), 8);
            region |= QRect(c.left(), m_origin.y() + high - 5, c.width(), 9);
        } else {
            region |= QRect(c.left() - 4, m_origin.y() - 4, c.width() + 8, high + 8);
        }
        region |= QRect(c.left() - 40, 0, c.width() + 80, m_area.top());
    }
    if (mark.row >= 0 && mark.column >= 0)
        region |= cellRect(mark.row, mark.column).adjusted(-4, -4, 4, 4);
    return region & rect();
}

void MapView::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    const auto engine = painter.paintEngine()->type();
    if (engine == QPaintEngine::SVG || engine == QPaintEngine::Pdf) {
        painter.setClipRect(rect());
        paintBase(painter);  // shapes, not a picture of them
    } else {
        // Not devicePixelRatioF(): a picture for a file is drawn at its own resolution.
        const qreal ratio = painter.deviceTransform().m11();
        if (m_base.isNull() || m_base.size() != size() * ratio) {
            m_base = QPixmap(size() * ratio);
            m_base.setDevicePixelRatio(ratio);
            QPainter base(&m_base);
            paintBase(base);
        }
        for (const QRect& part : event->region())
            painter.drawPixmap(
                QPointF(part.topLeft()), m_base,
                QRectF(QPointF(part.topLeft()) * ratio, QSizeF(part.size()) * ratio));
    }
    const Mark now = mark();
    if (!m_values.empty()) {
        paintCross(painter, now);
        paintLabels(painter, now);
        paintBox(painter, now);
    }
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

void MapView::paintBase(QPainter& painter) {
    const Theme& t = Theme::current();
    painter.fillRect(rect(), t.panel);
    if (m_values.empty()) return;
    painter.save();
    painter.setClipRect(m_area, Qt::IntersectClip);
    if (m_block > 1)
        drawCells(painter, m_origin, 1, m_small, m_image);
    else
        drawCells(painter, m_origin, m_cell, m_values, m_image);
    painter.restore();
    if (thumbnails()) {
        paintAxis(painter, true);
        paintAxis(painter, false);
    }
    // The map's own edge, so that a pale border cell does not dissolve into the panel.
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    const QRect map(m_origin.x() - 1, m_origin.y() - 1, m_values.columns * m_cell / m_block + 1,
                    m_values.rows * m_cell / m_block + 1);
    painter.save();
    painter.setClipRect(m_area.adjusted(-1, -1, 0, 0), Qt::IntersectClip);
    painter.drawRect(map);
    painter.restore();
}

void MapView::paintAxis(QPainter& painter, bool rows) {
    const Theme& t = Theme::current();
    const auto& tokens = rows ? m_rowTokens : m_columnTokens;
    const int count = rows ? m_values.rows : m_values.columns;
    const int side = qMin(m_cell, 40) - 4;
    painter.save();
    painter.setClipRect(rows ? QRect(0, m_area.top(), m_area.left(), m_area.height())
                             : QRect(m_area.left(), 0, m_area.width(), m_area.top()),
                        Qt::IntersectClip);
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    for (int k = 0; k < count; ++k) {
        const QRect cell = rows ? cellRect(k, 0) : cellRect(0, k);
        QRect place(0, 0, side, side);
        if (rows)
            place.moveTo(m_area.left() - side - 5, cell.top() + (m_cell - side) / 2);
        else
            place.moveTo(cell.left() + (m_cell - side) / 2, m_area.top() - side - 5);
        const bool known = k < static_cast<int>(tokens.size());
        if (known && !tokens[static_cast<std::size_t>(k)].picture.isNull()) {
            drawPixels(painter, place, tokens[static_cast<std::size_t>(k)].picture);
        } else {
            // Words end in an ellipsis where their neighbours begin; "cls" and numbers always fit.
            const bool words = known && tokens[static_cast<std::size_t>(k)].byName;
            const int room = rows ? qMin(m_area.left() - 7, m_cell + 10) : m_cell - 2;
            const QString label =
                words ? painter.fontMetrics().elidedText(labelOf(tokens, k), Qt::ElideRight, room)
                      : labelOf(tokens, k);
            if (rows)
                painter.drawText(QRect(0, cell.top(), m_area.left() - 6, m_cell),
                                 Qt::AlignRight | Qt::AlignVCenter, label);
            else
                painter.drawText(QRect(cell.left() - 8, 0, m_cell + 16, m_area.top() - 6),
                                 Qt::AlignHCenter | Qt::AlignBottom, label);
        }
    }
    painter.restore();
}

void MapView::paintCross(QPainter& painter, const Mark& mark) {
    const Theme& t = Theme::current();
    painter.save();
    painter.setClipRect(m_area.adjusted(-2, -2, 2, 2), Qt::IntersectClip);
    painter.setBrush(Qt::NoBrush);
    const int wide = m_values.columns * m_cell / m_block;
    const int high = m_values.rows * m_cell / m_block;
    const auto box = [&](const QRect& r, qreal width, Qt::PenStyle style) {
        const QRectF outline = QRectF(r).adjusted(-0.5, -0.5, 0.5, 0.5);
        if (!m_scale.isSigned()) {  // viridis is dark where attention is low: a pale edge keeps the
                                    // line seen
            QColor halo = t.dark ? t.window : t.panel;
            halo.setAlpha(170);
            painter.setPen(QPen(halo, width + 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
            painter.drawRect(outline);
        }
        QPen pen(t.text, width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
        if (style == Qt::DashLine) pen.setDashPattern({3.0, 2.0});
        painter.setPen(pen);
        painter.drawRect(outline);
    };
    const QRect cell = cellRect(qMax(0, mark.row), qMax(0, mark.column));
    if (mark.column >= 0)
        box(QRect(cell.left(), m_origin.y(), cell.width(), high), 1, Qt::DashLine);
    if (mark.row >= 0) box(QRect(m_origin.x(), cell.top(), wide, cell.height()), 1, Qt::SolidLine);
    if (mark.row >= 0 && mark.column >= 0) box(cell, 2, Qt::SolidLine);
    painter.restore();
}

void MapView::paintLabels(QPainter& painter, const Mark& mark) {
    const Theme& t = Theme::current();
    painter.save();
    if (thumbnails()) {
        if (mark.row >= 0) {  // the chosen source wears the same red as in the picture
            const int side = qMin(m_cell, 40) - 4;
            const QRect cell = cellRect(mark.row, 0);
            QRect place(m_area.left() - side - 5, cell.top() + (m_cell - side) / 2, side, side);
            const auto index = static_cast<std::size_t>(mark.row);
            const bool picture = index < m_rowTokens.size() && !m_rowTokens[index].picture.isNull();
            if (!picture) place.setLeft(qMax(1, m_area.left() - side - 7));
            painter.setClipRect(QRect(0, m_area.top() - 2, m_area.left(), m_area.height()),
                                Qt::IntersectClip);
            painter.setPen(QPen(t.outline, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
            painter.drawRect(place.adjusted(-1, -1, 1, 1));
        }
        painter.restore();
        return;
    }
    painter.setFont(captionFont());
    if (mark.row >= 0) {
        const QRect cell = cellRect(mark.row, 0);
        painter.setPen(t.outline);
        painter.drawLine(m_area.left() - 5, cell.center().y(), m_area.left() - 2,
                         cell.center().y());
        painter.drawText(QRect(0, cell.center().y() - 8, m_area.left() - 7, 16),
                         Qt::AlignRight | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(labelOf(m_rowTokens, mark.row),
                                                          Qt::ElideRight, m_area.left() - 8));
    }
    if (mark.column >= 0) {
        const QRect cell = cellRect(0, mark.column);
        painter.setPen(t.text);
        painter.drawLine(cell.center().x(), m_area.top() - 5, cell.center().x(), m_area.top() - 2);
        QRect place(cell.center().x() - 30, m_area.top() - 22, 60, 16);
        if (place.right() > width()) place.moveRight(width() - 1);
        painter.drawText(place, Qt::AlignHCenter | Qt::AlignBottom,
                         painter.fontMetrics().elidedText(labelOf(m_columnTokens, mark.column),
                                                          Qt::ElideRight, place.width()));
    }
    painter.restore();
}

void MapView::paintBox(QPainter& painter, const Mark& mark) {
    const QRect box = boxRect(mark);
    if (box.isEmpty()) return;
    const Theme& t = Theme::current();
    const QStringList lines = boxText(mark);
    paint::frame(painter, box, t.panel, t.controlBorder);
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(9, 3, -2, 0), Qt::AlignLeft | Qt::AlignTop, lines[0]);
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    painter.setFont(bold);
    painter.setPen(t.text);
    painter.drawText(box.adjusted(9, 0, -2, -3), Qt::AlignLeft | Qt::AlignBottom, lines[1]);
}

}  // namespace relascope
