// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/lens_bars.h"

#include <QPainter>
#include <algorithm>

#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kRow = 26, kHead = 22, kMargin = 16, kNumbers = 196;
constexpr int kMostAnswers = 5, kMostAnswer = 210;

}  // namespace

LensBars::LensBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Answers at one position"));
    paper(this);
}

void LensBars::setColumn(const LensResult& result, int column) {
    m_result = result;
    m_column = column;
    QStringList lines;
    if (column >= 0)
        for (int row = 0; row < static_cast<int>(m_result.rows.size()); ++row) lines << text(row);
    setAccessibleDescription(lines.join(u'\n'));
    setMinimumHeight(layoutHeight());
    updateGeometry();
    update();
}

int LensBars::layoutHeight() const {
    return kHead + kRow * static_cast<int>(m_result.rows.size()) + 10;
}

QString LensBars::text(int row) const {
    const auto r = static_cast<std::size_t>(row);
    const auto& cell = m_result.cell(r, static_cast<std::size_t>(m_column));
    QStringList answers;
    for (const auto& answer : cell.top)
        answers << answerText(answer.name) + u' ' + probabilityText(answer.probability);
    return QStringLiteral("%1: %2; own answer rank %3")
        .arg(QString::fromStdString(m_result.rows[r]), answers.join(QStringLiteral(", ")),
             QString::number(cell.rank));
}

LensBars::Columns LensBars::columns(int width) const {
    const auto c = static_cast<std::size_t>(m_column);
    const QFontMetrics small(smallFont());
    Columns all{60, 0, 1};
    for (std::size_t r = 0; r < m_result.rows.size(); ++r) {
        all.labels =
            std::max(all.labels, small.horizontalAdvance(QString::fromStdString(m_result.rows[r])));
        all.count = std::max(all.count, static_cast<int>(m_result.cell(r, c).top.size()));
    }
    all.count = std::min(all.count, kMostAnswers);
    all.labels += kMargin + 12;
    all.each = std::clamp((width - all.labels - kNumbers - kMargin) / all.count, 60, kMostAnswer);
    return all;
}

int LensBars::usedWidth(int width) const {
    if (m_column < 0) return width;
    const auto [labels, each, count] = columns(width);
    return std::max(420, labels + each * count + kNumbers + kMargin);
}

void LensBars::paint(QPainter& painter, int width) const {
    if (m_column < 0 || m_column >= static_cast<int>(m_result.columns())) return;
    const Theme& t = Theme::current();
    const auto c = static_cast<std::size_t>(m_column);
    const auto [labels, each, count] = columns(width);
    const int numbers = labels + each * count + 8;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(labels, 0, each * count, kHead), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("likeliest answers"));
    const auto column = [&](int k) { return QRect(numbers + k * 62, 0, 58, kHead); };
    static const char* const heads[] = {"own", "rank", "entropy"};
    for (int k = 0; k < 3; ++k)
        painter.drawText(column(k), Qt::AlignRight | Qt::AlignVCenter, QLatin1String(heads[k]));
    for (std::size_t r = 0; r < m_result.rows.size(); ++r) {
        const auto& cell = m_result.cell(r, c);
        const int y = kHead + static_cast<int>(r) * kRow;
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kMargin, y, labels - kMargin - 12, kRow),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::fromStdString(m_result.rows[r]));
        for (int k = 0; k < std::min(count, static_cast<int>(cell.top.size())); ++k) {
            const auto& answer = cell.top[static_cast<std::size_t>(k)];
            const bool own = answer.id == m_result.answers[c].id;
            const QRect box(labels + k * each, y + 3, each - 6, kRow - 6);
            painter.fillRect(box, t.alt);
            painter.fillRect(QRectF(box.left(), box.bottom() - 3,
                                    box.width() * std::clamp(answer.probability, 0.0, 1.0), 4),
                             own ? t.accent : t.muted);
            QFont name = monoFont(12);
            name.setBold(own);
            const QString share = probabilityText(answer.probability);
            painter.setFont(numberFont(11));
            painter.setPen(t.muted);
            const int wide = painter.fontMetrics().horizontalAdvance(share) + 8;
            painter.drawText(box.adjusted(0, -2, -5, -3), Qt::AlignRight | Qt::AlignVCenter, share);
            painter.setFont(name);
            painter.setPen(t.text);
            paint::elidedText(painter, box.adjusted(5, -2, -wide, -3),
                              Qt::AlignLeft | Qt::AlignVCenter, answerText(answer.name));
        }
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        const QString values[] = {probabilityText(cell.probability), QString::number(cell.rank),
                                  QString::number(cell.entropy, 'f', 2)};
        for (int k = 0; k < 3; ++k)
            painter.drawText(column(k).translated(0, y).adjusted(0, 0, 0, kRow - kHead),
                             Qt::AlignRight | Qt::AlignVCenter, values[k]);
    }
}

void LensBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter, width());
}

}  // namespace relascope::widgets
