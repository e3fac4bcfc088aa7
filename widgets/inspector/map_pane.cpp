// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include <QActionGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/axis_objects.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

CellFooter::CellFooter(QWidget* parent)
    : Box(&Theme::alt, true, parent), m_row(new FoldingLayout(this)), m_text(new Readout(this)) {
    setFixedHeight(30);
    m_row->setContentsMargins(16, 1, 12, 0);
    m_row->setSpacing(8);
    m_text->setFont(numberFont(12));
    m_text->setAccessibleName(QStringLiteral("Values of the cell"));
    m_hint = new ElidedLabel(QStringLiteral("click to lock i, arrow keys to move it"), this);
    m_hint->setFont(smallFont());
    m_hint->setForegroundRole(QPalette::PlaceholderText);
    m_row->add(m_text, FoldingLayout::Role::Value);
    m_row->add(m_hint, FoldingLayout::Role::Note, true);
}

void CellFooter::addControl(QWidget* control) {
    m_hint->hide();
    m_row->add(control, FoldingLayout::Role::Control, true);
}

void CellFooter::addAnswer(QLabel* answer) {
    m_row->add(answer, FoldingLayout::Role::Answer, true);
}

void CellFooter::display(const ViewChoice& choice) {
    // With the layer and the map; the cell alone; its values alone.
    const QString whole = choice.footer(true);
    const QString cell = whole.mid(std::max<qsizetype>(0, whole.indexOf(QStringLiteral("i = "))));
    // Names are escaped: the first tag is that of the first value.
    const auto value = cell.lastIndexOf(kFooterDot, cell.indexOf(QStringLiteral("<b>")));
    m_text->setForms({whole, cell, value < 0 ? cell : cell.mid(value + kFooterDot.size())});
    m_text->setAccessibleDescription(choice.footer());
    m_text->setToolTip(plainTip(choice.footer()));  // half a window may not hold it all
}

MapFrame mapFrame(const ViewMaps& maps, const InspectorView& view, ViewMaps::Effort effort) {
    MapFrame frame{maps.values(view), maps.ends(view, effort), {}};
    frame.saturation = saturationText(view, frame.values);
    return frame;
}

MapKey::MapKey(const ViewMaps& maps, const InspectorView& view)
    : m_view(view), m_turned(maps.isTransposed(view)) {
    const auto origin = [&](MapKind kind, int index) -> std::shared_ptr<const void> {
        const RelationMap* map = maps.find(kind, view.layer, index);
        if (map && map->source) return map->source;
        return maps.shared();
    };
    const bool both = view.kind == MapKind::AttentionTimesRelation;
    m_map = origin(both ? MapKind::Relation : view.kind, view.index);
    if (both) m_head = origin(MapKind::RelationalAttention, view.head);
    // The rest moves the crosshair or chooses colours.
    m_view = InspectorView();
    m_view.kind = view.kind;
    m_view.layer = view.layer;
    m_view.index = view.index;
    m_view.head = both ? view.head : 0;
    m_view.processing = ViewMaps::processing(view);
    m_view.topK = m_view.processing == Processing::TopK ? view.topK : 0;
}

namespace {

/// Shows what stands along the rows and columns of a map.
void showTokens(MapView& map, const ViewMaps& maps, const InspectorView& view,
                const MapValues& values) {
    const ProbeResult& result = *maps.result();
    const int columns = maps.columnSide(view);
    map.setTokens(sideTokens(result, maps.rowSide(view), values.rows),
                  columns < 0 ? numberedTokens(values.columns, QStringLiteral("symbol"))
                              : sideTokens(result, columns, values.columns));
}

}  // namespace

void showMap(MapView& map, ColorBar& colors, const ViewMaps& maps, const InspectorView& view,
             MapValues values, const ScaleEnds& ends) {
    const ColorScale scale = maps.scale(view, ends.limits);
    showTokens(map, maps, view, values);
    map.setNumberDigits(3, ViewMaps::isSigned(view));
    map.setScale(scale);
    map.setValues(std::move(values));
    map.setCell(view.source, view.target);
    colors.setScale(scale);
    colors.setExtent(ends.extent);
    colors.setCaption(scaleCaption(maps, view));
}

