// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes, sub-control rectangles, style hints and icons of controls; painting is in style.h.
#pragma once

#include <QProxyStyle>

namespace relascope::widgets {

class StyleMetrics : public QProxyStyle {
public:
    StyleMetrics();

    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                         const QWidget* widget) const override;
    QRect subElementRect(SubElement element, const QStyleOption* option,
                         const QWidget* widget) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                           const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option,
                    const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* result) const override;
    QIcon standardIcon(StandardPixmap standard, const QStyleOption* option,
                       const QWidget* widget) const override;
};

}  // namespace relascope::widgets
