// The paper's figure of one map: the image with its tinted patches, the matrix, the scale, a
// caption.
#pragma once

#include <QString>

#include "types/relation_map.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope {

/// Writes the figure of a view to .png (300 dpi), .svg or .pdf, or the values to .csv (one line a
/// row i under a header with j). A view the result does not have becomes the nearest. False with a
/// sentence in `error`. Needs a QApplication (the offscreen platform will do).
bool renderFigure(const ProbeResult& result, const InspectorView& view, const QString& path,
                  QString* error);

}  // namespace relascope
