// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/relation_inspector.h"

#include <QApplication>
#include <QDragEnterEvent>
#include <QEvent>
#include <QMimeData>
#include <QPointer>
#include <QSplitter>
#include <QStackedLayout>
#include <QUrl>
#include <QVBoxLayout>
#include <utility>

#include "widgets/export/export.h"
#include "widgets/inspector/find_bar.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/why_panel.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kLongText = 100;    ///< tokens above which a text is laid across the pane
constexpr int kHighPane = 560;    ///< px for a text above maps
constexpr int kWideSource = 480;  ///< px for the controls of the source in a row

}  // namespace

RelationInspector::RelationInspector(QWidget* parent) : QWidget(parent) {
    setAcceptDrops(true);
    setAccessibleName(QStringLiteral("Relation inspector"));
    auto* column = columnOf(this);
    m_bar = new InspectorBar(this);
    column->addWidget(m_bar);
    auto* below = new QWidget(this);
    m_stack = new QStackedLayout(below);
    column->addWidget(below, 1);

    auto* empty = new Box(&Theme::panel, false, below);
    auto* emptyColumn = new QVBoxLayout(empty);
    m_empty = new EmptyState(
        QStringLiteral("Nothing to inspect yet: start a run or open a checkpoint."), {}, empty);
    emptyColumn->addWidget(m_empty);
    m_stack->addWidget(empty);

    auto* content = new QWidget(below);
    auto* contentColumn = columnOf(content);
    m_outer = new QSplitter(Qt::Vertical, content);
    m_outer->setChildrenCollapsible(false);
    m_splitter = new QSplitter(Qt::Horizontal, m_outer);
    m_splitter->setChildrenCollapsible(false);
    auto* source = new Box(&Theme::panel, false, m_splitter);
    m_sourceBox = source;
    auto* sourceColumn = new QVBoxLayout(source);
    sourceColumn->setContentsMargins(0, 0, 0, 0);
    m_source = new SourcePane(source);
    sourceColumn->addWidget(m_source);
    m_map = new MapPane(m_choice, m_work, m_splitter);
    m_small = new SmallMaps(m_choice, m_work, m_splitter);
    for (const auto& [pane, stretch] : std::initializer_list<std::pair<QWidget*, int>>{
             {source, 26}, {m_map, 37}, {m_small, 37}}) {
        m_splitter->addWidget(pane);
        m_splitter->setStretchFactor(m_splitter->indexOf(pane), stretch);
    }
    m_why = new WhyPanel(m_splitter);
    m_splitter->addWidget(m_why);
    m_why->hide();
    m_splitter->setSizes({270, 350, 350, 0});
    contentColumn->addWidget(m_outer, 1);
    m_footer = new CellFooter(this);
    contentColumn->addWidget(m_footer);
    m_stack->addWidget(content);

    connectPanes();
    m_bar->display(m_choice.maps(), view());
}

RelationInspector::~RelationInspector() {
    delete m_outer;  // the panes look into the choice until they are gone
}

void RelationInspector::setBackground(const Background& background) {
    m_work.setExecutor(background);
    for (ViewMenu* menu : findChildren<ViewMenu*>())
        menu->background = [menu, background](std::function<void()> work,
                                              std::function<void()> done) {
            background(menu, std::move(work), std::move(done));
        };
}

