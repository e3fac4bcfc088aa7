// SPDX-License-Identifier: GPL-3.0-or-later
// The panels of the sheet of a map.
#include <algorithm>
#include <array>
#include <cmath>

#include <QPainter>
#include <QPainterPath>

#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/analysis/atlas/atlas_sheet.h"
#include "widgets/source/pictures.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kSheetSide = 16, kSheetRow = 20, kSheetGap = 14, kSheetHead = 22, kFitNames = 220,
              kFitNumbers = 150, kHistogram = 84, kWideHistogram = 300, kTile = 72,
              kStepsPlot = 150, kLeaf = 18;
constexpr std::size_t kTextPairs = 8, kMostLeaves = 40;
constexpr double kAlike = 0.7;  // as RelationAtlas::Relation::group

const std::array<const char*, 5> kShareNames = {"place", "example", "receiver", "sender", "pair"};

void text(QPainter* painter, const QRect& room, const QString& what, const QFont& font,
          const QColor& ink, int align = Qt::AlignVCenter | Qt::AlignLeft) {
    if (!painter) return;
    painter->setFont(font);
    painter->setPen(ink);
    painter->drawText(room, align,
                      QFontMetrics(font).elidedText(what, Qt::ElideRight, room.width()));
}

int title(QPainter* painter, int width, int y, const QString& what) {
    text(painter, {kSheetSide, y, width - 2 * kSheetSide, kSheetHead}, what, smallFont(),
         Theme::current().muted);
    return y + kSheetHead;
}

/// "symmetric" for infinity.
QString symmetryText(double ratio) {
    return std::isinf(ratio) ? QStringLiteral("symmetric") : atlasNumber(ratio, 2);
}

/// Whether the attribute of the label holds.
QString holdsMark(const RelationAtlas::Pair& pair) {
    return pair.holds < 0   ? QString()
           : pair.holds > 0 ? QStringLiteral(" \u2713")
                            : QStringLiteral(" \u2717");
}

}  // namespace

// From 0 to 1: the untrained range, all pairs hollow, place held fixed filled with its interval.
int AtlasSheet::paintAttributes(QPainter* painter, int width, int y) const {
    const Theme& t = Theme::current();
    y = title(
        painter, width, y,
        QStringLiteral("AUC, place held fixed (dot, 95 %), all pairs (ring), untrained (band), "
                       "step 0 (line)"));
    const int left = kSheetSide + kFitNames,
              right = std::max(left + 60, width - kSheetSide - kFitNumbers);
    const auto at = [&](double value) { return left + (right - left) * value; };
    std::vector<std::size_t> order(m_atlas.attributes.size());
    for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
    const auto& r = shown();
    const auto strength = [&](std::size_t a) {
        if (std::isnan(r.fits[a].auc)) return -1.0;
        return m_atlas.attributes[a].ordered ? 0.5 * std::abs(r.fits[a].auc)
                                             : std::abs(r.fits[a].auc - 0.5);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return strength(a) > strength(b); });
    for (const auto a : order) {
        const auto& fit = r.fits[a];
        const bool ordered = m_atlas.attributes[a].ordered;
        // Correlations go from -1 to 1 on the same axis.
        const auto place = [&](double value) { return at(ordered ? 0.5 * (value + 1.0) : value); };
        const QRect row(kSheetSide, y, width - 2 * kSheetSide, kSheetRow);
        const bool chosen = static_cast<std::int64_t>(a) == r.labelled;
        text(painter, {kSheetSide, y, kFitNames - 8, kSheetRow},
             shownText(m_atlas.attributes[a].name), smallFont(),
             std::isnan(fit.auc) ? t.muted : t.text);
        QString value =
            ordered ? QStringLiteral("ρ %1").arg(signedText(fit.auc, 3)) : atlasNumber(fit.auc, 3);
        if (!std::isnan(fit.low))
            value +=
                QStringLiteral(" [%1, %2]").arg(atlasNumber(fit.low, 3), atlasNumber(fit.high, 3));
        if (painter) {
            text(painter, {right + 8, y, kFitNumbers - 8, kSheetRow}, value, numberFont(11),
                 chosen ? t.text : t.muted, Qt::AlignVCenter | Qt::AlignRight);
            const double middle = y + 0.5 * kSheetRow;
            painter->fillRect(QRectF(left, middle - 0.5, right - left, 1), t.grid);
            painter->fillRect(QRectF(at(0.5) - 0.5, y + 2, 1, kSheetRow - 4), t.axis);
            if (!std::isnan(fit.untrained)) {
                QColor band = t.series[1];
                band.setAlpha(70);
                painter->fillRect(
                    QRectF(place(fit.untrainedLow), y + 4,
                           std::max(2.0, place(fit.untrainedHigh) - place(fit.untrainedLow)),
                           kSheetRow - 8),
                    band);
            }
            if (!std::isnan(fit.initial))
                painter->fillRect(QRectF(place(fit.initial) - 0.75, y + 3, 1.5, kSheetRow - 6),
                                  t.series[1]);
            painter->setRenderHint(QPainter::Antialiasing, true);
            const QColor ink = chosen ? t.accent : t.text;
            if (!std::isnan(fit.plainAuc)) {
                painter->setPen(QPen(ink, 1.2));
                painter->setBrush(Qt::NoBrush);
                painter->drawEllipse(QPointF(place(fit.plainAuc), middle), 3.5, 3.5);
            }
            if (!std::isnan(fit.auc)) {
                if (!std::isnan(fit.low)) {
                    painter->setPen(QPen(ink, 1.5));
                    painter->drawLine(QPointF(place(fit.low), middle),
                                      QPointF(place(fit.high), middle));
                }
                painter->setPen(Qt::NoPen);
                painter->setBrush(ink);
                painter->drawEllipse(QPointF(place(fit.auc), middle), 4, 4);
            }
            painter->setRenderHint(QPainter::Antialiasing, false);
        }
        y += row.height();
    }
    if (m_atlas.attributes.empty()) {
        text(painter, {kSheetSide, y, width - 2 * kSheetSide, kSheetRow},
             QStringLiteral("Nothing is known of pairs of objects in these data; give a file of "
                            "attributes."),
             smallFont(), t.muted);
        y += kSheetRow;
    }
    for (const double tick : {0.0, 0.5, 1.0})
        text(painter, QRect(static_cast<int>(at(tick)) - 20, y, 40, 16), atlasNumber(tick, 1),
             captionFont(), t.muted, Qt::AlignCenter);
    return y + 16;
}

