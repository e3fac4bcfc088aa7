// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a CurvePlot: the graphs of each curve, and how they follow the model. Private to
// widgets/curves.
#pragma once

#include <optional>
#include <vector>

#include "widgets/curves/curve_data.h"
#include "widgets/curves/themed_plot.h"
#include "widgets/export/figure.h"

namespace relascope::widgets {

class CurveLines {
public:
    CurveLines(QCustomPlot& plot, const CurveModel& model) : m_plot(plot), m_model(model) {}

    CurveMetric metric = CurveMetric::Loss;
    bool logY() const { return m_model.logY && metricInfo(metric).lowerIsBetter; }
    const std::vector<Curve>& curves() const { return m_curves; }
    /// The law fitted to a curve, if it is drawn.
    std::optional<PowerLaw> law(std::size_t curve) const;

    void rebuild();  ///< new graphs for the curves of the model
    void update();   ///< adds the points that have arrived
    void restyle();  ///< takes the colours of the theme
    /// The extent of the values of all lines shown from the key `from` on. Large losses that would
    /// squeeze all others are left out and kept in `cut`.
    QCPRange valueRange(double from, double* cut) const;
    std::vector<PgfSeries> pgfSeries() const;

private:
    /// The graphs of one curve; index 0 training, 1 validation.
    struct Set {
        QCPGraph *line[2], *raw[2], *low[2], *high[2];
        std::size_t done[2] = {0, 0};
        unsigned cuts[2] = {0, 0};
        // Extent of what was put in, kept along: asking a graph would visit every point on every
        // frame.
        QCPRange values[2];
        bool any[2] = {false, false};
        QCPGraph* law = nullptr;  ///< the fitted power law, behind the others
        std::optional<PowerLaw> fit;
        std::size_t fitted = 0;  ///< points when it was fitted
    };
    bool drawsLaws() const { return metric == CurveMetric::Loss && m_model.drawsPowerLaw(); }
    void style(std::size_t i);
    void fill(std::size_t i);
    void put(Set& set, int v, QCPGraph* graph, const std::vector<double>& keys,
             const std::vector<double>& values, std::size_t from);
    void placeLaws();
    QCPRange extentOf(std::size_t i, int v, double from, double* cut) const;
    bool untrainedFirst(std::size_t i, int v) const;

    QCustomPlot& m_plot;
    const CurveModel& m_model;
    std::vector<Curve> m_curves;
    std::vector<Set> m_sets;
};

}  // namespace relascope::widgets
