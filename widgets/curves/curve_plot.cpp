// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/curve_plot.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "widgets/curves/curve_items.h"
#include "widgets/curves/curve_lines.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kLeft = 50, kRight = 24;  // px beside the axis rect

}  // namespace

/// The legend, the QCustomPlot and its items.
struct CurvePlot::Parts {
    CurvePlot* self;
    const CurveModel& model;
    CurveLegend* legend;
    ThemedPlot* plot = new ThemedPlot(QMargins(kLeft, 14, kRight, 24), self);
    MarksItem* marks = new MarksItem(plot);
    CursorItem* cursor = new CursorItem(plot, CursorItem::Line::Flag);
    CurveLines lines{*plot, model};
    QSharedPointer<CurveTicker> xTicker, yTicker;
    unsigned version = ~0u;
    bool dragging = false;
    QPoint pressed;

    Parts(CurvePlot* self, CurveMetric metric, const CurveModel& model)
        : self(self), model(model), legend(new CurveLegend(metricTitle(metric), self)) {
        lines.metric = metric;
        plot->setNoAntialiasingOnDrag(true);
        plot->axisRect()->setRangeDrag(Qt::Horizontal);
        plot->axisRect()->setRangeZoom(Qt::Horizontal);
        setTicks();
        setAxis();
        plot->onUserRange(plot->xAxis, [self](const QCPRange& range) {
            Q_EMIT self->rangeDragged(range.lower, range.upper);
        });
        QObject::connect(plot, &QCustomPlot::mouseDoubleClick, self, [this] {
            plot->ownRange ? Q_EMIT this->self->resetRequested()
                           : Q_EMIT this->self->fillRequested();
        });
    }

    void setTicks() {
        yTicker.reset(new CurveTicker(isFraction(lines.metric) ? CurveTicker::Format::Percent
                                                               : CurveTicker::Format::Plain));
        plot->yAxis->setTicker(yTicker);
        countTicks();
        marks->upward = metricInfo(lines.metric).lowerIsBetter;
    }

