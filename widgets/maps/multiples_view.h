// SPDX-License-Identifier: GPL-3.0-or-later
// Every map of a layer as small multiples in groups, one click or arrow key to choose.
#pragma once

#include <QScrollArea>
#include <functional>
#include <utility>
#include <vector>

#include "widgets/maps/multiples_layout.h"

namespace relascope::widgets {

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
