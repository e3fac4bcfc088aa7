// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/film_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/measure/film_paint.h"
#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kMargin = 16, kGap = 12, kLabel = 20, kRowGap = 8, kScale = 40, kTop = 6;

}  // namespace

FilmStrip::FilmStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Film of the map"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    paper(this);
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
        layout.slot = {(size.width() - 2 * kMargin + kGap) / layout.perRow,
                       (size.height() - kTop - kScale) / rows};
        layout.frame = filmFrameSize(
            m_along, {layout.slot.width() - kGap, layout.slot.height() - kLabel - kRowGap});
        if (layout.frame.width() > best.frame.width() || best.frame.isEmpty()) best = layout;
    }
    // Frames stand as close as they are wide, in the middle.
    best.slot.setWidth(std::min(best.slot.width(), best.frame.width() + 2 * kGap));
    best.slot.setHeight(best.frame.height() + kLabel + kRowGap);
    return best;
}

QRect FilmStrip::frameRect(const Layout& layout, const QRect& box, int frame) const {
    const int used = layout.perRow * layout.slot.width() - kGap;
    const int left = box.left() + std::max(kMargin, (box.width() - used) / 2);
    return {QPoint(left + frame % layout.perRow * layout.slot.width() +
                       (layout.slot.width() - kGap - layout.frame.width()) / 2,
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
        const int slot = (width - 2 * kMargin + kGap) / ((count + rows - 1) / rows) - kGap;
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