    void setAxis() {
        const auto format = model.axis == CurveAxis::Time     ? CurveTicker::Format::Time
                            : model.axis == CurveAxis::Step   ? CurveTicker::Format::Count
                            : model.axis == CurveAxis::Tokens ? CurveTicker::Format::Short
                                                              : CurveTicker::Format::Plain;
        xTicker.reset(new CurveTicker(format));
        xTicker->logarithmic = model.logX;
        yTicker->logarithmic = lines.logY();
        plot->applying = true;
        plot->xAxis->setScaleType(model.logX ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        plot->yAxis->setScaleType(lines.logY() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        plot->xAxis->setTicker(xTicker);
        countTicks();
        plot->applying = false;
    }

    /// Numbers must not overlap in a low strip.
    void countTicks(const QSize& size) {
        if (yTicker) yTicker->setTickCount(qBound(2, (size.height() - 40) / 22, 5));
        if (xTicker) xTicker->setTickCount(qBound(5, size.width() / 130, 9));
    }
    void countTicks() { countTicks(self->size()); }

    void showNumbers(bool on) {
        plot->xAxis->setTickLabels(on);
        plot->xAxis->setTicks(on);
        plot->axisRect()->setMargins(QMargins(kLeft, on ? 14 : 8, kRight, on ? 24 : 2));
    }

    void placeMarks() {
        marks->rings.clear();
        marks->marks.clear();
        marks->published.clear();
        const auto& curves = lines.curves();
        int labels = 0;
        for (const Curve& curve : curves) labels += curve.series(true).empty() ? 0 : 1;
        for (std::size_t i = 0; i < curves.size(); ++i) {
            const Curve& curve = curves[i];
            const QColor color = Theme::current().seriesColor(curve.colorIndex);
            double key = NAN, value = NAN;
            if (const auto best = curve.best(lines.metric, model.axis))
                std::tie(key, value) = *best;
            if (!std::isnan(key) && (!model.logX || key > 0.0) && (!lines.logY() || value > 0.0)) {
                const bool named = labels <= 1 || curve.highlighted;
                marks->rings.push_back(
                    {key, value, color,
                     named ? (curve.members.size() > 1 ? "best mean seen " : "best seen ") +
                                 metricText(metricInfo(lines.metric), value)
                           : QString()});
            }
        }
        for (const CurveRun& run : model.order)
            for (const CurveMark& mark : model.runs.at(run.id).marks)
                marks->marks.push_back({model.keyOfStep(mark.step), mark.text, mark.filled});
        if (lines.metric == CurveMetric::Accuracy && model.showPublished)
            for (const PublishedValue& p : model.published)
                marks->published.push_back({0, p.accuracy,
                                            Theme::current().seriesColor(p.colorIndex),
                                            metricText(metricInfo(lines.metric), p.accuracy)});
    }

    /// The colour of their lines, or where these differ one that none has.
    QColor publishedColor() const {
        const QColor first = marks->published.front().color;
        const bool one = std::all_of(marks->published.begin(), marks->published.end(),
                                     [&](const CurveDot& p) { return p.color == first; });
        return one ? first : Theme::current().muted;
    }

    void fitRanges() {
        // Whatever is measured how often, both plots and the track below them have one axis.
        auto [x0, x1] = model.keyRange(model.axis);
        double cut = NAN;
        if (std::isnan(x0))
            x0 = model.logX ? 1.0 : 0.0, x1 = model.end.value_or(model.logX ? 1000.0 : 100.0);
        if (!model.logX && x0 > 0.0 && x0 < 0.2 * x1) x0 = 0.0;
        if (!(x1 > x0)) x1 = x0 + 1.0;
        if (model.recentOnly) x0 = x1 - 0.25 * (x1 - x0);
        plot->applying = true;
        if (!plot->ownRange) plot->xAxis->setRange(x0, x1);
        plot->applying = false;
        const double from = model.recentOnly ? x0 : -std::numeric_limits<double>::infinity();
        const QCPRange values = lines.valueRange(from, &cut);
        double y0 = values.lower, y1 = values.upper;
        // Best points and published values are always inside.
        const auto include = [&](double value) {
            if (!(y0 <= value)) y0 = value;
            if (!(y1 >= value)) y1 = value;
        };
        for (const auto& ring : marks->rings)
            if (ring.key >= from) include(ring.value);
        for (const auto& p : marks->published) include(p.value);
        marks->beyond = cut > y1 ? metricText(metricInfo(lines.metric), cut) : QString();
        if (std::isnan(y0))
            y0 = lines.logY() ? 0.01 : metricInfo(lines.metric).low,
            y1 = metricInfo(lines.metric).high;
        if (lines.logY()) {
            plot->yAxis->setRange(y0 / 1.15, y1 * 1.15);
            return;
        }
        // Equal fractions, such as 0 %, get a range of one percent instead of rounding errors.
        if (isFraction(lines.metric) && y1 - y0 < 0.01) {
            y0 = std::max(0.0, y0 - 0.005);
            y1 = y0 + 0.01;
        }
        if (!model.recentOnly && metricInfo(lines.metric).lowerIsBetter && y0 > 0.0 &&
            y0 < 0.4 * y1)
            y0 = 0.0;
        const double pad = std::max(y1 - y0, 1e-6 + 0.02 * std::abs(y1)) * 0.06;
        plot->yAxis->setRange(y0 == 0.0 ? 0.0 : y0 - pad, y1 + pad);
    }

    void placeCursor(bool figure = false) {
        cursor->dots.clear();
        const auto& curves = lines.curves();
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
                    double last = NAN;
                    for (const auto* s : curves[i].series(v == 1))
                        if (!(last >= s->keys(model.axis).back()))
                            last = s->keys(model.axis).back();
                    key = std::min(key, last);
                }
                at[v] = curves[i].at(v == 1, lines.metric, model.axis, key, model.usedBeta(),
                                     model.band);
                if (any && at[v].count > 0 && (v == 1 || model.showTraining) &&
                    (!lines.logY() || at[v].mean > 0.0))
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
                                   metricText(metricInfo(lines.metric), at[0].mean), color, true,
                                   false});
            const QString name = curves.size() == 1 ? QStringLiteral("validation")
                                                    : names[static_cast<qsizetype>(i)];
            const bool trainingOnly = curves[i].series(true).empty() && curves.size() > 1;
            const CurveValue& shown = trainingOnly ? at[0] : at[1];
            entries.push_back({counted(name, shown),
                               metricText(metricInfo(lines.metric), shown.mean), color,
                               trainingOnly, false});
            if (const auto law = lines.law(i))
                entries.push_back({QStringLiteral("\u221D N^") + signedNumber(-law->b, 3),
                                   QStringLiteral("R\u00B2 ") + QString::number(law->r2, 'f', 3),
                                   color, false, false, true});
        }
        if (curves.size() > 1 && model.showTraining)
            entries.push_back({QStringLiteral("training"), {}, t.muted, true, false});
        if (!marks->published.empty())
            entries.push_back({QStringLiteral("published"), {}, publishedColor(), false, true});
        const bool layers = metricInfo(lines.metric).byLayer && model.order.size() == 1 &&
                            !curves.empty() && curves.front().members.front()->run.id.isEmpty();
        legend->setTitle(metricTitle(lines.metric) +
                         (layers ? QStringLiteral(", by layer") : QString()));
        legend->setEntries(std::move(entries));
    }

    /// Marks within reach of the pointer, each with its run.
    std::vector<std::pair<const CurveRunData*, const CurveMark*>> marksAt(const QPoint& at) const {
        std::vector<std::pair<const CurveRunData*, const CurveMark*>> found;
        if (at.y() > plot->axisRect()->bottom()) return found;
        for (const CurveRun& run : model.order) {
            const auto& data = model.runs.at(run.id);
            for (const CurveMark& mark : data.marks)
                if (std::abs(plot->xAxis->coordToPixel(model.keyOfStep(mark.step)) - at.x()) <= 6.0)
                    found.emplace_back(&data, &mark);
        }
        return found;
    }

    double cursorDistance(const QPoint& at) const {
        return cursor->shown ? std::abs(plot->xAxis->coordToPixel(cursor->key) - at.x()) : 1e9;
    }
};

