// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/histogram_view.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "answers/answer_text.h"
#include "answers/checkpoint_answer.h"
#include "widgets/checkpoint/tensor_model.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int numbersWidth = 190;  ///< px, width of the column with the numbers
constexpr int kHistogramLeft = 16, kHistogramTop = 8, kHistogramBottom = 22;

}  // namespace

class HistogramView::Plot : public QWidget {
public:
    explicit Plot(HistogramView* owner) : QWidget(owner), m_owner(owner) {
        setAccessibleName(QStringLiteral("Histogram"));
        setMinimumHeight(96);
    }

    QRect area() const {
        return {kHistogramLeft, kHistogramTop,
                qMax(40, width() - kHistogramLeft - 16 - numbersWidth - 16),
                qMax(20, height() - kHistogramTop - kHistogramBottom)};
    }

    double fraction(std::int64_t count) const {
        const auto& bins = m_owner->m_statistics->histogram;
        const auto most = *std::max_element(bins.begin(), bins.end());
        if (count <= 0 || most <= 0) return 0;
        // Count + 1, so that a single value is visible on the logarithmic axis.
        return m_owner->logY()
                   ? std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most))
                   : static_cast<double>(count) / static_cast<double>(most);
    }

    QRectF bar(int bin) const {
        const auto& s = m_owner->m_statistics;
        if (!s || bin < 0 || bin >= static_cast<int>(s->histogram.size())) return {};
        const QRectF a = area();
        const double step = a.width() / static_cast<double>(s->histogram.size());
        const double high = a.height() * fraction(s->histogram[static_cast<std::size_t>(bin)]);
        return {a.left() + bin * step, a.bottom() - high, step, high};
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& t = Theme::current();
        QPainter painter(this);
        painter.fillRect(rect(), t.panel);
        const auto& s = m_owner->m_statistics;
        if (!s || s->histogram.empty()) {
            painter.setFont(smallFont());
            painter.setPen(t.muted);
            painter.drawText(rect().adjusted(16, 0, -16, 0), Qt::AlignCenter | Qt::TextWordWrap,
                             m_owner->m_note);
            return;
        }
        const QRect a = area();
        painter.setPen(Qt::NoPen);
        const auto bins = static_cast<int>(s->histogram.size());
        for (int k = 0; k < bins; ++k) {
            const QRectF box = bar(k);
            if (box.height() <= 0) continue;
            const double gap = box.width() >= 4 ? 1 : 0;
            // A bar is at least one pixel high.
            const double high = std::max(1.0, box.height());
            painter.fillRect(QRectF(box.left(), a.bottom() - high, box.width() - gap, high),
                             t.series[0]);
        }
        painter.fillRect(QRect(a.left(), a.bottom(), a.width(), 1), t.axis);
        painter.setFont(numberFont(11));
        painter.setPen(t.muted);
        const QRect below(a.left(), a.bottom() + 4, a.width(), 16);
        painter.drawText(below, Qt::AlignLeft, shortNumber(s->minimum));
        painter.drawText(below, Qt::AlignRight, shortNumber(s->maximum));
        if (s->minimum < 0 && s->maximum > 0) {
            const double zero = a.left() + a.width() * (-s->minimum) / (s->maximum - s->minimum);
            painter.fillRect(QRectF(zero - 0.5, a.bottom(), 1, 4), t.axis);
            if (zero > a.left() + 60 && zero < a.right() - 60)
                painter.drawText(QRectF(zero - 20, below.top(), 40, 16), Qt::AlignHCenter, "0");
        }
        paintNumbers(painter);
    }

    bool event(QEvent* event) override {
        const auto& s = m_owner->m_statistics;
        if (event->type() != QEvent::ToolTip || !s || s->histogram.empty())
            return QWidget::event(event);
        auto* help = static_cast<QHelpEvent*>(event);
        const QRect a = area();
        const auto bins = static_cast<int>(s->histogram.size());
        const int bin = (help->pos().x() - a.left()) * bins / a.width();
        if (help->pos().x() < a.left() || bin >= bins) return QWidget::event(event);
        const double step = (s->maximum - s->minimum) / bins;
        QToolTip::showText(help->globalPos(),
                           QStringLiteral("%1 values from %2 to %3")
                               .arg(groupedNumber(s->histogram[static_cast<std::size_t>(bin)]),
                                    shortNumber(s->minimum + bin * step),
                                    shortNumber(s->minimum + (bin + 1) * step)),
                           this);
        return true;
    }