void RelationInspector::connectPanes() {
    connect(m_bar, &InspectorBar::changed, this, &RelationInspector::choose);
    connect(m_bar, &InspectorBar::readingToggled, this, &RelationInspector::toggleReading);
    connect(m_source->find(), &FindBar::changed, this, &RelationInspector::showMatches);
    connect(m_source->find(), &FindBar::tokenChosen, this,
            [this](int token) { choose(m_choice.ofCell(token, view().target)); });
    connect(m_map, &MapPane::viewRequested, this, &RelationInspector::choose);
    connect(m_map, &MapPane::otherCellChosen, this, [this](int i, int j) {
        auto other = m_choice.otherView();
        other.source = i, other.target = j;
        m_choice.setApart(other, true);
        displayCell();
    });
    connect(m_map, &MapPane::displayed, this, &RelationInspector::tintSource);
    connect(m_map, &MapPane::scaleRefined, this, [this] {
        tintSource();
        m_small->recolour();
    });
    connect(m_small, &SmallMaps::viewRequested, this, &RelationInspector::choose);
    connect(m_small, &SmallMaps::mapChosen, this, [this](const MapId& map) {
        choose(m_choice.ofMap(map.kind, map.index).with(&InspectorView::layer, map.layer));
    });
    connect(m_empty, &EmptyState::activated, this, &RelationInspector::emptyStateActivated);
    m_choice.setFigure(*m_source->menu(), FigurePart::Source);
    m_source->setFigureName([this] { return m_choice.figureName(FigurePart::Source); });
    for (ViewMenu* menu : {m_source->menu(), m_map->menu(), m_small->menu()}) {
        connect(menu, &ViewMenu::saved, this, &RelationInspector::exported);
        connect(menu, &ViewMenu::failed, this, &RelationInspector::exportFailed);
    }
    connect(m_map->map(), &MapView::menuRequested, this, &RelationInspector::cellMenuRequested);
    connect(m_map->map(), &MapView::cellDragged, this, &RelationInspector::cellDragged);
    connect(m_map->map(), &MapView::cellDropped, this, &RelationInspector::cellDropped);
    connect(m_map->map(), &MapView::compared, this, &RelationInspector::cellCompared);
    connect(m_why, &WhyPanel::tinted, this, [this](const std::vector<float>& values) {
        if (values == m_sourceTint) return;
        m_sourceTint = values;
        tintSource();
    });
    connect(m_small->multiples(), &MapStrip::menuRequested, this,
            [this](const MapId&, const QPoint& at) { Q_EMIT mapMenuRequested(at); });
    connect(m_source, &SourcePane::menuRequested, this, [this](const QPoint& at) {
        const int pointed = m_choice.pointedColumn();
        const bool objects = m_choice.maps().columnSide(view()) >= 0;
        if (objects) Q_EMIT objectMenuRequested(pointed >= 0 ? pointed : view().source, at);
    });
    connect(m_map->map(), &MapView::hovered, this, &RelationInspector::pointFromMap);
    connect(m_map->map(), &MapView::chosen, this,
            [this](int row, int column) { choose(m_choice.ofCell(row, column)); });
    const SourceObjects* objects = m_source->objects();
    // The cross of the map follows the pointer in the source. The other side is the chosen one, so
    // the cell is updated whenever the choice changes.
    connect(objects, &SourceObjects::hovered, this, [this](int token) {
        m_choice.point(-1, m_map->objectsSend() ? token : -1);
        displayCell();
    });
    connect(objects, &SourceObjects::rowHovered, this, [this](int token) {
        m_choice.point(token, -1);
        tintSource();
        displayCell();
    });
    connect(objects, &SourceObjects::sourceChosen, this, [this](int token) {
        m_choice.point(-1, m_choice.pointedColumn());
        choose(m_choice.ofCell(token, view().target));
    });
    connect(objects, &SourceObjects::targetChosen, this,
            [this](int token) { choose(m_choice.ofCell(view().source, token)); });
}

void RelationInspector::setInspected(Inspected inspected) {
    // What is pinned stays until it is unpinned, or another is given.
    if (!inspected.pinned.result) inspected.pinned = m_choice.inspected().pinned;
    m_choice.setInspected(std::move(inspected));
    m_map->setOutdated(false);
    if (!m_linked && m_choice.compares() && !m_choice.freed())
        m_choice.setApart(m_choice.otherView(), true);
    m_stack->setCurrentIndex(m_choice.empty() ? 0 : 1);
    displayEverything();
    if (!m_awaitedRelation.empty()) showFitted(m_awaitedRelation);
}

