// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/multiples_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "widgets/theme/figure_scope.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {
constexpr int titleHeight = 24;
constexpr int labelHeight = 18;
constexpr int groupGap = 10;
constexpr int columnGap = 18;         ///< between groups beside one another
constexpr int narrowestColumn = 120;  ///< px that the title of a group needs
constexpr int margin = 3;             ///< room for the frame of the chosen picture
}  // namespace

/// The content: laid out for a width, painted in one go, so that 48 maps are 48 blits and no
/// widgets.
class MultiplesView::Canvas : public QWidget {
public:
    struct Slot {
        int group = 0;
        int item = 0;
        QRect picture;
    };
    struct Turn {  ///< a page button
        int group = 0;
        int step = 0;
        QRect box;
    };

    explicit Canvas(MultiplesView* owner) : QWidget(owner), m_owner(owner) {
        setFocusPolicy(Qt::StrongFocus);
        setMouseTracking(true);
        setAccessibleName(QStringLiteral("Maps of the layer"));
    }

    std::vector<MultipleGroup> groups;
    std::vector<std::vector<int>> orders;
    std::vector<int> pages;
    std::vector<Slot> places;
    std::vector<Turn> turns;
    std::vector<QRect> heads;  ///< of the groups, with their titles
    MapKind kind = MapKind::Relation;
    int index = 0;
    MapKind secondKind = MapKind::Relation;
    int secondIndex = -1;
    bool byMagnitude = false;

