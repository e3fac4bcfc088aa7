// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of all layers: an overview of one measure, and below it the maps themselves, sorted and
// filtered.
#pragma once

#include <QWidget>

#include "widgets/inspector/inspector_view.h"
#include "widgets/maps/gallery_layout.h"

class QDoubleSpinBox;
class QLineEdit;

namespace relascope::widgets {

class GalleryView;
class Measures;
class OverviewView;
class Thumbnails;
class ViewChoice;

class AllMaps : public QWidget {
    Q_OBJECT
public:
    AllMaps(const ViewChoice& choice, Thumbnails& thumbnails, Measures& measures, QWidget* parent);

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
    Measures& m_measures;
    MapOrder m_order = MapOrder::Index;  ///< of the list
    QLineEdit* m_filter;
    QDoubleSpinBox* m_threshold;
    OverviewView* m_overview;
    GalleryView* m_gallery;
};

}  // namespace relascope::widgets
