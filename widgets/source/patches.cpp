// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/patches.h"

namespace relascope::widgets {

int patchOfToken(const PatchGrid& grid, int token) {
    const int patch = token - (grid.classToken ? 1 : 0);
    return patch >= 0 && patch < grid.rows * grid.columns ? patch : -1;
}
int tokenOfPatch(const PatchGrid& grid, int patch) {
    return patch + (grid.classToken ? 1 : 0);
}

QString tokenName(const PatchGrid& grid, int token) {
    if (grid.classToken && token == 0) return QStringLiteral("class token");
    const int patch = patchOfToken(grid, token);
    if (patch < 0) return QStringLiteral("token %1").arg(token);
    return QStringLiteral("patch (%1, %2)").arg(patch / grid.columns).arg(patch % grid.columns);
}

QString tokenLabel(const PatchGrid& grid, int token) {
    if (grid.classToken && token == 0) return QStringLiteral("cls");
    const int patch = patchOfToken(grid, token);
    if (patch < 0) return QString::number(token);
    return QStringLiteral("(%1,%2)").arg(patch / grid.columns).arg(patch % grid.columns);
}

QRect patchRect(const PatchGrid& grid, int patch, const QSize& image) {
    if (grid.columns <= 0 || grid.rows <= 0 || patch < 0) return {};
    const int row = patch / grid.columns;
    const int column = patch % grid.columns;
    const int x0 = column * image.width() / grid.columns;
    const int x1 = (column + 1) * image.width() / grid.columns;
    const int y0 = row * image.height() / grid.rows;
    const int y1 = (row + 1) * image.height() / grid.rows;
    return {x0, y0, x1 - x0, y1 - y0};
}

std::vector<AxisToken> patchTokens(const ProbeResult& result, int count) {
    const QImage image = toQImage(result.sample.image);
    std::vector<AxisToken> tokens;
    tokens.reserve(static_cast<std::size_t>(qMax(0, count)));
    for (int t = 0; t < count; ++t) {
        AxisToken token{tokenLabel(result.grid, t), tokenName(result.grid, t), {}, false};
        const int patch = patchOfToken(result.grid, t);
        if (patch >= 0 && !image.isNull())
            token.picture = image.copy(patchRect(result.grid, patch, image.size()));
        tokens.push_back(std::move(token));
    }
    return tokens;
}

std::vector<AxisToken> numberedTokens(int count, const QString& word) {
    std::vector<AxisToken> tokens;
    for (int t = 0; t < count; ++t)
        tokens.push_back({QString::number(t), QStringLiteral("%1 %2").arg(word).arg(t), {}, false});
    return tokens;
}

}  // namespace relascope::widgets