MapPane::MapPane(const ViewChoice& choice, BackgroundWork& work, QWidget* parent)
    : Box(&Theme::panel, false, parent), m_choice(choice), m_work(work) {
    setMinimumWidth(200);
    setAccessibleName(QStringLiteral("Map with its colour scale"));
    auto* column = columnOf(this, {8, 2, 8, 4}, 2);
    m_head = new PanelHead({}, this);
    m_head->setLineBelow(false);
    m_head->setFixedHeight(26);
    m_head->layout()->setContentsMargins(8, 0, 0, 0);
    m_map = new MapView(this);
    // In the head, as the map needs all of the height.
    m_colors = new ColorBar(this);
    m_colors->setOneRow(true);
    m_colors->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_head->addControl(m_colors);
    auto* more = iconButton("more", QStringLiteral("Map: copy, save, palette"), m_head);
    m_menu = new ViewMenu(
        more, this, [this] { return m_choice.figureName(FigurePart::Map); },
        [this] { return m_choice.csv(); });
    m_choice.setFigure(*m_menu, FigurePart::Map);
    m_head->addControl(more);
    column->addWidget(m_head);
    auto* both = new QHBoxLayout;
    both->setSpacing(8);
    const auto titled = [&](MapView* map, const QString& title) {
        auto* box = new QWidget(this);
        auto* own = columnOf(box, {}, 2);
        auto* label = new ElidedLabel(title, box);
        label->setFont(captionFont());
        own->addWidget(label);
        own->addWidget(map, 1);
        both->addWidget(box, 1);
        return std::pair(box, label);
    };
    m_other = new MapView(this);
    m_other->setAccessibleName(QStringLiteral("Map that is compared with"));
    m_change = new MapView(this);
    m_change->setAccessibleName(QStringLiteral("B minus A"));
    std::tie(m_otherBox, m_otherTitle) = titled(m_other, {});
    m_mapTitle = titled(m_map, {}).second;
    m_changeBox = titled(m_change, QStringLiteral("B \u2212 A")).first;
    m_changeColors = new ColorBar(m_changeBox);
    m_changeColors->setOneRow(true);
    m_changeColors->setAccessibleName(QStringLiteral("Colour scale of B minus A"));
    m_changeColors->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_changeBox->layout()->addWidget(m_changeColors);
    for (QWidget* hidden : {m_otherBox, static_cast<QWidget*>(m_mapTitle), m_changeBox})
        hidden->hide();
    setTabOrder(m_other, m_map);  // from the left
    setTabOrder(m_map, m_change);
    column->addLayout(both, 1);
    // The cursor of one is that of the other, unless they are freed.
    connect(m_change, &MapView::hovered, m_map, &MapView::hovered);
    connect(m_change, &MapView::chosen, m_map, &MapView::chosen);
    connect(m_other, &MapView::hovered, this, [this](int row, int column) {
        if (!m_choice.freed())
            Q_EMIT m_map->hovered(m_choice.fromOther(row), m_choice.fromOther(column));
    });
    connect(m_other, &MapView::chosen, this, [this](int row, int column) {
        if (m_choice.freed()) return Q_EMIT otherCellChosen(row, column);
        const int i = m_choice.fromOther(row), j = m_choice.fromOther(column);
        if (i >= 0 && j >= 0) Q_EMIT m_map->chosen(i, j);
    });
    m_saturation = new QPushButton(this);
    m_saturation->setFont(smallFont());
    m_saturation->setToolTip(
        QStringLiteral("Most cells are within 1 % of an end of this transform, so their colours do "
                       "not tell them apart. Click to show the raw values."));
    m_saturation->hide();
    column->addWidget(m_saturation, 0, Qt::AlignHCenter);
    connect(m_saturation, &QPushButton::clicked, this, [this] {
        Q_EMIT viewRequested(m_choice.view().with(&InspectorView::processing, Processing::Raw));
    });

    m_slow.setSingleShot(true);
    m_slow.setInterval(150);
    connect(&m_slow, &QTimer::timeout, this, [this] {
        const bool late = m_otherShown != m_otherWanted;
        m_map->setOutdated(m_outdated || !current(), m_awaited || !current());
        m_other->setOutdated(m_outdated || late, m_awaited || late);
    });
    m_work.setLane(BackgroundWork::Map, [this] { return nextMap(); });
    m_work.setLane(BackgroundWork::Extents, [this] { return nextExtents(); });

    const auto pair = [this](const QStringList& names, bool InspectorView::*field) {
        m_menu->menu()->addSeparator();
        return addChoices(
            m_menu->menu(), names, m_choice.view().*field ? 1 : 0,
            [this, field](int entry) { Q_EMIT viewRequested(m_choice.view().with(field, entry)); });
    };
    m_ends = pair({QStringLiteral("Colours: smallest to largest"),
                   QStringLiteral("Colours: 2nd to 98th percentile")},
                  &InspectorView::robust);
    m_palettes = pair(
        {QStringLiteral("Colour-blind safe (green, purple)"), QStringLiteral("Paper (green, red)")},
        &InspectorView::paper);
}

