// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>

#include "widgets/kit/map_strip.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MapStrip::MapStrip(StripLayout layout, const QString& name, QWidget* parent)
    : TileArea({StripLayout::kEdge, StripLayout::kEdge, StripLayout::kEdge, layout.labelHeight()},
               parent),
      m_layout(std::move(layout)) {
    if (m_layout.film() || m_layout.overview()) setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    if (m_layout.overview()) setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(name);
}

void MapStrip::setSections(std::vector<StripSection> sections) {
    std::vector<QSize> shapes;
    for (const StripSection& section : sections)
        for (const MapId& map : section.maps) shapes.push_back(shape ? shape(map) : QSize());
    if (sections == m_layout.sections() && shapes == m_layout.shapes()) return refresh();
    m_layout.setSections(std::move(sections), std::move(shapes));
    m_layout.turnTo(cursor());
    if (m_layout.overview()) updateGeometry();
    arrange();
    describe();
}

void MapStrip::arrange() {
    layOut();
    Q_EMIT moved();
}

int MapStrip::layOutTiles() {
    const int height = m_layout.layOut({std::max(100, viewport()->width()), viewport()->height()});
    verticalScrollBar()->setSingleStep(m_layout.side() / 2);
    return height;
}

void MapStrip::setCurrent(const std::optional<MapId>& map) {
    if (map != m_current) {
        m_current = map;
        if (m_layout.turnTo(cursor())) arrange();
        reveal(cursor());
        refresh();
    }
    describe();
}

void MapStrip::setSecond(const std::optional<MapId>& map) {
    m_second = map;
    refresh();
}

void MapStrip::setPage(int section, int page) {
    m_layout.setPage(section, page);
    arrange();
}

QString MapStrip::description() const {
    QString text = QStringLiteral("%1 maps").arg(m_layout.count());
    if (cursor() >= 0 && m_current)
        text += QStringLiteral(", %1 %2 of layer %3 selected")
                    .arg(mapKindWords(m_current->kind))
                    .arg(m_current->index + 1)
                    .arg(m_current->layer + 1);
    return text;
}

QString MapStrip::tipOf(int tile) const {
    const MapId& map = m_layout.map(tile);
    return tip ? tip(map) : label ? label(map) : QString();
}

QString MapStrip::tipAt(const QPoint& point) const {
    for (std::size_t s = 0; s < m_layout.heads().size(); ++s)
        if (m_layout.heads()[s].contains(point + QPoint(0, verticalScrollBar()->value())))
            return m_layout.sections()[s].title;
    return TileArea::tipAt(point);
}

std::vector<int> MapStrip::nearest() const {
    const int top = verticalScrollBar()->value(), high = viewport()->height();
    std::vector<int> seen, below, above;
    for (int k = 0; k < m_layout.count(); ++k) {
        const QRect box = m_layout.place(k);
        if (box.isEmpty() || box.bottom() < top - high || box.top() > top + 2 * high) continue;
        (box.bottom() < top ? above : box.top() > top + high ? below : seen).push_back(k);
    }
    // A screen below and one above: where the next turn of the wheel leads.
    seen.insert(seen.end(), below.begin(), below.end());
    seen.insert(seen.end(), above.begin(), above.end());
    return seen;
}

