// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <utility>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include "views/curve_look.h"
#include "views/look.h"
#include "widgets/curves/curve_items.h"
#include "widgets/export/export.h"
#include "widgets/study/efficiency_data.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/study/study_legend.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

bool renderStudy(const StudyLayout& layout, const StudyMetric& metric,
                 const std::vector<StudyPoint>& points,
                 const std::vector<PublishedPoint>& published, const StudyLook& look,
                 const QString& title, const QString& path, QString* error) {
    if (points.empty()) {
        if (error)
            *error =
                QStringLiteral(
                    "%1: no finished run of the study has this metric; there is nothing to draw")
                    .arg(path);
        return false;
    }
    EfficiencyPlot plot;
    plot.setTitle(title);
    plot.resize(720, 480);
    plot.ensurePolished();
    plot.setLook(look);
    plot.setStudy(layout, metric, points, published);
    plot.setAttribute(Qt::WA_DontShowOnScreen);
    plot.show();  // never seen: lays out what a widget lays out when shown
    plot.replotNow();
    return exportPainting([&plot](QPainter& painter) { plot.paintVector(painter, plot.rect()); },
                          plot.size(), title, Theme::current().panel, path, error);
}

/// The legend, the QCustomPlot and what they show.
struct EfficiencyPlot::Parts {
    EfficiencyPlot* self;
    StudyLegend* legend = new StudyLegend(self);
    ThemedPlot* plot = new ThemedPlot(QMargins(52, 8, 24, 42), self);
    CursorItem* item = new CursorItem(plot, CursorItem::Line::Dotted);
    EfficiencyData data;
    int cursor = -1;

    explicit Parts(EfficiencyPlot* self) : self(self) {
        plot->setAccessibleName(QStringLiteral("Sample efficiency plot"));
        plot->xAxis->setLabelPadding(4);
        for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
            plot->onUserRange(axis, [this](const QCPRange&) { setTicks(); });
        QObject::connect(plot, &QCustomPlot::mouseDoubleClick, self, &EfficiencyPlot::resetZoom);
    }

