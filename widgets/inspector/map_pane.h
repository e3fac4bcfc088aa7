// SPDX-License-Identifier: GPL-3.0-or-later
// The second pane of the inspector: one map with its title, its colour scale and its menu.
#pragma once

#include <QTimer>
#include <optional>

#include "widgets/inspector/background.h"
#include "widgets/inspector/map_frame.h"
#include "widgets/theme/controls.h"

class QActionGroup;
class QPushButton;

namespace relascope::widgets {

class ColorBar;
class MapView;
class ViewChoice;
class ViewMenu;

class MapPane : public Box {
    Q_OBJECT
public:
    MapPane(const ViewChoice& choice, BackgroundWork& work, QWidget* parent);

    /// Shows the map of the current view: a small one at once, a large one when it is computed.
    /// Until then the map before it stays.
    void display();
    /// Whether the map of the current view is shown; the one beside it may follow.
    bool current() const { return m_shown == m_wanted; }
    /// Updates the chosen cell only.
    void displayCell();
    /// Whether the columns are senders; false for tables of symbols.
    bool objectsSend() const;

    MapView* map() const { return m_map; }
    /// The map that is compared with, at its left; hidden unless the view asks for it.
    MapView* other() const { return m_other; }
    /// The warning shown when a transform saturates most of the values.
    QPushButton* saturation() const { return m_saturation; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);  ///< by the menu or the button
    void displayed();                        ///< a map that was computed later is shown
    void scaleRefined();                     ///< the scale was estimated and is exact now

private:
    void show(MapFrame frame);
    void showScale(const ScaleEnds& ends);
    void showAbsence();
    void showOther();
    void showOtherValues(MapValues values);
    void showOneRange();
    std::optional<BackgroundWork::Job> nextMap();
    std::optional<BackgroundWork::Job> nextOther();
    std::optional<BackgroundWork::Job> nextExtents();

    const ViewChoice& m_choice;
    BackgroundWork& m_work;
    MapKey m_wanted, m_shown, m_otherWanted, m_otherShown;
    bool m_pending = false;       ///< the wanted map is to be computed
    bool m_otherPending = false;  ///< the one beside it, after it
    bool m_refine = false;        ///< the scale is an estimate
    QTimer m_slow;                ///< until the map before it is marked as old
    PanelHead* m_head;
    MapView *m_map, *m_other;
    QWidget* m_otherBox;
    QLabel *m_otherTitle, *m_mapTitle;
    ColorBar* m_colors;
    QPushButton* m_saturation;
    ViewMenu* m_menu;
    QActionGroup *m_ends, *m_palettes;
};

/// The map of a view with its axes, and its colour scale; also for figures.
void showMap(MapView& map, ColorBar& colors, const ViewMaps& maps, const InspectorView& view,
             MapValues values, const ScaleEnds& ends);

}  // namespace relascope::widgets