    void sortAll() {
        orders.assign(groups.size(), {});
        pages.resize(groups.size(), 0);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            auto& order = orders[g];
            const auto& items = groups[g].items;
            order.resize(items.size());
            std::iota(order.begin(), order.end(), 0);
            if (byMagnitude)
                std::stable_sort(order.begin(), order.end(), [&items](int a, int b) {
                    return items[static_cast<std::size_t>(a)].magnitude >
                           items[static_cast<std::size_t>(b)].magnitude;
                });
        }
        clampPages();
    }

    void clampPages() {
        for (std::size_t g = 0; g < groups.size(); ++g)
            pages[g] = qBound(0, pages[g], count(static_cast<int>(g)) - 1);
    }
    int count(int g) const {
        return qMax(
            1, (static_cast<int>(groups[static_cast<std::size_t>(g)].items.size()) + pageSize - 1) /
                   pageSize);
    }

    void turnToCurrent() {
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (std::size_t place = 0; place < orders[g].size(); ++place) {
                const auto& item = groups[g].items[static_cast<std::size_t>(orders[g][place])];
                if (item.kind == kind && item.index == index)
                    pages[g] = static_cast<int>(place) / pageSize;
            }
    }

    int side = smallestSide;

    /// How groups share the widget: bit g set, group g + 1 begins another column beside.
    using Breaks = unsigned;
    static int columnCount(Breaks breaks) { return 1 + std::popcount(breaks); }
    static int columnWidth(int wide, Breaks breaks) {
        const int columns = columnCount(breaks);
        return (wide - (columns - 1) * columnGap) / columns;
    }

    /// Where everything stands with pictures of `picture` pixels on a widget `wide` pixels wide;
    /// returns the height. Without `keep` only that counts.
    int arrange(const std::vector<MultipleGroup>& all, int wide, int picture, Breaks breaks,
                bool keep) {
        const int each = columnWidth(wide, breaks);
        int x = 0, y = 0, highest = 0;
        for (int g = 0; g < static_cast<int>(all.size()); ++g) {
            if (g > 0 && breaks >> (g - 1) & 1U) {
                x += each + columnGap;
                y = 0;
            }
            y += arrangeGroup(all[static_cast<std::size_t>(g)], g, QPoint(x, y), each, picture,
                              keep);
            highest = qMax(highest, y);
        }
        return highest;
    }

    int arrangeGroup(const MultipleGroup& group, int g, const QPoint& at, int wide, int picture,
                     bool keep) {
        const int items = static_cast<int>(group.items.size());
        int y = at.y();
        if (keep) {
            heads.emplace_back(at.x(), y, wide, titleHeight);
            if (items > pageSize) {
                turns.push_back({g, -1, QRect(at.x() + wide - 46, y, 20, 20)});
                turns.push_back({g, 1, QRect(at.x() + wide - 22, y, 20, 20)});
            }
        }
        y += titleHeight;
        if (items == 0)
            return y - at.y() + groupGap + 4 +
                   QFontMetrics(smallFont())
                       .boundingRect(QRect(0, 0, wide, 200), Qt::TextWordWrap, group.absence)
                       .height();
        int cell = 0;
        for (const auto& item : group.items)
            cell = qMax(cell, qMax(shown(item, picture).width(), 34));
        const int stride = cell + 8;
        const int columns = qMax(1, (wide - 2 * margin + 8) / stride);
        const int first = keep ? pages[static_cast<std::size_t>(g)] * pageSize : 0;
        const int last = qMin(first + pageSize, items);
        int high = 0;
        for (int place = first; place < last; ++place) {
            const int k = place - first;
            if (k > 0 && k % columns == 0) {
                y += high + labelHeight + 6;
                high = 0;
            }
            const int item =
                keep ? orders[static_cast<std::size_t>(g)][static_cast<std::size_t>(place)] : place;
            const QSize size = shown(group.items[static_cast<std::size_t>(item)], picture);
            if (keep)
                places.push_back(
                    {g, item,
                     QRect(QPoint(at.x() + margin + k % columns * stride, y + margin), size)});
            high = qMax(high, size.height());
        }
        return y + high + labelHeight + groupGap - at.y();
    }

    /// The largest pictures with which all groups fit into the box without scrolling, and how the
    /// groups are arranged then.
    std::pair<int, Breaks> bestFit(const std::vector<MultipleGroup>& all, const QSize& box) {
        std::pair<int, Breaks> best{smallestSide, 0};
        const Breaks ways = all.empty() ? 1U : 1U << (all.size() - 1);
        for (Breaks breaks = 0; breaks < ways; ++breaks) {
            const int each = columnWidth(box.width(), breaks);
            if (breaks != 0 && each < narrowestColumn) continue;
            const auto fitsIn = [&](int picture) {
                return arrange(all, box.width(), picture, breaks, false) <= box.height();
            };
            int fits = best.first, tooLarge = qMax(fits, each - 2 * margin) + 1;
            if (!fitsIn(fits)) continue;
            // More room never makes pictures smaller, so halving finds the end of what fits.
            while (tooLarge - fits > 1) {
                const int middle = (fits + tooLarge) / 2;
                (fitsIn(middle) ? fits : tooLarge) = middle;
            }
            if (fits > best.first) best = {fits, breaks};
        }
        return best;
    }

    void layOut() {
        places.clear();
        turns.clear();
        heads.clear();
        const auto [picture, breaks] = bestFit(groups, m_owner->viewport()->size());
        side = picture;
        setMinimumHeight(arrange(groups, qMax(width(), 100), side, breaks, true));
        update();
    }

    /// Whether a picture has another number of cells a pixel than its size wants.
    bool wrongResolution() const {
        for (const auto& group : groups)
            for (const auto& item : group.items) {
                const int most = qMax(shapeOf(item).width(), shapeOf(item).height());
                const int block = blockFor(most, side);
                if ((most + block - 1) / block != qMax(item.cells.width(), item.cells.height()))
                    return true;
            }
        return false;
    }

    static QSize shapeOf(const MultipleItem& item) {
        return item.shape.isEmpty() ? item.cells.size() : item.shape;
    }

    /// Cells of whole pixels, or whole cells a pixel.
    static QSize shown(const MultipleItem& item, int picture) {
        const QSize shape = shapeOf(item);
        const int most = qMax(shape.width(), shape.height());
        if (most == 0) return {picture, picture};
        const int block = blockFor(most, picture);
        const QSize cells((shape.width() + block - 1) / block,
                          (shape.height() + block - 1) / block);
        return cells * qMax(1, picture / qMax(cells.width(), cells.height()));
    }

    const MultipleItem& itemOf(const Slot& slot) const {
        return groups[static_cast<std::size_t>(slot.group)]
            .items[static_cast<std::size_t>(slot.item)];
    }
    bool isCurrent(const MultipleItem& item) const {
        return item.kind == kind && item.index == index;
    }
    bool isSecond(const MultipleItem& item) const {
        return item.kind == secondKind && item.index == secondIndex;
    }

    void choose(const Slot& slot) {
        const MultipleItem item = itemOf(slot);
        Q_EMIT m_owner->chosen(item.kind, item.index);
    }

    int currentSlot() const {
        for (std::size_t k = 0; k < places.size(); ++k)
            if (isCurrent(itemOf(places[k]))) return static_cast<int>(k);
        return -1;
    }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QWidget::resizeEvent(event);
        if (event->size().width() != event->oldSize().width()) layOut();
    }

    void mousePressEvent(QMouseEvent* event) override {
        const QPoint at = event->position().toPoint();
        for (const Turn& turn : turns)
            if (turn.box.contains(at))
                return m_owner->setPage(turn.group,
                                        pages[static_cast<std::size_t>(turn.group)] + turn.step);
        for (const Slot& slot : places)
            if (slot.picture.adjusted(-margin, -margin, margin, labelHeight).contains(at))
                return choose(slot);
    }

    void mouseMoveEvent(QMouseEvent* event) override {
        const QPoint at = event->position().toPoint();
        QString tip;
        for (const Slot& slot : places)
            if (slot.picture.contains(at))
                tip = QStringLiteral("%1, largest magnitude %2")
                          .arg(itemOf(slot).label, signedNumber(itemOf(slot).magnitude).mid(1));
        if (tip != toolTip()) setToolTip(tip);
    }

    void keyPressEvent(QKeyEvent* event) override {
        const int now = currentSlot();
        const int size = static_cast<int>(places.size());
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
                const bool down = event->key() == Qt::Key_Down;
                const QPoint from = places[static_cast<std::size_t>(now)].picture.center();
                int best = 1 << 30;
                for (int k = 0; k < size; ++k) {
                    const QPoint to = places[static_cast<std::size_t>(k)].picture.center();
                    const int away = down ? to.y() - from.y() : from.y() - to.y();
                    if (away < 20) continue;
                    const int cost = away * 4 + qAbs(to.x() - from.x());
                    if (cost < best) {
                        best = cost;
                        next = k;
                    }
                }
                break;
            }
            case Qt::Key_PageDown:
            case Qt::Key_PageUp: {
                if (groups.empty()) return;
                const int group = now >= 0 ? places[static_cast<std::size_t>(now)].group : 0;
                const int step = event->key() == Qt::Key_PageDown ? 1 : -1;
                return m_owner->setPage(group, pages[static_cast<std::size_t>(group)] + step);
            }
            default:
                return QWidget::keyPressEvent(event);
        }
        if (now >= 0 && (next < 0 || next >= size)) {  // over the end of a page
            const int group = places[static_cast<std::size_t>(now)].group;
            const int page = pages[static_cast<std::size_t>(group)] + (next < 0 ? -1 : 1);
            if (page < 0 || page >= count(group)) return;
            m_owner->setPage(group, page);
            for (const Slot& slot : places)
                if (slot.group == group) return choose(slot);
            return;
        }
        if (size > 0) choose(places[static_cast<std::size_t>(qBound(0, next, size - 1))]);
    }

    void paintEvent(QPaintEvent* event) override;