private:
    void paintNumbers(QPainter& painter) const {
        const Theme& t = Theme::current();
        const auto& s = *m_owner->m_statistics;
        const std::pair<QString, QString> rows[] = {
            {QStringLiteral("minimum"), shortNumber(s.minimum)},
            {QStringLiteral("maximum"), shortNumber(s.maximum)},
            {QStringLiteral("mean"), shortNumber(s.mean)},
            {QStringLiteral("deviation"), shortNumber(s.deviation)},
            {QStringLiteral("numbers"), groupedNumber(s.count)},
            {QStringLiteral("not finite"), groupedNumber(s.notFinite)}};
        const int step = qBound(15, (height() - 10) / 6, 22);
        int y = 6;
        for (const auto& [name, value] : rows) {
            const QRect row(width() - 16 - numbersWidth, y, numbersWidth, step);
            const bool broken = s.notFinite > 0 && name == QLatin1String("not finite");
            painter.setFont(smallFont());
            painter.setPen(broken ? t.error : t.muted);
            painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, name);
            painter.setFont(numberFont(12));
            painter.setPen(broken ? t.error : t.text);
            painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, value);
            y += step;
        }
    }

    HistogramView* m_owner;
};

HistogramView::HistogramView(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Values"), this)),
      m_log(new ToggleChip(QStringLiteral("log y"), this)),
      m_plot(new Plot(this)) {
    setAccessibleName(QStringLiteral("Values of the tensor"));
    auto* more = iconButton("more", QStringLiteral("Histogram: copy, save"), this);
    m_log->setToolTip(QStringLiteral("Logarithmic counts, to show the tails"));
    m_head->addControl(m_log);
    m_head->addControl(more);
    m_head->setLineBelow(false);
    m_menu = new ViewMenu(
        more, m_plot, [] { return QStringLiteral("histogram"); }, [this] { return csv(); });
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_plot, 1);
    connect(m_log, &QAbstractButton::toggled, m_plot, qOverload<>(&QWidget::update));
    clear();
}

bool HistogramView::logY() const {
    return m_log->isChecked();
}

void HistogramView::setTensor(const QString& name, const QString& note) {
    m_statistics.reset();
    m_note = note;
    m_head->setSubText(name);
    m_plot->setAccessibleDescription(note);
    m_plot->update();
}

void HistogramView::clear() {
    setTensor({}, QStringLiteral("Select a tensor above to see its values."));
}

void HistogramView::setStatistics(const TensorStatistics& statistics) {
    m_statistics = statistics;
    m_head->setSubText(QString::fromStdString(statistics.name));
    if (statistics.histogram.empty() || statistics.notFinite >= statistics.count)
        m_note = statistics.count == 0 ? QStringLiteral("The tensor is empty.")
                                       : QStringLiteral("None of its %1 values is finite.")
                                             .arg(groupedNumber(statistics.count));
    if (statistics.notFinite >= statistics.count) m_statistics->histogram.clear();
    m_plot->setAccessibleDescription(QStringLiteral("%1 values, %2, mean %3, std %4")
                                         .arg(groupedNumber(statistics.count),
                                              rangeText(statistics), shortNumber(statistics.mean),
                                              shortNumber(statistics.deviation)));
    m_plot->update();
}

QWidget* HistogramView::plot() const {
    return m_plot;
}
QRectF HistogramView::barRect(int bin) const {
    return m_plot->bar(bin);
}

QString HistogramView::csv() const {
    return QString::fromStdString(
        core::csvOf(core::histogramTable(m_statistics.value_or(TensorStatistics()))));
}

void HistogramView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_plot) m_plot->update();
}

}  // namespace relascope::widgets
