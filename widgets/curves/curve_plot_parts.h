// SPDX-License-Identifier: GPL-3.0-or-later
// What a CurvePlot is made of: the QCustomPlot, its items and how they follow the model. Private to
// widgets/curves.
#pragma once

#include <QElapsedTimer>
#include <QPicture>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <tuple>
#include "widgets/curves/curve_items.h"
#include "widgets/curves/curve_legend.h"
#include "widgets/curves/curve_plot.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

constexpr int kLeft = 50, kRight = 24, kTop = 14, kBottom = 24;
const double nan = std::numeric_limits<double>::quiet_NaN();

/// The graphs of one curve; index 0 training, 1 validation.
struct CurveLines {
    QCPGraph *line[2], *raw[2], *low[2], *high[2];
    std::size_t done[2] = {0, 0};
    unsigned cuts[2] = {0, 0};
    // Extent of what was put in, kept along: asking a graph would visit every point on every frame.
    QCPRange keys[2], values[2];
    bool any[2] = {false, false};
    QCPGraph* law = nullptr;  ///< the fitted power law, behind the others
    std::optional<PowerLaw> fit;
    std::size_t fitted = 0;  ///< points when it was fitted
};

struct CurvePlot::Parts {
    CurvePlot* self;
    CurveMetric metric;
    const CurveModel& model;
    QCustomPlot* plot = nullptr;
    CurveLegend* legend = nullptr;
    CursorItem* cursor = nullptr;
    MarksItem* marks = nullptr;
    QSharedPointer<CurveTicker> xTicker, yTicker;
    std::vector<Curve> curves;
    std::vector<CurveLines> lines;
    unsigned version = ~0u;
    bool ownRange = false;  // zoomed by the user: appended points leave the ranges alone
    bool dragging = false;
    QPoint pressed;

    bool logY() const { return model.logY && lowerIsBetter(metric); }

