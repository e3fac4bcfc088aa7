// SPDX-License-Identifier: GPL-3.0-or-later
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
    if (index < 0 || at >= tokens.size() || !tokens[at].byName) return labelOf(tokens, index);
    return tokens[at].place.isEmpty() ? tokens[at].name : tokens[at].place;
}

constexpr int widestChip = 140;
constexpr int chipHigh = 18;

// The PDF engine keeps a clip that was narrowed since save(): what is drawn next would be cut away.
void restoreClip(QPainter& painter, const QRect& whole) {
    painter.restore();
    if (painter.hasClipping()) painter.setClipRect(whole);
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
        region |= QRect(0, c.top() - 28, m_area.left(), c.height() + 56);
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
        const int reach = widestChip / 2 + 42;  // numbers that a chip hides, too
        region |= QRect(c.left() - reach, 0, c.width() + 2 * reach, m_area.top());
        // Beside the border of the widget the chip is pushed inwards.
        region |= chipRect(mark.column, false).adjusted(-2, -2, 2, 2);
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
    restoreClip(painter, rect());
    for (const bool rows : {true, false}) {
        if (labelled())
            m_words ? paintWords(painter, rows) : paintAxis(painter, rows);
        else
            paintTicks(painter, rows);
    }
    // The map's own edge, so that a pale border cell does not dissolve into the panel.
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    const QRect map(m_origin.x() - 1, m_origin.y() - 1, m_values.columns * m_cell / m_block + 1,
                    m_values.rows * m_cell / m_block + 1);
    painter.save();
    painter.setClipRect(m_area.adjusted(-1, -1, 0, 0), Qt::IntersectClip);
    painter.drawRect(map);
    restoreClip(painter, rect());
}

/// Where the picture of a row or column stands.
QRect MapView::thumbRect(int index, bool row) const {
    const QRect cell = row ? cellRect(index, 0) : cellRect(0, index);
    const int side = thumbSide();
    QRect place(0, 0, side, side);
    if (row)
        place.moveTo(m_area.left() - side - 5, cell.top() + (m_cell - side) / 2);
    else
        place.moveTo(cell.left() + (m_cell - side) / 2, m_area.top() - side - 5);
    return place;
}

