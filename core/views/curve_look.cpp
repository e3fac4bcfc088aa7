// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/curve_look.h"

#include "types/metric.h"

namespace relascope::core {

const FieldTable<CurveLook>& curveLookFields() {
    static const FieldTable<CurveLook> table = [] {
        using namespace fields;
        using Look = CurveLook;
        std::vector<std::string> metrics = {""};
        for (const auto& metric : kMetrics) metrics.emplace_back(metric.key);
        return FieldTable<Look>{
            text(&Look::title, "title", "Title", "above the curves"),
            choice(&Look::axis, "axis", "Axis", "the horizontal axis",
                   {"step", "epoch", "time", "tokens"}),
            boolean(&Look::log_x, "log_x", "log x", "a logarithmic horizontal axis"),
            boolean(&Look::log_y, "log_y", "log y", "a logarithmic axis of the loss"),
            boolean(&Look::smooth, "smooth", "Smooth", "smoothed curves"),
            real(&Look::smoothing, "smoothing", "Smoothing",
                 "with --smooth: the share of the curve so far in each point", 0.0, 0.999),
            boolean(&Look::no_training, "no_training", "No training", "validation alone"),
            boolean(&Look::no_published, "no_published", "No published", "no published numbers"),
            boolean(&Look::power_law, "power_law", "Power law", "a power law behind each loss"),
            choice(&Look::band, "band", "Band", "around the mean of several seeds",
                   {"min-max", "standard-error", "confidence-95"}),
            boolean(&Look::outliers, "outliers", "Outliers",
                    "very large losses set the vertical range, too"),
            boolean(&Look::recent, "recent", "Recent", "the last quarter of the axis"),
            choice(&Look::second, "second", "Second plot",
                   "the metric of the second plot, such as grad_norm", std::move(metrics)),
            integer(&Look::highlight, "highlight", "Highlighted",
                    "the run in the foreground, from 1", 0, 1000),
            integers(&Look::colours, "colours", "Colours",
                     "the number of each run's colour, from 0", 0, 1000)};
    }();
    return table;
}

const FieldTable<StudyLook>& studyLookFields() {
    using namespace fields;
    using Look = StudyLook;
    static const FieldTable<Look> table{
        choice(&Look::band, "band", "Band", "of the figure: around the mean over seeds",
               {"confidence-95", "two-standard-errors", "none"}),
        boolean(&Look::log_x, "log_x", "log x", "of the figure: a logarithmic horizontal axis"),
        boolean(&Look::no_published, "no_published", "No published",
                "of the figure: without the papers' curves"),
        boolean(&Look::reference, "reference", "Relascope's own",
                "of the figure: with those of Relascope's reference runs")};
    return table;
}

}  // namespace relascope::core
