// SPDX-License-Identifier: GPL-3.0-or-later
// The shared structs (core/types) in messages. Numbers of any count are byte strings of CBOR,
// little endian; maps go into the blob, as they are stored in captures: values, or the factors that
// they are made from.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "types/along.h"
#include "types/checkpoint_info.h"
#include "types/data_example.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "types/relation_map.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"
#include "wire/frame.h"

/// A value that may be missing: a list of the value, or an empty list.
template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
    static void to_json(json& out, const std::optional<T>& value) {
        out = json::array();
        if (value) out.push_back(*value);
    }
    static void from_json(const json& in, std::optional<T>& value) {
        value.reset();
        if (!in.empty()) value = in.at(0).get<T>();
    }
};

namespace relascope {

namespace wire {

/// Numbers as a byte string, and back.
template <class T>
Json packed(const std::vector<T>& values) {
    Bytes bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return Json::binary(std::move(bytes));
}
template <class T>
std::vector<T> unpacked(const Json& json) {
    const Bytes& bytes = json.get_binary();
    if (bytes.size() % sizeof(T) != 0) throw FrameError("a message has a number cut in two");
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// An enumeration whose values are 0 to `last`.
template <class Enum>
Enum enumOf(const Json& json, Enum last) {
    const auto value = json.get<std::int64_t>();
    if (value < 0 || value > static_cast<std::int64_t>(last))
        throw FrameError("a message has an unknown kind of something: " + std::to_string(value));
    return static_cast<Enum>(value);
}

}  // namespace wire

inline void from_json(const wire::Json& json, MapKind& kind) {
    kind = wire::enumOf(json, MapKind::Symbols);
}
inline void from_json(const wire::Json& json, ProblemKind& kind) {
    kind = wire::enumOf(json, ProblemKind::File);
}
inline void from_json(const wire::Json& json, EditOp& op) {
    op = wire::enumOf(json, EditOp::Project);
}

// Options as run.json holds them.
void to_json(wire::Json& json, const RunOptions& options);
void from_json(const wire::Json& json, RunOptions& options);
void to_json(wire::Json& json, const DataOptions& options);
void from_json(const wire::Json& json, DataOptions& options);
void to_json(wire::Json& json, const ModelOptions& options);
void from_json(const wire::Json& json, ModelOptions& options);
void to_json(wire::Json& json, const EditList& list);
void from_json(const wire::Json& json, EditList& list);
void to_json(wire::Json& json, const EditNumbers& numbers);
void from_json(const wire::Json& json, EditNumbers& numbers);
void to_json(wire::Json& json, const Image& image);
void from_json(const wire::Json& json, Image& image);
void to_json(wire::Json& json, const ProbeSequence& sequence);
void from_json(const wire::Json& json, ProbeSequence& sequence);
void to_json(wire::Json& json, const DataExample& example);
void from_json(const wire::Json& json, DataExample& example);
void to_json(wire::Json& json, const RunState& state);
void from_json(const wire::Json& json, RunState& state);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SplitResult, split, examples, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunLabels, name, tags, hidden)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Validation, step, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunInfo, path, name, labels, preset, variant, model, seed, state,
                                   message, device, metric, parameters, step, totalSteps, epoch,
                                   seconds, startedAt, restoresBest, kept, last, bestLoss,
                                   bestAccuracy, bestMetric, bestStep, evaluations, results, edits,
                                   options)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Progress, step, totalSteps, epoch, totalEpochs,
                                   examplesPerSecond, secondsLeft, tokensPerSecond)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EditValues, shape, numbers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TakenMean, examples, standardError, over, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PointInfo, name, axes, shape, causal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PatchGrid, rows, columns, classToken, otherTokens,
                                                registers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeSample, image, label, origin, source, target)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeSide, name, labels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeLayer, name, rows, columns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairedChange, metric, base, edited, change, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoredTensor, name, stored, dtype, shape, bytes, sameAs, file,
                                   note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckpointProblem, kind, subject, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OutlineNode, title, detail, prefix, parameters, children)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckpointInfo, path, folder, name, form, files, bytes, tensors,
                                   leftOut, metadata, config, configFrom, model, title, unusedKeys,
                                   classNames, parameters, trainable, outline, problems,
                                   hasReference)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenedCheckpoint, info, run, data)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorStatistics, name, count, notFinite, minimum, maximum, mean,
                                   deviation, histogram)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapCell, kind, layer, index, head, i, j, fitted)

namespace wire {

/// A result as a message; its maps are appended to the blob.
Json resultToJson(const ProbeResult& result, Bytes& blob);
/// Reads a result. Throws FrameError if the message is none, FileError for damaged maps.
ProbeResult resultFromJson(const Json& json, std::span<const std::uint8_t> blob);

/// The answer to a probe with all that it holds.
Frame answerFrame(const ProbeAnswer& answer);
ProbeAnswer answerFromFrame(const Frame& frame);

/// The value of a key of a message. Throws FrameError that names the key.
template <class T>
T valueOf(const Json& message, const char* key) {
    try {
        return message.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
        throw FrameError(std::string("a message has no valid '") + key + "'");
    }
}

}  // namespace wire
}  // namespace relascope
