// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/film_paint.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/maps/color_bar.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kMarkedCell = 3;

bool isSigned(MapKind kind) {
    return kind == MapKind::Relation || kind == MapKind::AttentionTimesRelation;
}

}  // namespace

std::vector<int> frameSteps(const AlongTraining& along, int count) {
    std::vector<int> chosen;
    const int all = static_cast<int>(along.steps.size());
    const auto key = [&](int at) {
        return std::log1p(static_cast<double>(along.steps[static_cast<std::size_t>(at)].step));
    };
    if (all <= count || count < 2) {
        for (int at = 0; at < all; ++at) chosen.push_back(at);
        return chosen;
    }
    const double low = key(0), high = key(all - 1);
    for (int k = 0; k < count; ++k) {
        const double wanted = low + (high - low) * k / (count - 1);
        // Where steps are scarcer than frames, the next one is taken; the rest still has to fit.
        int best = chosen.empty() ? 0 : chosen.back() + 1;
        const int last = all - (count - k);
        for (int at = best; at <= last; ++at)
            if (std::abs(key(at) - wanted) < std::abs(key(best) - wanted)) best = at;
        chosen.push_back(std::min(best, last));
    }
    return chosen;
}

MapValues frameValues(const AlongTraining& along, int at) {
    MapValues values;
    values.rows = along.mapRows(), values.columns = along.mapColumns();
    values.values = along.steps[static_cast<std::size_t>(at)].now.map;
    values.mask = along.causal ? MapValues::Mask::Above : MapValues::Mask::None;
    return values;
}

ColorScale filmScale(const AlongTraining& along) {
    Extent extent;
    for (int at = 0; at < static_cast<int>(along.steps.size()); ++at)
        extent.include(extentOf(frameValues(along, at)));
    const bool centred = isSigned(along.cell.kind);
    return {centred ? ColorScale::Kind::Signed : ColorScale::Kind::Sequential,
            limitsOf(extent, centred), Theme::current()};
}

QString filmTitle(const AlongTraining& along) {
    const auto& cell = along.cell;
    const QString number = QString::number(cell.index + 1);
    QString layer = QString::fromStdString(along.layerName), map;
    if (!layer.isEmpty()) layer[0] = layer[0].toUpper();
    switch (cell.kind) {
        case MapKind::Relation:
            map = QStringLiteral("relation ") + number;
            break;
        case MapKind::RelationalAttention:
            map = QStringLiteral("relational attention ") + number;
            break;
        case MapKind::SensoryAttention:
            map = (layer.contains(QLatin1String("cross")) ? QStringLiteral("cross attention ")
                                                          : QStringLiteral("sensory attention ")) +
                  number;
            break;
        case MapKind::AttentionTimesRelation:
            map = QStringLiteral("\u03B1 \u00D7 r, head %1, relation %2")
                      .arg(cell.head + 1)
                      .arg(number);
            break;
        case MapKind::Symbols:
            map = cell.index == 0 ? QStringLiteral("symbols") : QStringLiteral("symbols ") + number;
            break;
    }
    return layer + QStringLiteral(", ") + map;
}

QString filmFileName(const AlongTraining& along) {
    const auto& cell = along.cell;
    const QString number = QString::number(cell.index + 1);
    QString map;
    switch (cell.kind) {
        case MapKind::Relation:
            map = QStringLiteral("relation") + number;
            break;
        case MapKind::RelationalAttention:
            map = QStringLiteral("relational-attention") + number;
            break;
        case MapKind::SensoryAttention:
            map = QStringLiteral("sensory-attention") + number;
            break;
        case MapKind::AttentionTimesRelation:
            map = QStringLiteral("attention%1-x-relation").arg(cell.head + 1) + number;
            break;
        case MapKind::Symbols:
            map = QStringLiteral("symbols") + number;
            break;
    }
    return QString::fromStdString(along.layerName).remove(u' ') + u'_' + map;
}

QString filmSymbol(MapKind kind) {
    switch (kind) {
        case MapKind::Relation:
            return QStringLiteral("r_ij");
        case MapKind::AttentionTimesRelation:
            return QStringLiteral("\u03B1_ij r_ij");
        case MapKind::Symbols:
            return QStringLiteral("symbol weight");
        default:
            return QStringLiteral("\u03B1_ij");
    }
}

QSize filmFrameSize(const AlongTraining& along, const QSize& room) {
    const int rows = along.mapRows(), columns = along.mapColumns();
    if (rows <= 0 || columns <= 0) return {};
    const int cell = std::min(room.width() / columns, room.height() / rows);
    if (cell >= 1) return {cell * columns, cell * rows};
    const int side = std::max(1, std::min(room.width(), room.height()));
    const int most = std::max(rows, columns);
    return {std::max(1, columns * side / most), std::max(1, rows * side / most)};
}

void paintFrame(QPainter& painter, const QRect& place, const AlongTraining& along, int at,
                const ColorScale& scale) {
    const Theme& t = Theme::current();
    auto values = frameValues(along, at);
    if (values.empty() || values.values.empty()) return;
    const int cell = place.width() / values.columns;
    if (cell < 1)
        values = pooled(values, std::max(place.width(), place.height()),
                        std::max(values.rows, values.columns));
    const QImage image = cellImage(values, scale);
    painter.save();
    painter.setClipRect(place, Qt::IntersectClip);
    drawCells(painter, place.topLeft(), std::max(1, cell), values, image);
    painter.restore();
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(t.border, 1));
    painter.drawRect(QRectF(place).adjusted(-0.5, -0.5, 0.5, 0.5));
    if (cell < kMarkedCell || along.block != 1) return;
    const QRectF mark =
        QRectF(place.left() + cell * along.cell.j, place.top() + cell * along.cell.i, cell, cell)
            .adjusted(-0.5, -0.5, 0.5, 0.5);
    QColor halo = t.dark ? t.window : t.panel;
    halo.setAlpha(170);
    painter.setPen(QPen(halo, 3, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    painter.drawRect(mark);
    painter.setPen(QPen(t.text, cell >= 8 ? 1.5 : 1, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    painter.drawRect(mark);
}

void paintFilmScale(QPainter& painter, const QRect& box, const ColorScale& scale,
                    const QString& caption) {
    const Theme& t = Theme::current();
    const int wide = std::clamp(box.width() / 3, 60, 220);
    const QRect bar(box.center().x() - wide / 2, box.top() + 2, wide, 10);
    drawPixels(painter, bar, scale.strip(wide));
    painter.setFont(numberFont(11));
    painter.setPen(t.muted);
    const auto end = [&](float value) { return ColorBar::endText(value, scale.isSigned()); };
    const int row = bar.top() - 4;
    painter.drawText(QRect(bar.left() - 108, row, 100, 18), Qt::AlignRight | Qt::AlignVCenter,
                     end(scale.limits().low));
    painter.drawText(QRect(bar.right() + 9, row, 100, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     end(scale.limits().high));
    if (scale.isSigned()) {
        painter.setPen(QPen(t.muted, 1));
        const qreal x = bar.left() + 0.5 * (bar.width() - 1) + 0.5;
        painter.drawLine(QPointF(x, bar.top() - 2), QPointF(x, bar.bottom() + 3));
    }
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    drawSubscripted(painter, QRectF(box.left(), box.top() + 17, box.width(), 16), caption);
}

}  // namespace relascope::widgets
