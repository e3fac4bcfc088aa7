// SPDX-License-Identifier: GPL-3.0-or-later
// A scan: its findings and what was not found as sentences, and below them the table of all parts.
#pragma once

#include <QWidget>
#include <set>

#include "analysis/scan.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QListWidget;

namespace relascope::widgets {

class ScanView : public AnswerView {
    Q_OBJECT
public:
    explicit ScanView(QWidget* parent = nullptr);

    const ModelScan& result() const { return m_scan; }
    /// How hypotheses of one's own stand, then two lines for each finding: what it means, and the
    /// numbers behind it, which unfold by a click on the arrow, or by Right and Left; then what was
    /// not found. A click or Enter on a finding shows its map at its best example in the inspector.
    QListWidget* sentences() const { return m_sentences; }
    TableView* table() const { return m_table; }

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void open(int row);
    void fold(std::size_t finding, bool folded);
    int findingAt(int row) const;  // -1: none

    ModelScan m_scan;
    int m_first = 0;               // line of the first finding
    std::set<std::size_t> m_open;  // findings whose numbers are shown
    QListWidget* m_sentences;
    TableView* m_table;
};

}  // namespace relascope::widgets
