// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_figure.h"

#include <QPainter>

#include "widgets/export/export.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

bool renderStudy(const StudyLayout& layout, const StudyMetric& metric,
                 const std::vector<StudyPoint>& points,
                 const std::vector<PublishedPoint>& published, const QString& title,
                 const QString& path, QString* error) {
    if (points.empty()) {
        if (error)
            *error =
                QStringLiteral(
                    "%1: no finished run of the study has this metric; there is nothing to draw")
                    .arg(path);
        return false;
    }
    EfficiencyPlot plot;
    plot.setTitle(title);
    plot.resize(720, 480);
    plot.ensurePolished();
    plot.setStudy(layout, metric, points, published);
    plot.setAttribute(Qt::WA_DontShowOnScreen);
    plot.show();  // never seen: lays out what a widget lays out when shown
    plot.replotNow();
    return exportPainting([&plot](QPainter& painter) { plot.paintVector(painter, plot.rect()); },
                          plot.size(), title, Theme::current().panel, path, error);
}

}  // namespace relascope::widgets
