// SPDX-License-Identifier: GPL-3.0-or-later
// The graphs of an EfficiencyPlot: bands, published curves, means, and a dot per run. Private to
// widgets/study.
#pragma once

#include "widgets/curves/qcp.h"
#include "widgets/study/efficiency_data.h"

namespace relascope::widgets {

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
