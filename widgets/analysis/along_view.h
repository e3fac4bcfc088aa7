// SPDX-License-Identifier: GPL-3.0-or-later
// Along training: a cell of a map and the probability of an answer as lines over the kept steps,
// and the map as a film strip.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QWidget>

#include "answers/along_answer.h"
#include "types/along.h"
#include "widgets/analysis/analysis_frame.h"

class QPainter;

namespace relascope::widgets {

// The line of a cell, or of the probability of an answer, over the kept steps.

class AlongPlot : public QWidget {
    Q_OBJECT
public:
    enum class Field { Value, Probability };
    static constexpr int kTitle = 28;  ///< px above the plot, for its title and legend

    AlongPlot(Field field, QWidget* parent = nullptr);
    ~AlongPlot() override;

    /// `frames`: indices of the steps that are frames of the film, drawn as dots. `cellName`: the
    /// names of i and j.
    void setAlong(const AlongTraining& along, const std::vector<int>& frames,
                  const QString& cellName);
    void setCurrent(std::optional<qint64> step);
    /// The x axis: log(step + 1), or the step.
    void setLogarithmic(bool on);
    /// "r_ij, i = 1, j = 4", with an underscore before a subscript.
    QString title() const;
    /// The tooltip at a point of this widget: "step 96: +1.283"; empty beside the plot.
    QString hoverText(const QPoint& at) const;
    /// Where a step stands, in this widget.
    QPointF pixelOf(qint64 step) const;
    void paintVector(QPainter& painter, int top, const QSize& size, bool steps);
    /// Whether the x axis has its label.
    void setAxisLabel(bool shown);

    QSize minimumSizeHint() const override { return {280, 110}; }

Q_SIGNALS:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Parts;
    /// The index of the step nearest to an x of this widget; -1 without any.
    int stepAt(int x) const;
    void paintTitle(QPainter& painter, const QRect& box) const;
    std::unique_ptr<Parts> m;
};

class AlongPlot;
class FilmStrip;
class ToggleChip;

class AlongView : public AnalysisFrame {
    Q_OBJECT
public:
    explicit AlongView(QWidget* parent = nullptr);

    /// A result with fewer steps than were asked for is shown as far as it goes.
    void setAlong(const AlongTraining& along);
    const AlongTraining& along() const { return m_along; }
    void clear(const QString& sentence) override;
    bool showResult(const Answer& result) override;
    Answer shown() const override { return core::answerOf(m_along); }
    /// Another cell of the shown map is taken from what is there.
    bool setPlace(const AnalysisPlace& place) override;
    /// "occurs_layer2_relation1", the beginning of the names of frames.
    QString framesName() const;
    /// Writes a picture for each step into a folder; ViewMenu::saved or failed follow.
    void saveFrames(const QString& folder);

    AlongPlot* valuePlot() const { return m_value; }
    AlongPlot* answerPlot() const { return m_answer; }
    FilmStrip* film() const { return m_film; }
    ToggleChip* logChip() const { return m_log; }
    /// Asks for a folder; replaced in tests.
    std::function<QString()> askFolder;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;

private:
    void fill();
    QString cellName() const;

    AlongTraining m_along;
    AnalysisPlace m_place;
    AlongPlot *m_value, *m_answer;
    FilmStrip* m_film;
    ToggleChip* m_log;
};

}  // namespace relascope::widgets
