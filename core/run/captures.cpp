// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "files/safetensors.h"
#include "run/capture_maps.h"
#include "run/captures.h"
#include "types/error.h"

namespace relascope::core {

namespace {

std::string fileName(const std::string& folder, std::int64_t step) {
    return folder + "/step-" + std::to_string(step) + ".safetensors";
}

std::int64_t metadataNumber(const SafetensorsFile& file, const std::string& key) {
    const auto found = file.header().metadata.find(key);
    std::int64_t value = -1;
    if (found != file.header().metadata.end())
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    if (value < 0 || value > 1'000'000'000)
        throw FileError(file.path(), "lacks the metadata '" + key + "' of a capture");
    return value;
}

}  // namespace

bool isGrowingCaptureStep(std::int64_t step) {
    if (step <= 4) return true;
    for (int half = 4;; ++half) {
        const auto mark = static_cast<std::int64_t>(std::floor(std::pow(2.0, half / 2.0) + 1e-9));
        if (mark >= step) return mark == step;
    }
}

std::int64_t captureCount(std::int64_t totalSteps, std::int64_t every) {
    if (every > 0) return totalSteps / every + 2;
    std::int64_t count = 1;
    for (int half = 0; half < 80 && std::pow(2.0, half / 2.0) <= static_cast<double>(totalSteps);
         ++half)
        ++count;
    return count + 2;
}

void saveCapture(const std::string& folder, const std::vector<ProbeResult>& results) {
    if (results.empty()) return;
    const auto& first = results.front();
    std::vector<float> probabilities;
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> labels;
    std::map<std::string, std::string> metadata = {
        {"step", std::to_string(first.step)},
        {"layers", std::to_string(first.layers.size())},
        {"grid_rows", std::to_string(first.grid.rows)},
        {"grid_columns", std::to_string(first.grid.columns)},
        {"class_token", first.grid.classToken ? "1" : "0"},
        {"first_tokens", std::to_string(first.grid.firstTokens())},
        {"registers", std::to_string(first.grid.registers)}};
    const auto samples = static_cast<std::int64_t>(results.size());
    for (const auto& result : results) {
        probabilities.insert(probabilities.end(), result.probabilities.begin(),
                             result.probabilities.end());
        pixels.insert(pixels.end(), result.sample.image.pixels.begin(),
                      result.sample.image.pixels.end());
        labels.push_back(result.sample.label);
        metadata["origin_" + std::to_string(labels.size() - 1)] = result.sample.origin;
    }
    for (std::size_t i = 0; i < first.layers.size(); ++i) {
        const auto& layer = first.layers[i];
        const std::string key = "layer_" + std::to_string(i);
        metadata[key] = layer.name;
        metadata[key + "_rows"] = std::to_string(layer.rows);
        metadata[key + "_columns"] = std::to_string(layer.columns);
    }
    for (std::size_t i = 0; i < first.sides.size(); ++i) {
        const std::string key = "side_" + std::to_string(i);
        metadata[key] = first.sides[i].name;
        for (std::size_t k = 0; k < first.sides[i].labels.size(); ++k)
            metadata[key + "_" + std::to_string(k)] = first.sides[i].labels[k];
    }
    for (std::size_t c = 0; c < first.classNames.size(); ++c)
        metadata["class_" + std::to_string(c)] = first.classNames[c];
    const auto& image = first.sample.image;
    std::vector<TensorToWrite> out = {
        {"probabilities",
         "F32",
         {samples, static_cast<std::int64_t>(first.probabilities.size())},
         bytesOf(probabilities)},
        {"images", "U8", {samples, image.height, image.width, image.channels}, pixels},
        {"labels", "I64", {samples}, bytesOf(labels)}};
    const StoredSequences source("", results, &ProbeSample::source),
        target("target_", results, &ProbeSample::target);  // outlive the writing
    for (const auto* side : {&source, &target}) side->addTo(out, metadata);
    const StoredMaps maps(results);
    maps.addTo(out, metadata);
    writeSafetensors(fileName(folder, first.step), std::move(out), metadata);
}

std::vector<std::int64_t> captureSteps(const std::string& folder) {
    std::vector<std::int64_t> steps;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = 0;
        const char* end = name.data() + name.size();
        if (name.rfind("step-", 0) != 0) continue;
        const auto [rest, failed] = std::from_chars(name.data() + 5, end, step);
        if (failed == std::errc() && std::string(rest, end) == ".safetensors")
            steps.push_back(step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::int64_t captureSamples(const std::string& folder, std::int64_t step) {
    const SafetensorsFile file(fileName(folder, step));
    const auto* labels = file.find("labels");
    return labels && labels->shape.size() == 1 ? labels->shape[0] : 0;
}

ProbeResult loadCapture(const std::string& folder, std::int64_t step, std::int64_t sample) {
    const SafetensorsFile file(fileName(folder, step));
    const auto part = [&](const TensorEntry& entry, std::size_t rank) {
        return sampleBytes(file, entry, rank, sample);
    };
    const auto floats = [](const std::vector<std::uint8_t>& data) {
        std::vector<float> values(data.size() / sizeof(float));
        std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
        return values;
    };
    const auto need = [&](const char* name, const char* dtype) -> const TensorEntry& {
        const auto* entry = file.find(name);
        if (!entry || entry->dtype != dtype)
            throw FileError(file.path(), std::string("lacks the tensor '") + name + "'");
        return *entry;
    };

    ProbeResult result;
    result.step = step;
    const auto& metadata = file.header().metadata;
    for (std::size_t i = 0; metadata.count("side_" + std::to_string(i)); ++i) {
        const std::string key = "side_" + std::to_string(i);
        ProbeSide side{metadata.at(key), {}};
        for (std::size_t k = 0; metadata.count(key + "_" + std::to_string(k)); ++k)
            side.labels.push_back(metadata.at(key + "_" + std::to_string(k)));
        result.sides.push_back(std::move(side));
    }
    const int layers =
        static_cast<int>(std::clamp<std::int64_t>(metadataNumber(file, "layers"), 0, 10000));
    for (int i = 0; i < layers; ++i) {  // captures of version 0.1 have no names
        const std::string key = "layer_" + std::to_string(i);
        ProbeLayer layer{"layer " + std::to_string(i + 1)};
        if (const auto name = metadata.find(key); name != metadata.end()) {
            layer.name = name->second;
            const auto side = [&](const char* end) {
                const auto last = static_cast<std::int64_t>(result.sides.size()) - 1;
                return static_cast<int>(std::clamp<std::int64_t>(metadataNumber(file, key + end), 0,
                                                                 std::max<std::int64_t>(0, last)));
            };
            layer.rows = side("_rows");
            layer.columns = side("_columns");
        }
        result.layers.push_back(std::move(layer));
    }
    const bool classToken = metadataNumber(file, "class_token") == 1;
    const auto optional = [&](const char* name) {  // absent up to version 0.7
        return metadata.count(name) ? metadataNumber(file, name) : std::int64_t{0};
    };
    const auto others =
        std::clamp<std::int64_t>(optional("first_tokens") - (classToken ? 1 : 0), 0, 4096);
    result.grid = {static_cast<int>(metadataNumber(file, "grid_rows")),
                   static_cast<int>(metadataNumber(file, "grid_columns")), classToken,
                   static_cast<int>(others),
                   static_cast<int>(std::clamp<std::int64_t>(optional("registers"), 0, others))};
    result.probabilities = floats(part(need("probabilities", "F32"), 2));
    const auto& images = need("images", "U8");
    result.sample.image.pixels = part(images, 4);
    result.sample.image.height = static_cast<int>(images.shape[1]);
    result.sample.image.width = static_cast<int>(images.shape[2]);
    result.sample.image.channels = static_cast<int>(images.shape[3]);
    const auto label = part(need("labels", "I64"), 1);
    std::memcpy(&result.sample.label, label.data(), sizeof result.sample.label);
    if (const auto origin = metadata.find("origin_" + std::to_string(sample));
        origin != metadata.end())
        result.sample.origin = origin->second;
    for (std::size_t c = 0; metadata.count("class_" + std::to_string(c)); ++c)
        result.classNames.push_back(metadata.at("class_" + std::to_string(c)));

    result.sample.source = loadSequence(file, "", sample);
    result.sample.target = loadSequence(file, "target_", sample);
    // The stored names belong to the first sample; use the names of this sample.
    for (const auto* sequence : {&result.sample.source, &result.sample.target}) {
        const std::size_t side = sequence == &result.sample.source ? 0 : 1;
        if (side < result.sides.size() && !sequence->text &&
            result.sides[side].labels.size() == sequence->labels.size())
            result.sides[side].labels = sequence->labels;
    }
    result.maps = loadMaps(file, layers, sample);
    return result;
}

namespace {

template <class T>
std::vector<T> numbersOf(const std::vector<std::uint8_t>& data) {
    std::vector<T> values(data.size() / sizeof(T));
    std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
    return values;
}

std::string wordKey(const std::string& prefix, std::size_t sample, std::size_t element) {
    return prefix + "word_" + std::to_string(sample) + "_" + std::to_string(element);
}

}  // namespace

std::vector<std::uint8_t> sampleBytes(const SafetensorsFile& file, const TensorEntry& entry,
                                      std::size_t rank, std::int64_t sample) {
    if (entry.shape.size() != rank || entry.shape[0] < 1)
        throw FileError(file.path(),
                        "tensor '" + entry.name + "' does not have the shape of a capture");
    if (sample < 0 || sample >= entry.shape[0])
        throw FileError(file.path(), "has " + std::to_string(entry.shape[0]) +
                                         " samples, so there is no sample " +
                                         std::to_string(sample));
    TensorEntry one = entry;
    const std::uint64_t bytes = entry.bytes() / static_cast<std::uint64_t>(entry.shape[0]);
    one.begin = entry.begin + bytes * static_cast<std::uint64_t>(sample);
    one.end = one.begin + bytes;
    std::vector<std::uint8_t> data(bytes);
    file.read(one, data);
    return data;
}

StoredSequences::StoredSequences(std::string prefix, const std::vector<ProbeResult>& results,
                                 ProbeSequence ProbeSample::*side)
    : m_prefix(std::move(prefix)) {
    for (const auto& result : results) {
        const auto& s = result.sample.*side;
        m_sequences.push_back(&s);
        m_tokens.insert(m_tokens.end(), s.tokens.begin(), s.tokens.end());
        m_vectors.insert(m_vectors.end(), s.vectors.begin(), s.vectors.end());
        for (const auto& picture : s.pictures)
            m_pictures.insert(m_pictures.end(), picture.pixels.begin(), picture.pixels.end());
        if (!s.text) continue;
        for (const auto& word : s.labels) {
            m_pieces.insert(m_pieces.end(), word.begin(), word.end());
            m_ends.push_back(static_cast<std::int64_t>(m_pieces.size()));
        }
    }
}

void StoredSequences::addTo(std::vector<TensorToWrite>& out,
                            std::map<std::string, std::string>& metadata) const {
    const auto& first = *m_sequences.front();
    const auto samples = static_cast<std::int64_t>(m_sequences.size()),
               n = static_cast<std::int64_t>(first.size());
    if (n < 1 || (first.text && samples > 1)) return;
    if (first.width > 0)
        out.push_back({m_prefix + "vectors", "F32", {samples, n, first.width}, bytesOf(m_vectors)});
    else
        out.push_back({m_prefix + "tokens", "I64", {samples, n}, bytesOf(m_tokens)});
    if (first.text) {
        out.push_back(
            {m_prefix + "pieces", "U8", {1, static_cast<std::int64_t>(m_pieces.size())}, m_pieces});
        out.push_back({m_prefix + "piece_ends",
                       "I64",
                       {1, static_cast<std::int64_t>(m_ends.size())},
                       bytesOf(m_ends)});
        return;
    }
    for (std::size_t i = 0; i < m_sequences.size(); ++i)
        for (std::size_t k = 0; k < m_sequences[i]->labels.size(); ++k)
            metadata[wordKey(m_prefix, i, k)] = m_sequences[i]->labels[k];
    if (first.pictures.size() != static_cast<std::size_t>(n)) return;
    const auto& picture = first.pictures.front();
    const auto bytes =
        static_cast<std::size_t>(samples * n * picture.height * picture.width * picture.channels);
    if (m_pictures.size() != bytes) return;  // different sizes: objects are shown by names
    out.push_back({m_prefix + "pictures",
                   "U8",
                   {samples, n, picture.height, picture.width, picture.channels},
                   m_pictures});
}

ProbeSequence loadSequence(const SafetensorsFile& file, const std::string& prefix,
                           std::int64_t sample) {
    ProbeSequence s;
    const auto find = [&](const char* name, const char* dtype) -> const TensorEntry* {
        const auto* entry = file.find(prefix + name);
        if (entry && entry->dtype != dtype)
            throw FileError(file.path(), "tensor '" + entry->name + "' is not of " + dtype);
        return entry;
    };
    if (const auto* tokens = find("tokens", "I64")) {
        s.tokens = numbersOf<std::int64_t>(sampleBytes(file, *tokens, 2, sample));
    } else if (const auto* vectors = find("vectors", "F32")) {
        s.vectors = numbersOf<float>(sampleBytes(file, *vectors, 3, sample));
        if (vectors->shape[2] < 1 || vectors->shape[2] > 1 << 20)
            throw FileError(file.path(), "has empty vectors");
        s.width = static_cast<int>(vectors->shape[2]);
    } else {
        return s;
    }
    if (const auto* pieces = find("pieces", "U8")) {
        const auto bytes = sampleBytes(file, *pieces, 2, sample);
        const auto* ends = find("piece_ends", "I64");
        if (!ends) throw FileError(file.path(), "lacks the tensor '" + prefix + "piece_ends'");
        s.text = true;
        std::int64_t begin = 0;
        for (const auto end : numbersOf<std::int64_t>(sampleBytes(file, *ends, 2, sample))) {
            if (end < begin || end > static_cast<std::int64_t>(bytes.size()))
                throw FileError(file.path(), "has text pieces with invalid ends");
            s.labels.emplace_back(bytes.begin() + begin, bytes.begin() + end);
            begin = end;
        }
        if (s.labels.size() != s.tokens.size())
            throw FileError(file.path(), "has a text of " + std::to_string(s.tokens.size()) +
                                             " tokens and " + std::to_string(s.labels.size()) +
                                             " pieces");
        return s;
    }
    const auto& metadata = file.header().metadata;
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.size()); ++k) {
        const auto word = metadata.find(wordKey(prefix, static_cast<std::size_t>(sample), k));
        if (word == metadata.end()) break;
        s.labels.push_back(word->second);
    }
    if (const auto* pictures = find("pictures", "U8")) {
        const auto bytes = sampleBytes(file, *pictures, 5, sample);
        const auto& shape = pictures->shape;
        if (shape[1] < 1 || shape[1] != s.size() || shape[2] < 1 || shape[3] < 1 ||
            (shape[4] != 1 && shape[4] != 3))
            throw FileError(file.path(), "has images that do not match its objects");
        const std::size_t each = bytes.size() / static_cast<std::size_t>(shape[1]);
        for (std::int64_t k = 0; k < shape[1]; ++k) {
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(each) * k;
            s.pictures.push_back({static_cast<int>(shape[3]),
                                  static_cast<int>(shape[2]),
                                  static_cast<int>(shape[4]),
                                  {begin, begin + static_cast<std::ptrdiff_t>(each)}});
        }
    }
    return s;
}

}  // namespace relascope::core
