// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>

#include "widgets/maps/gallery_view.h"
#include "widgets/source/linked_view.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void GalleryLayout::setSections(std::vector<GallerySection> sections) {
    m_sections = std::move(sections);
    layOut(m_width);
}

int GalleryLayout::layOut(int width) {
    m_width = width;
    const int room = std::max(1, width - 2 * edge + gap);
    m_columns = std::max(1, room / (smallestSide + gap));
    // Wide enough that the columns fill the width, but not much larger than asked for.
    m_side = std::clamp(room / m_columns - gap, smallestSide, smallestSide + smallestSide / 4);
    m_rows.clear();
    m_count = 0;
    int y = 0;
    for (const GallerySection& section : m_sections) {
        const int maps = static_cast<int>(section.maps.size());
        const int rows = (maps + m_columns - 1) / m_columns;
        m_rows.push_back({m_count, y, rows});
        m_count += maps;
        y += titleHeight + rows * rowHeight();
    }
    m_height = y;
    return m_height;
}

int GalleryLayout::blockFor(const QSize& cells) const {
    return std::max(1, (std::max(cells.width(), cells.height()) + m_side - 1) / m_side);
}

QSize GalleryLayout::pictureSize(const QSize& cells) const {
    if (cells.isEmpty()) return {m_side, m_side};
    const int block = blockFor(cells);
    const QSize pixels((cells.width() + block - 1) / block, (cells.height() + block - 1) / block);
    return pixels * std::max(1, m_side / std::max(pixels.width(), pixels.height()));
}

int GalleryLayout::sectionOf(int k) const {
    const auto after =
        std::upper_bound(m_rows.begin(), m_rows.end(), k,
                         [](int index, const Row& row) { return index < row.first; });
    // Of empty sections with the same first map, the last one has it.
    return static_cast<int>(after - m_rows.begin()) - 1;
}

GalleryLayout::Place GalleryLayout::place(int k) const {
    if (k < 0 || k >= m_count) return {};
    const auto s = static_cast<std::size_t>(sectionOf(k));
    const int at = k - m_rows[s].first;
    const QPoint corner(edge + at % m_columns * (m_side + gap),
                        m_rows[s].top + titleHeight + at / m_columns * rowHeight());
    return {m_sections[s].maps[static_cast<std::size_t>(at)], {corner, QSize(m_side, m_side)}};
}

int GalleryLayout::indexOf(const MapId& map) const {
    for (std::size_t s = 0; s < m_sections.size(); ++s) {
        const auto& maps = m_sections[s].maps;
        const auto found = std::find(maps.begin(), maps.end(), map);
        if (found != maps.end()) return m_rows[s].first + static_cast<int>(found - maps.begin());
    }
    return -1;
}

std::pair<int, int> GalleryLayout::between(int top, int bottom) const {
    int first = m_count, last = 0;
    for (std::size_t s = 0; s < m_rows.size(); ++s) {
        const Row& row = m_rows[s];
        const int maps = static_cast<int>(m_sections[s].maps.size());
        const int begin = row.top + titleHeight;
        if (maps == 0 || begin > bottom || begin + row.rows * rowHeight() <= top) continue;
        const int from = std::max(0, (top - begin) / rowHeight());
        const int to = std::min(row.rows - 1, (bottom - begin) / rowHeight());
        first = std::min(first, row.first + from * m_columns);
        last = std::max(last, row.first + std::min(maps, (to + 1) * m_columns));
    }
    return {std::min(first, last), last};
}

int GalleryLayout::indexAt(const QPoint& point) const {
    const auto [first, last] = between(point.y(), point.y());
    for (int k = first; k < last; ++k)
        if (place(k).box.adjusted(-edge, -edge, edge, labelHeight).contains(point)) return k;
    return -1;
}

QRect GalleryLayout::titleRect(int section) const {
    return {edge, m_rows[static_cast<std::size_t>(section)].top, m_width - 2 * edge, titleHeight};
}

int GalleryLayout::moved(int k, int key) const {
    if (m_count == 0) return -1;
    const int last = m_count - 1;
    k = std::clamp(k, 0, last);
    if (key == Qt::Key_Left) return std::max(0, k - 1);
    if (key == Qt::Key_Right) return std::min(last, k + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    if (key != Qt::Key_Up && key != Qt::Key_Down) return k;
    // The map above or below, in the row of the next section, too.
    const QRect from = place(k).box;
    const int step = key == Qt::Key_Down ? 1 : -1;
    int best = k, row = -1;
    for (int next = k + step; next >= 0 && next <= last; next += step) {
        const QRect to = place(next).box;
        if (to.top() == from.top()) continue;
        if (row >= 0 && to.top() != row) break;
        if (row < 0 ||
            std::abs(to.left() - from.left()) < std::abs(place(best).box.left() - from.left()))
            best = next;
        row = to.top();
    }
    return best;
}

GalleryView::GalleryView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Maps of all layers"));
    describe();
}

int GalleryView::offset() const {
    return verticalScrollBar()->value();
}

void GalleryView::setSections(std::vector<GallerySection> sections) {
    if (sections == m_layout.sections()) return;
    m_layout.setSections(std::move(sections));
    arrange();
    describe();
}

void GalleryView::setAbsence(const QString& sentence) {
    m_absence = sentence;
    refresh();
}

void GalleryView::setCurrent(const MapId& map) {
    if (map != m_current) {
        m_current = map;
        reveal(m_layout.indexOf(map));
        refresh();
    }
    describe();
}

void GalleryView::describe() {
    const int k = m_layout.indexOf(m_current);
    setAccessibleDescription(
        QStringLiteral("%1 maps%2")
            .arg(m_layout.count())
            .arg(k >= 0 && tip ? QStringLiteral(", %1 selected").arg(tip(m_current)) : QString()));
}

