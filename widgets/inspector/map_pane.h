// SPDX-License-Identifier: GPL-3.0-or-later
// The second pane of the inspector: one map with its title, its colour scale and its menu.
#pragma once

#include "widgets/inspector/inspector_view.h"
#include "widgets/theme/controls.h"

class QActionGroup;
class QPushButton;

namespace relascope::widgets {

class ColorBar;
class MapView;
class ViewChoice;
class ViewMaps;
class ViewMenu;

class MapPane : public Box {
    Q_OBJECT
public:
    MapPane(const ViewChoice& choice, QWidget* parent);

    /// Shows the map of the current view.
    void display();
    /// Updates the chosen cell only.
    void displayCell();
    /// Whether the columns are senders; false for tables of symbols.
    bool objectsSend() const;

    MapView* map() const { return m_map; }
    /// The warning shown when a transform saturates most of the values.
    QPushButton* saturation() const { return m_saturation; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);  ///< by the menu or the button

private:
    const ViewChoice& m_choice;
    PanelHead* m_head;
    MapView* m_map;
    ColorBar* m_colors;
    QPushButton* m_saturation;
    ViewMenu* m_menu;
    QActionGroup *m_ends, *m_palettes;
};

/// The map of a view with its axes, and its colour scale; also for figures.
void showMap(MapView& map, ColorBar& colors, const ViewMaps& maps, const InspectorView& view,
             MapValues values);

}  // namespace relascope::widgets
