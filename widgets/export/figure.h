// SPDX-License-Identifier: GPL-3.0-or-later
// Curves and bars as pgfplots source for LaTeX.
#pragma once

#include <memory>
#include <vector>

#include <QColor>
#include <QFlags>
#include <QSize>
#include <QString>
#include <QStringList>

#include "types/relation_map.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {

/// One line; NaN interrupts it. A band is drawn if `low` and `high` are as long as `x`.
struct PgfSeries {
    QString name;
    QColor color;
    bool dashed = false;
    std::vector<double> x, y, low, high;
};

struct PgfPlot {
    QString title, xLabel, yLabel;
    bool logX = false, logY = false;
    std::vector<PgfSeries> series;
};

struct PgfBars {
    QString title, xLabel, yLabel;
    QColor color;
    QStringList labels;
    std::vector<double> values;
};

/// A tikzpicture with the plots side by side; `caption` becomes a comment on top. Lines of
/// more than some hundred points are thinned out.
QString pgfplotsText(const QString& caption, const std::vector<PgfPlot>& plots);
QString pgfplotsText(const QString& caption, const PgfBars& bars);
/// Escapes text for LaTeX.
QString latexText(QString text);

}  // namespace relascope::widgets

// The paper's figure of one map: the image with its tinted patches, the matrix, the
// scale, a caption.

class QWidget;

namespace relascope::widgets {

class ViewMaps;
struct LayerMaps;

enum class FigurePart { Source = 1, Map = 2, SmallMaps = 4 };
Q_DECLARE_FLAGS(FigureParts, FigurePart)
Q_DECLARE_OPERATORS_FOR_FLAGS(FigureParts)

/// The size of the small maps in a figure.
inline constexpr QSize kSmallMapsSize(480, 460);

/// Whose maps a figure shows, for its caption.
struct FigureSubject {
    QString name;       ///< name of the run or checkpoint
    bool steps = true;  ///< its weights are those of a run's step
};

/// The figure as a hidden widget in the current theme, with its caption below the panels. For a
/// paper the caption is its accessible description only, and neither j nor a cell is marked; i
/// remains, as it says whose values tint the source. The small maps are those given, if there are
/// any. Null if there are no maps.
std::unique_ptr<QWidget> makeFigure(const ViewMaps& maps, const InspectorView& view,
                                    FigureParts parts, const FigureSubject& subject = {},
                                    const LayerMaps* small = nullptr);
/// "relation1", "relational-attention3", "attention1-x-relation2".
QString mapFileName(MapKind kind, int index, int head);
/// "quick-dat-s0_step384_layer2_relation1"; unknown parts are omitted.
QString figureName(const ViewMaps& maps, const InspectorView& view, FigureParts parts,
                   const QString& run);

/// Writes the figure of a view to .png (300 dpi), .svg or .pdf, or the values to .csv (one line per
/// row i under a header with j). A view that the result does not have is replaced by the nearest
/// one. Returns false with a message in `error` on failure. Needs a QApplication (on the offscreen
/// platform, too).
bool renderFigure(const ProbeResult& result, const InspectorView& view, const QString& path,
                  QString* error, const FigureSubject& subject = {},
                  FigureParts parts = FigurePart::Source | FigurePart::Map);

/// Writes the input several times side by side, tinted by one relation at the layer and source of
/// each view, with a title above each: the figures of the papers. Files and errors as for
/// renderFigure().
bool renderTints(const ProbeResult& result, const std::vector<InspectorView>& views,
                 const QString& path, QString* error, const FigureSubject& subject);

}  // namespace relascope::widgets
