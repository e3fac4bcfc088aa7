// SPDX-License-Identifier: GPL-3.0-or-later
// The basic shapes of controls, for the style and for custom controls.
#pragma once

#include <QPainter>
#include <QStyle>

class QStyleOption;
class QStyleOptionButton;
class QStyleOptionTab;
class QStyleOptionSlider;
class QStyleOptionMenuItem;
class QStyleOptionProgressBar;
class QStyleOptionViewItem;

namespace relascope::widgets::paint {

inline constexpr qreal cornerRadius = 4.0;

/// A rounded box with a 1 px border inside `box`.
void frame(QPainter& painter, const QRect& box, const QColor& fill, const QColor& border,
           qreal radius = cornerRadius);
/// The 2 px accent ring just inside the border.
void focusRing(QPainter& painter, const QRect& box, qreal radius = cornerRadius);
enum class Direction { Up, Down, Left, Right };
/// A line chevron, 1.5 px, centred in `box`; `reach` is half its long side.
void chevron(QPainter& painter, const QRectF& box, Direction direction, const QColor& color,
             qreal reach = 4.0);
/// Whether the focus was moved by the keyboard; only then is a focus ring drawn. Fields have one
/// always.
bool keyboardFocus(const QWidget* widget);
bool keyboardFocus(const QStyleOption& option);
/// A dynamic bool property of the widget, or of its parent (the line edit inside a spin box).
bool flag(const QWidget* widget, const char* name);

/// Draws a text that is elided at the width of `box`.
void elidedText(QPainter& painter, const QRect& box, int flags, const QString& text,
                Qt::TextElideMode mode = Qt::ElideRight);
/// The square of 10 px in the colour of a series, with its top left corner at `at`.
void swatch(QPainter& painter, const QPointF& at, const QColor& color);
/// The focus frame of a table cell.
void cellFocus(QPainter& painter, const QStyleOptionViewItem& option);
/// The background of a table row: its selection and the line below.
void rowGround(QPainter& painter, const QStyleOptionViewItem& option);

void field(QPainter& painter, const QStyleOption& option, const QWidget* widget);
void button(QPainter& painter, const QStyleOption& option, const QWidget* widget);
void buttonLabel(QPainter& painter, const QStyleOptionButton& option, const QWidget* widget);
void toolButton(QPainter& painter, const QStyleOption& option, const QWidget* widget);
void checkBox(QPainter& painter, const QStyleOption& option);
void radioButton(QPainter& painter, const QStyleOption& option);
void tab(QPainter& painter, const QStyleOptionTab& option);
void scrollBar(QPainter& painter, const QStyleOptionSlider& option, const QRect& thumb);
void slider(QPainter& painter, const QStyleOptionSlider& option, const QRect& groove,
            const QRect& handle);
void menuItem(QPainter& painter, const QStyleOptionMenuItem& option);
void progress(QPainter& painter, const QStyleOptionProgressBar& option);

}  // namespace relascope::widgets::paint
