// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of objects: how large they stand in a given room, and how they are enlarged.
#pragma once

#include <QImage>
#include <QRect>
#include <vector>

#include "types/relation_map.h"

class QPainter;

namespace relascope::widgets {

/// Grey or RGB bytes as a picture; null when empty or when the bytes do not fill the size.
QImage toQImage(const Image& image);
/// Those of a sequence, one an object; empty where it has none or not one each.
std::vector<QImage> picturesOf(const ProbeSequence& sequence);

/// Small tiles are looked at pixel by pixel and enlarged by whole factors, larger pictures (cards)
/// are smoothed.
bool isPixelArt(const QSize& picture);
/// The size at which a picture of that size stands in `room`, its shape kept; no picture is drawn
/// more than four times as large as it is.
QSize shownSize(const QSize& picture, const QSize& room);
/// Where it stands: in the middle.
QRect shownPlace(const QSize& picture, const QRect& room);
void drawPicture(QPainter& painter, const QRect& room, const QImage& picture);

}  // namespace relascope::widgets
