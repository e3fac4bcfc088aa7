// SPDX-License-Identifier: GPL-3.0-or-later
#include <png.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "probe/map_factors.h"
#include "run/capture_maps.h"
#include "run/captures.h"
#include "types/error.h"
#include "types/map_cells.h"
#include "types/map_colors.h"

namespace relascope::core {

std::string pngBytes(const Image& image) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = PNG_FORMAT_RGB;
    png.flags = PNG_IMAGE_FLAG_FAST;  // of enlarged maps three times as fast, and as small
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);  // asking for the size would write it
    std::string bytes(size, '\0');
    if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr))
        throw Error(std::string("an image could not be written as PNG: ") + png.message);
    bytes.resize(size);
    return bytes;
}

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

namespace {

constexpr std::array kStoredKinds = {MapKind::Relation, MapKind::RelationalAttention,
                                     MapKind::SensoryAttention, MapKind::Symbols};
constexpr std::int64_t kLargestSide = 1 << 20, kMostMaps = 1 << 16;

std::string keyOf(MapKind kind, int layer) {
    return std::string(mapKindName(kind)) + "/" + std::to_string(layer);
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
            auto& samples = groups[keyOf(map.kind, map.layer)];
            samples.resize(results.size());
            samples[sample].push_back(&map);
        }
    for (const auto& [key, samples] : groups) add(key, samples);
}

void StoredMaps::add(const std::string& key, const std::vector<Group>& samples) {
    const RelationMap& first = *samples.front().front();
    if (first.causal) m_metadata["causal_" + key] = "1";
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
    return maps;
}

}  // namespace relascope::core
