// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/map_geometry.h"

#include <QFontMetrics>
#include <algorithm>
#include <utility>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int largestFit = 56;  ///< a map of one cell need not fill the panel
constexpr int manyCells = 8;
constexpr int largestOfMany = 110;
constexpr int largestObject = 88;  ///< nor one of a few objects, which have something to see
constexpr int largestThumb = 72;   ///< px of an object's picture
constexpr int largestCell = 120;   ///< end of zooming in
constexpr int columnThumb = 24;    ///< px of a patch above its column: height is scarce
constexpr int tickMargin = 38;     ///< room for "(12,12)" beside the map
constexpr int chipMargin = 26;     ///< room for one line above the map
constexpr int wordTicks = 50;      ///< room for a short word in its chip
constexpr int widestWord = 84;
constexpr int widestName = 170;      ///< name of an object, where there is room
constexpr int characterMargin = 30;  ///< a character beside the map, and its chip
constexpr int patchSide = 16;        ///< larger pictures are objects, not patches
constexpr int chipHigh = 18;
constexpr int kRoomyCell = 28;

}  // namespace

bool MapAxes::setTokens(std::vector<AxisToken> rows, std::vector<AxisToken> columns) {
    m_rows = std::move(rows);
    m_columns = std::move(columns);
    Room room;
    room.text = room.characters =
        std::any_of(m_rows.begin(), m_rows.end(),
                    [](const AxisToken& token) { return !token.place.isEmpty(); });
    const QFontMetrics metrics(captionFont());
    int longest = 0;
    const auto measured = [&](const std::vector<AxisToken>& tokens) {
        int widest = 0;
        bool pictures = false;
        for (const AxisToken& token : tokens) {
            if (token.label.size() > 1) room.characters = false;
            if (qMax(token.picture.width(), token.picture.height()) > patchSide)
                room.thumb = largestThumb;
            pictures |= !token.picture.isNull();
            if (widest < widestName) widest = qMax(widest, metrics.horizontalAdvance(token.label));
        }
        longest = qMax(longest, widest);
        return pictures ? 0 : widest;
    };
    room.rows = measured(m_rows);
    room.columns = measured(m_columns);
    room.word = room.characters ? characterMargin : qBound(wordTicks, longest + 16, widestWord);
    return std::exchange(m_room, room) != room;
}

const AxisToken* MapAxes::token(bool rows, int index) const {
    const auto& tokens = rows ? m_rows : m_columns;
    return index >= 0 && index < static_cast<int>(tokens.size())
               ? &tokens[static_cast<std::size_t>(index)]
               : nullptr;
}
QString MapAxes::label(bool rows, int index) const {
    const AxisToken* at = token(rows, index);
    return at ? at->label : index < 0 ? QString() : QString::number(index);
}
QString MapAxes::name(bool rows, int index) const {
    const AxisToken* at = token(rows, index);
    if (!at || !at->byName) return label(rows, index);
    return at->place.isEmpty() ? at->name : at->place;
}
bool MapAxes::pictured(bool rows, int index) const {
    const AxisToken* at = token(rows, index);
    return at && !at->picture.isNull();
}
bool MapAxes::objects() const {
    return m_room.thumb == largestThumb;
}

int MapAxes::thumb(bool rows) const {
    return rows || objects() ? m_room.thumb : qMin(columnThumb, m_room.thumb);
}

int MapAxes::labelledFrom() const {
    return m_room.characters ? 10 : m_room.text || objects() ? 14 : 20;
}
bool MapAxes::upright(int cell) const {
    return m_room.text ? !m_room.characters : m_room.columns > cell - 2;
}
int MapAxes::margin(bool rows, int cell, bool labelled, int widest) const {
    if (!labelled) return !rows ? chipMargin : m_room.text ? wordTicks : tickMargin;
    if (m_room.text) return m_room.word;
    const int side = qMin(cell, thumb(rows)) + 6;
    if (rows) return qMax(side, qMin(m_room.rows + 14, widest));
    return upright(cell) ? qMax(side, qMin(m_room.columns + 16, widest)) : side;
}

