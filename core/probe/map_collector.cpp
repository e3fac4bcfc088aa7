// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <tuple>

#include "probe/layers.h"
#include "probe/map_collector.h"

namespace relascope::core {
namespace {

std::vector<float> floatsOf(const torch::Tensor& tensor) {
    const auto values = tensor.detach().to(torch::kCPU, torch::kFloat).contiguous();
    const float* begin = values.const_data_ptr<float>();
    return {begin, begin + values.numel()};
}

}  // namespace

MapCollector::MapCollector(const ModelOptions& options, LayerDone layerDone)
    : m_options(options),
      m_places(options.info().layers(options)),
      m_layerDone(std::move(layerDone)) {}

MapKind MapCollector::scoresKind(const std::string& module, int layer) const {
    return isRelational(module, m_places[static_cast<std::size_t>(layer)])
               ? MapKind::RelationalAttention
               : MapKind::SensoryAttention;
}

int MapCollector::symbolsLayer(const std::string& module, int retrieval) const {
    return layerOfSymbols(m_places, m_options, module, retrieval);
}

void MapCollector::enter(int layer) {
    if (layer < 0 || layer == m_layer) return;
    if (m_layer >= 0 && m_layerDone) m_layerDone(*this, m_layer);
    m_layer = layer;
}

int MapCollector::enter(const std::string& module) {
    const int layer = layerOfModule(m_places, module);
    enter(layer);
    return layer;
}

void MapCollector::scores(const std::string& module, const InnerProducts& alpha) {
    if (const int layer = enter(module); layer >= 0) add(scoresKind(module, layer), layer, alpha);
}

void MapCollector::relations(const std::string& module, const InnerProducts& r) {
    const int layer = enter(module);
    if (layer >= 0 && isRelational(module, m_places[static_cast<std::size_t>(layer)]))
        add(MapKind::Relation, layer, r);
}

void MapCollector::scores(const std::string& module, const torch::Tensor& alpha) {
    if (const int layer = enter(module); layer >= 0)
        add(scoresKind(module, layer), layer, alpha[0]);
}

void MapCollector::relations(const std::string& module, const torch::Tensor& r) {
    const int layer = enter(module);
    if (layer >= 0 && isRelational(module, m_places[static_cast<std::size_t>(layer)]))
        add(MapKind::Relation, layer, r[0].permute({2, 0, 1}));
}

// Symbols may be retrieved for a later layer, so they do not tell which layer runs.
void MapCollector::symbols(const std::string& module, int retrieval, const InnerProducts& weights) {
    if (const int layer = symbolsLayer(module, retrieval); layer >= 0)
        add(MapKind::Symbols, layer, weights);
}

void MapCollector::symbols(const std::string& module, int retrieval, const torch::Tensor& weights) {
    if (const int layer = symbolsLayer(module, retrieval); layer >= 0)
        add(MapKind::Symbols, layer, weights[0]);
}

void MapCollector::positionalSymbols(const std::string& module, int retrieval, std::int64_t n) {
    if (const int layer = symbolsLayer(module, retrieval); layer >= 0)
        add(MapKind::Symbols, layer, 1, n, n, std::make_shared<IdentityRows>(n));
}

void MapCollector::relativeSymbols(const std::string& module, int retrieval, std::int64_t n,
                                   std::int64_t most) {
    if (const int layer = symbolsLayer(module, retrieval); layer >= 0)
        add(MapKind::Symbols, layer, 1, n, n, std::make_shared<OffsetRows>(n, most), true);
}

void MapCollector::hidden(const std::string&, const torch::Tensor&) {
    if (m_layer >= 0 && m_layerDone) m_layerDone(*this, m_layer);
    m_layer = -1;
}

std::shared_ptr<const std::vector<float>> MapCollector::columnsOf(const torch::Tensor& keys) {
    auto& columns = m_keys[keys.const_data_ptr()];
    if (!columns) {
        columns = std::make_shared<const std::vector<float>>(floatsOf(keys.transpose(1, 2)));
        m_held.push_back(keys);
    }
    return columns;
}

// The factors come to the CPU also from a GPU: they are a fraction of the maps, outlive the model,
// and make a map in about a millisecond when it is read, which copying the map would take as well.
void MapCollector::add(MapKind kind, int layer, const InnerProducts& products) {
    const auto q = products.q.detach()[0], k = products.k.detach()[0];  // [maps or groups, n, w]
    MapFactors f;
    f.maps = q.size(0), f.rows = q.size(1), f.width = q.size(2);
    f.groups = k.size(0), f.columns = k.size(1);
    f.scale = products.scale, f.activation = products.activation, f.causal = products.causal;
    f.queries = floatsOf(q);
    // Only the keys of a library outlive the layer.
    f.keys = kind == MapKind::Symbols
                 ? columnsOf(k)
                 : std::make_shared<const std::vector<float>>(floatsOf(k.transpose(1, 2)));
    const int maps = static_cast<int>(f.maps);
    const auto rows = f.rows, columns = f.columns;
    const bool smaller = f.floats() < f.mapFloats();
    auto source = std::make_shared<FactoredMaps>(std::move(f));
    add(kind, layer, maps, rows, columns, std::move(source));
    if (smaller) return;
    for (auto map = m_maps.end() - maps; map != m_maps.end(); ++map) {
        map->values = map->all();
        map->source.reset();
    }
}

void MapCollector::add(MapKind kind, int layer, torch::Tensor maps) {
    // Library rows are recorded as integers, weights as floating point.
    const bool libraryRows = kind == MapKind::Symbols && !maps.is_floating_point();
    const auto rows = maps.size(1), columns = maps.size(2);
    add(kind, layer, static_cast<int>(maps.size(0)), rows, columns, nullptr, libraryRows);
    const auto first = m_maps.end() - maps.size(0);
    for (std::int64_t index = 0; index < maps.size(0); ++index)
        first[index].values = floatsOf(maps[index]);
}

void MapCollector::add(MapKind kind, int layer, int count, std::int64_t rows, std::int64_t columns,
                       std::shared_ptr<const MapSource> source, bool libraryRows) {
    const auto& place = m_places[static_cast<std::size_t>(layer)];
    for (int index = 0; index < count; ++index) {
        RelationMap map;
        map.kind = kind, map.layer = layer, map.index = index;
        map.rows = static_cast<int>(rows), map.columns = static_cast<int>(columns);
        map.causal = kind != MapKind::Symbols && place.causal;
        map.libraryRows = libraryRows;
        map.source = source;
        m_maps.push_back(std::move(map));
    }
}

std::vector<RelationMap> MapCollector::maps() const {
    auto sorted = m_maps;
    std::stable_sort(sorted.begin(), sorted.end(), [](const RelationMap& a, const RelationMap& b) {
        return std::tie(a.kind, a.layer, a.index) < std::tie(b.kind, b.layer, b.index);
    });
    return sorted;
}

}  // namespace relascope::core