CurvePlot::CurvePlot(CurveMetric metric, const CurveModel& model, QWidget* parent)
    : QWidget(parent) {
    m = std::make_unique<Parts>(this, metric, model);  // in the body: its plot sends events
    nameAll();
    auto* column = columnOf(this);
    column->addWidget(m->legend);
    column->addWidget(m->plot, 1);
    setMinimumSize(220, 40);
}

CurvePlot::~CurvePlot() = default;

void CurvePlot::nameAll() {
    const QString title = metricTitle(m->lines.metric);
    setAccessibleName(title + QStringLiteral(" curves"));
    m->legend->setTitle(title);
    m->plot->setAccessibleName(title + QStringLiteral(" plot"));
}

CurveMetric CurvePlot::metric() const {
    return m->lines.metric;
}
void CurvePlot::setMetric(CurveMetric metric) {
    if (metric == m->lines.metric) return;
    m->lines.metric = metric;
    m->setTicks();
    m->version = ~m->model.version;  // forces a complete rebuild
    nameAll();
}

void CurvePlot::sync() {
    if (m->version != m->model.version) {
        m->lines.rebuild();
        m->version = m->model.version;
        m->setAxis();
    }
    m->lines.update();
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
    m->plot->applying = true;
    m->plot->ownRange = true;
    m->plot->xAxis->setRange(low, high);
    m->plot->applying = false;
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::resetRange() {
    m->plot->ownRange = false;
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

void CurvePlot::setNumbersShown(bool on) {
    m->showNumbers(on);
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

std::vector<std::pair<double, QString>> CurvePlot::ticks() const {
    QVector<double> keys;
    QVector<QString> labels;
    m->xTicker->generate(m->plot->xAxis->range(), locale(), QLatin1Char('g'), 6, keys, nullptr,
                         &labels);
    std::vector<std::pair<double, QString>> ticks;
    for (qsizetype k = 0; k < qMin(keys.size(), labels.size()); ++k)
        ticks.emplace_back(keys[k], labels[k]);
    return ticks;
}

void CurvePlot::setLegendInset(int right) {
    m->legend->setInset(right);
}

double CurvePlot::replotNow() {
    return m->plot->replotNow();
}

/// A figure has axis titles and numbers and no cursor, and its legend no values at the cursor. It
/// is the same whatever the size of the widget.
void CurvePlot::paintVector(QPainter& painter, const QRectF& target) {
    const int width = qMax(50, static_cast<int>(target.width()));
    const bool numbers = m->plot->xAxis->tickLabels();
    m->placeCursor(true);
    m->showNumbers(true);
    m->countTicks(target.size().toSize());
    const int head = m->legend->drawWhole(nullptr, width);
    const int height = qMax(50, static_cast<int>(target.height()) - head);
    painter.save();
    painter.translate(target.topLeft());
    m->legend->drawWhole(&painter, width);
    m->plot->paintFigure(painter, head, {width, height}, axisTitle(m->model.axis),
                         metricTitle(metric()));
    painter.restore();
    m->showNumbers(numbers);
    m->countTicks();
    m->placeCursor();
}

std::vector<PgfSeries> CurvePlot::pgfSeries() const {
    return m->lines.pgfSeries();
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
    return m->plot->pixelOf(key, value);
}

void CurvePlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->plot->applyTheme();
    m->lines.restyle();
    m->placeMarks();
    m->placeCursor();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m->countTicks();
}

bool CurvePlot::eventFilter(QObject* watched, QEvent* event) {
    if (!m || watched != m->plot) return QWidget::eventFilter(watched, event);
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
