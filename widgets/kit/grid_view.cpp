// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/kit/grid_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kGridSide = 16, kPanelTitle = 28, kPanelGap = 18, kColumnNumbers = 18,
              kUprightNames = 66, kKindsGap = 8, kLeastPanel = 180, kTextRow = 24, kTextHead = 40,
              kApart = 5, kLeastText = 30, kMostText = 150;

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
    const bool heads = m_style.texts && !m_panels.empty() && !m_panels.front().inputs.isEmpty();
    return heads ? kTextHead : 0;
}

void GridPicture::fit(int width) {
    m_boxes.clear();
    const QFontMetrics names(smallFont());
    m_names = 0;
    for (const auto& panel : m_panels) {
        for (const auto& row : panel.rows)
            m_names = std::max(m_names, names.horizontalAdvance(row));
        m_names = std::max(m_names, names.horizontalAdvance(panel.columnName));
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
                widest = std::max(widest, mono.horizontalAdvance(panel.cell(r, c).text) + 14);
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
            kGridSide + 16 + QFontMetrics(smallFont()).horizontalAdvance(panel.title + panel.note));
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
        box.inputs = !panelAt(k).inputs.isEmpty() && cell >= 12;
        int longest = 0;
        for (const auto& input : panelAt(k).inputs)
            if (box.inputs) longest = std::max(longest, mono.horizontalAdvance(input));
        box.upright = longest > cell - 4;
        box.below = box.upright ? std::min(kUprightNames, longest + 10) : kColumnNumbers;
        box.cells = {m_names, top + kPanelTitle, cell * columns, m_row * rowsOf(k)};
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
    const QColor fill = std::isnan(cell.value) ? t.panel : m_style.fill(cell.value);
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
        painter.setPen(cell.emphasised ? t.text : t.muted);
        paint::elidedText(painter, inner.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
                          cell.text);
    } else if (room.width() >= m_style.numbersFrom) {
        painter.setFont(numberFont(room.width() >= 38 ? 11 : 10));
        painter.setPen(Theme::textOn(fill));
        painter.drawText(inner, Qt::AlignCenter, cell.text);
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
                         Qt::AlignRight | Qt::AlignVCenter, panelAt(panel).rows[r]);
    }
}

void GridPicture::paintTitle(QPainter& painter, int k) const {
    const Theme& t = Theme::current();
    const auto& panel = panelAt(k);
    if (panel.title.isEmpty()) return;
    const auto& box = boxAt(k);
    QRect room(box.cells.left() - m_names + kGridSide, box.cells.top() - kPanelTitle,
               m_size.width(), kPanelTitle - 2);
    painter.setFont(m_style.beside ? smallFont() : headFont());
    painter.setPen(t.text);
    painter.drawText(room, Qt::AlignVCenter, panel.title);
    room.adjust(painter.fontMetrics().horizontalAdvance(panel.title) + 10, 0, 0, 0);
    painter.setFont(m_style.beside ? captionFont() : monoFont(11));
    painter.setPen(t.muted);
    painter.drawText(room, Qt::AlignVCenter, panel.note);
}

void GridPicture::paintUpright(QPainter& painter, int panel) const {
    painter.setFont(monoFont(11));
    const int top = boxAt(panel).cells.bottom() + 1;
    for (int c = 0; c < columnsOf(panel); ++c) {
        const QRect cell = cellRect({panel, 0, c});
        const QString& input = panelAt(panel).inputs[c];
        if (!boxAt(panel).upright) {
            painter.drawText(QRect(cell.left(), top, cell.width(), kColumnNumbers), Qt::AlignCenter,
                             input);
            continue;
        }
        painter.save();
        painter.translate(cell.left(), top + 4);
        painter.rotate(90);
        // Turned, a column is a line of text that reads downwards.
        paint::elidedText(painter, QRect(0, -cell.width(), kUprightNames - 8, cell.width()),
                          Qt::AlignVCenter | Qt::AlignLeft, input);
        painter.restore();
    }
}

