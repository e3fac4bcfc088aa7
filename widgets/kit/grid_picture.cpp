// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QPainter>

#include "widgets/kit/grid_picture.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kGridSide = 16, kPanelTitle = 28, kPanelGap = 18, kColumnNumbers = 18, kKindsGap = 8,
              kLeastPanel = 180, kTextRow = 24, kTextHead = 40, kApart = 5, kLeastText = 30,
              kMostText = 150;

// Lines at 45 degrees within a cell; lines, since SVG has no pattern brush.
void hatchCell(QPainter& painter, const QRect& cell, const QColor& ink) {
    constexpr int step = 5;
    painter.setPen(QPen(ink, 1));
    const int wide = cell.width(), high = cell.height();
    for (int d = step - high; d < wide; d += step) {
        const int from = std::max(0, -d), to = std::min(high, wide - d);
        if (to <= from) continue;
        painter.drawLine(QPointF(cell.left() + d + from, cell.top() + high - from),
                         QPointF(cell.left() + d + to, cell.top() + high - to));
    }
}

}  // namespace

void GridPicture::setPanels(std::vector<GridPanel> panels) {
    m_panels = std::move(panels);
    m_boxes.clear();
    m_size = {0, 0};
}

int GridPicture::headHeight() const {
    const bool heads = m_style.texts && !m_panels.empty() && !m_panels.front().inputs.empty();
    return heads ? kTextHead : 0;
}

void GridPicture::fit(int width) {
    m_boxes.clear();
    const QFontMetrics names(smallFont());
    m_names = 0;
    for (const auto& panel : m_panels) {
        for (const auto& row : panel.rows)
            m_names = std::max(m_names, names.horizontalAdvance(shownText(row)));
        m_names = std::max(m_names, names.horizontalAdvance(shownText(panel.columnName)));
    }
    m_names += kGridSide + 10;
    if (m_style.texts)
        fitTexts();
    else if (m_style.beside)
        fitBeside(width);
    else
        fitBelow(width);
    int wide = 0, high = 0;
    for (int k = 0; k < static_cast<int>(m_boxes.size()); ++k) {
        const auto& box = boxAt(k);
        wide = std::max(wide, box.cells.right() + 1 + kGridSide);
        high = std::max(high, box.cells.bottom() + 1 + box.below + 8);
    }
    m_size = {wide, high};
}

void GridPicture::fitTexts() {
    const QFontMetrics mono(monoFont(12));
    int top = 0;
    for (const auto& panel : m_panels) {
        const int rows = static_cast<int>(panel.rows.size()),
                  columns = static_cast<int>(panel.columns.size());
        int widest = kLeastText;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns && widest < kMostText; ++c)
                widest =
                    std::max(widest, mono.horizontalAdvance(shownText(panel.cell(r, c).text)) + 14);
        m_cell = std::min(widest, kMostText);
        m_row = kTextRow;
        m_boxes.push_back({{m_names, top + headHeight(), m_cell * columns,
                            m_row * rows + (panel.lastRowApart ? kApart : 0)}});
        top = m_boxes.back().cells.bottom() + 1 + 8;
    }
}

// All panels have the same cells; as many stand side by side as fit.
void GridPicture::fitBeside(int width) {
    int columns = 1, gaps = 0;
    const int panels = static_cast<int>(m_panels.size());
    for (int k = 0; k < panels; ++k) {
        columns = std::max(columns, columnsOf(k));
        gaps = std::max(gaps, static_cast<int>(panelAt(k).groups.size()) > 1 ? kKindsGap : 0);
    }
    gaps += m_names;
    const int number = m_style.numbersFrom;
    int across = std::max(1, panels), room = 0;
    for (;; --across) {
        room = (width - kGridSide - (across - 1) * kPanelGap) / across - gaps;
        // Wide enough for its title, and for the numbers in its cells where that is possible.
        if (across <= 1 || room >= columns * number ||
            (room >= kLeastPanel && room >= columns * 18 && columns * number > width / 2))
            break;
    }
    m_cell = std::clamp(room / columns, m_style.leastCell, m_style.mostCell);
    m_row = m_style.rowHeight > 0 ? m_style.rowHeight : m_cell;
    int wide = std::max(kLeastPanel, gaps + columns * m_cell);
    for (const auto& panel : m_panels)
        wide = std::max(
            wide,
            kGridSide + 16 +
                QFontMetrics(smallFont()).horizontalAdvance(shownText(panel.title + panel.note)));
    wide += kPanelGap;
    across = std::min(across, std::max(1, (width - kGridSide + kPanelGap) / wide));
    int top = 8, high = 0;
    for (int k = 0; k < panels; ++k) {
        if (k > 0 && k % across == 0) top += high + kPanelGap, high = 0;
        Box box;
        box.below = kColumnNumbers;
        box.cells = {k % across * wide + m_names, top + kPanelTitle,
                     columnsOf(k) * m_cell + gaps - m_names, rowsOf(k) * m_row};
        high = std::max(high, kPanelTitle + box.cells.height() + box.below);
        m_boxes.push_back(box);
    }
}

