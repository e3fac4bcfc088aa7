// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of the grid of a study.
#pragma once

#include <QWidget>

#include "widgets/study/study_grid.h"

namespace relascope::widgets {

/// Explains the squares: states and colours of values.
class StudyGridLegend : public QWidget {
    Q_OBJECT
public:
    explicit StudyGridLegend(const StudyGrid* grid, QWidget* parent = nullptr);
    void setMetric(const StudyMetric& metric);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int barWidth() const;
    const StudyGrid* m_grid;
    StudyMetric m_metric;
};

}  // namespace relascope::widgets