    void build() {
        plot = new QCustomPlot(self);
        plot->setFocusPolicy(Qt::StrongFocus);
        plot->setAutoAddPlottableToLegend(false);
        plot->setNoAntialiasingOnDrag(true);
        plot->setAntialiasedElements(QCP::aePlottables);
        plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
        plot->axisRect()->setRangeDrag(Qt::Horizontal);
        plot->axisRect()->setRangeZoom(Qt::Horizontal);
        plot->axisRect()->setAutoMargins(QCP::msNone);
        plot->axisRect()->setMargins(QMargins(kLeft, kTop, kRight, kBottom));
        plot->plotLayout()->setMargins(QMargins(0, 0, 0, 0));
        for (const char* name : {"marks", "cursor"}) {
            plot->addLayer(QLatin1String(name));
            plot->layer(QLatin1String(name))->setMode(QCPLayer::lmBuffered);
        }
        marks = new MarksItem(plot);
        marks->setLayer(QStringLiteral("marks"));
        cursor = new CursorItem(plot);
        cursor->setLayer(QStringLiteral("cursor"));
        setTicks();
        plot->yAxis->setTicks(true);
        plot->yAxis->setTickLength(0, 0);
        plot->xAxis->setTickLength(0, 4);
        plot->xAxis->setSubTicks(false);
        plot->yAxis->setSubTicks(false);
        plot->yAxis->setTickLabelPadding(8);
        plot->xAxis->setTickLabelPadding(3);
        plot->xAxis->grid()->setVisible(false);
        plot->installEventFilter(self);
        setAxis();
        restyle();
        QObject::connect(plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), self,
                         [this](const QCPRange& range) {
                             if (!applying) {
                                 ownRange = true;
                                 Q_EMIT self->rangeDragged(range.lower, range.upper);
                             }
                         });
        QObject::connect(plot, &QCustomPlot::mouseDoubleClick, self,
                         [this] { Q_EMIT self->resetRequested(); });
    }
    bool applying = false;

    void setTicks() {
        yTicker.reset(new CurveTicker(lowerIsBetter(metric) ? CurveTicker::Format::Plain
                                                            : CurveTicker::Format::Percent));
        plot->yAxis->setTicker(yTicker);
        marks->upward = lowerIsBetter(metric);
    }

    void setAxis() {
        const auto format = model.axis == CurveAxis::Time     ? CurveTicker::Format::Time
                            : model.axis == CurveAxis::Step   ? CurveTicker::Format::Count
                            : model.axis == CurveAxis::Tokens ? CurveTicker::Format::Short
                                                              : CurveTicker::Format::Plain;
        xTicker.reset(new CurveTicker(format));
        xTicker->logarithmic = model.logX;
        yTicker->logarithmic = logY();
        applying = true;
        plot->xAxis->setScaleType(model.logX ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        plot->yAxis->setScaleType(logY() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        plot->xAxis->setTicker(xTicker);
        applying = false;
    }

    void restyle() {
        const Theme& t = Theme::current();
        plot->setBackground(QBrush(t.panel));
        for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
            axis->setTickLabelColor(t.muted);
            axis->setTickLabelFont(numberFont(11));
            axis->grid()->setPen(QPen(t.grid, 1));
            axis->grid()->setZeroLinePen(Qt::NoPen);
        }
        plot->xAxis->setBasePen(QPen(t.axis, 1));
        plot->xAxis->setTickPen(QPen(t.axis, 1));
        plot->yAxis->setBasePen(Qt::NoPen);
        plot->yAxis->setTickPen(Qt::NoPen);
        for (std::size_t i = 0; i < lines.size(); ++i) stylePens(i);
    }

    void stylePens(std::size_t i) {
        const QColor color = Theme::current().seriesColor(curves[i].colorIndex);
        const double more = curves[i].highlighted && curves.size() > 1 ? 0.5 : 0.0;
        for (int v = 0; v < 2; ++v) {
            QPen pen(color, (v == 1 ? 1.75 : 1.5) + more);
            if (v == 0) {
                pen.setDashPattern({5 / pen.widthF(), 3 / pen.widthF()});
                pen.setCapStyle(Qt::FlatCap);
            }
            // A long noisy line fills its columns of pixels; dashing it would cost much and show
            // nothing.
            const bool dense = lines[i].line[v]->data()->size() > 20000;
            if (dense) pen = QPen(color, 1);
            lines[i].line[v]->setPen(pen);
            lines[i].line[v]->setAntialiased(!dense);
            QColor faint = color;
            faint.setAlphaF(0.35f);
            lines[i].raw[v]->setPen(QPen(faint, 1));
            lines[i].raw[v]->setAntialiased(lines[i].raw[v]->data()->size() <= 20000);
            QPen law(color, 1.25);
            law.setDashPattern({1.5, 3.0});
            lines[i].law->setPen(law);
            QColor band = color;
            band.setAlphaF(0.18f);
            lines[i].low[v]->setPen(Qt::NoPen);
            lines[i].high[v]->setPen(Qt::NoPen);
            lines[i].high[v]->setBrush(QBrush(band));
        }
    }

    void rebuild() {
        plot->clearGraphs();
        lines.clear();
        curves = model.curves();
        for (const Curve& curve : curves) {
            CurveLines set{};
            set.law = plot->addGraph();  // first, so behind
            set.law->setSelectable(QCP::stNone);
            for (int v = 0; v < 2; ++v) {
                for (QCPGraph** graph : {&set.low[v], &set.high[v], &set.raw[v], &set.line[v]}) {
                    *graph = plot->addGraph();
                    (*graph)->setAdaptiveSampling(true);
                    (*graph)->setSelectable(QCP::stNone);
                }
                set.high[v]->setChannelFillGraph(set.low[v]);
                set.cuts[v] = curve.members.front()->split(v == 1).cuts();
            }
            lines.push_back(set);
        }
        version = model.version;
        setAxis();
        for (std::size_t i = 0; i < lines.size(); ++i) stylePens(i);
    }

    void put(CurveLines& set, int v, QCPGraph* graph, const std::vector<double>& keys,
             const std::vector<double>& values, std::size_t from) {
        QVector<QCPGraphData> fresh;
        fresh.reserve(static_cast<qsizetype>(keys.size() - from));
        for (std::size_t i = from; i < keys.size(); ++i) {
            if (model.logX && !(keys[i] > 0.0)) continue;  // a logarithm has no place for step 0
            const double value = logY() && !(values[i] > 0.0) ? nan : values[i];
            fresh.append(QCPGraphData(keys[i], value));
            if (std::isnan(value)) continue;
            if (!set.any[v]) set.keys[v] = {keys[i], keys[i]}, set.values[v] = {value, value};
            set.any[v] = true;
            set.keys[v].expand(keys[i]);
            set.values[v].expand(value);
        }
        graph->data()->add(fresh, true);
    }

    void fill(std::size_t index) {
        const Curve& curve = curves[index];
        CurveLines& set = lines[index];
        for (int v = 0; v < 2; ++v) {
            const auto series = curve.series(v == 1);
            std::size_t total = 0;
            unsigned cuts = 0;
            for (const auto* member : curve.members) {
                total += member->split(v == 1).size();
                cuts += member->split(v == 1).cuts();
            }
            if (total == set.done[v] && cuts == set.cuts[v]) continue;
            const bool anew = curve.members.size() > 1 || cuts != set.cuts[v];
            if (anew) {
                for (QCPGraph* graph : {set.line[v], set.raw[v], set.low[v], set.high[v]})
                    graph->data()->clear();
                set.done[v] = 0;
                set.any[v] = false;
            }
            if (curve.members.size() > 1) {
                const CurveBand band =
                    bandOf(series, metric, model.axis, model.usedBeta(), model.band);
                put(set, v, set.line[v], band.keys, band.mean, 0);
                if (series.size() > 1) {
                    put(set, v, set.low[v], band.keys, band.low, 0);
                    put(set, v, set.high[v], band.keys, band.high, 0);
                }
            } else if (!series.empty()) {
                const auto& keys = series[0]->keys(model.axis);
                put(set, v, set.line[v], keys, series[0]->smoothed(metric, model.usedBeta()),
                    set.done[v]);
                if (model.smooth)
                    put(set, v, set.raw[v], keys, series[0]->values(metric), set.done[v]);
            }
            const bool wasDense = set.done[v] > 20000;
            set.done[v] = total;
            set.cuts[v] = cuts;
            if (wasDense != (total > 20000) || anew) stylePens(index);
        }
        for (int v = 0; v < 2; ++v) {
            const bool shown = v == 1 || model.showTraining;
            for (QCPGraph* graph : {set.line[v], set.raw[v], set.low[v], set.high[v]})
                graph->setVisible(shown);
        }
    }

    /// Also far beyond where it was fitted: where a curve leaves its law is what one looks for.
    void placeLaws() {
        const bool shown = metric == CurveMetric::Loss && model.drawsPowerLaw();
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CurveLines& set = lines[i];
            set.law->setVisible(shown);
            if (!shown) continue;
            const std::size_t points = set.done[0] + set.done[1];
            if (set.fitted != points) {
                set.fit = curves[i].powerLaw();
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

    void placeMarks() {
        marks->rings.clear();
        marks->marks.clear();
        marks->published.clear();
        int labels = 0;
        for (const Curve& curve : curves) labels += curve.series(true).empty() ? 0 : 1;
        for (std::size_t i = 0; i < curves.size(); ++i) {
            const Curve& curve = curves[i];
            const QColor color = Theme::current().seriesColor(curve.colorIndex);
            double key = nan, value = nan;
            if (const auto best = curve.best(metric, model.axis)) std::tie(key, value) = *best;
            if (!std::isnan(key) && (!model.logX || key > 0.0) && (!logY() || value > 0.0)) {
                const bool named = labels <= 1 || curve.highlighted;
                marks->rings.push_back({key, value, color,
                                        named
                                            ? (curve.members.size() > 1 ? "best mean " : "best ") +
                                                  metricValueText(metric, value)
                                            : QString()});
            }
            for (const auto* member : curve.members)
                for (const CurveMark& mark : member->marks)
                    marks->marks.push_back({model.keyOfStep(mark.step), mark.text, mark.filled});
        }
        if (metric == CurveMetric::Accuracy && model.showPublished)
            for (const PublishedValue& p : model.published)
                marks->published.push_back({0, p.accuracy,
                                            Theme::current().seriesColor(p.colorIndex),
                                            metricValueText(metric, p.accuracy)});
    }

    /// The extent of a line, or of its part from `from` on. Large losses that would squeeze all
    /// others are left out and kept in `cut`: the highest 2 % of a long line, and the point of the
    /// untrained model, which a short line begins with.
    QCPRange extentOf(std::size_t i, int v, double from, double* cut) const {
        const CurveLines& set = lines[i];
        const auto& data = *set.line[v]->data();
        QCPRange range = set.values[v];
        const bool robust = model.withoutOutliers && !logY() && lowerIsBetter(metric);
        const bool part = from > set.keys[v].lower;
        if (!robust && !part) return range;
        const auto begin = part ? data.findBegin(from, false) : data.constBegin();
        const auto count = static_cast<std::size_t>(data.constEnd() - begin);
        const std::size_t stride = 1 + count / 20000;
        std::vector<double> values;
        for (std::size_t k = 0; k < count; k += stride) {
            const double value = (begin + static_cast<std::ptrdiff_t>(k))->value;
            if (!std::isnan(value)) values.push_back(value);
        }
        if (values.empty()) return part ? QCPRange(nan, nan) : range;
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
    bool untrainedFirst(std::size_t i, int v) const {
        for (const auto* s : curves[i].series(v == 1))
            if (s->keys(CurveAxis::Step).front() <= 0.0) return true;
        return false;
    }

    void fitRanges() {
        double x0 = nan, x1 = nan, y0 = nan, y1 = nan, cut = nan;
        const auto widen = [](double& low, double& high, double a, double b) {
            if (!(low <= a)) low = a;
            if (!(high >= b)) high = b;
        };
        const auto eachLine = [this](const auto& visit) {
            for (std::size_t i = 0; i < lines.size(); ++i)
                for (int v = 0; v < 2; ++v)
                    if (lines[i].any[v] && (v == 1 || model.showTraining)) visit(i, v);
        };
        eachLine([&](std::size_t i, int v) {
            widen(x0, x1, lines[i].keys[v].lower, lines[i].keys[v].upper);
        });
        if (std::isnan(x0)) x0 = model.logX ? 1.0 : 0.0, x1 = model.logX ? 1000.0 : 100.0;
        if (!model.logX && x0 > 0.0 && x0 < 0.2 * x1) x0 = 0.0;
        if (!(x1 > x0)) x1 = x0 + 1.0;
        if (model.recentOnly) x0 = x1 - 0.25 * (x1 - x0);
        applying = true;
        if (!ownRange) plot->xAxis->setRange(x0, x1);
        applying = false;
        const double from = model.recentOnly ? x0 : -std::numeric_limits<double>::infinity();
        eachLine([&](std::size_t i, int v) {
            const QCPRange range = extentOf(i, v, from, &cut);
            widen(y0, y1, range.lower, range.upper);
        });
        // Best points and published values are what one looks for: never outside.
        for (const auto& ring : marks->rings)
            if (ring.key >= from) widen(y0, y1, ring.value, ring.value);
        for (const auto& p : marks->published) widen(y0, y1, p.value, p.value);
        marks->beyond = cut > y1 ? metricValueText(metric, cut) : QString();
        if (std::isnan(y0))
            y0 = logY() ? 0.01 : metricInfo(metric).low, y1 = metricInfo(metric).high;
        if (logY()) {
            plot->yAxis->setRange(y0 / 1.15, y1 * 1.15);
            return;
        }
        // Shares that are all the same, such as 0 %: one percent high, not the rounding of a
        // double.
        if (isShare(metric) && y1 - y0 < 0.01) {
            y0 = std::max(0.0, y0 - 0.005);
            y1 = y0 + 0.01;
        }
        if (!model.recentOnly && lowerIsBetter(metric) && y0 > 0.0 && y0 < 0.4 * y1) y0 = 0.0;
        const double pad = std::max(y1 - y0, 1e-6 + 0.02 * std::abs(y1)) * 0.06;
        plot->yAxis->setRange(y0 == 0.0 ? 0.0 : y0 - pad, y1 + pad);
    }

    /// For figures; on the screen the head says what the axes are.
    void setAxisTitles(bool shown) {
        const int more = shown ? 18 : 0;
        plot->axisRect()->setMargins(QMargins(kLeft + more, kTop, kRight, kBottom + more));
        plot->xAxis->setLabel(shown ? axisTitle(model.axis) : QString());
        plot->yAxis->setLabel(shown ? metricTitle(metric) : QString());
        for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
            axis->setLabelColor(Theme::current().muted);
            axis->setLabelFont(captionFont());
            axis->setLabelPadding(3);
        }
    }

    void placeCursor(bool figure = false) {
        cursor->dots.clear();
        const bool any = model.leader() != nullptr && !figure;
        cursor->shown = any;
        const double step = model.cursor ? static_cast<double>(*model.cursor) : model.lastStep();
        cursor->key = any ? model.keyOfStep(step) : 0.0;
        std::vector<LegendEntry> entries;
        QStringList names;
        for (const Curve& curve : curves) names += curve.name;
        names = shortNames(names);
        const Theme& t = Theme::current();
        for (std::size_t i = 0; i < curves.size(); ++i) {
            const QColor color = t.seriesColor(curves[i].colorIndex);
            CurveValue at[2];
            for (int v = 0; v < 2; ++v) {
                double key = cursor->key;
                if (!model.cursor) {  // live: each line's own newest value, its dot beside it
                    double last = nan;
                    for (const auto* s : curves[i].series(v == 1))
                        if (!(last >= s->keys(model.axis).back()))
                            last = s->keys(model.axis).back();
                    key = std::min(key, last);
                }
                at[v] = curves[i].at(v == 1, metric, model.axis, key, model.usedBeta(), model.band);
                if (any && at[v].count > 0 && (v == 1 || model.showTraining) &&
                    (!logY() || at[v].mean > 0.0))
                    cursor->dots.push_back({key, at[v].mean, color, {}});
            }
            // How many seeds a mean is of changes along the axis: some seeds end earlier.
            const auto counted = [&](const QString& name, const CurveValue& value) {
                return curves[i].members.size() > 1 && value.count > 0 && !figure
                           ? QStringLiteral("%1 (n = %2)").arg(name).arg(value.count)
                           : name;
            };
            if (curves.size() == 1 && model.showTraining)
                entries.push_back({counted(QStringLiteral("training"), at[0]),
                                   metricValueText(metric, at[0].mean), color, true, false});
            const QString name = curves.size() == 1 ? QStringLiteral("validation")
                                                    : names[static_cast<qsizetype>(i)];
            const bool trainingOnly = curves[i].series(true).empty() && curves.size() > 1;
            const CurveValue& shown = trainingOnly ? at[0] : at[1];
            entries.push_back({counted(name, shown), metricValueText(metric, shown.mean), color,
                               trainingOnly, false});
            if (metric == CurveMetric::Loss && model.drawsPowerLaw() && lines[i].fit)
                entries.push_back(
                    {QStringLiteral("\u221D N^") + signedNumber(-lines[i].fit->b, 3),
                     QStringLiteral("R\u00B2 ") + QString::number(lines[i].fit->r2, 'f', 3), color,
                     false, false, true});
        }
        if (curves.size() > 1 && model.showTraining)
            entries.push_back({QStringLiteral("training"), {}, t.muted, true, false});
        if (!marks->published.empty())
            entries.push_back({QStringLiteral("published"), {}, t.muted, false, true});
        legend->setEntries(std::move(entries));
    }

    /// Marks within reach of the pointer, each with its run.
    std::vector<std::pair<const CurveRunData*, const CurveMark*>> marksAt(const QPoint& at) const {
        std::vector<std::pair<const CurveRunData*, const CurveMark*>> found;
        if (at.y() > plot->axisRect()->bottom()) return found;
        for (const Curve& curve : curves)
            for (const auto* member : curve.members)
                for (const CurveMark& mark : member->marks)
                    if (std::abs(plot->xAxis->coordToPixel(model.keyOfStep(mark.step)) - at.x()) <=
                        6.0)
                        found.emplace_back(member, &mark);
        return found;
    }

    double cursorDistance(const QPoint& at) const {
        return cursor->shown ? std::abs(plot->xAxis->coordToPixel(cursor->key) - at.x()) : 1e9;
    }
};

}  // namespace relascope::widgets
