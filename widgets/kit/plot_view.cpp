// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <ranges>

#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include "widgets/curves/curve_items.h"
#include "widgets/kit/plot_view.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kPlotTitle = 28, kPlotLeft = 56, kPlotRight = 20, kPlotReach = 8;

/// Ticks at whole numbers of an axis of log(x + 1).
class LogCountTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override { return range.size(); }
    int getSubTickCount(double) override { return 0; }
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        const double decades = range.size() / std::log(10.0);
        if (range.lower <= 0.0) ticks << 0.0;
        for (double power = 1.0; std::log1p(power) <= range.upper; power *= 10.0)
            for (const double head : {1.0, 2.0, 3.0, 5.0}) {
                const bool wanted =
                    head == 1.0 || (decades < 2.6 ? head != 3.0 : decades < 5.0 && head == 3.0);
                const double key = std::log1p(head * power);
                if (wanted && key >= range.lower && key <= range.upper) ticks << key;
            }
        return ticks;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return groupedNumber(std::llround(std::expm1(tick)));
    }
};

}  // namespace

struct PlotView::Parts {
    ThemedPlot* plot;
    CursorItem* item;
    PlotData data;
    std::optional<double> cursor;
    bool logarithmic = false;

    explicit Parts(PlotView* self)
        : plot(new ThemedPlot(QMargins(kPlotLeft, 6, kPlotRight, 24), self)),
          item(new CursorItem(plot, CursorItem::Line::Dotted)) {
        plot->setAttribute(Qt::WA_TransparentForMouseEvents);
        plot->setFocusPolicy(Qt::NoFocus);
    }

    int count() const { return static_cast<int>(data.x.size()); }
    double key(double x) const { return logarithmic ? std::log1p(x) : x; }
    double keyAt(int at) const { return key(data.x[static_cast<std::size_t>(at)]); }
    double value(int at) const { return data.lines.front().y[static_cast<std::size_t>(at)]; }
    /// The place nearest to a key; -1 without any.
    int nearest(double key) const {
        int best = -1;
        for (int at = 0; at < count(); ++at)
            if (best < 0 || std::abs(keyAt(at) - key) < std::abs(keyAt(best) - key)) best = at;
        return best;
    }
    static QPen penOf(const PlotLine& line) {
        const Theme& t = Theme::current();
        QPen pen(line.muted ? t.muted : t.series[0], line.muted ? 1.0 : line.dashed ? 1.5 : 1.75);
        if (line.dashed) pen.setDashPattern({5.0, 3.0});
        return pen;
    }

    void style() {
        const Theme& t = Theme::current();
        plot->applyTheme();
        // Ticks without length leave dots in figures.
        plot->yAxis->setTickPen(QPen(t.panel, 1));
        plot->yAxis->grid()->setZeroLinePen(QPen(data.zero ? t.axis : t.grid, 1));
        int graph = 0;
        for (const auto& line : std::views::reverse(data.lines)) {  // the first on top
            plot->graph(graph++)->setPen(penOf(line));
            if (!line.dots.empty())
                plot->graph(graph++)->setScatterStyle(
                    {QCPScatterStyle::ssDisc, t.series[0], t.series[0], 6});
        }
        item->dots.clear();
        item->shown = cursor.has_value() && count() > 0;
        if (item->shown) {
            item->key = key(*cursor);
            for (int at = 0; at < count(); ++at)
                if (keyAt(at) == item->key && std::isfinite(value(at)))
                    item->dots.push_back({item->key, value(at), t.series[0], {}});
        }
        plot->replot(QCustomPlot::rpQueuedReplot);
    }

    void fill() {
        plot->clearGraphs();
        QVector<double> x;
        for (int at = 0; at < count(); ++at) x << keyAt(at);
        double low = HUGE_VAL, high = -HUGE_VAL;
        const auto include = [&](double value) {
            if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
        };
        if (data.range) include(data.range->first), include(data.range->second);
        for (const auto& line : std::views::reverse(data.lines)) {
            const QVector<double> y(line.y.begin(), line.y.end());
            for (const double value : y) include(value);
            plot->addGraph()->setData(x, y, true);
            if (line.dots.empty()) continue;
            QVector<double> dotX, dotY;
            for (const int at : line.dots) dotX << x[at], dotY << y[at];
            plot->addGraph()->setData(dotX, dotY, true);
            plot->graph()->setLineStyle(QCPGraph::lsNone);
        }
        if (low > high) low = high = 0.0;
        const double pad = high > low ? 0.06 * (high - low) : data.percent ? 0.01 : 1.0;
        plot->yAxis->setRange(low - pad, high + pad);
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            data.percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
        const double first = x.isEmpty() ? 0.0 : x.first(), last = x.isEmpty() ? 1.0 : x.last();
        const double edge = std::max(0.015 * (last - first), 1e-9);
        plot->xAxis->setRange(first - edge, std::max(last, first + 1e-6) + edge);
        if (logarithmic)
            plot->xAxis->setTicker(QSharedPointer<LogCountTicker>::create());
        else
            plot->xAxis->setTicker(QSharedPointer<CurveTicker>::create(CurveTicker::Format::Count));
        plot->xAxis->setLabel(data.xTitle);
        plot->axisRect()->setMargins(
            QMargins(kPlotLeft, 6, kPlotRight, data.xTitle.isEmpty() ? 24 : 42));
        style();
    }
};

