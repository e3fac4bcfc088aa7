// SPDX-License-Identifier: GPL-3.0-or-later
// The learning curves: loss and accuracy (of text: perplexity) side by side, with one time cursor
// over both.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "types/metric.h"
#include "widgets/curves/curve_types.h"

class QAction;
class QMenu;
class QPainter;
class QTimer;

namespace relascope {

class CurvePlot;
class PanelHead;
class SegmentedControl;
class ToggleChip;
class ViewMenu;
struct CurveModel;

/// Hue is the run, solid validation, dashed training. Points arrive in any number; drawing happens
/// at most once a frame.
class CurvePanel : public QWidget {
    Q_OBJECT
public:
    explicit CurvePanel(QWidget* parent = nullptr);
    ~CurvePanel() override;

    void setTitle(const QString& title);
    /// Muted words beside the title; empty: made from what is shown ("mean of 2 seeds, ...").
    void setSubText(const QString& text);
    /// Chooses the runs; points of runs that stay are kept.
    void setRuns(std::vector<CurveRun> runs);
    /// Adds points of any split but Test; a point before the last one replaces what came after it.
    void appendPoints(const QString& id, const std::vector<MetricPoint>& points);
    void clearPoints(const QString& id);
    void setMarks(const QString& id, std::vector<CurveMark> marks);
    void setPublished(std::vector<PublishedValue> published);
    /// nullopt: live, the cursor stands at the newest point.
    void setCursorStep(std::optional<qint64> step);
    std::optional<qint64> cursorStep() const;
    void setShowTraining(bool shown);
    /// Tokens are an axis where a run shown counts them: until then it is Step.
    void setAxis(CurveAxis axis);
    CurveAxis axis() const;
    /// Where a step stands on the axis in force, for CapturesTrack::setKeys.
    double keyOfStep(qint64 step) const;
    void setLogX(bool on);
    void setLogY(bool on);  ///< of the loss
    bool logX() const;
    bool logY() const;
    /// A fitted L = a N^-b behind each loss; drawn while the axis is Tokens.
    void setPowerLaw(bool on);
    bool powerLaw() const;
    bool smooth() const;
    void setSmooth(bool on);
    void setSmoothing(double beta);  ///< 0 <= beta < 1; s = beta s + (1 - beta) x
    /// Toggles Published and Training in the head, for the Compare page.
    void setCompareControls(bool shown);
    /// What is drawn around the mean of several seeds.
    void setBand(CurveBandKind kind);
    CurveBandKind band() const;
    /// Whether a few very large losses are left out of the vertical range.
    void setWithoutOutliers(bool on);
    bool withoutOutliers() const;
    /// Shows the last quarter of the horizontal axis only.
    void setRecentOnly(bool on);
    bool recentOnly() const;

    /// The menu behind the head's ... button; views add their export actions to it.
    QMenu* menu() const { return m_menu; }
    QString csv() const;
    QString dataTable() const { return csv(); }
    QString summary() const;
    /// Title, legends and plots as a figure: vectors, axis titles, no controls, no cursor.
    void paintVector(QPainter& painter, const QRectF& target);
    /// Makes an export menu write that figure, with its name and caption, and pgfplots.
    void setFigure(ViewMenu& menu);
    /// "quick-dat-s0_curves", "3-runs_curves".
    QString figureName() const;
    /// Which runs, up to which step, and how they are drawn.
    QString figureCaption() const;
    QString pgfplots();
    CurvePlot* lossPlot() const { return m_plots[0]; }
    /// The second plot: of what says most of the runs shown (CurveModel::secondMetrics), or of the
    /// metric chosen in the menu.
    CurvePlot* accuracyPlot() const { return m_plots[1]; }
    /// Takes over what is still waiting for the next frame.
    void flush();
    void resetZoom();
    /// nullopt: what says most.
    void setSecondMetric(std::optional<CurveMetric> metric);
    QMenu* secondMetricMenu() const { return m_second; }

Q_SIGNALS:
    void cursorMoved(qint64 step);
    void markMenuRequested(const QString& run, const relascope::CurveMark& mark, const QPoint& at);
    /// Shown x range in units of the axis and the margins of the loss plot, for the captures track.
    void axisChanged(double low, double high, bool logarithmic, int leftMargin, int rightMargin);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void changed();
    void words();
    void offerAxes();
    void tellAxis();
    void dragTo(double key);
    void stepCursor(int direction);

    CurveModel* m_model;
    PanelHead* m_head;
    SegmentedControl* m_axis;
    ToggleChip *m_logX, *m_logY, *m_smooth, *m_published, *m_training, *m_law, *m_recent;
    QAction *m_outliers = nullptr, *m_bands[3] = {};
    std::vector<CurveAxis> m_axes;             ///< as offered, left to right
    CurveAxis m_wantedAxis = CurveAxis::Step;  ///< Tokens may be wanted before any are counted
    QMenu *m_menu, *m_second;
    std::vector<CurveMetric> m_metrics;  ///< as the menu offers them
    std::optional<CurveMetric> m_wantedMetric;
    QTimer* m_timer;
    CurvePlot* m_plots[2];
    QString m_subText;
};

}  // namespace relascope
