// SPDX-License-Identifier: GPL-3.0-or-later
// Patching maps one below the other: layers by positions, heads or relations, with their scale and
// the value under the pointer. Cells with only an estimate are hatched; exact values replace them.
#pragma once

#include "widgets/analysis/answer_view.h"

namespace relascope::widgets {

class PatchingView : public AnswerView {
    Q_OBJECT
public:
    explicit PatchingView(QWidget* parent = nullptr);

    GridView* grid() const { return m_grid; }
    QString footerText() const;
    /// One scale for all maps, symmetric around 0.
    const ColorScale& scale() const { return *m_scale; }

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return widthWithTitle(laidOut()); }
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    GridPicture laidOut() const;

    std::shared_ptr<ColorScale> m_scale;
    double m_most = 1.0;  ///< the largest magnitude
    ColorBar* m_bar;
    GridView* m_grid;
    ElidedLabel* m_footer;
};

}  // namespace relascope::widgets
