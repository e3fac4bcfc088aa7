// SPDX-License-Identifier: GPL-3.0-or-later
// The track of captured steps under the curves, which is their horizontal axis.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

class QToolButton;

namespace relascope::widgets {

class ToggleChip;

/// One tick per capture and a ring around the chosen one, on the scale of the loss plot. Left,
/// Right, Home and End choose a capture, L follows the newest.
class CapturesTrack : public QWidget {
    Q_OBJECT
public:
    explicit CapturesTrack(QWidget* parent = nullptr);

    /// Sorted and made unique here. `kept`: those whose weights were kept, for any input; the
    /// others are captures of the pinned inputs, drawn hollow where there are kept ones.
    void setSteps(std::vector<qint64> steps, std::vector<qint64> kept = {});
    const std::vector<qint64>& steps() const { return m_steps; }
    /// nullopt: live. A step that was not captured chooses the nearest one before it.
    void setChosen(std::optional<qint64> step);
    std::optional<qint64> chosen() const { return m_chosen; }
    /// Shown range in the plot's units and its margins in px.
    void setAxis(double low, double high, bool logarithmic, int leftMargin, int rightMargin);
    /// The name of the axis, and its numbers with their positions.
    void setTicks(const QString& title, std::vector<std::pair<double, QString>> ticks);
    /// What Live follows where that is no capture.
    void setLiveTip(const QString& text);
    /// The buttons of the track, for the corner of the curves.
    QWidget* controls() const { return m_controls; }
    /// Position of each step on the axis of the plot if that is not the step; same order as
    /// `steps`.
    void setKeys(std::vector<double> keys);
    double pixelOf(qint64 step) const;  ///< x in this widget

Q_SIGNALS:
    void stepChosen(qint64 step);
    void liveRequested();

protected:
    bool event(QEvent* event) override;  ///< its keys come before shortcuts of the window
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF line() const;
    double pixelAt(std::size_t index) const;
    double pixelOfKey(double key) const;
    std::size_t chosenIndex() const;
    void choose(std::size_t index);
    void chooseAt(double x);
    void refresh();

    std::vector<qint64> m_steps;
    std::vector<qint64> m_kept;  ///< steps with kept weights, sorted
    std::vector<double> m_keys;
    std::optional<qint64> m_chosen;
    double m_low = 0.0, m_high = 1.0;
    bool m_log = false;
    int m_left = 50, m_right = 24;
    std::vector<std::pair<double, QString>> m_ticks;
    QString m_axisTitle;
    QWidget* m_controls;
    QToolButton *m_previous, *m_next;
    ToggleChip* m_live;
};

}  // namespace relascope::widgets
