// SPDX-License-Identifier: GPL-3.0-or-later
// One measure of every map of a model: a cell a map, the first layer at the bottom, kinds side by
// side.
#pragma once

#include <QImage>
#include <QWidget>
#include <functional>
#include <vector>

#include "widgets/maps/color_map.h"
#include "widgets/maps/map_values.h"

namespace relascope::widgets {

struct OverviewBlock {
    MapKind kind = MapKind::Relation;
    QString title;  ///< short: "r", "sens."
    int columns = 0;
    std::vector<float> values;  ///< [layers, columns]; NaN: unknown, or no such map
    bool operator==(const OverviewBlock&) const = default;
};

class OverviewView : public QWidget {
    Q_OBJECT
public:
    explicit OverviewView(QWidget* parent = nullptr);

    /// What is at the pointer.
    std::function<QString(const MapId&)> tip;

    /// Each block has a colour scale of its own: weights and relations are different quantities.
    void setBlocks(int layers, std::vector<OverviewBlock> blocks, const QString& measure);
    const std::vector<OverviewBlock>& blocks() const { return m_blocks; }
    void setCurrent(const MapId& map);
    /// The cell of a map; empty if there is none.
    QRect cellRect(const MapId& map) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);  ///< by a click or the keyboard

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QRect blockRect(std::size_t block) const;
    int rowHeight() const;
    /// The row of a layer from the top, as in the choice of the layer beside it.
    int rowOf(int layer) const { return m_layers - 1 - layer; }
    /// Whether there is a map at the point.
    bool at(const QPoint& point, MapId* map) const;
    bool exists(const MapId& map) const;
    void colour();
    void describe();

    int m_layers = 0;
    std::vector<OverviewBlock> m_blocks;
    std::vector<QImage> m_images;
    QString m_measure;
    MapId m_current;
};

}  // namespace relascope::widgets
