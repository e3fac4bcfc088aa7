// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures as the bytes of files, which say what they are of (OriginScope). Sizes are in px of a
// screen. False where the file cannot be written.
#pragma once

#include <QColor>
#include <QImage>
#include <QRect>
#include <QString>
#include <functional>

class QIODevice;
class QPainter;
class QSaveFile;

namespace relascope::widgets {

inline constexpr double screenDpi = 96.0;
using Paint = std::function<void(QPainter&)>;

QImage emptyPicture(const QSize& size, double scale, const QColor& ground);
bool savePng(QImage image, QIODevice& file);
bool writeSvg(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file);
/// A picture always gives the same bytes.
bool writePdf(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file);
bool writePng(const Paint& paint, const QRect& box, const QColor& ground, int dpi, QSaveFile& file);

}  // namespace relascope::widgets