PlotView::PlotView(const QString& name, QWidget* parent)
    : QWidget(parent), m(std::make_unique<Parts>(this)) {
    setAccessibleName(name);
    setFocusPolicy(Qt::StrongFocus);
    columnOf(this, {0, kPlotTitle, 0, 0})->addWidget(m->plot);
    m->style();
}
PlotView::~PlotView() = default;

void PlotView::setData(PlotData data) {
    m->data = std::move(data);
    m->fill();
    setAccessibleDescription(m->data.description);
    update();
}
QString PlotView::title() const {
    return m->data.title;
}
void PlotView::setCursor(std::optional<double> x) {
    m->cursor = x;
    m->style();
}
void PlotView::setLogarithmic(bool on) {
    m->logarithmic = on;
    m->fill();
}

QPointF PlotView::pixelOf(double x) const {
    const int at = m->nearest(m->key(x));
    if (at < 0) return {};
    return m->plot->pixelOf(m->keyAt(at), std::isfinite(m->value(at)) ? m->value(at) : 0.0);
}

int PlotView::placeAt(const QPoint& at) const {
    const QRect area = m->plot->axisRect()->rect().translated(m->plot->pos());
    if (at.y() < kPlotTitle || at.x() < area.left() - kPlotReach ||
        at.x() > area.right() + kPlotReach)
        return -1;
    return m->nearest(m->plot->xAxis->pixelToCoord(at.x() - m->plot->pos().x()));
}
QString PlotView::hoverText(const QPoint& at) const {
    const int place = placeAt(at);
    return place < 0 ? QString() : m->data.text(place);
}

void PlotView::paintTitle(QPainter& painter, const QRect& box) const {
    const Theme& t = Theme::current();
    painter.setFont(smallFont());
    painter.setPen(t.text);
    // Texts wider than their box begin at its left.
    drawSubscripted(painter, QRectF(box.left() + 16, box.top(), 1, box.height()), m->data.title);
    painter.setFont(captionFont());
    int right = box.right() - kPlotRight;
    for (const auto& line : std::views::reverse(m->data.lines)) {
        if (line.name.isEmpty()) continue;
        const int room = painter.fontMetrics().horizontalAdvance(line.name);
        painter.setPen(t.muted);
        painter.drawText(QRect(right - room, box.top(), room, box.height()), Qt::AlignVCenter,
                         line.name);
        painter.setPen(Parts::penOf(line));
        const qreal y = box.top() + box.height() / 2 + 0.5;
        painter.drawLine(QPointF(right - room - 34, y), QPointF(right - room - 8, y));
        right -= room + 52;
    }
}

void PlotView::paintFigure(QPainter& painter, int top, const QSize& size) const {
    m->style();
    paintTitle(painter, QRect(0, top, size.width(), kPlotTitle));
    m->plot->paintFigure(painter, top + kPlotTitle, size - QSize(0, kPlotTitle), m->data.xTitle,
                         m->data.yTitle);
}

void PlotView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    if (m->count() > 0) paintTitle(painter, QRect(0, 0, width(), kPlotTitle));
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

void PlotView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m) m->style();
}

void PlotView::mousePressEvent(QMouseEvent* event) {
    const int at = event->button() == Qt::LeftButton ? placeAt(event->pos()) : -1;
    if (at >= 0) Q_EMIT chosen(at);
}

void PlotView::keyPressEvent(QKeyEvent* event) {
    const int last = m->count() - 1;
    const int now = m->cursor ? m->nearest(m->key(*m->cursor)) : -1;
    int next = now;
    if (event->matches(QKeySequence::Copy) && last >= 0) {
        QStringList lines;
        for (int at = 0; at <= last; ++at) lines << m->data.text(at);
        return QApplication::clipboard()->setText(lines.join(u'\n'));
    }
    switch (event->key()) {
        case Qt::Key_Left:
            next = now < 0 ? last : std::max(0, now - 1);
            break;
        case Qt::Key_Right:
            next = std::min(last, now + 1);
            break;
        case Qt::Key_Home:
            next = std::min(last, 0);
            break;
        case Qt::Key_End:
            next = last;
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    if (next < 0) return;
    setCursor(m->data.x[static_cast<std::size_t>(next)]);
    const QPoint at = pixelOf(*m->cursor).toPoint();
    QToolTip::showText(mapToGlobal(at), plainTip(m->data.text(next)), this);
    Q_EMIT chosen(next);
}

bool PlotView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = hoverText(help->pos());
    text.isEmpty() ? QToolTip::hideText()
                   : QToolTip::showText(help->globalPos(), plainTip(text), this);
    return true;
}

}  // namespace relascope::widgets
