// SPDX-License-Identifier: GPL-3.0-or-later
// Which layer: a vertical line of dots, the first layer at the bottom as in drawings of networks.
#pragma once

#include <QStringList>
#include <QWidget>

namespace relascope::widgets {

class LayerSlider : public QWidget {
    Q_OBJECT
public:
    explicit LayerSlider(QWidget* parent = nullptr);

    void setLayers(int layers);  ///< how many, called "layer 1" and so on
    void setLayers(const QStringList& names);
    QString nameOf(int layer) const;
    void setCurrent(int layer);  ///< from 0; emits no signal
    int layers() const { return m_layers; }
    int current() const { return m_current; }
    QPoint positionOf(int layer) const;  ///< centre of its dot

    QSize sizeHint() const override { return {m_width, 110}; }
    QSize minimumSizeHint() const override { return {m_width, 60}; }

Q_SIGNALS:
    void chosen(int layer);  ///< by the user

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    int layerAt(const QPoint& point) const;
    void choose(int layer);
    QString shortName(int layer) const;
    QStringList m_names;
    int m_width = 44;
    int m_layers = 0;
    int m_current = 0;
};

}  // namespace relascope::widgets