QRect GalleryView::mapRect(const MapId& map) const {
    const QRect box = m_layout.place(m_layout.indexOf(map)).box;
    return box.isEmpty() ? box : box.translated(0, -offset());
}

std::vector<MapId> GalleryView::nearest() const {
    const int top = offset(), high = viewport()->height();
    std::vector<MapId> maps;
    const auto add = [&](const std::pair<int, int>& range) {
        for (int k = range.first; k < range.second; ++k) maps.push_back(m_layout.place(k).map);
    };
    const auto seen = m_layout.between(top, top + high);
    add(seen);
    // A screen below and one above: where the next turn of the wheel leads.
    add({seen.second, qMax(seen.second, m_layout.between(top, top + 2 * high).second)});
    add({qMin(seen.first, m_layout.between(top - high, top).first), seen.first});
    return maps;
}

void GalleryView::arrange() {
    const int height = m_layout.layOut(viewport()->width());
    QScrollBar* bar = verticalScrollBar();
    bar->setSingleStep(m_layout.side() / 2);
    bar->setPageStep(qMax(1, viewport()->height() - m_layout.side()));
    bar->setRange(0, qMax(0, height - viewport()->height()));
    refresh();
    Q_EMIT moved();
}

void GalleryView::reveal(int index) {
    const QRect box = m_layout.place(index).box;
    if (!box.isEmpty())
        scrollTo(*this, box.adjusted(0, 0, 0, GalleryLayout::labelHeight).translated(0, -offset()),
                 GalleryLayout::edge);
}

void GalleryView::paintMap(QPainter& painter, const GalleryLayout::Place& place) const {
    const Theme& t = Theme::current();
    const QRect box(place.box.topLeft(), m_layout.pictureSize(shape ? shape(place.map) : QSize()));
    const QSize size = box.size();
    const QPixmap made =
        picture ? picture(place.map, size, painter.deviceTransform().m11()) : QPixmap();
    if (made.isNull()) {
        painter.fillRect(box, t.alt);
        painter.setPen(t.border);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
    } else {
        painter.drawPixmap(box.topLeft(), made);
    }
    const bool chosen = place.map == m_current;
    if (chosen) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(t.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(box).adjusted(-2, -2, 2, 2), 3, 3);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    QFont font = captionFont();
    if (chosen) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(chosen ? t.text : t.muted);
    const QRect below(place.box.left(), box.bottom() + 3,
                      place.box.width() + GalleryLayout::gap - 2, GalleryLayout::labelHeight - 3);
    if (label)
        paint::elidedText(painter, below, Qt::AlignLeft | Qt::AlignVCenter, label(place.map));
}

void GalleryView::paintEvent(QPaintEvent* event) {
    const Theme& t = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(event->rect(), t.panel);
    if (m_layout.count() == 0) {
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(viewport()->rect().adjusted(12, 12, -12, -12),
                         Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, m_absence);
    } else {
        painter.translate(0, -offset());
        const QRect exposed = event->rect().translated(0, offset());
        QFont head = smallFont();
        head.setWeight(QFont::DemiBold);
        for (int s = 0; s < static_cast<int>(m_layout.sections().size()); ++s) {
            const QRect title = m_layout.titleRect(s);
            if (!title.intersects(exposed)) continue;
            painter.setFont(head);
            painter.setPen(t.text);
            paint::elidedText(painter, title.adjusted(0, 0, 0, -6),
                              Qt::AlignLeft | Qt::AlignVCenter,
                              m_layout.sections()[static_cast<std::size_t>(s)].title);
        }
        const auto [first, last] = m_layout.between(exposed.top() - GalleryLayout::edge,
                                                    exposed.bottom() + GalleryLayout::edge);
        for (int k = first; k < last; ++k) paintMap(painter, m_layout.place(k));
        painter.resetTransform();
    }
    if (paint::keyboardFocus(this)) paint::focusRing(painter, viewport()->rect());
}

void GalleryView::resizeEvent(QResizeEvent*) {
    arrange();
}

void GalleryView::scrollContentsBy(int, int dy) {
    // What is seen already is moved and not painted again, unless a ring lies over it.
    if (paint::keyboardFocus(this))
        refresh();
    else
        viewport()->scroll(0, dy);
    Q_EMIT moved();
}

void GalleryView::mousePressEvent(QMouseEvent* event) {
    const int k = m_layout.indexAt(event->position().toPoint() + QPoint(0, offset()));
    if (k >= 0 && event->button() == Qt::LeftButton) Q_EMIT chosen(m_layout.place(k).map);
}

void GalleryView::mouseMoveEvent(QMouseEvent* event) {
    const int k = m_layout.indexAt(event->position().toPoint() + QPoint(0, offset()));
    const QString text = k >= 0 && tip ? tip(m_layout.place(k).map) : QString();
    if (text != viewport()->toolTip()) viewport()->setToolTip(text);
}

void GalleryView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool mine = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                      key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    if (key == Qt::Key_PageUp || key == Qt::Key_PageDown)
        return verticalScrollBar()->triggerAction(key == Qt::Key_PageUp
                                                      ? QAbstractSlider::SliderPageStepSub
                                                      : QAbstractSlider::SliderPageStepAdd);
    if (!mine || m_layout.count() == 0) return QAbstractScrollArea::keyPressEvent(event);
    const int now = m_layout.indexOf(m_current);
    const int next = now < 0 ? 0 : m_layout.moved(now, key);
    Q_EMIT chosen(m_layout.place(next).map);
}

void GalleryView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) refresh();
}

}  // namespace relascope::widgets
