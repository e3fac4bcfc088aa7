// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "widgets/source/linked_view.h"
#include "widgets/source/pictures.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/tile_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

using namespace tiles;

/// Pictures of a group may differ in size: tiles have the size of the largest.
QSize largestPicture(const TileGroup& group) {
    QSize size;
    for (const QImage& picture : group.pictures) size = size.expandedTo(picture.size());
    return size;
}

int linesNeeded(const QFontMetrics& metrics, const QStringList& texts, int wide) {
    for (const QString& text : texts)
        if (text.contains(u' ') && metrics.horizontalAdvance(text) > wide) return 2;
    return 1;
}

/// The largest size at which the pictures fit into `wide` x `high`, with captions or, if that is
/// too small, without; if none fits, they have their original size and are scrolled.
void layOutPictures(TileSection& section, int wide, int high) {
    const QSize own = largestPicture(section.group);
    const QFontMetrics metrics(captionFont());
    const int count = section.group.size();
    const int below = section.numbered() ? numberHeight : 0;
    section.picture = {};
    for (const bool captions : {true, false}) {
        for (int columns = 1; columns <= count; ++columns) {
            const int across = (wide + gap) / columns - gap;
            if (across < qMin(own.width(), smallestPicture) + 2 * padding) break;
            const int rows = (count + columns - 1) / columns;
            const int down = (high + gap) / rows - gap;
            const int room = qMin(across - 2 * padding, largestTile);
            const int lines = captions ? linesNeeded(metrics, section.group.texts, room) : 0;
            const int around = lines * captionHeight + below + 3 * padding;
            const QSize shown = shownSize(own, QSize(room, qMin(down - around, largestTile)));
            const bool seen = shown.width() >= qMin(own.width(), smallestPicture);
            if (!seen || shown.width() <= section.picture.width()) continue;
            section.picture = shown;
            section.wordLines = lines;
        }
        if (!section.picture.isEmpty()) return;
    }
    section.picture = shownSize(own, QSize(qMin(own.width(), wide - 2 * padding), own.height()));
    section.wordLines =
        linesNeeded(metrics, section.group.texts, qMax(section.picture.width(), shortestWord));
}

QSize tileSize(const TileSection& section, int index, int wide) {
    const TileGroup& group = section.group;
    const int below = section.numbered() ? numberHeight : 0;
    if (group.hasPictures()) {
        const int across = qMax(section.picture.width(), shortestWord) + 2 * padding;
        return {qMin(across, wide),
                section.picture.height() + section.wordLines * captionHeight + below + 3 * padding};
    }
    if (group.width > 0) return {vectorWidth, vectorHeight + below};
    const int word = QFontMetrics(monoFont(12)).horizontalAdvance(group.texts[index]) + 12;
    return {qBound(below > 0 ? 44 : 24, word, qMin(widestWord, wide)), wordHeight + below};
}

}  // namespace

bool TileLayout::take(std::vector<TileSection> sections) {
    if (std::equal(sections.begin(), sections.end(), m_sections.begin(), m_sections.end(),
                   [](const TileSection& a, const TileSection& b) {
                       return a.group == b.group && a.sends == b.sends;
                   }))
        return false;
    m_sections = std::move(sections);
    for (TileSection& section : m_sections) section.largest = largestSize(section.group.vectors);
    return true;
}

const TileSection* TileLayout::part(bool sender) const {
    for (const TileSection& section : m_sections)
        if (sender ? section.sends : section.receives) return &section;
    return nullptr;
}
int TileLayout::count(bool sender) const {
    const TileSection* section = part(sender);
    return section ? section->group.size() : 0;
}
QRect TileLayout::rect(bool sender, int index) const {
    const TileSection* section = part(sender);
    if (!section || index < 0 || index >= static_cast<int>(section->places.size())) return {};
    return section->places[static_cast<std::size_t>(index)];
}

TileLayout::Place TileLayout::placeAt(const QPoint& point) const {
    for (int s = 0; s < static_cast<int>(m_sections.size()); ++s) {
        const TileSection& section = m_sections[static_cast<std::size_t>(s)];
        for (auto place = section.from(point.y());
             place != section.places.end() && place->top() <= point.y(); ++place)
            if (place->contains(point))
                return {s, static_cast<int>(place - section.places.begin())};
    }
    return {};
}

