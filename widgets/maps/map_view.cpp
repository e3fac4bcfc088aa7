// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <tuple>

#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int largestFit = 56;  ///< a map of one cell need not fill the panel
constexpr int manyCells = 8;
constexpr int largestOfMany = 110;
constexpr int largestObject = 88;  ///< nor one of a few objects, which have something to see
constexpr int largestThumb = 72;   ///< px of an object's picture
constexpr int largestCell = 120;   ///< end of zooming in
constexpr int tickMargin = 38;     ///< room for "(12,12)" beside the map
constexpr int wordTicks = 50;      ///< room for a short word in its chip
constexpr int widestWord = 84;
constexpr int characterMargin = 30;  ///< a character beside the map, and its chip
constexpr int patchSide = 16;        ///< larger pictures are objects, not patches

}  // namespace

MapView::MapView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Map"));
    describe();
}

void MapView::setValues(MapValues values) {
    const bool same = values.rows == m_values.rows && values.columns == m_values.columns;
    if (same && values == m_values) return;
    m_values = std::move(values);
    if (!same) {
        m_hover = m_preview = {-1, -1};
        m_row = m_values.empty() ? -1 : qBound(-1, m_row, m_values.rows - 1);
        m_column = m_values.empty() ? -1 : qBound(-1, m_column, m_values.columns - 1);
        layOut(false);
    } else {
        refreshImage();
    }
    describe();
}

void MapView::setScale(const ColorScale& scale) {
    if (scale == m_scale) return;
    m_scale = scale;
    refreshImage();
}

void MapView::setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns) {
    m_rowTokens = std::move(rows);
    m_columnTokens = std::move(columns);
    const auto before =
        std::tuple(m_words, m_characters, m_wordMargin, m_rowWords, m_columnWords, m_thumb);
    m_words = std::any_of(m_rowTokens.begin(), m_rowTokens.end(),
                          [](const AxisToken& token) { return !token.place.isEmpty(); });
    m_characters = m_words;
    m_thumb = 40;
    const QFontMetrics metrics(captionFont());
    int longest = 0;
    const auto measured = [&](const std::vector<AxisToken>& tokens) {
        int widest = 0;
        bool pictures = false;
        for (const AxisToken& token : tokens) {
            if (token.label.size() > 1) m_characters = false;
            if (qMax(token.picture.width(), token.picture.height()) > patchSide)
                m_thumb = largestThumb;
            pictures |= !token.picture.isNull();
            if (widest < widestWord) widest = qMax(widest, metrics.horizontalAdvance(token.label));
        }
        longest = qMax(longest, widest);
        return pictures ? 0 : widest;
    };
    m_rowWords = measured(m_rowTokens);
    m_columnWords = measured(m_columnTokens);
    m_wordMargin = m_characters ? characterMargin : qBound(wordTicks, longest + 16, widestWord);
    const auto now =
        std::tuple(m_words, m_characters, m_wordMargin, m_rowWords, m_columnWords, m_thumb);
    if (now != before) return layOut(true);
    invalidate();
}

void MapView::setNumberDigits(int digits, bool isSigned) {
    m_digits = digits;
    m_signedNumbers = isSigned;
}

void MapView::setCell(int row, int column) {
    const Mark before = mark();
    m_row = m_values.empty() ? -1 : qBound(-1, row, m_values.rows - 1);
    m_column = m_values.empty() ? -1 : qBound(-1, column, m_values.columns - 1);
    moved(before);
}

void MapView::setPreview(int row, int column) {
    const Mark before = mark();
    const bool inside = row >= 0 && column >= 0 && row < m_values.rows && column < m_values.columns;
    m_preview = inside ? QPoint(column, row) : QPoint(-1, -1);
    moved(before);
}

MapView::Mark MapView::mark() const {
    if (m_hover.x() >= 0) return {m_hover.y(), m_hover.x(), true};
    if (m_preview.x() >= 0) return {m_preview.y(), m_preview.x(), false};
    return {m_row, m_column, hasFocus() && m_row >= 0 && m_column >= 0};
}

void MapView::moved(const Mark& before) {
    const Mark now = mark();
    if (now == before) return;
    // Only the two crosses, their labels and boxes: at 512 tokens the map itself costs far more.
    update(markRegion(before) | markRegion(now));
    describe();
}

