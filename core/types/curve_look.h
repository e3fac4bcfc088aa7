// SPDX-License-Identifier: GPL-3.0-or-later
// How the curves of some runs, and those of a study, are looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

/// The names of axes and bands are choices of curveLookFields() (views/curve_look.h).
struct CurveLook {
    std::string title = "Curves";
    std::string axis = "step";
    bool log_x = false, log_y = false;  ///< logarithmic axes; log_y: that of the loss
    bool smooth = false;
    double smoothing = 0.8;  ///< s = smoothing s + (1 - smoothing) x
    bool no_training = false, no_published = false;
    bool power_law = false;
    std::string band = "min-max";       ///< band around the mean of several seeds
    bool outliers = false;              ///< very large losses set the vertical range, too
    bool recent = false;                ///< the last quarter of the axis
    std::string second;                 ///< the metric of the second plot; empty: what says most
    std::int64_t highlight = 0;         ///< the run in the foreground, from 1; 0: none
    std::vector<std::int64_t> colours;  ///< series colour of each run; empty: in their order
    bool operator==(const CurveLook&) const = default;
};

/// How the means of a study are shown; the names of bands are choices of studyLookFields().
struct StudyLook {
    std::string band = "confidence-95";  ///< band around the mean over seeds
    bool log_x = false;
    bool no_published = false;  ///< without the papers' curves
    bool reference = false;     ///< with the curves of this program's reference runs
    bool operator==(const StudyLook&) const = default;
};

}  // namespace relascope
