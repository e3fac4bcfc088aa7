// SPDX-License-Identifier: GPL-3.0-or-later
// The learning curves: loss and accuracy (of text: perplexity) side by side, with one time cursor
// over both.
#pragma once

#include <QWidget>
#include <optional>
#include <type_traits>
#include <vector>

#include "types/metric.h"
#include "widgets/curves/curve_types.h"

class QPainter;
class QTimer;

namespace relascope::widgets {

class CurveControls;
class CurvePlot;
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
    const CurveOptions& options() const;
    void setOptions(const CurveOptions& options);
    template <class T>
    void set(T CurveOptions::*field, const std::type_identity_t<T>& value) {
        CurveOptions wanted = options();
        wanted.*field = value;
        setOptions(wanted);
    }
    /// The axis in force.
    CurveAxis axis() const;
    /// Where a step stands on the axis in force, for CapturesTrack::setKeys.
    double keyOfStep(qint64 step) const;
    CurveControls* controls() const { return m_head; }

    QString csv() const;
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

Q_SIGNALS:
    void cursorMoved(qint64 step);
    void markMenuRequested(const QString& run, const relascope::widgets::CurveMark& mark,
                           const QPoint& at);
    /// Shown x range in units of the axis and the margins of the loss plot, for the captures track.
    void axisChanged(double low, double high, bool logarithmic, int leftMargin, int rightMargin);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void changed();
    void words();
    void offer();
    void tellAxis();
    void dragTo(double key);
    void stepCursor(int direction);

    CurveModel* m_model;
    CurveControls* m_head;
    QTimer* m_timer;
    CurvePlot* m_plots[2];
    QString m_subText;
};

}  // namespace relascope::widgets
