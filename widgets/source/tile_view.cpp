// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include <QFontMetrics>
#include <QPainter>
#include <QScrollBar>

#include "widgets/kit/token_view.h"
#include "widgets/source/pictures.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/tile_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

using namespace tiles;

/// Pictures of a group may differ in size: tiles have the size of the largest.
QSize largestPicture(const TileGroup& group) {
    QSize size;
    for (const QImage& picture : group.pictures) size = size.expandedTo(picture.size());
    return size;
}

int linesNeeded(const QFontMetrics& metrics, const QStringList& texts, int wide) {
    for (const QString& text : texts)
        if (text.contains(u' ') && metrics.horizontalAdvance(text) > wide) return 2;
    return 1;
}

/// The largest size at which the pictures fit into `wide` x `high`, with captions or, if that is
/// too small, without; if none fits, they have their original size and are scrolled.
void layOutPictures(TileSection& section, int wide, int high) {
    const QSize own = largestPicture(section.group);
    const QFontMetrics metrics(captionFont());
    const int count = section.group.size();
    const int below = section.numbered() ? numberHeight : 0;
    section.picture = {};
    for (const bool captions : {true, false}) {
        for (int columns = 1; columns <= count; ++columns) {
            const int across = (wide + gap) / columns - gap;
            if (across < qMin(own.width(), smallestPicture) + 2 * padding) break;
            const int rows = (count + columns - 1) / columns;
            const int down = (high + gap) / rows - gap;
            const int room = qMin(across - 2 * padding, largestTile);
            const int lines = captions ? linesNeeded(metrics, section.group.texts, room) : 0;
            const int around = lines * captionHeight + below + 3 * padding;
            const QSize shown = shownSize(own, QSize(room, qMin(down - around, largestTile)));
            const bool seen = shown.width() >= qMin(own.width(), smallestPicture);
            if (!seen || shown.width() <= section.picture.width()) continue;
            section.picture = shown;
            section.wordLines = lines;
        }
        if (!section.picture.isEmpty()) return;
    }
    section.picture = shownSize(own, QSize(qMin(own.width(), wide - 2 * padding), own.height()));
    section.wordLines =
        linesNeeded(metrics, section.group.texts, qMax(section.picture.width(), shortestWord));
}

QSize tileSize(const TileSection& section, int index, int wide) {
    const TileGroup& group = section.group;
    const int below = section.numbered() ? numberHeight : 0;
    if (group.hasPictures()) {
        const int across = qMax(section.picture.width(), shortestWord) + 2 * padding;
        return {qMin(across, wide),
                section.picture.height() + section.wordLines * captionHeight + below + 3 * padding};
    }
    if (group.width > 0) return {vectorWidth, vectorHeight + below};
    const int word = QFontMetrics(monoFont(12)).horizontalAdvance(group.texts[index]) + 12;
    return {qBound(below > 0 ? 44 : 24, word, qMin(widestWord, wide)), wordHeight + below};
}

}  // namespace

int layOutSections(std::vector<TileSection>& sections, const QSize& view, int bar) {
    const int wide = qMax(vectorWidth, view.width() - 2 * edge - bar);
    const auto place = [&](TileSection& section, int y) {
        section.places.clear();
        int x = edge, high = 0;
        for (int k = 0; k < section.group.size(); ++k) {
            const QSize size = tileSize(section, k, wide);
            if (x > edge && x + size.width() > edge + wide) {
                x = edge;
                y += high + gap;
            }
            high = size.height();
            section.places.push_back(QRect(QPoint(x, y), size));
            x += size.width() + gap;
        }
        return y + high;
    };
    // Texts and bars get their preferred height; pictures share the remaining space.
    int left = view.height() - 2 * edge, sharing = 0;
    for (TileSection& section : sections) {
        section.places.reserve(static_cast<std::size_t>(section.group.size()));
        left -= section.group.title.isEmpty() ? 0 : headHeight;
        if (section.group.hasPictures())
            ++sharing;
        else
            left -= place(section, 0);
    }
    left -= groupGap * qMax(0, static_cast<int>(sections.size()) - 1);
    int y = edge;
    for (TileSection& section : sections) {
        section.top = y;
        if (!section.group.title.isEmpty()) y += headHeight;
        if (section.group.hasPictures()) layOutPictures(section, wide, left / sharing);
        y = place(section, y) + groupGap;
    }
    return sections.empty() ? 0 : y - groupGap + edge;
}

