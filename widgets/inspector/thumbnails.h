// SPDX-License-Identifier: GPL-3.0-or-later
// Small pictures of maps: made in the background, the ones asked for first, and kept up to a bound
// of memory.
#pragma once

#include <QCache>
#include <QImage>
#include <QObject>
#include <QPixmap>
#include <map>
#include <optional>
#include <vector>

#include "widgets/inspector/background.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/maps/map_measures.h"

namespace relascope::widgets {

class Thumbnails : public QObject {
    Q_OBJECT
public:
    /// A picture with `block` x `block` cells a pixel.
    struct Key {
        MapId map;
        int block = 1;
        bool operator==(const Key&) const = default;
    };
    /// The memory of kept pictures, in KiB.
    static constexpr int kMostMemory = 64 * 1024;

    explicit Thumbnails(BackgroundWork& work, QObject* parent = nullptr);

    /// Pictures that the new maps or the new view show in another way are forgotten.
    void setView(const ViewMaps& maps, const InspectorView& view);
    /// Colours the pictures anew when they are next asked for: the theme or a scale changed.
    void recolour();
    /// Makes these pictures, in this order; replaces what was requested before.
    void request(const std::vector<Key>& keys);

    /// Null while it is not made.
    const MapValues* values(const Key& key) const;
    /// One pixel a cell of values(); null while it is not made.
    QImage cells(const Key& key);
    /// With the hatch of masked cells, `size` large on the screen; null while it is not made.
    QPixmap picture(const Key& key, const QSize& size, qreal ratio);

Q_SIGNALS:
    void made();  ///< one or more of the requested

private:
    struct Entry {
        MapValues values;
        QImage cells;
        QPixmap picture;
        int colours = -1;  ///< the colouring of `cells`
    };
    static quint64 hashed(const Key& key);
    InspectorView viewOf(const MapId& map) const;
    ColorScale scaleOf(const MapId& map, const MapValues& values);
    Entry* entry(const Key& key);
    std::optional<BackgroundWork::Job> next();

    BackgroundWork& m_work;
    ViewMaps m_maps;
    InspectorView m_view;
    QCache<quint64, Entry> m_kept{kMostMemory};
    std::vector<Key> m_requested;                            ///< from the last to the first
    std::map<std::pair<MapKind, int>, ColorScale> m_scales;  ///< shared ones, by kind and layer
    int m_colours = 0, m_generation = 0;
};

}  // namespace relascope::widgets
