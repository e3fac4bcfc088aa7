// SPDX-License-Identifier: GPL-3.0-or-later
// The patching maps of two inputs, with their scale and the value under the pointer.
#pragma once

#include <functional>

#include "types/edit_results.h"
#include "widgets/measure/measure_frame.h"

class QScrollArea;

namespace relascope::widgets {

class ColorBar;
class ElidedLabel;
class PatchMaps;

class PatchMapView : public MeasureFrame {
    Q_OBJECT
public:
    explicit PatchMapView(QWidget* parent = nullptr);

    /// Cells with only an estimate are hatched; exact values replace them.
    void setResult(const PatchResult& result);
    const PatchResult& result() const;
    /// What stands at the positions: tokens or objects. Empty: their numbers.
    void setPositions(const QStringList& names);
    void clear(const QString& sentence) override;

    PatchMaps* grid() const { return m_grid; }
    QString footerText() const;
    /// The cells as text, set by the application.
    std::function<std::string(const PatchResult&)> csvOf;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    QString csv() const override;

Q_SIGNALS:
    void cellChosen(int map, int row, int column);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fit();
    QString figureTitle() const;
    QRect figureHead(int width) const;
    QStringList m_positions;
    QScrollArea* m_scroll;
    PatchMaps* m_grid;
    ColorBar* m_bar;
    ElidedLabel* m_footer;
};

}  // namespace relascope::widgets
