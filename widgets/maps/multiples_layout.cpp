// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/multiples_layout.h"

#include <QFontMetrics>
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int groupGap = 10;
constexpr int columnGap = 18;         ///< between groups beside one another
constexpr int narrowestColumn = 120;  ///< px that the title of a group needs

QSize shapeOf(const MultipleItem& item) {
    return item.shape.isEmpty() ? item.cells.size() : item.shape;
}

/// Cells of whole pixels, or whole cells a pixel.
QSize shown(const MultipleItem& item, int picture) {
    const QSize shape = shapeOf(item);
    const int most = qMax(shape.width(), shape.height());
    if (most == 0) return {picture, picture};
    const int block = MultiplesLayout::blockFor(most, picture);
    const QSize cells((shape.width() + block - 1) / block, (shape.height() + block - 1) / block);
    return cells * qMax(1, picture / qMax(cells.width(), cells.height()));
}

int columnCount(unsigned breaks) {
    return 1 + std::popcount(breaks);
}
int columnWidth(int wide, unsigned breaks) {
    const int columns = columnCount(breaks);
    return (wide - (columns - 1) * columnGap) / columns;
}

}  // namespace

void MultiplesLayout::setGroups(std::vector<MultipleGroup> groups) {
    m_groups = std::move(groups);
    sortAll();
}

void MultiplesLayout::setSortByMeasure(bool on) {
    m_byMeasure = on;
    sortAll();
}

bool MultiplesLayout::setCurrent(MapKind kind, int index) {
    m_kind = kind;
    m_index = index;
    return turnToCurrent();
}

void MultiplesLayout::setPage(int group, int page) {
    if (group < 0 || group >= static_cast<int>(m_pages.size())) return;
    m_pages[static_cast<std::size_t>(group)] = qBound(0, page, pageCount(group) - 1);
}

void MultiplesLayout::sortAll() {
    m_orders.assign(m_groups.size(), {});
    m_pages.resize(m_groups.size(), 0);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        auto& order = m_orders[g];
        const auto& items = m_groups[g].items;
        order.resize(items.size());
        std::iota(order.begin(), order.end(), 0);
        if (m_byMeasure)
            std::stable_sort(order.begin(), order.end(), [&items](int a, int b) {
                const float x = items[static_cast<std::size_t>(a)].measure;
                const float y = items[static_cast<std::size_t>(b)].measure;
                return std::isnan(y) ? !std::isnan(x) : x > y;
            });
        setPage(static_cast<int>(g), m_pages[g]);
    }
    turnToCurrent();
}

bool MultiplesLayout::turnToCurrent() {
    const auto before = m_pages;
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        for (std::size_t place = 0; place < m_orders[g].size(); ++place)
            if (isCurrent(m_groups[g].items[static_cast<std::size_t>(m_orders[g][place])]))
                m_pages[g] = static_cast<int>(place) / pageSize;
    return before != m_pages;
}

int MultiplesLayout::pageCount(int group) const {
    const auto items = static_cast<int>(m_groups[static_cast<std::size_t>(group)].items.size());
    return qMax(1, (items + pageSize - 1) / pageSize);
}

const MultipleItem& MultiplesLayout::item(const Slot& slot) const {
    return m_groups[static_cast<std::size_t>(slot.group)]
        .items[static_cast<std::size_t>(slot.item)];
}

void MultiplesLayout::setEdited(const Which& moved, const Which& out) {
    for (auto& group : m_groups)
        for (auto& item : group.items) {
            item.moved = moved(item.kind, item.index);
            item.out = out(item.kind, item.index);
        }
}

void MultiplesLayout::setCells(const Slot& slot, const QImage& cells, MapValues::Mask mask) {
    MultipleItem& item =
        m_groups[static_cast<std::size_t>(slot.group)].items[static_cast<std::size_t>(slot.item)];
    item.cells = cells;
    item.mask = mask;
}

int MultiplesLayout::currentSlot() const {
    for (std::size_t k = 0; k < m_places.size(); ++k)
        if (isCurrent(item(m_places[k]))) return static_cast<int>(k);
    return -1;
}

int MultiplesLayout::neighbour(int slot, bool down) const {
    const QPoint from = m_places[static_cast<std::size_t>(slot)].picture.center();
    int best = 1 << 30;
    for (std::size_t k = 0; k < m_places.size(); ++k) {
        const QPoint to = m_places[k].picture.center();
        const int away = down ? to.y() - from.y() : from.y() - to.y();
        if (away < 20) continue;
        const int cost = away * 4 + qAbs(to.x() - from.x());
        if (cost < best) {
            best = cost;
            slot = static_cast<int>(k);
        }
    }
    return slot;
}

