// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a picture of a map: those of the command inspect, and of views.
#pragma once

#include "types/field.h"
#include "types/view.h"

namespace relascope::core {

/// The choices of "form", "range" and "order" are in the order of widgets::Processing, Range and
/// MapOrder. MapLook::to and ::reversed are options of inspect alone.
const FieldTable<MapLook>& mapLookFields();

}  // namespace relascope::core
