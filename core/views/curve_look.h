// SPDX-License-Identifier: GPL-3.0-or-later
// The options of pictures of curves: those of the commands curves and study, and of views.
#pragma once

#include "types/curve_look.h"
#include "types/field.h"

namespace relascope::core {

/// The choices of "axis" and "band" are in the order of widgets::CurveAxis and CurveBandKind.
const FieldTable<CurveLook>& curveLookFields();
/// The choices of "band" are in the order of widgets::StudyBand.
const FieldTable<StudyLook>& studyLookFields();

}  // namespace relascope::core
