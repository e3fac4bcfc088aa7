// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_lines.h"

#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// Lines with more points are drawn thin and without antialiasing.
constexpr int kDense = 20000;

QColor faint(QColor color, float alpha) {
    color.setAlphaF(alpha);
    return color;
}

std::vector<double> column(const QCPGraph& graph, double QCPGraphData::*field) {
    std::vector<double> values;
    for (const auto& point : *graph.data()) values.push_back(point.*field);
    return values;
}

}  // namespace

std::optional<PowerLaw> CurveLines::law(std::size_t curve) const {
    return drawsLaws() ? m_sets[curve].fit : std::nullopt;
}

void CurveLines::style(std::size_t i) {
    const QColor color = Theme::current().seriesColor(m_curves[i].colorIndex);
    const double more = m_curves[i].highlighted && m_curves.size() > 1 ? 0.5 : 0.0;
    for (int v = 0; v < 2; ++v) {
        QPen pen(color, (v == 1 ? 1.75 : 1.5) + more);
        if (v == 0) {
            pen.setDashPattern({5 / pen.widthF(), 3 / pen.widthF()});
            pen.setCapStyle(Qt::FlatCap);
        }
        // A long noisy line fills its columns of pixels; dashing it would cost much and show
        // nothing.
        const bool dense = m_sets[i].line[v]->data()->size() > kDense;
        if (dense) pen = QPen(color, 1);
        m_sets[i].line[v]->setPen(pen);
        m_sets[i].line[v]->setAntialiased(!dense);
        m_sets[i].raw[v]->setPen(QPen(faint(color, 0.35f), 1));
        m_sets[i].raw[v]->setAntialiased(m_sets[i].raw[v]->data()->size() <= kDense);
        QPen law(color, 1.25);
        law.setDashPattern({1.5, 3.0});
        m_sets[i].law->setPen(law);
        m_sets[i].low[v]->setPen(Qt::NoPen);
        m_sets[i].high[v]->setPen(Qt::NoPen);
        m_sets[i].high[v]->setBrush(QBrush(faint(color, 0.18f)));
    }
}

void CurveLines::rebuild() {
    m_plot.clearGraphs();
    m_sets.clear();
    m_curves = m_model.curves(metric);
    for (const Curve& curve : m_curves) {
        Set set{};
        set.law = m_plot.addGraph();  // first, so behind
        set.law->setSelectable(QCP::stNone);
        for (int v = 0; v < 2; ++v) {
            for (QCPGraph** graph : {&set.low[v], &set.high[v], &set.raw[v], &set.line[v]}) {
                *graph = m_plot.addGraph();
                (*graph)->setAdaptiveSampling(true);
                (*graph)->setSelectable(QCP::stNone);
            }
            set.high[v]->setChannelFillGraph(set.low[v]);
            set.cuts[v] = curve.members.front()->split(v == 1).cuts();
        }
        m_sets.push_back(set);
    }
    restyle();
}

void CurveLines::put(Set& set, int v, QCPGraph* graph, const std::vector<double>& keys,
                     const std::vector<double>& values, std::size_t from) {
    QVector<QCPGraphData> fresh;
    fresh.reserve(static_cast<qsizetype>(keys.size() - from));
    for (std::size_t i = from; i < keys.size(); ++i) {
        if (m_model.logX && !(keys[i] > 0.0)) continue;  // a logarithm has no place for step 0
        const double value = logY() && !(values[i] > 0.0) ? NAN : values[i];
        fresh.append(QCPGraphData(keys[i], value));
        if (std::isnan(value)) continue;
        if (!set.any[v]) set.values[v] = {value, value};
        set.any[v] = true;
        set.values[v].expand(value);
    }
    graph->data()->add(fresh, true);
}

void CurveLines::fill(std::size_t index) {
    const Curve& curve = m_curves[index];
    Set& set = m_sets[index];
    for (int v = 0; v < 2; ++v) {
        const auto series = curve.series(v == 1);
        std::size_t total = 0;
        unsigned cuts = 0;
        for (const auto* member : curve.members) {
            total += member->split(v == 1).size();
            cuts += member->split(v == 1).cuts();
        }
        if (total == set.done[v] && cuts == set.cuts[v]) continue;
        const bool restart = curve.members.size() > 1 || cuts != set.cuts[v];
        if (restart) {
            for (QCPGraph* graph : {set.line[v], set.raw[v], set.low[v], set.high[v]})
                graph->data()->clear();
            set.done[v] = 0;
            set.any[v] = false;
        }
        if (curve.members.size() > 1) {
            const CurveBand band =
                bandOf(series, metric, m_model.axis, m_model.usedBeta(), m_model.band);
            put(set, v, set.line[v], band.keys, band.mean, 0);
            if (series.size() > 1) {
                put(set, v, set.low[v], band.keys, band.low, 0);
                put(set, v, set.high[v], band.keys, band.high, 0);
            }
        } else if (!series.empty()) {
            const auto& keys = series[0]->keys(m_model.axis);
            put(set, v, set.line[v], keys, series[0]->smoothed(metric, m_model.usedBeta()),
                set.done[v]);
            if (m_model.smooth)
                put(set, v, set.raw[v], keys, series[0]->values(metric), set.done[v]);
        }
        const bool wasDense = set.done[v] > kDense;
        set.done[v] = total;
        set.cuts[v] = cuts;
        if (wasDense != (total > kDense) || restart) style(index);
    }
    for (int v = 0; v < 2; ++v) {
        const bool shown = v == 1 || m_model.showTraining;
        for (QCPGraph* graph : {set.line[v], set.raw[v], set.low[v], set.high[v]})
            graph->setVisible(shown);
    }
}

