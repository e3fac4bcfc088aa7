// The colour scale of a map with its ends, its zero and the words that say what the numbers are.
#pragma once

#include <QWidget>

#include "widgets/maps/color_map.h"

namespace relascope {

class ColorBar : public QWidget {
    Q_OBJECT
public:
    explicit ColorBar(QWidget* parent = nullptr);

    void setScale(const ColorScale& scale);
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
    ColorScale m_scale;
    QString m_caption;
    float m_mark;
};

/// Draws a text in which "_x" is set lower, centred in `box`; used wherever r_ij is named.
void drawSubscripted(QPainter& painter, const QRectF& box, const QString& text);

}  // namespace relascope
