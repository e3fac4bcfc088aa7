// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QDir>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/film_strip.h"
#include "widgets/export/export.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
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
    const FigureScope scope(figureStyle().light);
    const QSize map = filmFrameSize(m_along, {kFilmSide, kFilmSide});
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

constexpr int kFilmMargin = 16, kFilmGap = 12, kLabel = 20, kRowGap = 8, kScale = 40, kTop = 6;

}  // namespace

FilmStrip::FilmStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Film of the map"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    paintOnPanelColour(this);
}

void FilmStrip::setAlong(const AlongTraining& along) {
    m_along = along;
    m_frames = frameSteps(along, kFrames);
    QStringList steps;
    for (int frame = 0; frame < static_cast<int>(m_frames.size()); ++frame)
        steps << frameText(frame);
    setAccessibleDescription(steps.join(QStringLiteral("; ")));
    setMaximumHeight(heightFor(width()));
    updateGeometry();
    update();
}

// Room that frames cannot use is that of the plots.
void FilmStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    setMaximumHeight(heightFor(width()));
}

void FilmStrip::setCurrent(std::optional<qint64> step) {
    if (m_current == step) return;
    m_current = step;
    update();
}

qint64 FilmStrip::stepOf(int frame) const {
    return m_along.steps[static_cast<std::size_t>(m_frames[static_cast<std::size_t>(frame)])].step;
}

QString FilmStrip::frameText(int frame) const {
    const auto& at =
        m_along.steps[static_cast<std::size_t>(m_frames[static_cast<std::size_t>(frame)])];
    QString text = QStringLiteral("step ") + groupedNumber(at.step);
    if (std::isfinite(at.now.value))
        text += QStringLiteral(": %1 = %2")
                    .arg(filmSymbol(m_along.cell.kind).remove(u'_'), signedText(at.now.value, 3));
    return text;
}

// One row of frames or two, whichever has the larger cells.
FilmStrip::Layout FilmStrip::layoutIn(const QSize& size) const {
    Layout best;
    const int count = static_cast<int>(m_frames.size());
    for (int rows = 1; rows <= 2 && rows <= count; ++rows) {
        Layout layout;
        layout.perRow = (count + rows - 1) / rows;
        layout.slot = {(size.width() - 2 * kFilmMargin + kFilmGap) / layout.perRow,
                       (size.height() - kTop - kScale) / rows};
        layout.frame = filmFrameSize(
            m_along, {layout.slot.width() - kFilmGap, layout.slot.height() - kLabel - kRowGap});
        if (layout.frame.width() > best.frame.width() || best.frame.isEmpty()) best = layout;
    }
    // Frames stand as close as they are wide, in the middle.
    best.slot.setWidth(std::min(best.slot.width(), best.frame.width() + 2 * kFilmGap));
    best.slot.setHeight(best.frame.height() + kLabel + kRowGap);
    return best;
}

QRect FilmStrip::frameRect(const Layout& layout, const QRect& box, int frame) const {
    const int used = layout.perRow * layout.slot.width() - kFilmGap;
    const int left = box.left() + std::max(kFilmMargin, (box.width() - used) / 2);
    return {QPoint(left + frame % layout.perRow * layout.slot.width() +
                       (layout.slot.width() - kFilmGap - layout.frame.width()) / 2,
                   box.top() + kTop + frame / layout.perRow * layout.slot.height()),
            layout.frame};
}

QRect FilmStrip::frameRect(int frame) const {
    if (frame < 0 || frame >= static_cast<int>(m_frames.size())) return {};
    return frameRect(layoutIn(size()), rect(), frame);
}

int FilmStrip::frameAt(const QPoint& point) const {
    for (int frame = 0; frame < static_cast<int>(m_frames.size()); ++frame)
        if (frameRect(frame).adjusted(-3, -3, 3, kLabel).contains(point)) return frame;
    return -1;
}

int FilmStrip::heightFor(int width) const {
    if (m_frames.empty()) return kScale + 80;
    const int count = static_cast<int>(m_frames.size());
    int height = 0;
    for (int rows = 1; rows <= 2; ++rows) {
        const int slot =
            (width - 2 * kFilmMargin + kFilmGap) / ((count + rows - 1) / rows) - kFilmGap;
        const QSize frame = filmFrameSize(m_along, {slot, slot * 2});
        height = kTop + kScale + rows * (std::max(40, frame.height()) + kLabel + kRowGap);
        if (frame.width() >= 2 * m_along.mapColumns()) break;
    }
    return height;
}

void FilmStrip::paintStrip(QPainter& painter, const QRect& box) const {
    if (m_frames.empty()) return;
    const Theme& t = Theme::current();
    const auto scale = filmScale(m_along);
    const auto layout = layoutIn(box.size());
    QRect place;
    for (int frame = 0; frame < static_cast<int>(m_frames.size()); ++frame) {
        place = frameRect(layout, box, frame);
        paintFrame(painter, place, m_along, m_frames[static_cast<std::size_t>(frame)], scale);
        const bool current = m_current == stepOf(frame);
        if (current) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(t.accent, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
            painter.drawRect(QRectF(place).adjusted(-2, -2, 2, 2));
        }
        QFont font = numberFont(11);
        font.setBold(current);
        painter.setFont(font);
        painter.setPen(current ? t.accent : t.muted);
        const QString number = groupedNumber(stepOf(frame));
        const QString words = QStringLiteral("step ") + number;
        const int room = layout.slot.width() - 4;
        const bool fits = QFontMetrics(font).horizontalAdvance(words) <= room;
        painter.drawText(QRect(place.center().x() - room / 2, place.bottom() + 3, room, kLabel - 2),
                         Qt::AlignCenter, fits ? words : number);
    }
    QString caption = filmSymbol(m_along.cell.kind);
    if (m_along.edited) caption += QStringLiteral(" with the edits");
    if (m_along.libraryRows) caption = QStringLiteral("row of the symbol library");
    if (m_along.block > 1)
        caption += QStringLiteral(", the largest of %1 \u00D7 %1 cells").arg(m_along.block);
    const int rows = (static_cast<int>(m_frames.size()) + layout.perRow - 1) / layout.perRow;
    paintFilmScale(
        painter,
        QRect(box.left(), box.top() + kTop + rows * layout.slot.height(), box.width(), kScale),
        scale, caption + QStringLiteral(", one scale for all steps"));
}

void FilmStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintStrip(painter, rect());
    if (hasFocus() && paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

void FilmStrip::mousePressEvent(QMouseEvent* event) {
    const int frame = frameAt(event->pos());
    if (frame >= 0 && event->button() == Qt::LeftButton) Q_EMIT stepChosen(stepOf(frame));
}

void FilmStrip::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(m_frames.size());
    int by = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (event->key() == Qt::Key_Home) by = -count;
    if (event->key() == Qt::Key_End) by = count;
    if (by == 0 || count == 0) return QWidget::keyPressEvent(event);
    // From the last frame that is not after the inspected step.
    int frame = by > 0 ? -1 : 0;
    for (int k = 0; m_current && k < count; ++k)
        if (stepOf(k) <= *m_current) frame = k;
    Q_EMIT stepChosen(stepOf(std::clamp(frame + by, 0, count - 1)));
}

bool FilmStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int frame = frameAt(help->pos());
        if (frame >= 0) QToolTip::showText(help->globalPos(), plainTip(frameText(frame)), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace relascope::widgets