std::vector<QRect>::const_iterator TileSection::from(int y) const {
    // Rows are ordered from the top, so only the tiles at this height are tested.
    return std::partition_point(places.begin(), places.end(),
                                [&](const QRect& place) { return place.bottom() < y; });
}

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

TileView::TileView(QWidget* parent) : TileArea({edge, edge, edge, edge}, parent) {
    setAccessibleName(QStringLiteral("Source objects"));
    verticalScrollBar()->setSingleStep(26);
    describe();
}

void TileView::setObjects(TileGroup objects) {
    take({TileSection{std::move(objects)}});
}

void TileView::setSides(TileGroup rows, TileGroup columns) {
    std::vector<TileSection> sections;
    sections.push_back({std::move(rows), true, false});
    if (columns.size() > 0) sections.push_back({std::move(columns), false, true});
    take(std::move(sections));
}

void TileView::setGroups(std::vector<TileGroup> groups) {
    std::vector<TileSection> sections;
    for (TileGroup& group : groups) sections.push_back({std::move(group), false, false});
    take(std::move(sections));
}

void TileView::take(std::vector<TileSection> sections) {
    if (std::equal(sections.begin(), sections.end(), m_sections.begin(), m_sections.end(),
                   [](const TileSection& a, const TileSection& b) {
                       return a.group == b.group && a.sends == b.sends;
                   }))
        return;
    m_sections = std::move(sections);
    int first = 0;
    for (TileSection& section : m_sections) {
        section.largest = largestSize(section.group.vectors);
        section.first = std::exchange(first, first + section.group.size());
    }
    forgetHover();
    clampChoice();
    layOut();
    reveal(tileOf(false, source()));
    describe();
}

const TileSection* TileView::part(bool sender) const {
    for (const TileSection& section : m_sections)
        if (sender ? section.sends : section.receives) return &section;
    return nullptr;
}
int TileView::count(bool sender) const {
    const TileSection* section = part(sender);
    return section ? section->group.size() : 0;
}
int TileView::tileOf(bool sender, int index) const {
    return index >= 0 && index < count(sender) ? part(sender)->first + index : -1;
}
const TileSection* TileView::sectionOf(int tile) const {
    for (const TileSection& section : m_sections)
        if (tile >= section.first && tile < section.first + section.group.size()) return &section;
    return nullptr;
}

int TileView::layOutTiles() {
    return layOutSections(m_sections, size(), verticalScrollBar()->sizeHint().width());
}
QRect TileView::placeOf(int tile) const {
    const TileSection* section = sectionOf(tile);
    return section ? section->places[static_cast<std::size_t>(tile - section->first)] : QRect();
}
QRect TileView::tileRect(int index, bool sender) const {
    return tileRect(tileOf(sender, index));
}

int TileView::placeAt(const QPoint& point) const {
    for (const TileSection& section : m_sections)
        for (auto place = section.from(point.y());
             place != section.places.end() && place->top() <= point.y(); ++place)
            if (place->contains(point))
                return section.first + static_cast<int>(place - section.places.begin());
    return -1;
}

void TileView::sourceMoved() {
    // Chosen in another pane; does not scroll while the pointer is inside.
    if (hover() < 0) reveal(tileOf(false, source()));
}
void TileView::touch(bool sender, int index) {
    updateTile(tileOf(sender, index));
}
int TileView::pointedSender() const {
    const TileSection* section = sectionOf(hover());
    return section && section->sends ? hover() - section->first : -1;
}

void TileView::describe() {
    const TileSection *from = part(false), *to = part(true);
    if (!from && !to) {  // nothing can be chosen
        QStringList names;
        for (const TileSection& section : m_sections) names << section.group.names;
        return setAccessibleDescription(names.join(QStringLiteral(", ")));
    }
    QString text = from && from->group.size() > 0
                       ? QStringLiteral("i is ") + from->group.names.value(source())
                       : QStringLiteral("no objects");
    if (const int j = shownTarget(); to && j >= 0) {
        const QString towards = number(j);
        text += QStringLiteral(", j is %1, %2")
                    .arg(to->group.names.value(j), towards.isEmpty()
                                                       ? QStringLiteral("masked")
                                                       : QStringLiteral("value ") + towards);
    }
    setAccessibleDescription(text);
}

