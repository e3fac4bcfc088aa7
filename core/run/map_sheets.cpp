// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/map_sheets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "run/captures.h"
#include "types/map_colors.h"
#include "types/map_padding.h"

namespace relascope::core {
namespace {

constexpr std::array kShownKinds = {MapKind::Relation, MapKind::RelationalAttention,
                                    MapKind::SensoryAttention};

std::vector<const RelationMap*> mapsOf(const ProbeResult& result, MapKind kind, int layer) {
    std::vector<const RelationMap*> maps;
    for (const auto& map : result.maps)
        if (map.kind == kind && map.layer == layer && map.complete() && map.cells() > 0)
            maps.push_back(&map);
    return maps;
}

std::string layerName(const ProbeResult& result, int layer) {
    const auto at = static_cast<std::size_t>(layer);
    return at < result.layers.size() && !result.layers[at].name.empty()
               ? result.layers[at].name
               : "layer " + std::to_string(layer + 1);
}

std::string kindName(MapKind kind, const std::string& layer) {
    if (kind == MapKind::Relation) return "relations";
    if (kind == MapKind::RelationalAttention) return "relational attention";
    return layer.find("cross") == std::string::npos ? "sensory attention" : "cross attention";
}

std::string aboutText(const RelationMap& map, int block) {
    const bool isSigned = map.kind == MapKind::Relation;
    std::string text = isSigned ? "r_ij: green is positive, purple negative, grey zero."
                                : "Attention of i to j: dark is 0, yellow the largest.";
    text +=
        " Row i from the top, column j from the left; maps in rows, the first at the upper left.";
    if (map.causal) text += " Masked cells are hatched.";
    text += endsAtPercentiles(map) ? isSigned ? " The colours end at the 2nd and 98th percentile of"
                                              : " The colours end at the 98th percentile of"
                                   : " The colours end at the largest value of";
    text += " the layer in this capture, which is the scalar of the same name under *map scale*.";
    if (block > 1)
        text += " A square is " + std::to_string(block) + " x " + std::to_string(block) +
                " cells, as the one of largest size.";
    return text;
}

void set(Image& image, int x, int y, Rgb color) {
    auto* pixel = image.pixels.data() + image.index(y, x, 0);
    pixel[0] = redOf(color), pixel[1] = greenOf(color), pixel[2] = blueOf(color);
}

Image page(int width, int height) {
    Image image{width, height, 3, {}};
    image.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) set(image, x, y, kLightMapColors.page);
    return image;
}

// A map with squares of `square` pixels, its upper left corner at (left, top).
void drawMap(Image& image, int left, int top, const MapValues& values, const ColorTable& table,
             int square) {
    const auto& colors = kLightMapColors;
    const bool hatched = values.rows * square >= kLeastHatchedMap;
    for (int y = 0; y < values.rows * square; ++y)
        for (int x = 0; x < values.columns * square; ++x) {
            const int row = y / square, column = x / square;
            const float value = values.at(row, column);
            const bool line = onHatch(x, y);
            Rgb color = 0;
            if (values.masked(row, column))
                color = hatched && line ? colors.hatch : colors.masked;
            else if (std::isnan(value))
                color = square >= kLeastHatchedCell && line ? colors.noHatch : colors.notANumber;
            else
                color = table.color(value);
            set(image, left + x, top + y, color);
        }
}

int blockFor(int rows, int columns, int side) {
    return (std::max(rows, columns) + side - 1) / side;
}

}  // namespace

Limits sharedLimits(const std::vector<const RelationMap*>& maps) {
    Extent whole;
    std::vector<float> sample;
    for (const auto* map : maps) {
        whole.include(extentOf(*map));
        if (!endsAtPercentiles(*map)) continue;
        const auto more = scaleSample(*map, static_cast<int>(maps.size()));
        sample.insert(sample.end(), more.begin(), more.end());
    }
    // If nearly all values are 0, percentiles are not meaningful.
    const Extent inner = percentiles(std::move(sample));
    const bool isSigned = !maps.empty() && maps.front()->kind == MapKind::Relation;
    return limitsOf(inner.magnitude() > 0.0F ? inner : whole, isSigned);
}

