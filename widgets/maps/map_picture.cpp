// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_picture.h"

#include <QPainter>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

// The PDF engine keeps a clip that was narrowed since save() and would clip later content.
void restoreClip(QPainter& painter, const QRect& whole) {
    painter.restore();
    if (painter.hasClipping()) painter.setClipRect(whole);
}

}  // namespace

void MapPicture::colour() {
    const auto [pixels, cells] = geometry.pooling();
    m_small = geometry.block() > 1 ? pooled(m_values, pixels, cells) : MapValues();
    paintCells(geometry.block() > 1 ? m_small : m_values, m_scale, m_image);
}

QStringList MapPicture::boxText(const MapMark& mark) const {
    const QString where =
        QStringLiteral("%1 %2 %3")
            .arg(axes.name(true, mark.row), QChar(0x2190), axes.name(false, mark.column));
    if (m_values.isGap(mark.row, mark.column)) return {where, QStringLiteral("no value")};
    if (m_values.masked(mark.row, mark.column)) return {where, QStringLiteral("masked")};
    const float v = m_values.at(mark.row, mark.column);
    QString number = signedNumber(v, digits);
    if (!signedNumbers && number.startsWith(u'+')) number.remove(0, 1);
    return {where, number};
}

QRect MapPicture::boxRect(const MapMark& mark) const {
    if (!mark.box || !mark.cell()) return {};
    const QStringList lines = boxText(mark);
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    const int wide = qMax(QFontMetrics(smallFont()).horizontalAdvance(lines[0]),
                          QFontMetrics(bold).horizontalAdvance(lines[1]));
    QRect box(0, 0, wide + 18, 38);
    const QRect cell = geometry.cellRect(mark.row, mark.column);
    const QRect room = geometry.widget();
    box.moveTopLeft(cell.bottomRight() + QPoint(8, 8));
    if (box.right() > room.right() - 1) box.moveRight(cell.left() - 8);
    if (box.left() < 2) box.moveLeft(2);
    if (box.bottom() > room.bottom() - 1) box.moveBottom(cell.top() - 8);
    if (box.top() < 2) box.moveTop(2);
    return box;
}

QRegion MapPicture::region(const MapMark& mark) const {
    QRegion region = boxRect(mark).adjusted(-1, -1, 1, 1);
    const QRect map = geometry.map();
    if (mark.row >= 0) {
        const QRect c = geometry.cellRect(mark.row, 0);
        // Frames only, not the cells between them, unless the frames touch.
        if (c.height() > 12) {
            region |= QRect(map.left() - 4, c.top() - 4, map.width() + 8, 8);
            region |= QRect(map.left() - 4, c.bottom() - 4, map.width() + 8, 9);
            region |= QRect(map.left() - 4, c.top(), 8, c.height());
            region |= QRect(map.left() + map.width() - 5, c.top(), 9, c.height());
        } else {
            region |= QRect(map.left() - 4, c.top() - 4, map.width() + 8, c.height() + 8);
        }
        region |= QRect(0, c.top() - 28, geometry.area().left(), c.height() + 56);
    }
    if (mark.column >= 0) {
        const QRect c = geometry.cellRect(0, mark.column);
        if (c.width() > 12) {
            region |= QRect(c.left() - 4, map.top() - 4, 8, map.height() + 8);
            region |= QRect(c.right() - 4, map.top() - 4, 9, map.height() + 8);
            region |= QRect(c.left(), map.top() - 4, c.width(), 8);
            region |= QRect(c.left(), map.top() + map.height() - 5, c.width(), 9);
        } else {
            region |= QRect(c.left() - 4, map.top() - 4, c.width() + 8, map.height() + 8);
        }
        const int reach = widestMapChip / 2 + 42;  // numbers that a chip hides, too
        region |= QRect(c.left() - reach, 0, c.width() + 2 * reach, geometry.area().top());
        // Beside the border of the widget the chip is pushed inwards.
        region |= geometry.chipRect(mark.column, false).adjusted(-2, -2, 2, 2);
    }
    if (mark.cell()) region |= geometry.cellRect(mark.row, mark.column).adjusted(-4, -4, 4, 4);
    return region & geometry.widget();
}

void MapPicture::paintBase(QPainter& painter) const {
    const Theme& t = Theme::current();
    painter.fillRect(geometry.widget(), t.panel);
    if (m_values.empty()) return;
    painter.save();
    painter.setClipRect(geometry.area(), Qt::IntersectClip);
    drawCells(painter, geometry.origin(), geometry.exactCell(),
              geometry.block() > 1 ? m_small : m_values, m_image);
    restoreClip(painter, geometry.widget());
    for (const bool rows : {true, false}) {
        if (geometry.labelled())
            axes.hasText() ? paintTexts(painter, rows) : paintAxis(painter, rows);
        else
            paintTicks(painter, rows);
    }
    paintMarks(painter);
    // An outline of the map, so that pale cells at its border are distinct from the panel.
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    painter.save();
    painter.setClipRect(geometry.area().adjusted(-1, -1, 0, 0), Qt::IntersectClip);
    painter.drawRect(geometry.map().adjusted(-1, -1, 0, 0));
    restoreClip(painter, geometry.widget());
}