void RelationInspector::displayEverything() {
    displayStep();
    displayBar();
    if (m_choice.empty()) return;
    m_source->setResult(*m_choice.inspected().result, m_choice.inspected().other().get());
    setSides();
    arrangeReading();
    arrangePanes();
    m_map->display();
    tintSource();
    m_small->display();
    m_footer->display(m_choice);
    Q_EMIT displayed();
}

void RelationInspector::setView(const InspectorView& view) {
    if (m_choice.empty())
        m_choice.setView(view);
    else
        display(view);
}

void RelationInspector::choose(const InspectorView& request) {
    m_awaitedRelation.clear();
    if (m_choice.empty()) return;
    const InspectorView next = m_choice.granted(request);
    // The state of a control may have to be reset.
    if (next == view()) return displayBar();
    display(next);
    Q_EMIT viewChanged(view());
}

void RelationInspector::display(const InspectorView& next) {
    const InspectorView before = view();
    m_choice.setView(next);
    // Only what differs is updated: moving i or j must not recompute colours.
    InspectorView cell = view();
    cell.source = before.source;
    cell.target = before.target;
    if (cell == before) {
        tintSource();
        displayCell();
        return Q_EMIT displayed();
    }
    displayBar();
    if (cell.reading != before.reading) arrangeReading();
    if (cell.layer != before.layer || cell.kind != before.kind || cell.index != before.index ||
        cell.shown != before.shown)
        setSides();
    m_small->displayAfter(before);
    m_map->display();
    tintSource();
    m_footer->display(m_choice);
    Q_EMIT displayed();
}

void RelationInspector::displayBar() {
    m_bar->display(m_choice.maps(), view());
    if (pinned()) m_bar->offerKinds(m_choice.ownMaps(), m_choice.otherMaps());
    m_bar->setCompared(m_choice.compares(), pinned(), view(), m_choice.whyNoDifference());
}

void RelationInspector::displayCell() {
    m_map->displayCell();
    m_footer->display(m_choice);
}

void RelationInspector::displayStep() {
    m_bar->setStepText(m_subText.isEmpty() && result()
                           ? QStringLiteral("step ") + groupedNumber(result()->step)
                           : m_subText);
}

void RelationInspector::setSides() {
    m_source->setSides(*result(), m_choice.maps().rowSide(view()),
                       m_choice.maps().columnSide(view()));
}

void RelationInspector::tintSource() {
    if (m_choice.empty()) return;
    const ViewMaps& maps = m_choice.maps();
    const MapValues& values = m_map->map()->values();
    const int i = m_choice.row();
    const bool sends = m_map->objectsSend() && i >= 0;
    MapValues::Row row;
    if (sends && m_map->current())
        row = i < values.rows ? values.row(i) : MapValues::Row();
    else if (sends)  // one row is at hand before all of the map is
        row = maps.row(view(), i, ViewMaps::Effort::Quick);
    const bool inside = !row.values.empty();
    SourceObjects* objects = m_source->objects();
    const auto objectsHere = static_cast<std::size_t>(values.columns);
    if (m_whyShown && sends && !m_sourceTint.empty() && m_sourceTint.size() == objectsHere) {
        float most = 0.0F;
        for (const float value : m_sourceTint) most = std::max(most, std::abs(value));
        objects->setTint(m_sourceTint, {},
                         ColorScale(ColorScale::Kind::Signed, {-most, most}, Theme::current()),
                         true);
    } else if (inside || m_map->current())  // without a row the colours stay until the map is there
        objects->setTint(std::move(row.values), std::move(row.masked),
                         maps.scale(view(), ViewMaps::Effort::Quick), ViewMaps::isSigned(view()));
    objects->setChoice(i, inside ? view().target : -1, inside ? m_choice.pointedColumn() : -1);
}

/// The source follows the pointer in the map.
void RelationInspector::pointFromMap(int row, int column) {
    const int before = m_choice.row();
    if (!m_choice.point(row, column)) return;
    if (m_choice.row() != before)
        tintSource();
    else
        m_source->objects()->setPreview(m_map->objectsSend() ? column : -1);
    displayCell();
}