    void rebuild() {
        data.place();
        EfficiencyGraphs(*plot, data).rebuild();
        plot->xAxis->setLabel(data.oneColumn()
                                  ? data.layout.columns().empty() || data.layout.rows().empty()
                                        ? QString()
                                        : data.layout.columnText(0)
                                  : data.layout.axisTitle());
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            data.metric.percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
        plot->applying = true;
        plot->xAxis->setScaleType(data.logs() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        plot->applying = false;
        fitRanges();
        setTicks();
        placeCursor();
        QString description =
            QStringLiteral("%1 against %2").arg(data.metric.title(), data.layout.axisTitle());
        for (const auto& spot : data.spots)
            description += u'\n' + data.text(spot).replace(u'\n', u' ');
        plot->setAccessibleDescription(description);
        plot->replot(QCustomPlot::rpQueuedReplot);
    }

    void fitRanges() {
        if (plot->ownRange) return;
        plot->applying = true;
        double y0 = NAN, y1 = NAN;
        const auto widen = [&](double value) {
            if (!std::isfinite(value)) return;
            if (!(y0 <= value)) y0 = value;
            if (!(y1 >= value)) y1 = value;
        };
        for (const auto& spot : data.spots) {
            widen(spot.point.mean);
            const auto [low, high] = data.ends(spot.point);
            widen(low);
            widen(high);
            if (data.categorical())
                for (const double value : spot.point.values) widen(value);
        }
        const auto& columns = data.layout.columns();
        double x0 = NAN, x1 = NAN;
        if (data.oneColumn()) {
            x0 = -0.6, x1 = static_cast<double>(data.layout.rows().size()) - 0.4;
        } else if (!data.layout.numeric()) {
            x0 = -0.6, x1 = static_cast<double>(columns.size()) - 0.4;
        } else {
            for (const auto& column : columns) {
                if (!(x0 <= column.x)) x0 = column.x;
                if (!(x1 >= column.x)) x1 = column.x;
            }
            // Some space beside the first and last marker.
            const double pad = data.logs() ? std::pow(x1 / x0, 0.03) : 0.03 * (x1 - x0);
            x0 = data.logs() ? x0 / pad : x0 - pad;
            x1 = data.logs() ? x1 * pad : x1 + pad;
        }
        for (const auto& p : data.beside)
            if (data.shows(p) && p.x >= x0 && p.x <= x1) widen(p.point.mean);
        plot->xAxis->setRange(std::isnan(x0) ? 0.0 : x0, std::isnan(x1) ? 1.0 : x1);
        if (std::isnan(y0)) y0 = data.metric.percent ? 0.4 : 0.0, y1 = 1.0;
        // Equal values get an axis of 10 % around them, nearly equal ones at least of 1 %.
        const double least = (y1 == y0 ? 0.1 : 0.01) * (data.metric.percent ? 1.0 : std::abs(y1));
        if (y1 - y0 < least) {
            const double middle = 0.5 * (y0 + y1);
            y0 = middle - 0.5 * least;
            y1 = middle + 0.5 * least;
            if (data.metric.percent) {
                y0 = std::clamp(y0, 0.0, 1.0 - least);
                y1 = y0 + least;
            }
        }
        if (y0 == y1) y1 = y0 + 1.0;
        const double pad = (y1 - y0) * 0.06;
        const double top =
            data.metric.percent ? std::min(y1 + pad, std::max(y1, 1.0) + 0.012) : y1 + pad;
        plot->yAxis->setRange(y0 - pad, top);
        plot->applying = false;
    }

    void setTicks() {
        auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        const QFontMetrics metrics{plot->xAxis->tickLabelFont()};
        const bool names = data.categorical();
        const auto& columns = data.layout.columns();
        const std::size_t count = data.oneColumn() ? data.layout.rows().size() : columns.size();
        const double room =
            names && count > 1
                ? std::abs(plot->xAxis->coordToPixel(1.0) - plot->xAxis->coordToPixel(0.0))
                : 1e9;
        std::vector<std::pair<double, QString>> ticks;
        for (std::size_t i = 0; i < count; ++i)
            ticks.emplace_back(names ? static_cast<double>(i) : columns[i].x,
                               data.oneColumn() ? data.layout.rows()[i].name : columns[i].title);
        std::sort(ticks.begin(), ticks.end());
        double taken = -1e9;
        for (const auto& [x, text] : ticks) {
            const QString shown = metrics.elidedText(text, Qt::ElideMiddle,
                                                     static_cast<int>(std::min(room - 8, 1e6)));
            const double at = plot->xAxis->coordToPixel(x);
            const double half = metrics.horizontalAdvance(shown) / 2.0;
            const bool fits = at - half > taken + 8;
            ticker->addTick(x, fits ? shown : QString());
            if (fits) taken = at + half;
        }
        plot->xAxis->setTicker(ticker);
    }

    void placeCursor() {
        item->shown = cursor >= 0 && !data.oneColumn();
        item->dots.clear();
        if (item->shown) {
            item->key = data.layout.numeric()
                            ? data.layout.columns()[static_cast<std::size_t>(cursor)].x
                            : static_cast<double>(cursor);
            if (data.layout.numeric())
                for (const auto& spot : data.spots)
                    if (spot.column == cursor)
                        item->dots.push_back({item->key,
                                              spot.point.mean,
                                              Theme::current().seriesColor(spot.row),
                                              {}});
        }
        fillLegend();
    }

    void fillLegend() {
        const Theme& t = Theme::current();
        std::vector<StudyLegendEntry> entries;
        for (int row = 0; row < static_cast<int>(data.layout.rows().size()); ++row) {
            const EfficiencyData::Spot* shown = cursor >= 0 ? data.at(row, cursor) : nullptr;
            if (cursor < 0)
                for (const auto& spot : data.spots)
                    if (spot.row == row) shown = &spot;  // the last one
            entries.push_back({data.layout.rows()[static_cast<std::size_t>(row)].name,
                               data.metric.text(shown ? shown->point.mean : NAN) +
                                   (shown ? data.metric.unit() : QString()),
                               t.seriesColor(row), row, std::nullopt});
        }
        for (const auto source : {CurveSource::Published, CurveSource::Relascope})
            if (std::any_of(data.beside.begin(), data.beside.end(), [&](const auto& p) {
                    return p.point.source == source && data.shows(p);
                }))
                entries.push_back({curveSourceTitle(source), {}, t.muted, 0, source});
        if (std::any_of(data.spots.begin(), data.spots.end(),
                        [&](const auto& spot) { return !std::isnan(data.ends(spot.point).first); }))
            entries.push_back(
                {QStringLiteral("band: ") + studyBandName(data.band), {}, {}, 0, std::nullopt});
        legend->setEntries(std::move(entries));
    }

    int columnAt(double pixel) const {
        const QCPAxisRect* area = plot->axisRect();
        if (data.oneColumn() || pixel < area->left() - 8 || pixel > area->right() + 8) return -1;
        int nearest = -1;
        double distance = 1e9;
        for (int c = 0; c < static_cast<int>(data.layout.columns().size()); ++c) {
            const double x =
                data.layout.numeric() ? data.layout.columns()[static_cast<std::size_t>(c)].x : c;
            const double away = std::abs(plot->xAxis->coordToPixel(x) - pixel);
            if (away < distance) distance = away, nearest = c;
        }
        return nearest;
    }
};

EfficiencyPlot::EfficiencyPlot(QWidget* parent) : QWidget(parent) {
    m = std::make_unique<Parts>(this);  // in the body: its plot sends events
    setAccessibleName(QStringLiteral("Sample efficiency"));
    auto* column = columnOf(this);
    column->addWidget(m->legend);
    column->addWidget(m->plot, 1);
    setMinimumSize(240, 160);
}

EfficiencyPlot::~EfficiencyPlot() = default;

void EfficiencyPlot::setStudy(const StudyLayout& layout, const StudyMetric& metric,
                              std::vector<StudyPoint> points,
                              std::vector<PublishedPoint> published) {
    // Another axis or metric has other ranges; new data of the same kind keep the zoom.
    if (!(metric == m->data.metric) || layout.axisTitle() != m->data.layout.axisTitle() ||
        layout.columns().size() != m->data.layout.columns().size())
        m->plot->ownRange = false;
    m->data.layout = layout;
    m->data.metric = metric;
    m->data.points = std::move(points);
    m->data.published = std::move(published);
    if (m->cursor >= static_cast<int>(layout.columns().size())) m->cursor = -1;
    m->rebuild();
}

void EfficiencyPlot::setBand(StudyBand band) {
    if (band == m->data.band) return;
    m->data.band = band;
    m->rebuild();
}
StudyBand EfficiencyPlot::band() const {
    return m->data.band;
}
void EfficiencyPlot::setLogX(bool on) {
    if (on == m->data.wantsLog) return;
    m->data.wantsLog = on;
    m->plot->ownRange = false;
    m->rebuild();
}
bool EfficiencyPlot::logX() const {
    return m->data.wantsLog;
}
bool EfficiencyPlot::canLogX() const {
    return m->data.canLog();
}
void EfficiencyPlot::setShown(CurveSource source, bool on) {
    bool& shown = m->data.shownSources[static_cast<std::size_t>(source)];
    if (std::exchange(shown, on) == on) return;
    m->rebuild();
}
bool EfficiencyPlot::isShown(CurveSource source) const {
    return m->data.shownSources[static_cast<std::size_t>(source)];
}
bool EfficiencyPlot::has(CurveSource source) const {
    return std::any_of(m->data.beside.begin(), m->data.beside.end(),
                       [source](const auto& p) { return p.point.source == source; });
}
void EfficiencyPlot::setLook(const StudyLook& look) {
    setBand(core::choiceOf<StudyBand>(core::studyLookFields(), "band", look.band));
    setLogX(look.log_x);
    setShown(CurveSource::Published, !look.no_published);
    setShown(CurveSource::Relascope, look.reference);
}
StudyLook EfficiencyPlot::look() const {
    return {core::choiceName(core::studyLookFields(), "band", band()), logX(),
            !isShown(CurveSource::Published), isShown(CurveSource::Relascope)};
}
bool EfficiencyPlot::zoomed() const {
    return m->plot->ownRange;
}
void EfficiencyPlot::setTitle(const QString& title) {
    m->legend->setTitle(title);
}

int EfficiencyPlot::cursor() const {
    return m->cursor;
}
void EfficiencyPlot::setCursor(int column) {
    const int most = static_cast<int>(m->data.layout.columns().size()) - 1;
    column = m->data.oneColumn() ? -1 : std::clamp(column, -1, most);
    if (column == m->cursor) return;
    m->cursor = column;
    m->placeCursor();
    m->plot->layer(QStringLiteral("cursor"))->replot();
    Q_EMIT cursorMoved(column);
}

QStringList EfficiencyPlot::legendTexts() const {
    QStringList texts;
    for (const auto& e : m->legend->entries())
        texts += e.value.isEmpty() ? e.name : e.name + u' ' + e.value;
    return texts;
}

QPointF EfficiencyPlot::pixelOf(int row, int column) const {
    const auto* spot = m->data.at(row, column);
    if (!spot) return {};
    return m->plot->pixelOf(spot->x, spot->point.mean);
}

QString EfficiencyPlot::hoverText(const QPoint& at) const {
    const QPointF inside = at - m->plot->pos();
    if (!m->plot->axisRect()->rect().adjusted(-8, -8, 8, 8).contains(inside.toPoint())) return {};
    double nearest = 11.0;
    QString text;
    const auto distance = [&](double x, double y) {
        const QPointF away =
            QPointF(m->plot->xAxis->coordToPixel(x), m->plot->yAxis->coordToPixel(y)) - inside;
        return std::hypot(away.x(), away.y());
    };
    for (const auto& spot : m->data.spots)
        if (const double d = distance(spot.x, spot.point.mean); d < nearest) {
            nearest = d;
            text = m->data.text(spot);
        }
    for (const auto& p : m->data.beside)
        if (const double d = distance(p.x, p.point.mean); m->data.shows(p) && d < nearest) {
            nearest = d;
            text = m->data.text(p);
        }
    return text;
}

void EfficiencyPlot::resetZoom() {
    m->plot->ownRange = false;
    m->fitRanges();
    m->setTicks();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

double EfficiencyPlot::replotNow() {
    const double first = m->plot->replotNow();  // the axes take their places
    m->setTicks();
    return first + m->plot->replotNow();
}

/// A figure has the title of the vertical axis and no cursor.
void EfficiencyPlot::paintVector(QPainter& painter, const QRectF& target) {
    const int cursor = std::exchange(m->cursor, -1);
    m->placeCursor();
    const int width = qMax(50, static_cast<int>(target.width()));
    const int head = m->legend->heightFor(static_cast<int>(target.width()));
    const int height = qMax(50, static_cast<int>(target.height()) - head);
    painter.save();
    painter.translate(target.topLeft());
    m->legend->draw(painter, QRectF(0, 0, width, head));
    m->plot->paintFigure(painter, head, {width, height}, {}, m->data.metric.title());
    painter.restore();
    m->cursor = cursor;
    m->placeCursor();
}

QString EfficiencyPlot::pgfplots(const QString& caption) const {
    return m->data.pgfplots(caption);
}

void EfficiencyPlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->plot->applyTheme();
    m->rebuild();
}

bool EfficiencyPlot::eventFilter(QObject* watched, QEvent* event) {
    if (!m || watched != m->plot) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::MouseMove: {
            auto* mouse = static_cast<QMouseEvent*>(event);
            if (mouse->buttons() == Qt::NoButton) setCursor(m->columnAt(mouse->position().x()));
            break;
        }
        case QEvent::Leave:
            setCursor(-1);
            break;
        case QEvent::Resize:
            // After the plot has taken its new size.
            QMetaObject::invokeMethod(
                this,
                [this] {
                    m->setTicks();
                    m->plot->replot(QCustomPlot::rpQueuedReplot);
                },
                Qt::QueuedConnection);
            break;
        case QEvent::ToolTip: {
            auto* help = static_cast<QHelpEvent*>(event);
            const QString text = hoverText(m->plot->mapTo(this, help->pos()));
            if (text.isEmpty())
                QToolTip::hideText();
            else
                QToolTip::showText(help->globalPos(), plainTip(text), m->plot);
            return true;
        }
        case QEvent::KeyPress: {
            const int columns = static_cast<int>(m->data.layout.columns().size());
            switch (static_cast<QKeyEvent*>(event)->key()) {
                case Qt::Key_Left:
                    setCursor(m->cursor < 0 ? columns - 1 : qMax(0, m->cursor - 1));
                    return true;
                case Qt::Key_Right:
                    setCursor(m->cursor < 0 ? 0 : qMin(columns - 1, m->cursor + 1));
                    return true;
                case Qt::Key_Escape:
                    setCursor(-1);
                    return true;
                case Qt::Key_Home:
                case Qt::Key_0:
                    resetZoom();
                    return true;
                default:
                    break;
            }
            break;
        }
        default:
            break;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::widgets
