// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the inspector: titles, captions of scales, and the footer with exact values.
#pragma once

#include <QString>

#include "widgets/inspector/view_maps.h"

namespace relascope::widgets {

/// Between the parts of footerText().
inline const QString kFooterDot = QStringLiteral(" \u00B7 ");

/// "Relation 3", "Relational attention, head 1", "α × r, relation 3 and head 1", "Symbols".
QString mapTitle(const InspectorView& view);
/// A title that also knows attention to another sequence: "Cross attention 1".
QString mapTitle(const ViewMaps& maps, const InspectorView& view);
/// Whether attention needs no further word, as the model has one kind of heads.
bool hasOneKindOfHead(const ViewMaps& maps);
/// The title of the layer's attention without relations: "Sensory attention", "Attention".
QString sensoryTitle(const ViewMaps& maps, int layer);
/// "10 × 10, rows i, columns j"; with two sides "7 × 5, rows i target, columns j source".
QString mapSubTitle(const ViewMaps& maps, const InspectorView& view, const MapValues& values);
/// The name of row i (column j) of a view: "patch (0, 1)", "target 3 '7'", "symbol 4".
QString rowName(const ViewMaps& maps, const InspectorView& view, int i);
QString columnName(const ViewMaps& maps, const InspectorView& view, int j);
/// "tanh r_ij, one scale for the layer"; an underscore precedes a subscript.
QString scaleCaption(const ViewMaps& maps, const InspectorView& view);
/// "81 % saturated" if tanh or sigmoid maps more than half of the cells to an end of its range,
/// where colours cannot be distinguished; otherwise empty.
QString saturationText(const InspectorView& view, const MapValues& values);
/// The label of one map of a kind: "r 3", "head 1", "fitted: same kind".
QString itemLabel(const ViewMaps& maps, const MapId& id);
/// "layer 2 · relation 3 · i = patch (0, 1) ← j = patch (2, 1) · r = +1.283 · alpha = 0.112".
/// With `rich` the main number is bold HTML. Empty without a map. Where `before`, the maps without
/// edits, has another value: "r = +1.283 → +0.000".
QString footerText(const ViewMaps& maps, const InspectorView& view, int i, int j, bool rich = false,
                   const ViewMaps* before = nullptr);
/// "true: occurs · answer: occurs 0.934 ✓"; after edits "answer: occurs 0.998 → absent 0.994".
/// With `rich` the names are bold HTML.
QString answerText(const ProbeResult& result, const ProbeResult* before, bool rich = false,
                   bool withLabel = true);
/// The values of a view as a table: a header with j, then one line per row i; masked cells are
/// empty.
QString mapCsv(const ViewMaps& maps, const InspectorView& view);
/// "Computing layer 5 of 24 ..." while the forward pass runs; otherwise empty.
QString computingText(const ViewMaps& maps);
/// Why a kind cannot be shown; empty when it can.
QString absenceReason(const ViewMaps& maps, MapKind kind);
/// Why a layer has no maps of a kind.
QString layerAbsence(const ViewMaps& maps, MapKind kind, int layer);

}  // namespace relascope::widgets