void MapView::paintAxis(QPainter& painter, bool rows) {
    const Theme& t = Theme::current();
    const auto& tokens = rows ? m_rowTokens : m_columnTokens;
    painter.save();
    painter.setClipRect(rows ? QRect(0, m_area.top(), m_area.left(), m_area.height())
                             : QRect(m_area.left(), 0, m_area.width(), m_area.top()),
                        Qt::IntersectClip);
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    const auto [first, last] = shownRange(rows);
    for (int k = first; k <= last; ++k) {
        const QRect cell = rows ? cellRect(k, 0) : cellRect(0, k);
        const bool known = k < static_cast<int>(tokens.size());
        if (known && !tokens[static_cast<std::size_t>(k)].picture.isNull()) {
            drawPicture(painter, thumbRect(k, rows), tokens[static_cast<std::size_t>(k)].picture);
            continue;
        }
        if (!rows && upright()) {
            const int room = m_area.top() - 12;
            paintUpright(
                painter, k, room,
                painter.fontMetrics().elidedText(labelOf(tokens, k), Qt::ElideRight, room));
            continue;
        }
        // Words end in an ellipsis where their neighbours begin; "cls" and numbers always fit.
        const bool words = known && tokens[static_cast<std::size_t>(k)].byName;
        const int room = rows ? margin(true) - 7 : m_cell - 2;
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
    restoreClip(painter, rect());
}

/// From the axis outwards, on end.
void MapView::paintUpright(QPainter& painter, int column, int room, const QString& label) {
    painter.save();
    painter.translate(cellRect(0, column).left(), m_area.top() - 8);
    painter.rotate(-90);
    painter.drawText(QRect(0, 0, room + 4, m_cell), Qt::AlignLeft | Qt::AlignVCenter, label);
    restoreClip(painter, rect());
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
    restoreClip(painter, rect());
}

std::pair<int, int> MapView::shownRange(bool rows) const {
    const int from = rows ? m_area.top() - m_origin.y() : m_area.left() - m_origin.x();
    const int room = rows ? m_area.height() : m_area.width();
    const int count = rows ? m_values.rows : m_values.columns;
    return {qMax(0, from * m_block / m_cell), qMin(count - 1, (from + room) * m_block / m_cell)};
}

/// Pieces of a text: from the axis outwards, those of the columns on end unless they are
/// characters.
void MapView::paintWords(QPainter& painter, bool rows) {
    const auto& tokens = rows ? m_rowTokens : m_columnTokens;
    painter.save();
    painter.setClipRect(rows ? QRect(0, m_area.top(), m_area.left(), m_area.height())
                             : QRect(m_area.left(), 0, m_area.width(), m_area.top()),
                        Qt::IntersectClip);
    painter.setFont(captionFont());
    painter.setPen(Theme::current().muted);
    const int room = margin(rows) - 12;
    const auto [first, last] = shownRange(rows);
    for (int k = first; k <= last; ++k) {
        const QString label =
            painter.fontMetrics().elidedText(labelOf(tokens, k), Qt::ElideRight, room);
        if (rows)
            painter.drawText(
                QRect(m_area.left() - margin(true), cellRect(k, 0).top(), margin(true) - 8, m_cell),
                Qt::AlignRight | Qt::AlignVCenter, label);
        else if (upright())
            paintUpright(painter, k, room, label);
        else
            painter.drawText(QRect(cellRect(0, k).left() - 4, 0, m_cell + 8, m_area.top() - 6),
                             Qt::AlignHCenter | Qt::AlignBottom, label);
    }
    restoreClip(painter, rect());
}

/// How many rows (columns) from one number to the next.
int MapView::tickStep() const {
    const qreal scale = static_cast<qreal>(m_cell) / m_block;
    int step = 1;  // 1, 2, 5, 10, ...
    for (int k = 0; step * scale < 34; ++k) step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}
QRect MapView::tickRect(int index, bool rows) const {
    const QPoint cell = cellRect(index, index).center();
    return rows ? QRect(0, cell.y() - 8, m_area.left() - 8, 16)
                : QRect(cell.x() - 20, m_area.top() - 22, 40, 16);
}

void MapView::paintTicks(QPainter& painter, bool rows) {
    const Theme& t = Theme::current();
    painter.save();
    painter.setFont(numberFont(11));
    const int step = tickStep();
    const auto [first, last] = shownRange(rows);
    for (int k = (first + step - 1) / step * step; k <= last; k += step) {
        const QPoint cell = cellRect(k, k).center();
        painter.setPen(t.axis);
        if (rows)
            painter.drawLine(m_area.left() - 4, cell.y(), m_area.left() - 2, cell.y());
        else
            painter.drawLine(cell.x(), m_area.top() - 4, cell.x(), m_area.top() - 2);
        painter.setPen(t.muted);
        painter.drawText(tickRect(k, rows),
                         (rows ? Qt::AlignRight : Qt::AlignHCenter) | Qt::AlignVCenter,
                         groupedNumber(k));
    }
    restoreClip(painter, rect());
}

/// Where the label of the chosen row or column stands: beside the map, where its number would.
QRect MapView::chipRect(int index, bool row) const {
    const QRect cell = row ? cellRect(index, 0) : cellRect(0, index);
    const bool upright = !row && m_words && this->upright();
    const int room = row || upright ? margin(row) - 6 : widestChip;
    const int wide =
        qMin(room, QFontMetrics(captionFont())
                           .horizontalAdvance(labelOf(row ? m_rowTokens : m_columnTokens, index)) +
                       12);
    // Between words it takes no more than its own line, so that it cuts none of its neighbours.
    const int high = m_words && !m_characters && labelled() ? qMin(m_cell, chipHigh) : chipHigh;
    if (upright) return QRect(cell.center().x() - high / 2, m_area.top() - 5 - wide, high, wide);
    QRect chip(0, 0, qMax(wide, chipHigh), high);
    if (row) {
        chip.moveTopRight(QPoint(m_area.left() - 6, cell.center().y() - high / 2));
        chip.moveTop(qBound(0, chip.top(), qMax(0, height() - high)));
    } else {
        chip.moveTopLeft(QPoint(cell.center().x() - chip.width() / 2, m_area.top() - 23));
        chip.moveLeft(qBound(0, chip.left(), qMax(0, width() - chip.width())));
    }
    return chip;
}

void MapView::paintChip(QPainter& painter, int index, bool row) {
    const Theme& t = Theme::current();
    const QPoint cell = (row ? cellRect(index, 0) : cellRect(0, index)).center();
    // A row or column that was panned away has no label.
    if (row ? cell.y() < m_area.top() || cell.y() > m_area.bottom()
            : cell.x() < m_area.left() || cell.x() > m_area.right())
        return;
    const QRect chip = chipRect(index, row);
    const bool upright = !row && m_words && this->upright();
    if (!labelled()) {  // numbers that the chip would cut go altogether
        const int step = tickStep();
        for (int k = index / step * step - step; k <= index + 2 * step; k += step)
            if (k >= 0 && tickRect(k, row).intersects(chip))
                painter.fillRect(tickRect(k, row), t.panel);
    }
    paint::frame(painter, chip, t.panel, row ? t.outline : t.text, 3);
    painter.setFont(captionFont());
    painter.setPen(t.text);
    const int length = upright ? chip.height() : chip.width();
    const QString label = painter.fontMetrics().elidedText(
        labelOf(row ? m_rowTokens : m_columnTokens, index), Qt::ElideRight, length - 6);
    painter.save();
    if (upright) {
        painter.translate(chip.left(), chip.bottom() + 1);
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, length, chip.width()), Qt::AlignCenter, label);
    } else {
        painter.drawText(chip, Qt::AlignCenter, label);
    }
    restoreClip(painter, rect());
}

void MapView::paintLabels(QPainter& painter, const Mark& mark) {
    if (labelled() && !m_words) {
        if (mark.row < 0) return;
        // The chosen source wears the same red as in the picture.
        painter.save();
        QRect place = thumbRect(mark.row, true);
        const auto index = static_cast<std::size_t>(mark.row);
        const bool known = index < m_rowTokens.size();
        if (known && !m_rowTokens[index].picture.isNull())
            place = shownPlace(m_rowTokens[index].picture.size(), place);
        else
            place.setLeft(qMax(1, m_area.left() - qMax(thumbSide() + 7, m_rowWords + 10)));
        painter.setClipRect(QRect(0, m_area.top() - 2, m_area.left(), m_area.height()),
                            Qt::IntersectClip);
        painter.setPen(
            QPen(Theme::current().outline, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        painter.drawRect(place.adjusted(-1, -1, 1, 1));
        restoreClip(painter, rect());
        return;
    }
    if (mark.column >= 0) paintChip(painter, mark.column, false);
    if (mark.row >= 0) paintChip(painter, mark.row, true);
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
