// SPDX-License-Identifier: GPL-3.0-or-later
// A map along training as pictures: which kept steps become frames, their common scale, and how a
// frame is drawn. No widget.
#pragma once

#include <QString>
#include <vector>

#include "types/along.h"
#include "widgets/maps/color_map.h"

class QPainter;
class QRect;

namespace relascope::widgets {

/// Indices of at most `count` steps, evenly spaced in log(step + 1), with the first and the last.
std::vector<int> frameSteps(const AlongTraining& along, int count);
/// The values of a step, with the edits if there are any.
MapValues frameValues(const AlongTraining& along, int at);
/// One scale for all steps, in the current theme: about zero for r, from zero for weights.
ColorScale filmScale(const AlongTraining& along);

/// "Layer 2, relation 1", "Layer 1, relational attention 3".
QString filmTitle(const AlongTraining& along);
/// "layer2_relation1", for names of files.
QString filmFileName(const AlongTraining& along);
/// "r_ij", with an underscore before a subscript.
QString filmSymbol(MapKind kind);

/// The size of a map whose cells fit into `room`: whole pixels a cell, or several cells a pixel.
QSize filmFrameSize(const AlongTraining& along, const QSize& room);
/// Draws a map of that size at `place`, and the box of the chosen cell where cells have 3 pixels.
void paintFrame(QPainter& painter, const QRect& place, const AlongTraining& along, int at,
                const ColorScale& scale);
/// The scale with its ends and what it shows, centred in a box 34 px high.
void paintFilmScale(QPainter& painter, const QRect& box, const ColorScale& scale,
                    const QString& caption);

}  // namespace relascope::widgets
