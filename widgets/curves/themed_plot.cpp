// SPDX-License-Identifier: GPL-3.0-or-later
#include <QElapsedTimer>
#include <QPicture>

#include "widgets/curves/themed_plot.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

ThemedPlot::ThemedPlot(const QMargins& margins, QWidget* parent) : QCustomPlot(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAutoAddPlottableToLegend(false);
    setAntialiasedElements(QCP::AntialiasedElements(QCP::aePlottables) | QCP::aeScatters);
    setInteractions(QCP::Interactions(QCP::iRangeDrag) | QCP::iRangeZoom);
    axisRect()->setAutoMargins(QCP::msNone);
    axisRect()->setMargins(margins);
    plotLayout()->setMargins(QMargins(0, 0, 0, 0));
    xAxis->setTickLength(0, 4);
    yAxis->setTickLength(0, 0);
    xAxis->setTickLabelPadding(3);
    yAxis->setTickLabelPadding(8);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setSubTicks(false);
        axis->setLabelPadding(3);
    }
    xAxis->grid()->setVisible(false);
    installEventFilter(parent);
    applyTheme();
}

void ThemedPlot::applyTheme() {
    const Theme& t = Theme::current();
    setBackground(QBrush(t.panel));
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setTickLabelColor(t.muted);
        axis->setTickLabelFont(numberFont(11));
        axis->setLabelColor(t.muted);
        axis->setLabelFont(captionFont());
        axis->grid()->setPen(QPen(t.grid, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    xAxis->setBasePen(QPen(t.axis, 1));
    xAxis->setTickPen(QPen(t.axis, 1));
    yAxis->setBasePen(Qt::NoPen);
    yAxis->setTickPen(Qt::NoPen);
}

void ThemedPlot::paintEvent(QPaintEvent* event) {
    QCustomPlot::paintEvent(event);
    if (!paint::keyboardFocus(this)) return;
    QPainter painter(this);
    paint::focusRing(painter, rect());
}

double ThemedPlot::replotNow() {
    QElapsedTimer timer;
    timer.start();
    replot(rpImmediateRefresh);
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void ThemedPlot::paintFigure(QPainter& painter, int top, const QSize& size, const QString& xTitle,
                             const QString& yTitle) {
    constexpr int titleHeight = 18;
    const QMargins margins = axisRect()->margins();
    const QString xLabel = xAxis->label();
    axisRect()->setMargins(margins +
                           QMargins(titleHeight, 0, 0, xTitle.isEmpty() ? 0 : titleHeight));
    if (!xTitle.isEmpty()) xAxis->setLabel(xTitle);
    yAxis->setLabel(yTitle);
    QPicture picture;
    QCPPainter recorder;
    recorder.begin(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    toPainter(&recorder, size.width(), size.height());
    recorder.end();
    axisRect()->setMargins(margins);
    xAxis->setLabel(xLabel);
    yAxis->setLabel({});
    // At its recorded size: drawPicture() would scale it by the resolution of the device, for which
    // painters of files are already scaled.
    painter.save();
    painter.translate(0, top);
    const QPaintDevice* device = painter.device();
    painter.scale(static_cast<qreal>(picture.logicalDpiX()) / device->logicalDpiX(),
                  static_cast<qreal>(picture.logicalDpiY()) / device->logicalDpiY());
    painter.drawPicture(QPointF(0, 0), picture);
    painter.restore();
}

QPointF ThemedPlot::pixelOf(double key, double value) const {
    return pos() + QPointF(xAxis->coordToPixel(key), yAxis->coordToPixel(value));
}

void ThemedPlot::onUserRange(QCPAxis* axis, std::function<void(const QCPRange&)> change) {
    connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this, change = std::move(change)](const QCPRange& range) {
                if (applying) return;
                ownRange = true;
                change(range);
            });
}

OverlayItem::OverlayItem(QCustomPlot* plot, const QString& layer) : QCPAbstractItem(plot) {
    plot->addLayer(layer);
    plot->layer(layer)->setMode(QCPLayer::lmBuffered);
    setLayer(layer);
    setClipToAxisRect(false);
}

}  // namespace relascope::widgets
