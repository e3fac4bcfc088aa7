// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/first_view.h"

#include <algorithm>

#include "app/controllers/typed_text.h"
#include "widgets/source/patch_view.h"

namespace relascope::app {

void showTextMap(const ProbeSequence& text, widgets::InspectorView* view) {
    const auto& pieces = text.labels;
    view->source = std::max(0, text.size() - 1);
    view->target = std::max(0, text.size() - 2);
    for (auto i = std::ssize(pieces) - 1; i > 0; --i) {
        const auto& piece = pieces[static_cast<std::size_t>(i)];
        if (piece.find_first_not_of(" \n\t") == std::string::npos) continue;
        for (auto j = i - 1; j >= 0; --j) {
            if (pieces[static_cast<std::size_t>(j)] != piece) continue;
            view->source = static_cast<int>(i);
            view->target = static_cast<int>(j);
            return;
        }
    }
}

widgets::InspectorView firstView(const ProbeResult& result) {
    widgets::InspectorView view;
    const auto relation =
        std::find_if(result.maps.begin(), result.maps.end(),
                     [](const RelationMap& map) { return map.kind == MapKind::Relation; });
    if (relation != result.maps.end()) view.layer = relation->layer;
    if (result.grid.tokens() == 0 && !isOneText(result.sample)) {
        view.target = 1;
        return view;
    }
    if (isOneText(result.sample)) {
        showTextMap(result.sample.source, &view);
        return view;
    }
    const Image& image = result.sample.image;
    const PatchGrid& grid = result.grid;
    std::vector<int> tokens;
    for (int patch = 0; patch < grid.rows * grid.columns && tokens.size() < 2 && !image.empty();
         ++patch) {
        const QRect box = widgets::patchRect(grid, patch, {image.width, image.height});
        const auto first = image.pixels[image.index(box.top(), box.left(), 0)];
        bool varied = false;
        for (int y = box.top(); y <= box.bottom() && !varied; ++y)
            for (int x = box.left(); x <= box.right() && !varied; ++x)
                varied = image.pixels[image.index(y, x, 0)] != first;
        if (varied) tokens.push_back(widgets::tokenOfPatch(grid, patch));
    }
    view.source = tokens.empty() ? grid.firstTokens() : tokens.front();
    view.target = tokens.size() < 2 ? view.source : tokens.back();
    return view;
}

}  // namespace relascope::app
