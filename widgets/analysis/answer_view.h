// SPDX-License-Identifier: GPL-3.0-or-later
// The view of an analysis whose result is an Answer: a layout of kit widgets over its tables.
#pragma once

#include "types/answer.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/kit/grid_view.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"

class QFont;

namespace relascope::widgets {

class ElidedLabel;
class TableView;

/// A figure from the top down; without a painter it is only measured.
class FigureLines {
public:
    FigureLines(QPainter* painter, int width) : width(width), m_painter(painter) {}
    /// As many lines as the text needs, and a gap.
    void wrapped(const QString& text, const QFont& font, const QColor& ink);
    void title(const QString& text);
    /// Each line of the text by itself, in the small font.
    void sentences(const QString& text, const QColor& ink);
    /// The first `most` rows; a `wide` of 0 is the width of the figure.
    void table(const TableView& table, int most = 40, int wide = 0);
    void grid(const GridPicture& laidOut);
    void bar(const ColorScale& scale, const QString& caption);
    /// What is painted at the left edge, and has that height.
    void part(int height, const std::function<void(QPainter&)>& paint);

    static constexpr int kMargin = 16;  ///< margin of texts, px
    const int width;
    int y = kMargin / 2;  ///< top of the next line

private:
    QPainter* m_painter;
};

class AnswerView : public AnalysisFrame {
    Q_OBJECT
public:
    using AnalysisFrame::AnalysisFrame;

    const Answer& answer() const { return m_answer; }
    /// An answer that lacks what the view shows is said in its place.
    bool showResult(const Answer& result) override;
    Answer shown() const override { return m_answer; }
    void clear(const QString& sentence) override;
    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;

protected:
    /// A line below all else, for what the pointer is on, with a widget beside it.
    ElidedLabel* addFooter(QWidget* beside = nullptr);
    /// Fills the kit widgets; an answer without tables empties them. What is read later is taken
    /// out here, as this alone may throw Error.
    virtual void fill(const Answer& answer) = 0;
    /// The results as a figure; there are some.
    virtual void draw(FigureLines& lines) const = 0;
    virtual int figureWidth() const { return 1000; }

private:
    Answer m_answer;
};

}  // namespace relascope::widgets
