// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/relation_inspector.h"

#include <QDragEnterEvent>
#include <QEvent>
#include <QMimeData>
#include <QSplitter>
#include <QStackedLayout>
#include <QUrl>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/inspector/cell_footer.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_objects.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

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
    auto* sourceColumn = new QVBoxLayout(source);
    sourceColumn->setContentsMargins(0, 0, 0, 0);
    m_source = new SourcePane(source);
    sourceColumn->addWidget(m_source);
    m_map = new MapPane(m_choice, m_splitter);
    m_small = new SmallMaps(m_choice, m_splitter);
    for (const auto& [pane, stretch] : std::initializer_list<std::pair<QWidget*, int>>{
             {source, 26}, {m_map, 37}, {m_small, 37}}) {
        m_splitter->addWidget(pane);
        m_splitter->setStretchFactor(m_splitter->indexOf(pane), stretch);
    }
    m_splitter->setSizes({270, 350, 350});
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

void RelationInspector::connectPanes() {
    connect(m_bar, &InspectorBar::changed, this, &RelationInspector::choose);
    connect(m_map, &MapPane::viewRequested, this, &RelationInspector::choose);
    connect(m_small, &SmallMaps::viewRequested, this, &RelationInspector::choose);
    connect(m_small->multiples(), &MultiplesView::chosen, this,
            [this](MapKind kind, int index) { choose(m_choice.ofMap(kind, index)); });
    connect(m_empty, &EmptyState::activated, this, &RelationInspector::emptyStateActivated);
    m_choice.setFigure(*m_source->menu(), FigurePart::Source);
    m_source->setFigureName([this] { return m_choice.figureName(FigurePart::Source); });
    for (ViewMenu* menu : {m_source->menu(), m_map->menu(), m_small->menu()}) {
        connect(menu, &ViewMenu::saved, this, &RelationInspector::exported);
        connect(menu, &ViewMenu::failed, this, &RelationInspector::exportFailed);
    }
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

void RelationInspector::setResult(std::shared_ptr<const ProbeResult> result) {
    m_choice.setResult(std::move(result));
    m_stack->setCurrentIndex(m_choice.empty() ? 0 : 1);
    displayEverything();
}

void RelationInspector::displayEverything() {
    displayStep();
    m_bar->display(m_choice.maps(), view());
    if (m_choice.empty()) return;
    m_source->setResult(*result());
    setSides();
    m_map->display();
    tintSource();
    m_small->display();
    m_footer->display(m_choice);
}

void RelationInspector::setView(const InspectorView& view) {
    if (m_choice.empty())
        m_choice.setView(view);
    else
        display(view);
}

void RelationInspector::choose(const InspectorView& request) {
    if (m_choice.empty()) return;
    const InspectorView next = m_choice.granted(request);
    // The state of a control may have to be reset.
    if (next == view()) return m_bar->display(m_choice.maps(), view());
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
        return displayCell();
    }
    m_bar->display(m_choice.maps(), view());
    if (cell.layer != before.layer || cell.kind != before.kind || cell.index != before.index)
        setSides();
    m_small->displayAfter(before);
    m_map->display();
    tintSource();
    m_footer->display(m_choice);
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
    const MapValues& values = m_map->map()->values();
    const int i = m_choice.row();
    const bool inside = m_map->objectsSend() && i >= 0 && i < values.rows;
    auto [row, masked] = inside ? values.row(i) : MapValues::Row();
    SourceObjects* objects = m_source->objects();
    objects->setTint(std::move(row), std::move(masked), m_choice.maps().scale(view()),
                     ViewMaps::isSigned(view()));
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

void RelationInspector::setCompact(bool compact) {
    m_compact = compact;
    updateGeometry();
    m_bar->setCompact(compact);
    (compact ? m_outer : m_splitter)->addWidget(m_small);
    m_outer->setSizes({compact ? 370 : 1, 200});
    m_footer->setHintShown(!compact);
}

void RelationInspector::setEmptyState(const QString& sentence, const QString& button) {
    m_empty->setSentence(sentence);
    m_empty->setButtonText(button);
}
void RelationInspector::setSubText(const QString& text) {
    m_subText = text;
    displayStep();
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
            Q_EMIT imageDropped(url.toLocalFile());
            return;
        }
}

}  // namespace relascope::widgets
