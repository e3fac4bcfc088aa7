// SPDX-License-Identifier: GPL-3.0-or-later
// The measures of all maps of a result, computed in the background.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <map>
#include <optional>
#include <vector>

#include "widgets/inspector/background.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/maps/map_measures.h"

namespace relascope::widgets {

class Measures : public QObject {
    Q_OBJECT
public:
    explicit Measures(BackgroundWork& work, QObject* parent = nullptr);

    /// What is known of maps that the new result has, too, is kept. Of other maps of the same
    /// shape the measures of the last result are given until the new ones are known: while a model
    /// trains, results may come faster than all of their maps are measured.
    void setMaps(const ViewMaps& maps);
    /// Starts to compute the measures of these maps, in this order, but those first that are
    /// missing or older; replaces what was requested before.
    void request(std::vector<MapId> maps);
    /// NaN while there are none.
    MapMeasures of(const MapId& map) const;
    /// Whether they are of the current result.
    bool known(const MapId& map) const;
    bool complete() const { return m_requested.empty(); }

Q_SIGNALS:
    void changed();  ///< more are known: some times a second, and at the end

private:
    std::optional<BackgroundWork::Job> next();

    BackgroundWork& m_work;
    ViewMaps m_maps;
    struct Known {
        MapMeasures measures;
        int generation = 0;  ///< m_generation of the result that they are of
    };
    std::map<MapId, Known> m_known;
    std::vector<MapId> m_requested;  ///< from the last to the first
    int m_generation = 0;
    QElapsedTimer m_told;
};

}  // namespace relascope::widgets