QRect MapView::cellRect(int row, int column) const {
    if (m_block > 1) return {m_origin.x() + column / m_block, m_origin.y() + row / m_block, 1, 1};
    return {m_origin.x() + column * m_cell, m_origin.y() + row * m_cell, m_cell, m_cell};
}

QPoint MapView::cellAt(const QPoint& point) const {
    if (!m_area.contains(point) || point.x() < m_origin.x() || point.y() < m_origin.y())
        return {-1, -1};
    const QPoint cell((point.x() - m_origin.x()) * m_block / m_cell,
                      (point.y() - m_origin.y()) * m_block / m_cell);
    return cell.x() < m_values.columns && cell.y() < m_values.rows ? cell : QPoint(-1, -1);
}

int MapView::marginFor(bool rows, int cell, int block) const {
    const bool labels = block == 1 && cell >= labelledFrom();
    if (m_words) return labels ? m_wordMargin : wordTicks;
    if (!labels) return tickMargin;
    const int side = qMin(cell, m_thumb) + 6;
    if (rows) return qMax(side, qMin(m_rowWords + 14, widestWord));
    return uprightFor(cell) ? qMax(side, qMin(m_columnWords + 16, widestWord)) : side;
}

void MapView::layOut(bool keepZoom) {
    if (!keepZoom) m_zoomed = false;
    m_fit = m_fitBlock = 1;
    if (!m_values.empty()) {
        const auto fitting = [&](int cell) {
            return qMin((width() - marginFor(true, cell, 1) - 4) / m_values.columns,
                        (height() - marginFor(false, cell, 1) - 4) / m_values.rows);
        };
        const int ticks = marginFor(true, 1, 1);
        // A map of many cells may fill any screen.
        const bool many = qMax(m_values.rows, m_values.columns) >= manyCells;
        const int largest = m_thumb == largestThumb ? largestObject
                            : many && !m_words      ? largestOfMany
                                                    : largestFit;
        m_fit = qMin(fitting(1), m_words ? labelledFrom() - 1 : largest);
        // Labels need a margin of their own, so that is tried with the room it leaves.
        for (int cell = largest; cell >= labelledFrom(); --cell)
            if (fitting(cell) >= cell) {
                m_fit = cell;
                break;
            }
        if (m_fit < 1) {
            m_fit = 1;
            const int room = qMax(1, qMin(width(), height()) - ticks - 4);
            m_fitBlock = (qMax(m_values.rows, m_values.columns) + room - 1) / room;
        }
    }
    if (!m_zoomed) {
        m_cell = m_fit;
        m_block = m_fitBlock;
    }
    const int side = margin(true), above = margin(false);
    const int wide =
        m_zoomed ? width()
                 : qMin(width(), side + (m_values.columns * m_cell + m_block - 1) / m_block);
    const int left = m_zoomed ? 0 : (width() - wide) / 2;
    m_area = QRect(left + side, above, width() - left - side, height() - above);
    if (!m_zoomed) m_origin = m_area.topLeft();
    clampOrigin();
    refreshImage();
}

void MapView::clampOrigin() {
    const int wide = m_values.columns * m_cell / m_block;
    const int high = m_values.rows * m_cell / m_block;
    m_origin.setX(qMin(m_area.left(), qMax(m_origin.x(), m_area.right() + 1 - wide)));
    m_origin.setY(qMin(m_area.top(), qMax(m_origin.y(), m_area.bottom() + 1 - high)));
}

void MapView::refreshImage() {
    m_small = m_block > 1 ? pooled(m_values, m_block) : MapValues();
    paintCells(m_block > 1 ? m_small : m_values, m_scale, m_image);
    invalidate();
}

void MapView::invalidate() {
    m_base = QPixmap();
    update();
}

void MapView::describe() {
    const Mark m = mark();
    QString text =
        m_values.empty()
            ? QStringLiteral("no map")
            : QStringLiteral("%1 rows i by %2 columns j").arg(m_values.rows).arg(m_values.columns);
    if (m.row >= 0 && m.column >= 0)
        text += QStringLiteral(", ") + boxText(m).join(QStringLiteral(": "));
    setAccessibleDescription(text);
}

