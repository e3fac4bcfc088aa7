// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <QFontMetrics>

#include "widgets/kit/strip_layout.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kStripMargin = 3, kStripTitle = 24, kScrolledTitle = 26, kStripGap = 10,
              kStripColumns = 18;      ///< between sections beside one another
constexpr int kNarrowestColumn = 120;  ///< px that the title of a section needs
constexpr int kOverviewTitle = 16, kOverviewLeft = 26, kOverviewGap = 8;
constexpr int kFilmSide = 16, kFilmGap = 12, kFilmRows = 8, kFilmTop = 6;

int columnWidth(int wide, unsigned breaks) {
    const int columns = 1 + std::popcount(breaks);
    return (wide - (columns - 1) * kStripColumns) / columns;
}

}  // namespace

QString mapKindWords(MapKind kind) {
    static const QString words[] = {QStringLiteral("relation"),
                                    QStringLiteral("relational attention"),
                                    QStringLiteral("sensory attention"),
                                    QStringLiteral("\u03B1 \u00D7 r"), QStringLiteral("symbols")};
    return words[static_cast<std::size_t>(kind)];
}

void StripLayout::setSections(std::vector<StripSection> sections, std::vector<QSize> shapes) {
    m_sections = std::move(sections);
    m_shapes = std::move(shapes);
    m_maps.clear();
    m_firsts.clear();
    for (const StripSection& section : m_sections) {
        m_firsts.push_back(count());
        m_maps.insert(m_maps.end(), section.maps.begin(), section.maps.end());
    }
    m_places.assign(m_maps.size(), {});
    m_pages.resize(m_sections.size(), 0);
    for (std::size_t s = 0; s < m_pages.size(); ++s) setPage(static_cast<int>(s), m_pages[s]);
}

int StripLayout::tileOf(const MapId& map) const {
    const auto found = std::find(m_maps.begin(), m_maps.end(), map);
    return found == m_maps.end() ? -1 : static_cast<int>(found - m_maps.begin());
}

int StripLayout::sectionOf(int tile) const {
    // The last one of empty sections with the same first tile has it.
    return static_cast<int>(std::upper_bound(m_firsts.begin(), m_firsts.end(), tile) -
                            m_firsts.begin()) -
           1;
}

int StripLayout::pageCount(int section) const {
    return m_flow == Flow::Fitted ? std::max(1, (sizeOf(section) + kPage - 1) / kPage) : 1;
}

void StripLayout::setPage(int section, int page) {
    if (section < 0 || section >= static_cast<int>(m_pages.size())) return;
    m_pages[static_cast<std::size_t>(section)] = std::clamp(page, 0, pageCount(section) - 1);
}

bool StripLayout::turnTo(int tile) {
    if (tile < 0 || tile >= count() || m_flow != Flow::Fitted) return false;
    const int section = sectionOf(tile), before = page(section);
    setPage(section, (tile - firstOf(section)) / kPage);
    return before != page(section);
}

// A cell a pixel is worth a slightly larger picture, where the grid has room for it.
int StripLayout::blockFor(const QSize& shape, int side) const {
    const int most = m_flow == Flow::Fitted ? side + side / 6 : side;
    return std::max(1, (std::max(shape.width(), shape.height()) + most - 1) / most);
}

// Cells of whole pixels, or whole cells a pixel.
QSize StripLayout::pictureSize(const QSize& shape, int side) const {
    if (shape.isEmpty()) return {side, side};
    const int block = blockFor(shape, side);
    const QSize cells((shape.width() + block - 1) / block, (shape.height() + block - 1) / block);
    return cells * std::max(1, side / std::max(cells.width(), cells.height()));
}

QSize StripLayout::wholeCells(const QSize& shape, const QSize& room) {
    if (shape.isEmpty()) return {};
    const int cell = std::min(room.width() / shape.width(), room.height() / shape.height());
    if (cell >= 1) return shape * cell;
    const int side = std::max(1, std::min(room.width(), room.height()));
    const int most = std::max(shape.width(), shape.height());
    return {std::max(1, shape.width() * side / most), std::max(1, shape.height() * side / most)};
}

int StripLayout::layOut(const QSize& room) {
    m_places.assign(m_maps.size(), {});
    m_turns.clear();
    m_heads.clear();
    m_slot = 0;
    if (m_flow == Flow::Scrolled) return layOutScrolled(room.width());
    if (m_flow == Flow::Film) return layOutFilm(room);
    if (m_flow == Flow::Overview) return layOutOverview(room.width());
    const auto [side, breaks] = bestFit(room);
    m_side = side;
    return arrange(room.width(), side, breaks, true);
}

