// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens: what the model would answer after each layer, as a table over positions and as
// bars for one of them.
#pragma once

#include <functional>

#include "types/lens.h"
#include "widgets/measure/measure_frame.h"

class QLabel;

namespace relascope::widgets {

class LensBars;
class LensGrid;

class LensView : public MeasureFrame {
    Q_OBJECT
public:
    explicit LensView(QWidget* parent = nullptr);

    /// A result of one column (one answer for the whole input, or one position) is shown as bars
    /// alone.
    void setResult(const LensResult& result);
    const LensResult& result() const;
    void clear(const QString& sentence) override;
    int column() const;
    void chooseColumn(int column);

    LensGrid* grid() const { return m_grid; }
    LensBars* bars() const { return m_bars; }
    /// The table as text, set by the application.
    std::function<std::string(const LensResult&)> csvOf;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    QString csv() const override;

Q_SIGNALS:
    void columnChosen(int column);

private:
    void showColumn();
    bool single() const;
    QString columnTitle() const;

    LensGrid* m_grid;
    QWidget* m_scale;
    QWidget* m_line;
    QLabel* m_title;
    LensBars* m_bars;
};

}  // namespace relascope::widgets
