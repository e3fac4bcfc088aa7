// SPDX-License-Identifier: GPL-3.0-or-later
// How the inspector is put together; what its parts show is in relation_inspector.cpp.
#include <QActionGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/words.h"
#include "widgets/maps/color_bar.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

/// A plain box in a colour of the theme that follows theme changes.
class Box : public QWidget {
public:
    Box(QColor Theme::*fill, bool lineAbove, QWidget* parent)
        : QWidget(parent), m_fill(fill), m_line(lineAbove) {}

protected:
    void paintEvent(QPaintEvent* event) override {
        QPainter painter(this);
        painter.fillRect(event->rect(), Theme::current().*m_fill);
        if (m_line) painter.fillRect(QRect(0, 0, width(), 1), Theme::current().border);
    }

private:
    QColor Theme::*m_fill;
    bool m_line;
};

}  // namespace

RelationInspector::RelationInspector(QWidget* parent) : QWidget(parent) {
    setAcceptDrops(true);
    setAccessibleName(QStringLiteral("Relation inspector"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
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
    auto* contentColumn = new QVBoxLayout(content);
    contentColumn->setContentsMargins(0, 0, 0, 0);
    contentColumn->setSpacing(0);
    m_outer = new QSplitter(Qt::Vertical, content);
    m_outer->setChildrenCollapsible(false);
    m_splitter = new QSplitter(Qt::Horizontal, m_outer);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(makeSource());
    m_splitter->addWidget(makeMap());
    m_splitter->addWidget(makeMultiples());
    m_splitter->setStretchFactor(0, 26);
    m_splitter->setStretchFactor(1, 37);
    m_splitter->setStretchFactor(2, 37);
    m_splitter->setSizes({270, 350, 350});
    contentColumn->addWidget(m_outer, 1);
    contentColumn->addWidget(makeFooter());
    m_stack->addWidget(content);

    connectPanes();
    fillMenus();
    m_bar->display(m_maps, m_view);
}

QWidget* RelationInspector::makeSource() {
    auto* pane = new Box(&Theme::panel, false, m_splitter);
    auto* column = new QVBoxLayout(pane);
    column->setContentsMargins(0, 0, 0, 0);
    m_source = new SourcePane(pane);
    m_source->menu()->figure = [this] {
        return makeFigure(m_maps, m_view, FigurePart::Source, m_run);
    };
    m_source->setFigureName(
        [this] { return relascope::figureName(m_maps, m_view, FigurePart::Source, m_run); });
    column->addWidget(m_source);
    return pane;
}

QWidget* RelationInspector::makeMap() {
    auto* pane = new Box(&Theme::panel, false, m_splitter);
    pane->setMinimumWidth(200);
    auto* column = new QVBoxLayout(pane);
    column->setContentsMargins(8, 2, 8, 8);
    column->setSpacing(4);
    m_mapHead = new PanelHead({}, pane);
    m_mapHead->setLineBelow(false);
    m_mapHead->layout()->setContentsMargins(8, 4, 0, 0);
    m_map = new MapView(pane);
    m_colors = new ColorBar(pane);
    auto* more = iconButton("more", QStringLiteral("Map: copy, save, palette"), m_mapHead);
    m_mapMenu = new ViewMenu(
        more, pane,
        [this] { return relascope::figureName(m_maps, m_view, FigurePart::Map, m_run); },
        [this] { return csv(); });
    m_mapMenu->figure = [this] { return makeFigure(m_maps, m_view, FigurePart::Map, m_run); };
    m_mapHead->addControl(more);
    column->addWidget(m_mapHead);
    column->addWidget(m_map, 1);
    column->addWidget(m_colors);
    m_saturation = new QPushButton(pane);
    m_saturation->setFont(smallFont());
    m_saturation->setToolTip(
        QStringLiteral("Most cells are within 1 % of an end of this transform, so their colours do "
                       "not tell them apart. Click to show the raw values."));
    m_saturation->hide();
    column->addWidget(m_saturation, 0, Qt::AlignHCenter);
    pane->setAccessibleName(QStringLiteral("Map with its colour scale"));
    return pane;
}

QWidget* RelationInspector::makeMultiples() {
    auto* pane = new Box(&Theme::panel, false, m_splitter);
    m_smallPane = pane;
    pane->setMinimumWidth(200);
    auto* row = new QHBoxLayout(pane);
    row->setContentsMargins(14, 10, 10, 8);
    row->setSpacing(6);
    m_multiples = new MultiplesView(pane);
    row->addWidget(m_multiples, 1);
    auto* side = new QVBoxLayout;
    side->setSpacing(4);
    m_layers = new LayerSlider(pane);
    auto* more = iconButton("more", QStringLiteral("Maps: sort, copy, save"), pane);
    auto* menu = new ViewMenu(more, m_multiples->canvas(), [this] {
        return relascope::figureName(m_maps, m_view, FigurePart::SmallMaps, m_run);
    });
    menu->figure = [this] { return makeFigure(m_maps, m_view, FigurePart::SmallMaps, m_run); };
    m_multiplesMenu = menu->menu();
    connect(menu, &ViewMenu::saved, this, &RelationInspector::exported);
    connect(menu, &ViewMenu::failed, this, &RelationInspector::exportFailed);
    side->addWidget(more, 0, Qt::AlignRight);
    side->addWidget(m_layers, 1, Qt::AlignRight);
    row->addLayout(side);
    return pane;
}

QWidget* RelationInspector::makeFooter() {
    m_footerBar = new Box(&Theme::alt, true, this);
    m_footerBar->setFixedHeight(28);
    auto* row = new QHBoxLayout(m_footerBar);
    row->setContentsMargins(16, 1, 16, 0);
    row->setSpacing(16);
    m_footer = new QLabel(m_footerBar);
    m_footer->setTextFormat(Qt::RichText);
    m_footer->setFont(numberFont(12));
    m_footer->setAccessibleName(QStringLiteral("Values of the cell"));
    m_footer->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_footer->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_footer->setMinimumWidth(200);
    m_hint = new ElidedLabel(QStringLiteral("click to lock i, arrow keys to move it"), m_footerBar);
    m_hint->setFont(smallFont());
    m_hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_hint->setForegroundRole(QPalette::PlaceholderText);
    row->addWidget(m_footer, 1);
    row->addWidget(m_hint);
    return m_footerBar;
}

void RelationInspector::setFigure(ViewMenu& menu) {
    menu.figure = [this] {
        return makeFigure(m_maps, m_view, FigurePart::Source | FigurePart::Map, m_run);
    };
}

QString RelationInspector::figureName() const {
    return relascope::figureName(m_maps, m_view, FigurePart::Source | FigurePart::Map, m_run);
}

void RelationInspector::connectPanes() {
    connect(m_bar, &InspectorBar::changed, this, &RelationInspector::choose);
    connect(m_empty, &EmptyState::activated, this, &RelationInspector::emptyStateActivated);
    connect(m_source, &SourcePane::sampleRequested, this, &RelationInspector::sampleRequested);
    connect(m_source, &SourcePane::randomSampleRequested, this,
            &RelationInspector::randomSampleRequested);
    connect(m_source, &SourcePane::labelRequested, this, &RelationInspector::labelRequested);
    connect(m_source, &SourcePane::textTyped, this, &RelationInspector::textTyped);
    connect(m_source->menu(), &ViewMenu::saved, this, &RelationInspector::exported);
    connect(m_source->menu(), &ViewMenu::failed, this, &RelationInspector::exportFailed);
    connect(m_mapMenu, &ViewMenu::saved, this, &RelationInspector::exported);
    connect(m_mapMenu, &ViewMenu::failed, this, &RelationInspector::exportFailed);

    connect(m_saturation, &QPushButton::clicked, this, [this] {
        InspectorView view = m_view;
        view.processing = Processing::Raw;
        choose(view);
    });
    connect(m_map, &MapView::hovered, this, &RelationInspector::preview);
    connect(m_map, &MapView::chosen, this, [this](int row, int column) {
        InspectorView view = m_view;
        view.source = row;
        view.target = column;
        choose(view);
    });
    connect(m_source, &SourcePane::hovered, this, [this](int token) {
        m_previewRow = -1;
        m_previewColumn = objectsSend() ? token : -1;
        refreshPreview();
        refreshFooter();
    });
    connect(m_source, &SourcePane::rowHovered, this, [this](int token) {
        m_previewRow = token;
        m_previewColumn = -1;
        refreshPreview();
        refreshSource();
        refreshFooter();
    });
    connect(m_source->inputs(), &InputChooser::referenceRequested, this,
            &RelationInspector::referenceRequested);
    connect(m_source->inputs(), &InputChooser::randomRequested, this,
            &RelationInspector::randomInputRequested);
    connect(m_source->inputs(), &InputChooser::tokensEntered, this,
            &RelationInspector::tokensEntered);
    connect(m_source->inputs(), &InputChooser::imageRequested, this,
            &RelationInspector::imageRequested);
    connect(m_source, &SourcePane::sourceChosen, this, [this](int token) {
        InspectorView view = m_view;
        view.source = token;
        m_previewRow = -1;
        choose(view);
    });
    connect(m_source, &SourcePane::targetChosen, this, [this](int token) {
        InspectorView view = m_view;
        view.target = token;
        choose(view);
    });
    connect(m_multiples, &MultiplesView::chosen, this, [this](MapKind kind, int index) {
        InspectorView view = m_view;
        const bool both = m_view.kind == MapKind::AttentionTimesRelation;
        if (both && kind == MapKind::RelationalAttention) {
            view.head = index;  // alpha x r has two choices, and each group makes its own
        } else {
            view.kind = both && kind == MapKind::Relation ? MapKind::AttentionTimesRelation : kind;
            view.index = index;
            m_lastIndex[static_cast<std::size_t>(kind)] = index;
        }
        choose(view);
    });
    connect(m_multiples, &MultiplesView::resolutionChanged, this, [this] {
        if (m_maps.result()) refreshMultiples();
    });
    connect(m_layers, &LayerSlider::chosen, this, [this](int layer) {
        InspectorView view = m_view;
        view.layer = layer;
        choose(view);
    });
}

void RelationInspector::setCompact(bool compact) {
    m_compact = compact;
    updateGeometry();
    m_bar->setCompact(compact);
    (compact ? m_outer : m_splitter)->addWidget(m_smallPane);
    m_outer->setSizes({compact ? 370 : 1, 200});
    m_hint->setVisible(!compact);
}

void RelationInspector::fillMenus() {
    // Made once, then only the marks are set: the menu may be open while a view arrives.
    const auto pair = [this](QMenu* menu, const char* property, const QString& off,
                             const QString& on, bool InspectorView::*field) {
        auto* group = menu->findChild<QActionGroup*>(QString::fromLatin1(property));
        if (!group) {
            menu->addSeparator();
            group = new QActionGroup(menu);
            group->setObjectName(QString::fromLatin1(property));
            for (const bool value : {false, true}) {
                QAction* action = menu->addAction(value ? on : off);
                action->setCheckable(true);
                group->addAction(action);
                connect(action, &QAction::triggered, this, [this, field, value] {
                    InspectorView view = m_view;
                    view.*field = value;
                    choose(view);
                });
            }
        }
        group->actions().at(m_view.*field ? 1 : 0)->setChecked(true);
    };
    pair(m_mapMenu->menu(), "ends", QStringLiteral("Colours of r: smallest to largest"),
         QStringLiteral("Colours of r: 2nd to 98th percentile"), &InspectorView::robust);
    pair(m_mapMenu->menu(), "palette", QStringLiteral("Colour-blind safe (green, purple)"),
         QStringLiteral("Paper (green, red)"), &InspectorView::paper);
    pair(m_multiplesMenu, "sort", QStringLiteral("Sort by index"),
         QStringLiteral("Sort by largest magnitude"), &InspectorView::sortByMagnitude);
}

}  // namespace relascope