bool RelationInspector::showsText() const {
    return !m_choice.empty() && m_source->showsText();
}

/// A text of hundreds of tokens needs lines, not a column: it is laid across the pane above the
/// maps, or over half of a pane that is too low for that.
void RelationInspector::arrangeReading() {
    const ReadingLayout wanted = view().reading;
    const bool longText = m_source->objects()->strip()->size() > kLongText;
    const bool reading = showsText() && (wanted == ReadingLayout::On ||
                                         (wanted == ReadingLayout::Automatic && longText));
    m_bar->setReading(showsText(), reading);
    if (std::exchange(m_text, showsText()) != showsText()) Q_EMIT textShown();
    // A pane that is dragged to a height near the limit must not go to and fro.
    const int limit = kHighPane - (m_across ? 30 : 0);
    const bool across = reading && m_outer->height() >= limit;
    if (reading == m_reading && across == m_across) return;
    if (!m_reading) m_beside = m_splitter->saveState();
    m_reading = reading;
    m_across = across;
    // Putting a pane elsewhere takes the keyboard from the text that is being typed in it.
    const QPointer<QWidget> typing = m_sourceBox->isAncestorOf(QApplication::focusWidget())
                                         ? QApplication::focusWidget()
                                         : nullptr;
    placeSmallMaps();
    if (across) {
        m_outer->insertWidget(0, m_sourceBox);
        const int high = m_outer->height(), wide = m_splitter->width();
        m_outer->setSizes({high * 45 / 100, high * 55 / 100});
        if (m_compact) m_splitter->setSizes({wide * 45 / 100, wide * 55 / 100});
    } else {
        m_splitter->insertWidget(0, m_sourceBox);
        m_outer->setSizes({m_compact ? 370 : 1, 200});
        const int wide = m_splitter->width();
        if (reading)
            m_splitter->setSizes({wide * 46 / 100, wide * 27 / 100, wide * 27 / 100});
        else
            m_splitter->restoreState(m_beside);
    }
    const int room = across ? width() : width() * (m_compact ? 62 : 46) / 100;
    m_source->setReading(reading && room >= kWideSource, across && !m_compact);
    if (typing) typing->setFocus(Qt::OtherFocusReason);
}

void RelationInspector::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (m_reading) arrangeReading();
    arrangePanes();
}

void RelationInspector::setMapFirst() {
    m_mapFirst = true;
    m_bar->setTitled(false);
    connect(m_splitter, &QSplitter::splitterMoved, this,
            [this] { (m_whyShown ? m_ownWhy : m_ownPanes) = true; });
    arrangePanes();
}

void RelationInspector::setFilled(bool on) {
    m_filled = on;
    arrangePanes();
}

/// A map is as wide as it is high. What is left is the source's, and then the small maps'.
void RelationInspector::arrangePanes() {
    constexpr int mapHead = 68, mapSide = 76;  // px of the map pane besides the cells
    // px of the source besides the image, with the class token beside it or below.
    constexpr int sourceHead = 90, sourceSide = 160, narrowSide = -8;
    constexpr int leastSmall = 170, mostSmall = 380;
    if (!m_mapFirst || m_compact || m_choice.empty()) return;
    const int wide = m_splitter->width() - 2 * m_splitter->handleWidth();
    const int high = m_across ? m_outer->height() * 55 / 100 : m_splitter->height();
    const bool image = m_source->objects()->image();
    const int map = qMin(high - mapHead + mapSide, wide - m_source->minimumWidth());
    int source = m_across ? 0
                 : image  ? qMax(m_source->minimumWidth(), high - sourceHead + sourceSide)
                          : qMax(m_source->minimumWidth(), wide * 3 / 10);
    const int narrow = qMax(m_source->minimumWidth(), high - sourceHead + narrowSide);
    if (image && !m_filled && wide - map - source < leastSmall && wide - map - narrow >= leastSmall)
        source = narrow;
    source = qMin(source, wide - map);
    const bool compared = m_choice.compares() && view().beside;
    int small = wide - map - source;
    const bool shown = !m_filled && small >= leastSmall;
    m_small->setVisible(shown && !m_whyShown);
    m_bar->setMapsOffered(!shown || m_whyShown);
    if (m_whyShown) return m_ownWhy ? void() : giveWhyRoom(qMin(narrow, source), map);
    if (m_ownPanes || m_reading) return;
    if (compared) small = qMin(small, leastSmall);
    small = shown ? qMin(small, mostSmall) : 0;
    m_splitter->setSizes({source, wide - source - small, small});
}

