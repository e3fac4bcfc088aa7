// SPDX-License-Identifier: GPL-3.0-or-later
// Where small maps in groups stand, in which order and on which pages. No painting, no widget.
#pragma once

#include <QImage>
#include <QRect>
#include <QString>
#include <utility>
#include <vector>

#include "widgets/maps/map_values.h"

namespace relascope::widgets {

/// One small picture.
struct MultipleItem {
    MapKind kind = MapKind::Relation;
    int index = 0;        ///< within its kind
    QString label;        ///< "r 1", "head 1"
    QImage cells;         ///< one pixel a cell, or a block of `blockFor` cells
    float magnitude = 0;  ///< largest |value|, for sorting
    MapValues::Mask mask = MapValues::Mask::None;  ///< that side of the picture is hatched
    QSize shape = {};  ///< columns and rows of the map; of `cells` where it is not said
};

struct MultipleGroup {
    QString title;    ///< "Relations of layer 2"
    QString absence;  ///< a sentence where there are no maps
    std::vector<MultipleItem> items;
    bool legend = false;  ///< a small colour bar 0..max beside the title
};

class MultiplesLayout {
public:
    static constexpr int pageSize = 16;
    /// Pixels that a picture has at least; more where all pictures then fit without scrolling.
    static constexpr int smallestSide = 62;
    static constexpr int titleHeight = 24;
    static constexpr int labelHeight = 18;
    static constexpr int margin = 3;  ///< room for the frame of the chosen picture

    struct Slot {
        int group = 0;
        int item = 0;
        QRect picture;
    };
    struct Turn {  ///< a page button
        int group = 0;
        int step = 0;
        QRect box;
    };

    void setGroups(std::vector<MultipleGroup> groups);
    /// Turns to the page of that item; true where another page is shown.
    bool setCurrent(MapKind kind, int index);
    void setSortByMagnitude(bool on);
    bool byMagnitude() const { return m_byMagnitude; }
    void setPage(int group, int page);

    const std::vector<MultipleGroup>& groups() const { return m_groups; }
    int page(int group) const { return m_pages.at(static_cast<std::size_t>(group)); }
    int pageCount(int group) const;
    /// Items in the order shown, all pages.
    const std::vector<int>& order(int group) const {
        return m_orders.at(static_cast<std::size_t>(group));
    }
    const MultipleItem& item(const Slot& slot) const;
    bool isCurrent(const MultipleItem& item) const {
        return item.kind == m_kind && item.index == m_index;
    }
    /// The slot of the current item; -1 where its page is not shown.
    int currentSlot() const;
    /// The slot above or below another; that one itself at the end.
    int neighbour(int slot, bool down) const;

    /// Places all for a widget `wide` pixels wide, as large as fits into `box` without scrolling;
    /// returns the height.
    int layOut(int wide, const QSize& box);
    const std::vector<Slot>& places() const { return m_places; }
    const std::vector<Turn>& turns() const { return m_turns; }
    const std::vector<QRect>& heads() const { return m_heads; }
    int side() const { return m_side; }
    /// Whether a picture has another number of cells a pixel than its size wants.
    bool wrongResolution() const;

    /// Pixels a side that pictures of such groups get in a box of that size.
    static int sideFor(const std::vector<MultipleGroup>& groups, const QSize& box);
    /// Cells a pixel for a map of `cells` a side in a picture of `side` pixels, or up to a sixth
    /// more.
    static int blockFor(int cells, int side);

private:
    /// How groups share the widget: bit g set, group g + 1 begins another column beside.
    using Breaks = unsigned;
    void sortAll();
    bool turnToCurrent();
    static std::pair<int, Breaks> bestFit(const std::vector<MultipleGroup>& groups,
                                          const QSize& box);
    /// Where everything stands with pictures of `picture` pixels on a widget `wide` pixels wide, to
    /// be kept in `keep`; returns the height. With nullptr only that counts.
    static int arrange(const std::vector<MultipleGroup>& groups, int wide, int picture,
                       Breaks breaks, MultiplesLayout* keep);
    static int arrangeGroup(const MultipleGroup& group, int g, const QPoint& at, int wide,
                            int picture, MultiplesLayout* keep);

    std::vector<MultipleGroup> m_groups;
    std::vector<std::vector<int>> m_orders;
    std::vector<int> m_pages;
    std::vector<Slot> m_places;
    std::vector<Turn> m_turns;
    std::vector<QRect> m_heads;  ///< of the groups, with their titles
    MapKind m_kind = MapKind::Relation;
    int m_index = 0;
    bool m_byMagnitude = false;
    int m_side = smallestSide;
};

}  // namespace relascope::widgets