int AtlasSheet::paintHistogram(QPainter* painter, const QRect& room, const QString& what,
                               const RelationAtlas::Distribution& values) const {
    const Theme& t = Theme::current();
    text(painter, {room.x(), room.y(), room.width(), kSheetHead}, what, smallFont(), t.muted);
    const QRect bars(room.x(), room.y() + kSheetHead, room.width(), kHistogram);
    if (painter && !values.bins.empty()) {
        const auto most = *std::max_element(values.bins.begin(), values.bins.end());
        const double each =
            static_cast<double>(bars.width()) / static_cast<double>(values.bins.size());
        const double wide = values.high - values.low;
        for (std::size_t b = 0; b < values.bins.size(); ++b) {
            const double high = static_cast<double>(values.bins[b]) *
                                static_cast<double>(bars.height()) /
                                static_cast<double>(std::max<std::int64_t>(1, most));
            const double middle = values.low + wide * (static_cast<double>(b) + 0.5) /
                                                   static_cast<double>(values.bins.size());
            painter->fillRect(QRectF(bars.x() + each * static_cast<double>(b),
                                     bars.bottom() + 1 - high, std::max(1.0, each - 1.0), high),
                              signedBarColor(middle));
        }
        if (wide > 0 && values.low < 0 && values.high > 0)
            painter->fillRect(QRectF(bars.x() - 0.5 - bars.width() * values.low / wide, bars.y(), 1,
                                     bars.height()),
                              t.axis);
        painter->fillRect(QRect(bars.x(), bars.bottom() + 1, bars.width(), 1), t.grid);
    }
    const QRect below(bars.x(), bars.bottom() + 3, bars.width(), 16);
    text(painter, below, QString::number(values.low, 'g', 3), captionFont(), t.muted);
    text(painter, below, QString::number(values.high, 'g', 3), captionFont(), t.muted,
         Qt::AlignVCenter | Qt::AlignRight);
    QString facts =
        QStringLiteral("mean %1, sd %2").arg(values.mean, 0, 'g', 3).arg(values.sd, 0, 'g', 3);
    if (below.width() >= kWideHistogram)
        facts += QStringLiteral(", above 0: %1 %").arg(atlasNumber(100.0 * values.positive, 0));
    text(painter, below, facts, captionFont(), t.text, Qt::AlignCenter);
    return below.bottom() + 1;
}