namespace {

/// ms until a map can be shown: its values and the ends of its colours, estimated for large ones.
double timeOf(const ViewMaps& maps, const InspectorView& view) {
    return maps.valuesTime(view) + qMin(maps.scaleTime(view), 2 * kSmallWork);
}

}  // namespace

void MapPane::display() {
    const InspectorView& view = m_choice.view();
    const ViewMaps& maps = m_choice.maps();
    static const char* const shown[2][3] = {{"", ", before", ", change"},
                                            {"", ", A", ", B \xE2\x88\x92 A"}};
    const bool pinned = m_choice.inspected().pinned.result != nullptr;
    m_head->setTitle(
        mapTitle(maps, view) +
        QString::fromUtf8(shown[pinned ? 1 : 0][static_cast<std::size_t>(view.shown)]));
    m_ends->actions().at(view.robust ? 1 : 0)->setChecked(true);
    m_palettes->actions().at(view.paper ? 1 : 0)->setChecked(true);
    m_wanted = MapKey(maps, view);
    m_pending = m_otherPending = m_refine = false;
    if (maps.awaited(view.layer)) return showAbsence();
    // The values of a shown map are at hand: only its colours may have changed.
    if (m_work.immediate() || timeOf(maps, view) < kSmallWork)
        return show(mapFrame(maps, view, ViewMaps::Effort::Exact));
    if (current()) {
        showScale(maps.ends(view, ViewMaps::Effort::Quick));
        showOther();
        displayCell();
        return m_work.wake();
    }
    m_pending = true;
    if (!m_slow.isActive()) m_slow.start();
    m_work.wake();
}

std::optional<BackgroundWork::Job> MapPane::nextMap() {
    if (!m_pending) return nextOther();
    m_pending = false;
    auto frame = std::make_shared<MapFrame>();
    return BackgroundWork::Job{[frame, maps = m_choice.maps(), view = m_choice.view()] {
                                   *frame = mapFrame(maps, view, ViewMaps::Effort::Quick);
                               },
                               [this, frame, key = m_wanted] {
                                   if (key != m_wanted || m_pending)
                                       return;  // another map is wanted by now
                                   show(std::move(*frame));
                                   Q_EMIT displayed();
                               }};
}

std::optional<BackgroundWork::Job> MapPane::nextOther() {
    if (!m_otherPending) return std::nullopt;
    m_otherPending = false;
    auto frame = std::make_shared<MapFrame>();
    return BackgroundWork::Job{
        [frame, maps = m_choice.otherMaps(), view = m_choice.otherView()] {
            *frame = mapFrame(maps, view, ViewMaps::Effort::Quick);  // its ends are known then
        },
        [this, frame, key = m_otherWanted] {
            if (key != m_otherWanted || m_otherPending || m_pending || !current()) return;
            showOtherValues(std::move(frame->values));
            displayCell();
            Q_EMIT displayed();
        }};
}

/// The exact extents of all maps that share the scale.
std::optional<BackgroundWork::Job> MapPane::nextExtents() {
    if (!m_refine || m_choice.empty()) return std::nullopt;
    auto known = std::make_shared<bool>(false);
    const InspectorView view = m_choice.view();
    return BackgroundWork::Job{
        [known, maps = m_choice.maps(), view] { *known = maps.extendExtents(view, kPieceOfWork); },
        [this, known, key = m_wanted] {
            if (!*known || !m_refine || key != m_wanted || !current()) return;
            showScale(m_choice.maps().ends(m_choice.view()));
            showOneRange();
            displayCell();
            Q_EMIT scaleRefined();
        }};
}

void MapPane::show(MapFrame frame) {
    const InspectorView& view = m_choice.view();
    m_slow.stop();
    m_shown = m_wanted;
    m_head->setSubText(mapSubTitle(m_choice.maps(), view, frame.values));
    m_saturation->setText(frame.saturation + QStringLiteral(": show raw values"));
    m_saturation->setVisible(!frame.saturation.isEmpty());
    m_map->setNote({});
    m_map->setOutdated(m_outdated, m_awaited);
    m_colors->show();
    showMap(*m_map, *m_colors, m_choice.maps(), view, std::move(frame.values), frame.ends);
    m_refine = !frame.ends.exact;
    showOther();
    displayCell();
    if (m_refine) m_work.wake();
}

