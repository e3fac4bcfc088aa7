// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/efficiency_graphs.h"

#include <algorithm>
#include <cmath>

#include "widgets/study/study_legend.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QCPScatterStyle scatter(int series, const QColor& color, double size, bool open) {
    static constexpr QCPScatterStyle::ScatterShape shapes[] = {
        QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare, QCPScatterStyle::ssDiamond,
        QCPScatterStyle::ssTriangleInverted, QCPScatterStyle::ssTriangle};
    return QCPScatterStyle(shapes[static_cast<int>(studyMarker(series))], QPen(color, 1.25),
                           QBrush(open ? Theme::current().panel : color), size);
}

QColor faint(QColor color, double alpha) {
    color.setAlphaF(static_cast<float>(alpha));
    return color;
}

}  // namespace

void EfficiencyGraphs::rebuild() {
    m_plot.clearPlottables();
    const int rows = static_cast<int>(m_data.layout.rows().size());
    if (!m_data.categorical())
        for (int row = 0; row < rows; ++row) addBand(row);
    for (const auto source : {CurveSource::Relascope, CurveSource::Published})
        for (int row = 0; row < rows; ++row) addBeside(row, source);
    for (int row = 0; row < rows; ++row) addMeans(row);
}

void EfficiencyGraphs::addBand(int row) {
    QVector<double> keys, low, high;
    for (const auto& spot : m_data.spots) {
        if (spot.row != row) continue;
        const auto [from, to] = m_data.ends(spot.point);
        keys += spot.x;
        low += from;
        high += to;
    }
    QCPGraph *under = m_plot.addGraph(), *over = m_plot.addGraph();
    under->setData(keys, low, true);
    over->setData(keys, high, true);
    under->setPen(Qt::NoPen);
    over->setPen(Qt::NoPen);
    over->setBrush(QBrush(faint(Theme::current().seriesColor(row), 0.18)));
    over->setChannelFillGraph(under);
    for (auto* graph : {under, over}) graph->setSelectable(QCP::stNone);
}

void EfficiencyGraphs::addBeside(int row, CurveSource source) {
    QVector<double> keys, values;
    for (const auto& p : m_data.beside)
        if (p.row == row && p.point.source == source && m_data.shows(p))
            keys += p.x, values += p.point.mean;
    if (keys.isEmpty()) return;
    QCPGraph* graph = m_plot.addGraph();
    graph->setData(keys, values, true);
    const QColor color = Theme::current().seriesColor(row);
    QPen pen(color, 1.25);
    pen.setDashPattern(studyDashes(source));
    pen.setCapStyle(Qt::FlatCap);
    graph->setPen(pen);
    graph->setLineStyle(m_data.oneColumn() ? QCPGraph::lsNone : QCPGraph::lsLine);
    graph->setScatterStyle(QCPScatterStyle(
        source == CurveSource::Published ? QCPScatterStyle::ssSquare : QCPScatterStyle::ssTriangle,
        QPen(color, 1.25), QBrush(Theme::current().panel), 6.0));
    graph->setSelectable(QCP::stNone);
}

void EfficiencyGraphs::addMeans(int row) {
    QVector<double> keys, values;
    for (const auto& spot : m_data.spots)
        if (spot.row == row) keys += spot.x, values += spot.point.mean;
    if (keys.isEmpty()) return;
    const QColor color = Theme::current().seriesColor(row);
    QCPGraph* graph = m_plot.addGraph();
    graph->setData(keys, values, true);
    graph->setPen(QPen(color, 1.75));
    graph->setLineStyle(m_data.categorical() ? QCPGraph::lsNone : QCPGraph::lsLine);
    graph->setScatterStyle(scatter(row, color, m_data.categorical() ? 8.5 : 7.5, row >= 8));
    graph->setSelectable(QCP::stNone);
    if (m_data.categorical()) addBars(row, graph);
}

void EfficiencyGraphs::addBars(int row, QCPGraph* means) {
    const QColor color = Theme::current().seriesColor(row);
    QVector<double> minus, plus, keys, values;
    // One dot per run, between this mean and the next one.
    const double aside =
        m_data.oneColumn()
            ? 0.16
            : 0.3 * std::min(0.25, 0.8 / static_cast<double>(m_data.layout.rows().size()));
    for (const auto& spot : m_data.spots) {
        if (spot.row != row) continue;
        const auto [low, high] = m_data.ends(spot.point);
        minus += std::isnan(low) ? 0.0 : spot.point.mean - low;
        plus += std::isnan(high) ? 0.0 : high - spot.point.mean;
        for (const double value : spot.point.values) keys += spot.x + aside, values += value;
    }
    if (m_data.band != StudyBand::None) {
        auto* bars = new QCPErrorBars(m_plot.xAxis, m_plot.yAxis);
        bars->setDataPlottable(means);
        bars->setData(minus, plus);
        bars->setPen(QPen(color, 1.5));
        bars->setWhiskerWidth(9);
        bars->setSymbolGap(0);
        bars->setSelectable(QCP::stNone);
    }
    QCPGraph* dots = m_plot.addGraph();
    dots->setData(keys, values);
    dots->setLineStyle(QCPGraph::lsNone);
    dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(faint(color, 0.6), 1),
                                          QBrush(faint(color, 0.25)), 5.0));
    dots->setSelectable(QCP::stNone);
}

}  // namespace relascope::widgets