int StripLayout::layOutScrolled(int wide) {
    const int room = std::max(1, wide - 2 * kEdge + kStripGap);
    const int columns = std::max(1, room / (kLeastScrolled + kStripGap));
    // Wide enough that the columns fill the width, but not much larger than asked for.
    m_side =
        std::clamp(room / columns - kStripGap, kLeastScrolled, kLeastScrolled + kLeastScrolled / 4);
    m_slot = m_side + kStripGap - 2;
    const int high = m_side + labelHeight() + kStripGap - 1;
    int y = 0;
    for (int s = 0; s < static_cast<int>(m_sections.size()); ++s) {
        m_heads.emplace_back(kEdge, y, wide - 2 * kEdge, kScrolledTitle);
        y += kScrolledTitle;
        for (int k = 0; k < sizeOf(s); ++k)
            m_places[static_cast<std::size_t>(firstOf(s) + k)] = {
                QPoint(kEdge + k % columns * (m_side + kStripGap), y + k / columns * high),
                pictureSize(shape(firstOf(s) + k), m_side)};
        y += (sizeOf(s) + columns - 1) / columns * high;
    }
    return y;
}

// One row of pictures or two, whichever has the larger cells.
int StripLayout::layOutFilm(const QSize& room) {
    if (m_maps.empty()) return 0;
    QSize slot, picture;
    int across = 1;
    for (int rows = 1; rows <= 2 && rows <= count(); ++rows) {
        const int each = (count() + rows - 1) / rows;
        const QSize size((room.width() - 2 * kFilmSide + kFilmGap) / each,
                         (room.height() - kFilmTop - m_footer) / rows);
        const QSize shown = wholeCells(
            shape(0), {size.width() - kFilmGap, size.height() - labelHeight() - kFilmRows});
        if (shown.width() > picture.width() || picture.isEmpty())
            slot = size, picture = shown, across = each;
    }
    // They stand as close as they are wide, in the middle.
    slot.setWidth(std::min(slot.width(), picture.width() + 2 * kFilmGap));
    slot.setHeight(picture.height() + labelHeight() + kFilmRows);
    m_slot = slot.width() - 4;
    const int left = std::max(kFilmSide, (room.width() - across * slot.width() + kFilmGap) / 2) +
                     (slot.width() - kFilmGap - picture.width()) / 2;
    for (int k = 0; k < count(); ++k)
        m_places[static_cast<std::size_t>(k)] = {
            QPoint(left + k % across * slot.width(), kFilmTop + k / across * slot.height()),
            picture};
    return kFilmTop + (count() + across - 1) / across * slot.height() + m_footer;
}

int StripLayout::layerHeight() const {
    return m_layers <= 0 ? 8 : std::clamp(120 / m_layers, 4, 12);
}
int StripLayout::layerTop(int layer) const {
    return kOverviewTitle + (m_layers - 1 - layer) * layerHeight();
}
int StripLayout::overviewHeight() const {
    return kOverviewTitle + std::max(1, m_layers) * layerHeight() + 3;
}

int StripLayout::layOutOverview(int wide) {
    std::vector<int> columns;
    for (const StripSection& section : m_sections) {
        columns.push_back(0);
        for (const MapId& map : section.maps)
            columns.back() = std::max(columns.back(), map.index + 1);
    }
    const int all = std::max(1, std::accumulate(columns.begin(), columns.end(), 0));
    const int sections = static_cast<int>(columns.size());
    const int room = std::max(1, wide - kOverviewLeft - 2 - kOverviewGap * (sections - 1));
    // Whole pixels where possible; a narrow pane shares them out.
    const double cell = std::min(16.0, static_cast<double>(room) / all);
    const double each = cell >= 2.0 ? std::floor(cell) : cell;
    double left = kOverviewLeft;
    for (int s = 0; s < sections; ++s) {
        const auto x = [&](int index) {
            return static_cast<int>(std::lround(left + index * each));
        };
        const int count = columns[static_cast<std::size_t>(s)];
        m_heads.emplace_back(x(0), 0, std::max(1, x(count) - x(0)), kOverviewTitle);
        for (int k = firstOf(s); k < firstOf(s) + sizeOf(s); ++k)
            m_places[static_cast<std::size_t>(k)] = {
                x(map(k).index), layerTop(map(k).layer),
                std::max(1, x(map(k).index + 1) - x(map(k).index)), layerHeight()};
        left += count * each + kOverviewGap;
    }
    return overviewHeight();
}

int StripLayout::filmHeight(int width) const {
    int height = kFilmTop + m_footer + 80;
    for (int rows = 1; rows <= 2 && count() > 0; ++rows) {
        const int room =
            (width - 2 * kFilmSide + kFilmGap) / ((count() + rows - 1) / rows) - kFilmGap;
        const QSize picture = wholeCells(shape(0), {room, room * 2});
        height = kFilmTop + m_footer +
                 rows * (std::max(40, picture.height()) + labelHeight() + kFilmRows);
        if (picture.width() >= 2 * shape(0).width()) break;
    }
    return height;
}

int StripLayout::arrange(int wide, int side, Breaks breaks, bool keep) {
    const int each = columnWidth(wide, breaks);
    int x = 0, y = 0, highest = 0;
    for (int s = 0; s < static_cast<int>(m_sections.size()); ++s) {
        if (s > 0 && breaks >> (s - 1) & 1U) {
            x += each + kStripColumns;
            y = 0;
        }
        y += arrangeSection(s, QPoint(x, y), each, side, keep);
        highest = std::max(highest, y);
    }
    return highest;
}

