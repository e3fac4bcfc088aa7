// SPDX-License-Identifier: GPL-3.0-or-later
// How TileView draws itself; what it does is in tile_view.cpp.
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "widgets/source/pictures.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/tile_view_metrics.h"
#include "widgets/source/vector_bars.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

using namespace tiles;

}  // namespace

void TileView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    const int offset = verticalScrollBar()->value();
    painter.fillRect(event->rect(), Theme::current().panel);
    painter.save();
    painter.translate(0, -offset);
    for (const Section& section : m_sections)
        paintSection(painter, section, event->rect().translated(0, offset));
    painter.restore();
    if (paint::keyboardFocus(this)) paint::focusRing(painter, viewport()->rect());
}

void TileView::paintSection(QPainter& painter, const Section& section, const QRect& exposed) {
    const Theme& t = Theme::current();
    if (!section.group.title.isEmpty()) {
        painter.setFont(captionFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(2, section.top, viewport()->width() - 4, headHeight - 4),
                         Qt::AlignLeft | Qt::AlignVCenter, section.group.title);
    }
    // A thousand tiles, of which a screenful is looked at.
    const auto& places = section.places;
    auto place = std::partition_point(places.begin(), places.end(), [&](const QRect& p) {
        return p.bottom() + 2 < exposed.top();
    });
    for (; place != places.end() && place->top() - 2 <= exposed.bottom(); ++place)
        if (place->adjusted(-2, -2, 2, 2).intersects(exposed))
            paintTile(painter, section, static_cast<int>(place - places.begin()), *place);
}

void TileView::paintTile(QPainter& painter, const Section& section, int index, const QRect& place) {
    const Theme& t = Theme::current();
    const auto at = static_cast<std::size_t>(index);
    const bool i = section.receives && index == m_source;
    const bool j = section.sends && index == shownTarget() && !i;
    const bool known = section.sends && at < m_values.size() && !i;
    const bool masked = known && at < m_masked.size() && m_masked[at];
    const bool broken = known && !masked && m_values[at] != m_values[at];
    const bool tinted = known && !masked && !broken;
    const QColor fill = masked   ? t.hatchFill
                        : broken ? t.errorFill
                        : tinted ? m_scale.color(m_values[at])
                                 : t.alt;
    paint::frame(painter, place, fill, tinted ? QColor() : t.border, 3);
    if (masked || broken) {
        painter.setBrushOrigin(place.topLeft());
        painter.fillRect(place.adjusted(1, 1, -1, -1), hatchBrush(masked ? t.hatch : t.error));
    }
    const QColor ink = masked ? t.muted : broken ? t.error : Theme::textOn(fill);
    QRect inside = place.adjusted(3, 2, -3, -2);
    if (numbered(section)) {
        const QRect line(inside.left(), inside.bottom() - numberHeight + 1, inside.width(),
                         numberHeight);
        inside.setBottom(line.top() - 1);
        painter.setFont(numberFont(11));
        painter.setPen(ink);
        if (known) painter.drawText(line, Qt::AlignCenter, numberOf(index));
        if (i) {
            painter.setPen(t.outline);
            painter.drawText(line, Qt::AlignCenter, QStringLiteral("i"));
        }
    }
    paintObject(painter, section, index, inside, ink);
    if (!i && !j) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    if (j) {  // dark under pale dashes, so that one of them shows on any fill
        painter.setPen(QPen(Theme::light().text, 2));
        painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), 3, 3);
    }
    QPen pen(i ? t.outline : Theme::light().panel, 2);
    if (j) pen.setDashPattern({3.0, 2.0});
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), 3, 3);
    painter.restore();
}

void TileView::paintObject(QPainter& painter, const Section& section, int index,
                           const QRect& inside, const QColor& ink) {
    const QString& word = section.group.texts[index];
    painter.setPen(ink);
    if (section.group.hasPictures()) {
        const QRect room(inside.left(), inside.top() + padding - 2, inside.width(),
                         section.picture.height());
        drawPicture(painter, room, section.group.pictures[static_cast<std::size_t>(index)]);
        if (section.wordLines == 0) return;
        painter.setFont(captionFont());
        const QFontMetrics metrics = painter.fontMetrics();
        // Two lines at most, cut between words; what is longer ends in an ellipsis.
        QString first = word, second;
        if (section.wordLines == 2 && metrics.horizontalAdvance(word) > inside.width()) {
            qsizetype cut = word.indexOf(u' ');
            for (qsizetype next = cut; next > 0; next = word.indexOf(u' ', next + 1))
                if (metrics.horizontalAdvance(word.left(next)) <= inside.width()) cut = next;
            if (cut > 0) {
                first = word.left(cut);
                second = word.mid(cut + 1);
            }
        }
        QRect line(inside.left(), room.bottom() + 3, inside.width(), captionHeight);
        for (const QString& text : {first, second}) {
            painter.drawText(line, Qt::AlignCenter,
                             metrics.elidedText(text, Qt::ElideRight, inside.width()));
            line.translate(0, captionHeight);
        }
        return;
    }
    if (section.group.width > 0) {
        const QRect name(inside.left(), inside.top(), inside.width(), 13);
        painter.setFont(captionFont());
        painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(word, Qt::ElideRight, name.width()));
        return paintVector(painter, section, index, inside.adjusted(0, 15, 0, 0), ink);
    }
    painter.setFont(monoFont(12));
    painter.drawText(inside, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(word, Qt::ElideRight, inside.width() + 2));
}

void TileView::paintVector(QPainter& painter, const Section& section, int index, const QRect& place,
                           const QColor& ink) {
    const auto width = static_cast<std::size_t>(section.group.width);
    const auto first = static_cast<std::size_t>(index) * width;
    const auto& vectors = section.group.vectors;
    if (first + width > vectors.size()) return;
    paintVectorBars(painter, place, std::span(vectors).subspan(first, width), section.largest, ink);
}

}  // namespace relascope