void GridPicture::paintGroups(QPainter& painter, int panel) const {
    const auto& groups = panelAt(panel).groups;
    const auto& box = boxAt(panel);
    const int cell = cellRect({panel, 0, 0}).width();
    qsizetype form = 0;
    const auto fits = [&](const GridGroup& group) {
        return group.columns == 0 || form + 1 >= group.names.size() ||
               painter.fontMetrics().horizontalAdvance(group.names[form]) <=
                   group.columns * cell + kKindsGap - 2;
    };
    if (groups.size() > 1)
        while (!std::all_of(groups.begin(), groups.end(), fits)) ++form;
    int x = box.cells.left();
    for (const auto& group : groups) {
        if (group.columns == 0) continue;
        painter.drawText(QRect(x, box.cells.bottom() + 1, 160, kColumnNumbers),
                         Qt::AlignVCenter | Qt::AlignLeft,
                         group.names.value(std::min(form, group.names.size() - 1)));
        x += group.columns * cell + kKindsGap;
    }
}

void GridPicture::paintColumnNames(QPainter& painter, int k, const QRect& seen) const {
    const Theme& t = Theme::current();
    const auto& panel = panelAt(k);
    const auto& box = boxAt(k);
    painter.setPen(t.muted);
    if (m_style.texts) {
        if (panel.inputs.isEmpty()) return;
        for (int c = 0; c < columnsOf(k); ++c) {
            const QRect cell = cellRect({k, 0, c}).translated(0, -kTextHead);
            if (cell.right() < seen.left() || cell.left() > seen.right()) continue;
            const QRect room(cell.left(), box.cells.top() - kTextHead, cell.width(), kTextHead);
            painter.setFont(numberFont(11));
            painter.setPen(t.muted);
            painter.drawText(room.adjusted(6, 3, -4, 0), Qt::AlignTop | Qt::AlignLeft,
                             panel.columns[c]);
            painter.setFont(monoFont(12));
            painter.setPen(t.text);
            paint::elidedText(painter, room.adjusted(6, 18, -4, -2),
                              Qt::AlignVCenter | Qt::AlignLeft, panel.inputs.value(c));
        }
        return;
    }
    painter.setFont(captionFont());
    if (!panel.groups.empty()) return paintGroups(painter, k);
    painter.drawText(
        QRect(kGridSide, box.cells.bottom() + 1, box.cells.left() - kGridSide - 10, kColumnNumbers),
        Qt::AlignRight | Qt::AlignVCenter, panel.columnName);
    if (box.inputs) return paintUpright(painter, k);
    painter.setFont(numberFont(11));
    // Every column, every second, fifth, tenth and so on, as they fit.
    const int width = cellRect({k, 0, 0}).width();
    const int widest =
        panel.columns.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(panel.columns.back());
    int step = 1;
    for (const int next : {2, 5, 10, 20, 50, 100, 500})
        if (step * width < widest + 6) step = next;
    const int first = panel.columns.value(0).toInt();
    for (int c = 0; c < columnsOf(k); ++c)
        if (step == 1 || (c + first) % step == 0)
            painter.drawText(QRect(box.cells.left() + c * width + width / 2 - 30,
                                   box.cells.bottom() + 1, 60, kColumnNumbers),
                             Qt::AlignCenter, panel.columns[c]);
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

GridView::GridView(GridStyle style, const QString& name, QWidget* parent)
    : QAbstractScrollArea(parent), m_picture(std::move(style)) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(name);
    viewport()->setMouseTracking(true);
    paintOnPanelColour(viewport());
}

void GridView::setPanels(std::vector<GridPanel> panels) {
    const auto& before = m_picture.panels();
    const bool same = std::equal(before.begin(), before.end(), panels.begin(), panels.end(),
                                 [](const GridPanel& a, const GridPanel& b) {
                                     return a.rows == b.rows && a.columns == b.columns;
                                 });
    m_picture.setPanels(std::move(panels));
    if (!same) m_current = {};
    QStringList names;
    for (const auto& panel : m_picture.panels()) names << panel.title;
    names.removeAll(QString());
    setAccessibleDescription(names.join(QStringLiteral(", ")));
    place();
}

