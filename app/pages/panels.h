// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts and backgrounds of panels.
#pragma once

#include <QVBoxLayout>

namespace relascope::app {

/// A column without gaps or margins.
inline QVBoxLayout* columnOf(QWidget* widget) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

/// Sets the background of content.
inline void paper(QWidget* widget) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(QPalette::Base);
}

}  // namespace relascope::app
