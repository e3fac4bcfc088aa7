// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/share_bars.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QPainter>
#include <QRegularExpression>
#include <QResizeEvent>

#include "widgets/analysis/analysis_frame.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kShareSide = 16, kShareBar = 22, kUntrainedBar = 8, kChip = 10;
constexpr double kSmallShare = 0.03;
constexpr std::size_t kMostSegments = 7;

/// "layer 1 relational head 2 relation 3" and "... symbols" are of one head.
QString wholeHead(const QString& part) {
    static const QRegularExpression inside(QStringLiteral("(head \\d+) (relation \\d+|symbols)$"));
    QString whole = part;
    return whole.replace(inside, QStringLiteral("\\1"));
}

QString percentText(double share) {
    return signedText(100.0 * share, 0).remove(u'+') + QStringLiteral(" %");
}

/// One colour for each segment of a bar, the same in the bar of untrained models and in the legend.
QColor segmentColor(const ShareBar& bar, std::size_t at) {
    const auto& theme = Theme::current();
    const auto& segment = bar.segments[at];
    if (segment.rest) return theme.border;
    if (segment.alone) return theme.muted;
    const auto pairs =
        std::count_if(bar.segments.begin(), bar.segments.begin() + std::ptrdiff_t(at),
                      [](const ShareSegment& s) { return !s.alone && !s.rest; });
    return theme.seriesColor(static_cast<int>(pairs));
}

}  // namespace

ShareBar shareBarOf(const Table& table) {
    const auto& shares = table.numbers("share");
    const auto &low = table.numbers("untrained_low"), &high = table.numbers("untrained_high");
    const auto &i = table.texts("i"), &j = table.texts("j");
    const auto* sides = table.find("side");
    std::map<QString, ShareSegment> byName;
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const bool alone = sides && sides->texts[k] != "both";
        QString a = wholeHead(shownText(i[k])), b = wholeHead(shownText(j[k]));
        if (b < a) std::swap(a, b);
        const bool itself = a == b && a.contains(u' ');  // short names are repeated
        const QString other = itself ? QStringLiteral("itself") : shortPart(b);
        const QString name = alone ? shownText(sides->texts[k]) + QStringLiteral(" alone")
                                   : shortPart(a) + QStringLiteral(" \u00D7 ") + other;
        auto& segment = byName[name];
        segment.name = name, segment.alone = alone;
        segment.share += shares[k];
        segment.untrained += (low[k] + high[k]) / 2.0;
    }
    ShareBar bar;
    bar.title = shownText(table.title);
    for (const auto& [name, segment] : byName) bar.segments.push_back(segment);
    std::stable_sort(bar.segments.begin(), bar.segments.end(), [](const auto& a, const auto& b) {
        return std::abs(a.share) > std::abs(b.share);
    });
    ShareSegment rest;
    rest.name = QStringLiteral("small ones together"), rest.rest = true;
    while (!bar.segments.empty() && (std::abs(bar.segments.back().share) < kSmallShare ||
                                     bar.segments.size() > kMostSegments)) {
        rest.share += bar.segments.back().share;
        rest.untrained += bar.segments.back().untrained;
        bar.segments.pop_back();
    }
    if (byName.size() > bar.segments.size()) bar.segments.push_back(rest);
    return bar;
}

ShareBars::ShareBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Shares of the difference"));
}

