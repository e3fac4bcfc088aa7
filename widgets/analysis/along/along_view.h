// SPDX-License-Identifier: GPL-3.0-or-later
// Along training: a cell of a map and the probability of an answer as lines over the kept steps,
// and the map as a film strip.
#pragma once

#include <functional>

#include "analysis/along/answer.h"
#include "types/along.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/kit/plot_view.h"

namespace relascope::widgets {

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

    PlotView* valuePlot() const { return m_value; }
    PlotView* answerPlot() const { return m_answer; }
    FilmStrip* film() const { return m_film; }
    ToggleChip* logChip() const { return m_log; }
    /// Asks for a folder; replaced in tests.
    std::function<QString()> askFolder;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;

private:
    void fill();
    PlotData plotOf(bool answer) const;

    AlongTraining m_along;
    AnalysisPlace m_place;
    PlotView *m_value, *m_answer;
    FilmStrip* m_film;
    ToggleChip* m_log;
};

}  // namespace relascope::widgets
