// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/cumulative_plot.h"

#include <QHelpEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "types/metric.h"
#include "widgets/curves/curve_items.h"
#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

struct CumulativePlot::Parts {
    ThemedPlot* plot;
    QCPGraph *line, *base;
    AblationTable table;

    explicit Parts(CumulativePlot* self)
        : plot(new ThemedPlot(QMargins(52, 8, 16, 42), self)),
          line(plot->addGraph()),
          base(plot->addGraph()) {
        plot->setAccessibleName(QStringLiteral("Cumulative curve"));
        plot->xAxis->setLabel(QStringLiteral("Parts removed"));
        plot->xAxis->setTicker(QSharedPointer<CurveTicker>::create(CurveTicker::Format::Count));
    }

    double valueAt(int removed) const {
        return removed == 0 ? table.base
                            : table.cumulative[static_cast<std::size_t>(removed - 1)].second;
    }
    int count() const { return static_cast<int>(table.cumulative.size()); }

    void style() {
        const Theme& t = Theme::current();
        plot->applyTheme();
        line->setPen(QPen(t.series[0], 1.6));
        line->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssDisc, t.series[0], t.series[0], 5));
        base->setPen(QPen(t.muted, 1, Qt::DashLine));
    }

    void fill() {
        const bool percent = MetricText(table.metric).percent;
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
        QVector<double> x, y;
        double low = table.base, high = table.base;
        for (int k = 0; k <= count(); ++k) {
            const double value = valueAt(k);
            x << k;
            y << value;
            if (!std::isfinite(value)) continue;
            low = std::min(low, value), high = std::max(high, value);
        }
        line->setData(x, y, true);
        base->setData({0.0, static_cast<double>(count())}, {table.base, table.base}, true);
        const double pad = std::max(0.06 * (high - low), percent ? 0.01 : 1e-6);
        plot->xAxis->setRange(-0.3, count() + 0.3);
        plot->yAxis->setRange(low - pad, high + pad);
        style();
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
};

CumulativePlot::CumulativePlot(QWidget* parent)
    : QWidget(parent), m(std::make_unique<Parts>(this)) {
    columnOf(this)->addWidget(m->plot);
    m->style();
}
CumulativePlot::~CumulativePlot() = default;

QString CumulativePlot::title(const AblationTable& table) {
    return QStringLiteral("Parts removed one after another (%1), the least important first")
        .arg(wayText(table.cumulativeWay));
}

void CumulativePlot::setTable(const AblationTable& table) {
    m->table = table;
    m->fill();
    const MetricText text(table.metric);
    QString description =
        QStringLiteral("%1 with every part %2").arg(text.title).arg(text.value(table.base));
    for (int k = 1; k <= m->count(); ++k)
        description += QStringLiteral("; %1 out: %2").arg(k).arg(text.value(m->valueAt(k)));
    m->plot->setAccessibleDescription(description);
}

QPointF CumulativePlot::pixelOf(int removed) const {
    return m->plot->pixelOf(removed, m->valueAt(std::clamp(removed, 0, m->count())));
}

QString CumulativePlot::hoverText(const QPoint& at) const {
    if (m->table.cumulative.empty()) return {};
    const int k =
        static_cast<int>(std::lround(m->plot->xAxis->pixelToCoord(at.x() - m->plot->pos().x())));
    if (k < 0 || k > m->count()) return {};
    const MetricText text(m->table.metric);
    if (k == 0) return QStringLiteral("Nothing removed: %1").arg(text.value(m->table.base));
    return QStringLiteral("%1 removed, the last is %2: %3")
        .arg(k)
        .arg(QString::fromStdString(m->table.cumulative[static_cast<std::size_t>(k - 1)].first),
             text.value(m->valueAt(k)));
}

void CumulativePlot::paintVector(QPainter& painter, int top, const QSize& size) {
    m->style();
    m->plot->paintFigure(painter, top, size, m->plot->xAxis->label(),
                         MetricText(m->table.metric).title);
}

void CumulativePlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->style();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

bool CumulativePlot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = hoverText(m ? help->pos() + m->plot->pos() : help->pos());
        if (!text.isEmpty()) QToolTip::showText(help->globalPos(), plainTip(text), this);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::widgets