int AtlasSheet::paintVariance(QPainter* painter, int width, int y) const {
    const Theme& t = Theme::current();
    const auto& shares = shown().shares;
    if (shares.size() != kShareNames.size() || std::isnan(shares.front())) return y;
    y = title(painter, width, y, QStringLiteral("Where its variance comes from"));
    double x = kSheetSide;
    const double wide = width - 2 * kSheetSide;
    QStringList legend;
    for (std::size_t s = 0; s < shares.size(); ++s) {
        const double part = wide * std::max(0.0, shares[s]);
        if (painter) {
            painter->fillRect(QRectF(x, y, part, kSheetRow - 4),
                              t.seriesColor(static_cast<int>(s)));
            const QString name = QStringLiteral("%1 %2 %").arg(QLatin1String(kShareNames[s]),
                                                               atlasNumber(100.0 * shares[s], 0));
            if (QFontMetrics(captionFont()).horizontalAdvance(name) + 6 < part)
                text(painter, QRect(static_cast<int>(x), y, static_cast<int>(part), kSheetRow - 4),
                     name, captionFont(), Theme::textOn(t.seriesColor(static_cast<int>(s))),
                     Qt::AlignCenter);
            else
                legend << name;
        }
        x += part;
    }
    y += kSheetRow;
    text(
        painter, QRect(kSheetSide, y, width - 2 * kSheetSide, 16),
        legend.isEmpty() ? QString() : QStringLiteral("also: ") + legend.join(QStringLiteral(", ")),
        captionFont(), t.muted);
    return y + 16;
}

int AtlasSheet::paintUse(QPainter* painter, int width, int y) const {
    const auto& uses = shown().uses;
    if (uses.empty()) return y;
    const Theme& t = Theme::current();
    const MetricText metric(m_atlas.metric);
    y = title(painter, width, y,
              QStringLiteral("Use: %1 is %2; its change without this map, and without all of the "
                             "layer")
                  .arg(metric.title, metric.value(m_atlas.base)));
    BarRange range;
    for (const auto& use : uses)
        for (const double value : {use.low, use.high, use.groupLow, use.groupHigh})
            range.include(value);
    for (const auto& use : uses)
        for (const bool group : {false, true}) {
            const double change = group ? use.groupChange : use.change,
                         low = group ? use.groupLow : use.low,
                         high = group ? use.groupHigh : use.high;
            if (std::isnan(change)) continue;
            const QString how =
                use.how == "mean" ? QStringLiteral("mean") : QStringLiteral("another example");
            text(painter, {kSheetSide, y, kFitNames - 8, kSheetRow},
                 group ? QStringLiteral("all of the layer: %1").arg(how)
                       : QStringLiteral("alone: %1").arg(how),
                 smallFont(), t.text);
            const QRect bars(kSheetSide + kFitNames, y,
                             std::max(60, width - 2 * kSheetSide - kFitNames - kFitNumbers),
                             kSheetRow);
            if (painter) {
                drawSignedBar(*painter, bars, change, range, 10);
                drawInterval(*painter, bars, low, high, range);
            }
            text(painter, {bars.right() + 8, y, kFitNumbers - 8, kSheetRow},
                 metric.change(change) + u' ' + metric.interval(low, high), numberFont(11), t.text,
                 Qt::AlignVCenter | Qt::AlignRight);
            y += kSheetRow;
        }
    return y;
}

