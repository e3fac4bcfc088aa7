// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/tile_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "widgets/source/shared_view.h"
#include "widgets/source/tile_metrics.h"
#include "widgets/source/tile_paint.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

using namespace tiles;

TileView::TileView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(QStringLiteral("Source objects"));
    viewport()->setMouseTracking(true);
    verticalScrollBar()->setSingleStep(26);
    describe();
}

void TileView::setObjects(TileGroup objects) {
    take({TileSection{std::move(objects)}});
}

void TileView::setSides(TileGroup rows, TileGroup columns) {
    std::vector<TileSection> sections;
    sections.push_back({std::move(rows), true, false});
    if (columns.size() > 0) sections.push_back({std::move(columns), false, true});
    take(std::move(sections));
}

void TileView::setGroups(std::vector<TileGroup> groups) {
    std::vector<TileSection> sections;
    for (TileGroup& group : groups) sections.push_back({std::move(group), false, false});
    take(std::move(sections));
}

void TileView::take(std::vector<TileSection> sections) {
    if (!m_layout.take(std::move(sections))) return;
    m_hover = {};
    clampChoice();
    layOut();
    reveal(false, source());
    describe();
}

void TileView::layOut() {
    const int before = contentHeight();
    m_layout.layOut(size(), verticalScrollBar()->sizeHint().width());
    verticalScrollBar()->setPageStep(qMax(1, viewport()->height()));
    verticalScrollBar()->setRange(0, qMax(0, contentHeight() - viewport()->height()));
    viewport()->update();
    if (contentHeight() != before) Q_EMIT laidOut();
}

void TileView::sourceMoved() {
    // Chosen in another pane; does not scroll while the pointer is inside.
    if (m_hover.section < 0) reveal(false, source());
}

QRect TileView::tileRect(int index, bool sender) const {
    return m_layout.rect(sender, index).translated(0, -verticalScrollBar()->value());
}

void TileView::touch(bool sender, int index) {
    const QRect place = tileRect(index, sender);
    if (!place.isEmpty()) viewport()->update(place.adjusted(-edge, -edge, edge, edge));
}

TileView::Place TileView::placeAt(const QPoint& point) const {
    return m_layout.placeAt(point + QPoint(0, verticalScrollBar()->value()));
}

void TileView::describe() {
    const TileSection* from = m_layout.part(false);
    const TileSection* to = m_layout.part(true);
    if (!from && !to) {  // nothing can be chosen
        QStringList names;
        for (const TileSection& section : m_layout.sections()) names << section.group.names;
        return setAccessibleDescription(names.join(QStringLiteral(", ")));
    }
    QString text = from && from->group.size() > 0
                       ? QStringLiteral("i is ") + from->group.names.value(source())
                       : QStringLiteral("no objects");
    if (const int j = shownTarget(); to && j >= 0) {
        const QString towards = number(j);
        text += QStringLiteral(", j is %1, %2")
                    .arg(to->group.names.value(j), towards.isEmpty()
                                                       ? QStringLiteral("masked")
                                                       : QStringLiteral("value ") + towards);
    }
    setAccessibleDescription(text);
}

void TileView::setHover(const Place& place) {
    if (place == m_hover) return;
    const Place before = m_hover;
    touch(true, shownTarget());
    m_hover = place;
    touch(true, shownTarget());
    if (before.section >= 0 && !sends(before) && (place.section < 0 || sends(place)))
        Q_EMIT rowHovered(-1);
    if (sends(before) && !sends(place)) Q_EMIT hovered(-1);
    if (place.section < 0) return;
    if (sends(place))
        Q_EMIT hovered(place.index);
    else
        Q_EMIT rowHovered(place.index);
}

void TileView::resizeEvent(QResizeEvent*) {
    layOut();
    reveal(false, source());
}
void TileView::scrollContentsBy(int, int) {
    viewport()->update();
}