void GridPicture::fitBelow(int width) {
    const QFontMetrics mono(monoFont(11));
    m_row = m_style.rowHeight;
    int top = 4;
    for (int k = 0; k < static_cast<int>(m_panels.size()); ++k) {
        const int columns = std::max(1, columnsOf(k));
        const int cell = std::clamp((width - m_names - kGridSide) / columns, m_style.leastCell,
                                    m_style.mostCell);
        Box box;
        box.inputs = !panelAt(k).inputs.empty() && cell >= 12;
        int longest = 0;
        for (const auto& input : panelAt(k).inputs)
            if (box.inputs) longest = std::max(longest, mono.horizontalAdvance(shownText(input)));
        box.upright = longest > cell - 4;
        box.below = box.upright ? std::min(m_style.mostUpright, longest + 10) : kColumnNumbers;
        const int title = panelAt(k).title.empty() ? 0 : kPanelTitle;
        box.cells = {m_names, top + title, cell * columns, m_row * rowsOf(k)};
        top = box.cells.bottom() + 1 + box.below + kPanelGap;
        m_boxes.push_back(box);
    }
}

QRect GridPicture::cellRect(const GridPlace& place) const {
    if (place.panel < 0 || place.panel >= static_cast<int>(m_boxes.size()) || place.row < 0 ||
        place.column < 0 || place.column >= columnsOf(place.panel))
        return {};
    const auto& box = boxAt(place.panel);
    const auto& panel = panelAt(place.panel);
    int gap = 0, before = 0;
    for (std::size_t g = 0; g + 1 < panel.groups.size(); ++g) {
        before += panel.groups[g].columns;
        if (before > 0 && place.column >= before) gap = kKindsGap;
    }
    const int cell = (box.cells.width() - (panel.groups.size() > 1 ? kKindsGap : 0)) /
                     std::max(1, columnsOf(place.panel));
    const int apart = panel.lastRowApart && place.row + 1 == rowsOf(place.panel) ? kApart : 0;
    return {box.cells.left() + gap + place.column * cell,
            box.cells.top() + place.row * m_row + apart, cell, m_row};
}

bool GridPicture::present(const GridPlace& place) const {
    return place.panel >= 0 && place.row >= 0 && place.column >= 0 &&
           place.panel < static_cast<int>(m_panels.size()) && place.row < rowsOf(place.panel) &&
           place.column < columnsOf(place.panel) &&
           panelAt(place.panel).cell(place.row, place.column).present;
}

GridPlace GridPicture::placeAt(const QPoint& at) const {
    for (int k = 0; k < static_cast<int>(m_boxes.size()); ++k) {
        const auto& box = boxAt(k);
        const int columns = columnsOf(k), rows = rowsOf(k);
        if (!box.cells.contains(at) || columns == 0 || rows == 0) continue;
        // A gap shifts what is behind it by less than a cell.
        const int width = std::max(1, cellRect({k, 0, 0}).width());
        const int near = (at.x() - box.cells.left()) / width,
                  row = (at.y() - box.cells.top()) / m_row;
        for (const int column : {near, near - 1})
            for (const int r : {row, row - 1})
                if (const GridPlace place{k, r, column};
                    cellRect(place).contains(at) && present(place))
                    return place;
    }
    return {};
}

