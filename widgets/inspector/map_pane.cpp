// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/map_pane.h"

#include <QActionGroup>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <limits>

#include "widgets/export/export.h"
#include "widgets/inspector/view_choice.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/color_bar.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/sides.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void showMap(MapView& map, ColorBar& colors, const ViewMaps& maps, const InspectorView& view,
             MapValues values) {
    const ProbeResult& result = *maps.result();
    const int columns = maps.columnSide(view);
    const ColorScale scale = maps.scale(view);
    map.setTokens(sideTokens(result, maps.rowSide(view), values.rows),
                  columns < 0 ? numberedTokens(values.columns, QStringLiteral("symbol"))
                              : sideTokens(result, columns, values.columns));
    map.setNumberDigits(3, ViewMaps::isSigned(view));
    map.setScale(scale);
    map.setValues(std::move(values));
    map.setCell(view.source, view.target);
    colors.setScale(scale);
    colors.setExtent(maps.sharedExtent(view));
    colors.setCaption(scaleCaption(maps, view));
}

MapPane::MapPane(const ViewChoice& choice, QWidget* parent)
    : Box(&Theme::panel, false, parent), m_choice(choice) {
    setMinimumWidth(200);
    setAccessibleName(QStringLiteral("Map with its colour scale"));
    auto* column = columnOf(this, {8, 2, 8, 8}, 4);
    m_head = new PanelHead({}, this);
    m_head->setLineBelow(false);
    m_head->layout()->setContentsMargins(8, 4, 0, 0);
    m_map = new MapView(this);
    m_colors = new ColorBar(this);
    auto* more = iconButton("more", QStringLiteral("Map: copy, save, palette"), m_head);
    m_menu = new ViewMenu(
        more, this, [this] { return m_choice.figureName(FigurePart::Map); },
        [this] { return m_choice.csv(); });
    m_choice.setFigure(*m_menu, FigurePart::Map);
    m_head->addControl(more);
    column->addWidget(m_head);
    column->addWidget(m_map, 1);
    column->addWidget(m_colors);
    m_saturation = new QPushButton(this);
    m_saturation->setFont(smallFont());
    m_saturation->setToolTip(
        QStringLiteral("Most cells are within 1 % of an end of this transform, so their colours do "
                       "not tell them apart. Click to show the raw values."));
    m_saturation->hide();
    column->addWidget(m_saturation, 0, Qt::AlignHCenter);
    connect(m_saturation, &QPushButton::clicked, this, [this] {
        InspectorView request = m_choice.view();
        request.processing = Processing::Raw;
        Q_EMIT viewRequested(request);
    });

    const auto pair = [this](const QStringList& names, bool InspectorView::*field) {
        m_menu->menu()->addSeparator();
        return addChoices(m_menu->menu(), names, m_choice.view().*field ? 1 : 0,
                          [this, field](int entry) {
                              InspectorView request = m_choice.view();
                              request.*field = entry == 1;
                              Q_EMIT viewRequested(request);
                          });
    };
    m_ends = pair({QStringLiteral("Colours of r: smallest to largest"),
                   QStringLiteral("Colours of r: 2nd to 98th percentile")},
                  &InspectorView::robust);
    m_palettes = pair(
        {QStringLiteral("Colour-blind safe (green, purple)"), QStringLiteral("Paper (green, red)")},
        &InspectorView::paper);
}

void MapPane::display() {
    const InspectorView& view = m_choice.view();
    MapValues values = m_choice.maps().values(view);
    m_head->setTitle(mapTitle(m_choice.maps(), view));
    m_head->setSubText(mapSubTitle(m_choice.maps(), view, values));
    const QString saturated = saturationText(view, values);
    m_saturation->setText(saturated + QStringLiteral(": show raw values"));
    m_saturation->setVisible(!saturated.isEmpty());
    showMap(*m_map, *m_colors, m_choice.maps(), view, std::move(values));
    m_ends->actions().at(view.robust ? 1 : 0)->setChecked(true);
    m_palettes->actions().at(view.paper ? 1 : 0)->setChecked(true);
    displayCell();
}

void MapPane::displayCell() {
    const InspectorView& view = m_choice.view();
    const int i = m_choice.row(), j = m_choice.column();
    m_map->setCell(view.source, view.target);
    m_map->setPreview(m_choice.pointing() ? i : -1, m_choice.pointing() ? j : -1);
    const MapValues& values = m_map->values();
    const bool inside =
        i >= 0 && j >= 0 && i < values.rows && j < values.columns && !values.masked(i, j);
    m_colors->setMark(inside ? values.at(i, j) : std::numeric_limits<float>::quiet_NaN());
}

bool MapPane::objectsSend() const {
    const int columns = m_choice.maps().columnSide(m_choice.view());
    return columns >= 0 && m_map->values().columns == m_choice.maps().objects(columns);
}

}  // namespace relascope::widgets
