// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QDir>
#include <QPainter>

#include "widgets/analysis/along/film_strip.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
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
    map = mapKindWords(cell.kind) + u' ' + number;
    if (cell.kind == MapKind::SensoryAttention && layer.contains(QLatin1String("cross")))
        map = QStringLiteral("cross attention ") + number;
    if (cell.kind == MapKind::AttentionTimesRelation)
        map =
            QStringLiteral("\u03B1 \u00D7 r, head %1, relation %2").arg(cell.head + 1).arg(number);
    if (cell.kind == MapKind::Symbols && cell.index == 0) map = QStringLiteral("symbols");
    return layer + QStringLiteral(", ") + map;
}

QString filmFileName(const AlongTraining& along) {
    return QString::fromStdString(along.layerName).remove(u' ') + u'_' +
           mapFileName(along.cell.kind, along.cell.index, along.cell.head);
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

namespace {

constexpr int kFilmSide = 360, kFrameMargin = 20, kFrameHead = 34, kFoot = 40, kDpi = 192;

}  // namespace

FrameFiles::FrameFiles(AlongTraining along, const QString& folder, const QString& name,
                       QObject* parent)
    : QObject(parent), m_along(std::move(along)), m_folder(folder), m_name(name) {
    connect(&m_timer, &QTimer::timeout, this, &FrameFiles::next);
    m_timer.start(0);
}

QString FrameFiles::path(int at) const {
    const auto step = m_along.steps[static_cast<std::size_t>(at)].step;
    return QDir(m_folder).filePath(
        QStringLiteral("%1_step%2.png").arg(m_name).arg(step, 6, 10, QLatin1Char('0')));
}

void FrameFiles::next() {
    if (m_at >= count()) {
        m_timer.stop();
        Q_EMIT finished(m_folder);
        return deleteLater();
    }
    const FigureScope scope;
    const QSize map =
        StripLayout::wholeCells({m_along.mapColumns(), m_along.mapRows()}, {kFilmSide, kFilmSide});
    // All pictures have the same size, which films need.
    const QSize size(std::max(map.width(), 260) + 2 * kFrameMargin,
                     map.height() + kFrameHead + kFoot + 12);
    const auto paint = [&](QPainter& painter) {
        const Theme& t = Theme::current();
        painter.setFont(numberFont(13));
        painter.setPen(t.text);
        painter.drawText(QRect(kFrameMargin, 0, size.width() - 2 * kFrameMargin, kFrameHead),
                         Qt::AlignCenter,
                         QStringLiteral("step ") +
                             groupedNumber(m_along.steps[static_cast<std::size_t>(m_at)].step));
        const auto scale = filmScale(m_along);
        paintFrame(painter, QRect(QPoint((size.width() - map.width()) / 2, kFrameHead), map),
                   m_along, m_at, scale);
        paintFilmScale(painter, QRect(0, kFrameHead + map.height() + 12, size.width(), kFoot),
                       scale, filmSymbol(m_along.cell.kind));
    };
    QString error;
    if (!exportPainting(paint, size, filmTitle(m_along), Theme::current().panel, path(m_at), &error,
                        kDpi)) {
        m_timer.stop();
        Q_EMIT failed(error);
        return deleteLater();
    }
    Q_EMIT written(++m_at);
}

namespace {

constexpr int kFilmScale = 40;

}  // namespace

FilmStrip::FilmStrip(QWidget* parent)
    : MapStrip(StripLayout(StripLayout::Flow::Film, kFilmScale), QStringLiteral("Film of the map"),
               parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    shape = [this](const MapId&) { return QSize(m_along.mapColumns(), m_along.mapRows()); };
    picture = [this](QPainter& painter, const QRect& box, const MapId& map, int) {
        paintFrame(painter, box, m_along, m_frames[static_cast<std::size_t>(map.index)], scale());
        return true;
    };
    label = [this](const MapId& map) {
        return QStringLiteral("step ") + groupedNumber(at(map.index).step);
    };
    tip = [this](const MapId& map) { return frameText(map.index); };
    connect(this, &MapStrip::chosen, this,
            [this](const MapId& map) { Q_EMIT stepChosen(at(map.index).step); });
}

// Frames are maps of which the index is that of the frame.
void FilmStrip::setAlong(const AlongTraining& along) {
    m_along = along;
    m_scale = filmScale(along);
    m_frames = frameSteps(along, kFrames);
    StripSection section;
    for (int frame = 0; frame < static_cast<int>(m_frames.size()); ++frame)
        section.maps.push_back({along.cell.kind, along.cell.layer, frame});
    setSections({section});
    setMaximumHeight(heightFor(width()));
    setCurrentStep(m_step);
    updateGeometry();
}

// Room that frames cannot use is that of the plots.
void FilmStrip::resizeEvent(QResizeEvent* event) {
    setMaximumHeight(heightFor(width()));
    MapStrip::resizeEvent(event);
}

const AlongStep& FilmStrip::at(int frame) const {
    return m_along.steps[static_cast<std::size_t>(m_frames[static_cast<std::size_t>(frame)])];
}

// The last frame that is not after the inspected step.
int FilmStrip::cursor() const {
    int frame = -1;
    for (int k = 0; m_step && k < static_cast<int>(m_frames.size()); ++k)
        if (at(k).step <= *m_step) frame = k;
    return frame;
}

void FilmStrip::setCurrentStep(std::optional<qint64> step) {
    m_step = step;
    const int frame = cursor();
    setCurrent(frame >= 0 && at(frame).step == *step ? std::optional(tiles().map(frame))
                                                     : std::nullopt);
}

QString FilmStrip::frameText(int frame) const {
    const auto& step = at(frame);
    QString text = QStringLiteral("step ") + groupedNumber(step.step);
    if (std::isfinite(step.now.value))
        text += QStringLiteral(": %1 = %2")
                    .arg(filmSymbol(m_along.cell.kind).remove(u'_'), signedText(step.now.value, 3));
    return text;
}

QString FilmStrip::description() const {
    QStringList steps;
    for (int frame = 0; frame < static_cast<int>(m_frames.size()); ++frame)
        steps << frameText(frame);
    return steps.join(QStringLiteral("; "));
}

void FilmStrip::paintFooter(QPainter& painter, const QRect& room) const {
    QString caption = filmSymbol(m_along.cell.kind);
    if (m_along.edited) caption += QStringLiteral(" with the edits");
    if (m_along.libraryRows) caption = QStringLiteral("row of the symbol library");
    if (m_along.block > 1)
        caption += QStringLiteral(", the largest of %1 \u00D7 %1 cells").arg(m_along.block);
    paintFilmScale(painter, room, scale(), caption + QStringLiteral(", one scale for all steps"));
}

}  // namespace relascope::widgets