/// Shows that map of the other result, both in the same colours.
void MapPane::showOther() {
    const InspectorView& view = m_choice.view();
    const bool alone = m_choice.ofPinnedAlone(view.kind);
    const bool beside = view.beside && view.shown != Shown::Before && m_choice.compares() && !alone;
    m_otherBox->setVisible(beside);
    m_mapTitle->setVisible(beside || alone);
    m_otherPending = false;
    const bool three = beside && m_three && view.shown == Shown::After;
    m_changeBox->setVisible(three && m_choice.sameTokens() && m_choice.sameKind());
    if (alone)
        m_mapTitle->setText(QStringLiteral("A alone. B: ") +
                            absenceReason(m_choice.ownMaps(), view.kind));
    if (!beside) {
        m_otherShown = m_otherWanted = {};
        return m_other->setValues({});
    }
    const auto& pinned = m_choice.inspected().pinned;
    const InspectorView plain = m_choice.otherView();
    const ViewMaps& maps = m_choice.otherMaps();
    QString title =
        pinned.result ? QStringLiteral("A: ") + pinned.name : QStringLiteral("Before the edits");
    if (m_choice.apart())
        title += QStringLiteral(", %1, %2")
                     .arg(maps.layerName(plain.layer), mapTitle(maps, plain).toLower()) +
                 m_choice.apartNote();
    m_otherTitle->setText(title);
    m_otherTitle->setToolTip(title);
    static const char* const names[2][3] = {{"After the edits", "Before the edits", "Change"},
                                            {"B", "A", "B \xE2\x88\x92 A"}};
    QString own =
        QString::fromUtf8(names[pinned.result ? 1 : 0][static_cast<std::size_t>(view.shown)]);
    if (three && m_changeBox->isHidden())
        own += m_choice.sameKind()
                   ? QStringLiteral(" (no B \u2212 A: the tokens of the two differ)")
                   : QStringLiteral(" (no B \u2212 A: the maps are of two kinds)");
    m_mapTitle->setText(own);
    m_mapTitle->setToolTip(own);
    m_otherWanted = MapKey(maps, plain);
    if (m_otherShown == m_otherWanted) return showOneRange();
    if (m_work.immediate() || timeOf(maps, plain) < kSmallWork)
        return showOtherValues(maps.values(plain));
    // Until it is computed the map before it stays.
    if (m_other->values().empty()) m_other->setNote(QStringLiteral("Computing the map"));
    m_otherPending = true;
    if (!m_slow.isActive()) m_slow.start();
    m_work.wake();
}

void MapPane::showOtherValues(MapValues values) {
    const InspectorView plain = m_choice.otherView();
    const ViewMaps& maps = m_choice.otherMaps();
    m_otherShown = m_otherWanted;
    m_other->setOutdated(m_outdated, m_awaited);
    showTokens(*m_other, maps, plain, values);
    m_other->setNumberDigits(3, ViewMaps::isSigned(plain));
    const QString absent = m_three ? absenceReason(maps, plain.kind) : QString();
    m_other->setNote(!values.empty()               ? QString()
                     : m_three && absent.isEmpty() ? QStringLiteral("A has no such layer or head")
                     : absent.isEmpty() ? QStringLiteral("The pinned picture has no such map")
                                        : QStringLiteral("A: ") + absent);
    m_other->setValues(std::move(values));
    showOneRange();
}

void MapPane::setOutdated(bool on, bool awaited) {
    m_outdated = on;
    m_awaited = awaited;
    for (MapView* map : {m_map, m_other, m_change}) map->setOutdated(on, awaited);
}

void MapPane::setThree(bool on) {
    m_three = on;
    setMinimumSize(on ? QSize(440, 300) : QSize(200, 0));  // cells can be told apart
    if (!m_choice.empty()) display();
}

