// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_plot.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QToolTip>

#include "widgets/curves/curve_plot_parts.h"
#include "widgets/theme/controls.h"

namespace relascope::widgets {

CurvePlot::CurvePlot(CurveMetric metric, const CurveModel& model, QWidget* parent)
    : QWidget(parent), m(new Parts{this, metric, model}) {
    m->legend = new CurveLegend(metricTitle(metric), this);
    m->build();
    nameAll();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m->legend);
    column->addWidget(m->plot, 1);
    setMinimumSize(220, 120);
}

CurvePlot::~CurvePlot() = default;

void CurvePlot::nameAll() {
    const QString title = metricTitle(m->metric);
    setAccessibleName(title + QStringLiteral(" curves"));
    m->legend->setTitle(title);
    m->plot->setAccessibleName(title + QStringLiteral(" plot"));
}

CurveMetric CurvePlot::metric() const {
    return m->metric;
}
void CurvePlot::setMetric(CurveMetric metric) {
    if (metric == m->metric) return;
    m->metric = metric;
    m->setTicks();
    m->version = ~m->model.version;  // forces a complete rebuild
    nameAll();
}

void CurvePlot::sync() {
    if (m->version != m->model.version) m->rebuild();
    for (std::size_t i = 0; i < m->lines.size(); ++i) m->fill(i);
    m->placeLaws();
    m->placeMarks();
    m->fitRanges();
    m->placeCursor();
    m->plot->setAccessibleDescription(m->model.summary());
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::cursorMoved() {
    m->placeCursor();
    m->plot->layer(QStringLiteral("cursor"))->replot();
}

void CurvePlot::setRange(double low, double high) {
    m->applying = true;
    m->ownRange = true;
    m->plot->xAxis->setRange(low, high);
    m->applying = false;
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::resetRange() {
    m->ownRange = false;
    m->fitRanges();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

double CurvePlot::rangeLow() const {
    return m->plot->xAxis->range().lower;
}
double CurvePlot::rangeHigh() const {
    return m->plot->xAxis->range().upper;
}
int CurvePlot::leftMargin() const {
    return kLeft;
}
int CurvePlot::rightMargin() const {
    return kRight;
}

double CurvePlot::replotNow() {
    QElapsedTimer timer;
    timer.start();
    m->plot->replot(QCustomPlot::rpImmediateRefresh);
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

/// A figure has axis titles and no cursor, and its legend no values at the cursor.
void CurvePlot::paintVector(QPainter& painter, const QRectF& target) {
    const int width = qMax(50, static_cast<int>(target.width()));
    m->placeCursor(true);
    const int head = m->legend->drawWhole(nullptr, width);
    const int height = qMax(50, static_cast<int>(target.height()) - head);
    painter.save();
    painter.translate(target.topLeft());
    m->legend->drawWhole(&painter, width);
    m->setAxisTitles(true);
    QPicture picture;
    QCPPainter recorder;
    recorder.begin(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    m->plot->toPainter(&recorder, width, height);
    recorder.end();
    m->setAxisTitles(false);
    m->placeCursor();
    drawRecorded(painter, QPointF(0, head), picture);
    painter.restore();
}

std::vector<PgfSeries> CurvePlot::pgfSeries() const {
    std::vector<PgfSeries> all;
    const auto column = [](const QCPGraph& graph, bool keys) {
        std::vector<double> values;
        for (const auto& point : *graph.data()) values.push_back(keys ? point.key : point.value);
        return values;
    };
    for (std::size_t i = 0; i < m->lines.size(); ++i)
        for (const int v : {1, 0}) {
            const CurveLines& set = m->lines[i];
            if (!set.any[v] || (v == 0 && !m->model.showTraining)) continue;
            PgfSeries series;
            series.name = m->curves[i].name +
                          (v == 1 ? QStringLiteral(", validation") : QStringLiteral(", training"));
            series.color = Theme::current().seriesColor(m->curves[i].colorIndex);
            series.dashed = v == 0;
            series.x = column(*set.line[v], true);
            series.y = column(*set.line[v], false);
            if (set.low[v]->data()->size() == set.line[v]->data()->size()) {
                series.low = column(*set.low[v], false);
                series.high = column(*set.high[v], false);
            }
            all.push_back(std::move(series));
        }
    return all;
}

QStringList CurvePlot::legendTexts() const {
    QStringList texts;
    for (const auto& e : m->legend->entries())
        texts += e.value.isEmpty() ? e.name : e.name + u' ' + e.value;
    return texts;
}

std::vector<QPointF> CurvePlot::cursorDots() const {
    std::vector<QPointF> dots;
    for (const CurveDot& dot : m->cursor->dots) dots.emplace_back(dot.key, dot.value);
    return dots;
}
QStringList CurvePlot::bestTexts() const {
    QStringList texts;
    for (const CurveDot& ring : m->marks->rings)
        if (!ring.text.isEmpty()) texts << ring.text;
    return texts;
}
QString CurvePlot::beyondText() const {
    return m->marks->beyond;
}
double CurvePlot::shownLow() const {
    return m->plot->yAxis->range().lower;
}
double CurvePlot::shownHigh() const {
    return m->plot->yAxis->range().upper;
}

QPointF CurvePlot::pixelOf(double key, double value) const {
    return m->plot->pos() +
           QPointF(m->plot->xAxis->coordToPixel(key), m->plot->yAxis->coordToPixel(value));
}

void CurvePlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m->plot) return;
    m->restyle();
    m->placeMarks();
    m->placeCursor();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

bool CurvePlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched != m->plot) return QWidget::eventFilter(watched, event);
    const auto drag = [this](const QPoint& at) {
        const auto* area = m->plot->axisRect();
        Q_EMIT cursorDragged(
            m->plot->xAxis->pixelToCoord(std::clamp(at.x(), area->left(), area->right())));
    };
    if (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseMove ||
        event->type() == QEvent::MouseButtonRelease) {
        auto* mouse = static_cast<QMouseEvent*>(event);
        const QPoint at = mouse->pos();
        if (event->type() == QEvent::MouseButtonPress && mouse->button() == Qt::LeftButton) {
            m->pressed = at;
            m->dragging = m->cursorDistance(at) <= 6.0;
            if (m->dragging) return true;
        } else if (event->type() == QEvent::MouseMove && m->dragging) {
            drag(at);
            return true;
        } else if (event->type() == QEvent::MouseMove && mouse->buttons() == Qt::NoButton) {
            m->plot->setCursor(m->cursorDistance(at) <= 6.0 ? Qt::SplitHCursor : Qt::ArrowCursor);
        } else if (event->type() == QEvent::MouseButtonRelease &&
                   mouse->button() == Qt::LeftButton) {
            const bool click = (at - m->pressed).manhattanLength() < 4;
            if (m->dragging ||
                (click && m->cursor->shown && m->plot->axisRect()->rect().contains(at)))
                drag(at);
            if (m->dragging) {
                m->dragging = false;
                return true;
            }
        }
    }
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        QStringList lines;
        for (const auto& [run, mark] : m->marksAt(help->pos())) {
            lines << QString("%1, step %2: %3")
                         .arg(run->run.name, groupedNumber(qRound64(mark->step)), mark->text);
            if (mark->kept) lines << QStringLiteral("Right-click to go back to here");
        }
        QToolTip::showText(help->globalPos(), plainTip(lines.join(u'\n')), m->plot);
        return true;
    }
    if (event->type() == QEvent::ContextMenu) {
        auto* menu = static_cast<QContextMenuEvent*>(event);
        const auto found = m->marksAt(menu->pos());
        if (!found.empty()) {
            Q_EMIT markMenuRequested(found.front().first->run.id, *found.front().second,
                                     menu->globalPos());
            return true;
        }
    }
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right) {
            Q_EMIT cursorStepped(key == Qt::Key_Left ? -1 : 1);
            return true;
        }
        if (key == Qt::Key_Home || key == Qt::Key_0) {
            Q_EMIT resetRequested();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::widgets
