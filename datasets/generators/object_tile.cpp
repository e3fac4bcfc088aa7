// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/object_tile.h"

#include <array>
#include <opencv2/imgproc.hpp>

namespace relascope::datasets {
namespace {

constexpr std::array<std::array<int, 3>, 8> kHues = {{{0, 114, 178},
                                                      {230, 159, 0},
                                                      {0, 158, 115},
                                                      {204, 121, 167},
                                                      {86, 180, 233},
                                                      {213, 94, 0},
                                                      {240, 228, 66},
                                                      {90, 90, 90}}};

}  // namespace

Image objectTile(int hue, const std::string& characters) {
    const auto& c = kHues[static_cast<std::size_t>(hue % static_cast<int>(kHues.size()))];
    Image tile{kTileSide, kTileSide, 3, std::vector<std::uint8_t>(kTileSide * kTileSide * 3)};
    cv::Mat picture(kTileSide, kTileSide, CV_8UC3, tile.pixels.data());
    picture = cv::Scalar(c[0], c[1], c[2]);
    // Luminance of Rec. 709, for a readable text colour.
    const bool dark = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] < 110.0;
    constexpr int font = cv::FONT_HERSHEY_SIMPLEX;
    const double scale = characters.size() > 1 ? 0.55 : 0.7;
    int baseline = 0;
    const auto box = cv::getTextSize(characters, font, scale, 2, &baseline);
    cv::putText(picture, characters, {(kTileSide - box.width) / 2, (kTileSide + box.height) / 2},
                font, scale, dark ? cv::Scalar(255, 255, 255) : cv::Scalar(0, 0, 0), 2,
                cv::LINE_AA);
    return tile;
}

}  // namespace relascope::datasets
