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

GridView::GridView(const GridStyle& style, GridFill fill, const QString& name, QWidget* parent)
    : QAbstractScrollArea(parent), m_picture(style, std::move(fill)) {
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
    for (const auto& panel : m_picture.panels()) names << shownText(panel.title);
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
    return shownText(panels()[static_cast<std::size_t>(place.panel)].text(place.row, place.column));
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
