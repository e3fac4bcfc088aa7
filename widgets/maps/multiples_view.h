// SPDX-License-Identifier: GPL-3.0-or-later
// Every map of a layer as small multiples in groups, one click or arrow key to choose.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QImage>
#include <QRect>
#include <QScrollArea>
#include <QString>

#include "widgets/maps/map_values.h"

namespace relascope::widgets {

// Layout of small maps in groups: order, pages and rectangles. No painting, no widget.

/// One small picture.
struct MultipleItem {
    MapKind kind = MapKind::Relation;
    int index = 0;      ///< within its kind
    QString label;      ///< "r 1", "head 1"
    QImage cells;       ///< one pixel a cell, or a block of `blockFor` cells; null: not made yet
    float measure = 0;  ///< to sort by, the largest first; NaN: not known yet
    MapValues::Mask mask = MapValues::Mask::None;  ///< the hatched side of the picture
    QSize shape = {};    ///< columns and rows of the map; the size of `cells` if not set
    bool moved = false;  ///< marked at a corner: edits change the map
    bool out = false;    ///< hatched: edits take the map out
};

struct MultipleGroup {
    QString title;    ///< "Relations of layer 2"
    QString absence;  ///< message if there are no maps
    std::vector<MultipleItem> items;
    bool legend = false;  ///< a small colour bar 0..max beside the title
};

class MultiplesLayout {
public:
    static constexpr int pageSize = 16;
    /// Minimum size of a picture in pixels; larger if all pictures then fit without scrolling.
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
    /// Shows the page of an item; returns true if the page changed.
    bool setCurrent(MapKind kind, int index);
    void setSortByMeasure(bool on);
    bool byMeasure() const { return m_byMeasure; }
    void setPage(int group, int page);

    const std::vector<MultipleGroup>& groups() const { return m_groups; }
    int page(int group) const { return m_pages.at(static_cast<std::size_t>(group)); }
    int pageCount(int group) const;
    /// Items in the order shown, all pages.
    const std::vector<int>& order(int group) const {
        return m_orders.at(static_cast<std::size_t>(group));
    }
    const MultipleItem& item(const Slot& slot) const;
    /// Sets the picture of an item.
    void setCells(const Slot& slot, const QImage& cells, MapValues::Mask mask);
    using Which = std::function<bool(MapKind, int)>;
    void setEdited(const Which& moved, const Which& out);
    bool isCurrent(const MultipleItem& item) const {
        return item.kind == m_kind && item.index == m_index;
    }
    /// The slot of the current item; -1 where its page is not shown.
    int currentSlot() const;
    /// The slot above or below another one, or that one itself at the end.
    int neighbour(int slot, bool down) const;

    /// Lays out all pictures for a width of `wide` pixels, as large as fits into `box` without
    /// scrolling. Returns the height.
    int layOut(int wide, const QSize& box);
    const std::vector<Slot>& places() const { return m_places; }
    const std::vector<Turn>& turns() const { return m_turns; }
    const std::vector<QRect>& heads() const { return m_heads; }
    int side() const { return m_side; }
    /// Whether a picture has a different number of cells per pixel than its size requires.
    bool wrongResolution() const;

    /// Side length in pixels of the pictures of such groups in a box of that size.
    static int sideFor(const std::vector<MultipleGroup>& groups, const QSize& box);
    /// Cells per pixel for a map with side length `cells` in a picture of `side` pixels, or up to a
    /// sixth more.
    static int blockFor(int cells, int side);

private:
    /// The arrangement of groups: if bit g is set, group g + 1 begins another column.
    using Breaks = unsigned;
    void sortAll();
    bool turnToCurrent();
    static std::pair<int, Breaks> bestFit(const std::vector<MultipleGroup>& groups,
                                          const QSize& box);
    /// Computes the layout with pictures of `picture` pixels for a width of `wide`, stores it in
    /// `keep` unless that is nullptr, and returns the height.
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
    bool m_byMeasure = false;
    int m_side = smallestSide;
};

class MultiplesView : public QScrollArea {
    Q_OBJECT
public:
    explicit MultiplesView(QWidget* parent = nullptr);

    /// The text at the pointer; its label if not set.
    std::function<QString(const MultipleItem&)> tip;

    void setGroups(std::vector<MultipleGroup> groups);
    /// Frames an item and shows its page. A second item can be framed, too (the head of alpha x r).
    void setCurrent(MapKind kind, int index);
    void setSecond(MapKind kind, int index);
    void clearSecond();
    /// Marks maps that edits change or take out.
    void setEdited(const MultiplesLayout::Which& moved, const MultiplesLayout::Which& out);
    void setSortByMeasure(bool on);
    void setPage(int group, int page);
    /// Calls fill(item) for each visible item; it gives the picture and the masked side, or a null
    /// picture if there is none yet.
    using Filled = std::pair<QImage, MapValues::Mask>;
    void fillVisible(const std::function<Filled(const MultipleItem&)>& fill);
    /// Order, pages and the size of the pictures.
    const MultiplesLayout& pictures() const;
    /// The rectangle of an item on the inner widget; empty if its page is not shown.
    QRect itemRect(MapKind kind, int index) const;
    QWidget* canvas() const;

    /// Side length in pixels of the pictures of such groups at the current widget size.
    int sideFor(const std::vector<MultipleGroup>& groups) const;

Q_SIGNALS:
    void chosen(MapKind kind, int index);
    void menuRequested(MapKind kind, int index, const QPoint& at);  ///< `at` on the screen
    /// The picture size changed, so maps with more cells than pixels need other pictures.
    void resolutionChanged();
    void moved();  ///< another page is shown

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    class Canvas;
    Canvas* m_canvas;
};

}  // namespace relascope::widgets
