// SPDX-License-Identifier: GPL-3.0-or-later
// The third pane of the inspector: every map of the layer or of the model, small, and the choice of
// the layer.
#pragma once

#include "widgets/inspector/inspector_view.h"
#include "widgets/theme/controls.h"

class QComboBox;
class QStackedLayout;

namespace relascope::widgets {

class AllMaps;
class BackgroundWork;
class LayerSlider;
class Measures;
class MultiplesView;
class SegmentedControl;
class Thumbnails;
class ViewChoice;
class ViewMaps;
class ViewMenu;

class SmallMaps : public Box {
    Q_OBJECT
public:
    SmallMaps(const ViewChoice& choice, BackgroundWork& work, QWidget* parent);

    /// All maps and layers of the choice's view.
    void display();
    /// The same, but updates only what differs from the view `before`.
    void displayAfter(const InspectorView& before);

    /// Colours the maps anew, after their scale became exact or the theme changed.
    void recolour();

    MultiplesView* multiples() const { return m_multiples; }
    AllMaps* allMaps() const { return m_all; }
    /// This layer, or all layers.
    SegmentedControl* scope() const { return m_scope; }
    QComboBox* order() const { return m_order; }
    LayerSlider* layers() const { return m_layers; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);         ///< by a control
    void mapChosen(relascope::widgets::MapId map);  ///< of any layer

private:
    QWidget* makeHead();
    void displayLayer();
    void displayAll();
    void fillMultiples();
    void requestMultiples();
    void measureLayer();
    void mark();

    const ViewChoice& m_choice;
    BackgroundWork& m_work;
    Thumbnails* m_thumbnails;
    Measures* m_measures;
    SegmentedControl* m_scope;
    QComboBox* m_order;
    QStackedLayout* m_stack;
    MultiplesView* m_multiples;
    AllMaps* m_all;
    LayerSlider* m_layers;
    ViewMenu* m_menu;
};

}  // namespace relascope::widgets
