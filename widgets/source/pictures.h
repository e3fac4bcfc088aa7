// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of objects: their size in a given rectangle, and how they are scaled.
#pragma once

#include <QImage>
#include <QRect>
#include <vector>

#include "types/relation_map.h"

class QPainter;

namespace relascope::widgets {

/// Grey or RGB bytes as a picture; null when empty or when the bytes do not fill the size.
QImage toQImage(const Image& image);
/// The pictures of a sequence, one per object; empty if it does not have one for each.
std::vector<QImage> picturesOf(const ProbeSequence& sequence);

/// Small pictures are enlarged by whole factors without smoothing, larger ones (cards) are
/// smoothed.
bool isPixelArt(const QSize& picture);
/// The size of a picture scaled to `room` with its aspect ratio kept; enlarged at most four times.
QSize shownSize(const QSize& picture, const QSize& room);
/// The rectangle of the picture, centred.
QRect shownPlace(const QSize& picture, const QRect& room);
void drawPicture(QPainter& painter, const QRect& room, const QImage& picture);

}  // namespace relascope::widgets