int AtlasSheet::paintPairs(QPainter* painter, int width, int y, const QString& what,
                           const std::vector<RelationAtlas::Pair>& pairs,
                           std::vector<PairPlace>* places) const {
    if (pairs.empty()) return y;
    const Theme& t = Theme::current();
    y = title(painter, width, y, what);
    if (pairs.front().picture.empty()) {
        for (std::size_t k = 0; k < std::min(kTextPairs, pairs.size()); ++k, y += kSheetRow) {
            const QRect row(kSheetSide, y, width - 2 * kSheetSide, kSheetRow);
            if (places) places->push_back({row, pairs[k]});
            text(painter, {kSheetSide, y, 60, kSheetRow},
                 QString::number(pairs[k].value, 'g', 3) + holdsMark(pairs[k]), numberFont(11),
                 t.muted);
            text(painter, {kSheetSide + 64, y, width - 2 * kSheetSide - 64, kSheetRow},
                 shownText(pairs[k].text), smallFont(), t.text);
        }
        return y;
    }
    int x = kSheetSide;
    for (const auto& pair : pairs) {
        if (pair.picture.empty() || x + kTile > width - kSheetSide) break;
        const QRect room(x, y, kTile, kTile);
        if (places) places->push_back({room.adjusted(0, 0, 0, 16), pair});
        if (painter) {
            const QImage picture = toQImage(pair.picture);
            const QRect place = shownPlace(picture.size(), room);
            drawPicture(*painter, room, picture);
            if (m_atlas.columns > 0) {
                const auto columns = static_cast<int>(m_atlas.columns);
                const int rows = static_cast<int>(m_atlas.objects) / columns;
                const auto patch = [&](std::int64_t k) {
                    const int row = static_cast<int>(k) / columns,
                              column = static_cast<int>(k) % columns;
                    return QRectF(place.x() + 1.0 * place.width() * column / columns,
                                  place.y() + 1.0 * place.height() * row / rows,
                                  1.0 * place.width() / columns, 1.0 * place.height() / rows);
                };
                painter->setBrush(Qt::NoBrush);
                painter->setPen(QPen(t.accent, 2));
                painter->drawRect(patch(pair.i).adjusted(1, 1, -1, -1));
                painter->setPen(QPen(t.accent, 2, Qt::DotLine));
                painter->drawRect(patch(pair.j).adjusted(1, 1, -1, -1));
            }
        }
        text(painter, QRect(x, y + kTile, kTile, 16),
             QString::number(pair.value, 'g', 3) + holdsMark(pair), captionFont(), t.muted,
             Qt::AlignCenter);
        x += kTile + 10;
    }
    return y + kTile + 18;
}

// The attribute and the accuracy over steps, whose axis is log(step + 1).
int AtlasSheet::paintSteps(QPainter* painter, int width, int y, QRectF* room) const {
    if (m_atlas.steps.size() < 2) return y;
    const Theme& t = Theme::current();
    const auto& r = shown();
    const auto m = static_cast<std::size_t>(m_relation);
    const QString name =
        r.attribute < 0 ? QString()
                        : shownText(m_atlas.attributes[static_cast<std::size_t>(r.attribute)].name);
    QString head = QStringLiteral("Along training: AUC of %1, accuracy (dashed)").arg(name);
    if (!r.development.empty())
        head += QStringLiteral("; ") + QString::fromStdString(r.development);
    y = title(painter, width, y, head);
    y += 8;
    const QRectF plot(kSheetSide + 34, y, width - 2 * kSheetSide - 34, kStepsPlot);
    if (room) *room = plot;
    if (painter) {
        const auto at = [&](std::int64_t step, double value) {
            return QPointF(plot.x() + plot.width() * alongPlot(step),
                           plot.bottom() - plot.height() * std::clamp(value, 0.0, 1.0));
        };
        for (const double value : {0.0, 0.5, 1.0}) {
            painter->fillRect(QRectF(plot.x(), at(0, value).y() - 0.5, plot.width(), 1), t.grid);
            text(painter, QRect(kSheetSide, static_cast<int>(at(0, value).y()) - 8, 28, 16),
                 atlasNumber(value, 1), captionFont(), t.muted, Qt::AlignVCenter | Qt::AlignRight);
        }
        if (r.attribute >= 0) {
            const auto& fit = r.fits[static_cast<std::size_t>(r.attribute)];
            if (!std::isnan(fit.untrained)) {
                QColor band = t.series[1];
                band.setAlpha(50);
                painter->fillRect(QRectF(QPointF(plot.x(), at(0, fit.untrainedHigh).y()),
                                         QPointF(plot.right(), at(0, fit.untrainedLow).y())),
                                  band);
            }
        }
        painter->setRenderHint(QPainter::Antialiasing, true);
        painter->setBrush(Qt::NoBrush);
        for (const bool accuracy : {true, false}) {
            QPainterPath path;
            for (const auto& step : m_atlas.steps) {
                const double value =
                    accuracy ? step.accuracy : (m < step.fits.size() ? step.fits[m] : NAN);
                if (std::isnan(value)) continue;
                const QPointF point = at(step.step, value);
                path.elementCount() == 0 ? path.moveTo(point) : path.lineTo(point);
            }
            painter->setPen(accuracy ? QPen(t.muted, 1.2, Qt::DashLine) : QPen(t.series[0], 1.8));
            painter->drawPath(path);
        }
        painter->setRenderHint(QPainter::Antialiasing, false);
        double last = -100.0;
        for (const auto& step : m_atlas.steps) {
            const double x = at(step.step, 0.0).x();
            if (x - last < 48) continue;
            last = x;
            text(painter, QRect(static_cast<int>(x) - 24, y + kStepsPlot + 2, 48, 16),
                 QString::number(step.step), captionFont(), t.muted, Qt::AlignCenter);
        }
    }
    return y + kStepsPlot + 20;
}

