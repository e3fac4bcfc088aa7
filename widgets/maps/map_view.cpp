// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>
#include <QPainter>
#include <QWheelEvent>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MapView::MapView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Map"));
    describe();
}

void MapView::setValues(MapValues values) {
    const MapValues& now = m_picture.values();
    const bool same = values.rows == now.rows && values.columns == now.columns;
    if (same && values == now) return;
    m_picture.setValues(std::move(values));
    if (!same) {
        m_hover = m_preview = {-1, -1};
        m_row = now.empty() ? -1 : qBound(-1, m_row, now.rows - 1);
        m_column = now.empty() ? -1 : qBound(-1, m_column, now.columns - 1);
        layOut(false);
    } else {
        refreshImage();
    }
    describe();
}

void MapView::setScale(const ColorScale& scale) {
    if (scale == m_picture.scale()) return;
    m_picture.setScale(scale);
    refreshImage();
}

const ColorScale& MapView::scale() const {
    return m_picture.scale();
}

void MapView::setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns) {
    if (m_picture.axes.setTokens(std::move(rows), std::move(columns))) return layOut(true);
    invalidate();
}

void MapView::setNumberDigits(int digits, bool isSigned) {
    m_picture.digits = digits;
    m_picture.signedNumbers = isSigned;
}

void MapView::setCell(int row, int column) {
    const MapMark before = mark();
    m_row = values().empty() ? -1 : qBound(-1, row, values().rows - 1);
    m_column = values().empty() ? -1 : qBound(-1, column, values().columns - 1);
    moved(before);
}

void MapView::setPreview(int row, int column) {
    const MapMark before = mark();
    const bool inside = row >= 0 && column >= 0 && row < values().rows && column < values().columns;
    m_preview = inside ? QPoint(column, row) : QPoint(-1, -1);
    moved(before);
}

void MapView::setMarks(std::vector<int> tokens) {
    if (tokens == m_picture.marks) return;
    m_picture.marks = std::move(tokens);
    invalidate();
}

void MapView::setNote(const QString& sentence) {
    if (sentence == m_note) return;
    m_note = sentence;
    describe();
    update();
}

void MapView::setOutdated(bool outdated, bool awaited) {
    if (outdated == m_outdated && awaited == m_awaited) return;
    m_outdated = outdated;
    m_awaited = awaited;
    update();
}

