// SPDX-License-Identifier: GPL-3.0-or-later
// The third pane of the inspector: every map of the layer or of the model, small, and the choice of
// the layer.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <QCache>
#include <QImage>
#include <QObject>
#include <QPixmap>

#include "widgets/inspector/inspector_view.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/maps/map_values.h"
#include "widgets/theme/controls.h"

namespace relascope::widgets {

// Small pictures of maps: made in the background, the ones that are seen first, and kept up to a
// bound of memory.

class MapStrip;

class Thumbnails : public QObject {
    Q_OBJECT
public:
    /// The memory of kept pictures, in KiB.
    static constexpr int kMostMemory = 64 * 1024;

    explicit Thumbnails(BackgroundWork& work, QObject* parent = nullptr);

    /// Gives a strip the shapes and pictures of maps.
    void serve(MapStrip& strip);
    /// Pictures that the new maps or the new view show in another way are forgotten.
    void setView(const ViewMaps& maps, const InspectorView& view);
    /// Colours the pictures anew when they are next painted: the theme or a scale changed.
    void recolour();
    /// Makes the pictures that this strip shows, in place of those of another.
    void request(MapStrip& strip);

private:
    /// A picture with `block` x `block` cells a pixel.
    struct Key {
        MapId map;
        int block = 1;
        bool operator==(const Key&) const = default;
        friend size_t qHash(const Key& key, size_t seed) {
            return qHashMulti(seed, static_cast<int>(key.map.kind), key.map.layer, key.map.index,
                              key.block);
        }
    };
    struct Entry {
        MapValues values;
        QImage cells;
        QPixmap picture;
        int colours = -1;  ///< the colouring of `cells`
    };
    InspectorView viewOf(const MapId& map) const;
    ColorScale scaleOf(const MapId& map, const MapValues& values);
    /// With the hatch of masked cells, `size` large on the screen; null while none is made.
    QPixmap picture(const Key& key, const QSize& size, qreal ratio);
    std::optional<BackgroundWork::Job> next();

    BackgroundWork& m_work;
    ViewMaps m_maps;
    InspectorView m_view;
    MapStrip* m_strip = nullptr;  ///< the strip whose pictures are made
    QCache<Key, Entry> m_kept{kMostMemory};
    std::vector<Key> m_requested;                            ///< from the last to the first
    std::map<std::pair<MapKind, int>, ColorScale> m_scales;  ///< shared ones, by kind and layer
    int m_colours = 0, m_generation = 0;
};

}  // namespace relascope::widgets

class QComboBox;
class QStackedLayout;

namespace relascope::widgets {

class AllMaps;
class BackgroundWork;
class LayerSlider;
class MapStatistics;
class SegmentedControl;
class ViewChoice;
class ViewMaps;
class ViewMenu;

class SmallMaps : public Box {
    Q_OBJECT
public:
    SmallMaps(const ViewChoice& choice, BackgroundWork& work, QWidget* parent);

    /// All maps and layers of the choice's view.
    void display();
    /// Updates what differs from the view `before`.
    void displayAfter(const InspectorView& before);

    /// Colours the maps anew, after their scale became exact or the theme changed.
    void recolour();

    MapStrip* multiples() const { return m_multiples; }
    AllMaps* allMaps() const { return m_all; }
    /// This layer, or all layers.
    SegmentedControl* scope() const { return m_scope; }
    QComboBox* order() const { return m_order; }
    LayerSlider* layers() const { return m_layers; }
    ViewMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void viewRequested(InspectorView view);         ///< by a control
    void mapChosen(relascope::widgets::MapId map);  ///< a map of any layer

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeHead();
    void displayLayer();
    void displayAll();
    void offerOrders();
    void fitHead();
    void measureLayer();
    void mark();

    const ViewChoice& m_choice;
    BackgroundWork& m_work;
    Thumbnails* m_thumbnails;
    MapStatistics* m_measures;
    SegmentedControl* m_scope;
    QComboBox* m_order;
    QStackedLayout* m_stack;
    MapStrip* m_multiples;
    AllMaps* m_all;
    LayerSlider* m_layers;
    ViewMenu* m_menu;
};

}  // namespace relascope::widgets
