// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/gallery_layout.h"

#include <algorithm>

namespace relascope::widgets {

void GalleryLayout::setSections(std::vector<GallerySection> sections) {
    m_sections = std::move(sections);
    layOut(m_width);
}

int GalleryLayout::layOut(int width) {
    m_width = width;
    const int room = std::max(1, width - 2 * edge + gap);
    m_columns = std::max(1, room / (smallestSide + gap));
    // Wide enough that the columns fill the width, but not much larger than asked for.
    m_side = std::clamp(room / m_columns - gap, smallestSide, smallestSide + smallestSide / 4);
    m_rows.clear();
    m_count = 0;
    int y = 0;
    for (const GallerySection& section : m_sections) {
        const int maps = static_cast<int>(section.maps.size());
        const int rows = (maps + m_columns - 1) / m_columns;
        m_rows.push_back({m_count, y, rows});
        m_count += maps;
        y += titleHeight + rows * rowHeight();
    }
    m_height = y;
    return m_height;
}

int GalleryLayout::blockFor(const QSize& cells) const {
    return std::max(1, (std::max(cells.width(), cells.height()) + m_side - 1) / m_side);
}

QSize GalleryLayout::pictureSize(const QSize& cells) const {
    if (cells.isEmpty()) return {m_side, m_side};
    const int block = blockFor(cells);
    const QSize pixels((cells.width() + block - 1) / block, (cells.height() + block - 1) / block);
    return pixels * std::max(1, m_side / std::max(pixels.width(), pixels.height()));
}

int GalleryLayout::sectionOf(int k) const {
    const auto after =
        std::upper_bound(m_rows.begin(), m_rows.end(), k,
                         [](int index, const Row& row) { return index < row.first; });
    // Of empty sections with the same first map, the last one has it.
    return static_cast<int>(after - m_rows.begin()) - 1;
}

GalleryLayout::Place GalleryLayout::place(int k) const {
    if (k < 0 || k >= m_count) return {};
    const auto s = static_cast<std::size_t>(sectionOf(k));
    const int at = k - m_rows[s].first;
    const QPoint corner(edge + at % m_columns * (m_side + gap),
                        m_rows[s].top + titleHeight + at / m_columns * rowHeight());
    return {m_sections[s].maps[static_cast<std::size_t>(at)], {corner, QSize(m_side, m_side)}};
}

int GalleryLayout::indexOf(const MapId& map) const {
    for (std::size_t s = 0; s < m_sections.size(); ++s) {
        const auto& maps = m_sections[s].maps;
        const auto found = std::find(maps.begin(), maps.end(), map);
        if (found != maps.end()) return m_rows[s].first + static_cast<int>(found - maps.begin());
    }
    return -1;
}

std::pair<int, int> GalleryLayout::between(int top, int bottom) const {
    int first = m_count, last = 0;
    for (std::size_t s = 0; s < m_rows.size(); ++s) {
        const Row& row = m_rows[s];
        const int maps = static_cast<int>(m_sections[s].maps.size());
        const int begin = row.top + titleHeight;
        if (maps == 0 || begin > bottom || begin + row.rows * rowHeight() <= top) continue;
        const int from = std::max(0, (top - begin) / rowHeight());
        const int to = std::min(row.rows - 1, (bottom - begin) / rowHeight());
        first = std::min(first, row.first + from * m_columns);
        last = std::max(last, row.first + std::min(maps, (to + 1) * m_columns));
    }
    return {std::min(first, last), last};
}

int GalleryLayout::indexAt(const QPoint& point) const {
    const auto [first, last] = between(point.y(), point.y());
    for (int k = first; k < last; ++k)
        if (place(k).box.adjusted(-edge, -edge, edge, labelHeight).contains(point)) return k;
    return -1;
}

QRect GalleryLayout::titleRect(int section) const {
    return {edge, m_rows[static_cast<std::size_t>(section)].top, m_width - 2 * edge, titleHeight};
}

int GalleryLayout::moved(int k, int key) const {
    if (m_count == 0) return -1;
    const int last = m_count - 1;
    k = std::clamp(k, 0, last);
    if (key == Qt::Key_Left) return std::max(0, k - 1);
    if (key == Qt::Key_Right) return std::min(last, k + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    if (key != Qt::Key_Up && key != Qt::Key_Down) return k;
    // The map above or below, in the row of the next section, too.
    const QRect from = place(k).box;
    const int step = key == Qt::Key_Down ? 1 : -1;
    int best = k, row = -1;
    for (int next = k + step; next >= 0 && next <= last; next += step) {
        const QRect to = place(next).box;
        if (to.top() == from.top()) continue;
        if (row >= 0 && to.top() != row) break;
        if (row < 0 ||
            std::abs(to.left() - from.left()) < std::abs(place(best).box.left() - from.left()))
            best = next;
        row = to.top();
    }
    return best;
}

}  // namespace relascope::widgets