/// The note in place of a map, or the mark of one that is about to be replaced.
void MapView::paintState(QPainter& painter) const {
    const Theme& t = Theme::current();
    if (values().empty() && !m_note.isEmpty()) {
        painter.setFont(bodyFont());
        painter.setPen(t.muted);
        painter.drawText(rect().adjusted(16, 0, -16, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         m_note);
    } else if (m_outdated) {
        const QString text =
            m_awaited ? QStringLiteral("Computing \u2026") : QStringLiteral("Out of date");
        painter.setFont(smallFont());
        QRect box(0, 0, painter.fontMetrics().horizontalAdvance(text) + 20, 24);
        box.moveTopRight(cellGeometry().area().topRight() + QPoint(-8, 8));
        paint::frame(painter, box, t.panel, t.controlBorder);
        painter.setPen(t.text);
        painter.drawText(box, Qt::AlignCenter, text);
    }
}

MapMark MapView::mark() const {
    if (m_hover.x() >= 0) return {m_hover.y(), m_hover.x(), true};
    if (m_preview.x() >= 0) return {m_preview.y(), m_preview.x(), false};
    return {m_row, m_column, hasFocus() && m_row >= 0 && m_column >= 0};
}

void MapView::moved(const MapMark& before) {
    const MapMark now = mark();
    if (now == before) return;
    // Only the two crosses, their labels and boxes: at 512 tokens the map itself costs far more.
    update(m_picture.region(before) | m_picture.region(now));
    describe();
}

void MapView::layOut(bool keepZoom) {
    m_picture.geometry.layOut(size(), m_picture.cells(), keepZoom);
    refreshImage();
}

void MapView::refreshImage() {
    m_picture.colour();
    invalidate();
}

void MapView::invalidate() {
    m_base = QPixmap();
    update();
}

void MapView::describe() {
    const MapMark m = mark();
    QString text =
        values().empty()
            ? (m_note.isEmpty() ? QStringLiteral("no map") : m_note)
            : QStringLiteral("%1 rows i by %2 columns j").arg(values().rows).arg(values().columns);
    if (m.cell()) text += QStringLiteral(", ") + m_picture.boxText(m).join(QStringLiteral(": "));
    setAccessibleDescription(text);
}

void MapView::resetZoom() {
    layOut(false);
}

void MapView::zoomAt(bool in, const QPointF& at) {
    const auto pooling = cellGeometry().pooling();
    m_picture.geometry.zoom(in, at);
    // Only where several cells share a pixel does the picture itself depend on the zoom.
    const bool same = pooling == cellGeometry().pooling() ||
                      (pooling.first >= pooling.second && cellGeometry().block() == 1);
    same ? invalidate() : refreshImage();
}

void MapView::zoom(bool in) {
    const QRect area = cellGeometry().area();
    const QPoint cell = cellGeometry().cellRect(qMax(0, m_row), qMax(0, m_column)).center();
    zoomAt(in, area.contains(cell) ? cell : area.center());
    if (in && m_row >= 0 && m_column >= 0) m_picture.geometry.reveal(m_row, m_column);
}

void MapView::resizeEvent(QResizeEvent*) {
    layOut(true);
}

void MapView::setHover(const QPoint& cell) {
    if (cell == m_hover) return;
    const MapMark before = mark();
    m_hover = cell;
    moved(before);
    Q_EMIT hovered(cell.y(), cell.x());
}

void MapView::choose(int row, int column) {
    setCell(row, column);
    if (cellGeometry().zoomed()) {  // the arrow keys may walk out of the part that is seen
        const QPoint before = cellGeometry().origin();
        m_picture.geometry.reveal(m_row, m_column);
        if (cellGeometry().origin() != before) invalidate();
    }
    Q_EMIT chosen(m_row, m_column);
}

void MapView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    const QPoint cell = cellGeometry().cellAt(event->position().toPoint());
    if (event->modifiers() & Qt::AltModifier && cell.x() >= 0) {
        m_valueDrag = event->position().toPoint();
        m_dragCell = cell;
        setCursor(Qt::SizeVerCursor);
        choose(cell.y(), cell.x());
        return Q_EMIT cellDragged(cell.y(), cell.x(), 0);
    }
    m_pressed = event->position().toPoint();
    m_pressOrigin = cellGeometry().origin();
    m_dragging = false;
}

void MapView::mouseMoveEvent(QMouseEvent* event) {
    const QPoint point = event->position().toPoint();
    if (m_valueDrag)
        return Q_EMIT cellDragged(m_dragCell.y(), m_dragCell.x(), m_valueDrag->y() - point.y());
    if (event->buttons() & Qt::LeftButton && m_pressed.x() >= 0 && cellGeometry().zoomed()) {
        if (!m_dragging && (point - m_pressed).manhattanLength() < 5) return;
        m_dragging = true;
        setCursor(Qt::ClosedHandCursor);
        m_picture.geometry.moveTo(m_pressOrigin + point - m_pressed);
        invalidate();
        return;
    }
    setHover(cellGeometry().cellAt(point));
}

void MapView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (m_valueDrag) {
        m_valueDrag.reset();
        unsetCursor();
        return Q_EMIT cellDropped(true);
    }
    const bool dragged = m_dragging;
    m_dragging = false;
    m_pressed = {-1, -1};
    unsetCursor();
    if (dragged) return;
    const QPoint cell = cellGeometry().cellAt(event->position().toPoint());
    if (cell.x() < 0) return;
    if (event->modifiers() & Qt::ControlModifier) return Q_EMIT compared(cell.y(), cell.x());
    choose(cell.y(), cell.x());
}

