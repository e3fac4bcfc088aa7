// SPDX-License-Identifier: GPL-3.0-or-later
// The sample-efficiency curves as a picture, for the command line.
#pragma once

#include <QString>
#include <vector>

#include "types/study.h"
#include "widgets/study/study_layout.h"

namespace relascope::widgets {

/// Writes the curves to .png (300 dpi), .svg or .pdf. Returns false with a message in `error` on
/// failure. Needs a QApplication (on the offscreen platform, too).
bool renderStudy(const StudyLayout& layout, const StudyMetric& metric,
                 const std::vector<StudyPoint>& points,
                 const std::vector<PublishedPoint>& published, const QString& title,
                 const QString& path, QString* error);

}  // namespace relascope::widgets