/// What differs between the two that are shown, in the colours of their range around 0.
void MapPane::showChange(const ColorScale& shown) {
    if (m_changeBox->isHidden()) return;
    const MapValues &now = m_map->values(), &other = m_other->values();
    if (now.empty() || now.rows != other.rows || now.columns != other.columns) {
        m_change->setValues({});
        return m_change->setNote(QStringLiteral("A and B have no map of the same objects here"));
    }
    MapValues change = now;
    for (std::size_t k = 0; k < change.values.size(); ++k) change.values[k] -= other.values[k];
    const Limits limits = shown.limits();
    const float most = qMax(qAbs(limits.low), qAbs(limits.high));
    m_change->setNote({});
    showTokens(*m_change, m_choice.maps(), m_choice.view(), change);
    m_change->setNumberDigits(3, true);
    const ColorScale scale(shown.kind() == ColorScale::Kind::Paper ? ColorScale::Kind::Paper
                                                                   : ColorScale::Kind::Signed,
                           {-most, most}, Theme::current());
    m_change->setScale(scale);
    m_changeColors->setScale(scale);
    m_change->setValues(std::move(change));
    m_change->setCell(m_choice.row(), m_choice.column());
}

/// Gives both maps the same colours, once both are there; a difference and another kind have their
/// own.
void MapPane::showOneRange() {
    const InspectorView& view = m_choice.view();
    if (m_otherBox->isHidden() || m_otherShown != m_otherWanted) return;
    const InspectorView plain = m_choice.otherView();
    const ViewMaps& maps = m_choice.otherMaps();
    if (view.shown == Shown::Difference || !m_choice.sameKind())
        return m_other->setScale(maps.scale(plain, ViewMaps::Effort::Quick));
    const Limits own = m_choice.maps().ends(view, ViewMaps::Effort::Quick).limits;
    const Limits other = maps.ends(plain, ViewMaps::Effort::Quick).limits;
    const ColorScale scale =
        maps.scale(view, {qMin(own.low, other.low), qMax(own.high, other.high)});
    for (MapView* map : {m_map, m_other}) map->setScale(scale);
    m_colors->setScale(scale);
    showChange(scale);
}

void MapPane::showScale(const ScaleEnds& ends) {
    const InspectorView& view = m_choice.view();
    const ColorScale scale = m_choice.maps().scale(view, ends.limits);
    m_map->setScale(scale);
    m_colors->setScale(scale);
    m_colors->setExtent(ends.extent);
    m_colors->setCaption(scaleCaption(m_choice.maps(), view));
    m_refine = !ends.exact;
}

/// The forward pass has not reached the layer yet.
void MapPane::showAbsence() {
    m_slow.stop();
    m_shown = m_wanted;
    m_head->setSubText({});
    m_saturation->hide();
    m_colors->hide();
    m_otherBox->hide();
    m_otherShown = m_otherWanted = {};
    m_map->setOutdated(false);
    m_map->setValues({});
    m_map->setNote(computingText(m_choice.maps()));
}

void MapPane::displayCell() {
    const InspectorView& view = m_choice.view();
    const int i = m_choice.row(), j = m_choice.column();
    m_map->setCell(view.source, view.target);
    m_map->setPreview(m_choice.pointing() ? i : -1, m_choice.pointing() ? j : -1);
    if (!m_otherBox->isHidden()) {
        const InspectorView other = m_choice.otherView();
        const bool follows = m_choice.pointing() && !m_choice.freed();
        // What A lacks of the cell at the pointer is not shown of the locked one.
        const int row = follows ? m_choice.toOther(i) : -1,
                  column = follows ? m_choice.toOther(j) : -1;
        m_other->setCell(follows ? row : other.source, follows ? column : other.target);
        m_other->setPreview(row, column);
    }
    if (!m_changeBox->isHidden()) {
        m_change->setCell(view.source, view.target);
        m_change->setPreview(m_choice.pointing() ? i : -1, m_choice.pointing() ? j : -1);
    }
    const MapValues& values = m_map->values();
    const bool inside =
        i >= 0 && j >= 0 && i < values.rows && j < values.columns && !values.masked(i, j);
    m_colors->setMark(inside ? values.at(i, j) : std::numeric_limits<float>::quiet_NaN());
}

bool MapPane::objectsSend() const {
    const ViewMaps& maps = m_choice.maps();
    const InspectorView& view = m_choice.view();
    const int columns = maps.columnSide(view);
    const RelationMap* map = maps.find(storedKind(view.kind), view.layer, view.index);
    return columns >= 0 && map &&
           (maps.isTransposed(view) ? map->rows : map->columns) == maps.objects(columns);
}

}  // namespace relascope::widgets
