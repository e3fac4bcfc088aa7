// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/efficiency_plot.h"

#include <QElapsedTimer>
#include <QHelpEvent>
#include <QPainter>
#include <QPicture>
#include <QToolTip>
#include <QVBoxLayout>
#include <utility>

#include "widgets/export/pgfplots.h"
#include "widgets/study/efficiency_plot_parts.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

EfficiencyPlot::EfficiencyPlot(QWidget* parent) : QWidget(parent), m(new Parts{this}) {
    setAccessibleName(QStringLiteral("Sample efficiency"));
    m->legend = new StudyLegend(this);
    m->build();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m->legend);
    column->addWidget(m->plot, 1);
    setMinimumSize(240, 160);
}

EfficiencyPlot::~EfficiencyPlot() = default;

void EfficiencyPlot::setStudy(const StudyLayout& layout, const StudyMetric& metric,
                              std::vector<StudyPoint> points,
                              std::vector<PublishedPoint> published) {
    // Another axis or metric has other ranges; new data of the same kind keep the zoom.
    if (!(metric == m->metric) || layout.axisTitle() != m->layout.axisTitle() ||
        layout.columns().size() != m->layout.columns().size())
        m->ownRange = false;
    m->layout = layout;
    m->metric = metric;
    m->points = std::move(points);
    m->published = std::move(published);
    if (m->cursor >= static_cast<int>(layout.columns().size())) m->cursor = -1;
    m->rebuild();
}

void EfficiencyPlot::setBand(StudyBand band) {
    if (band == m->band) return;
    m->band = band;
    m->rebuild();
}
StudyBand EfficiencyPlot::band() const {
    return m->band;
}
void EfficiencyPlot::setLogX(bool on) {
    if (on == m->wantsLog) return;
    m->wantsLog = on;
    m->ownRange = false;
    m->rebuild();
}
bool EfficiencyPlot::logX() const {
    return m->wantsLog;
}
bool EfficiencyPlot::canLogX() const {
    return m->canLog();
}
void EfficiencyPlot::setShown(CurveSource source, bool on) {
    bool& shown = m->shownSources[static_cast<std::size_t>(source)];
    if (std::exchange(shown, on) == on) return;
    m->rebuild();
}
bool EfficiencyPlot::isShown(CurveSource source) const {
    return m->shownSources[static_cast<std::size_t>(source)];
}
bool EfficiencyPlot::has(CurveSource source) const {
    return std::any_of(m->beside.begin(), m->beside.end(),
                       [source](const auto& p) { return p.point.source == source; });
}
void EfficiencyPlot::setTitle(const QString& title) {
    m->legend->setTitle(title);
}

int EfficiencyPlot::cursor() const {
    return m->cursor;
}
void EfficiencyPlot::setCursor(int column) {
    const int most = static_cast<int>(m->layout.columns().size()) - 1;
    column = m->oneColumn() ? -1 : std::clamp(column, -1, most);
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
    const auto* spot = m->at(row, column);
    if (!spot) return {};
    return m->plot->pos() + QPointF(m->plot->xAxis->coordToPixel(spot->x),
                                    m->plot->yAxis->coordToPixel(spot->point.mean));
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
    for (const auto& spot : m->spots)
        if (const double d = distance(spot.x, spot.point.mean); d < nearest) {
            nearest = d;
            text = m->text(spot);
        }
    for (const auto& p : m->beside)
        if (const double d = distance(p.x, p.point.mean); m->shows(p) && d < nearest) {
            nearest = d;
            text = QStringLiteral("%1, %2, %3 training examples\n%4%5")
                       .arg(m->layout.rows()[static_cast<std::size_t>(p.row)].name,
                            curveSourceTitle(p.point.source), groupedNumber(p.point.size),
                            m->metric.text(p.point.mean,
                                           p.point.error > 0.0 ? p.point.error : std::nan("")),
                            m->metric.percent ? QStringLiteral(" %") : QString());
        }
    return text;
}

void EfficiencyPlot::resetZoom() {
    m->ownRange = false;
    m->fitRanges();
    m->setTicks();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

double EfficiencyPlot::replotNow() {
    QElapsedTimer timer;
    timer.start();
    m->plot->replot(QCustomPlot::rpImmediateRefresh);  // the axes take their places
    m->setTicks();
    m->plot->replot(QCustomPlot::rpImmediateRefresh);
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void EfficiencyPlot::paintVector(QPainter& painter, const QRectF& target) {
    // No cursor, and what the vertical axis is.
    constexpr int title = 18;
    const int cursor = std::exchange(m->cursor, -1);
    m->placeCursor();
    const QMargins margins = m->plot->axisRect()->margins();
    m->plot->axisRect()->setMargins(margins + QMargins(title, 0, 0, 0));
    m->plot->yAxis->setLabel(m->metric.title());
    m->plot->yAxis->setLabelPadding(3);
    const int head = m->legend->heightFor(static_cast<int>(target.width()));
    const int width = qMax(50, static_cast<int>(target.width()));
    const int height = qMax(50, static_cast<int>(target.height()) - head);
    painter.save();
    painter.translate(target.topLeft());
    m->legend->draw(painter, QRectF(0, 0, width, head));
    QPicture picture;
    QCPPainter recorder;
    recorder.begin(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    m->plot->toPainter(&recorder, width, height);
    recorder.end();
    m->plot->axisRect()->setMargins(margins);
    m->plot->yAxis->setLabel({});
    m->cursor = cursor;
    m->placeCursor();
    drawRecorded(painter, QPointF(0, head), picture);
    painter.restore();
}

QString EfficiencyPlot::pgfplots(const QString& caption) const {
    const auto& rows = m->layout.rows();
    const double scale = m->metric.percent ? 100.0 : 1.0;
    const QString title =
        m->metric.percent ? m->metric.title() + QStringLiteral(", %") : m->metric.title();
    if (m->oneColumn()) {  // a mean a model
        PgfBars bars;
        bars.yLabel = title;
        bars.color = Theme::current().seriesColor(0);
        for (const auto& spot : m->spots) {
            bars.labels << rows[static_cast<std::size_t>(spot.row)].name;
            bars.values.push_back(scale * spot.point.mean);
        }
        return pgfplotsText(caption, bars);
    }
    PgfPlot plot;
    plot.xLabel = m->layout.axisTitle();
    plot.yLabel = title;
    plot.logX = m->logs();
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
        PgfSeries series;
        series.name = rows[static_cast<std::size_t>(row)].name;
        series.color = Theme::current().seriesColor(row);
        for (const auto& spot : m->spots) {
            if (spot.row != row) continue;
            const auto [low, high] = m->ends(spot.point);
            series.x.push_back(spot.x);
            series.y.push_back(scale * spot.point.mean);
            if (m->band == StudyBand::None) continue;
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
            for (const auto& p : m->beside)
                if (p.row == row && p.point.source == source && m->shows(p)) {
                    other.x.push_back(p.x);
                    other.y.push_back(scale * p.point.mean);
                }
            if (!other.x.empty()) plot.series.push_back(std::move(other));
        }
    }
    return pgfplotsText(caption, std::vector<PgfPlot>{plot});
}

void EfficiencyPlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m->plot) return;
    m->restyle();
    m->rebuild();
}

bool EfficiencyPlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m->plot) return QWidget::eventFilter(watched, event);
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
            const int columns = static_cast<int>(m->layout.columns().size());
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