int MultiplesLayout::arrange(const std::vector<MultipleGroup>& all, int wide, int picture,
                             Breaks breaks, MultiplesLayout* keep) {
    const int each = columnWidth(wide, breaks);
    int x = 0, y = 0, highest = 0;
    for (int g = 0; g < static_cast<int>(all.size()); ++g) {
        if (g > 0 && breaks >> (g - 1) & 1U) {
            x += each + columnGap;
            y = 0;
        }
        y += arrangeGroup(all[static_cast<std::size_t>(g)], g, QPoint(x, y), each, picture, keep);
        highest = qMax(highest, y);
    }
    return highest;
}

int MultiplesLayout::arrangeGroup(const MultipleGroup& group, int g, const QPoint& at, int wide,
                                  int picture, MultiplesLayout* keep) {
    const int items = static_cast<int>(group.items.size());
    int y = at.y();
    if (keep) {
        keep->m_heads.emplace_back(at.x(), y, wide, titleHeight);
        if (items > pageSize) {
            keep->m_turns.push_back({g, -1, QRect(at.x() + wide - 46, y, 20, 20)});
            keep->m_turns.push_back({g, 1, QRect(at.x() + wide - 22, y, 20, 20)});
        }
    }
    y += titleHeight;
    if (items == 0)
        return y - at.y() + groupGap + 4 +
               QFontMetrics(smallFont())
                   .boundingRect(QRect(0, 0, wide, 200), Qt::TextWordWrap, group.absence)
                   .height();
    int cell = 0;
    for (const auto& item : group.items) cell = qMax(cell, qMax(shown(item, picture).width(), 34));
    const int stride = cell + 8;
    const int columns = qMax(1, (wide - 2 * margin + 8) / stride);
    const int first = keep ? keep->page(g) * pageSize : 0;
    const int last = qMin(first + pageSize, items);
    int high = 0;
    for (int place = first; place < last; ++place) {
        const int k = place - first;
        if (k > 0 && k % columns == 0) {
            y += high + labelHeight + 6;
            high = 0;
        }
        const int item = keep ? keep->order(g)[static_cast<std::size_t>(place)] : place;
        const QSize size = shown(group.items[static_cast<std::size_t>(item)], picture);
        if (keep)
            keep->m_places.push_back(
                {g, item, QRect(QPoint(at.x() + margin + k % columns * stride, y + margin), size)});
        high = qMax(high, size.height());
    }
    return y + high + labelHeight + groupGap - at.y();
}

/// Finds the largest pictures with which all groups fit into the box without scrolling, and the
/// arrangement of groups.
std::pair<int, MultiplesLayout::Breaks> MultiplesLayout::bestFit(
    const std::vector<MultipleGroup>& all, const QSize& box) {
    std::pair<int, Breaks> best{smallestSide, 0};
    const Breaks ways = all.empty() ? 1U : 1U << (all.size() - 1);
    for (Breaks breaks = 0; breaks < ways; ++breaks) {
        const int each = columnWidth(box.width(), breaks);
        if (breaks != 0 && each < narrowestColumn) continue;
        const auto fitsIn = [&](int picture) {
            return arrange(all, box.width(), picture, breaks, nullptr) <= box.height();
        };
        int fits = best.first, tooLarge = qMax(fits, each - 2 * margin) + 1;
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

int MultiplesLayout::layOut(int wide, const QSize& box) {
    m_places.clear();
    m_turns.clear();
    m_heads.clear();
    const auto [picture, breaks] = bestFit(m_groups, box);
    m_side = picture;
    return arrange(m_groups, wide, m_side, breaks, this);
}

bool MultiplesLayout::wrongResolution() const {
    for (const auto& group : m_groups)
        for (const auto& item : group.items) {
            if (item.cells.isNull()) continue;
            const int most = qMax(shapeOf(item).width(), shapeOf(item).height());
            const int block = blockFor(most, m_side);
            if ((most + block - 1) / block != qMax(item.cells.width(), item.cells.height()))
                return true;
        }
    return false;
}

int MultiplesLayout::sideFor(const std::vector<MultipleGroup>& groups, const QSize& box) {
    return bestFit(groups, box).first;
}

int MultiplesLayout::blockFor(int cells, int side) {
    const int most = side + side / 6;  // a cell a pixel is worth a slightly larger picture
    return cells <= most ? 1 : (cells + most - 1) / most;
}

}  // namespace relascope::widgets
