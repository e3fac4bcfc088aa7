// SPDX-License-Identifier: GPL-3.0-or-later
// The view of an analysis whose result is an Answer: a layout of kit widgets over its tables.
#pragma once

#include "types/answer.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/kit/grid_view.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"

namespace relascope::widgets {

class ElidedLabel;

class AnswerView : public AnalysisFrame {
    Q_OBJECT
public:
    using AnalysisFrame::AnalysisFrame;

    const Answer& answer() const { return m_answer; }
    /// An answer that lacks what the view shows is said in its place.
    bool showResult(const Answer& result) override;
    Answer shown() const override { return m_answer; }
    void clear(const QString& sentence) override;

protected:
    /// A line below all else, for what the pointer is on, with a widget beside it.
    ElidedLabel* addFooter(QWidget* beside = nullptr);
    /// Fills the kit widgets; an answer without tables empties them. What is read later is taken
    /// out here, as this alone may throw Error.
    virtual void fill(const Answer& answer) = 0;

private:
    Answer m_answer;
};

/// A figure of a grid with a wrapped title above it and, where there is one, a scale below.
struct GridFigure {
    GridPicture picture;
    QString title;
    int width = 1000;  ///< that the panels are laid out for, px
    std::optional<ColorScale> scale = {};
    QString scaleCaption = {};

    QSize size() const;
    void paint(QPainter& painter) const;
};

}  // namespace relascope::widgets
