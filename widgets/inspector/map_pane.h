// SPDX-License-Identifier: GPL-3.0-or-later
// The second pane of the inspector: one map with its title, its colour scale and its menu.
#pragma once

#include <optional>

#include <QString>
#include <QTimer>

#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/folding_layout.h"

namespace relascope::widgets {

// The row below the inspector: the exact numbers of one cell.

class ViewChoice;

class CellFooter : public Box {
public:
    explicit CellFooter(QWidget* parent);

    /// Shows the cell at the pointer, or the chosen one.
    void display(const ViewChoice& choice);
    void setHintShown(bool shown) { m_hint->setVisible(shown); }
    /// Adds a button after the numbers, in place of the hint.
    void addControl(QWidget* control);
    /// Adds what is said of the cell, which goes after the texts of the buttons.
    void addAnswer(QLabel* answer);
    const Readout* readout() const { return m_text; }
    const FoldingLayout* row() const { return m_row; }

private:
    FoldingLayout* m_row;
    Readout* m_text;
    QLabel* m_hint;
};

// The picture of one map: its values, the ends of its scale and what its title says.

struct MapFrame {
    MapValues values;
    ScaleEnds ends;
    QString saturation;  ///< saturationText() of the values
};

/// May be called on any thread.
MapFrame mapFrame(const ViewMaps& maps, const InspectorView& view, ViewMaps::Effort effort);

/// What a frame depends on: two equal keys have the same values.
class MapKey {
public:
    MapKey() = default;
    MapKey(const ViewMaps& maps, const InspectorView& view);
    bool operator==(const MapKey&) const = default;

private:
    std::shared_ptr<const void> m_map, m_head;  ///< their sources, or the result that stores them
    InspectorView m_view;
    bool m_turned = false;
};

}  // namespace relascope::widgets

class QActionGroup;
class QPushButton;

namespace relascope::widgets {

class ColorBar;
class MapView;
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
    /// The map of this view minus that one, at its right, where both relate the same objects; shown
    /// only beside a pinned one and after setThree().
    MapView* change() const { return m_change; }
    void setThree(bool on);
    /// Marks the maps as those of an earlier input or model, until others are displayed.
    /// `awaited`: whether others are being computed.
    void setOutdated(bool on, bool awaited = true);
    /// The warning shown when a transform saturates most of the values.
    QPushButton* saturation() const { return m_saturation; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);  ///< by the menu or the button
    void displayed();                        ///< a map that was computed later is shown
    /// On the map that is compared with, while it is freed.
    void otherCellChosen(int i, int j);
    void scaleRefined();  ///< the scale was estimated and is exact now

private:
    void show(MapFrame frame);
    void showScale(const ScaleEnds& ends);
    void showAbsence();
    void showOther();
    void showOtherValues(MapValues values);
    void showOneRange();
    void showChange(const ColorScale& shown);
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
    MapView *m_map, *m_other, *m_change;
    QWidget *m_otherBox, *m_changeBox;
    ColorBar* m_changeColors;
    QLabel *m_otherTitle, *m_mapTitle;
    bool m_three = false;
    bool m_outdated = false, m_awaited = true;  ///< all of them
    ColorBar* m_colors;
    QPushButton* m_saturation;
    ViewMenu* m_menu;
    QActionGroup *m_ends, *m_palettes;
};

/// The map of a view with its axes, and its colour scale; also for figures.
void showMap(MapView& map, ColorBar& colors, const ViewMaps& maps, const InspectorView& view,
             MapValues values, const ScaleEnds& ends);

}  // namespace relascope::widgets
