// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of a language model carry which phenomenon: a heat map of parts by phenomena, and
// what was found in sentences.
#pragma once

#include <memory>

#include "widgets/analysis/answer_view.h"

class QLabel;

namespace relascope::widgets {

class PhenomenaView : public AnswerView {
    Q_OBJECT
public:
    explicit PhenomenaView(QWidget* parent = nullptr);

    GridView* grid() const { return m_grid; }
    QString footerText() const;
    QString findings() const;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    std::shared_ptr<ColorScale> m_scale;
    ColorBar* m_bar;
    GridView* m_grid;
    QLabel* m_findings;
    ElidedLabel* m_footer;
    double m_most = 0.0;  ///< the largest |change|
};

}  // namespace relascope::widgets
