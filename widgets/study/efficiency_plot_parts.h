// SPDX-License-Identifier: GPL-3.0-or-later
// What an EfficiencyPlot is made of. Private to widgets/study.
#pragma once

#include <array>
#include <map>

#include "widgets/curves/curve_items.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/study/study_legend.h"

namespace relascope::widgets {

/// The dotted line of the cursor, with a hollow dot where it meets a mean.
class ColumnItem : public QCPAbstractItem {
public:
    explicit ColumnItem(QCustomPlot* plot) : QCPAbstractItem(plot) { setClipToAxisRect(false); }
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1.0; }
    bool shown = false;
    double key = 0.0;
    std::vector<std::pair<double, QColor>> dots;

protected:
    void draw(QCPPainter* painter) override;
};

struct EfficiencyPlot::Parts {
    /// A mean where it is drawn.
    struct Spot {
        int row = 0, column = 0;
        double x = 0.0;
        StudyPoint point;
    };
    struct Published {
        int row = 0;
        double x = 0.0;
        PublishedPoint point;
    };

    EfficiencyPlot* self;
    QCustomPlot* plot = nullptr;
    StudyLegend* legend = nullptr;
    ColumnItem* item = nullptr;
    StudyLayout layout;
    StudyMetric metric;
    std::vector<StudyPoint> points;
    std::vector<PublishedPoint> published;
    std::vector<Spot> spots;
    std::vector<Published> beside;
    StudyBand band = StudyBand::Bootstrap;
    bool wantsLog = false;
    std::array<bool, 2> shownSources = {true, false};  ///< by CurveSource
    bool ownRange = false, applying = false;
    int cursor = -1;

    // One column, or names: nothing lies between two places.
    bool categorical() const { return layout.columns().size() < 2 || !layout.numeric(); }
    /// A category is a series, not a column.
    bool oneColumn() const { return layout.columns().size() < 2; }
    bool canLog() const;
    bool logs() const { return wantsLog && canLog(); }
    double xOf(int row, int column) const;
    std::pair<double, double> ends(const StudyPoint& point) const;
    const Spot* at(int row, int column) const;
    bool shows(const Published& p) const {
        return shownSources[static_cast<std::size_t>(p.point.source)];
    }

    void build();
    void restyle();
    void place();    ///< points to spots
    void rebuild();  ///< graphs anew
    void addBand(int row);
    void addBeside(int row, CurveSource source);
    void addMeans(int row);
    void addBars(int row, QCPGraph* means);
    void fitRanges();
    void setTicks();
    void placeCursor();
    void fillLegend();
    int columnAt(double pixel) const;
    QString text(const Spot& spot) const;
};

}  // namespace relascope::widgets