int StripLayout::arrangeSection(int section, const QPoint& at, int wide, int side, bool keep) {
    const int maps = sizeOf(section);
    int y = at.y();
    if (keep) {
        m_heads.emplace_back(at.x(), y, wide, kStripTitle);
        if (maps > kPage) {
            m_turns.push_back({section, -1, QRect(at.x() + wide - 46, y, 20, 20)});
            m_turns.push_back({section, 1, QRect(at.x() + wide - 22, y, 20, 20)});
        }
    }
    y += kStripTitle;
    if (maps == 0)
        return y - at.y() + kStripGap + 4 +
               QFontMetrics(smallFont())
                   .boundingRect(QRect(0, 0, wide, 200), Qt::TextWordWrap,
                                 m_sections[static_cast<std::size_t>(section)].absence)
                   .height();
    int cell = 34;
    for (int k = 0; k < maps; ++k)
        cell = std::max(cell, pictureSize(shape(firstOf(section) + k), side).width());
    const int stride = cell + 8;
    const int columns = std::max(1, (wide - 2 * kStripMargin + 8) / stride);
    // Pages do not differ in size, so that turning them moves nothing else.
    const int first = keep ? page(section) * kPage : 0, last = std::min(first + kPage, maps);
    int high = 0;
    for (int place = first; place < last; ++place) {
        const int k = place - first;
        if (k > 0 && k % columns == 0) {
            y += high + labelHeight() + 6;
            high = 0;
        }
        const QSize size = pictureSize(shape(firstOf(section) + place), side);
        if (keep)
            m_places[static_cast<std::size_t>(firstOf(section) + place)] = {
                QPoint(at.x() + kStripMargin + k % columns * stride, y + kStripMargin), size};
        high = std::max(high, size.height());
    }
    return y + high + labelHeight() + kStripGap - at.y();
}

/// Finds the largest pictures with which all sections fit without scrolling, and their arrangement.
std::pair<int, StripLayout::Breaks> StripLayout::bestFit(const QSize& room) {
    std::pair<int, Breaks> best{kLeastFitted, 0};
    const Breaks ways = m_sections.empty() ? 1U : 1U << (m_sections.size() - 1);
    for (Breaks breaks = 0; breaks < ways; ++breaks) {
        const int each = columnWidth(room.width(), breaks);
        if (breaks != 0 && each < kNarrowestColumn) continue;
        const auto fitsIn = [&](int side) {
            return arrange(room.width(), side, breaks, false) <= room.height();
        };
        int fits = best.first, tooLarge = std::max(fits, each - 2 * kStripMargin) + 1;
        if (!fitsIn(fits)) continue;
        // Larger pictures never need less room, so bisection finds the largest that fits.
        while (tooLarge - fits > 1) {
            const int middle = (fits + tooLarge) / 2;
            (fitsIn(middle) ? fits : tooLarge) = middle;
        }
        if (fits > best.first) best = {fits, breaks};
    }
    return best;
}

QRect StripLayout::place(int tile) const {
    return tile >= 0 && tile < count() ? m_places[static_cast<std::size_t>(tile)] : QRect();
}

QRect StripLayout::labelRect(int tile) const {
    const QRect box = place(tile);
    const int wide = m_slot > 0 ? m_slot : box.width() + 20;
    return {film() ? box.center().x() - wide / 2 : box.left(), box.bottom() + 3, wide,
            labelHeight() - 3};
}

int StripLayout::at(const QPoint& point) const {
    const int margin = overview() ? 0 : kStripMargin;
    for (int k = 0; k < count(); ++k)
        if (const QRect box = place(k);
            !box.isEmpty() && box.adjusted(-margin, -margin, margin, labelHeight()).contains(point))
            return k;
    return -1;
}

int StripLayout::moved(int tile, int key) const {
    const int last = count() - 1;
    if (key == Qt::Key_End) return last;
    if (tile < 0 || last < 0 || key == Qt::Key_Home) return std::min(0, last);
    const bool across = key == Qt::Key_Left || key == Qt::Key_Right;
    if (across && !overview()) {
        // Within a section to the next page; another section stays at its page.
        const int step = key == Qt::Key_Right ? 1 : -1, section = sectionOf(tile);
        int next = tile + step;
        while (next >= 0 && next <= last && sectionOf(next) != section && place(next).isEmpty())
            next += step;
        return next < 0 || next > last ? tile : next;
    }
    // The nearest in that direction, of its own section if it has one.
    const QPoint from = place(tile).center();
    int best = tile, least = 1 << 30;
    for (int k = 0; k <= last; ++k) {
        if (place(k).isEmpty()) continue;
        const QPoint to = place(k).center();
        const bool forward = key == Qt::Key_Down || key == Qt::Key_Right;
        const int far = across ? to.x() - from.x() : to.y() - from.y(),
                  aside = std::abs(across ? to.y() - from.y() : to.x() - from.x()),
                  away = forward ? far : -far;
        if (overview() ? away < 1 || aside > 0 : away < 20) continue;
        const int cost = away * 8 + aside + (sectionOf(k) == sectionOf(tile) ? 0 : 1 << 20);
        if (cost < least) best = k, least = cost;
    }
    return best;
}

}  // namespace relascope::widgets
