// SPDX-License-Identifier: GPL-3.0-or-later
// The one door to QCustomPlot: its header uses bare signals, slots and foreach, which the project
// does not define. Include this from .cpp files only.
#pragma once

#include <QtCore/qglobal.h>
#include <QtCore/qobjectdefs.h>

// Qt's own keyword macros may be on (QT_NO_KEYWORDS unset): put them back afterwards.
#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("foreach")
#undef signals
#undef slots
#undef foreach
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("slots")
#pragma pop_macro("signals")
