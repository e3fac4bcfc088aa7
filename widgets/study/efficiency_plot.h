// SPDX-License-Identifier: GPL-3.0-or-later
// The sample-efficiency plot: a metric against the training size, with a line and a band per model,
// and published curves.
#pragma once

#include <memory>
#include <vector>

#include <QString>
#include <QWidget>

#include "types/curve_look.h"
#include "types/study.h"
#include "widgets/study/study_cells.h"

class QPainter;

namespace relascope::widgets {

// The sample-efficiency curves as a picture, for the command line.

/// Writes the curves to .png (300 dpi), .svg or .pdf. Returns false with a message in `error` on
/// failure. Needs a QApplication (on the offscreen platform, too).
bool renderStudy(const StudyLayout& layout, const StudyMetric& metric,
                 const std::vector<StudyPoint>& points,
                 const std::vector<PublishedPoint>& published, const StudyLook& look,
                 const QString& title, const QString& path, QString* error);

/// Around a mean: its 95 % interval by Student's t, two standard errors as in the papers, or
/// nothing.
enum class StudyBand { Interval, TwoErrors, None };
/// "95 % (Student's t)", "\u00B1 2 s.e., as the papers", "none".
QString studyBandName(StudyBand band);

/// Numeric columns of the layout are placed along x. If they are names, or there is only one, the
/// means are placed side by side with error bars and a dot per run.
class EfficiencyPlot : public QWidget {
    Q_OBJECT
public:
    explicit EfficiencyPlot(QWidget* parent = nullptr);
    ~EfficiencyPlot() override;

    void setStudy(const StudyLayout& layout, const StudyMetric& metric,
                  std::vector<StudyPoint> points, std::vector<PublishedPoint> published);
    void setBand(StudyBand band);
    StudyBand band() const;
    /// Available if x is a training size, or an option with values above zero.
    void setLogX(bool on);
    bool logX() const;
    bool canLogX() const;
    /// Shows or hides published curves, or those of this program's reference runs.
    void setShown(CurveSource source, bool on);
    bool isShown(CurveSource source) const;
    bool has(CurveSource source) const;
    /// All of that.
    void setLook(const StudyLook& look);
    StudyLook look() const;
    /// Whether a part of the axes is shown, chosen by zooming.
    bool zoomed() const;
    /// A line of text above the legend, in figures; empty in the window.
    void setTitle(const QString& title);

    /// The column of the values in the legend; -1: the last one of each series.
    int cursor() const;
    void setCursor(int column);
    /// Entries of the legend with their values.
    QStringList legendTexts() const;
    /// The tooltip at a position of this widget; empty if there is no point.
    QString hoverText(const QPoint& at) const;
    /// Position of a point of a series, in this widget.
    QPointF pixelOf(int row, int column) const;
    void resetZoom();
    double replotNow();  ///< returns the milliseconds it took
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
