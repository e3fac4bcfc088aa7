// SPDX-License-Identifier: GPL-3.0-or-later
// Small maps of a whole model, of which only the visible ones are painted, and made.
#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <functional>
#include <vector>

#include "widgets/maps/gallery_layout.h"

namespace relascope::widgets {

class GalleryView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit GalleryView(QWidget* parent = nullptr);

    /// The picture of a map in the given size; null while it is not made.
    std::function<QPixmap(const MapId&, const QSize&, qreal ratio)> picture;
    /// Below the picture, and at the pointer.
    std::function<QString(const MapId&)> label, tip;
    /// The columns and rows of a map.
    std::function<QSize(const MapId&)> shape;

    void setSections(std::vector<GallerySection> sections);
    /// In place of maps, if there are none.
    void setAbsence(const QString& sentence);
    /// Frames a map and scrolls to it.
    void setCurrent(const MapId& map);
    /// Repaints what is visible: pictures or labels changed.
    void refresh() { viewport()->update(); }
    const GalleryLayout& pictures() const { return m_layout; }
    /// The rectangle of a map in the viewport; empty if it is not listed.
    QRect mapRect(const MapId& map) const;
    /// The maps to make pictures of: the visible ones, then those around, the nearest first.
    std::vector<MapId> nearest() const;
    QWidget* canvas() const { return viewport(); }

    QSize sizeHint() const override { return {320, 240}; }
    QSize minimumSizeHint() const override { return {120, 60}; }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);  ///< by a click or the keyboard
    void moved();                                ///< other maps are visible

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent* event) override;

private:
    void arrange();
    void reveal(int index);
    void describe();
    void paintMap(QPainter& painter, const GalleryLayout::Place& place) const;
    int offset() const;

    GalleryLayout m_layout;
    MapId m_current;
    QString m_absence;
};

}  // namespace relascope::widgets
