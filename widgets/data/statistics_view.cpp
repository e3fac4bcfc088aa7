// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/data/statistics_view.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "answers/example_text.h"
#include "widgets/export/figure.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {
constexpr int kStatisticsMargin = 16, kStatisticsWidth = 360;
}

StatisticsView::StatisticsView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Statistics"));
}
void StatisticsView::setStatistics(DataStatistics statistics) {
    m_shown = std::move(statistics);
    m_counts.clear();
    for (const auto& [name, count] : m_shown.bars)
        m_counts.emplace_back(m_shown.pieces ? pieceLabel(name) : QString::fromStdString(name),
                              count);
    refresh();
}
void StatisticsView::setClasses(std::vector<std::pair<QString, qint64>> counts,
                                const QString& what) {
    auto statistics = m_shown;
    statistics.what = what.toStdString();
    statistics.pieces = false;
    statistics.bars.clear();
    for (const auto& [name, count] : counts)
        statistics.bars.emplace_back(name.toStdString(), count);
    setStatistics(std::move(statistics));
}
void StatisticsView::setRows(std::vector<std::pair<QString, QString>> rows) {
    m_shown.rows.clear();
    for (const auto& [name, value] : rows)
        m_shown.rows.emplace_back(name.toStdString(), value.toStdString());
    refresh();
}
void StatisticsView::setNote(const QString& note) {
    m_note = note;
    refresh();
}
int StatisticsView::noteHeight() const {
    if (m_note.isEmpty()) return 0;
    const int wide = std::max(120, width() - 2 * kStatisticsMargin);
    return QFontMetrics(smallFont())
               .boundingRect(QRect(0, 0, wide, 4000), Qt::TextWordWrap, m_note)
               .height() +
           12;
}
void StatisticsView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (const int high = sizeHint().height(); high != minimumHeight()) setMinimumHeight(high);
}
void StatisticsView::refresh() {
    setAccessibleDescription(m_note.isEmpty() ? csv() : csv() + m_note);
    setMinimumHeight(sizeHint().height());
    updateGeometry();
    update();
}
QSize StatisticsView::sizeHint() const {
    return {260,
            static_cast<int>(20 * (m_counts.size() + m_shown.rows.size())) + 32 + noteHeight()};
}
QString StatisticsView::csv() const {
    return QString::fromStdString(core::csvOf(m_shown));
}

std::unique_ptr<QWidget> StatisticsView::figure() const {
    auto view = std::make_unique<StatisticsView>();
    view->setPalette(Theme::current().palette());
    view->resize(kStatisticsWidth, 1);  // the note is wrapped at the width
    view->setStatistics(m_shown);
    view->setNote(m_note);
    view->resize(kStatisticsWidth, view->sizeHint().height());
    return view;
}

QString StatisticsView::pgfplots(const QString& caption) const {
    if (m_counts.empty()) return {};
    PgfBars bars;
    bars.xLabel = QString::fromStdString(m_shown.what);
    bars.yLabel = QStringLiteral("count");
    bars.color = Theme::current().accent;
    for (const auto& [name, count] : m_counts) {
        bars.labels << name;
        bars.values.push_back(static_cast<double>(count));
    }
    return pgfplotsText(caption, bars);
}

void StatisticsView::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.panel);
    const QFontMetrics metrics(smallFont()), numbers(numberFont(12));
    qint64 most = 1;
    int names = 40, counts = 20;
    for (const auto& [name, count] : m_counts) {
        most = std::max(most, count);
        names = std::max(names, std::min(110, metrics.horizontalAdvance(name) + 2));
        counts = std::max(counts, numbers.horizontalAdvance(groupedNumber(count)));
    }
    int y = 12;
    const int bar = std::max(10, width() - 2 * kStatisticsMargin - names - counts - 24);
    for (const auto& [name, count] : m_counts) {
        painter.setFont(smallFont());
        painter.setPen(t.text);
        paint::elidedText(painter, QRect(kStatisticsMargin, y, names, 18), Qt::AlignVCenter, name);
        const QRect track(kStatisticsMargin + names + 12, y + 5, bar, 8);
        painter.fillRect(track, t.track);
        painter.fillRect(
            QRect(track.left(), track.top(),
                  static_cast<int>(static_cast<double>(bar) * static_cast<double>(count) /
                                   static_cast<double>(most)),
                  8),
            t.series[0]);
        painter.setFont(numberFont(12));
        painter.drawText(QRect(kStatisticsMargin, y, width() - 2 * kStatisticsMargin, 18),
                         Qt::AlignVCenter | Qt::AlignRight, groupedNumber(count));
        y += 20;
    }
    if (!m_counts.empty()) y += 8;
    for (const auto& [key, text] : m_shown.rows) {
        const QString name = QString::fromStdString(key), value = QString::fromStdString(text);
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kStatisticsMargin, y, width() - 2 * kStatisticsMargin, 18),
                         Qt::AlignVCenter, name);
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        const int room = width() - 2 * kStatisticsMargin - metrics.horizontalAdvance(name) - 12;
        painter.drawText(QRect(kStatisticsMargin, y, width() - 2 * kStatisticsMargin, 18),
                         Qt::AlignVCenter | Qt::AlignRight,
                         numbers.elidedText(value, Qt::ElideMiddle, std::max(20, room)));
        y += 20;
    }
    if (m_note.isEmpty()) return;
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(kStatisticsMargin, y + 6, width() - 2 * kStatisticsMargin, noteHeight()),
                     Qt::TextWordWrap, m_note);
}

}  // namespace relascope::widgets
