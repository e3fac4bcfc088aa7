// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/pictures.h"

#include <QPaintEngine>
#include <QPainter>

#include "widgets/maps/color_map.h"

namespace relascope::widgets {
namespace {

constexpr int smallest = 16;  ///< patches: they fill their room, whatever the factor
constexpr int pixelArt = 40;  ///< size in px up to which pictures are not smoothed
constexpr int largestScale = 4;

}  // namespace

QImage toQImage(const Image& image) {
    const std::size_t needed = static_cast<std::size_t>(qMax(0, image.width)) *
                               qMax(0, image.height) * qMax(0, image.channels);
    if (needed == 0 || image.pixels.size() < needed) return {};
    QImage out(image.width, image.height, QImage::Format_RGB32);
    for (int y = 0; y < image.height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(out.scanLine(y));
        const std::uint8_t* from = image.pixels.data() + image.index(y, 0, 0);
        for (int x = 0; x < image.width; ++x, from += image.channels)
            line[x] = image.channels >= 3 ? qRgb(from[0], from[1], from[2])
                                          : qRgb(from[0], from[0], from[0]);
    }
    return out;
}

std::vector<QImage> picturesOf(const ProbeSequence& sequence) {
    std::vector<QImage> pictures;
    if (sequence.pictures.empty() || static_cast<int>(sequence.pictures.size()) != sequence.size())
        return pictures;
    for (const Image& image : sequence.pictures) pictures.push_back(toQImage(image));
    return pictures;
}

bool isPixelArt(const QSize& picture) {
    return qMax(picture.width(), picture.height()) <= pixelArt;
}

QSize shownSize(const QSize& picture, const QSize& room) {
    if (picture.isEmpty() || room.isEmpty()) return {};
    const qreal fits = qMin(static_cast<qreal>(room.width()) / picture.width(),
                            static_cast<qreal>(room.height()) / picture.height());
    qreal scale = fits;
    if (qMax(picture.width(), picture.height()) > smallest) {
        if (isPixelArt(picture) && fits >= 1) scale = static_cast<int>(fits);
        scale = qMin<qreal>(scale, largestScale);
    }
    return {qMax(1, static_cast<int>(picture.width() * scale)),
            qMax(1, static_cast<int>(picture.height() * scale))};
}

QRect shownPlace(const QSize& picture, const QRect& room) {
    const QSize size = shownSize(picture, room.size());
    return {room.left() + (room.width() - size.width()) / 2,
            room.top() + (room.height() - size.height()) / 2, size.width(), size.height()};
}

void drawPicture(QPainter& painter, const QRect& room, const QImage& picture) {
    if (picture.isNull() || room.isEmpty()) return;
    const QRect place = shownPlace(picture.size(), room);
    const bool shrinks = place.width() < picture.width();
    if (isPixelArt(picture.size()) && !shrinks) return drawPixels(painter, place, picture);
    const auto engine = painter.paintEngine()->type();
    if (shrinks && engine != QPaintEngine::SVG && engine != QPaintEngine::Pdf) {
        // Averages all pixels; the smooth transform of QPainter would use only four.
        const qreal ratio = painter.deviceTransform().m11();
        painter.drawImage(place, picture.scaled(place.size() * ratio, Qt::IgnoreAspectRatio,
                                                Qt::SmoothTransformation));
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    painter.drawImage(place, picture);
    painter.restore();
}

}  // namespace relascope::widgets
