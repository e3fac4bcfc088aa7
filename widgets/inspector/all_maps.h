// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of all layers: an overview of one measure, and below it the maps themselves, sorted and
// filtered.
#pragma once

#include <map>
#include <vector>

#include <QString>
#include <QStringList>
#include <QWidget>

#include "widgets/inspector/inspector_view.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/kit/map_strip.h"

namespace relascope::widgets {

// Finds maps by words: "layer 3", "r 12", "sensory"; all phrases between commas must match.

class MapFilter {
public:
    explicit MapFilter(const QString& text);
    bool empty() const { return m_phrases.isEmpty(); }
    /// `description` names a map: "layer 3 r 12 relation". Numbers match as a whole, the last word
    /// of a phrase also by its beginning.
    bool matches(const QString& description) const;

private:
    QStringList m_phrases;
};

// The maps of one layer in sections: relations and the two kinds of attention.

class MapStatistics;

/// The sections of the view's layer; sorted by `measures`, or by measures computed here if that is
/// null.
std::vector<StripSection> layerSections(const ViewMaps& maps, const InspectorView& view,
                                        const MapStatistics* measures);

/// Sections and the values of their pictures: what takes long of small maps, for any thread.
struct LayerMaps {
    std::vector<StripSection> sections;
    std::map<MapId, MapValues> values;
};
LayerMaps layerMaps(const ViewMaps& maps, const InspectorView& view, int side);
/// The side of the pictures in a view whose inside has that size.
int layerMapsSide(const ViewMaps& maps, InspectorView view, const QSize& size);

/// Shows them in the current theme.
void showMultiples(MapStrip& multiples, const ViewMaps& maps, const InspectorView& view,
                   LayerMaps content);
/// Frames the map of the view; for alpha x r also its head.
void frameMultiples(MapStrip& multiples, const InspectorView& view);

}  // namespace relascope::widgets

class QDoubleSpinBox;
class QLineEdit;

namespace relascope::widgets {

class Thumbnails;
class ViewChoice;

class AllMaps : public QWidget {
    Q_OBJECT
public:
    AllMaps(const ViewChoice& choice, Thumbnails& thumbnails, MapStatistics& measures,
            QWidget* parent);

    /// Lists the maps of the choice's view, and requests what is missing of them.
    void display();
    /// Frames the map of the view.
    void frame();

    MapStrip* gallery() const { return m_gallery; }
    MapStrip* overview() const { return m_overview; }
    QLineEdit* filter() const { return m_filter; }
    QDoubleSpinBox* threshold() const { return m_threshold; }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);

private:
    void list();
    void showOverview();
    void showMeasures();
    bool passes(const MapId& map, bool byText) const;
    QString tipOf(const MapId& map) const;
    std::vector<MapId> everyMap() const;

    const ViewChoice& m_choice;
    Thumbnails& m_thumbnails;
    MapStatistics& m_measures;
    MapOrder m_order = MapOrder::Index;  ///< order of the list
    QLineEdit* m_filter;
    QDoubleSpinBox* m_threshold;
    MapStrip *m_overview, *m_gallery;
    std::map<MapKind, ColorScale> m_scales;  ///< scales of the overview
};

}  // namespace relascope::widgets
