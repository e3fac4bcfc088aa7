// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs as a model scores them: phenomena, pairs, and the tokens of the chosen pair, both
// sentences above each other.
#pragma once

#include <memory>

#include "widgets/analysis/answer_view.h"

class QPushButton;

namespace relascope::widgets {

class PairsView : public AnswerView {
    Q_OBJECT
public:
    explicit PairsView(QWidget* parent = nullptr);

    TableView* phenomena() const { return m_phenomena; }
    TableView* pairs() const { return m_pairs; }
    GridView* tokens() const { return m_tokens; }
    QPushButton* inspectButton() const { return m_inspect; }
    QString footerText() const;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    void changeEvent(QEvent* event) override;

private:
    /// Shows the pairs of a phenomenon; empty: all.
    void showPairs(const std::string& phenomenon);
    void showTokens(int row);
    void restyle();

    std::shared_ptr<ColorScale> m_scale;
    ColorBar* m_bar;
    TableView *m_phenomena, *m_pairs;
    QPushButton* m_inspect;
    GridView* m_tokens;
    ElidedLabel* m_footer;
    Table m_all;                      ///< all pairs
    std::vector<std::size_t> m_rows;  ///< of `m_all`, by row of the table of pairs
    int m_shown = -1;                 ///< the row of `m_rows` whose tokens are shown
    double m_most = 0.0;              ///< the largest |difference| of a token of the shown pair
};

}  // namespace relascope::widgets
