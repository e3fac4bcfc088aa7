// SPDX-License-Identifier: GPL-3.0-or-later
// The colour scale of a map with its ends, its zero and the words that say what the numbers are.
#pragma once

#include <QWidget>

#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class ColorBar : public QWidget {
    Q_OBJECT
public:
    explicit ColorBar(QWidget* parent = nullptr);

    void setScale(const ColorScale& scale);
    /// Values that are coloured; where some lie beyond an end, that end is drawn as an arrow.
    void setExtent(const Extent& extent);
    const Extent& extent() const { return m_extent; }
    /// Whether values lie below (above) the scale.
    bool beyondLow() const { return m_extent.any && m_extent.low < m_scale.limits().low; }
    bool beyondHigh() const { return m_extent.any && m_extent.high > m_scale.limits().high; }
    /// "tanh r_ij, one scale for the layer"; what follows an underscore up to a space or comma is
    /// set lower. Empty: no second row.
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

/// Draws a text in which "_x" is set lower, centred in `box`; used wherever r_ij is named.
void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text);

}  // namespace relascope::widgets
