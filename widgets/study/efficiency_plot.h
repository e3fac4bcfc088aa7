// SPDX-License-Identifier: GPL-3.0-or-later
// The sample-efficiency plot: a number against the training size, a line and a band a model, the
// published curves beside them.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "types/study.h"
#include "widgets/study/study_layout.h"

class QPainter;

namespace relascope::widgets {

/// Around a mean: the 95% bootstrap of the mean, two standard errors, or nothing.
enum class StudyBand { Bootstrap, TwoErrors, None };

/// Columns of the layout go along x where they are numbers. Where they are names, or there is one
/// only, means stand side by side with bars for the band and a dot a run.
class EfficiencyPlot : public QWidget {
    Q_OBJECT
public:
    explicit EfficiencyPlot(QWidget* parent = nullptr);
    ~EfficiencyPlot() override;

    void setStudy(const StudyLayout& layout, const StudyMetric& metric,
                  std::vector<StudyPoint> points, std::vector<PublishedPoint> published);
    void setBand(StudyBand band);
    StudyBand band() const;
    /// Where x is a training size, or an option's number above zero.
    void setLogX(bool on);
    bool logX() const;
    bool canLogX() const;
    /// The papers' curves, and those of this program's reference runs.
    void setShown(CurveSource source, bool on);
    bool isShown(CurveSource source) const;
    bool has(CurveSource source) const;
    /// A line of words above the legend, in figures; empty in the window.
    void setTitle(const QString& title);

    /// The column whose values the legend shows; -1: each series' last.
    int cursor() const;
    void setCursor(int column);
    /// Entries of the legend with their values.
    QStringList legendTexts() const;
    /// What the pointer is told at that place of this widget; empty away from every point.
    QString hoverText(const QPoint& at) const;
    /// Pixel of a series' point, in this widget.
    QPointF pixelOf(int row, int column) const;
    void resetZoom();
    double replotNow();  ///< milliseconds it took
    /// Plot and legend as a figure: shapes, axis titles, no cursor.
    void paintVector(QPainter& painter, const QRectF& target);
    QString pgfplots(const QString& caption) const;

Q_SIGNALS:
    void cursorMoved(int column);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Parts;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
