// SPDX-License-Identifier: GPL-3.0-or-later
// How panels of the window are put together.
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

/// The background of what is read.
inline void paper(QWidget* widget) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(QPalette::Base);
}

}  // namespace relascope::app
