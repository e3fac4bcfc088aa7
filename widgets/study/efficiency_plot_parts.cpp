// SPDX-License-Identifier: GPL-3.0-or-later
// How the efficiency plot draws what it was given; what it answers is in efficiency_plot.cpp.
#include "widgets/study/efficiency_plot_parts.h"

#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kLeft = 52, kRight = 24, kTop = 8, kBottom = 42;
const double nan = std::numeric_limits<double>::quiet_NaN();

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

void ColumnItem::draw(QCPPainter* painter) {
    if (!shown) return;
    const Theme& t = Theme::current();
    const QCPAxisRect* area = mParentPlot->axisRect();
    const double x = mParentPlot->xAxis->coordToPixel(key);
    if (!(x >= area->left() - 0.5) || !(x <= area->right() + 1.5)) return;
    painter->setAntialiasing(false);
    painter->setPen(QPen(t.muted, 1, Qt::DotLine));
    painter->drawLine(QLineF(std::round(x), area->top(), std::round(x), area->bottom()));
    painter->setAntialiasing(true);
    for (const auto& [value, color] : dots) {
        const double y = mParentPlot->yAxis->coordToPixel(value);
        if (y < area->top() - 4 || y > area->bottom() + 4) continue;
        painter->setPen(QPen(color, 1.5));
        painter->setBrush(QBrush(t.panel));
        painter->drawEllipse(QPointF(x, y), 4.0, 4.0);
    }
}

bool EfficiencyPlot::Parts::canLog() const {
    if (categorical()) return false;
    return std::all_of(layout.columns().begin(), layout.columns().end(),
                       [](const auto& column) { return column.x > 0.0; });
}

double EfficiencyPlot::Parts::xOf(int row, int column) const {
    if (oneColumn()) return row;
    if (layout.numeric()) return layout.columns()[static_cast<std::size_t>(column)].x;
    // Side by side around the column.
    const auto rows = static_cast<double>(layout.rows().size());
    return column + (row - (rows - 1.0) / 2.0) * std::min(0.25, 0.8 / rows);
}

std::pair<double, double> EfficiencyPlot::Parts::ends(const StudyPoint& p) const {
    switch (band) {
        case StudyBand::Bootstrap:
            return {p.low, p.high};
        case StudyBand::TwoErrors:
            return {p.mean - 2.0 * p.error, p.mean + 2.0 * p.error};
        case StudyBand::None:
            break;
    }
    return {nan, nan};
}

const EfficiencyPlot::Parts::Spot* EfficiencyPlot::Parts::at(int row, int column) const {
    for (const Spot& spot : spots)
        if (spot.row == row && spot.column == column) return &spot;
    return nullptr;
}

void EfficiencyPlot::Parts::build() {
    plot = new QCustomPlot(self);
    plot->setAccessibleName(QStringLiteral("Sample efficiency plot"));
    plot->setFocusPolicy(Qt::StrongFocus);
    plot->setMouseTracking(true);
    plot->setAutoAddPlottableToLegend(false);
    plot->setAntialiasedElements(QCP::aePlottables | QCP::aeScatters);
    plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot->axisRect()->setAutoMargins(QCP::msNone);
    plot->axisRect()->setMargins(QMargins(kLeft, kTop, kRight, kBottom));
    plot->plotLayout()->setMargins(QMargins(0, 0, 0, 0));
    plot->addLayer(QStringLiteral("cursor"));
    plot->layer(QStringLiteral("cursor"))->setMode(QCPLayer::lmBuffered);
    item = new ColumnItem(plot);
    item->setLayer(QStringLiteral("cursor"));
    plot->yAxis->setTickLength(0, 0);
    plot->xAxis->setTickLength(0, 4);
    plot->xAxis->setSubTicks(false);
    plot->yAxis->setSubTicks(false);
    plot->yAxis->setTickLabelPadding(8);
    plot->xAxis->setTickLabelPadding(3);
    plot->xAxis->setLabelPadding(4);
    plot->xAxis->grid()->setVisible(false);
    plot->installEventFilter(self);
    restyle();
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
        QObject::connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), self,
                         [this](const QCPRange&) {
                             if (applying) return;
                             ownRange = true;
                             setTicks();
                         });
    QObject::connect(plot, &QCustomPlot::mouseDoubleClick, self, [this] { self->resetZoom(); });
}

