// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of all layers: an overview of one measure, and below it the maps themselves, sorted and
// filtered.
#pragma once

#include <vector>

#include <QString>
#include <QStringList>
#include <QWidget>

#include "widgets/inspector/inspector_view.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/maps/gallery_view.h"
#include "widgets/maps/multiples_view.h"

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

// The maps of one layer as groups of small pictures: relations and the two kinds of attention.

class MapStatistics;
class MultiplesView;

/// The groups of the view's layer without pictures; sorted by `measures`, or by measures computed
/// here if that is null.
std::vector<MultipleGroup> groupsOf(const ViewMaps& maps, const InspectorView& view,
                                    const MapStatistics* measures);
/// The number of cells along the side of one pixel in a picture of that side.
int blockOf(const MultipleItem& item, int side);

/// Groups and the values of their pictures: what takes long of small maps, for any thread.
struct LayerMaps {
    std::vector<MultipleGroup> groups;
    std::vector<std::vector<MapValues>> values;  ///< of each group and item
};
LayerMaps layerMaps(const ViewMaps& maps, const InspectorView& view, int side);
/// The side of the pictures in a view whose inside has that size.
int layerMapsSide(const ViewMaps& maps, InspectorView view, const QSize& size);

/// Shows them in the current theme, with the map of the view framed.
void showMultiples(MultiplesView& multiples, const ViewMaps& maps, const InspectorView& view,
                   LayerMaps content);
/// Sorts, and frames the map of the view; for alpha x r also its head.
void frameMultiples(MultiplesView& multiples, const InspectorView& view);

}  // namespace relascope::widgets

class QDoubleSpinBox;
class QLineEdit;

namespace relascope::widgets {

class GalleryView;
class OverviewView;
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

    GalleryView* gallery() const { return m_gallery; }
    OverviewView* overview() const { return m_overview; }
    QLineEdit* filter() const { return m_filter; }
    QDoubleSpinBox* threshold() const { return m_threshold; }

Q_SIGNALS:
    void chosen(relascope::widgets::MapId map);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void list();
    void showOverview();
    void showMeasures();
    void requestPictures();
    bool passes(const MapId& map, bool byText) const;
    QString tipOf(const MapId& map) const;
    std::vector<MapId> everyMap() const;

    const ViewChoice& m_choice;
    Thumbnails& m_thumbnails;
    MapStatistics& m_measures;
    MapOrder m_order = MapOrder::Index;  ///< of the list
    QLineEdit* m_filter;
    QDoubleSpinBox* m_threshold;
    OverviewView* m_overview;
    GalleryView* m_gallery;
};

}  // namespace relascope::widgets
