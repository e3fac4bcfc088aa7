// SPDX-License-Identifier: GPL-3.0-or-later
// The third pane of the inspector: every map of the layer, small, and the choice of the layer.
#pragma once

#include "widgets/inspector/inspector_view.h"
#include "widgets/theme/controls.h"

class QActionGroup;

namespace relascope::widgets {

class LayerSlider;
class MultiplesView;
class ViewChoice;
class ViewMaps;
class ViewMenu;

/// The stored kind of maps for a kind: relations for alpha x r.
MapKind storedKind(MapKind kind);
/// Fills `multiples` with the relations and the two kinds of attention of the view's layer, and
/// frames the map of the view; also for figures.
void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view);

class SmallMaps : public Box {
    Q_OBJECT
public:
    SmallMaps(const ViewChoice& choice, QWidget* parent);

    /// All maps and layers of the choice's view.
    void display();
    /// The same, but updates only what differs from the view `before`.
    void displayAfter(const InspectorView& before);

    MultiplesView* multiples() const { return m_multiples; }
    LayerSlider* layers() const { return m_layers; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);  ///< by the slider or the menu

private:
    void mark();

    const ViewChoice& m_choice;
    MultiplesView* m_multiples;
    LayerSlider* m_layers;
    ViewMenu* m_menu;
    QActionGroup* m_order;
};

}  // namespace relascope::widgets