void TileView::hoverMoved(int before, int now) {
    const TileSection *left = sectionOf(before), *entered = sectionOf(now);
    const bool sent = left && left->sends, sends = entered && entered->sends;
    touch(true, sent ? before - left->first : restingTarget());
    touch(true, shownTarget());
    if (left && !sent && (!entered || sends)) Q_EMIT rowHovered(-1);
    if (sent && !sends) Q_EMIT hovered(-1);
    if (!entered) return;
    if (sends)
        Q_EMIT hovered(now - entered->first);
    else
        Q_EMIT rowHovered(now - entered->first);
}

// Text is clipped at the tile.
QString TileView::tipOf(int tile) const {
    const TileSection* section = sectionOf(tile);
    return section ? section->group.names.value(tile - section->first) : QString();
}

void TileView::pressed(int tile, Qt::KeyboardModifiers modifiers) {
    const TileSection& section = *sectionOf(tile);
    if (section.sends || section.receives)
        choose(this, section.sends && (!section.receives || modifiers & Qt::ShiftModifier),
               tile - section.first);
}

int TileView::current(Qt::KeyboardModifiers modifiers) const {
    const bool sender = modifiers & Qt::ShiftModifier;
    return tileOf(sender, sender ? qMax(0, target()) : source());
}

int TileView::moveFrom(int tile, int key, Qt::KeyboardModifiers) const {
    const TileSection* section = sectionOf(tile);
    return section ? section->first + movedInRows(section->places, tile - section->first, key) : -1;
}

void TileView::paintTiles(QPainter& painter, const QRegion& region) {
    const QRect exposed = region.boundingRect();
    for (const TileSection& section : m_sections) {
        if (!section.group.title.isEmpty()) {
            painter.setFont(captionFont());
            painter.setPen(Theme::current().muted);
            painter.drawText(QRect(2, section.top, viewport()->width() - 4, headHeight - 4),
                             Qt::AlignLeft | Qt::AlignVCenter, section.group.title);
        }
        for (auto place = section.from(exposed.top() - edge);
             place != section.places.end() && place->top() - edge <= exposed.bottom(); ++place)
            if (place->adjusted(-edge, -edge, edge, edge).intersects(exposed))
                paintTile(painter, section, static_cast<int>(place - section.places.begin()));
    }
}

void TileView::paintTile(QPainter& painter, const TileSection& section, int index) {
    const Theme& t = Theme::current();
    const QRect place = section.places[static_cast<std::size_t>(index)];
    const bool i = section.receives && index == source();
    const bool j = section.sends && index == shownTarget() && !i;
    const Shade shade = this->shade(index, section.sends && !i);
    paint::frame(painter, place, shade.fill, shade.byScale ? QColor() : t.border, 3);
    if (shade.hatch.isValid()) {
        painter.setBrushOrigin(place.topLeft());
        painter.fillRect(place.adjusted(1, 1, -1, -1), hatchBrush(shade.hatch));
    }
    QRect inside = place.adjusted(3, 2, -3, -2);
    if (section.numbered()) {
        const QRect line(inside.left(), inside.bottom() - numberHeight + 1, inside.width(),
                         numberHeight);
        inside.setBottom(line.top() - 1);
        painter.setFont(numberFont(11));
        painter.setPen(i ? t.outline : shade.ink);
        painter.drawText(line, Qt::AlignCenter, i ? QStringLiteral("i") : number(index));
    }
    paintTileObject(painter, section, index, inside, shade.ink);
    if (i || j)
        drawTileFrame(painter, QRectF(place).adjusted(1, 1, -1, -1),
                      i ? TokenLook::Frame::Solid : TokenLook::Frame::Dashed,
                      i ? t.outline : Theme::light().panel);
}

}  // namespace relascope::widgets
