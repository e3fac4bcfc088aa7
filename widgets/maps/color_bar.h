// SPDX-License-Identifier: GPL-3.0-or-later
// The colour scale of a map with its ends, its zero and a caption.
#pragma once

#include <QWidget>

#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class ColorBar : public QWidget {
    Q_OBJECT
public:
    explicit ColorBar(QWidget* parent = nullptr);

    void setScale(const ColorScale& scale);
    /// Sets the range of the colours, and the range of the values; an end exceeded by values is
    /// drawn as an arrow.
    void setExtent(const Extent& extent);
    const Extent& extent() const { return m_extent; }
    /// Whether values lie below (above) the scale.
    bool beyondLow() const { return m_extent.any && m_extent.low < m_scale.limits().low; }
    bool beyondHigh() const { return m_extent.any && m_extent.high > m_scale.limits().high; }
    /// "tanh r_ij, one scale for the layer"; text between an underscore and a space or comma is a
    /// subscript. Empty: no second row.
    void setCaption(const QString& caption);
    QString caption() const { return m_caption; }
    /// A value to mark on the bar with a line; NaN for none.
    void setMark(float value);
    /// The ends as shown: short, with a true minus sign.
    static QString endText(float value, bool isSigned);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void describe();

    ColorScale m_scale;
    Extent m_extent;
    QString m_caption;
    float m_mark;
};

/// Draws a text with "_x" as a subscript, centred in `box`; used for r_ij.
void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text);

}  // namespace relascope::widgets
