// SPDX-License-Identifier: GPL-3.0-or-later
// The paper's figure of one map: the image with its tinted patches, the matrix, the scale, a
// caption.
#pragma once

#include <QFlags>
#include <QString>
#include <memory>

#include "types/relation_map.h"
#include "widgets/inspector/inspector_view.h"

class QWidget;

namespace relascope::widgets {

class ViewMaps;

enum class FigurePart { Source = 1, Map = 2, SmallMaps = 4 };
Q_DECLARE_FLAGS(FigureParts, FigurePart)

/// The figure as a widget that is never shown, in the theme in force; `run` is named in its
/// caption. Null where there are no maps.
std::unique_ptr<QWidget> makeFigure(const ViewMaps& maps, const InspectorView& view,
                                    FigureParts parts, const QString& run = {});
/// "quick-dat-s0_step384_layer2_relation1"; what is not known is left out.
QString figureName(const ViewMaps& maps, const InspectorView& view, FigureParts parts,
                   const QString& run);

/// Writes the figure of a view to .png (300 dpi), .svg or .pdf, or the values to .csv (one line a
/// row i under a header with j). A view the result does not have becomes the nearest. False with a
/// sentence in `error`; `run` is named in the caption. Needs a QApplication (the offscreen platform
/// will do).
bool renderFigure(const ProbeResult& result, const InspectorView& view, const QString& path,
                  QString* error, const QString& run = {});

Q_DECLARE_OPERATORS_FOR_FLAGS(FigureParts)

}  // namespace relascope::widgets
