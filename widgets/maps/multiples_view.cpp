// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <QContextMenuEvent>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/maps/color_map.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int groupGap = 10;
constexpr int columnGap = 18;         ///< between groups beside one another
constexpr int narrowestColumn = 120;  ///< px that the title of a group needs

QSize shapeOf(const MultipleItem& item) {
    return item.shape.isEmpty() ? item.cells.size() : item.shape;
}

/// Cells of whole pixels, or whole cells a pixel.
QSize shown(const MultipleItem& item, int picture) {
    const QSize shape = shapeOf(item);
    const int most = qMax(shape.width(), shape.height());
    if (most == 0) return {picture, picture};
    const int block = MultiplesLayout::blockFor(most, picture);
    const QSize cells((shape.width() + block - 1) / block, (shape.height() + block - 1) / block);
    return cells * qMax(1, picture / qMax(cells.width(), cells.height()));
}

int columnCount(unsigned breaks) {
    return 1 + std::popcount(breaks);
}
int columnWidth(int wide, unsigned breaks) {
    const int columns = columnCount(breaks);
    return (wide - (columns - 1) * columnGap) / columns;
}

}  // namespace

void MultiplesLayout::setGroups(std::vector<MultipleGroup> groups) {
    m_groups = std::move(groups);
    sortAll();
}

void MultiplesLayout::setSortByMeasure(bool on) {
    m_byMeasure = on;
    sortAll();
}

bool MultiplesLayout::setCurrent(MapKind kind, int index) {
    m_kind = kind;
    m_index = index;
    return turnToCurrent();
}

void MultiplesLayout::setPage(int group, int page) {
    if (group < 0 || group >= static_cast<int>(m_pages.size())) return;
    m_pages[static_cast<std::size_t>(group)] = qBound(0, page, pageCount(group) - 1);
}

void MultiplesLayout::sortAll() {
    m_orders.assign(m_groups.size(), {});
    m_pages.resize(m_groups.size(), 0);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        auto& order = m_orders[g];
        const auto& items = m_groups[g].items;
        order.resize(items.size());
        std::iota(order.begin(), order.end(), 0);
        if (m_byMeasure)
            std::stable_sort(order.begin(), order.end(), [&items](int a, int b) {
                const float x = items[static_cast<std::size_t>(a)].measure;
                const float y = items[static_cast<std::size_t>(b)].measure;
                return std::isnan(y) ? !std::isnan(x) : x > y;
            });
        setPage(static_cast<int>(g), m_pages[g]);
    }
    turnToCurrent();
}

bool MultiplesLayout::turnToCurrent() {
    const auto before = m_pages;
    for (std::size_t g = 0; g < m_groups.size(); ++g)
        for (std::size_t place = 0; place < m_orders[g].size(); ++place)
            if (isCurrent(m_groups[g].items[static_cast<std::size_t>(m_orders[g][place])]))
                m_pages[g] = static_cast<int>(place) / pageSize;
    return before != m_pages;
}

int MultiplesLayout::pageCount(int group) const {
    const auto items = static_cast<int>(m_groups[static_cast<std::size_t>(group)].items.size());
    return qMax(1, (items + pageSize - 1) / pageSize);
}

const MultipleItem& MultiplesLayout::item(const Slot& slot) const {
    return m_groups[static_cast<std::size_t>(slot.group)]
        .items[static_cast<std::size_t>(slot.item)];
}

void MultiplesLayout::setEdited(const Which& moved, const Which& out) {
    for (auto& group : m_groups)
        for (auto& item : group.items) {
            item.moved = moved(item.kind, item.index);
            item.out = out(item.kind, item.index);
        }
}

void MultiplesLayout::setCells(const Slot& slot, const QImage& cells, MapValues::Mask mask) {
    MultipleItem& item =
        m_groups[static_cast<std::size_t>(slot.group)].items[static_cast<std::size_t>(slot.item)];
    item.cells = cells;
    item.mask = mask;
}

int MultiplesLayout::currentSlot() const {
    for (std::size_t k = 0; k < m_places.size(); ++k)
        if (isCurrent(item(m_places[k]))) return static_cast<int>(k);
    return -1;
}

