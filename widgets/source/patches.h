// SPDX-License-Identifier: GPL-3.0-or-later
// Names of the tokens of a vision model, and the image patches they represent.
#pragma once

#include <QImage>
#include <QRect>
#include <QString>
#include <vector>

#include "types/relation_map.h"
#include "widgets/source/pictures.h"

namespace relascope::widgets {

/// The mark of a row or column on the axis of a map.
struct AxisToken {
    QString label;        ///< short: "cls", "0,2", "17"
    QString name;         ///< in a sentence: "class token", "patch (0, 2)"
    QImage picture;       ///< null where there is none
    bool byName = false;  ///< the label is ambiguous: two tokens may have the same text
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

/// The marks of `count` tokens of a sample, or of its own number if 0.
std::vector<AxisToken> patchTokens(const ProbeResult& result, int count);
/// Marks with numbers only, for the symbols of a library.
std::vector<AxisToken> numberedTokens(int count, const QString& word);

}  // namespace relascope::widgets
