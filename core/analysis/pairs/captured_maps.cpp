// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/captured_maps.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "analysis/analysis.h"
#include "files/crc32.h"
#include "files/safetensors.h"
#include "interventions/active_edits.h"
#include "model/recorded/recorded_options.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "types/error.h"
#include "types/option_groups.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostCaptured = 100'000;
constexpr const char* kAttributeKey = "attribute/";

std::vector<ProbeResult> readSamples(const std::string& folder, std::int64_t step) {
    std::vector<ProbeResult> samples;
    const auto count = std::min(captureSamples(folder, step), kMostCaptured);
    for (std::int64_t k = 0; k < count; ++k) samples.push_back(loadCapture(folder, step, k));
    if (samples.empty())
        throw FileError(folder, "has no inputs in the capture of step " + std::to_string(step));
    return samples;
}

DatasetInfo infoOf(const std::string& run, const std::vector<ProbeResult>& samples) {
    const auto& first = samples.front();
    DatasetInfo info;
    info.name = "captured inputs of " + std::filesystem::path(run).filename().string();
    info.origin = run;
    info.size = static_cast<std::int64_t>(samples.size());
    const auto& image = first.sample.image;
    info.channels = image.channels, info.height = image.height, info.width = image.width;
    info.classNames = first.classNames;
    return info;
}

/// The captured inputs as examples.
class CapturedInputs : public Dataset {
public:
    CapturedInputs(DatasetInfo info, const std::vector<ProbeResult>& samples)
        : m_info(std::move(info)) {
        for (const auto& one : samples) m_samples.push_back(one.sample);
    }
    const DatasetInfo& info() const override { return m_info; }
    ProbeSample sample(std::int64_t index) const override {
        return m_samples.at(static_cast<std::size_t>(index));
    }

private:
    DatasetInfo m_info;
    std::vector<ProbeSample> m_samples;
};

class CapturedImages : public ImageDataset {
public:
    CapturedImages(DatasetInfo info, const std::vector<ProbeResult>& samples)
        : m_inputs(std::move(info), samples) {}
    const DatasetInfo& info() const override { return m_inputs.info(); }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto one = m_inputs.sample(index);
        std::copy(one.image.pixels.begin(), one.image.pixels.end(), pixels.begin());
        return one.label;
    }
    ProbeSample sample(std::int64_t index) const override { return m_inputs.sample(index); }

private:
    CapturedInputs m_inputs;
};

/// Whether the rows and columns of a layer's maps are the objects of the input.
bool ofOwnObjects(const ProbeLayer& layer) {
    return layer.rows == 0 && layer.columns == 0;
}

const RelationMap* firstOwnMap(const ProbeResult& result) {
    for (const auto& map : result.maps)
        if (map.kind != MapKind::Symbols && map.rows == map.columns &&
            ofOwnObjects(result.layers.at(static_cast<std::size_t>(map.layer))))
            return &map;
    return nullptr;
}

bool answersRight(const ProbeResult& result) {
    const auto& p = result.probabilities;
    return std::max_element(p.begin(), p.end()) - p.begin() == result.sample.label;
}

bool hasAnswer(const ProbeResult& result) {
    return result.probabilities.size() > 1 && result.sample.label >= 0 &&
           result.sample.label < static_cast<std::int64_t>(result.probabilities.size());
}

/// Pairs of objects whose display names are the same.
PairAttribute sameName(const PairObjects& objects, const Dataset& data) {
    PairAttribute same{"same name", false, {}, {}};
    const auto n = objects.shape.objects;
    for (const auto example : objects.examples) {
        const auto labels = data.sample(example).source.labels;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const auto a = static_cast<std::size_t>(objects.positions[i]),
                           b = static_cast<std::size_t>(objects.positions[j]);
                same.truth.push_back(a >= labels.size() || b >= labels.size() ? kPairUndefined
                                     : labels[a] == labels[b]                 ? kPairYes
                                                                              : kPairNo);
            }
    }
    return same;
}

}  // namespace

CapturedMaps::CapturedMaps(std::string run, std::int64_t step) : m_run(std::move(run)) {
    const auto folder = m_run + "/captures";
    m_steps = captureSteps(folder);
    if (m_steps.empty())
        throw FileError(m_run, "has no captures: nothing of its model can be described");
    m_step = step < 0 ? m_steps.back() : step;
    if (!std::binary_search(m_steps.begin(), m_steps.end(), m_step)) {
        std::vector<std::string> names;
        for (const auto one : m_steps) names.push_back(std::to_string(one));
        throw OptionError("checkpoint", std::to_string(m_step) +
                                            " was not captured; captured steps: " + joined(names));
    }
    m_samples = readSamples(folder, m_step);
    auto info = infoOf(m_run, m_samples);
    const auto& image = m_samples.front().sample.image;
    const bool pictures = !image.empty() && m_samples.front().grid.rows > 0;
    if (pictures)
        m_data = std::make_shared<const CapturedImages>(std::move(info), m_samples);
    else
        m_data = std::make_shared<const CapturedInputs>(std::move(info), m_samples);
}

