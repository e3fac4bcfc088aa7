// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/attribution_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/measure/measure_text.h"
#include "widgets/measure/signed_bar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kRow = 22, kTop = 4, kMargin = 16, kNumber = 72, kIndent = 22, kMostBar = 640;
constexpr double kShownInside = 0.05;  // of the largest part

// Of a part inside a head the head is not repeated.
QString nameOf(const AttributionPart& part) {
    if (part.kind == PartKind::Relation)
        return QStringLiteral("relation %1").arg(part.relation + 1);
    return part.kind == PartKind::Symbols ? QStringLiteral("symbols")
                                          : QString::fromStdString(part.text());
}

}  // namespace

AttributionBars::AttributionBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Parts of the logit"));
    paper(this);
}

void AttributionBars::setResult(const Attribution& result) {
    m_result = result;
    order();
}
void AttributionBars::setBySize(bool on) {
    m_bySize = on;
    order();
}
void AttributionBars::setAll(bool on) {
    m_all = on;
    order();
}

void AttributionBars::order() {
    const auto& parts = m_result.parts;
    double most = 0.0;
    for (const auto& part : parts) most = std::max(most, std::abs(part.value));
    // A head with what is inside it.
    struct Group {
        std::size_t part;
        std::vector<std::size_t> inside;
    };
    std::vector<Group> groups;
    m_leftOut = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        if (!parts[k].inside() || groups.empty()) {
            groups.push_back({k, {}});
        } else if (m_all || std::abs(parts[k].value) >= kShownInside * most) {
            groups.back().inside.push_back(k);
        } else {
            ++m_leftOut;
        }
    }
    const auto larger = [&](std::size_t a, std::size_t b) {
        return std::abs(parts[a].value) > std::abs(parts[b].value);
    };
    if (m_bySize) {
        std::stable_sort(groups.begin(), groups.end(),
                         [&](const auto& a, const auto& b) { return larger(a.part, b.part); });
        for (auto& group : groups)
            std::stable_sort(group.inside.begin(), group.inside.end(), larger);
    }
    m_shown.clear();
    QStringList lines;
    for (const auto& group : groups) {
        m_shown.push_back(group.part);
        m_shown.insert(m_shown.end(), group.inside.begin(), group.inside.end());
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(m_shown.size(), 60); ++i)
        lines << QString::fromStdString(parts[m_shown[i]].text()) + u' ' +
                     signedText(parts[m_shown[i]].value, 3);
    setAccessibleDescription(lines.join(QStringLiteral(", ")));
    setMinimumHeight(layoutHeight());
    updateGeometry();
    update();
}

int AttributionBars::layoutHeight() const {
    return 2 * kTop + kRow * static_cast<int>(m_shown.size());
}

int AttributionBars::rowAt(const QPoint& at) const {
    const int row = (at.y() - kTop) / kRow;
    return at.y() >= kTop && row < static_cast<int>(m_shown.size()) ? row : -1;
}

void AttributionBars::paint(QPainter& painter, int width) const {
    const Theme& t = Theme::current();
    const QFontMetrics metrics(smallFont());
    BarRange range;
    int names = 120;
    for (const std::size_t k : m_shown) {
        const auto& part = m_result.parts[k];
        range.include(part.value);
        names = std::max(names,
                         metrics.horizontalAdvance(nameOf(part)) + (part.inside() ? kIndent : 0));
    }
    names = std::min(names + 2, width / 2);
    const int left = kMargin + names + kNumber + 16;
    const int bar = std::clamp(width - left - kMargin, 60, kMostBar);
    int y = kTop;
    for (const std::size_t k : m_shown) {
        const auto& part = m_result.parts[k];
        const int indent = part.inside() ? kIndent : 0;
        painter.setFont(smallFont());
        painter.setPen(part.inside() ? t.muted : t.text);
        paint::elidedText(painter, QRect(kMargin + indent, y, names - indent, kRow),
                          Qt::AlignVCenter | Qt::AlignLeft, nameOf(part));
        painter.setFont(numberFont(12));
        painter.drawText(QRect(kMargin + names, y, kNumber, kRow),
                         Qt::AlignVCenter | Qt::AlignRight, signedText(part.value, 3));
        drawSignedBar(painter, QRect(left, y, bar, kRow), part.value, range,
                      part.inside() ? 6 : 12);
        y += kRow;
    }
}

void AttributionBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter, width());
}

bool AttributionBars::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int row = rowAt(help->pos());
        if (row < 0) {
            QToolTip::hideText();
        } else {
            const auto& part = m_result.parts[m_shown[static_cast<std::size_t>(row)]];
            QToolTip::showText(
                help->globalPos(),
                QStringLiteral("%1: %2%3")
                    .arg(QString::fromStdString(part.text()), signedText(part.value, 6),
                         part.inside() ? QStringLiteral(", counted in its head") : QString()),
                this);
        }
        return true;
    }
    return QWidget::event(event);
}

}  // namespace relascope::widgets
