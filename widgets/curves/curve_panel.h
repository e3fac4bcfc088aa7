// SPDX-License-Identifier: GPL-3.0-or-later
// The learning curves: loss and accuracy (perplexity for text) side by side, with a common time
// cursor.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <QWidget>

#include "types/metric.h"
#include "widgets/curves/curve_data.h"
#include "widgets/theme/controls.h"

class QBoxLayout;
class QPainter;
class QTimer;

namespace relascope::widgets {

// The head of the curves: title, axis, chips and the menu behind the ... button.

class CurveControls : public PanelHead {
    Q_OBJECT
public:
    explicit CurveControls(QWidget* parent);

    const CurveOptions& options() const { return m_options; }
    /// Does not signal.
    void display(const CurveOptions& options);
    /// The axis in use: Step if the selected one is not available.
    CurveAxis axis() const;
    /// Returns true if the available axes changed.
    bool offerTokens(bool tokens);
    /// What the second plot can show, and what it shows.
    void offerMetrics(const std::vector<CurveMetric>& metrics, CurveMetric shown);
    /// Toggles Published and Training, for the Compare page.
    void setCompareControls(bool shown);
    /// Views add their export actions to it.
    QMenu* menu() const { return m_menu; }
    QMenu* secondMetricMenu() const { return m_second; }

Q_SIGNALS:
    void changed(const CurveOptions& options);  ///< by the user
    void resetRequested();

private:
    template <class T>
    void set(T CurveOptions::*field, const T& value) {
        if (std::exchange(m_options.*field, value) != value) Q_EMIT changed(m_options);
    }
    ToggleChip* chip(const char* text, const char* tip, bool CurveOptions::*field);
    void fillMenu();

    CurveOptions m_options;
    SegmentedControl* m_axis;
    std::vector<CurveAxis> m_axes;  ///< as offered, left to right
    std::vector<std::pair<ToggleChip*, bool CurveOptions::*>> m_chips;
    ToggleChip *m_published, *m_training, *m_law;
    QMenu *m_menu, *m_second = nullptr;
    QAction* m_outliers = nullptr;
    QActionGroup *m_bands = nullptr, *m_factors = nullptr;
    std::vector<CurveMetric> m_metrics;  ///< as the menu offers them
};

class CurveControls;
class CurvePlot;
class ViewMenu;
struct CurveModel;

/// The colour identifies the run; solid lines are validation, dashed ones training.
/// BootstrapWeights at most once per frame, however many points arrive.
class CurvePanel : public QWidget {
    Q_OBJECT
public:
    explicit CurvePanel(QWidget* parent = nullptr);
    ~CurvePanel() override;

    void setTitle(const QString& title);
    /// Muted text next to the title; empty: generated from the content ("mean of 2 seeds, ...").
    void setSubText(const QString& text);
    /// Sets the runs; points of runs that stay are kept.
    void setRuns(std::vector<CurveRun> runs);
    /// Adds points of any split but Test; a point before the last one replaces what came after it.
    void appendPoints(const QString& id, const std::vector<MetricPoint>& points);
    void clearPoints(const QString& id);
    void setMarks(const QString& id, std::vector<CurveMark> marks);
    void setPublished(std::vector<PublishedValue> published);
    bool hasPublished() const;
    /// The end of the axis of runs without points, which have kept steps alone; nullopt: any.
    void setEnd(std::optional<qint64> step);
    /// nullopt: live, the cursor is at the newest point.
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
    /// The axis in use.
    CurveAxis axis() const;
    /// The position of a step on the axis in use, for CapturesTrack::setKeys.
    double keyOfStep(qint64 step) const;
    CurveControls* controls() const { return m_head; }
    /// The numbers of the horizontal axis with the positions of their ticks.
    std::vector<std::pair<double, QString>> ticks() const;
    /// Makes the panel the upper part of a strip of time: its plots below one another, or one of
    /// them where the panel is low, `controls` in the corner, and the numbers of the horizontal
    /// axis left to what is below.
    void setStrip(QWidget* controls);

    QString csv() const;
    QString summary() const;
    /// Title, legends and plots as a figure: vectors, axis titles, no controls, no cursor.
    void paintVector(QPainter& painter, const QRectF& target);
    /// Connects an export menu to that figure, its name, caption and pgfplots source.
    void setFigure(ViewMenu& menu);
    /// "quick-dat-s0_curves", "3-runs_curves".
    QString figureName() const;
    /// Which runs are shown, up to which step, and how.
    QString figureCaption() const;
    QString pgfplots();
    CurvePlot* lossPlot() const { return m_plots[0]; }
    /// The second plot: the most informative metric (CurveModel::secondMetrics), or the one chosen
    /// in the menu.
    CurvePlot* accuracyPlot() const { return m_plots[1]; }
    /// Applies changes that wait for the next frame.
    void flush();
    void resetZoom();

Q_SIGNALS:
    void cursorMoved(qint64 step);
    void markMenuRequested(const QString& run, const relascope::widgets::CurveMark& mark,
                           const QPoint& at);
    void fillRequested();  ///< a double click on curves that are shown whole
    /// Shown x range in units of the axis and the margins of the plots, for the captures track.
    void axisChanged(double low, double high, bool logarithmic, int leftMargin, int rightMargin);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void changed();
    void arrange();
    void updateText();
    void offer();
    void emitAxis();
    void dragTo(double key);
    void stepCursor(int direction);

    CurveModel* m_model;
    CurveControls* m_head;
    QTimer* m_timer;
    CurvePlot* m_plots[2];
    QBoxLayout* m_row;  ///< row of the plots
    QWidget *m_between, *m_corner = nullptr, *m_cornerMenu = nullptr;
    ToggleChip* m_loss = nullptr;  ///< chooses the plot of a low strip
    QString m_subText;
};

}  // namespace relascope::widgets