// A leaf for each map, joined at the |correlation| of its cluster with the next: 1 at the left.
int AtlasSheet::paintTree(QPainter* painter, int width, int y) const {
    const auto& joins = m_atlas.tree;
    const auto maps = m_atlas.relations.size();
    if (maps < 2 || joins.size() + 1 != maps) return y;
    const Theme& t = Theme::current();
    std::vector<std::vector<std::size_t>> leaves(maps + joins.size());
    for (std::size_t m = 0; m < maps; ++m) leaves[m] = {m};
    // If there are many maps, the largest cluster around the chosen one that has room.
    auto shownNode = static_cast<std::size_t>(m_relation);
    for (std::size_t k = 0; k < joins.size(); ++k) {
        const auto first = static_cast<std::size_t>(joins[k].first),
                   second = static_cast<std::size_t>(joins[k].second);
        if (std::max(first, second) >= maps + k) return y;
        auto& all = leaves[maps + k] = leaves[first];
        all.insert(all.end(), leaves[second].begin(), leaves[second].end());
        if ((first == shownNode || second == shownNode) && all.size() <= kMostLeaves)
            shownNode = maps + k;
    }
    const auto& order = leaves[shownNode];
    QString head = QStringLiteral(
        "Alike: average linkage of |correlation| with place removed; groups from 0.7 on (line)");
    if (order.size() == 1) {
        // Its cluster is too large to be shown.
        for (const auto& join : joins)
            if (join.first == m_relation || join.second == m_relation)
                return title(painter, width, y,
                             QStringLiteral("Alike: no map by more than a |correlation| of %1")
                                 .arg(atlasNumber(join.correlation, 2)));
    }
    if (order.size() < maps) head += QStringLiteral("; %1 of %2 maps").arg(order.size()).arg(maps);
    y = title(painter, width, y, head);
    const int left = kSheetSide + std::min(kFitNames, width / 2), right = width - kSheetSide - 8;
    const auto at = [&](double correlation) {
        return left + (right - left) * (1.0 - std::clamp(correlation, 0.0, 1.0));
    };
    const int bottom = y + kLeaf * static_cast<int>(order.size());
    std::vector<QPointF> node(maps + joins.size());
    std::vector<std::size_t> members(maps, 0);
    for (const auto& r : m_atlas.relations)
        if (r.group >= 0 && static_cast<std::size_t>(r.group) < maps)
            ++members[static_cast<std::size_t>(r.group)];
    const auto ink = [&](std::size_t leaf, double correlation) {
        const auto group = static_cast<std::size_t>(m_atlas.relations[leaf].group);
        return correlation >= kAlike && group < maps && members[group] > 1
                   ? t.seriesColor(static_cast<int>(group))
                   : t.muted;
    };
    for (std::size_t k = 0; k < order.size(); ++k) {
        const int top = y + kLeaf * static_cast<int>(k);
        node[order[k]] = QPointF(left, top + 0.5 * kLeaf);
        const bool chosen = order[k] == static_cast<std::size_t>(m_relation);
        text(painter, {kSheetSide, top, left - kSheetSide - 8, kLeaf},
             shownText(m_atlas.relations[order[k]].name), smallFont(), chosen ? t.accent : t.text);
    }
    if (painter) {
        painter->setPen(QPen(t.axis, 1, Qt::DotLine));
        painter->drawLine(QPointF(at(kAlike), y), QPointF(at(kAlike), bottom));
        for (std::size_t k = 0; k < joins.size(); ++k) {
            const auto first = static_cast<std::size_t>(joins[k].first),
                       second = static_cast<std::size_t>(joins[k].second);
            const auto &a = node[first], &b = node[second];
            if (a.isNull() || b.isNull()) continue;
            const double x = at(joins[k].correlation);
            painter->setPen(QPen(ink(leaves[first].front(), joins[k].correlation), 1.4));
            painter->drawLine(a, QPointF(x, a.y()));
            painter->drawLine(b, QPointF(x, b.y()));
            painter->drawLine(QPointF(x, a.y()), QPointF(x, b.y()));
            node[maps + k] = QPointF(x, 0.5 * (a.y() + b.y()));
        }
    }
    for (const double tick : {1.0, kAlike, 0.0})
        text(painter, QRect(static_cast<int>(at(tick)) - 20, bottom, 40, 16), atlasNumber(tick, 1),
             captionFont(), t.muted, Qt::AlignCenter);
    return bottom + 16;
}

