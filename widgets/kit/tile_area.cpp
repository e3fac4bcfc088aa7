// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QClipboard>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "widgets/kit/tile_area.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

TileArea::TileArea(const QMargins& around, QWidget* parent)
    : QAbstractScrollArea(parent), m_around(around) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
}

QRect TileArea::tileRect(int tile) const {
    const QRect place = placeOf(tile);
    return place.isEmpty() ? place : place.translated(0, -verticalScrollBar()->value());
}

int TileArea::tileAt(const QPoint& point) const {
    return placeAt(point + QPoint(0, verticalScrollBar()->value()));
}

void TileArea::setContentHeight(int height) {
    QScrollBar* bar = verticalScrollBar();
    bar->setPageStep(std::max(1, viewport()->height()));
    bar->setRange(0, std::max(0, height - viewport()->height()));
    if (std::exchange(m_height, height) != height) Q_EMIT contentResized();
}

void TileArea::layOut() {
    setContentHeight(layOutTiles());
    refresh();
}

void TileArea::reveal(int tile) {
    if (placeOf(tile).isEmpty()) return;
    const QRect place = tileRect(tile).marginsAdded(m_around);
    const int high = viewport()->height();
    QScrollBar* bar = verticalScrollBar();
    if (place.bottom() < -high / 4 || place.top() > high + high / 4)
        return bar->setValue(bar->value() + place.center().y() - high / 2);
    if (place.bottom() >= high) bar->setValue(bar->value() + place.bottom() - high + 1);
    const int top = tileRect(tile).top() - m_around.top();
    if (top < 0) bar->setValue(bar->value() + top);
}

void TileArea::updateTile(int tile) {
    const QRect place = tileRect(tile);
    if (!place.isEmpty()) viewport()->update(place.marginsAdded(m_around));
}

void TileArea::setHover(int tile) {
    if (const int before = std::exchange(m_hover, tile); before != tile) hoverMoved(before, tile);
}

void TileArea::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    painter.fillRect(event->rect(), Theme::current().panel);
    const int offset = verticalScrollBar()->value();
    painter.save();
    painter.translate(0, -offset);
    paintTiles(painter, event->region().translated(0, offset));
    painter.restore();
    if (paint::keyboardFocus(this)) paint::focusRing(painter, viewport()->rect());
}

void TileArea::resizeEvent(QResizeEvent*) {
    layOut();
    reveal(current({}));
}
void TileArea::scrollContentsBy(int, int) {
    refresh();
}
void TileArea::mouseMoveEvent(QMouseEvent* event) {
    setHover(tileAt(event->position().toPoint()));
}

void TileArea::mousePressEvent(QMouseEvent* event) {
    const int tile = tileAt(event->position().toPoint());
    if (tile < 0 || event->button() != Qt::LeftButton)
        return QAbstractScrollArea::mousePressEvent(event);
    pressed(tile, event->modifiers());
}

void TileArea::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (event->matches(QKeySequence::Copy)) {
        const QString text = copied(current({}));
        return text.isEmpty() ? event->ignore() : QApplication::clipboard()->setText(text);
    }
    const bool mine = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                      key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    const auto others = event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier);
    const int tile =
        mine && !others ? moveFrom(current(event->modifiers()), key, event->modifiers()) : -1;
    if (tile < 0) return event->ignore();
    setHover(-1);  // a resting pointer must not hide what the keys choose
    pressed(tile, event->modifiers());
    reveal(tile);
}

QString TileArea::tipAt(const QPoint& point) const {
    const int tile = tileAt(point);
    return tile < 0 ? QString() : tipOf(tile);
}

bool TileArea::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) setHover(-1);
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = tipAt(help->pos());
        tip.isEmpty() ? QToolTip::hideText()
                      : QToolTip::showText(help->globalPos(), plainTip(tip), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

int movedInRows(const std::vector<QRect>& places, int tile, int key) {
    const int last = static_cast<int>(places.size()) - 1;
    if (last < 0) return -1;
    if (key == Qt::Key_Left) return std::max(0, tile - 1);
    if (key == Qt::Key_Right) return std::min(last, tile + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    const auto placeOf = [&](int k) { return places[static_cast<std::size_t>(k)]; };
    const QRect from = placeOf(tile);
    const int step = key == Qt::Key_Down ? 1 : -1;
    int best = tile, row = -1;
    for (int k = tile + step; k >= 0 && k <= last; k += step) {
        if (placeOf(k).top() == from.top()) continue;
        if (row >= 0 && placeOf(k).top() != row) break;
        row = placeOf(k).top();
        const auto away = [&](int at) {
            return std::abs(placeOf(at).center().x() - from.center().x());
        };
        if (best == tile || away(k) < away(best)) best = k;
    }
    return best;
}

void TileArea::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) refresh();
}

}  // namespace relascope::widgets
