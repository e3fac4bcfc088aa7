#include "widgets/curves/curve_plot.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QToolTip>

#include "widgets/curves/curve_plot_parts.h"
#include "widgets/theme/controls.h"

namespace relascope {

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
    m->version = ~m->model.version;  // everything is drawn anew
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

void CurvePlot::paintVector(QPainter& painter, const QRectF& target) {
    const int width = qMax(50, static_cast<int>(target.width()));
    const int height = qMax(50, static_cast<int>(target.height()) - m->legend->height());
    painter.save();
    painter.translate(target.topLeft());
    m->legend->draw(painter, QRectF(0, 0, width, m->legend->height()));
    QPicture picture;
    QCPPainter recorder;
    recorder.begin(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    m->plot->toPainter(&recorder, width, height);
    recorder.end();
    painter.drawPicture(QPointF(0, m->legend->height()), picture);
    painter.restore();
}

QStringList CurvePlot::legendTexts() const {
    QStringList texts;
    for (const auto& e : m->legend->entries())
        texts += e.value.isEmpty() ? e.name : e.name + u' ' + e.value;
    return texts;
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

}  // namespace relascope