CaptureSheets::CaptureSheets(std::string folder, std::int64_t step)
    : m_folder(std::move(folder)), m_step(step), m_samples(captureSamples(m_folder, step)) {
    if (m_samples < 1) return;
    const auto first = loadCapture(m_folder, step, 0);
    for (const auto kind : kShownKinds)
        for (int layer = 0; layer < static_cast<int>(first.layers.size()); ++layer)
            if (const auto maps = mapsOf(first, kind, layer); !maps.empty())
                m_groups.push_back(
                    {kind, layer, static_cast<int>(maps.size()), maps[0]->rows, maps[0]->columns});
    std::int64_t maps = 0;
    const auto each = [&](const auto& visit) {
        for (int k = 0; k < sheets(); ++k)
            visit(m_groups[static_cast<std::size_t>(k) % m_groups.size()]);
    };
    each([&](const Group& group) { maps += std::min(group.maps, kMostSheetMaps); });
    if (maps == 0) return;
    m_side = std::min(kLongestSide, static_cast<int>(std::sqrt(kMostSheetCells / maps)));
    each([&](const Group& group) {
        const int block = blockFor(group.rows, group.columns, m_side);
        m_cells += std::int64_t{std::min(group.maps, kMostSheetMaps)} *
                   ((group.rows + block - 1) / block) * ((group.columns + block - 1) / block);
    });
}

int CaptureSheets::sheets() const {
    return static_cast<int>(std::min<std::int64_t>(
        kMostSheets, m_samples * static_cast<std::int64_t>(m_groups.size())));
}

int CaptureSheets::leftOut() const {
    return static_cast<int>(m_samples * static_cast<std::int64_t>(m_groups.size())) - sheets();
}

void CaptureSheets::draw(const std::function<bool(const MapSheet&)>& visit) const {
    int left = sheets();
    for (std::int64_t sample = 0; left > 0; ++sample) {
        int padding = 0;
        const auto result = withoutPadding(
            std::make_shared<ProbeResult>(loadCapture(m_folder, m_step, sample)), &padding);
        for (const auto& group : m_groups)
            if (left-- <= 0 || !visit(sheet(*result, group, sample))) return;
    }
}

MapSheet CaptureSheets::sheet(const ProbeResult& result, const Group& group,
                              std::int64_t sample) const {
    const auto layer = layerName(result, group.layer);
    const auto maps = mapsOf(result, group.kind, group.layer);
    const auto& first = *maps.front();
    const int drawn = std::min(static_cast<int>(maps.size()), kMostSheetMaps);
    const int block = blockFor(first.rows, first.columns, m_side);
    MapSheet sheet;
    sheet.name = kindName(group.kind, layer) + "/" + layer + "/" +
                 (result.sample.origin.empty() ? "sample " + std::to_string(sample + 1)
                                               : result.sample.origin);
    sheet.about = aboutText(first, block);
    sheet.limits = sharedLimits(maps);
    sheet.maps = static_cast<int>(maps.size());
    const bool isSigned = group.kind == MapKind::Relation;
    const ColorTable table(isSigned ? std::span<const Rgb>(kLightMapColors.signedStops)
                                    : std::span<const Rgb>(kLightMapColors.viridis),
                           sheet.limits);
    const int across = static_cast<int>(std::ceil(std::sqrt(drawn)));
    const int down = (drawn + across - 1) / across;
    for (int k = 0; k < drawn; ++k) {
        const auto values = pooled(*maps[static_cast<std::size_t>(k)], block);
        const int longest = std::max(values.rows, values.columns);
        const int least = drawn > 16 ? kLeastSide / 2 : kLeastSide;
        const int square = std::max(1, (least + longest - 1) / longest);
        const int width = values.columns * square + kSheetGap;
        const int height = values.rows * square + kSheetGap;
        if (k == 0) sheet.image = page(across * width - kSheetGap, down * height - kSheetGap);
        drawMap(sheet.image, k % across * width, k / across * height, values, table, square);
    }
    return sheet;
}

}  // namespace relascope::core
