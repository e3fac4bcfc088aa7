// SPDX-License-Identifier: GPL-3.0-or-later
// Patching maps one below the other: coloured cells of layers by positions, heads or relations.
#pragma once

#include <functional>
#include <vector>

#include <QStringList>
#include <QWidget>

#include "types/edit_results.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/maps/color_map.h"

class QScrollArea;

namespace relascope::widgets {

// The patching maps of two inputs, with their scale and the value under the pointer.

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
    void clear(const QString& sentence) override;

    PatchMaps* grid() const { return m_grid; }
    QString footerText() const;
    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const PatchResult&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return result(); }

Q_SIGNALS:
    void cellChosen(int map, int row, int column);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fit();
    QString figureTitle() const;
    QRect figureHead(int width) const;
    QScrollArea* m_scroll;
    PatchMaps* m_grid;
    ColorBar* m_bar;
    ElidedLabel* m_footer;
};

struct PatchPlace {
    int map = -1, row = -1, column = -1;
    bool operator==(const PatchPlace&) const = default;
};

class PatchMaps : public QWidget {
    Q_OBJECT
public:
    explicit PatchMaps(QWidget* parent = nullptr);

    void setResult(const PatchResult& result);
    const PatchResult& result() const { return m_result; }
    /// Lays the maps out for a viewport of that width.
    void fit(int width);
    QSize layoutSize() const { return m_size; }
    /// One scale for all maps, symmetric around 0.
    ColorScale scale() const;

    PatchPlace placeAt(const QPoint& at) const;  ///< map -1: none
    QRect cellRect(const PatchPlace& place) const;
    /// The exact value, else the estimate, else NaN.
    double value(const PatchPlace& place) const;
    bool isExact(const PatchPlace& place) const;
    /// "layer 2, position 4 “ball”: 0.412 (estimate 0.380)".
    QString text(const PatchPlace& place) const;
    PatchPlace current() const { return m_current; }
    void setCurrent(const PatchPlace& place);
    void paint(QPainter& painter) const;

    QSize sizeHint() const override { return m_size; }

Q_SIGNALS:
    void hovered(const relascope::widgets::PatchPlace& place);
    void cellChosen(int map, int row, int column);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Box {
        QRect cells;
        int cell = 0;          ///< width of a cell
        int labels = 0;        ///< height of the labels of columns
        bool names = false;    ///< they are names, not numbers
        bool upright = false;  ///< names that are wider than a cell are turned
    };
    QString columnText(const PatchMap& map, int column) const;
    void paintMap(QPainter& painter, int map, const ColorScale& scale) const;
    void paintColumns(QPainter& painter, int map) const;

    PatchResult m_result;
    QStringList m_positions;
    std::vector<Box> m_boxes;
    QSize m_size;
    PatchPlace m_current;
    int m_width = 800;
};

}  // namespace relascope::widgets
