// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/gallery_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>

#include "widgets/source/shared_view.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

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
