#include "widgets/source/probability_bars.h"

#include <QPainter>
#include <algorithm>
#include <numeric>

#include "widgets/theme/theme.h"

namespace relascope {

ProbabilityBars::ProbabilityBars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Output probabilities"));
}

void ProbabilityBars::setProbabilities(const QStringList& names,
                                       const std::vector<float>& probabilities, int label,
                                       int most) {
    m_names = names;
    m_probabilities = probabilities;
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
    QStringList words;
    for (const int k : m_shown)
        words << QStringLiteral("%1 %2")
                     .arg(m_names.value(k, QString::number(k)))
                     .arg(probabilities[static_cast<std::size_t>(k)], 0, 'f', 3);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    setFixedHeight(sizeHint().height());
    updateGeometry();
    update();
}

void ProbabilityBars::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(smallFont());
    int names = 0;
    for (const int k : m_shown)
        names = qMax(names,
                     painter.fontMetrics().horizontalAdvance(m_names.value(k, QString::number(k))));
    names = qMin(names + 2, width() * 2 / 5);  // 2: an advance is rounded, eliding is not
    const int numbers = 46;
    int y = 0;
    for (const int k : m_shown) {
        const float p = m_probabilities[static_cast<std::size_t>(k)];
        painter.setFont(smallFont());
        painter.setPen(t.text);
        painter.drawText(QRect(0, y, names, rowHeight), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(m_names.value(k, QString::number(k)),
                                                          Qt::ElideRight, names));
        const QRectF bar(names + 12, y + rowHeight / 2 - 4,
                         qMax(10, width() - names - 12 - numbers), 8);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.track);
        painter.drawRoundedRect(bar, 2, 2);
        if (p > 0) {
            painter.setBrush(k == m_best ? t.series[0] : t.muted);
            painter.drawRoundedRect(
                QRectF(bar.left(), bar.top(), qMax(2.0, bar.width() * qMin(1.0F, p)), bar.height()),
                2, 2);
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        painter.drawText(QRect(width() - numbers, y, numbers, rowHeight),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(static_cast<double>(p), 'f', 3));
        y += rowHeight;
    }
}

}  // namespace relascope
