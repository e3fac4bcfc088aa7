// SPDX-License-Identifier: GPL-3.0-or-later
// A duel: what can be said of the two as sentences, and beside them its tables: answers that
// differ, layers, maps, streams, parts of B in A.
#pragma once

#include <QStringList>
#include <QWidget>
#include <utility>
#include <vector>

#include "analysis/duel.h"
#include "widgets/analysis/measure_frame.h"

class QListWidget;
class QPainter;
class QTableView;

namespace relascope::widgets {

class SegmentedControl;

class DuelView : public MeasureFrame {
    Q_OBJECT
public:
    enum class Table { Answers, Layers, Maps, Streams, Parts };

    explicit DuelView(QWidget* parent = nullptr);

    void setResult(const Duel& duel);
    const Duel& result() const { return m_duel; }
    void clear(const QString& sentence) override;
    QListWidget* sentences() const { return m_sentences; }
    SegmentedControl* choice() const { return m_choice; }
    /// A click or Enter on an answer asks for its example, on a map for that map of B.
    QTableView* table() const { return m_table; }
    void showTable(Table table);

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const Duel&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return m_duel; }
    /// A result is of the A and B that it names.
    bool setPlace(const AnalysisPlace& place) override {
        if (std::exchange(m_subjects, place.run) == place.run) return true;
        clear(QStringLiteral("Not measured."));
        return false;
    }

private:
    void fillTable(bool keepRow);
    void open(int row);
    /// Paints at the origin and returns the height; measures only without a painter.
    int paint(QPainter* painter) const;

    Duel m_duel;
    QString m_subjects;
    Table m_shown = Table::Answers;
    QListWidget* m_sentences;
    SegmentedControl* m_choice;
    QTableView* m_table;
};

}  // namespace relascope::widgets
