// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/tile_layout.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>

#include "widgets/source/pictures.h"
#include "widgets/source/tile_metrics.h"
#include "widgets/source/vector_bars.h"
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

bool TileLayout::take(std::vector<TileSection> sections) {
    if (std::equal(sections.begin(), sections.end(), m_sections.begin(), m_sections.end(),
                   [](const TileSection& a, const TileSection& b) {
                       return a.group == b.group && a.sends == b.sends;
                   }))
        return false;
    m_sections = std::move(sections);
    for (TileSection& section : m_sections) section.largest = largestSize(section.group.vectors);
    return true;
}

const TileSection* TileLayout::part(bool sender) const {
    for (const TileSection& section : m_sections)
        if (sender ? section.sends : section.receives) return &section;
    return nullptr;
}
int TileLayout::count(bool sender) const {
    const TileSection* section = part(sender);
    return section ? section->group.size() : 0;
}
QRect TileLayout::rect(bool sender, int index) const {
    const TileSection* section = part(sender);
    if (!section || index < 0 || index >= static_cast<int>(section->places.size())) return {};
    return section->places[static_cast<std::size_t>(index)];
}

TileLayout::Place TileLayout::placeAt(const QPoint& point) const {
    for (int s = 0; s < static_cast<int>(m_sections.size()); ++s) {
        const TileSection& section = m_sections[static_cast<std::size_t>(s)];
        for (auto place = section.from(point.y());
             place != section.places.end() && place->top() <= point.y(); ++place)
            if (place->contains(point))
                return {s, static_cast<int>(place - section.places.begin())};
    }
    return {};
}

void TileLayout::layOut(const QSize& view, int bar) {
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
    for (TileSection& section : m_sections) {
        section.places.reserve(static_cast<std::size_t>(section.group.size()));
        left -= section.group.title.isEmpty() ? 0 : headHeight;
        if (section.group.hasPictures())
            ++sharing;
        else
            left -= place(section, 0);
    }
    left -= groupGap * qMax(0, static_cast<int>(m_sections.size()) - 1);
    int y = edge;
    for (TileSection& section : m_sections) {
        section.top = y;
        if (!section.group.title.isEmpty()) y += headHeight;
        if (section.group.hasPictures()) layOutPictures(section, wide, left / sharing);
        y = place(section, y) + groupGap;
    }
    m_height = m_sections.empty() ? 0 : y - groupGap + edge;
}

std::vector<QRect>::const_iterator TileSection::from(int y) const {
    // Rows are ordered from the top, so only the tiles at this height are tested.
    return std::partition_point(places.begin(), places.end(),
                                [&](const QRect& place) { return place.bottom() < y; });
}

int TileSection::moved(int index, int key) const {
    const int last = static_cast<int>(places.size()) - 1;
    if (key == Qt::Key_Left) return qMax(0, index - 1);
    if (key == Qt::Key_Right) return qMin(last, index + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    // Up and down: the tile of the next row with the nearest centre.
    const QRect from = places[static_cast<std::size_t>(index)];
    const int step = key == Qt::Key_Down ? 1 : -1;
    int best = index, row = -1;
    for (int k = index + step; k >= 0 && k <= last; k += step) {
        const QRect& place = places[static_cast<std::size_t>(k)];
        if (place.top() == from.top()) continue;
        if (row >= 0 && place.top() != row) break;
        row = place.top();
        const auto away = [&](int at) {
            return std::abs(places[static_cast<std::size_t>(at)].center().x() - from.center().x());
        };
        if (best == index || away(k) < away(best)) best = k;
    }
    return best;
}

}  // namespace relascope::widgets