void MapStrip::paintHead(QPainter& painter, const StripLayout& layout, int s) const {
    const Theme& t = Theme::current();
    const auto& section = layout.sections()[static_cast<std::size_t>(s)];
    const QRect area = layout.heads()[static_cast<std::size_t>(s)];
    const int y = area.top();
    QFont head = smallFont();
    head.setWeight(QFont::DemiBold);
    painter.setFont(head);
    painter.setPen(t.text);
    paint::elidedText(painter, QRect(area.left(), y, area.width(), 20),
                      Qt::AlignLeft | Qt::AlignVCenter, section.title, Qt::ElideMiddle);
    int x = area.left() + painter.fontMetrics().horizontalAdvance(section.title) + 14;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    if (section.legend && !section.maps.empty() && x + 100 < area.right()) {
        painter.drawText(QRect(x, y, 10, 20), Qt::AlignLeft | Qt::AlignVCenter,
                         QStringLiteral("0"));
        const ColorScale scale(ColorScale::Kind::Sequential, {0, 1}, t);
        painter.drawImage(QRect(x + 12, y + 6, 44, 8), scale.strip(44));
        painter.drawText(QRect(x + 60, y, 40, 20), Qt::AlignLeft | Qt::AlignVCenter,
                         QStringLiteral("max"));
    }
    if (layout.pageCount(s) > 1) {
        const int first = layout.page(s) * StripLayout::kPage;
        const int all = static_cast<int>(section.maps.size());
        const QString text = QStringLiteral("%1 to %2 of %3")
                                 .arg(first + 1)
                                 .arg(std::min(first + StripLayout::kPage, all))
                                 .arg(all);
        if (const int room = area.right() - 53;
            !section.legend || x + 108 + painter.fontMetrics().horizontalAdvance(text) < room)
            painter.drawText(QRect(area.left(), y, room - area.left(), 20),
                             Qt::AlignRight | Qt::AlignVCenter, text);
    }
    if (section.maps.empty()) {
        painter.setFont(smallFont());
        painter.drawText(QRect(area.left(), area.bottom() - 1, area.width(), 200),
                         Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, section.absence);
    }
}

// The numbers of layers, and what is below the cells of an overview.
void MapStrip::paintLayers(QPainter& painter, const StripLayout& layout) const {
    const Theme& t = Theme::current();
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    const int high = layout.layerHeight(), every = std::max(1, (13 + high - 1) / high);
    for (int layer = 0; layer < layout.layers(); layer += every)
        painter.drawText(QRect(0, layout.layerTop(layer) + high / 2 - 8, 21, 16),
                         Qt::AlignRight | Qt::AlignVCenter, QString::number(layer + 1));
    for (std::size_t s = 0; s < layout.heads().size(); ++s) {
        const QRect head = layout.heads()[s];
        paint::elidedText(painter, {head.left(), 0, std::max(head.width(), 34), head.height() - 2},
                          Qt::AlignLeft | Qt::AlignVCenter, layout.sections()[s].title);
        painter.fillRect(head.left(), head.bottom() + 1, head.width(), layout.layers() * high,
                         t.track);
    }
}

