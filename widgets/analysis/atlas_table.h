// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of an atlas, a row each, sorted by a click on a column.
#pragma once

#include <QTableWidget>

#include "analysis/atlas.h"

namespace relascope::widgets {

/// A dash for NaN.
QString atlasNumber(double value, int digits);
/// "symmetric" for infinity.
QString symmetryText(double ratio);

class AtlasTable : public QTableWidget {
    Q_OBJECT
public:
    explicit AtlasTable(QWidget* parent = nullptr);
    /// The first `most` maps.
    void fill(const RelationAtlas& atlas, int most);
    /// The index of the map of a row; -1 without one.
    int relationOfRow(int row) const;
    /// Shares a width among the columns.
    void fit(int width);
};

}  // namespace relascope::widgets