int MultiplesLayout::neighbour(int slot, bool down) const {
    const QPoint from = m_places[static_cast<std::size_t>(slot)].picture.center();
    int best = 1 << 30;
    for (std::size_t k = 0; k < m_places.size(); ++k) {
        const QPoint to = m_places[k].picture.center();
        const int away = down ? to.y() - from.y() : from.y() - to.y();
        if (away < 20) continue;
        const int cost = away * 4 + qAbs(to.x() - from.x());
        if (cost < best) {
            best = cost;
            slot = static_cast<int>(k);
        }
    }
    return slot;
}

int MultiplesLayout::arrange(const std::vector<MultipleGroup>& all, int wide, int picture,
                             Breaks breaks, MultiplesLayout* keep) {
    const int each = columnWidth(wide, breaks);
    int x = 0, y = 0, highest = 0;
    for (int g = 0; g < static_cast<int>(all.size()); ++g) {
        if (g > 0 && breaks >> (g - 1) & 1U) {
            x += each + columnGap;
            y = 0;
        }
        y += arrangeGroup(all[static_cast<std::size_t>(g)], g, QPoint(x, y), each, picture, keep);
        highest = qMax(highest, y);
    }
    return highest;
}

int MultiplesLayout::arrangeGroup(const MultipleGroup& group, int g, const QPoint& at, int wide,
                                  int picture, MultiplesLayout* keep) {
    const int items = static_cast<int>(group.items.size());
    int y = at.y();
    if (keep) {
        keep->m_heads.emplace_back(at.x(), y, wide, titleHeight);
        if (items > pageSize) {
            keep->m_turns.push_back({g, -1, QRect(at.x() + wide - 46, y, 20, 20)});
            keep->m_turns.push_back({g, 1, QRect(at.x() + wide - 22, y, 20, 20)});
        }
    }
    y += titleHeight;
    if (items == 0)
        return y - at.y() + groupGap + 4 +
               QFontMetrics(smallFont())
                   .boundingRect(QRect(0, 0, wide, 200), Qt::TextWordWrap, group.absence)
                   .height();
    int cell = 0;
    for (const auto& item : group.items) cell = qMax(cell, qMax(shown(item, picture).width(), 34));
    const int stride = cell + 8;
    const int columns = qMax(1, (wide - 2 * margin + 8) / stride);
    const int first = keep ? keep->page(g) * pageSize : 0;
    const int last = qMin(first + pageSize, items);
    int high = 0;
    for (int place = first; place < last; ++place) {
        const int k = place - first;
        if (k > 0 && k % columns == 0) {
            y += high + labelHeight + 6;
            high = 0;
        }
        const int item = keep ? keep->order(g)[static_cast<std::size_t>(place)] : place;
        const QSize size = shown(group.items[static_cast<std::size_t>(item)], picture);
        if (keep)
            keep->m_places.push_back(
                {g, item, QRect(QPoint(at.x() + margin + k % columns * stride, y + margin), size)});
        high = qMax(high, size.height());
    }
    return y + high + labelHeight + groupGap - at.y();
}

/// Finds the largest pictures with which all groups fit into the box without scrolling, and the
/// arrangement of groups.
std::pair<int, MultiplesLayout::Breaks> MultiplesLayout::bestFit(
    const std::vector<MultipleGroup>& all, const QSize& box) {
    std::pair<int, Breaks> best{smallestSide, 0};
    const Breaks ways = all.empty() ? 1U : 1U << (all.size() - 1);
    for (Breaks breaks = 0; breaks < ways; ++breaks) {
        const int each = columnWidth(box.width(), breaks);
        if (breaks != 0 && each < narrowestColumn) continue;
        const auto fitsIn = [&](int picture) {
            return arrange(all, box.width(), picture, breaks, nullptr) <= box.height();
        };
        int fits = best.first, tooLarge = qMax(fits, each - 2 * margin) + 1;
        if (!fitsIn(fits)) continue;
        // Larger pictures never need less room, so bisection finds the largest that fits.
        while (tooLarge - fits > 1) {
            const int middle = (fits + tooLarge) / 2;
            (fitsIn(middle) ? fits : tooLarge) = middle;
        }
        if (fits > best.first) best = {fits, breaks};
    }
    return best;
}

int MultiplesLayout::layOut(int wide, const QSize& box) {
    m_places.clear();
    m_turns.clear();
    m_heads.clear();
    const auto [picture, breaks] = bestFit(m_groups, box);
    m_side = picture;
    return arrange(m_groups, wide, m_side, breaks, this);
}