void TileLayout::layOut(const QSize& view, int bar) {
    const int wide = qMax(vectorWidth, view.width() - 2 * edge - bar);
    const auto place = [&](TileSection& section, int y) {
        section.places.clear();
        int x = edge, high = 0;
        for (int k = 0; k < section.group.size(); ++k) {
            const QSize size = tileSize(section, k, wide);
            if (x > edge && x + size.width() > edge + wide) {
                x = edge;
                y += high + gap;
            }
            high = size.height();
            section.places.push_back(QRect(QPoint(x, y), size));
            x += size.width() + gap;
        }
        return y + high;
    };
    // Texts and bars get their preferred height; pictures share the remaining space.
    int left = view.height() - 2 * edge, sharing = 0;
    for (TileSection& section : m_sections) {
        section.places.reserve(static_cast<std::size_t>(section.group.size()));
        left -= section.group.title.isEmpty() ? 0 : headHeight;
        if (section.group.hasPictures())
            ++sharing;
        else
            left -= place(section, 0);
    }
    left -= groupGap * qMax(0, static_cast<int>(m_sections.size()) - 1);
    int y = edge;
    for (TileSection& section : m_sections) {
        section.top = y;
        if (!section.group.title.isEmpty()) y += headHeight;
        if (section.group.hasPictures()) layOutPictures(section, wide, left / sharing);
        y = place(section, y) + groupGap;
    }
    m_height = m_sections.empty() ? 0 : y - groupGap + edge;
}

std::vector<QRect>::const_iterator TileSection::from(int y) const {
    // Rows are ordered from the top, so only the tiles at this height are tested.
    return std::partition_point(places.begin(), places.end(),
                                [&](const QRect& place) { return place.bottom() < y; });
}

int TileSection::moved(int index, int key) const {
    const int last = static_cast<int>(places.size()) - 1;
    if (key == Qt::Key_Left) return qMax(0, index - 1);
    if (key == Qt::Key_Right) return qMin(last, index + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    // Up and down: the tile of the next row with the nearest centre.
    const QRect from = places[static_cast<std::size_t>(index)];
    const int step = key == Qt::Key_Down ? 1 : -1;
    int best = index, row = -1;
    for (int k = index + step; k >= 0 && k <= last; k += step) {
        const QRect& place = places[static_cast<std::size_t>(k)];
        if (place.top() == from.top()) continue;
        if (row >= 0 && place.top() != row) break;
        row = place.top();
        const auto away = [&](int at) {
            return std::abs(places[static_cast<std::size_t>(at)].center().x() - from.center().x());
        };
        if (best == index || away(k) < away(best)) best = k;
    }
    return best;
}

using namespace tiles;

void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink) {
    const QString& word = section.group.texts[index];
    painter.setPen(ink);
    if (section.group.hasPictures()) {
        const QRect room(inside.left(), inside.top() + padding - 2, inside.width(),
                         section.picture.height());
        drawPicture(painter, room, section.group.pictures[static_cast<std::size_t>(index)]);
        if (section.wordLines == 0) return;
        painter.setFont(captionFont());
        const QFontMetrics metrics = painter.fontMetrics();
        // At most two lines, wrapped between words; longer text is elided.
        QString first = word, second;
        if (section.wordLines == 2 && metrics.horizontalAdvance(word) > inside.width()) {
            qsizetype cut = word.indexOf(u' ');
            for (qsizetype next = cut; next > 0; next = word.indexOf(u' ', next + 1))
                if (metrics.horizontalAdvance(word.left(next)) <= inside.width()) cut = next;
            if (cut > 0) {
                first = word.left(cut);
                second = word.mid(cut + 1);
            }
        }
        QRect line(inside.left(), room.bottom() + 3, inside.width(), captionHeight);
        for (const QString& text : {first, second}) {
            painter.drawText(line, Qt::AlignCenter,
                             metrics.elidedText(text, Qt::ElideRight, inside.width()));
            line.translate(0, captionHeight);
        }
        return;
    }
    if (section.group.width > 0) {
        const QRect name(inside.left(), inside.top(), inside.width(), 13);
        painter.setFont(captionFont());
        paint::elidedText(painter, name, Qt::AlignLeft | Qt::AlignVCenter, word);
        const auto width = static_cast<std::size_t>(section.group.width);
        const auto first = static_cast<std::size_t>(index) * width;
        const auto& vectors = section.group.vectors;
        if (first + width <= vectors.size())
            paintVectorBars(painter, inside.adjusted(0, 15, 0, 0),
                            std::span(vectors).subspan(first, width), section.largest, ink);
        return;
    }
    painter.setFont(monoFont(12));
    painter.drawText(inside, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(word, Qt::ElideRight, inside.width() + 2));
}

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
