// SPDX-License-Identifier: GPL-3.0-or-later
// Along training: a cell of a map and the probability of an answer as lines over the kept steps,
// and the map as a film strip.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "types/along.h"
#include "widgets/measure/measure_frame.h"

namespace relascope::widgets {

class AlongPlot;
class FilmStrip;
class ToggleChip;

class AlongView : public MeasureFrame {
    Q_OBJECT
public:
    explicit AlongView(QWidget* parent = nullptr);

    /// A result with fewer steps than were asked for is shown as far as it goes.
    void setAlong(const AlongTraining& along);
    const AlongTraining& along() const { return m_along; }
    void clear(const QString& sentence) override;
    /// The step that is inspected; nullopt: none of the run.
    void setCurrent(std::optional<qint64> step);
    /// "patch (0, 1) → patch (2, 1)"; empty: the numbers.
    void setCellName(const QString& name);
    /// The name of the run, in names of frames.
    void setRunName(const QString& name) { m_run = name; }
    /// "occurs_layer2_relation1", the beginning of the names of frames.
    QString framesName() const;
    /// Writes a picture for each step into a folder; ViewMenu::saved or failed follow.
    void saveFrames(const QString& folder);

    /// Adds a control to the head.
    void addControl(QWidget* control);

    AlongPlot* valuePlot() const { return m_value; }
    AlongPlot* answerPlot() const { return m_answer; }
    FilmStrip* film() const { return m_film; }
    ToggleChip* logChip() const { return m_log; }
    /// The lines as text, set by the application.
    std::function<std::string(const AlongTraining&)> csvOf;
    /// Asks for a folder; replaced in tests.
    std::function<QString()> askFolder;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    QString csv() const override;

Q_SIGNALS:
    void stepChosen(qint64 step);

private:
    void fill();
    QString cellName() const;

    AlongTraining m_along;
    QString m_cellName, m_run;
    AlongPlot *m_value, *m_answer;
    FilmStrip* m_film;
    ToggleChip* m_log;
};

}  // namespace relascope::widgets