void ShareBars::setBars(std::vector<ShareBar> bars) {
    m_bars = std::move(bars);
    QStringList words;
    for (const auto& bar : m_bars)
        for (const auto& segment : bar.segments)
            words << bar.title + QStringLiteral(", ") + segment.name + u' ' +
                         percentText(segment.share);
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int ShareBars::paint(QPainter* painter, int width) const {
    int y = 0;
    for (const auto& bar : m_bars) y = paintBar(painter, bar, width, y) + 8;
    return y;
}

/// Positive shares from zero to the right, negative ones to the left of it.
int ShareBars::paintBar(QPainter* painter, const ShareBar& bar, int width, int y) const {
    const auto& theme = Theme::current();
    const QFontMetrics small(smallFont());
    const bool untrained = std::any_of(bar.segments.begin(), bar.segments.end(),
                                       [](const auto& s) { return std::isfinite(s.untrained); });
    const QString trainedName = bar.title, freshName = QStringLiteral("untrained");
    const int names =
        std::max(small.horizontalAdvance(trainedName), small.horizontalAdvance(freshName)) + 12;
    const QRect room(kShareSide + names, y, width - 2 * kShareSide - names, kShareBar);
    double lowest = 0.0, highest = 1.0;
    const auto ends = [&](double ShareSegment::*value) {
        double below = 0.0, above = 0.0;
        for (const auto& segment : bar.segments)
            if (const double share = segment.*value; std::isfinite(share))
                (share < 0 ? below : above) += share;
        lowest = std::min(lowest, below), highest = std::max(highest, above);
    };
    ends(&ShareSegment::share);
    ends(&ShareSegment::untrained);
    const auto place = [&](double share) {
        return room.left() + (share - lowest) / (highest - lowest) * room.width();
    };
    const auto line = [&](double ShareSegment::*value, int top, int high, bool text) {
        double below = 0.0, above = 0.0;
        for (std::size_t k = 0; k < bar.segments.size(); ++k) {
            const double share = bar.segments[k].*value;
            if (!std::isfinite(share) || share == 0.0) continue;
            double& end = share < 0 ? below : above;
            const QRectF part =
                QRectF(QPointF(place(end), top), QPointF(place(end + share), top + high))
                    .normalized()
                    .adjusted(0, 0, -1, 0);
            end += share;
            const QColor fill = segmentColor(bar, k);
            painter->fillRect(part, fill);
            if (share < 0) painter->fillRect(part, hatchBrush(Theme::textOn(fill)));
            const QString words = percentText(share);
            if (!text || small.horizontalAdvance(words) + 4 > part.width()) continue;
            painter->setPen(Theme::textOn(fill));
            painter->drawText(part, Qt::AlignCenter, words);
        }
    };
    if (painter) {
        painter->setFont(smallFont());
        painter->setPen(theme.text);
        painter->drawText(QRect(kShareSide, y, names, kShareBar), Qt::AlignVCenter, trainedName);
        line(&ShareSegment::share, room.top(), kShareBar, true);
    }
    y += kShareBar + 2;
    if (untrained) {
        if (painter) {
            painter->setPen(theme.muted);
            painter->drawText(QRect(kShareSide, y - 3, names, kUntrainedBar + 6), Qt::AlignVCenter,
                              freshName);
            line(&ShareSegment::untrained, y, kUntrainedBar, false);
        }
        y += kUntrainedBar + 2;
    }
    if (painter) {
        painter->setPen(theme.text);
        const int zero = static_cast<int>(place(0.0));
        painter->drawLine(zero, room.top() - 1, zero, y);
    }
    // The legend, in as many lines as it takes.
    y += 4;
    int x = room.left();
    for (std::size_t k = 0; k < bar.segments.size(); ++k) {
        const auto& segment = bar.segments[k];
        const QString words = segment.name + u' ' + percentText(segment.share);
        const int wide = kChip + 6 + small.horizontalAdvance(words) + 14;
        if (x > room.left() && x + wide > room.right()) x = room.left(), y += small.height() + 3;
        if (painter) {
            const QRect chip(x, y + (small.height() - kChip) / 2, kChip, kChip);
            painter->fillRect(chip, segmentColor(bar, k));
            painter->setPen(theme.text);
            painter->drawText(QRect(x + kChip + 6, y, wide, small.height()), Qt::AlignVCenter,
                              words);
        }
        x += wide;
    }
    return y + small.height();
}

void ShareBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(&painter, width());
}

}  // namespace relascope::widgets
