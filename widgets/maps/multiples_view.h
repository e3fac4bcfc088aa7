// SPDX-License-Identifier: GPL-3.0-or-later
// Every map of a layer as small multiples in groups, one click or arrow key to choose.
#pragma once

#include <QImage>
#include <QScrollArea>
#include <vector>

#include "widgets/maps/color_map.h"

namespace relascope {

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

class MultiplesView : public QScrollArea {
    Q_OBJECT
public:
    static constexpr int pageSize = 16;
    /// Pixels that a picture has at least; more where all pictures then fit without scrolling.
    static constexpr int smallestSide = 62;

    explicit MultiplesView(QWidget* parent = nullptr);

    void setGroups(std::vector<MultipleGroup> groups);
    /// Frames that item and turns to its page. A second one may be framed too (the head of alpha x
    /// r).
    void setCurrent(MapKind kind, int index);
    void setSecond(MapKind kind, int index);
    void clearSecond();
    void setSortByMagnitude(bool on);
    void setPage(int group, int page);
    int page(int group) const;
    int pageCount(int group) const;
    /// Items in the order shown, all pages.
    std::vector<int> order(int group) const;
    /// Where an item stands on the inner widget; empty when its page is not shown.
    QRect itemRect(MapKind kind, int index) const;
    QWidget* canvas() const;

    /// Pixels a side that pictures of such groups get on the widget as large as it is now.
    int sideFor(const std::vector<MultipleGroup>& groups) const;
    int side() const;
    /// Cells a pixel for a map of `cells` a side in a picture of `side` pixels, or up to a sixth
    /// more.
    static int blockFor(int cells, int side);

Q_SIGNALS:
    void chosen(MapKind kind, int index);
    /// The widget has another size, and maps with more cells than pixels want other pictures.
    void resolutionChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    class Canvas;
    Canvas* m_canvas;
};

}  // namespace relascope