void EfficiencyPlot::Parts::restyle() {
    const Theme& t = Theme::current();
    plot->setBackground(QBrush(t.panel));
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setTickLabelColor(t.muted);
        axis->setTickLabelFont(numberFont(11));
        axis->setLabelColor(t.muted);
        axis->setLabelFont(captionFont());
        axis->grid()->setPen(QPen(t.grid, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    plot->xAxis->setBasePen(QPen(t.axis, 1));
    plot->xAxis->setTickPen(QPen(t.axis, 1));
    plot->yAxis->setBasePen(Qt::NoPen);
    plot->yAxis->setTickPen(Qt::NoPen);
}

void EfficiencyPlot::Parts::place() {
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

void EfficiencyPlot::Parts::rebuild() {
    place();
    plot->clearPlottables();
    const int rows = static_cast<int>(layout.rows().size());
    if (!categorical())
        for (int row = 0; row < rows; ++row) addBand(row);
    for (const auto source : {CurveSource::Relascope, CurveSource::Published})
        for (int row = 0; row < rows; ++row) addBeside(row, source);
    for (int row = 0; row < rows; ++row) addMeans(row);
    plot->xAxis->setLabel(oneColumn() ? layout.columns().empty() || layout.rows().empty()
                                            ? QString()
                                            : layout.columnText(0)
                                      : layout.axisTitle());
    plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
        metric.percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
    applying = true;
    plot->xAxis->setScaleType(logs() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    applying = false;
    fitRanges();
    setTicks();
    placeCursor();
    QString description = QStringLiteral("%1 against %2").arg(metric.title(), layout.axisTitle());
    for (const Spot& spot : spots) description += u'\n' + this->text(spot).replace(u'\n', u' ');
    plot->setAccessibleDescription(description);
    plot->replot(QCustomPlot::rpQueuedReplot);
}

void EfficiencyPlot::Parts::addBand(int row) {
    QVector<double> keys, low, high;
    for (const Spot& spot : spots) {
        if (spot.row != row) continue;
        const auto [from, to] = ends(spot.point);
        keys += spot.x;
        low += from;
        high += to;
    }
    QCPGraph *under = plot->addGraph(), *over = plot->addGraph();
    under->setData(keys, low, true);
    over->setData(keys, high, true);
    under->setPen(Qt::NoPen);
    over->setPen(Qt::NoPen);
    over->setBrush(QBrush(faint(Theme::current().seriesColor(row), 0.18)));
    over->setChannelFillGraph(under);
    for (auto* graph : {under, over}) graph->setSelectable(QCP::stNone);
}

void EfficiencyPlot::Parts::addBeside(int row, CurveSource source) {
    QVector<double> keys, values;
    for (const Published& p : beside)
        if (p.row == row && p.point.source == source && shows(p))
            keys += p.x, values += p.point.mean;
    if (keys.isEmpty()) return;
    QCPGraph* graph = plot->addGraph();
    graph->setData(keys, values, true);
    const QColor color = Theme::current().seriesColor(row);
    QPen pen(color, 1.25);
    pen.setDashPattern(studyDashes(source));
    pen.setCapStyle(Qt::FlatCap);
    graph->setPen(pen);
    graph->setLineStyle(oneColumn() ? QCPGraph::lsNone : QCPGraph::lsLine);
    graph->setScatterStyle(QCPScatterStyle(
        source == CurveSource::Published ? QCPScatterStyle::ssSquare : QCPScatterStyle::ssTriangle,
        QPen(color, 1.25), QBrush(Theme::current().panel), 6.0));
    graph->setSelectable(QCP::stNone);
}

void EfficiencyPlot::Parts::addMeans(int row) {
    QVector<double> keys, values;
    for (const Spot& spot : spots)
        if (spot.row == row) keys += spot.x, values += spot.point.mean;
    if (keys.isEmpty()) return;
    const QColor color = Theme::current().seriesColor(row);
    QCPGraph* graph = plot->addGraph();
    graph->setData(keys, values, true);
    graph->setPen(QPen(color, 1.75));
    graph->setLineStyle(categorical() ? QCPGraph::lsNone : QCPGraph::lsLine);
    graph->setScatterStyle(scatter(row, color, categorical() ? 8.5 : 7.5, row >= 8));
    graph->setSelectable(QCP::stNone);
    if (categorical()) addBars(row, graph);
}

void EfficiencyPlot::Parts::addBars(int row, QCPGraph* means) {
    const QColor color = Theme::current().seriesColor(row);
    QVector<double> minus, plus, keys, values;
    // One dot per run, between this mean and the next one.
    const double aside =
        oneColumn() ? 0.16 : 0.3 * std::min(0.25, 0.8 / static_cast<double>(layout.rows().size()));
    for (const Spot& spot : spots) {
        if (spot.row != row) continue;
        const auto [low, high] = ends(spot.point);
        minus += std::isnan(low) ? 0.0 : spot.point.mean - low;
        plus += std::isnan(high) ? 0.0 : high - spot.point.mean;
        for (const double value : spot.point.values) keys += spot.x + aside, values += value;
    }
    if (band != StudyBand::None) {
        auto* bars = new QCPErrorBars(plot->xAxis, plot->yAxis);
        bars->setDataPlottable(means);
        bars->setData(minus, plus);
        bars->setPen(QPen(color, 1.5));
        bars->setWhiskerWidth(9);
        bars->setSymbolGap(0);
        bars->setSelectable(QCP::stNone);
    }
    QCPGraph* dots = plot->addGraph();
    dots->setData(keys, values);
    dots->setLineStyle(QCPGraph::lsNone);
    dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(faint(color, 0.6), 1),
                                          QBrush(faint(color, 0.25)), 5.0));
    dots->setSelectable(QCP::stNone);
}

void EfficiencyPlot::Parts::fitRanges() {
    if (ownRange) return;
    applying = true;
    double y0 = nan, y1 = nan;
    const auto widen = [&](double value) {
        if (!std::isfinite(value)) return;
        if (!(y0 <= value)) y0 = value;
        if (!(y1 >= value)) y1 = value;
    };
    for (const Spot& spot : spots) {
        widen(spot.point.mean);
        const auto [low, high] = ends(spot.point);
        widen(low);
        widen(high);
        if (categorical())
            for (const double value : spot.point.values) widen(value);
    }
    const auto& columns = layout.columns();
    double x0 = nan, x1 = nan;
    if (oneColumn()) {
        x0 = -0.6, x1 = static_cast<double>(layout.rows().size()) - 0.4;
    } else if (!layout.numeric()) {
        x0 = -0.6, x1 = static_cast<double>(columns.size()) - 0.4;
    } else {
        for (const auto& column : columns) {
            if (!(x0 <= column.x)) x0 = column.x;
            if (!(x1 >= column.x)) x1 = column.x;
        }
        // Some space beside the first and last marker.
        const double pad = logs() ? std::pow(x1 / x0, 0.03) : 0.03 * (x1 - x0);
        x0 = logs() ? x0 / pad : x0 - pad;
        x1 = logs() ? x1 * pad : x1 + pad;
    }
    for (const Published& p : beside)
        if (shows(p) && p.x >= x0 && p.x <= x1) widen(p.point.mean);
    plot->xAxis->setRange(std::isnan(x0) ? 0.0 : x0, std::isnan(x1) ? 1.0 : x1);
    if (std::isnan(y0)) y0 = metric.percent ? 0.4 : 0.0, y1 = 1.0;
    // Equal values get an axis of 10 % around them, nearly equal ones at least of 1 %.
    const double least = (y1 == y0 ? 0.1 : 0.01) * (metric.percent ? 1.0 : std::abs(y1));
    if (y1 - y0 < least) {
        const double middle = 0.5 * (y0 + y1);
        y0 = middle - 0.5 * least;
        y1 = middle + 0.5 * least;
        if (metric.percent) {
            y0 = std::clamp(y0, 0.0, 1.0 - least);
            y1 = y0 + least;
        }
    }
    if (y0 == y1) y1 = y0 + 1.0;
    const double pad = (y1 - y0) * 0.06;
    const double top = metric.percent ? std::min(y1 + pad, std::max(y1, 1.0) + 0.012) : y1 + pad;
    plot->yAxis->setRange(y0 - pad, top);
    applying = false;
}

void EfficiencyPlot::Parts::setTicks() {
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const QFontMetrics metrics{plot->xAxis->tickLabelFont()};
    const bool names = categorical();
    const auto& columns = layout.columns();
    const std::size_t count = oneColumn() ? layout.rows().size() : columns.size();
    const double room =
        names && count > 1
            ? std::abs(plot->xAxis->coordToPixel(1.0) - plot->xAxis->coordToPixel(0.0))
            : 1e9;
    std::vector<std::pair<double, QString>> ticks;
    for (std::size_t i = 0; i < count; ++i)
        ticks.emplace_back(names ? static_cast<double>(i) : columns[i].x,
                           oneColumn() ? layout.rows()[i].name : columns[i].title);
    std::sort(ticks.begin(), ticks.end());
    double taken = -1e9;
    for (const auto& [x, text] : ticks) {
        const QString shown =
            metrics.elidedText(text, Qt::ElideMiddle, static_cast<int>(std::min(room - 8, 1e6)));
        const double at = plot->xAxis->coordToPixel(x);
        const double half = metrics.horizontalAdvance(shown) / 2.0;
        const bool fits = at - half > taken + 8;
        ticker->addTick(x, fits ? shown : QString());
        if (fits) taken = at + half;
    }
    plot->xAxis->setTicker(ticker);
}

void EfficiencyPlot::Parts::placeCursor() {
    item->shown = cursor >= 0 && !oneColumn();
    item->dots.clear();
    if (item->shown) {
        item->key = layout.numeric() ? layout.columns()[static_cast<std::size_t>(cursor)].x
                                     : static_cast<double>(cursor);
        if (layout.numeric())
            for (const Spot& spot : spots)
                if (spot.column == cursor)
                    item->dots.emplace_back(spot.point.mean,
                                            Theme::current().seriesColor(spot.row));
    }
    fillLegend();
}

void EfficiencyPlot::Parts::fillLegend() {
    const Theme& t = Theme::current();
    std::vector<StudyLegendEntry> entries;
    for (int row = 0; row < static_cast<int>(layout.rows().size()); ++row) {
        const Spot* shown = cursor >= 0 ? at(row, cursor) : nullptr;
        if (cursor < 0)
            for (const Spot& spot : spots)
                if (spot.row == row) shown = &spot;  // the last one
        entries.push_back(
            {layout.rows()[static_cast<std::size_t>(row)].name,
             metric.text(shown ? shown->point.mean : nan) + (shown ? metric.unit() : QString()),
             t.seriesColor(row), row, std::nullopt});
    }
    for (const auto source : {CurveSource::Published, CurveSource::Relascope})
        if (std::any_of(beside.begin(), beside.end(),
                        [&](const Published& p) { return p.point.source == source && shows(p); }))
            entries.push_back({curveSourceTitle(source), {}, t.muted, 0, source});
    legend->setEntries(std::move(entries));
}

int EfficiencyPlot::Parts::columnAt(double pixel) const {
    const QCPAxisRect* area = plot->axisRect();
    if (oneColumn() || pixel < area->left() - 8 || pixel > area->right() + 8) return -1;
    int nearest = -1;
    double distance = 1e9;
    for (int c = 0; c < static_cast<int>(layout.columns().size()); ++c) {
        const double x = layout.numeric() ? layout.columns()[static_cast<std::size_t>(c)].x : c;
        const double away = std::abs(plot->xAxis->coordToPixel(x) - pixel);
        if (away < distance) distance = away, nearest = c;
    }
    return nearest;
}

QString EfficiencyPlot::Parts::text(const Spot& spot) const {
    const auto& p = spot.point;
    const QString unit = metric.percent ? QStringLiteral(" %") : QString();
    QString text = QStringLiteral("%1, %2\n%3%4 over %5")
                       .arg(layout.rows()[static_cast<std::size_t>(spot.row)].name,
                            layout.columnText(spot.column), metric.text(p.mean, p.error), unit,
                            p.values.size() == 1 ? QStringLiteral("one run")
                                                 : QStringLiteral("%1 runs").arg(p.values.size()));
    const auto [low, high] = ends(p);
    if (!std::isnan(low))
        text += QStringLiteral("\n%1: %2 to %3%4")
                    .arg(band == StudyBand::Bootstrap ? QStringLiteral("95% bootstrap")
                                                      : QStringLiteral("\u00B1 2 s.e.m."),
                         metric.text(low), metric.text(high), unit);
    for (const Published& other : beside)
        if (other.row == spot.row && other.point.size == p.size && shows(other))
            text +=
                QStringLiteral("\n%1 %2%3")
                    .arg(curveSourceTitle(other.point.source), metric.text(other.point.mean), unit);
    return text;
}

}  // namespace relascope::widgets
