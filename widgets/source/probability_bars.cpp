// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <numeric>

#include <QPainter>

#include "widgets/export/figure.h"
#include "widgets/source/probability_bars.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

float largestSize(std::span<const float> values) {
    float largest = 0;
    for (const float v : values)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    return largest;
}

void paintVectorBars(QPainter& painter, const QRect& place, std::span<const float> values,
                     float largest, const QColor& ink) {
    if (!(largest > 0) || values.empty() || place.width() < 1) return;
    constexpr int most = 28;
    const int width = static_cast<int>(values.size());
    const int bars = std::min({width, most, place.width()});
    const int middle = place.center().y();
    const double reach = place.height() / 2.0 - 1;
    QColor line = ink;
    line.setAlpha(90);
    painter.fillRect(QRect(place.left(), middle, place.width(), 1), line);
    for (int bar = 0; bar < bars; ++bar) {
        float value = 0;  // the largest of a pooled stretch: a spike must not drown in a mean
        for (int k = bar * width / bars; k < (bar + 1) * width / bars; ++k) {
            const float v = values[static_cast<std::size_t>(k)];
            if (std::abs(v) > std::abs(value)) value = v;
        }
        const int left = place.left() + bar * place.width() / bars;
        const int right = place.left() + (bar + 1) * place.width() / bars;
        const int high = qRound(reach * std::min(1.0F, std::abs(value) / largest));
        painter.fillRect(
            QRect(left, value > 0 ? middle - high : middle, qMax(1, right - left - 1), high + 1),
            ink);
    }
}

ProbabilityBars::ProbabilityBars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Output probabilities"));
}

void ProbabilityBars::setProbabilities(const QStringList& names,
                                       const std::vector<float>& probabilities, int label,
                                       int most) {
    m_names = names;
    m_probabilities = probabilities;
    m_before.clear();
    m_tokens = false;
    m_marked = -1;
    m_full = 1;
    const int count = static_cast<int>(probabilities.size());
    m_shown.resize(probabilities.size());
    std::iota(m_shown.begin(), m_shown.end(), 0);
    const auto likelier = [&](int a, int b) {
        return probabilities[static_cast<std::size_t>(a)] >
               probabilities[static_cast<std::size_t>(b)];
    };
    m_best = count > 0 ? *std::min_element(m_shown.begin(), m_shown.end(), likelier) : -1;
    if (count > most) {
        std::stable_sort(m_shown.begin(), m_shown.end(), likelier);
        const auto truth = std::find(m_shown.begin(), m_shown.end(), label);
        if (truth != m_shown.end() && truth - m_shown.begin() >= most)
            m_shown[static_cast<std::size_t>(most - 1)] = label;
        m_shown.resize(static_cast<std::size_t>(most));
    }
    finish();
}

void ProbabilityBars::setChoices(const std::vector<TokenChoice>& choices, std::int64_t chosen) {
    m_names.clear();
    m_probabilities.clear();
    m_before.clear();
    m_tokens = true;
    m_best = m_marked = -1;
    m_full = 0;
    for (const TokenChoice& choice : choices) {
        if (choice.id == chosen) m_marked = static_cast<int>(m_names.size());
        m_names << pieceLabel(choice.piece);
        m_probabilities.push_back(static_cast<float>(choice.probability));
        m_full = qMax(m_full, m_probabilities.back());
    }
    m_shown.resize(choices.size());
    std::iota(m_shown.begin(), m_shown.end(), 0);
    finish();
}

void ProbabilityBars::setBefore(std::vector<float> probabilities) {
    if (probabilities.size() != m_probabilities.size()) probabilities.clear();
    m_before = std::move(probabilities);
    if (m_tokens)
        for (const float p : m_before) m_full = qMax(m_full, p);
    finish();
}