private:
    void paintTitle(QPainter& painter, int g) const;
    MultiplesView* m_owner;
};

void MultiplesView::Canvas::paintTitle(QPainter& painter, int g) const {
    const Theme& t = Theme::current();
    const auto& group = groups[static_cast<std::size_t>(g)];
    const QRect area = heads[static_cast<std::size_t>(g)];
    const int y = area.top();
    QFont head = smallFont();
    head.setWeight(QFont::DemiBold);
    painter.setFont(head);
    painter.setPen(t.text);
    painter.drawText(QRect(area.left(), y, area.width(), 20), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(group.title, Qt::ElideRight, area.width()));
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
    if (count(g) > 1) {
        const int first = pages[static_cast<std::size_t>(g)] * pageSize;
        const int all = static_cast<int>(group.items.size());
        const QString words = QStringLiteral("%1 to %2 of %3")
                                  .arg(first + 1)
                                  .arg(qMin(first + pageSize, all))
                                  .arg(all);
        if (const int room = area.right() - 53;
            !group.legend || x + 108 + painter.fontMetrics().horizontalAdvance(words) < room)
            painter.drawText(QRect(area.left(), y, room - area.left(), 20),
                             Qt::AlignRight | Qt::AlignVCenter, words);
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
    for (int g = 0; g < static_cast<int>(heads.size()); ++g) paintTitle(painter, g);
    for (const Turn& turn : FigureScope::active() ? std::vector<Turn>() : turns) {
        const int page = pages[static_cast<std::size_t>(turn.group)] + turn.step;
        const bool can = page >= 0 && page < count(turn.group);
        paint::chevron(painter, turn.box,
                       turn.step < 0 ? paint::Direction::Left : paint::Direction::Right,
                       can ? t.text : t.faint, 3.5);
    }
    for (const Slot& slot : places) {
        const MultipleItem& item = itemOf(slot);
        const bool chosen = isCurrent(item);
        if (!event->rect().intersects(slot.picture.adjusted(-4, -4, 4, labelHeight + 4))) continue;
        painter.drawImage(slot.picture, item.cells);
        drawMask(painter, slot.picture.topLeft(),
                 static_cast<qreal>(slot.picture.width()) / qMax(1, item.cells.width()),
                 item.cells.height(), item.cells.width(), item.mask);
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
    m_canvas->groups = std::move(groups);
    m_canvas->sortAll();
    m_canvas->turnToCurrent();
    m_canvas->layOut();
}

void MultiplesView::setCurrent(MapKind kind, int index) {
    m_canvas->kind = kind;
    m_canvas->index = index;
    const auto before = m_canvas->pages;
    m_canvas->turnToCurrent();
    if (before != m_canvas->pages) m_canvas->layOut();
    m_canvas->update();
    const QRect at = itemRect(kind, index);
    m_canvas->setAccessibleDescription(QStringLiteral("%1 %2 selected")
                                           .arg(QString::fromLatin1(mapKindName(kind)))
                                           .arg(index + 1));
    if (!at.isEmpty()) ensureVisible(at.center().x(), at.center().y(), at.width(), at.height());
}

void MultiplesView::setSecond(MapKind kind, int index) {
    m_canvas->secondKind = kind;
    m_canvas->secondIndex = index;
    m_canvas->update();
}
void MultiplesView::clearSecond() {
    setSecond(MapKind::Relation, -1);
}

void MultiplesView::setSortByMagnitude(bool on) {
    if (on == m_canvas->byMagnitude) return;
    m_canvas->byMagnitude = on;
    m_canvas->sortAll();
    m_canvas->turnToCurrent();
    m_canvas->layOut();
}

void MultiplesView::setPage(int group, int page) {
    if (group < 0 || group >= static_cast<int>(m_canvas->pages.size())) return;
    m_canvas->pages[static_cast<std::size_t>(group)] = page;
    m_canvas->clampPages();
    m_canvas->layOut();
}
int MultiplesView::page(int group) const {
    return m_canvas->pages.at(static_cast<std::size_t>(group));
}
int MultiplesView::pageCount(int group) const {
    return m_canvas->count(group);
}
std::vector<int> MultiplesView::order(int group) const {
    return m_canvas->orders.at(static_cast<std::size_t>(group));
}

QRect MultiplesView::itemRect(MapKind kind, int index) const {
    for (const auto& slot : m_canvas->places) {
        const MultipleItem& item = m_canvas->itemOf(slot);
        if (item.kind == kind && item.index == index) return slot.picture;
    }
    return {};
}
QWidget* MultiplesView::canvas() const {
    return m_canvas;
}

int MultiplesView::blockFor(int cells, int side) {
    const int most = side + side / 6;  // a cell a pixel is worth a slightly larger picture
    return cells <= most ? 1 : (cells + most - 1) / most;
}

int MultiplesView::sideFor(const std::vector<MultipleGroup>& groups) const {
    return m_canvas->bestFit(groups, viewport()->size()).first;
}
int MultiplesView::side() const {
    return m_canvas->side;
}

void MultiplesView::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    m_canvas->layOut();
    if (m_canvas->wrongResolution()) Q_EMIT resolutionChanged();
}

}  // namespace relascope
