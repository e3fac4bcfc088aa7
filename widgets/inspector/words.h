// The inspector's sentences: titles, captions of scales, the footer with its exact numbers.
#pragma once

#include <QString>

#include "widgets/inspector/view_maps.h"

namespace relascope {

/// "Relation 3", "Relational attention, head 1", "α × r, relation 3 and head 1", "Symbols".
QString mapTitle(const InspectorView& view);
/// "10 × 10, rows i, columns j".
QString mapSubTitle(const InspectorView& view, const MapValues& values);
/// "tanh r_ij, one scale for the layer"; an underscore stands before what is set lower.
QString scaleCaption(const InspectorView& view);
/// The words for one map of a kind: "r 3", "head 1".
QString itemLabel(MapKind kind, int index);
/// "layer 2 · relation 3 · i = patch (0, 1) → j = patch (2, 1) · r = +1.283 · alpha = 0.112".
/// With `rich` the main number is bold HTML. An empty text without a map.
QString footerText(const ViewMaps& maps, const InspectorView& view, int i, int j,
                   bool rich = false);
/// The values of a view as a table: a header with j, then one line a row i; masked cells empty.
QString mapCsv(const ViewMaps& maps, const InspectorView& view);
/// Why a kind cannot be shown; empty when it can.
QString absenceReason(const ViewMaps& maps, MapKind kind);

}  // namespace relascope
