// SPDX-License-Identifier: GPL-3.0-or-later
// A scan: its findings and what was not found as sentences, and below them the table of all parts.
#pragma once

#include <QWidget>

#include "analysis/scan.h"
#include "widgets/analysis/measure_frame.h"

class QListWidget;
class QPainter;
class QTableWidget;

namespace relascope::widgets {

class ScanView : public MeasureFrame {
    Q_OBJECT
public:
    explicit ScanView(QWidget* parent = nullptr);

    void setResult(const ModelScan& scan);
    const ModelScan& result() const { return m_scan; }
    void clear(const QString& sentence) override;
    /// Findings, then what was not found. A click or Enter on a finding shows its map at its best
    /// example in the inspector.
    QListWidget* sentences() const { return m_sentences; }
    QTableWidget* table() const { return m_table; }

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const ModelScan&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return m_scan; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fillTable();
    void open(int row);
    /// Paints at the origin and returns the height; measures only without a painter.
    int paint(QPainter* painter) const;

    ModelScan m_scan;
    QListWidget* m_sentences;
    QTableWidget* m_table;
};

}  // namespace relascope::widgets
