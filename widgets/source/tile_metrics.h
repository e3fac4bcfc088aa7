// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of tiles in pixels. Private to TileView and its layout.
#pragma once

namespace relascope::widgets::tiles {

inline constexpr int gap = 4;
inline constexpr int edge = 2;         ///< room for the outline of a tile at the border
inline constexpr int headHeight = 22;  ///< of a group's title
inline constexpr int groupGap = 10;
inline constexpr int wordHeight = 22;
inline constexpr int numberHeight = 15;  ///< more, with a number below the word
inline constexpr int widestWord = 160;
inline constexpr int vectorWidth = 64;
inline constexpr int vectorHeight = 48;
inline constexpr int captionHeight = 14;  ///< a line of words below a picture
inline constexpr int padding = 4;         ///< around a picture: the tint
inline constexpr int shortestWord = 38;   ///< px of a caption, however small the picture
inline constexpr int smallestPicture = 28;
inline constexpr int largestTile = 140;

}  // namespace relascope::widgets::tiles