int AtlasSheet::paint(QPainter* painter, int width, std::vector<PairPlace>* pairs,
                      QRectF* steps) const {
    if (m_relation < 0) return 0;
    const Theme& t = Theme::current();
    const auto& r = shown();
    int y = 8;
    const int inner = width - 2 * kSheetSide;
    const QString head = QStringLiteral("%1: %2").arg(shownText(r.name), shownText(r.label));
    const int headHeight =
        std::max(kSheetHead, QFontMetrics(headFont())
                                 .boundingRect(QRect(0, 0, inner, 10000), Qt::TextWordWrap, head)
                                 .height());
    if (painter) {
        painter->setFont(headFont());
        painter->setPen(t.text);
        painter->drawText(QRect(kSheetSide, y, inner, headHeight),
                          Qt::TextWordWrap | Qt::AlignVCenter | Qt::AlignLeft, head);
    }
    y += headHeight;
    const auto symmetry = [](double ratio) {
        return (std::isinf(ratio) ? QString() : QStringLiteral("symmetry ")) + symmetryText(ratio);
    };
    QString facts =
        QStringLiteral("%1, effective rank %2").arg(symmetry(r.symmetry), atlasNumber(r.rank, 2));
    if (!std::isnan(r.weightRank))
        facts += QStringLiteral("; of its weights: %1, effective rank %2")
                     .arg(symmetry(r.weightSymmetry), atlasNumber(r.weightRank, 1));
    QStringList alike;
    for (const auto& other : m_atlas.relations)
        if (&other != &r && other.group == r.group) alike << shownText(other.name);
    if (!alike.isEmpty())
        facts +=
            QStringLiteral("; correlated by 0.7 and more with ") + alike.join(QStringLiteral(", "));
    text(painter, {kSheetSide, y, inner, kSheetRow}, facts, smallFont(), t.muted);
    y += kSheetRow + kSheetGap / 2;
    y = paintAttributes(painter, width, y) + kSheetGap;
    const bool sent = !r.sent.bins.empty();
    const int half = sent ? (inner - 24) / 2 : inner;
    const int below = paintHistogram(
        painter, {kSheetSide, y, half, 0},
        r.head ? QStringLiteral("Attention to other objects") : QStringLiteral("Values r"),
        r.values);
    if (sent)
        paintHistogram(painter, {kSheetSide + half + 24, y, half, 0},
                       QStringLiteral("What is sent: attention times r"), r.sent);
    y = below + kSheetGap;
    y = paintVariance(painter, width, y);
    y = paintUse(painter, width, y + kSheetGap / 2) + kSheetGap / 2;
    QString highest = QStringLiteral("Highest pairs i \u2190 j, one of an example");
    if (r.labelled >= 0) {
        const auto a = static_cast<std::size_t>(r.labelled);
        highest +=
            QStringLiteral("; \u2713 %1, \u2717 not").arg(shownText(m_atlas.attributes[a].name));
    }
    y = paintPairs(painter, width, y, highest, r.highest, pairs);
    y = paintPairs(painter, width, y, QStringLiteral("Lowest"), r.lowest, pairs);
    y = paintPairs(painter, width, y, QStringLiteral("Around zero"), r.nearZero, pairs);
    y = paintSteps(painter, width, y + kSheetGap / 2, steps);
    y = paintTree(painter, width, y + kSheetGap / 2);
    return y + kSheetGap;
}

}  // namespace relascope::widgets