void MapGeometry::layOut(const QSize& widget, const QSize& cells, bool keepZoom) {
    m_widget = widget;
    m_cells = cells;
    if (!keepZoom) m_zoomed = false;
    m_fit = m_fitBlock = 1;
    m_widest = widestName;
    if (!cells.isEmpty()) {
        const auto fitting = [&](int cell) {
            const bool labels = cell >= m_axes.labelledFrom();
            return qMin(
                (widget.width() - m_axes.margin(true, cell, labels, m_widest) - 4) / cells.width(),
                (widget.height() - m_axes.margin(false, cell, labels, m_widest) - 4) /
                    cells.height());
        };
        // Whole names, unless they leave no room for cells of the size of a name.
        if (fitting(kRoomyCell) < kRoomyCell) m_widest = widestWord;
        // A map with many cells has no maximum size.
        const int most = qMax(cells.width(), cells.height());
        const int largest = m_axes.objects()                         ? largestObject
                            : most >= manyCells && !m_axes.hasText() ? largestOfMany
                                                                     : largestFit;
        m_fit = qMin(fitting(1), m_axes.hasText() ? m_axes.labelledFrom() - 1 : largest);
        // Labels need a wider margin, so the layout with labels is tried separately.
        for (int cell = largest; cell >= m_axes.labelledFrom(); --cell)
            if (fitting(cell) >= cell) {
                m_fit = cell;
                break;
            }
        // As large as fits, also where that is no whole number of pixels a cell. The labels and
        // their margins stay those of whole pixels.
        const bool labels = m_fit >= m_axes.labelledFrom();
        const int wide = widget.width() - m_axes.margin(true, qMax(1, m_fit), labels, m_widest) - 4;
        const int high =
            widget.height() - m_axes.margin(false, qMax(1, m_fit), labels, m_widest) - 4;
        const qint64 room = qMin(static_cast<qint64>(wide) * most / cells.width(),
                                 static_cast<qint64>(high) * most / cells.height());
        const int end = m_fit < largest ? (qMax(0, m_fit) + 1) * most - 1 : largest * most;
        m_fit = static_cast<int>(qBound(qint64{1}, room, qint64{end}));
        m_fitBlock = most;
    }
    if (!m_zoomed) {
        m_cell = m_fit;
        m_block = m_fitBlock;
    }
    const int side = margin(true), above = margin(false);
    const int wide = m_zoomed ? widget.width() : qMin(widget.width(), side + pixels(cells.width()));
    const int left = m_zoomed ? 0 : (widget.width() - wide) / 2;
    m_area = QRect(left + side, above, widget.width() - left - side, widget.height() - above);
    moveTo(m_zoomed ? m_origin : m_area.topLeft());
}

void MapGeometry::zoom(bool in, const QPointF& at) {
    const qreal scale = static_cast<qreal>(m_cell) / m_block;
    const QPointF cell((at.x() - m_origin.x()) / scale, (at.y() - m_origin.y()) / scale);
    const int whole = this->cell();
    if (in && block() > 1) {
        m_block = m_block * 2 / 3;
        if (m_block <= m_cell) m_cell = m_block = 1;
    } else if (in) {
        m_cell = qMin(largestCell, whole + qMax(1, whole / 4));
        m_block = 1;
    } else if (whole > 1) {
        m_cell = whole - qMax(1, whole / 5);
        m_block = 1;
    } else if (m_fit < m_fitBlock) {
        if (m_block == 1) m_cell = m_block = m_fit;
        m_block = qMax(m_block + 1, m_block * 3 / 2);
    }
    // Out again ends at the whole map.
    if (!in && static_cast<qint64>(m_cell) * m_fitBlock <= static_cast<qint64>(m_fit) * m_block) {
        m_cell = m_fit;
        m_block = m_fitBlock;
    }
    m_zoomed = m_cell != m_fit || m_block != m_fitBlock;
    if (m_zoomed) {
        const qreal now = static_cast<qreal>(m_cell) / m_block;
        m_origin = QPoint(qRound(at.x() - cell.x() * now), qRound(at.y() - cell.y() * now));
    }
    layOut(m_widget, m_cells, m_zoomed);
}

void MapGeometry::moveTo(const QPoint& origin) {
    const QSize whole = map().size();
    m_origin.setX(qMin(m_area.left(), qMax(origin.x(), m_area.right() + 1 - whole.width())));
    m_origin.setY(qMin(m_area.top(), qMax(origin.y(), m_area.bottom() + 1 - whole.height())));
}

void MapGeometry::reveal(int row, int column) {
    const QRect cell = cellRect(row, column);
    QPoint origin = m_origin;
    if (cell.left() < m_area.left()) origin.rx() += m_area.left() - cell.left();
    if (cell.right() > m_area.right()) origin.rx() -= cell.right() - m_area.right();
    if (cell.top() < m_area.top()) origin.ry() += m_area.top() - cell.top();
    if (cell.bottom() > m_area.bottom()) origin.ry() -= cell.bottom() - m_area.bottom();
    moveTo(origin);
}