bool MultiplesLayout::wrongResolution() const {
    for (const auto& group : m_groups)
        for (const auto& item : group.items) {
            if (item.cells.isNull()) continue;
            const int most = qMax(shapeOf(item).width(), shapeOf(item).height());
            const int block = blockFor(most, m_side);
            if ((most + block - 1) / block != qMax(item.cells.width(), item.cells.height()))
                return true;
        }
    return false;
}

int MultiplesLayout::sideFor(const std::vector<MultipleGroup>& groups, const QSize& box) {
    return bestFit(groups, box).first;
}

int MultiplesLayout::blockFor(int cells, int side) {
    const int most = side + side / 6;  // a cell a pixel is worth a slightly larger picture
    return cells <= most ? 1 : (cells + most - 1) / most;
}

namespace {

using Slot = MultiplesLayout::Slot;
constexpr int pageSize = MultiplesLayout::pageSize, margin = MultiplesLayout::margin;
constexpr int titleHeight = MultiplesLayout::titleHeight;
constexpr int labelHeight = MultiplesLayout::labelHeight;

}  // namespace

/// The content: laid out for a width, painted in one go, so that 48 maps are 48 blits and no
/// widgets.
class MultiplesView::Canvas : public QWidget {
public:
    explicit Canvas(MultiplesView* owner) : QWidget(owner), m_owner(owner) {
        setFocusPolicy(Qt::StrongFocus);
        setMouseTracking(true);
        setAccessibleName(QStringLiteral("Maps of the layer"));
    }

    MultiplesLayout pictures;
    MapKind secondKind = MapKind::Relation;
    int secondIndex = -1;

    void layOut() {
        setMinimumHeight(pictures.layOut(qMax(width(), 100), m_owner->viewport()->size()));
        update();
    }

    bool isSecond(const MultipleItem& item) const {
        return item.kind == secondKind && item.index == secondIndex;
    }

    void choose(const Slot& slot) {
        const MultipleItem item = pictures.item(slot);
        Q_EMIT m_owner->chosen(item.kind, item.index);
    }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QWidget::resizeEvent(event);
        if (event->size().width() != event->oldSize().width()) layOut();
    }

    void contextMenuEvent(QContextMenuEvent* event) override {
        const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
        for (std::size_t k = 0; k < pictures.places().size(); ++k) {
            const Slot& slot = pictures.places()[k];
            const bool here = byKey ? static_cast<int>(k) == pictures.currentSlot()
                                    : slot.picture.adjusted(-margin, -margin, margin, labelHeight)
                                          .contains(event->pos());
            if (!here) continue;
            const MultipleItem item = pictures.item(slot);
            choose(slot);
            Q_EMIT m_owner->menuRequested(
                item.kind, item.index,
                byKey ? mapToGlobal(slot.picture.center()) : event->globalPos());
            return event->accept();
        }
        event->ignore();
    }

    void mousePressEvent(QMouseEvent* event) override {
        if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
        const QPoint at = event->position().toPoint();
        for (const MultiplesLayout::Turn& turn : pictures.turns())
            if (turn.box.contains(at))
                return m_owner->setPage(turn.group, pictures.page(turn.group) + turn.step);
        for (const Slot& slot : pictures.places())
            if (slot.picture.adjusted(-margin, -margin, margin, labelHeight).contains(at))
                return choose(slot);
    }

    void mouseMoveEvent(QMouseEvent* event) override {
        const QPoint at = event->position().toPoint();
        QString tip;
        for (const Slot& slot : pictures.places())
            if (slot.picture.contains(at))
                tip = m_owner->tip ? m_owner->tip(pictures.item(slot)) : pictures.item(slot).label;
        if (tip != toolTip()) setToolTip(tip);
    }

    void keyPressEvent(QKeyEvent* event) override {
        const int now = pictures.currentSlot();
        const int size = static_cast<int>(pictures.places().size());
        int next = now;
        switch (event->key()) {
            case Qt::Key_Right:
                next = now + 1;
                break;
            case Qt::Key_Left:
                next = now - 1;
                break;
            case Qt::Key_Down:
            case Qt::Key_Up: {
                if (now < 0) break;
                next = pictures.neighbour(now, event->key() == Qt::Key_Down);
                break;
            }
            case Qt::Key_PageDown:
            case Qt::Key_PageUp: {
                if (pictures.groups().empty()) return;
                const int group =
                    now >= 0 ? pictures.places()[static_cast<std::size_t>(now)].group : 0;
                const int step = event->key() == Qt::Key_PageDown ? 1 : -1;
                return m_owner->setPage(group, pictures.page(group) + step);
            }
            default:
                return QWidget::keyPressEvent(event);
        }
        if (now >= 0 && (next < 0 || next >= size)) {  // over the end of a page
            const int group = pictures.places()[static_cast<std::size_t>(now)].group;
            const int page = pictures.page(group) + (next < 0 ? -1 : 1);
            if (page < 0 || page >= pictures.pageCount(group)) return;
            m_owner->setPage(group, page);
            for (const Slot& slot : pictures.places())
                if (slot.group == group) return choose(slot);
            return;
        }
        if (size > 0)
            choose(pictures.places()[static_cast<std::size_t>(qBound(0, next, size - 1))]);
    }

    void paintEvent(QPaintEvent* event) override;

