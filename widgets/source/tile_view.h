// SPDX-License-Identifier: GPL-3.0-or-later
// Objects of a set or sequence as tiles in wrapping rows: captioned pictures, token texts, or
// vectors as small bars. The chosen i is outlined, the others are tinted by the value towards them.
#pragma once

#include <QAbstractScrollArea>

#include "widgets/source/linked_view.h"
#include "widgets/source/tile_layout.h"

namespace relascope::widgets {

class TileView : public QAbstractScrollArea, public LinkedView {
    Q_OBJECT
public:
    explicit TileView(QWidget* parent = nullptr);

    /// The same objects receive and send.
    void setObjects(TileGroup objects);
    /// Receivers above senders; without columns the senders are drawn elsewhere.
    void setSides(TileGroup rows, TileGroup columns);
    /// Objects that cannot be chosen.
    void setGroups(std::vector<TileGroup> groups);
    int rows() const { return m_layout.count(false); }    ///< number of receivers
    int columns() const { return m_layout.count(true); }  ///< number of senders
    /// The rectangle of a tile in the viewport, among the receivers or the senders.
    QRect tileRect(int index, bool sender = true) const;
    int contentHeight() const { return m_layout.height(); }
    QWidget* canvas() const { return viewport(); }

    QSize sizeHint() const override { return {252, 284}; }
    QSize minimumSizeHint() const override { return {96, 40}; }

Q_SIGNALS:
    void hovered(int index);       ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);    ///< a receiver that does not send; -1 when the pointer leaves
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< Shift with a click or an arrow key, or a click on a sender
    void laidOut();                ///< contentHeight changed

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

    int receivers() const override { return rows(); }
    int senders() const override { return columns(); }
    int pointedSender() const override { return sends(m_hover) ? m_hover.index : -1; }
    void touch(bool sender, int index) override;
    void touchAll() override { viewport()->update(); }
    void describe() override;
    void sourceMoved() override;

private:
    using Place = TileLayout::Place;
    void take(std::vector<TileSection> sections);
    void layOut();
    bool sends(const Place& place) const {
        return place.section >= 0 && m_layout.section(place).sends;
    }
    Place placeAt(const QPoint& point) const;
    void reveal(bool sender, int index);
    void setHover(const Place& place);
    void paintSection(QPainter& painter, const TileSection& section, const QRect& exposed);
    void paintTile(QPainter& painter, const TileSection& section, int index, const QRect& place);

    TileLayout m_layout;
    Place m_hover;
};

}  // namespace relascope::widgets