int MapGeometry::pixel(int index) const {
    return static_cast<int>(static_cast<qint64>(index) * m_cell / m_block);
}
int MapGeometry::pixels(int count) const {
    return block() == 1 ? pixel(count) : count > 0 ? pixel(count - 1) + 1 : 0;
}

QRect MapGeometry::map() const {
    return {m_origin, QSize(pixels(m_cells.width()), pixels(m_cells.height()))};
}
QRect MapGeometry::cellRect(int row, int column) const {
    const auto side = [this](int index) {
        return block() == 1 ? pixel(index + 1) - pixel(index) : 1;
    };
    return {m_origin.x() + pixel(column), m_origin.y() + pixel(row), side(column), side(row)};
}
QPoint MapGeometry::cellAt(const QPoint& point) const {
    if (!m_area.contains(point) || point.x() < m_origin.x() || point.y() < m_origin.y())
        return {-1, -1};
    // The first of the cells that share a pixel, or the cell whose pixels these are.
    const auto first = [this](int away) {
        const qint64 end = static_cast<qint64>(away) * m_block;
        return static_cast<int>((block() > 1 ? end + m_cell - 1 : end + m_block - 1) / m_cell);
    };
    const QPoint cell(first(point.x() - m_origin.x()), first(point.y() - m_origin.y()));
    return cell.x() < m_cells.width() && cell.y() < m_cells.height() ? cell : QPoint(-1, -1);
}
std::pair<int, int> MapGeometry::shown(bool rows) const {
    const int from = rows ? m_area.top() - m_origin.y() : m_area.left() - m_origin.x();
    const int room = rows ? m_area.height() : m_area.width();
    const int count = rows ? m_cells.height() : m_cells.width();
    return {qMax(0, from * m_block / m_cell), qMin(count - 1, (from + room) * m_block / m_cell)};
}

QRect MapGeometry::marginRect(bool rows) const {
    return rows ? QRect(0, m_area.top(), m_area.left(), m_area.height())
                : QRect(m_area.left(), 0, m_area.width(), m_area.top());
}

QRect MapGeometry::thumbRect(int index, bool row) const {
    const QRect cell = headRect(index, row);
    const int side = thumbSide(row);
    QRect place(0, 0, side, side);
    if (row)
        place.moveTo(m_area.left() - side - 5, cell.top() + (cell.height() - side) / 2);
    else
        place.moveTo(cell.left() + (cell.width() - side) / 2, m_area.top() - side - 5);
    return place;
}

int MapGeometry::tickStep() const {
    const qreal scale = static_cast<qreal>(m_cell) / m_block;
    int step = 1;  // 1, 2, 5, 10, ...
    for (int k = 0; step * scale < 34; ++k) step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}
QRect MapGeometry::tickRect(int index, bool rows) const {
    const QPoint cell = cellRect(index, index).center();
    return rows ? QRect(0, cell.y() - 8, m_area.left() - 8, 16)
                : QRect(qMin(cell.x() - 20, m_widget.width() - 40), m_area.top() - 22, 40, 16);
}

QRect MapGeometry::chipRect(int index, bool row) const {
    const QRect cell = headRect(index, row);
    const bool onEnd = !row && m_axes.hasText() && upright();
    const int room = row || onEnd ? margin(row) - 6 : widestMapChip;
    const int wide =
        qMin(room, QFontMetrics(captionFont()).horizontalAdvance(m_axes.label(row, index)) + 12);
    // Between texts it is one line high, so that it does not cover its neighbours.
    const bool betweenTokens = m_axes.hasText() && !m_axes.characters() && labelled();
    const int high = betweenTokens ? qMin(cell.height(), chipHigh) : chipHigh;
    if (onEnd) return QRect(cell.center().x() - high / 2, m_area.top() - 5 - wide, high, wide);
    QRect chip(0, 0, qMax(wide, chipHigh), high);
    if (row) {
        chip.moveTopRight(QPoint(m_area.left() - 6, cell.center().y() - high / 2));
        chip.moveTop(qBound(0, chip.top(), qMax(0, m_widget.height() - high)));
    } else {
        chip.moveTopLeft(QPoint(cell.center().x() - chip.width() / 2, m_area.top() - 23));
        chip.moveLeft(qBound(0, chip.left(), qMax(0, m_widget.width() - chip.width())));
    }
    return chip;
}

}  // namespace relascope::widgets