std::string CapturedMaps::file(std::int64_t step) const {
    return m_run + "/captures/step-" + std::to_string(step) + ".safetensors";
}

std::string CapturedMaps::basis(bool all) const {
    std::string text = "captured";
    for (const auto one : all ? m_steps : std::vector{m_step})
        text += " " + std::to_string(one) + " " + std::to_string(fileCrc32(file(one)));
    return text;
}

PairObjects CapturedMaps::objects(std::int64_t examples) const {
    const auto& first = m_samples.front();
    const auto* map = firstOwnMap(first);
    if (!map)
        throw OptionError("what", "the captures have no maps over the objects of their inputs");
    PairObjects objects;
    objects.examples = drawnExamples(std::ssize(m_samples), examples, 0);
    if (objects.examples.size() < 2)
        throw OptionError("examples",
                          "a relation is described over two inputs or more, and " +
                              std::to_string(objects.examples.size()) +
                              (objects.examples.size() == 1 ? " is captured" : " are captured"));
    std::int64_t before = 0;
    if (first.grid.rows > 0 && first.grid.tokens() == map->rows)
        objects.columns = first.grid.columns, before = first.grid.firstTokens();
    for (std::int64_t k = before; k < map->rows; ++k) objects.positions.push_back(k);
    objects.whole = map->rows;
    objects.noun = objects.columns > 0 ? "images" : first.sample.source.text ? "texts" : "inputs";
    objects.shape = {objects.examples.size(), objects.positions.size(), false,
                     first.sample.source.text};
    if (objects.shape.objects < 2)
        throw OptionError("path", "the inputs have one object, and relations are between two");
    return objects;
}

std::vector<PairMap> CapturedMaps::maps(const PairObjects& objects, bool relations,
                                        bool heads) const {
    const auto& first = m_samples.front();
    std::vector<PairMap> maps;
    for (const auto& map : first.maps) {
        const bool relation = map.kind == MapKind::Relation;
        if (map.kind == MapKind::Symbols || !(relation ? relations : heads)) continue;
        const auto& layer = first.layers.at(static_cast<std::size_t>(map.layer));
        if (map.rows != objects.whole || map.columns != objects.whole || !ofOwnObjects(layer))
            continue;
        const bool two = first.count(MapKind::RelationalAttention, map.layer) > 0;
        PairMap one;
        one.layer = layer.name;
        one.name = layer.name +
                   (relation                                   ? " relation "
                    : map.kind == MapKind::RelationalAttention ? " relational head "
                    : two                                      ? " sensory head "
                                                               : " head ") +
                   std::to_string(map.index + 1);
        // No hook point: nothing of it can be edited.
        one.axis = mapKindName(map.kind);
        one.index = map.index, one.count = first.count(map.kind, map.layer);
        one.place = map.layer, one.places = std::ssize(first.layers);
        one.head = !relation, one.causal = map.causal;
        maps.push_back(std::move(one));
    }
    // In the order of the forward pass, relations first.
    std::stable_sort(maps.begin(), maps.end(),
                     [](const PairMap& a, const PairMap& b) { return a.place < b.place; });
    return maps;
}

