#include "widgets/source/tile_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "widgets/source/shared_view.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr int gap = 4;
constexpr int edge = 2;         ///< room for the outline of a tile at the border
constexpr int headHeight = 22;  ///< of a group's title
constexpr int groupGap = 10;
constexpr int wordHeight = 22;
constexpr int numberHeight = 15;  ///< more, with a number below the word
constexpr int widestWord = 160;
constexpr int vectorWidth = 64;
constexpr int vectorHeight = 48;

float largestOf(const std::vector<float>& values) {
    float largest = 0;
    for (const float v : values)
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    return largest;
}

}  // namespace

TileView::TileView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(QStringLiteral("Source objects"));
    viewport()->setMouseTracking(true);
    verticalScrollBar()->setSingleStep(wordHeight + gap);
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

void TileView::take(std::vector<Section> sections) {
    const bool same = sections.size() == m_sections.size() &&
                      std::equal(sections.begin(), sections.end(), m_sections.begin(),
                                 [](const Section& a, const Section& b) {
                                     return a.group == b.group && a.sends == b.sends;
                                 });
    if (same) return;
    m_sections = std::move(sections);
    for (Section& section : m_sections) section.largest = largestOf(section.group.vectors);
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

void TileView::layOut() {
    const QFontMetrics words(monoFont(12));
    const int before = m_height;
    // The width without a bar, so that the bar's coming does not wrap the rows anew and send it
    // away.
    const int wide =
        qMax(vectorWidth, width() - 2 * edge - verticalScrollBar()->sizeHint().width());
    int y = edge;
    for (Section& section : m_sections) {
        const TileGroup& group = section.group;
        section.top = y;
        section.places.clear();
        section.places.reserve(static_cast<std::size_t>(group.size()));
        if (!group.title.isEmpty()) y += headHeight;
        const bool numbered = section.sends && group.size() <= numberedTiles;
        const bool vectors = group.width > 0;
        const int high = (vectors ? vectorHeight : wordHeight) + (numbered ? numberHeight : 0);
        int x = edge;
        for (int k = 0; k < group.size(); ++k) {
            const int wanted =
                vectors ? vectorWidth
                        : qBound(numbered ? 44 : 24, words.horizontalAdvance(group.texts[k]) + 12,
                                 qMin(widestWord, wide));
            if (x > edge && x + wanted > edge + wide) {
                x = edge;
                y += high + gap;
            }
            section.places.push_back(QRect(x, y, wanted, high));
            x += wanted + gap;
        }
        if (group.size() > 0) y += high;
        y += groupGap;
    }
    m_height = m_sections.empty() ? 0 : y - groupGap + edge;
    verticalScrollBar()->setPageStep(qMax(1, viewport()->height()));
    verticalScrollBar()->setRange(0, qMax(0, m_height - viewport()->height()));
    viewport()->update();
    if (m_height != before) Q_EMIT laidOut();
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

int TileView::moved(const Section& section, int index, int key) const {
    const auto& places = section.places;
    const int last = static_cast<int>(places.size()) - 1;
    if (key == Qt::Key_Left) return qMax(0, index - 1);
    if (key == Qt::Key_Right) return qMin(last, index + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    // Up and down: the tile of the next row whose middle is nearest.
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