/// Laws are drawn far beyond the fitted range, to show where a curve deviates from them.
void CurveLines::placeLaws() {
    const bool shown = drawsLaws();
    for (std::size_t i = 0; i < m_sets.size(); ++i) {
        Set& set = m_sets[i];
        set.law->setVisible(shown);
        if (!shown) continue;
        const std::size_t points = set.done[0] + set.done[1];
        if (set.fitted != points) {
            set.fit = m_curves[i].powerLaw();
            set.fitted = points;
        }
        QVector<QCPGraphData> data;
        if (set.fit && set.fit->first > 0.0) {
            constexpr int pieces = 60;
            const double low = set.fit->first / 100.0, high = set.fit->last * 100.0;
            for (int k = 0; k <= pieces; ++k) {
                const double n = low * std::pow(high / low, static_cast<double>(k) / pieces);
                data.append(QCPGraphData(n, set.fit->at(n)));
            }
        }
        set.law->data()->set(data, true);
    }
}

/// The extent of a line, or of its part from `from` on. Large losses that would squeeze all
/// others are left out and kept in `cut`: the highest 2 % of a long line, and the point of the
/// untrained model, which a short line begins with.
QCPRange CurveLines::extentOf(std::size_t i, int v, double from, double* cut) const {
    const Set& set = m_sets[i];
    const auto& data = *set.line[v]->data();
    QCPRange range = set.values[v];
    const bool robust = m_model.withoutOutliers && !logY() && metricInfo(metric).lowerIsBetter;
    const bool part = from > data.constBegin()->key;
    if (!robust && !part) return range;
    const auto begin = part ? data.findBegin(from, false) : data.constBegin();
    const auto count = static_cast<std::size_t>(data.constEnd() - begin);
    const std::size_t stride = 1 + count / 20000;
    std::vector<double> values;
    for (std::size_t k = 0; k < count; k += stride) {
        const double value = (begin + static_cast<std::ptrdiff_t>(k))->value;
        if (!std::isnan(value)) values.push_back(value);
    }
    if (values.empty()) return part ? QCPRange(NAN, NAN) : range;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (part) range = {*low, *high};
    double usual = range.upper;
    constexpr std::size_t fewest = 20;
    if (robust && values.size() >= fewest) {
        const auto place = values.begin() + static_cast<std::ptrdiff_t>(
                                                0.98 * static_cast<double>(values.size() - 1));
        std::nth_element(values.begin(), place, values.end());
        usual = *place;
    } else if (robust && values.size() > 2 && !part && untrainedFirst(i, v)) {
        usual = *std::max_element(values.begin() + 1, values.end());
    }
    if (range.upper - range.lower > 2.0 * (usual - range.lower)) {
        if (!(*cut >= range.upper)) *cut = range.upper;
        range.upper = usual;
    }
    return range;
}

bool CurveLines::untrainedFirst(std::size_t i, int v) const {
    for (const auto* s : m_curves[i].series(v == 1))
        if (s->keys(CurveAxis::Step).front() <= 0.0) return true;
    return false;
}

void CurveLines::update() {
    for (std::size_t i = 0; i < m_sets.size(); ++i) fill(i);
    placeLaws();
}

void CurveLines::restyle() {
    for (std::size_t i = 0; i < m_sets.size(); ++i) style(i);
}

QCPRange CurveLines::valueRange(double from, double* cut) const {
    QCPRange range;
    range.lower = range.upper = NAN;
    for (std::size_t i = 0; i < m_sets.size(); ++i)
        for (int v = 0; v < 2; ++v)
            if (m_sets[i].any[v] && (v == 1 || m_model.showTraining))
                range.expand(extentOf(i, v, from, cut));
    return range;
}

std::vector<PgfSeries> CurveLines::pgfSeries() const {
    std::vector<PgfSeries> all;
    for (std::size_t i = 0; i < m_sets.size(); ++i)
        for (const int v : {1, 0}) {
            const Set& set = m_sets[i];
            if (!set.any[v] || (v == 0 && !m_model.showTraining)) continue;
            PgfSeries series;
            series.name = m_curves[i].name +
                          (v == 1 ? QStringLiteral(", validation") : QStringLiteral(", training"));
            series.color = Theme::current().seriesColor(m_curves[i].colorIndex);
            series.dashed = v == 0;
            series.x = column(*set.line[v], &QCPGraphData::key);
            series.y = column(*set.line[v], &QCPGraphData::value);
            if (set.low[v]->data()->size() == set.line[v]->data()->size()) {
                series.low = column(*set.low[v], &QCPGraphData::value);
                series.high = column(*set.high[v], &QCPGraphData::value);
            }
            all.push_back(std::move(series));
        }
    return all;
}

}  // namespace relascope::widgets
