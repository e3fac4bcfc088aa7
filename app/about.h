// SPDX-License-Identifier: GPL-3.0-or-later
// Version and licences.
#pragma once

#include <QString>

class QWidget;

namespace relascope::app {

void showAbout(QWidget* parent);
void copyText(const QString& text);

}  // namespace relascope::app