/// Bars beside the rows and above the columns, as search results.
void MapPicture::paintMarks(QPainter& painter) const {
    const QRect area = geometry.area();
    const QColor accent = Theme::current().accent;
    for (const int k : marks) {
        if (k < 0) continue;
        // At least 2 px, where several tokens share a pixel.
        if (k < m_values.rows) {
            const QRect cell = geometry.cellRect(k, 0);
            const QRect bar(area.left() - 5, cell.top(), 3, qMax(2, cell.height()));
            if (bar.bottom() >= area.top()) painter.fillRect(bar, accent);
        }
        if (k < m_values.columns) {
            const QRect cell = geometry.cellRect(0, k);
            const QRect bar(cell.left(), area.top() - 5, qMax(2, cell.width()), 3);
            if (bar.right() >= area.left()) painter.fillRect(bar, accent);
        }
    }
}

void MapPicture::beginAxis(QPainter& painter, bool rows) const {
    painter.save();
    painter.setClipRect(geometry.marginRect(rows), Qt::IntersectClip);
    painter.setFont(captionFont());
    painter.setPen(Theme::current().muted);
}

void MapPicture::paintAxis(QPainter& painter, bool rows) const {
    beginAxis(painter, rows);
    const QRect area = geometry.area();
    const auto [first, last] = geometry.shown(rows);
    for (int k = first; k <= last; ++k) {
        if (axes.pictured(rows, k)) {
            drawPicture(painter, geometry.thumbRect(k, rows), axes.token(rows, k)->picture);
            continue;
        }
        if (!rows && geometry.upright()) {
            paintUpright(painter, k);
            continue;
        }
        // Texts are elided at their neighbours; "cls" and numbers always fit.
        const AxisToken* token = axes.token(rows, k);
        const int room = rows ? geometry.margin(true) - 7 : geometry.cell() - 2;
        QString label = axes.label(rows, k);
        if (token && token->byName)
            label = painter.fontMetrics().elidedText(label, Qt::ElideRight, room);
        const QRect cell = geometry.headRect(k, rows);
        if (rows)
            painter.drawText(QRect(0, cell.top(), area.left() - 6, cell.height()),
                             Qt::AlignRight | Qt::AlignVCenter, label);
        else
            painter.drawText(QRect(cell.left() - 8, 0, cell.width() + 16, area.top() - 6),
                             Qt::AlignHCenter | Qt::AlignBottom, label);
    }
    restoreClip(painter, geometry.widget());
}

/// A rotated label of a column, from the axis outwards.
void MapPicture::paintUpright(QPainter& painter, int column) const {
    const QRect cell = geometry.cellRect(0, column);
    const int room = geometry.margin(false) - 12;
    painter.save();
    painter.translate(cell.left(), geometry.area().top() - 8);
    painter.rotate(-90);
    painter.drawText(
        QRect(0, 0, room + 4, cell.width()), Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(axes.label(false, column), Qt::ElideRight, room));
    restoreClip(painter, geometry.widget());
}

void MapPicture::paintMark(QPainter& painter, const MapMark& mark) const {
    paintCross(painter, mark);
    paintLabels(painter, mark);
    paintBox(painter, mark);
}