PairAttributes CapturedMaps::attributes(const PairObjects& objects, const std::string& path,
                                        const OwnHypotheses& hypotheses) const {
    PairAttributes all;
    const auto& first = m_samples.front();
    const auto n = objects.shape.objects;
    if (const auto* images = dynamic_cast<const ImageDataset*>(m_data.get());
        images && objects.columns > 0) {
        const auto& image = first.sample.image;
        ImageInput input;
        input.image_shape = {image.channels, image.width, image.height};
        input.patch_size = {image.width / first.grid.columns, image.height / first.grid.rows};
        all = attributesOfImages(objects, *images, input);
    } else if (first.sample.source.size() == objects.whole && first.sample.source.width == 0) {
        std::vector<std::int64_t> tokens;
        for (const auto e : objects.examples) {
            const auto& own = m_samples[static_cast<std::size_t>(e)].sample.source.tokens;
            tokens.insert(tokens.end(), own.begin(), own.end());
        }
        all = attributesOfText(objects.shape, tokens,
                               std::vector<std::size_t>(objects.examples.size(), 0), nullptr);
    }
    if (all.occupied.empty()) all.occupied.assign(objects.shape.examples, 0);
    if (!first.sample.source.text && !first.sample.source.labels.empty())
        all.all.push_back(sameName(objects, *m_data));
    const SafetensorsFile capture(file(m_step));
    for (const auto& entry : capture.header().tensors) {
        if (!entry.name.starts_with(kAttributeKey)) continue;
        const bool floats = entry.dtype == "F32";
        const auto samples = std::ssize(m_samples);
        if ((!floats && entry.dtype != "U8") || entry.shape.size() != 3 ||
            entry.shape[0] != samples || entry.shape[1] != entry.shape[2] ||
            (entry.shape[1] != objects.whole && entry.shape[1] != static_cast<std::int64_t>(n)))
            throw FileError(capture.path(), "tensor '" + entry.name + "' is not U8 or F32 of " +
                                                std::to_string(samples) + " x " +
                                                std::to_string(objects.whole) + " x " +
                                                std::to_string(objects.whole));
        const bool own = entry.shape[1] != objects.whole;  // of the objects without class token
        const auto side = static_cast<std::size_t>(entry.shape[1]);
        PairAttribute one{entry.name.substr(std::strlen(kAttributeKey)), false, {}, {}};
        std::vector<float> values;
        for (const auto e : objects.examples) {
            const auto bytes = sampleBytes(capture, entry, 3, e);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    const auto at = [&](std::size_t k) {
                        return own ? k : static_cast<std::size_t>(objects.positions[k]);
                    };
                    const auto cell = at(i) * side + at(j);
                    float value = 0.0F;
                    if (floats)
                        std::memcpy(&value, bytes.data() + 4 * cell, sizeof value);
                    else
                        value = static_cast<float>(bytes[cell]);
                    one.ordered =
                        one.ordered || (std::isfinite(value) && value != 0.0F && value != 1.0F);
                    values.push_back(
                        std::isfinite(value) ? value : std::numeric_limits<float>::quiet_NaN());
                }
        }
        if (one.ordered)
            one.values = std::move(values);
        else
            for (const float value : values)
                one.truth.push_back(std::isnan(value) ? kPairUndefined
                                    : value > 0.0F    ? kPairYes
                                                      : kPairNo);
        all.all.push_back(std::move(one));
    }
    addHypotheses(all, objects, *m_data, hypotheses);
    completeAttributes(all, objects, std::ssize(m_samples), path);
    return all;
}

PairReadings CapturedMaps::read(const PairReading& what, std::int64_t step) const {
    const auto other =
        step == m_step ? std::vector<ProbeResult>() : readSamples(m_run + "/captures", step);
    const auto& samples = step == m_step ? m_samples : other;
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    PairReadings found;
    found.values.resize(what.maps.size()), found.sent.resize(what.maps.size());
    found.first.assign(what.maps.size(), unknown);
    found.weights.assign(what.maps.size(), {unknown, unknown});
    std::int64_t right = 0, answered = 0;
    for (const auto e : what.examples) {
        if (e >= std::ssize(samples))
            throw OptionError("along", "step " + std::to_string(step) +
                                           " has fewer inputs than step " + std::to_string(m_step));
        const auto& sample = samples[static_cast<std::size_t>(e)];
        answered += hasAnswer(sample), right += hasAnswer(sample) && answersRight(sample);
        for (std::size_t m = 0; m < what.maps.size(); ++m) {
            const auto& asked = what.maps[m];
            const RelationMap* map = nullptr;
            for (const auto& one : sample.maps)
                if (one.layer == asked.place && one.index == asked.index &&
                    asked.axis == mapKindName(one.kind))
                    map = &one;
            const auto last = what.positions.back();
            if (!map || last >= map->rows || last >= map->columns)
                throw OptionError("along", "the capture of step " + std::to_string(step) +
                                               " has no map '" + asked.name + "' of that size");
            std::vector<float> row(static_cast<std::size_t>(map->columns));
            for (const auto i : what.positions) {
                map->readRows(static_cast<int>(i), 1, row.data());
                for (const auto j : what.positions) {
                    const float value = row[static_cast<std::size_t>(j)];
                    if (!std::isfinite(value))
                        throw OptionError("what", asked.name +
                                                      " has values that are not finite in the "
                                                      "capture of step " +
                                                      std::to_string(step));
                    found.values[m].push_back(value);
                }
            }
        }
    }
    found.accuracy =
        answered > 0 ? static_cast<double>(right) / static_cast<double>(answered) : unknown;
    return found;
}

std::shared_ptr<const CapturedMaps> capturesOf(const Analysis& analysis, const std::string& path,
                                               const std::string& checkpoint) {
    if (!isRunFolder(path)) return nullptr;
    const auto options = readRunOptions(path);
    if (!isRecorded(options.model)) return nullptr;
    if (!analysis.acceptsCaptures) requireModel(path, options);
    std::int64_t step = -1;
    if (!checkpoint.empty() && checkpoint != "last") {
        const auto* end = checkpoint.data() + checkpoint.size();
        const auto [rest, failed] = std::from_chars(checkpoint.data(), end, step);
        if (failed != std::errc() || rest != end || step < 0)
            throw OptionError("checkpoint", "'" + checkpoint + "' is no captured step");
    }
    return std::make_shared<const CapturedMaps>(path, step);
}

}  // namespace relascope::core
