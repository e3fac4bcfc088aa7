// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "probe/map_factors.h"
#include "run/capture_maps.h"
#include "run/captures.h"
#include "types/error.h"

namespace relascope::core {

namespace {

constexpr std::array kStoredKinds = {MapKind::Relation, MapKind::RelationalAttention,
                                     MapKind::SensoryAttention, MapKind::Symbols};
constexpr std::int64_t kLargestSide = 1 << 20, kMostMaps = 1 << 16;

std::string keyOf(MapKind kind, int layer) {
    return std::string(mapKindName(kind)) + "/" + std::to_string(layer);
}

constexpr std::string_view kFittedMaps = "fitted/";
std::string fittedKeyOf(const RelationMap& map) {
    return std::string(kFittedMaps) + std::to_string(map.layer) + "/" + std::to_string(map.index);
}

const FactoredMaps* factored(const RelationMap& map) {
    return dynamic_cast<const FactoredMaps*>(map.source.get());
}

void append(std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

// Writing
// ---------------------------------------------------------------------------------------------------

StoredMaps::StoredMaps(const std::vector<ProbeResult>& results) {
    std::map<std::string, std::vector<Group>> groups;  // by key, for each sample
    for (std::size_t sample = 0; sample < results.size(); ++sample)
        for (const auto& map : results[sample].maps) {
            const auto key = map.fitted.empty() ? keyOf(map.kind, map.layer) : fittedKeyOf(map);
            auto& samples = groups[key];
            samples.resize(results.size());
            samples[sample].push_back(&map);
        }
    for (const auto& [key, samples] : groups) add(key, samples);
}

void StoredMaps::add(const std::string& key, const std::vector<Group>& samples) {
    const RelationMap& first = *samples.front().front();
    if (first.causal) m_metadata["causal_" + key] = "1";
    if (!first.fitted.empty()) m_metadata["fact_" + key] = first.fitted;
    if (first.kind == MapKind::Symbols)
        m_metadata["library_rows_" + key] = first.libraryRows ? "1" : "0";
    const std::string shape = std::to_string(first.rows) + " " + std::to_string(first.columns);
    if (factored(first))
        addFactors(key, samples);
    else if (const auto* offsets = dynamic_cast<const OffsetRows*>(first.source.get()))
        m_metadata["symbols_" + key] = shape + " " + std::to_string(offsets->most());
    else if (dynamic_cast<const IdentityRows*>(first.source.get()))
        m_metadata["symbols_" + key] = shape;
    else
        addValues(key, samples);
}

void StoredMaps::addFactors(const std::string& key, const std::vector<Group>& samples) {
    const MapFactors& first = factored(*samples.front().front())->factors();
    const auto count = static_cast<std::int64_t>(samples.size());
    Tensor queries{key + "/queries", {count, first.maps, first.rows, first.width}, {}};
    Tensor keys{key + "/keys", {1, first.groups, first.width, first.columns}, *first.keys};
    // The keys of a library of symbols are the same for every sample.
    const bool own = std::any_of(samples.begin(), samples.end(), [&](const Group& group) {
        return *factored(*group.front())->factors().keys != *first.keys;
    });
    if (own) keys.shape[0] = count, keys.values.clear();
    for (const auto& group : samples) {
        const auto& factors = factored(*group.front())->factors();
        append(queries.values, factors.queries);
        if (own) append(keys.values, *factors.keys);
    }
    std::array<char, 32> scale{};
    const auto end = std::to_chars(scale.data(), scale.data() + scale.size(), first.scale).ptr;
    m_metadata["scale_" + key] = std::string(scale.data(), end);
    m_metadata["activation_" + key] = first.activation;
    if (first.causal) m_metadata["masked_" + key] = "1";
    m_tensors.push_back(std::move(queries));
    m_tensors.push_back(std::move(keys));
}

void StoredMaps::addValues(const std::string& key, const std::vector<Group>& samples) {
    const RelationMap& first = *samples.front().front();
    Tensor maps{key,
                {static_cast<std::int64_t>(samples.size()),
                 static_cast<std::int64_t>(samples.front().size()), first.rows, first.columns},
                {}};
    for (const auto& group : samples)
        for (const auto* map : group) append(maps.values, map->all());
    m_tensors.push_back(std::move(maps));
}

void StoredMaps::addTo(std::vector<TensorToWrite>& out,
                       std::map<std::string, std::string>& metadata) const {
    metadata.insert(m_metadata.begin(), m_metadata.end());
    for (const auto& tensor : m_tensors)
        out.push_back({tensor.key, "F32", tensor.shape, bytesOf(tensor.values)});
}

// Reading
// ---------------------------------------------------------------------------------------------------

namespace {

class MapReader {
public:
    MapReader(const SafetensorsFile& file, std::int64_t sample) : m_file(file), m_sample(sample) {}

    void read(MapKind kind, int layer, std::vector<RelationMap>& maps) {
        m_kind = kind, m_layer = layer, m_key = keyOf(kind, layer);
        if (const auto* values = floats(m_key))
            readValues(*values, maps);
        else if (const auto* queries = floats(m_key + "/queries"))
            readFactors(*queries, maps);
        else if (has("symbols_"))
            readSymbols(maps);
    }

    /// The maps of relations that were fitted afterwards.
    void readFitted(int layers, std::vector<RelationMap>& maps) {
        m_kind = MapKind::Relation;
        for (const auto& entry : m_file.header().tensors) {
            if (!entry.name.starts_with(kFittedMaps)) continue;
            m_key = entry.name;
            int index = -1;
            m_layer = -1;
            const char *at = m_key.data() + kFittedMaps.size(), *end = m_key.data() + m_key.size();
            const auto layer = std::from_chars(at, end, m_layer);
            if (layer.ptr < end) std::from_chars(layer.ptr + 1, end, index);
            if (m_layer < 0 || m_layer >= layers || index < 0 || index >= kMostMaps ||
                m_key != fittedKeyOf({m_kind, m_layer, index}))
                refuse("is no map of a layer");
            const auto* values = floats(m_key);
            if (!values || values->shape.size() != 4 || values->shape[1] != 1)
                refuse("does not have the shape of a capture");
            const auto first = maps.size();
            readValues(*values, maps);
            maps[first].index = index;
            maps[first].fitted = text("fact_");
        }
    }

private:
    const TensorEntry* floats(const std::string& key) const {
        const auto* entry = m_file.find(key);
        return entry && entry->dtype == "F32" ? entry : nullptr;
    }
    bool has(const std::string& prefix) const {
        return m_file.header().metadata.count(prefix + m_key) > 0;
    }
    std::string text(const std::string& prefix) const {
        const auto found = m_file.header().metadata.find(prefix + m_key);
        return found == m_file.header().metadata.end() ? std::string() : found->second;
    }
    [[noreturn]] void refuse(const std::string& what) const {
        throw FileError(m_file.path(), "'" + m_key + "' " + what);
    }
    void checkShape(std::int64_t maps, std::int64_t rows, std::int64_t columns) const {
        if (maps < 1 || rows < 1 || columns < 1 || maps > kMostMaps || rows > kLargestSide ||
            columns > kLargestSide)
            refuse("does not have the shape of a capture");
    }
    std::vector<float> floatsOf(const TensorEntry& entry, std::int64_t sample) const {
        const auto data = sampleBytes(m_file, entry, 4, sample);
        std::vector<float> values(data.size() / sizeof(float));
        std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
        return values;
    }
    RelationMap map(std::int64_t index, std::int64_t rows, std::int64_t columns) const {
        RelationMap map;
        map.kind = m_kind, map.layer = m_layer, map.index = static_cast<int>(index);
        map.rows = static_cast<int>(rows), map.columns = static_cast<int>(columns);
        map.causal = has("causal_");
        map.libraryRows = text("library_rows_") == "1";
        return map;
    }

    void readValues(const TensorEntry& entry, std::vector<RelationMap>& maps) const {
        const auto values = floatsOf(entry, m_sample);
        const auto count = entry.shape[1], rows = entry.shape[2], columns = entry.shape[3];
        checkShape(count, rows, columns);
        // Captures of earlier versions do not state this; weights are at most 1.
        const bool libraryRows =
            has("library_rows_")
                ? text("library_rows_") == "1"
                : m_kind == MapKind::Symbols && rows == columns &&
                      std::any_of(values.begin(), values.end(), [](float v) { return v > 1; });
        for (std::int64_t index = 0; index < count; ++index) {
            auto each = map(index, rows, columns);
            each.libraryRows = libraryRows;
            const auto begin = values.begin() + index * rows * columns;
            each.values.assign(begin, begin + rows * columns);
            maps.push_back(std::move(each));
        }
    }

    void readFactors(const TensorEntry& queries, std::vector<RelationMap>& maps) const {
        const auto* keys = floats(m_key + "/keys");
        if (!keys || keys->shape.size() != 4 || queries.shape.size() != 4)
            refuse("lacks the keys of its factors");
        MapFactors f;
        f.queries = floatsOf(queries, m_sample);
        f.keys = std::make_shared<const std::vector<float>>(
            floatsOf(*keys, keys->shape[0] == 1 ? 0 : m_sample));
        f.maps = queries.shape[1], f.rows = queries.shape[2], f.width = queries.shape[3];
        f.groups = keys->shape[1], f.columns = keys->shape[3];
        checkShape(f.maps, f.rows, f.columns);
        if (keys->shape[2] != f.width || f.width < 1 || f.groups < 1 || f.maps % f.groups != 0)
            refuse("has queries and keys that do not fit together");
        f.activation = text("activation_");
        requireActivation(f.activation);
        f.scale = number(text("scale_"));
        f.causal = has("masked_");
        const auto count = f.maps, rows = f.rows, columns = f.columns;
        const auto source = std::make_shared<FactoredMaps>(std::move(f));
        for (std::int64_t index = 0; index < count; ++index) {
            maps.push_back(map(index, rows, columns));
            maps.back().source = source;
        }
    }

    void readSymbols(std::vector<RelationMap>& maps) const {
        std::array<std::int64_t, 3> numbers = {0, 0, -1};  // rows, columns, offset
        const std::string stated = text("symbols_");
        const char *at = stated.data(), *end = at + stated.size();
        for (auto& value : numbers) {
            const auto [rest, error] = std::from_chars(at, end, value);
            if (error != std::errc()) break;
            at = rest < end ? rest + 1 : end;
        }
        const auto [rows, columns, most] = numbers;
        checkShape(1, rows, columns);
        if (most > kLargestSide) refuse("has an offset that is too large");
        maps.push_back(map(0, rows, columns));
        if (most >= 0)
            maps.back().source = std::make_shared<OffsetRows>(columns, most);
        else
            maps.back().source = std::make_shared<IdentityRows>(columns);
    }

    void requireActivation(const std::string& name) const {
        for (const char* known : {"identity", "relu", "sigmoid", "tanh", "gelu", "silu", "softmax"})
            if (name == known) return;
        refuse("has the unknown activation '" + name + "'");
    }
    double number(const std::string& text) const {
        double value = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || !std::isfinite(value)) refuse("has no scale");
        return value;
    }

    const SafetensorsFile& m_file;
    std::int64_t m_sample;
    MapKind m_kind = MapKind::Relation;
    int m_layer = 0;
    std::string m_key;
};

}  // namespace

std::vector<RelationMap> loadMaps(const SafetensorsFile& file, int layers, std::int64_t sample) {
    std::vector<RelationMap> maps;
    MapReader reader(file, sample);
    for (const auto kind : kStoredKinds)
        for (int layer = 0; layer < layers; ++layer) reader.read(kind, layer, maps);
    reader.readFitted(layers, maps);
    std::stable_sort(maps.begin(), maps.end(), [](const RelationMap& a, const RelationMap& b) {
        return std::tie(a.kind, a.layer, a.index) < std::tie(b.kind, b.layer, b.index);
    });
    return maps;
}

}  // namespace relascope::core
