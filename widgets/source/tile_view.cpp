// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/tile_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/source/shared_view.h"
#include "widgets/source/tile_view_metrics.h"
#include "widgets/source/vector_bars.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

using tiles::edge;

}  // namespace

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
    Section all{std::move(objects)};
    take({std::move(all)});
}

void TileView::setSides(TileGroup rows, TileGroup columns) {
    std::vector<Section> sections;
    sections.push_back({std::move(rows), true, false});
    if (columns.size() > 0) sections.push_back({std::move(columns), false, true});
    take(std::move(sections));
}

void TileView::setGroups(std::vector<TileGroup> groups) {
    std::vector<Section> sections;
    for (TileGroup& group : groups) sections.push_back({std::move(group), false, false});
    take(std::move(sections));
}

void TileView::take(std::vector<Section> sections) {
    const bool same = sections.size() == m_sections.size() &&
                      std::equal(sections.begin(), sections.end(), m_sections.begin(),
                                 [](const Section& a, const Section& b) {
                                     return a.group == b.group && a.sends == b.sends;
                                 });
    if (same) return;
    m_sections = std::move(sections);
    for (Section& section : m_sections) section.largest = largestSize(section.group.vectors);
    m_hover = {};
    m_preview = -1;
    m_source = qBound(0, m_source, qMax(0, rows() - 1));
    m_target = qBound(-1, m_target, columns() - 1);
    layOut();
    reveal(false, m_source);
    describe();
}

const TileView::Section* TileView::sectionOf(bool sender) const {
    for (const Section& section : m_sections)
        if (sender ? section.sends : section.receives) return &section;
    return nullptr;
}
int TileView::rows() const {
    const Section* section = sectionOf(false);
    return section ? section->group.size() : 0;
}
int TileView::columns() const {
    const Section* section = sectionOf(true);
    return section ? section->group.size() : 0;
}

void TileView::setValues(std::vector<float> values, std::vector<bool> masked,
                         const ColorScale& scale) {
    if (scale == m_scale && masked == m_masked && sameNumbers(values, m_values)) return;
    m_values = std::move(values);
    m_masked = std::move(masked);
    m_scale = scale;
    viewport()->update();
    describe();
}

void TileView::setNumberDigits(int digits, bool isSigned) {
    if (digits == m_digits && isSigned == m_signedNumbers) return;
    m_digits = digits;
    m_signedNumbers = isSigned;
    viewport()->update();
}

void TileView::setSource(int index) {
    const int wanted = qBound(0, index, qMax(0, rows() - 1));
    if (wanted == m_source) return;
    updateTile(false, m_source);
    m_source = wanted;
    updateTile(false, m_source);
    // Chosen in another pane; under the pointer nothing may move away.
    if (m_hover.section < 0) reveal(false, m_source);
    describe();
}
void TileView::setTarget(int index) {
    if (index == m_target) return;
    updateTile(true, shownTarget());
    m_target = qBound(-1, index, columns() - 1);
    updateTile(true, shownTarget());
    describe();
}
void TileView::setPreview(int index) {
    if (index == m_preview) return;
    updateTile(true, shownTarget());
    m_preview = qBound(-1, index, columns() - 1);
    updateTile(true, shownTarget());
}
int TileView::shownTarget() const {
    if (m_hover.section >= 0 && m_sections[static_cast<std::size_t>(m_hover.section)].sends)
        return m_hover.index;
    return m_preview >= 0 ? m_preview : m_target;
}

QRect TileView::tileRect(int index, bool sender) const {
    const Section* section = sectionOf(sender);
    if (!section || index < 0 || index >= static_cast<int>(section->places.size())) return {};
    return section->places[static_cast<std::size_t>(index)].translated(
        0, -verticalScrollBar()->value());
}

void TileView::updateTile(bool sender, int index) {
    const QRect place = tileRect(index, sender);
    if (!place.isEmpty()) viewport()->update(place.adjusted(-edge, -edge, edge, edge));
}

