// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/export/figure.h"
#include "widgets/study/efficiency_data.h"
#include "widgets/study/study_legend.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void EfficiencyData::place() {
    spots.clear();
    beside.clear();
    for (const auto& point : points) {
        const auto [row, column] = layout.place(QString::fromStdString(point.series), point.size);
        if (row >= 0 && std::isfinite(point.mean))
            spots.push_back({row, column, xOf(row, column), point});
    }
    for (const auto& point : published) {
        const int row = layout.row(QString::fromStdString(point.series));
        if (row < 0 || !layout.sizesAcross()) continue;
        if (!oneColumn()) {
            beside.push_back({row, static_cast<double>(point.size), point});
        } else if (layout.place(QString::fromStdString(point.series), point.size).column == 0) {
            beside.push_back({row, row - 0.16, point});
        }
    }
    const auto byX = [](const auto& a, const auto& b) {
        return std::pair(a.row, a.x) < std::pair(b.row, b.x);
    };
    std::sort(spots.begin(), spots.end(), byX);
    std::sort(beside.begin(), beside.end(), byX);
}

bool EfficiencyData::canLog() const {
    if (categorical()) return false;
    return std::all_of(layout.columns().begin(), layout.columns().end(),
                       [](const auto& column) { return column.x > 0.0; });
}

double EfficiencyData::xOf(int row, int column) const {
    if (oneColumn()) return row;
    if (layout.numeric()) return layout.columns()[static_cast<std::size_t>(column)].x;
    // Side by side around the column.
    const auto rows = static_cast<double>(layout.rows().size());
    return column + (row - (rows - 1.0) / 2.0) * std::min(0.25, 0.8 / rows);
}

QString studyBandName(StudyBand band) {
    switch (band) {
        case StudyBand::Interval:
            return QStringLiteral("95 % (Student\u2019s t)");
        case StudyBand::TwoErrors:
            return QStringLiteral("\u00B1 2 s.e., as the papers");
        case StudyBand::None:
            break;
    }
    return QStringLiteral("none");
}

std::pair<double, double> EfficiencyData::ends(const StudyPoint& p) const {
    if (band == StudyBand::None || std::isnan(p.error)) return {NAN, NAN};
    if (band == StudyBand::Interval) return {p.low, p.high};
    return {p.mean - 2.0 * p.error, p.mean + 2.0 * p.error};
}

const EfficiencyData::Spot* EfficiencyData::at(int row, int column) const {
    for (const Spot& spot : spots)
        if (spot.row == row && spot.column == column) return &spot;
    return nullptr;
}

QString EfficiencyData::text(const Spot& spot) const {
    const auto& p = spot.point;
    const QString unit = metric.percent ? QStringLiteral(" %") : QString();
    const QString error = std::isnan(p.error) ? QString() : QStringLiteral(" (s.e.)");
    QString text =
        QStringLiteral("%1, %2\n%3%4 over %5")
            .arg(layout.rows()[static_cast<std::size_t>(spot.row)].name,
                 layout.columnText(spot.column), metric.text(p.mean, p.error), unit + error,
                 p.values.size() == 1 ? QStringLiteral("one run")
                                      : QStringLiteral("%1 runs").arg(p.values.size()));
    const auto [low, high] = ends(p);
    if (!std::isnan(low))
        text += QStringLiteral("\n%1: %2 to %3%4")
                    .arg(studyBandName(band), metric.text(low), metric.text(high), unit);
    for (const Published& other : beside)
        if (other.row == spot.row && other.point.size == p.size && shows(other))
            text +=
                QStringLiteral("\n%1 %2%3")
                    .arg(curveSourceTitle(other.point.source), metric.text(other.point.mean), unit);
    return text;
}

QString EfficiencyData::text(const Published& p) const {
    return QStringLiteral("%1, %2, %3 training examples\n%4%5")
        .arg(layout.rows()[static_cast<std::size_t>(p.row)].name, curveSourceTitle(p.point.source),
             groupedNumber(p.point.size),
             metric.text(p.point.mean, p.point.error > 0.0 ? p.point.error : NAN),
             (metric.percent ? QStringLiteral(" %") : QString()) +
                 (p.point.error > 0.0 ? QStringLiteral(" (s.e.)") : QString()));
}

QString EfficiencyData::pgfplots(const QString& caption) const {
    const auto& rows = layout.rows();
    const double scale = metric.percent ? 100.0 : 1.0;
    const QString title = metric.percent ? metric.title() + QStringLiteral(", %") : metric.title();
    if (oneColumn()) {  // a mean a model
        PgfBars bars;
        bars.yLabel = title;
        bars.color = Theme::current().seriesColor(0);
        for (const auto& spot : spots) {
            bars.labels << rows[static_cast<std::size_t>(spot.row)].name;
            bars.values.push_back(scale * spot.point.mean);
        }
        return pgfplotsText(caption, bars);
    }
    PgfPlot plot;
    plot.xLabel = layout.axisTitle();
    plot.yLabel = title;
    plot.logX = logs();
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        PgfSeries series;
        series.name = rows[static_cast<std::size_t>(row)].name;
        series.color = Theme::current().seriesColor(row);
        for (const auto& spot : spots) {
            if (spot.row != row) continue;
            const auto [low, high] = ends(spot.point);
            series.x.push_back(spot.x);
            series.y.push_back(scale * spot.point.mean);
            if (std::isnan(low)) continue;
            series.low.push_back(scale * low);
            series.high.push_back(scale * high);
        }
        const QString name = series.name;
        if (!series.x.empty()) plot.series.push_back(std::move(series));
        for (const auto source : {CurveSource::Published, CurveSource::Relascope}) {
            PgfSeries other;
            other.name =
                name + (source == CurveSource::Published ? QStringLiteral(", published")
                                                         : QStringLiteral(", Relascope's own"));
            other.color = Theme::current().seriesColor(row);
            other.dashed = true;
            for (const auto& p : beside)
                if (p.row == row && p.point.source == source && shows(p)) {
                    other.x.push_back(p.x);
                    other.y.push_back(scale * p.point.mean);
                }
            if (!other.x.empty()) plot.series.push_back(std::move(other));
        }
    }
    return pgfplotsText(caption, std::vector<PgfPlot>{plot});
}

namespace {

QCPScatterStyle scatter(int series, const QColor& color, double size, bool open) {
    static constexpr QCPScatterStyle::ScatterShape shapes[] = {
        QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare, QCPScatterStyle::ssDiamond,
        QCPScatterStyle::ssTriangleInverted, QCPScatterStyle::ssTriangle};
    return QCPScatterStyle(shapes[static_cast<int>(studyMarker(series))], QPen(color, 1.25),
                           QBrush(open ? Theme::current().panel : color), size);
}

QColor lighter(QColor color, double alpha) {
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
    over->setBrush(QBrush(lighter(Theme::current().seriesColor(row), 0.18)));
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
    dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(lighter(color, 0.6), 1),
                                          QBrush(lighter(color, 0.25)), 5.0));
    dots->setSelectable(QCP::stNone);
}

}  // namespace relascope::widgets
