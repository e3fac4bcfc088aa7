// SPDX-License-Identifier: GPL-3.0-or-later
// The sample-efficiency curves as a picture of their own, for the command line.
#pragma once

#include <QString>
#include <vector>

#include "types/study.h"
#include "widgets/study/study_layout.h"

namespace relascope::widgets {

/// Writes the curves to .png (300 dpi), .svg or .pdf. False with a sentence in `error`. Needs a
/// QApplication (the offscreen platform will do).
bool renderStudy(const StudyLayout& layout, const StudyMetric& metric,
                 const std::vector<StudyPoint>& points,
                 const std::vector<PublishedPoint>& published, const QString& title,
                 const QString& path, QString* error);

}  // namespace relascope::widgets