void MapStrip::paintTile(QPainter& painter, const StripLayout& layout, int tile) const {
    const Theme& t = Theme::current();
    const MapId& map = layout.map(tile);
    const QRect box = layout.place(tile);
    if (!picture || !picture(painter, box, map, layout.blockOf(tile))) {
        painter.fillRect(box, t.alt);
        painter.setPen(t.border);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
    }
    const bool chosen = !FigureScope::paper();
    const bool current = chosen && map == m_current;
    if (layout.overview()) {
        if (!current) return;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(t.panel);
        painter.drawRect(box.adjusted(-2, -2, 1, 1));
        painter.setPen(t.outline);
        return painter.drawRect(box.adjusted(-1, -1, 0, 0));
    }
    const Marks shown = marks ? marks(map) : Marks();
    if (shown.out) {
        painter.setBrushOrigin(box.topLeft());
        painter.fillRect(box, hatchBrush(t.warning));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (shown.changed) {
        const QPointF corner = QRectF(box).topRight();
        painter.setPen(QPen(t.panel, 1));
        painter.setBrush(t.warning);
        painter.drawPolygon(QPolygonF({corner, corner - QPointF(12, 0), corner + QPointF(0, 12)}));
    }
    if (current || (chosen && map == m_second)) {
        painter.setPen(QPen(t.accent, 2, current ? Qt::SolidLine : Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(box).adjusted(-2, -2, 2, 2), 3, 3);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    QFont font = captionFont();
    if (current) font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(current ? t.text : t.muted);
    const QRect room = layout.labelRect(tile);
    QString text = label ? label(map) : QString();
    // In a narrow film the last word, a number, says enough.
    if (layout.film() && painter.fontMetrics().horizontalAdvance(text) > room.width())
        text = text.section(u' ', -1);
    paint::elidedText(painter, room,
                      Qt::AlignVCenter | (layout.film() ? Qt::AlignHCenter : Qt::AlignLeft), text,
                      Qt::ElideMiddle);
}

void MapStrip::paint(QPainter& painter, const StripLayout& layout, const QRect& exposed) const {
    const Theme& t = Theme::current();
    if (layout.overview()) paintLayers(painter, layout);
    for (int s = 0; !layout.overview() && s < static_cast<int>(layout.heads().size()); ++s)
        if (layout.heads()[static_cast<std::size_t>(s)].adjusted(0, 0, 0, 200).intersects(exposed))
            paintHead(painter, layout, s);
    for (const auto& turn :
         FigureScope::active() ? std::vector<StripLayout::Turn>() : layout.turns()) {
        const int page = layout.page(turn.section) + turn.step;
        const bool can = page >= 0 && page < layout.pageCount(turn.section);
        paint::chevron(painter, turn.box,
                       turn.step < 0 ? paint::Direction::Left : paint::Direction::Right,
                       can ? t.text : t.faint, 3.5);
    }
    int bottom = 0;
    const int last = m_current ? layout.tileOf(*m_current) : -1;
    for (int k = 0; k < layout.count(); ++k) {
        const QRect box = layout.place(k).adjusted(-StripLayout::kEdge, -StripLayout::kEdge,
                                                   StripLayout::kEdge, layout.labelHeight() + 4);
        bottom = std::max(bottom, box.bottom() + 5);
        if (!layout.place(k).isEmpty() && box.intersects(exposed) && k != last)
            paintTile(painter, layout, k);
    }
    if (!layout.place(last).isEmpty()) paintTile(painter, layout, last);  // its frame is above all
    if (layout.film() && layout.count() > 0)
        paintFooter(painter, {exposed.left(), bottom, exposed.width(), layout.footer()});
}

void MapStrip::paintTiles(QPainter& painter, const QRegion& exposed) {
    paint(painter, m_layout,
          m_layout.film() ? QRect(QPoint(), viewport()->size()) : exposed.boundingRect());
}

void MapStrip::paintFigure(QPainter& painter, const QSize& size) const {
    StripLayout layout = m_layout;
    layout.layOut(size);
    paint(painter, layout, {QPoint(), size});
}

void MapStrip::resizeEvent(QResizeEvent* event) {
    const bool seen = tileRect(cursor()).intersects(QRect(QPoint(), event->oldSize()));
    arrange();
    if (seen) reveal(cursor());
}

void MapStrip::scrollContentsBy(int, int dy) {
    // What is seen already is moved and not painted again, unless a ring lies over it.
    if (paint::keyboardFocus(this))
        refresh();
    else
        viewport()->scroll(0, dy);
    Q_EMIT moved();
}

void MapStrip::mousePressEvent(QMouseEvent* event) {
    const QPoint at = event->position().toPoint() + QPoint(0, verticalScrollBar()->value());
    for (const auto& turn : m_layout.turns())
        if (turn.box.contains(at) && event->button() == Qt::LeftButton)
            return setPage(turn.section, m_layout.page(turn.section) + turn.step);
    TileArea::mousePressEvent(event);
}

void MapStrip::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_PageUp && event->key() != Qt::Key_PageDown)
        return TileArea::keyPressEvent(event);
    const bool down = event->key() == Qt::Key_PageDown;
    const int section = cursor() >= 0 ? m_layout.sectionOf(cursor()) : 0;
    if (!m_layout.turns().empty())
        return setPage(section, m_layout.page(section) + (down ? 1 : -1));
    verticalScrollBar()->triggerAction(down ? QAbstractSlider::SliderPageStepAdd
                                            : QAbstractSlider::SliderPageStepSub);
}

void MapStrip::contextMenuEvent(QContextMenuEvent* event) {
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const int tile = byKey ? cursor() : tileAt(event->pos());
    const QRect box = tileRect(tile);
    if (box.isEmpty()) return event->ignore();
    const MapId map = m_layout.map(tile);
    pressed(tile, {});
    Q_EMIT menuRequested(map, byKey ? viewport()->mapToGlobal(box.center()) : event->globalPos());
}

}  // namespace relascope::widgets
