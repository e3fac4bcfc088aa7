// SPDX-License-Identifier: GPL-3.0-or-later
// What a token of a vision model is called and which piece of the image it stands for.
#pragma once

#include <QImage>
#include <QRect>
#include <QString>
#include <vector>

#include "types/relation_map.h"
#include "widgets/source/pictures.h"

namespace relascope::widgets {

/// How one row or column of a map is marked on the axis.
struct AxisToken {
    QString label;        ///< short: "cls", "0,2", "17"
    QString name;         ///< in a sentence: "class token", "patch (0, 2)"
    QImage picture;       ///< null where there is none
    bool byName = false;  ///< the label alone does not say which one: two tokens may be alike
    QString place;        ///< of a piece of text, for the box at the pointer: 39 “ball”
};

/// Patch of a token, -1 for the class token or beyond the grid.
int patchOfToken(const PatchGrid& grid, int token);
int tokenOfPatch(const PatchGrid& grid, int patch);
/// "patch (row, column)", "class token" or, without a grid, "token 7".
QString tokenName(const PatchGrid& grid, int token);
/// "(row,column)", "cls" or "7".
QString tokenLabel(const PatchGrid& grid, int token);
/// The pixels of a patch in an image of that size.
QRect patchRect(const PatchGrid& grid, int patch, const QSize& image);

/// The tokens of a sample, as many as `count` (its own number for a map of another size).
std::vector<AxisToken> patchTokens(const ProbeResult& result, int count);
/// Tokens that are only numbered: the symbols of a library.
std::vector<AxisToken> numberedTokens(int count, const QString& word);

}  // namespace relascope::widgets
