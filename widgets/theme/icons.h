// SPDX-License-Identifier: GPL-3.0-or-later
// Line icons of the window, drawn from own SVG files in the colours of the current theme.
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

namespace relascope::widgets {

/// The icon `resources/icons/NAME.svg`: text colour when enabled, faint when disabled, accent when
/// selected. It follows theme changes, so it needs to be set only once. An unknown name gives an
/// empty icon.
QIcon icon(const char* name);
/// An icon in one fixed colour (faint when disabled).
QIcon icon(const char* name, const QColor& color);
/// The program's own icon, in its own colours.
QIcon applicationIcon();

/// One drawing of an icon at `pixels` logical pixels and the given device pixel ratio.
QPixmap iconPixmap(const char* name, const QColor& color, int pixels = 16, qreal ratio = 1.0);

}  // namespace relascope::widgets