bool TileView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) setHover({});
    if (event->type() == QEvent::ToolTip) {
        // Text is clipped at the tile.
        auto* help = static_cast<QHelpEvent*>(event);
        const Place place = placeAt(help->pos());
        const QString name =
            place.section < 0 ? QString() : m_layout.section(place).group.names.value(place.index);
        QToolTip::showText(help->globalPos(), plainTip(name), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TileView::mouseMoveEvent(QMouseEvent* event) {
    setHover(placeAt(event->position().toPoint()));
}

void TileView::mousePressEvent(QMouseEvent* event) {
    const Place place = placeAt(event->position().toPoint());
    if (place.section < 0 || event->button() != Qt::LeftButton)
        return QAbstractScrollArea::mousePressEvent(event);
    const TileSection& section = m_layout.section(place);
    if (!section.sends && !section.receives) return;
    choose(this, section.sends && (!section.receives || event->modifiers() & Qt::ShiftModifier),
           place.index);
}

void TileView::reveal(bool sender, int index) {
    scrollTo(*this, tileRect(index, sender), edge);
}

void TileView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool mine = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                      key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    const TileSection* section = m_layout.part(shift);
    if (!mine || !section || section->places.empty()) return event->ignore();
    setHover({});  // a resting pointer must not hide what the keys choose
    const int index = section->moved(shift ? qMax(0, target()) : source(), key);
    choose(this, shift, index);
    reveal(shift, index);
}

void TileView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) viewport()->update();
}

void TileView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    const int offset = verticalScrollBar()->value();
    painter.fillRect(event->rect(), Theme::current().panel);
    painter.save();
    painter.translate(0, -offset);
    for (const TileSection& section : m_layout.sections())
        paintSection(painter, section, event->rect().translated(0, offset));
    painter.restore();
    if (paint::keyboardFocus(this)) paint::focusRing(painter, viewport()->rect());
}

void TileView::paintSection(QPainter& painter, const TileSection& section, const QRect& exposed) {
    const Theme& t = Theme::current();
    if (!section.group.title.isEmpty()) {
        painter.setFont(captionFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(2, section.top, viewport()->width() - 4, headHeight - 4),
                         Qt::AlignLeft | Qt::AlignVCenter, section.group.title);
    }
    for (auto place = section.from(exposed.top() - 2);
         place != section.places.end() && place->top() - 2 <= exposed.bottom(); ++place)
        if (place->adjusted(-2, -2, 2, 2).intersects(exposed))
            paintTile(painter, section, static_cast<int>(place - section.places.begin()), *place);
}

void TileView::paintTile(QPainter& painter, const TileSection& section, int index,
                         const QRect& place) {
    const Theme& t = Theme::current();
    const bool i = section.receives && index == source();
    const bool j = section.sends && index == shownTarget() && !i;
    const Shade shade = this->shade(index, section.sends && !i);
    paint::frame(painter, place, shade.fill, shade.byScale ? QColor() : t.border, 3);
    if (shade.hatch.isValid()) {
        painter.setBrushOrigin(place.topLeft());
        painter.fillRect(place.adjusted(1, 1, -1, -1), hatchBrush(shade.hatch));
    }
    QRect inside = place.adjusted(3, 2, -3, -2);
    if (section.numbered()) {
        const QRect line(inside.left(), inside.bottom() - numberHeight + 1, inside.width(),
                         numberHeight);
        inside.setBottom(line.top() - 1);
        painter.setFont(numberFont(11));
        painter.setPen(i ? t.outline : shade.ink);
        painter.drawText(line, Qt::AlignCenter, i ? QStringLiteral("i") : number(index));
    }
    paintTileObject(painter, section, index, inside, shade.ink);
    if (!i && !j) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    if (j) {  // dark under pale dashes, so that one of them shows on any fill
        painter.setPen(QPen(Theme::light().text, 2));
        painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), 3, 3);
    }
    QPen pen(i ? t.outline : Theme::light().panel, 2);
    if (j) pen.setDashPattern({3.0, 2.0});
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), 3, 3);
    painter.restore();
}

}  // namespace relascope::widgets