private:
    void paintTitle(QPainter& painter, int g) const;
    MultiplesView* m_owner;
};

void MultiplesView::Canvas::paintTitle(QPainter& painter, int g) const {
    const Theme& t = Theme::current();
    const auto& group = pictures.groups()[static_cast<std::size_t>(g)];
    const QRect area = pictures.heads()[static_cast<std::size_t>(g)];
    const int y = area.top();
    QFont head = smallFont();
    head.setWeight(QFont::DemiBold);
    painter.setFont(head);
    painter.setPen(t.text);
    paint::elidedText(painter, QRect(area.left(), y, area.width(), 20),
                      Qt::AlignLeft | Qt::AlignVCenter, group.title);
    int x = area.left() + painter.fontMetrics().horizontalAdvance(group.title) + 14;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    if (group.legend && !group.items.empty() && x + 100 < area.right()) {
        painter.drawText(QRect(x, y, 10, 20), Qt::AlignLeft | Qt::AlignVCenter,
                         QStringLiteral("0"));
        const ColorScale scale(ColorScale::Kind::Sequential, {0, 1}, t);
        painter.drawImage(QRect(x + 12, y + 6, 44, 8), scale.strip(44));
        painter.drawText(QRect(x + 60, y, 40, 20), Qt::AlignLeft | Qt::AlignVCenter,
                         QStringLiteral("max"));
    }
    if (pictures.pageCount(g) > 1) {
        const int first = pictures.page(g) * pageSize;
        const int all = static_cast<int>(group.items.size());
        const QString text = QStringLiteral("%1 to %2 of %3")
                                 .arg(first + 1)
                                 .arg(qMin(first + pageSize, all))
                                 .arg(all);
        if (const int room = area.right() - 53;
            !group.legend || x + 108 + painter.fontMetrics().horizontalAdvance(text) < room)
            painter.drawText(QRect(area.left(), y, room - area.left(), 20),
                             Qt::AlignRight | Qt::AlignVCenter, text);
    }
    if (group.items.empty()) {
        painter.setFont(smallFont());
        painter.drawText(QRect(area.left(), y + titleHeight - 2, area.width(), 200),
                         Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, group.absence);
    }
}

