// SPDX-License-Identifier: GPL-3.0-or-later
// Every map of a layer as small multiples in groups, one click or arrow key to choose.
#pragma once

#include <QScrollArea>
#include <vector>

#include "widgets/maps/multiples_layout.h"

namespace relascope::widgets {

class MultiplesView : public QScrollArea {
    Q_OBJECT
public:
    explicit MultiplesView(QWidget* parent = nullptr);

    void setGroups(std::vector<MultipleGroup> groups);
    /// Frames that item and turns to its page. A second one may be framed too (the head of alpha x
    /// r).
    void setCurrent(MapKind kind, int index);
    void setSecond(MapKind kind, int index);
    void clearSecond();
    void setSortByMagnitude(bool on);
    void setPage(int group, int page);
    /// Order, pages and the size of the pictures.
    const MultiplesLayout& pictures() const;
    /// Where an item stands on the inner widget; empty when its page is not shown.
    QRect itemRect(MapKind kind, int index) const;
    QWidget* canvas() const;

    /// Pixels a side that pictures of such groups get on the widget as large as it is now.
    int sideFor(const std::vector<MultipleGroup>& groups) const;

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

}  // namespace relascope::widgets
