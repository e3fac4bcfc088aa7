// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "files/safetensors.h"
#include "interventions/edit_json.h"
#include "options/options_json.h"
#include "run/capture_maps.h"

namespace relascope {
namespace {

using wire::Bytes;
using wire::FrameError;
using wire::Json;
using wire::packed;
using wire::unpacked;

}  // namespace

void to_json(Json& json, const RunOptions& options) {
    json = core::runOptionsToJson(options);
}
void from_json(const Json& json, RunOptions& options) {
    options = core::runOptionsFromJson(json.get<std::string>());
}

void to_json(Json& json, const DataOptions& options) {
    RunOptions run;
    run.data = options;
    // Files that are imported may name no task, which options of a run must.
    if (options.task.empty()) run.data.task = DataOptions().task;
    json = {{"run", run}, {"task", options.task}};
}
void from_json(const Json& json, DataOptions& options) {
    options = json.at("run").get<RunOptions>().data;
    json.at("task").get_to(options.task);
}

void to_json(Json& json, const ModelOptions& options) {
    RunOptions run;
    run.model = options;
    json = run;
}
void from_json(const Json& json, ModelOptions& options) {
    options = json.get<RunOptions>().model;
}

void to_json(Json& json, const EditList& list) {
    json = core::editsToJson(list);
}
void from_json(const Json& json, EditList& list) {
    list = core::editsFromJson(json.get<std::string>(), "the edits of a message");
}

void to_json(Json& json, const EditNumbers& numbers) {
    json = packed(numbers.all());
}
void from_json(const Json& json, EditNumbers& numbers) {
    numbers = unpacked<double>(json);
}

void to_json(Json& json, const Image& image) {
    json = {{"height", image.height},
            {"width", image.width},
            {"channels", image.channels},
            {"pixels", packed(image.pixels)}};
}
void from_json(const Json& json, Image& image) {
    json.at("height").get_to(image.height);
    json.at("width").get_to(image.width);
    json.at("channels").get_to(image.channels);
    image.pixels = unpacked<std::uint8_t>(json.at("pixels"));
    const bool sides = image.height >= 0 && image.width >= 0 && image.channels >= 0 &&
                       image.height <= 1 << 16 && image.width <= 1 << 16 && image.channels <= 16;
    if (!sides || image.pixels.size() != static_cast<std::size_t>(image.height) *
                                             static_cast<std::size_t>(image.width) *
                                             static_cast<std::size_t>(image.channels))
        throw FrameError("an image of a message does not have the pixels of its size");
}

void to_json(Json& json, const ProbeSequence& s) {
    // Labels are pieces of text, as bytes: CBOR's text has to be UTF-8 for others to read it.
    json = {{"tokens", packed(s.tokens)},
            {"vectors", packed(s.vectors)},
            {"width", s.width},
            {"labels", s.labels},
            {"text", s.text},
            {"pictures", s.pictures}};
}
void from_json(const Json& json, ProbeSequence& s) {
    s.tokens = unpacked<std::int64_t>(json.at("tokens"));
    s.vectors = unpacked<float>(json.at("vectors"));
    json.at("width").get_to(s.width);
    json.at("labels").get_to(s.labels);
    json.at("text").get_to(s.text);
    json.at("pictures").get_to(s.pictures);
    if (s.width < 0 || (s.width > 0 && s.vectors.size() % static_cast<std::size_t>(s.width) != 0))
        throw FrameError("the vectors of a message do not have their width");
}

void to_json(Json& json, const DataExample& example) {
    json = {{"sample", example.sample}, {"answer", example.answer}, {"order", example.order}};
}
void from_json(const Json& json, DataExample& example) {
    json.at("sample").get_to(example.sample);
    json.at("answer").get_to(example.answer);
    json.at("order").get_to(example.order);
    const auto& source = example.sample.source;
    const auto width = static_cast<std::size_t>(std::max(1, source.width));
    const auto objects =
        std::max({source.tokens.size(), source.vectors.size() / width, source.pictures.size()});
    for (const int object : example.order)
        if (object < 0 || static_cast<std::size_t>(object) >= objects)
            throw FrameError("the order of an example names object " + std::to_string(object) +
                             " of " + std::to_string(objects));
}

void to_json(Json& json, const RunState& state) {
    json = runStateName(state);
}
void from_json(const Json& json, RunState& state) {
    const auto name = json.get<std::string>();
    for (const auto known : {RunState::Queued, RunState::Running, RunState::Paused, RunState::Done,
                             RunState::Stopped, RunState::Failed, RunState::Interrupted})
        if (name == runStateName(known)) return void(state = known);
    throw FrameError("a message has the unknown state '" + name + "'");
}

namespace wire {

Json resultToJson(const ProbeResult& result, Bytes& blob) {
    const core::StoredMaps maps({result});
    std::vector<core::TensorToWrite> tensors;
    std::map<std::string, std::string> metadata;
    maps.addTo(tensors, metadata);
    const std::size_t begin = blob.size();
    core::appendSafetensors(blob, std::move(tensors), metadata);
    return {{"step", result.step},
            {"sample", result.sample},
            {"grid", result.grid},
            {"classNames", result.classNames},
            {"probabilities", packed(result.probabilities)},
            {"layers", result.layers},
            {"sides", result.sides},
            {"partial", result.partial},
            {"notFinite", result.notFinite},
            {"features", result.features},
            {"maps", {begin, blob.size() - begin}}};
}

ProbeResult resultFromJson(const Json& json, std::span<const std::uint8_t> blob) {
    ProbeResult result;
    std::size_t begin = 0, size = 0;
    try {
        json.at("step").get_to(result.step);
        json.at("sample").get_to(result.sample);
        json.at("grid").get_to(result.grid);
        json.at("classNames").get_to(result.classNames);
        result.probabilities = unpacked<float>(json.at("probabilities"));
        json.at("layers").get_to(result.layers);
        json.at("sides").get_to(result.sides);
        json.at("partial").get_to(result.partial);
        json.at("notFinite").get_to(result.notFinite);
        json.at("features").get_to(result.features);
        json.at("maps").at(0).get_to(begin);
        json.at("maps").at(1).get_to(size);
    } catch (const nlohmann::json::exception& error) {
        throw FrameError(std::string("a result is not as agreed on: ") + error.what());
    }
    if (begin > blob.size() || size > blob.size() - begin)
        throw FrameError("the maps of a result are not in its blob");
    const auto sides = static_cast<int>(result.sides.size());
    for (const auto& layer : result.layers)
        if (layer.rows < 0 || layer.columns < 0 || layer.rows >= std::max(1, sides) ||
            layer.columns >= std::max(1, sides))
            throw FrameError("a layer of a result names a side that is not there");
    const core::SafetensorsFile file(core::memoryBytes(blob.subspan(begin, size), "a message"));
    result.maps = core::loadMaps(file, static_cast<int>(result.layers.size()), 0);
    return result;
}

Frame answerFrame(const ProbeAnswer& answer) {
    Frame frame;
    frame.message = {{"request", answer.request},
                     {"error", answer.error},
                     {"points", answer.points},
                     {"means", answer.means},
                     {"seconds", answer.seconds}};
    if (answer.error.empty()) frame.message["result"] = resultToJson(answer.result, frame.blob);
    if (answer.base) frame.message["base"] = resultToJson(*answer.base, frame.blob);
    return frame;
}

ProbeAnswer answerFromFrame(const Frame& frame) {
    const Json& message = frame.message;
    ProbeAnswer answer;
    answer.request = valueOf<std::uint64_t>(message, "request");
    answer.error = valueOf<std::string>(message, "error");
    answer.points = valueOf<std::vector<PointInfo>>(message, "points");
    answer.means = valueOf<TakenMeans>(message, "means");
    answer.seconds = valueOf<double>(message, "seconds");
    if (message.contains("result")) answer.result = resultFromJson(message["result"], frame.blob);
    if (message.contains("base"))
        answer.base =
            std::make_shared<const ProbeResult>(resultFromJson(message["base"], frame.blob));
    return answer;
}

}  // namespace wire
}  // namespace relascope
