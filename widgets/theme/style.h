// SPDX-License-Identifier: GPL-3.0-or-later
// The style of controls: flat fills and 1 px lines based on Fusion, in the colours of the current
// theme.
#pragma once

#include "widgets/theme/style_metrics.h"

namespace relascope::widgets {

/// Dynamic properties it understands:
///  - "primary" (bool) on a QPushButton or QToolButton: accent fill, the one main action of a bar;
///  - "error" (bool) on a line edit, spin box or combo: error border and fill;
///  - "field" (bool) on a multi-line field: the border and focus ring of a line edit;
///  - "compact" (bool) on a QPushButton: 24 px high instead of 28;
///  - "framed" (bool) on a QToolButton: control border as a button has.
/// Heights: button 28, field 24, tab 35, menu bar 30. Call `update()` after changing a property.
class RelascopeStyle : public StyleMetrics {
    Q_OBJECT
public:
    void polish(QWidget* widget) override;
    using QProxyStyle::polish;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                            QPainter* painter, const QWidget* widget) const override;
};

}  // namespace relascope::widgets