/// The panel takes what the map can spare, and of a narrow window what it needs.
void RelationInspector::giveWhyRoom(int source, int map) {
    constexpr int leastWhy = 350, mostWhy = 560, leastMap = 300;
    const int wide = m_splitter->width() - 2 * m_splitter->handleWidth();
    if (m_across) source = 0;
    const int why = qBound(leastWhy, wide - source - map, mostWhy);
    if (wide - source - why < leastMap && !m_across)
        source = qMax(m_source->minimumWidth(), wide - why - leastMap);
    QList<int> sizes;
    for (int k = 0; k < m_splitter->count(); ++k) {
        const auto* pane = m_splitter->widget(k);
        sizes << (pane == m_sourceBox ? source
                  : pane == m_map     ? wide - source - why
                  : pane == m_why     ? why
                                      : 0);
    }
    m_splitter->setSizes(sizes);
}

void RelationInspector::setWhyShown(bool shown) {
    if (shown == m_whyShown) return;
    if (shown) m_withoutWhy = m_splitter->saveState();
    m_whyShown = shown;
    m_ownWhy = false;
    m_why->setVisible(shown);
    if (!m_mapFirst) m_small->setVisible(!shown);
    if (!shown) {
        m_sourceTint.clear();
        if (!m_mapFirst || m_ownPanes) m_splitter->restoreState(m_withoutWhy);
    } else if (m_compact && !m_across) {
        const int high = m_outer->height();
        m_outer->setSizes({high / 2, 0, high / 2});
    }
    arrangePanes();
    tintSource();
}

QByteArray RelationInspector::panesState() const {
    if (m_mapFirst && !m_ownPanes) return {};
    if (m_whyShown && !m_reading) return m_withoutWhy;
    return m_reading ? m_beside : m_splitter->saveState();
}

void RelationInspector::restorePanes(const QByteArray& state) {
    if (m_reading)
        m_beside = state;
    else
        m_ownPanes = m_splitter->restoreState(state) && m_mapFirst;
}

void RelationInspector::toggleReading() {
    if (!showsText()) return;
    choose(
        view().with(&InspectorView::reading, m_reading ? ReadingLayout::Off : ReadingLayout::On));
}

void RelationInspector::toggleAllLayers() {
    choose(view().with(&InspectorView::allLayers, !view().allLayers));
}

void RelationInspector::pin(const QString& name) {
    const auto& shown = m_choice.inspected();
    if (!shown.result || shown.result->partial) return;
    const QString words =
        shown.words.isEmpty() ? QString() : QStringLiteral(", edited: ") + shown.words;
    auto view = m_choice.describe ? m_choice.describe() : std::nullopt;
    m_choice.pin({shown.result, name + words, nullptr, std::move(view)});
    displayEverything();
    Q_EMIT pinChanged();
}

void RelationInspector::unpin() {
    if (!pinned()) return;
    m_choice.pin({});
    if (!m_choice.empty()) displayEverything();
    Q_EMIT pinChanged();
}

void RelationInspector::setThree() {
    m_map->setThree(true);
    m_splitter->setSizes({250, 520, 230});
    for (const auto& [pane, stretch] : std::initializer_list<std::pair<QWidget*, int>>{
             {m_sourceBox, 25}, {m_map, 52}, {m_small, 23}})
        m_splitter->setStretchFactor(m_splitter->indexOf(pane), stretch);
}