void MapView::resetZoom() {
    layOut(false);
}

void MapView::resizeEvent(QResizeEvent*) {
    layOut(true);
}

void MapView::setHover(const QPoint& cell) {
    if (cell == m_hover) return;
    const Mark before = mark();
    m_hover = cell;
    moved(before);
    Q_EMIT hovered(cell.y(), cell.x());
}

void MapView::choose(int row, int column) {
    setCell(row, column);
    if (m_zoomed) {  // the arrow keys may walk out of the part that is seen
        const QRect cell = cellRect(m_row, m_column);
        const QPoint before = m_origin;
        if (cell.left() < m_area.left()) m_origin.rx() += m_area.left() - cell.left();
        if (cell.right() > m_area.right()) m_origin.rx() -= cell.right() - m_area.right();
        if (cell.top() < m_area.top()) m_origin.ry() += m_area.top() - cell.top();
        if (cell.bottom() > m_area.bottom()) m_origin.ry() -= cell.bottom() - m_area.bottom();
        clampOrigin();
        if (m_origin != before) invalidate();
    }
    Q_EMIT chosen(m_row, m_column);
}

void MapView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    m_pressed = event->position().toPoint();
    m_pressOrigin = m_origin;
    m_dragging = false;
}

void MapView::mouseMoveEvent(QMouseEvent* event) {
    const QPoint point = event->position().toPoint();
    if (event->buttons() & Qt::LeftButton && m_pressed.x() >= 0 && m_zoomed) {
        if (!m_dragging && (point - m_pressed).manhattanLength() < 5) return;
        m_dragging = true;
        setCursor(Qt::ClosedHandCursor);
        m_origin = m_pressOrigin + point - m_pressed;
        clampOrigin();
        invalidate();
        return;
    }
    setHover(cellAt(point));
}

void MapView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const bool dragged = m_dragging;
    m_dragging = false;
    m_pressed = {-1, -1};
    unsetCursor();
    if (dragged) return;
    const QPoint cell = cellAt(event->position().toPoint());
    if (cell.x() >= 0) choose(cell.y(), cell.x());
}

void MapView::mouseDoubleClickEvent(QMouseEvent*) {
    resetZoom();
}

void MapView::wheelEvent(QWheelEvent* event) {
    const int turn = event->angleDelta().y();
    if (turn == 0 || m_values.empty()) return;
    const QPointF at = event->position();
    // The cell under the pointer, with its fraction, stays under the pointer.
    const qreal scale = static_cast<qreal>(m_cell) / m_block;
    const QPointF cell((at.x() - m_origin.x()) / scale, (at.y() - m_origin.y()) / scale);
    if (turn > 0) {
        if (m_block > 1)
            m_block = m_block / 2;
        else
            m_cell = qMin(largestCell, m_cell + qMax(1, m_cell / 4));
    } else if (m_cell > m_fit) {
        m_cell = qMax(m_fit, m_cell - qMax(1, m_cell / 5));
    } else {
        m_block = qMin(m_fitBlock, m_block * 2);
    }
    m_block = qMax(1, m_block);
    m_zoomed = m_cell > m_fit || m_block < m_fitBlock;
    if (m_zoomed) {
        const qreal now = static_cast<qreal>(m_cell) / m_block;
        m_origin = QPoint(qRound(at.x() - cell.x() * now), qRound(at.y() - cell.y() * now));
    }
    layOut(m_zoomed);
    setHover(cellAt(at.toPoint()));
    event->accept();
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
    if (m_values.empty()) return QWidget::keyPressEvent(event);
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
            return choose(qMin(m_values.rows - 1, row + 1), column);
        case Qt::Key_Left:
            return choose(row, qMax(0, column - 1));
        case Qt::Key_Right:
            return choose(row, qMin(m_values.columns - 1, column + 1));
        case Qt::Key_Home:
            return choose(0, 0);
        case Qt::Key_End:
            return choose(m_values.rows - 1, m_values.columns - 1);
        default:
            QWidget::keyPressEvent(event);
    }
}

void MapView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) invalidate();
}

}  // namespace relascope