void GridView::place() {
    m_picture.fit(viewport()->width());
    const QSize whole = m_picture.size(), seen = viewport()->size();
    horizontalScrollBar()->setRange(0, std::max(0, whole.width() - seen.width()));
    horizontalScrollBar()->setPageStep(seen.width());
    horizontalScrollBar()->setSingleStep(40);
    verticalScrollBar()->setRange(0, std::max(0, whole.height() - seen.height()));
    verticalScrollBar()->setPageStep(seen.height());
    verticalScrollBar()->setSingleStep(24);
    updateGeometry();
    viewport()->update();
}

QSize GridView::sizeHint() const {
    return m_picture.size() + QSize(0, horizontalScrollBar()->sizeHint().height());
}

GridPlace GridView::placeAt(const QPoint& at) const {
    if (m_picture.style().texts) {
        if (at.x() < m_picture.namesWidth() || m_picture.panels().empty()) return {};
        // The names above belong to their column.
        if (at.y() < m_picture.headHeight())
            return m_picture.placeAt({at.x() + scrolled().x(), m_picture.headHeight()});
    }
    return m_picture.placeAt(at + scrolled());
}
QRect GridView::cellRect(const GridPlace& place) const {
    return m_picture.cellRect(place).translated(-scrolled());
}
QString GridView::text(const GridPlace& place) const {
    if (!m_picture.present(place)) return {};
    return panels()[static_cast<std::size_t>(place.panel)].text(place.row, place.column);
}

void GridView::setCurrent(const GridPlace& place) {
    m_current = place;
    reveal();
    viewport()->update();
}

void GridView::reveal() {
    const QRect cell = cellRect(m_current);
    if (cell.isEmpty()) return;
    const bool texts = m_picture.style().texts;
    const auto into = [](QScrollBar* bar, int low, int high, int from, int to) {
        if (low < from)
            bar->setValue(bar->value() + low - from);
        else if (high > to)
            bar->setValue(bar->value() + std::min(high - to, low - from));
    };
    into(horizontalScrollBar(), cell.left(), cell.right(), texts ? m_picture.namesWidth() : 40,
         viewport()->width() - (texts ? 0 : 40));
    if (!texts)
        into(verticalScrollBar(), cell.top() - 40, cell.bottom() + 40, 0, viewport()->height());
}

void GridView::choose(const GridPlace& place) {
    setCurrent(place);
    Q_EMIT chosen(place);
}

void GridView::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), t.panel);
    if (panels().empty()) return;
    const QPoint at = scrolled();
    const QRect seen = viewport()->rect().translated(at);
    const QRect mark = cellRect(m_current);
    if (!m_picture.style().texts) {
        painter.translate(-at);
        m_picture.paint(painter, seen);
        painter.translate(at);
        if (!mark.isEmpty()) {
            painter.setPen(QPen(t.outline, 2));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(mark.adjusted(0, 0, -1, -1));
        }
        return;
    }
    // Names stay where they are.
    const int names = m_picture.namesWidth(), head = m_picture.headHeight();
    painter.setClipRect(QRect(names - 1, 0, seen.width(), seen.height()));
    painter.translate(-at);
    m_picture.paintCells(painter, 0, seen);
    painter.translate(at);
    if (head > 0) {
        if (!mark.isEmpty()) {
            const int rows = static_cast<int>(panels().front().rows.size());
            const QRect last = cellRect({0, rows - 1, m_current.column}),
                        first = cellRect({0, 0, m_current.column});
            painter.setPen(QPen(hasFocus() ? t.accent : t.controlBorder, 2));
            painter.drawRect(QRect(first.left() - 1, first.top() - 1, first.width() + 1,
                                   last.bottom() - first.top() + 2));
        }
        painter.fillRect(QRect(names, 0, seen.width(), head), t.panel);
        if (!mark.isEmpty())
            painter.fillRect(QRect(mark.left(), 0, mark.width() - 1, head - 2), t.selection);
        painter.translate(-at.x(), 0);
        m_picture.paintColumnNames(painter, 0, seen);
        painter.translate(at.x(), 0);
    }
    painter.setClipRect(QRect(0, std::max(0, head - 2), names, seen.height()));
    painter.fillRect(QRect(0, 0, names - 1, seen.height()), t.panel);
    painter.translate(0, -at.y());
    m_picture.paintRowNames(painter, 0);
}