void RelationInspector::setLinked(bool on) {
    m_linked = on;
    if (!m_choice.compares() || on == !m_choice.freed()) return;
    if (on)
        m_choice.join();
    else
        m_choice.setApart(m_choice.otherView(), true);
    m_map->display();
    m_footer->display(m_choice);
}

void RelationInspector::setPartner(const std::optional<MapId>& map, const QString& note) {
    const bool freed = m_choice.freed();
    if (!m_choice.compares() || (!map && (freed || !m_choice.apart()))) return;
    auto other = m_choice.otherView();
    if (map) other.kind = map->kind, other.layer = map->layer, other.index = map->index;
    map ? m_choice.setApart(other, freed, note) : m_choice.join();
    m_map->display();
    m_footer->display(m_choice);
}

void RelationInspector::toggleBeside() {
    choose(view().with(&InspectorView::beside, !view().beside));
}

void RelationInspector::findToken() {
    if (showsText()) m_source->find()->open();
}

void RelationInspector::findNext(bool forward) {
    if (showsText()) m_source->find()->step(forward);
}

void RelationInspector::showWholeMap() {
    m_map->map()->resetZoom();
}

/// Matches of the search are pointed out in the text and on the axes of the map.
void RelationInspector::showMatches() {
    const FindBar* find = m_source->find();
    m_source->objects()->strip()->setMatches(find->matches(), find->current());
    std::vector<int> tokens;
    for (const TokenRange& match : find->matches())
        for (int k = match.first; k <= match.second; ++k) tokens.push_back(k);
    m_map->map()->setMarks(std::move(tokens));
}

void RelationInspector::setCompact(bool compact) {
    m_compact = compact;
    updateGeometry();
    m_bar->setCompact(compact);
    placeSmallMaps();
    m_outer->setSizes({compact ? 370 : 1, 200});
    m_footer->setHintShown(!compact);
}

/// Beside the map; in a narrow pane below it, unless the text already takes the place above.
void RelationInspector::placeSmallMaps() {
    for (QWidget* pane : {static_cast<QWidget*>(m_small), static_cast<QWidget*>(m_why)})
        (m_compact && !m_across ? m_outer : m_splitter)->addWidget(pane);
}

void RelationInspector::setEmptyState(const QString& sentence, const QString& button) {
    m_empty->setSentence(sentence);
    m_empty->setButtonText(button);
}
void RelationInspector::setSubText(const QString& text) {
    m_subText = text;
    displayStep();
}
void RelationInspector::showMap(MapKind kind, int layer, int index) {
    InspectorView wanted = view();
    wanted.kind = kind, wanted.layer = layer, wanted.index = index;
    choose(wanted);
}

void RelationInspector::showFitted(const std::string& file) {
    m_awaitedRelation = file;
    const auto* result = m_choice.ownMaps().result();
    if (!result) return;
    for (const auto& map : result->maps)
        if (map.fitted == file) return showMap(map.kind, map.layer, map.index);
}

void RelationInspector::showCell(MapKind kind, int layer, int index, int i, int j) {
    InspectorView wanted = view();
    wanted.kind = kind, wanted.layer = layer, wanted.index = index;
    wanted.source = i, wanted.target = j;
    wanted.reversed = false;
    choose(wanted);
}

void RelationInspector::setKindByNumber(int number) {
    if (const auto request = m_choice.ofKind(number)) choose(*request);
}

void RelationInspector::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_choice.empty()) displayEverything();
}

void RelationInspector::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}
void RelationInspector::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) {
            event->acceptProposedAction();
            if (event->modifiers() & Qt::ShiftModifier)
                Q_EMIT secondDropped(url.toLocalFile());
            else
                Q_EMIT imageDropped(url.toLocalFile());
            return;
        }
}

}  // namespace relascope::widgets
