// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: for each measure a grid of layers by heads, tinted by the mean attention of each
// head to places of that kind.
#pragma once

#include "widgets/analysis/answer_view.h"
#include "widgets/kit/grid_view.h"

namespace relascope::widgets {

class HeadsView : public AnswerView {
    Q_OBJECT
public:
    explicit HeadsView(QWidget* parent = nullptr);

    GridView* grid() const { return m_grid; }
    QString footerText() const;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return widthWithTitle(laidOut()); }

private:
    GridPicture laidOut() const;
    GridView* m_grid;
    ElidedLabel* m_footer;
};

}  // namespace relascope::widgets