void MapPicture::paintCross(QPainter& painter, const MapMark& mark) const {
    const Theme& t = Theme::current();
    painter.save();
    painter.setClipRect(geometry.area().adjusted(-2, -2, 2, 2), Qt::IntersectClip);
    painter.setBrush(Qt::NoBrush);
    const QRect map = geometry.map();
    const auto box = [&](const QRect& r, qreal width, Qt::PenStyle style) {
        const QRectF outline = QRectF(r).adjusted(-0.5, -0.5, 0.5, 0.5);
        // Viridis is dark where attention is low: a pale edge keeps the line visible.
        if (!m_scale.isSigned()) {
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
    const QRect cell = geometry.cellRect(qMax(0, mark.row), qMax(0, mark.column));
    if (mark.column >= 0)
        box(QRect(cell.left(), map.top(), cell.width(), map.height()), 1, Qt::DashLine);
    if (mark.row >= 0)
        box(QRect(map.left(), cell.top(), map.width(), cell.height()), 1, Qt::SolidLine);
    if (mark.cell()) box(cell, 2, Qt::SolidLine);
    restoreClip(painter, geometry.widget());
}

/// Pieces of a text from the axis outwards; those of columns are rotated unless they are single
/// characters.
void MapPicture::paintTexts(QPainter& painter, bool rows) const {
    beginAxis(painter, rows);
    const QRect area = geometry.area();
    const int room = geometry.margin(rows) - 12;
    const auto [first, last] = geometry.shown(rows);
    for (int k = first; k <= last; ++k) {
        if (!rows && geometry.upright()) {
            paintUpright(painter, k);
            continue;
        }
        const QString label =
            painter.fontMetrics().elidedText(axes.label(rows, k), Qt::ElideRight, room);
        const QRect cell = geometry.headRect(k, rows);
        if (rows)
            painter.drawText(QRect(area.left() - room - 12, cell.top(), room + 4, cell.height()),
                             Qt::AlignRight | Qt::AlignVCenter, label);
        else
            painter.drawText(QRect(cell.left() - 4, 0, cell.width() + 8, area.top() - 6),
                             Qt::AlignHCenter | Qt::AlignBottom, label);
    }
    restoreClip(painter, geometry.widget());
}

void MapPicture::paintTicks(QPainter& painter, bool rows) const {
    const Theme& t = Theme::current();
    painter.save();
    painter.setFont(numberFont(11));
    const int step = geometry.tickStep();
    const auto [first, last] = geometry.shown(rows);
    const QRect area = geometry.area();
    for (int k = (first + step - 1) / step * step; k <= last; k += step) {
        const QPoint cell = geometry.cellRect(k, k).center();
        painter.setPen(t.axis);
        if (rows)
            painter.drawLine(area.left() - 4, cell.y(), area.left() - 2, cell.y());
        else
            painter.drawLine(cell.x(), area.top() - 4, cell.x(), area.top() - 2);
        painter.setPen(t.muted);
        painter.drawText(geometry.tickRect(k, rows),
                         (rows ? Qt::AlignRight : Qt::AlignHCenter) | Qt::AlignVCenter,
                         groupedNumber(k));
    }
    restoreClip(painter, geometry.widget());
}

void MapPicture::paintChip(QPainter& painter, int index, bool row) const {
    const Theme& t = Theme::current();
    const QPoint cell = geometry.headRect(index, row).center();
    const QRect area = geometry.area();
    // A row or column that was panned away has no label.
    if (row ? cell.y() < area.top() || cell.y() > area.bottom()
            : cell.x() < area.left() || cell.x() > area.right())
        return;
    const QRect chip = geometry.chipRect(index, row);
    const bool upright = !row && axes.hasText() && geometry.upright();
    if (!geometry.labelled()) {  // numbers that the chip would cut go altogether
        const int step = geometry.tickStep();
        for (int k = index / step * step - step; k <= index + 2 * step; k += step)
            if (k >= 0 && geometry.tickRect(k, row).intersects(chip))
                painter.fillRect(geometry.tickRect(k, row), t.panel);
    }
    paint::frame(painter, chip, t.panel, row ? t.outline : t.text, 3);
    painter.setFont(captionFont());
    painter.setPen(t.text);
    const int length = upright ? chip.height() : chip.width();
    const QString label =
        painter.fontMetrics().elidedText(axes.label(row, index), Qt::ElideRight, length - 6);
    painter.save();
    if (upright) {
        painter.translate(chip.left(), chip.bottom() + 1);
        painter.rotate(-90);
        painter.drawText(QRect(0, 0, length, chip.width()), Qt::AlignCenter, label);
    } else {
        painter.drawText(chip, Qt::AlignCenter, label);
    }
    restoreClip(painter, geometry.widget());
}

void MapPicture::paintLabels(QPainter& painter, const MapMark& mark) const {
    if (geometry.labelled() && !axes.hasText()) {
        if (mark.row < 0) return;
        // The chosen source has the same red as in the picture.
        painter.save();
        QRect place = geometry.thumbRect(mark.row, true);
        const QRect area = geometry.area();
        if (axes.pictured(true, mark.row))
            place = shownPlace(axes.token(true, mark.row)->picture.size(), place);
        else
            place.setLeft(
                qMax(1, area.left() - qMax(geometry.thumbSide(true) + 7, axes.longest(true) + 10)));
        painter.setClipRect(QRect(0, area.top() - 2, area.left(), area.height()),
                            Qt::IntersectClip);
        painter.setPen(
            QPen(Theme::current().outline, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
        painter.drawRect(place.adjusted(-1, -1, 1, 1));
        restoreClip(painter, geometry.widget());
        return;
    }
    if (mark.column >= 0) paintChip(painter, mark.column, false);
    if (mark.row >= 0) paintChip(painter, mark.row, true);
}

void MapPicture::paintBox(QPainter& painter, const MapMark& mark) const {
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

}  // namespace relascope::widgets