void MultiplesView::Canvas::paintEvent(QPaintEvent* event) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(event->rect(), t.panel);
    for (int g = 0; g < static_cast<int>(pictures.heads().size()); ++g) paintTitle(painter, g);
    for (const MultiplesLayout::Turn& turn :
         FigureScope::active() ? std::vector<MultiplesLayout::Turn>() : pictures.turns()) {
        const int page = pictures.page(turn.group) + turn.step;
        const bool can = page >= 0 && page < pictures.pageCount(turn.group);
        paint::chevron(painter, turn.box,
                       turn.step < 0 ? paint::Direction::Left : paint::Direction::Right,
                       can ? t.text : t.faint, 3.5);
    }
    for (const Slot& slot : pictures.places()) {
        const MultipleItem& item = pictures.item(slot);
        const bool chosen = pictures.isCurrent(item);
        if (!event->rect().intersects(slot.picture.adjusted(-4, -4, 4, labelHeight + 4))) continue;
        if (item.cells.isNull()) {
            painter.fillRect(slot.picture, t.alt);
            painter.setPen(t.border);
            painter.drawRect(slot.picture.adjusted(0, 0, -1, -1));
        } else {
            painter.drawImage(slot.picture, item.cells);
        }
        drawMask(painter, slot.picture.topLeft(),
                 static_cast<qreal>(slot.picture.width()) / qMax(1, item.cells.width()),
                 item.cells.height(), item.cells.width(),
                 item.cells.isNull() ? MapValues::Mask::None : item.mask);
        if (item.out) {
            painter.setBrushOrigin(slot.picture.topLeft());
            painter.fillRect(slot.picture, hatchBrush(t.warning));
        }
        if (item.moved) {  // a corner in the colour of interventions
            const QPointF corner = QRectF(slot.picture).topRight();
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(t.panel, 1));
            painter.setBrush(t.warning);
            painter.drawPolygon(
                QPolygonF({corner, corner - QPointF(12, 0), corner + QPointF(0, 12)}));
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        if (chosen || isSecond(item)) {
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(t.accent, 2, chosen ? Qt::SolidLine : Qt::DashLine));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(QRectF(slot.picture).adjusted(-2, -2, 2, 2), 3, 3);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        QFont font = captionFont();
        if (chosen) font.setWeight(QFont::DemiBold);
        painter.setFont(font);
        painter.setPen(chosen ? t.text : t.muted);
        painter.drawText(QRect(slot.picture.left(), slot.picture.bottom() + 3,
                               slot.picture.width() + 20, labelHeight - 3),
                         Qt::AlignLeft | Qt::AlignVCenter, item.label);
    }
    if (paint::keyboardFocus(this)) paint::focusRing(painter, visibleRegion().boundingRect());
}

MultiplesView::MultiplesView(QWidget* parent) : QScrollArea(parent), m_canvas(new Canvas(this)) {
    setWidget(m_canvas);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusProxy(m_canvas);
}

void MultiplesView::setGroups(std::vector<MultipleGroup> groups) {
    m_canvas->pictures.setGroups(std::move(groups));
    m_canvas->layOut();
}

void MultiplesView::setCurrent(MapKind kind, int index) {
    const bool turned = m_canvas->pictures.setCurrent(kind, index);
    if (turned) m_canvas->layOut();
    m_canvas->update();
    const QRect at = itemRect(kind, index);
    m_canvas->setAccessibleDescription(QStringLiteral("%1 %2 selected")
                                           .arg(QString::fromLatin1(mapKindName(kind)))
                                           .arg(index + 1));
    if (!at.isEmpty()) ensureVisible(at.center().x(), at.center().y(), at.width(), at.height());
    if (turned) Q_EMIT moved();
}

void MultiplesView::setSecond(MapKind kind, int index) {
    m_canvas->secondKind = kind;
    m_canvas->secondIndex = index;
    m_canvas->update();
}
void MultiplesView::clearSecond() {
    setSecond(MapKind::Relation, -1);
}

void MultiplesView::setEdited(const MultiplesLayout::Which& moved,
                              const MultiplesLayout::Which& out) {
    m_canvas->pictures.setEdited(moved, out);
    m_canvas->update();
}

void MultiplesView::setSortByMeasure(bool on) {
    if (on == m_canvas->pictures.byMeasure()) return;
    m_canvas->pictures.setSortByMeasure(on);
    m_canvas->layOut();
    Q_EMIT moved();
}

void MultiplesView::setPage(int group, int page) {
    m_canvas->pictures.setPage(group, page);
    m_canvas->layOut();
    Q_EMIT moved();
}

void MultiplesView::fillVisible(const std::function<Filled(const MultipleItem&)>& fill) {
    for (const Slot& slot : pictures().places())
        if (const auto [cells, mask] = fill(pictures().item(slot)); !cells.isNull())
            m_canvas->pictures.setCells(slot, cells, mask);
    m_canvas->update();
}

const MultiplesLayout& MultiplesView::pictures() const {
    return m_canvas->pictures;
}

QRect MultiplesView::itemRect(MapKind kind, int index) const {
    for (const Slot& slot : pictures().places()) {
        const MultipleItem& item = pictures().item(slot);
        if (item.kind == kind && item.index == index) return slot.picture;
    }
    return {};
}
QWidget* MultiplesView::canvas() const {
    return m_canvas;
}

int MultiplesView::sideFor(const std::vector<MultipleGroup>& groups) const {
    return MultiplesLayout::sideFor(groups, viewport()->size());
}

void MultiplesView::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    m_canvas->layOut();
    if (pictures().wrongResolution()) Q_EMIT resolutionChanged();
}

}  // namespace relascope::widgets