void GridView::resizeEvent(QResizeEvent*) {
    place();
}
void GridView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) place();
}
void GridView::mouseMoveEvent(QMouseEvent* event) {
    Q_EMIT hovered(placeAt(event->pos()));
}
void GridView::mousePressEvent(QMouseEvent* event) {
    const auto at = placeAt(event->pos());
    if (event->button() == Qt::LeftButton && at.panel >= 0) choose(at);
}

// The keyboard shows where it is.
void GridView::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
    const bool keys =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (!keys || m_current.panel >= 0 || m_picture.style().texts) return;
    GridPlace first;
    if (!move(first, Qt::Key_Home)) return;
    setCurrent(first);
    Q_EMIT hovered(first);
}

// Moves to the next cell that is there. False where the key is another, or there is none.
bool GridView::move(GridPlace& place, int key) const {
    const int count = static_cast<int>(panels().size());
    const auto size = [&](int k) {
        const auto& panel = panels()[static_cast<std::size_t>(k)];
        return QSize(static_cast<int>(panel.columns.size()), static_cast<int>(panel.rows.size()));
    };
    const auto to = [&](GridPlace next, int across, int down) {
        for (; next.row >= 0 && next.column >= 0 && next.row < size(next.panel).height() &&
               next.column < size(next.panel).width();
             next.column += across, next.row += down) {
            if (m_picture.present(next)) return place = next, true;
            if (across == 0 && down == 0) return false;
        }
        return false;
    };
    // The nearest cell of another panel.
    const auto toPanel = [&](int panel, int row) {
        if (panel < 0 || panel >= count || size(panel).isEmpty()) return false;
        return to({panel, row, std::min(place.column, size(panel).width() - 1)}, 0, 0);
    };
    if (count == 0) return false;
    if (place.panel < 0 || key == Qt::Key_Home) {
        const int panel = std::max(0, place.panel);
        for (int row = 0; row < size(panel).height(); ++row)
            if (to({panel, row, 0}, 1, 0)) return true;
        return false;
    }
    const int last = size(place.panel).height() - 1;
    switch (key) {
        case Qt::Key_Left:
            return to({place.panel, place.row, place.column - 1}, -1, 0);
        case Qt::Key_Right:
            return to({place.panel, place.row, place.column + 1}, 1, 0);
        case Qt::Key_End:
            return to({place.panel, place.row, size(place.panel).width() - 1}, -1, 0);
        case Qt::Key_Up:
            return to({place.panel, place.row - 1, place.column}, 0, -1) ||
                   toPanel(place.panel - 1,
                           place.panel > 0 ? size(place.panel - 1).height() - 1 : 0);
        case Qt::Key_Down:
            return to({place.panel, place.row + 1, place.column}, 0, 1) ||
                   toPanel(place.panel + 1, 0);
        case Qt::Key_PageUp:
            return toPanel(place.panel - 1, std::min(place.row, last));
        case Qt::Key_PageDown:
            return toPanel(place.panel + 1, std::min(place.row, last));
        default:
            return false;
    }
}

void GridView::keyPressEvent(QKeyEvent* event) {
    static const QList<int> keys = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,     Qt::Key_Down,
                                    Qt::Key_Home, Qt::Key_End,   Qt::Key_PageUp, Qt::Key_PageDown};
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (panels().empty() || (!enter && !keys.contains(event->key())))
        return QAbstractScrollArea::keyPressEvent(event);
    GridPlace next = m_current;
    if (enter && m_current.panel >= 0) return choose(next);
    const bool column = m_picture.style().texts;
    if (column && (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down))
        return QAbstractScrollArea::keyPressEvent(event);
    if (!move(next, event->key())) return;
    if (column) return choose(next);
    setCurrent(next);
    Q_EMIT hovered(next);
}

bool GridView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = text(placeAt(help->pos()));
        tip.isEmpty() ? QToolTip::hideText()
                      : QToolTip::showText(help->globalPos(), plainTip(tip), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace relascope::widgets
