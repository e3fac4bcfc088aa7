#include "widgets/maps/multiples_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <numeric>

#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {
constexpr int titleHeight = 24;
constexpr int labelHeight = 18;
constexpr int groupGap = 10;
constexpr int margin = 3;  ///< room for the frame of the chosen picture
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
    std::vector<int> tops;
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

    void layOut() {
        places.clear();
        turns.clear();
        tops.clear();
        int y = 0;
        const int wide = qMax(width(), 100);
        for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
            const auto& group = groups[static_cast<std::size_t>(g)];
            const auto& order = orders[static_cast<std::size_t>(g)];
            tops.push_back(y);
            if (count(g) > 1) {
                turns.push_back({g, -1, QRect(wide - 46, y, 20, 20)});
                turns.push_back({g, 1, QRect(wide - 22, y, 20, 20)});
            }
            y += titleHeight;
            int cell = 0;
            for (const auto& item : group.items) cell = qMax(cell, qMax(shown(item).width(), 34));
            if (group.items.empty()) {
                y += fontMetrics()
                         .boundingRect(QRect(0, 0, wide, 200), Qt::TextWordWrap, group.absence)
                         .height() +
                     groupGap + 4;
                continue;
            }
            const int stride = cell + 8;
            const int columns = qMax(1, (wide - 2 * margin + 8) / stride);
            const int first = pages[static_cast<std::size_t>(g)] * pageSize;
            const int last = qMin(first + pageSize, static_cast<int>(order.size()));
            int high = 0;
            for (int place = first; place < last; ++place) {
                const int at = place - first;
                if (at > 0 && at % columns == 0) {
                    y += high + labelHeight + 6;
                    high = 0;
                }
                const int item = order[static_cast<std::size_t>(place)];
                const QSize size = shown(group.items[static_cast<std::size_t>(item)]);
                places.push_back(
                    {g, item, QRect(QPoint(margin + at % columns * stride, y + margin), size)});
                high = qMax(high, size.height());
            }
            y += high + labelHeight + groupGap;
        }
        setMinimumHeight(y);
        update();
    }

    static QSize shown(const MultipleItem& item) {
        const int most = qMax(item.cells.width(), item.cells.height());
        return most == 0 ? QSize(side, side) : item.cells.size() * qMax(1, side / most);
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
    const int y = tops[static_cast<std::size_t>(g)];
    QFont head = smallFont();
    head.setWeight(QFont::DemiBold);
    painter.setFont(head);
    painter.setPen(t.text);
    painter.drawText(QRect(0, y, width(), 20), Qt::AlignLeft | Qt::AlignVCenter, group.title);
    int x = painter.fontMetrics().horizontalAdvance(group.title) + 14;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    if (group.legend && !group.items.empty() && x + 100 < width()) {
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
        if (const int room = width() - 54;
            !group.legend || x + 108 + painter.fontMetrics().horizontalAdvance(words) < room)
            painter.drawText(QRect(0, y, room, 20), Qt::AlignRight | Qt::AlignVCenter, words);
    }
    if (group.items.empty()) {
        painter.setFont(smallFont());
        painter.drawText(QRect(0, y + titleHeight - 2, width(), 200),
                         Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, group.absence);
    }
}

void MultiplesView::Canvas::paintEvent(QPaintEvent* event) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(event->rect(), t.panel);
    for (int g = 0; g < static_cast<int>(tops.size()); ++g) paintTitle(painter, g);
    for (const Turn& turn : turns) {
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

int MultiplesView::blockFor(int cells) {
    return cells <= largest ? 1 : (cells + largest - 1) / largest;
}

}  // namespace relascope