void GridPicture::paintCell(QPainter& painter, const QRect& room, const GridCell& cell) const {
    const Theme& t = Theme::current();
    // A line of the page between cells, unless they are too narrow for it.
    const QRect inner = room.adjusted(0, 0, room.width() >= 12 ? -1 : 0, -1);
    const QColor fill = std::isnan(cell.value) ? t.panel : m_fill(cell.value);
    painter.fillRect(inner, fill);
    if (cell.hatched) {
        QColor line = Theme::textOn(fill);
        line.setAlphaF(room.width() < m_style.numbersFrom ? 0.28F : 0.2F);  // numbers stay readable
        hatchCell(painter, inner, line);
    }
    if (cell.framed) {
        painter.setPen(QPen(t.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(inner.adjusted(1, 1, -1, -1));
    }
    if (m_style.texts) {
        QFont font = monoFont(12);
        font.setBold(cell.emphasised);
        painter.setFont(font);
        painter.setPen(!std::isnan(cell.value) && cell.emphasised ? Theme::textOn(fill)
                       : cell.emphasised                          ? t.text
                                                                  : t.muted);
        paint::elidedText(painter, inner.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
                          shownText(cell.text));
    } else if (room.width() >= m_style.numbersFrom) {
        painter.setFont(numberFont(room.width() >= 38 ? 11 : 10));
        painter.setPen(Theme::textOn(fill));
        painter.drawText(inner, Qt::AlignCenter, shownText(cell.text));
    }
}

void GridPicture::paintCells(QPainter& painter, int panel, const QRect& seen) const {
    const auto& box = boxAt(panel);
    const int width = std::max(1, cellRect({panel, 0, 0}).width());
    const int first = std::max(0, (seen.left() - box.cells.left()) / width - 1),
              last = std::min(columnsOf(panel) - 1, (seen.right() - box.cells.left()) / width);
    for (int r = 0; r < rowsOf(panel); ++r)
        for (int c = first; c <= last; ++c) {
            const QRect room = cellRect({panel, r, c});
            if (!room.intersects(seen)) continue;
            if (const auto cell = panelAt(panel).cell(r, c); cell.present)
                paintCell(painter, room, cell);
        }
}

void GridPicture::paintRowNames(QPainter& painter, int panel) const {
    const Theme& t = Theme::current();
    const auto& box = boxAt(panel);
    painter.setFont(smallFont());
    for (int r = 0; r < rowsOf(panel); ++r) {
        if (m_row < 14 && r % 2 == 1) continue;
        const bool apart = panelAt(panel).lastRowApart && r + 1 == rowsOf(panel);
        painter.setPen(apart ? t.text : t.muted);
        painter.drawText(QRect(box.cells.left() - m_names + kGridSide,
                               cellRect({panel, r, 0}).top(), m_names - kGridSide - 10, m_row),
                         Qt::AlignRight | Qt::AlignVCenter,
                         shownText(panelAt(panel).rows[std::size_t(r)]));
    }
}

void GridPicture::paintTitle(QPainter& painter, int k) const {
    const Theme& t = Theme::current();
    const auto& panel = panelAt(k);
    if (panel.title.empty()) return;
    const auto& box = boxAt(k);
    QRect room(box.cells.left() - m_names + kGridSide, box.cells.top() - kPanelTitle,
               m_size.width(), kPanelTitle - 2);
    painter.setFont(m_style.beside ? smallFont() : headFont());
    painter.setPen(t.text);
    const QString title = shownText(panel.title);
    painter.drawText(room, Qt::AlignVCenter, title);
    room.adjust(painter.fontMetrics().horizontalAdvance(title) + 10, 0, 0, 0);
    painter.setFont(m_style.beside ? captionFont() : monoFont(11));
    painter.setPen(t.muted);
    painter.drawText(room, Qt::AlignVCenter | Qt::TextDontClip, shownText(panel.note));
}

void GridPicture::paintUpright(QPainter& painter, int panel) const {
    painter.setFont(monoFont(11));
    const int top = boxAt(panel).cells.bottom() + 1;
    for (int c = 0; c < columnsOf(panel); ++c) {
        const QRect cell = cellRect({panel, 0, c});
        const QString input = shownText(panelAt(panel).inputs[std::size_t(c)]);
        if (!boxAt(panel).upright) {
            painter.drawText(QRect(cell.left(), top, cell.width(), kColumnNumbers), Qt::AlignCenter,
                             input);
            continue;
        }
        painter.save();
        painter.translate(cell.left(), top + 4);
        painter.rotate(90);
        // Turned, a column is a line of text that reads downwards.
        paint::elidedText(painter, QRect(0, -cell.width(), boxAt(panel).below - 8, cell.width()),
                          Qt::AlignVCenter | Qt::AlignLeft, input);
        painter.restore();
    }
}

void GridPicture::paintGroups(QPainter& painter, int panel) const {
    const auto& groups = panelAt(panel).groups;
    const auto& box = boxAt(panel);
    const int cell = cellRect({panel, 0, 0}).width();
    std::size_t form = 0;
    const auto fits = [&](const GridGroup& group) {
        return group.columns == 0 || form + 1 >= group.names.size() ||
               painter.fontMetrics().horizontalAdvance(shownText(group.names[form])) <=
                   group.columns * cell + kKindsGap - 2;
    };
    if (groups.size() > 1)
        while (!std::all_of(groups.begin(), groups.end(), fits)) ++form;
    int x = box.cells.left();
    for (const auto& group : groups) {
        if (group.columns == 0) continue;
        painter.drawText(QRect(x, box.cells.bottom() + 1, 160, kColumnNumbers),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         shownText(group.names[std::min(form, group.names.size() - 1)]));
        x += group.columns * cell + kKindsGap;
    }
}

void GridPicture::paintColumnNames(QPainter& painter, int k, const QRect& seen) const {
    const Theme& t = Theme::current();
    const auto& panel = panelAt(k);
    const auto& box = boxAt(k);
    painter.setPen(t.muted);
    if (m_style.texts) {
        if (panel.inputs.empty()) return;
        for (int c = 0; c < columnsOf(k); ++c) {
            const QRect cell = cellRect({k, 0, c}).translated(0, -kTextHead);
            if (cell.right() < seen.left() || cell.left() > seen.right()) continue;
            const QRect room(cell.left(), box.cells.top() - kTextHead, cell.width(), kTextHead);
            painter.setFont(numberFont(11));
            painter.setPen(t.muted);
            painter.drawText(room.adjusted(6, 3, -4, 0), Qt::AlignTop | Qt::AlignLeft,
                             shownText(panel.columns[std::size_t(c)]));
            painter.setFont(monoFont(12));
            painter.setPen(t.text);
            paint::elidedText(painter, room.adjusted(6, 18, -4, -2),
                              Qt::AlignVCenter | Qt::AlignLeft,
                              shownText(panel.inputs[std::size_t(c)]));
        }
        return;
    }
    painter.setFont(captionFont());
    if (!panel.groups.empty()) return paintGroups(painter, k);
    painter.drawText(
        QRect(kGridSide, box.cells.bottom() + 1, box.cells.left() - kGridSide - 10, kColumnNumbers),
        Qt::AlignRight | Qt::AlignVCenter, shownText(panel.columnName));
    if (box.inputs) return paintUpright(painter, k);
    painter.setFont(numberFont(11));
    // Every column, every second, fifth, tenth and so on, as they fit.
    const int width = cellRect({k, 0, 0}).width();
    const auto number = [&](int c) { return shownText(panel.columns[std::size_t(c)]); };
    const int last = columnsOf(k) - 1;
    const int widest = last < 0 ? 0 : painter.fontMetrics().horizontalAdvance(number(last));
    int step = 1;
    for (const int next : {2, 5, 10, 20, 50, 100, 500})
        if (step * width < widest + 6) step = next;
    const int first = last < 0 ? 0 : number(0).toInt();
    for (int c = 0; c < columnsOf(k); ++c)
        if (step == 1 || (c + first) % step == 0)
            painter.drawText(QRect(box.cells.left() + c * width + width / 2 - 30,
                                   box.cells.bottom() + 1, 60, kColumnNumbers),
                             Qt::AlignCenter, number(c));
}

void GridPicture::paint(QPainter& painter, const QRect& seen) const {
    for (int k = 0; k < static_cast<int>(m_boxes.size()); ++k) {
        const QRect& cells = boxAt(k).cells;
        if (cells.top() - kPanelTitle - kTextHead > seen.bottom() ||
            cells.bottom() + boxAt(k).below < seen.top())
            continue;
        if (!m_style.texts) paintTitle(painter, k);
        paintRowNames(painter, k);
        paintCells(painter, k, seen);
        paintColumnNames(painter, k, seen);
    }
}

}  // namespace relascope::widgets
