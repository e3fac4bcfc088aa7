// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/text/piece_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <utility>

#include "widgets/maps/color_map.h"
#include "widgets/source/linked_view.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kPieceEdge = 3;  ///< room for the outline of a piece at the border

}  // namespace

PieceView::PieceView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
}

void PieceView::setSpacing(TextFlow::Spacing spacing) {
    m_flow.setSpacing(spacing);
    arrange();
}

void PieceView::setLarge(bool large) {
    m_flow.setLarge(large);
    layOut();
    reveal(current({}));
}

void PieceView::setPieces(const std::vector<std::string>& pieces) {
    m_hover = -1;
    m_flow.setPieces(pieces);
    layOut();
}

void PieceView::appendPiece(const std::string& piece) {
    const bool atEnd = verticalScrollBar()->value() == verticalScrollBar()->maximum();
    const bool characters = m_flow.characters();
    const int lines = m_flow.lines();
    m_flow.append(piece);
    arrange();
    if (atEnd) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    if (characters != m_flow.characters()) return viewport()->update();
    // The last line, as its words may be wrapped to a new one.
    const int line = qMax(0, qMin(lines, m_flow.lines()) - 1);
    const QRect from = m_flow.lines() > 0 ? tokenRect(m_flow.firstOf(line)) : QRect();
    viewport()->update(
        QRect(0, from.top() - kPieceEdge, viewport()->width(), viewport()->height()));
}

void PieceView::layOut() {
    // The width without the scroll bar: showing it must not change the wrapping so that it is
    // hidden again.
    m_flow.layOut(width() - 2 * kPieceEdge - verticalScrollBar()->sizeHint().width());
    arrange();
    viewport()->update();
}

void PieceView::arrange() {
    QScrollBar* bar = verticalScrollBar();
    bar->setSingleStep(m_flow.lineHeight());
    bar->setPageStep(qMax(1, viewport()->height()));
    bar->setRange(0, qMax(0, contentHeight() - viewport()->height()));
    if (std::exchange(m_height, contentHeight()) != m_height) Q_EMIT contentResized();
}

int PieceView::contentHeight() const {
    return m_flow.height() + 2 * kPieceEdge;
}

QRect PieceView::tokenRect(int index) const {
    const QRect place = m_flow.place(index);
    return place.isEmpty()
               ? place
               : place.translated(kPieceEdge, kPieceEdge - verticalScrollBar()->value());
}

int PieceView::tokenAt(const QPoint& point) const {
    return m_flow.at(point - QPoint(kPieceEdge, kPieceEdge - verticalScrollBar()->value()));
}

void PieceView::updateToken(int index) {
    const QRect place = tokenRect(index);
    if (!place.isEmpty())
        viewport()->update(place.adjusted(-kPieceEdge, -kPieceEdge, kPieceEdge, kPieceEdge));
}

void PieceView::reveal(int index) {
    scrollTo(*this, tokenRect(index), kPieceEdge);
}

void PieceView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    painter.fillRect(event->rect(), Theme::current().panel);
    const QPoint shift(kPieceEdge, kPieceEdge - verticalScrollBar()->value());
    const QRect exposed = event->rect().translated(-shift);
    // Only pieces in the exposed region are painted, of possibly thousands.
    int first = 0;
    for (int line = m_flow.lines() - 1; line >= 0; --line)
        if (m_flow.place(m_flow.firstOf(line)).top() <= exposed.top() - kPieceEdge - 1) {
            first = m_flow.firstOf(line);
            break;
        }
    for (int k = first; k < m_flow.size(); ++k) {
        const QRect place = m_flow.place(k);
        if (place.top() > exposed.bottom() + kPieceEdge) break;
        const QRect seen = place.translated(shift);
        if (event->region().intersects(
                seen.adjusted(-kPieceEdge, -kPieceEdge, kPieceEdge, kPieceEdge)))
            paintPiece(painter, k, seen);
    }
    painter.translate(shift);
    paintOver(painter);
    painter.resetTransform();
    if (paint::keyboardFocus(this)) paint::focusRing(painter, viewport()->rect());
}

void PieceView::paintPiece(QPainter& painter, int index, const QRect& place) const {
    const PieceLook wears = look(index);
    const DisplayPiece& piece = m_flow.piece(index);
    if (wears.fill.isValid()) {
        if (m_flow.characters())
            painter.fillRect(place, wears.fill);
        else
            paint::frame(painter, place, wears.fill, {}, 3);
    }
    if (wears.hatch.isValid()) {
        painter.setBrushOrigin(place.topLeft());
        painter.fillRect(place, hatchBrush(wears.hatch));
    }
    if (!(piece.blank && m_flow.characters())) {
        painter.setFont(m_flow.font(index));
        painter.setPen(wears.ink);
        const QFontMetrics metrics = painter.fontMetrics();
        QString text = piece.text;
        int wide = metrics.horizontalAdvance(text);
        if (wide > place.width()) {
            text = metrics.elidedText(text, Qt::ElideRight, place.width());
            wide = metrics.horizontalAdvance(text);
        }
        painter.drawText(
            QPoint(place.left() + (place.width() - wide + 1) / 2,
                   place.top() + (place.height() + metrics.ascent() - metrics.descent()) / 2),
            text);
    }
    if (wears.frame == PieceLook::Frame::None) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    const QRectF box = QRectF(place).adjusted(0, 0, 0, 0);
    QPen pen(wears.frameColor, 2);
    if (wears.frame == PieceLook::Frame::Dashed) {
        // A dark line below pale dashes, visible on any fill.
        painter.setPen(QPen(Theme::light().text, 2));
        painter.drawRoundedRect(box, 3, 3);
        pen.setDashPattern({3.0, 2.0});
    }
    painter.setPen(pen);
    painter.drawRoundedRect(box, 3, 3);
    painter.restore();
}

void PieceView::setHover(int index) {
    if (index == m_hover) return;
    const int before = m_hover;
    m_hover = index;
    hoverMoved(before, index);
}

void PieceView::resizeEvent(QResizeEvent*) {
    layOut();
    reveal(current({}));
}
void PieceView::scrollContentsBy(int, int) {
    viewport()->update();
}

bool PieceView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) setHover(-1);
    return QAbstractScrollArea::viewportEvent(event);
}

void PieceView::mouseMoveEvent(QMouseEvent* event) {
    setHover(tokenAt(event->position().toPoint()));
}

void PieceView::mousePressEvent(QMouseEvent* event) {
    const int index = tokenAt(event->position().toPoint());
    if (index < 0 || event->button() != Qt::LeftButton)
        return QAbstractScrollArea::mousePressEvent(event);
    pressed(index, event->modifiers());
}

void PieceView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool mine = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                      key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    const auto others = event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier);
    if (!mine || others || m_flow.size() == 0) return event->ignore();
    setHover(-1);  // a resting pointer must not hide what the keys choose
    const int index = m_flow.moved(qMax(0, current(event->modifiers())), key);
    pressed(index, event->modifiers());
    reveal(index);
}

void PieceView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) viewport()->update();
    if (event->type() == QEvent::FontChange) {
        m_flow.measure();
        layOut();
    }
}

}  // namespace relascope::widgets