void MapView::mouseDoubleClickEvent(QMouseEvent*) {
    if (!cellGeometry().zoomed()) return Q_EMIT fillRequested();
    resetZoom();
}

void MapView::wheelEvent(QWheelEvent* event) {
    const int turn = event->angleDelta().y();
    if (turn == 0 || values().empty()) return;
    const QPointF at = event->position();
    zoomAt(turn > 0, at);
    setHover(cellGeometry().cellAt(at.toPoint()));
    event->accept();
}

void MapView::contextMenuEvent(QContextMenuEvent* event) {
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const QPoint cell = byKey ? QPoint(m_column, m_row) : cellGeometry().cellAt(event->pos());
    if (cell.x() < 0 || cell.y() < 0) return event->ignore();
    if (!byKey) choose(cell.y(), cell.x());
    event->accept();
    Q_EMIT menuRequested(
        cell.y(), cell.x(),
        byKey ? mapToGlobal(cellRect(cell.y(), cell.x()).center()) : event->globalPos());
}

void MapView::leaveEvent(QEvent*) {
    setHover({-1, -1});
}
void MapView::focusInEvent(QFocusEvent*) {
    update();
}
void MapView::focusOutEvent(QFocusEvent*) {
    update();
}

void MapView::keyPressEvent(QKeyEvent* event) {
    if (m_valueDrag && event->key() == Qt::Key_Escape) {
        m_valueDrag.reset();
        unsetCursor();
        return Q_EMIT cellDropped(false);
    }
    // Alt and the arrows change the value of the cell: a command of the window.
    if (values().empty() || event->modifiers() & Qt::AltModifier)
        return QWidget::keyPressEvent(event);
    const auto choose = [this](int row, int column) {
        setHover({-1, -1});  // the keys move the chosen cell, not the one under a resting pointer
        this->choose(row, column);
    };
    const int row = qMax(0, m_row);
    const int column = qMax(0, m_column);
    switch (event->key()) {
        case Qt::Key_Up:
            return choose(qMax(0, row - 1), column);
        case Qt::Key_Down:
            return choose(qMin(values().rows - 1, row + 1), column);
        case Qt::Key_Left:
            return choose(row, qMax(0, column - 1));
        case Qt::Key_Right:
            return choose(row, qMin(values().columns - 1, column + 1));
        case Qt::Key_0:
            return resetZoom();
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(true);
        case Qt::Key_Minus:
            return zoom(false);
        case Qt::Key_Home:
            return choose(0, 0);
        case Qt::Key_End:
            return choose(values().rows - 1, values().columns - 1);
        default:
            QWidget::keyPressEvent(event);
    }
}

void MapView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) invalidate();
}

void MapView::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    const auto engine = painter.paintEngine()->type();
    if (engine == QPaintEngine::SVG || engine == QPaintEngine::Pdf) {
        painter.setClipRect(rect());
        m_picture.paintBase(painter);  // shapes, not a picture of them
    } else {
        // Not devicePixelRatioF(): a picture for a file is drawn at its own resolution.
        const qreal ratio = painter.deviceTransform().m11();
        if (m_base.isNull() || m_base.size() != size() * ratio) {
            m_base = QPixmap(size() * ratio);
            m_base.setDevicePixelRatio(ratio);
            QPainter base(&m_base);
            m_picture.paintBase(base);
        }
        for (const QRect& part : event->region())
            painter.drawPixmap(
                QPointF(part.topLeft()), m_base,
                QRectF(QPointF(part.topLeft()) * ratio, QSizeF(part.size()) * ratio));
    }
    if (!values().empty() && !FigureScope::paper()) m_picture.paintMark(painter, mark());
    paintState(painter);
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

}  // namespace relascope::widgets
