// SPDX-License-Identifier: GPL-3.0-or-later
// The contents of an EfficiencyPlot: the means of a study and published values, at their places in
// its layout. No painting. Private to widgets/study.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "widgets/curves/themed_plot.h"
#include "widgets/study/efficiency_plot.h"

namespace relascope::widgets {

struct EfficiencyData {
    /// A mean and its position along x.
    struct Spot {
        int row = 0, column = 0;
        double x = 0.0;
        StudyPoint point;
    };
    struct Published {
        int row = 0;
        double x = 0.0;
        PublishedPoint point;
    };

    StudyLayout layout;
    StudyMetric metric;
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    StudyBand band = StudyBand::Interval;
    std::array<bool, 2> shownSources = {true, false};  ///< by CurveSource
    bool wantsLog = false;
    // Computed by place() from the points:
    std::vector<Spot> spots;
    std::vector<Published> beside;

    void place();
    /// One column, or names: there is nothing between two places.
    bool categorical() const { return layout.columns().size() < 2 || !layout.numeric(); }
    /// A category is a series, not a column.
    bool oneColumn() const { return layout.columns().size() < 2; }
    bool canLog() const;
    bool logs() const { return wantsLog && canLog(); }
    double xOf(int row, int column) const;
    /// The ends of the band around a mean; NaN without one.
    std::pair<double, double> ends(const StudyPoint& point) const;
    const Spot* at(int row, int column) const;
    bool shows(const Published& p) const {
        return shownSources[static_cast<std::size_t>(p.point.source)];
    }
    /// The tooltips of a mean and of a published value.
    QString text(const Spot& spot) const;
    QString text(const Published& published) const;
    QString pgfplots(const QString& caption) const;
};

// The graphs of an EfficiencyPlot: bands, published curves, means, and a dot per run. Private to
// widgets/study.

class EfficiencyGraphs {
public:
    EfficiencyGraphs(QCustomPlot& plot, const EfficiencyData& data) : m_plot(plot), m_data(data) {}
    /// Replaces all graphs of the plot.
    void rebuild();

private:
    void addBand(int row);
    void addBeside(int row, CurveSource source);
    void addMeans(int row);
    void addBars(int row, QCPGraph* means);

    QCustomPlot& m_plot;
    const EfficiencyData& m_data;
};

}  // namespace relascope::widgets
