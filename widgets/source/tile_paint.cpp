// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/tile_paint.h"

#include <QPainter>

#include "widgets/source/pictures.h"
#include "widgets/source/tile_metrics.h"
#include "widgets/source/vector_bars.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

using namespace tiles;

void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink) {
    const QString& word = section.group.texts[index];
    painter.setPen(ink);
    if (section.group.hasPictures()) {
        const QRect room(inside.left(), inside.top() + padding - 2, inside.width(),
                         section.picture.height());
        drawPicture(painter, room, section.group.pictures[static_cast<std::size_t>(index)]);
        if (section.wordLines == 0) return;
        painter.setFont(captionFont());
        const QFontMetrics metrics = painter.fontMetrics();
        // At most two lines, wrapped between words; longer text is elided.
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
        paint::elidedText(painter, name, Qt::AlignLeft | Qt::AlignVCenter, word);
        const auto width = static_cast<std::size_t>(section.group.width);
        const auto first = static_cast<std::size_t>(index) * width;
        const auto& vectors = section.group.vectors;
        if (first + width <= vectors.size())
            paintVectorBars(painter, inside.adjusted(0, 15, 0, 0),
                            std::span(vectors).subspan(first, width), section.largest, ink);
        return;
    }
    painter.setFont(monoFont(12));
    painter.drawText(inside, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(word, Qt::ElideRight, inside.width() + 2));
}

}  // namespace relascope::widgets