TileView::Place TileView::placeAt(const QPoint& point) const {
    const QPoint at = point + QPoint(0, verticalScrollBar()->value());
    for (int s = 0; s < static_cast<int>(m_sections.size()); ++s) {
        const auto& places = m_sections[static_cast<std::size_t>(s)].places;
        // Rows stand from the top down: only those at this height are looked through.
        auto found = std::partition_point(places.begin(), places.end(), [&](const QRect& place) {
            return place.bottom() < at.y();
        });
        for (; found != places.end() && found->top() <= at.y(); ++found)
            if (found->contains(at)) return {s, static_cast<int>(found - places.begin())};
    }
    return {};
}

QString TileView::numberOf(int index) const {
    if (index < 0 || index >= static_cast<int>(m_values.size())) return {};
    const auto at = static_cast<std::size_t>(index);
    if (at < m_masked.size() && m_masked[at]) return {};
    QString text = signedNumber(m_values[at], m_digits);
    if (!m_signedNumbers) text.remove(u'+');
    return text;
}

void TileView::describe() {
    const Section* from = sectionOf(false);
    const Section* to = sectionOf(true);
    if (!from && !to) {  // only looked at
        QStringList names;
        for (const Section& section : m_sections) names << section.group.names;
        return setAccessibleDescription(names.join(QStringLiteral(", ")));
    }
    QString text = from && from->group.size() > 0
                       ? QStringLiteral("i is ") + from->group.names.value(m_source)
                       : QStringLiteral("no objects");
    if (const int j = shownTarget(); to && j >= 0) {
        const QString number = numberOf(j);
        text += QStringLiteral(", j is %1, %2")
                    .arg(to->group.names.value(j), number.isEmpty()
                                                       ? QStringLiteral("masked")
                                                       : QStringLiteral("value ") + number);
    }
    setAccessibleDescription(text);
}

void TileView::setHover(const Place& place) {
    if (place == m_hover) return;
    const auto sends = [this](const Place& p) {
        return p.section >= 0 && m_sections[static_cast<std::size_t>(p.section)].sends;
    };
    const Place before = m_hover;
    updateTile(true, shownTarget());
    m_hover = place;
    updateTile(true, shownTarget());
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
    reveal(false, m_source);
}
void TileView::scrollContentsBy(int, int) {
    viewport()->update();
}

bool TileView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) setHover({});
    if (event->type() == QEvent::ToolTip) {
        // Words end where their tile does.
        auto* help = static_cast<QHelpEvent*>(event);
        const Place place = placeAt(help->pos());
        const QString name =
            place.section < 0
                ? QString()
                : m_sections[static_cast<std::size_t>(place.section)].group.names.value(
                      place.index);
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
    const Section& section = m_sections[static_cast<std::size_t>(place.section)];
    if (!section.sends && !section.receives) return;
    const bool target =
        section.sends && (!section.receives || event->modifiers() & Qt::ShiftModifier);
    if (target) {
        setTarget(place.index);
        Q_EMIT targetChosen(place.index);
    } else {
        setSource(place.index);
        Q_EMIT sourceChosen(place.index);
    }
}

void TileView::reveal(bool sender, int index) {
    scrollTo(*this, tileRect(index, sender), edge);
}

void TileView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool mine = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                      key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End;
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    const Section* section = sectionOf(shift);
    if (!mine || !section || section->places.empty()) return event->ignore();
    setHover({});  // a resting pointer must not hide what the keys choose
    if (shift) {
        const int j = moved(*section, m_target < 0 ? 0 : m_target, key);
        setTarget(j);
        reveal(true, j);
        Q_EMIT targetChosen(j);
    } else {
        const int i = moved(*section, m_source, key);
        setSource(i);
        reveal(false, i);
        Q_EMIT sourceChosen(i);
    }
}

void TileView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) viewport()->update();
}

}  // namespace relascope