void ProbabilityBars::finish() {
    QStringList parts;
    for (const int k : m_shown)
        parts << QStringLiteral("%1 %2")
                         .arg(m_names.value(k, QString::number(k)))
                         .arg(m_probabilities[static_cast<std::size_t>(k)], 0, 'f', 3) +
                     (m_before.empty()
                          ? QString()
                          : QStringLiteral(" (before %1)")
                                .arg(m_before[static_cast<std::size_t>(k)], 0, 'f', 3));
    if (m_marked >= 0) parts << QStringLiteral("chosen: ") + m_names[m_marked];
    setAccessibleDescription(parts.join(QStringLiteral(", ")));
    setFixedHeight(sizeHint().height());
    updateGeometry();
    update();
}

QString ProbabilityBars::pgfplots(const QString& caption) const {
    if (m_shown.empty()) return {};
    PgfBars bars;
    bars.yLabel = QStringLiteral("probability");
    bars.color = Theme::current().accent;
    for (const int k : m_shown) {
        bars.labels << m_names.value(k);
        bars.values.push_back(static_cast<double>(m_probabilities[static_cast<std::size_t>(k)]));
    }
    return pgfplotsText(caption, bars);
}

void ProbabilityBars::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    const QFont font = m_tokens ? monoFont(12) : smallFont();
    painter.setFont(font);
    int names = 0;
    for (const int k : m_shown)
        names = qMax(names,
                     painter.fontMetrics().horizontalAdvance(m_names.value(k, QString::number(k))));
    names = qMin(names + 2, width() * 2 / 5);  // 2: an advance is rounded, eliding is not
    // With edits the change is written after the probability.
    const int changes = m_before.empty() ? 0 : 50;
    const int numbers = 46 + changes, high = this->high();
    int y = 0;
    for (const int k : m_shown) {
        const float p = m_probabilities[static_cast<std::size_t>(k)];
        const bool marked = k == m_marked;
        if (marked) painter.fillRect(QRect(0, y, width(), high), t.selection);
        painter.setFont(font);
        painter.setPen(t.text);
        paint::elidedText(painter, QRect(m_tokens ? 4 : 0, y, names, high),
                          Qt::AlignLeft | Qt::AlignVCenter, m_names.value(k, QString::number(k)));
        QRectF bar(names + 12, y + high / 2 - 4,
                   qMax(10, width() - names - 12 - numbers - (m_tokens ? 4 : 0)), 8);
        if (!m_before.empty()) bar.translate(0, 4);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        if (!m_tokens) {  // classes share one whole; of tokens only the likeliest are here
            painter.setBrush(t.track);
            painter.drawRoundedRect(bar, 2, 2);
        }
        if (p > 0) {
            painter.setBrush(marked ? t.accent : k == m_best ? t.series[0] : t.muted);
            const qreal fraction = qBound(0.0F, m_full > 0 ? p / m_full : 0.0F, 1.0F);
            painter.drawRoundedRect(
                QRectF(bar.left(), bar.top(), qMax(2.0, bar.width() * fraction), bar.height()), 2,
                2);
        }
        if (!m_before.empty()) {
            const float then = m_before[static_cast<std::size_t>(k)];
            const qreal fraction = qBound(0.0F, m_full > 0 ? then / m_full : 0.0F, 1.0F);
            painter.setPen(QPen(t.text, 1));
            painter.setBrush(Qt::NoBrush);
            const QRectF hollow(bar.left() + 0.5, bar.top() - 6.5, bar.width() * fraction - 1, 5);
            if (hollow.width() < 4)  // a rounded outline that small is taken for a zero
                painter.drawLine(hollow.topLeft(), hollow.bottomLeft());
            else
                painter.drawRoundedRect(hollow, 2, 2);
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
        QFont figures = numberFont(12);
        if (marked) figures.setWeight(QFont::DemiBold);
        painter.setFont(figures);
        painter.setPen(t.text);
        const int right = width() - (m_tokens ? 4 : 0);
        painter.drawText(QRect(right - numbers, y, numbers - changes, high),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(static_cast<double>(p), 'f', 3));
        if (changes > 0) {
            const float change = p - m_before[static_cast<std::size_t>(k)];
            painter.setPen(std::abs(change) < 0.0005F ? t.muted : t.warning);
            painter.drawText(QRect(right - changes, y, changes, high),
                             Qt::AlignRight | Qt::AlignVCenter, signedNumber(change, 3));
        }
        y += high;
    }
}

}  // namespace relascope::widgets
