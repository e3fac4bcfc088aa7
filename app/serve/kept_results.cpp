// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/kept_results.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "app/serve/read_examples.h"
#include "checkpoint/kept_weights.h"
#include "data/example_checksum.h"
#include "files/atomic_file.h"
#include "files/crc32.h"
#include "files/safetensors.h"
#include "interventions/edit_json.h"
#include "model/served/served_options.h"
#include "options/builtin_resources.h"
#include "wire/answer_frame.h"

namespace relascope::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "relascope-result/4";
constexpr const char* kTensor = "result";
constexpr const char* kRead = "read";  // key of the metadata, and prefix of tensor names

/// Whether it is a model of another program, which makes none with fresh weights.
bool isWithoutFresh(const core::AnalysisSubject& subject) {
    return subject.model && core::isServed(subject.model->options()) &&
           !core::declarationOf(subject.model->options()).fresh;
}

std::string editsText(EditList edits) {
    std::erase_if(edits.edits, [](const Edit& edit) { return !edit.enabled; });
    edits.name.clear(), edits.model.clear();
    return edits.edits.empty() ? "" : core::editsToJson(edits);
}

/// The kept steps that a result may depend on, with the checksums of their weights: the first, or
/// all with the option `along`.
OrderedJson keptSteps(const std::string& run, const core::OptionValues& values) {
    const auto along = values.find("along");
    const bool all = along != values.end() && along->second == FieldValue(true);
    OrderedJson steps = OrderedJson::array();
    for (const auto& kept : core::KeptWeights(run).localSteps())
        if (all || kept.step == 0) steps.push_back({kept.step, kept.checksum});
    return steps;
}

/// What a result depends on beside the examples that it has read, as text. nullopt for results that
/// are not stored: without a run, or if an option or an edit names data that may change unnoticed.
std::optional<std::string> keyOf(const core::Analysis& analysis,
                                 const core::AnalysisSubject& subject,
                                 const core::OptionValues& values) {
    const auto& edits = subject.interventions.edits;
    if (!analysis.kept || subject.run.empty() || !subject.model || !subject.data ||
        (edits.anyEnabled() && !edits.inputs.empty()))
        return std::nullopt;
    OrderedJson key = {{"version", core::builtin::version()},
                       {"weights", subject.model->checksum()},
                       {"data", subject.data->info().name},
                       {"size", subject.data->size()},
                       {"steps", keptSteps(subject.run, values)},
                       {"options", core::optionsToJson(analysis, values)},
                       {"training_edits", editsText(subject.model->trainingEdits())},
                       {"edits", editsText(edits)}};
    // Of fitted relations that are taken out the key has the names, and these may be saved anew.
    for (const auto& edit : edits.edits)
        if (edit.enabled && edit.op == EditOp::Project)
            key["relations"][edit.relation] = core::fileCrc32(edit.relation);
    for (const auto& [name, value] : values) {
        const auto* path = std::get_if<std::string>(&value);
        std::error_code error;
        if (!path || path->empty() || !std::filesystem::exists(*path, error)) continue;
        if (std::filesystem::is_directory(*path, error)) return std::nullopt;
        key["files"][name] = core::fileCrc32(*path);
    }
    return key.dump();
}

std::string fileOf(const core::Analysis& analysis, const core::AnalysisSubject& subject) {
    return subject.run + "/" + analysis.name + "/step-" + std::to_string(subject.model->step());
}

wire::Bytes bytesOf(const core::SafetensorsFile& file, const core::TensorEntry& entry) {
    wire::Bytes bytes(entry.bytes());
    file.read(entry, bytes);
    return bytes;
}

/// Whether the examples that a result was made of are those of the subject.
bool sameExamples(const core::SafetensorsFile& file, const core::AnalysisSubject& subject) {
    const auto facts = file.header().metadata.find(kRead);
    if (facts == file.header().metadata.end()) return false;
    const auto splits = OrderedJson::parse(facts->second);
    return std::all_of(splits.begin(), splits.end(), [&](const OrderedJson& split) {
        const auto name = split.at("split").get<std::string>();
        const auto data = splitNamed(subject, name);
        const auto* entry = file.find(std::string(kRead) + "/" + name);
        if (!data || !entry || entry->dtype != "I64" || data->size() != split.at("size"))
            return false;
        const auto bytes = bytesOf(file, *entry);
        std::vector<std::int64_t> examples(bytes.size() / sizeof(std::int64_t));
        if (!examples.empty()) std::memcpy(examples.data(), bytes.data(), bytes.size());
        return std::all_of(examples.begin(), examples.end(),
                           [&](auto index) { return index >= 0 && index < data->size(); }) &&
               core::examplesChecksum(*data, examples) == split.at("crc32");
    });
}

Answer checked(const core::Analysis& analysis, Answer answer) {
    if (analysis.check) analysis.check(answer);
    return answer;
}

std::optional<Answer> readResult(const core::Analysis& analysis,
                                 const core::AnalysisSubject& subject, const std::string& path,
                                 const std::string& key) {
    wire::FrameReader reader;
    try {
        const core::SafetensorsFile file(path);
        const auto& facts = file.header().metadata;
        const auto is = [&](const char* name, const std::string& value) {
            const auto at = facts.find(name);
            return at != facts.end() && at->second == value;
        };
        const auto* entry = file.find(kTensor);
        if (!is("format", kFormat) || !is("key", key) || !entry || entry->dtype != "U8" ||
            entry->bytes() > wire::kFrameHeader + wire::kMostMessage + wire::kMostBlob)
            return std::nullopt;
        const auto bytes = bytesOf(file, *entry);
        if (!is("crc32", std::to_string(core::crc32Of(0, bytes.data(), bytes.size()))) ||
            !sameExamples(file, subject))
            return std::nullopt;
        reader.append(bytes);
    } catch (const std::exception&) {
        return std::nullopt;  // the file is damaged
    }
    try {
        const auto frame = reader.next();
        if (!frame) throw wire::FrameError("its frame is cut");
        return checked(analysis, wire::answerFromJson(frame->message, frame->blob));
    } catch (const Error& error) {
        throw FileError(path, std::string(error.what()) + "; remove the file to measure again");
    }
}

std::optional<Answer> readResult(const core::Analysis& analysis,
                                 const core::AnalysisSubject& subject,
                                 const std::optional<std::string>& key) {
    if (!key) return std::nullopt;
    const auto path = fileOf(analysis, subject) + ".safetensors";
    std::error_code error;
    return std::filesystem::exists(path, error) ? readResult(analysis, subject, path, *key)
                                                : std::nullopt;
}

void keep(const core::Analysis& analysis, const core::AnalysisSubject& subject,
          const std::string& key, const std::map<std::string, std::vector<std::int64_t>>& read,
          const Answer& result) try {
    const auto path = fileOf(analysis, subject);
    core::makeDirectories(subject.run + "/" + analysis.name);
    wire::Bytes blob;
    const auto message = wire::answerToJson(result, blob);
    const auto bytes = wire::frameBytes(message, blob);
    std::vector<core::TensorToWrite> tensors = {
        {kTensor, "U8", {static_cast<std::int64_t>(bytes.size())}, bytes}};
    OrderedJson splits = OrderedJson::array();
    for (const auto& [name, examples] : read) {
        const auto data = splitNamed(subject, name);
        splits.push_back({{"split", name},
                          {"size", data->size()},
                          {"crc32", core::examplesChecksum(*data, examples)}});
        tensors.push_back({std::string(kRead) + "/" + name,
                           "I64",
                           {static_cast<std::int64_t>(examples.size())},
                           {reinterpret_cast<const std::uint8_t*>(examples.data()),
                            examples.size() * sizeof(std::int64_t)}});
    }
    core::writeSafetensors(
        path + ".safetensors", std::move(tensors),
        {{"format", kFormat},
         {"key", key},
         {kRead, splits.dump()},
         {"crc32", std::to_string(core::crc32Of(0, bytes.data(), bytes.size()))}});
    OrderedJson all = {
        {"format", kFormat}, {"step", subject.model->step()}, {"key", OrderedJson::parse(key)}};
    all.update(analysis.json(result));
    core::writeTextFile(path + ".json",
                        all.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
} catch (const Error&) {
    // The result is not stored, and is measured again the next time.
}

}  // namespace

std::optional<Answer> keptResult(const core::Analysis& analysis, core::AnalysisSubject& subject,
                                 const core::OptionValues& values) {
    core::checkOptions(analysis.fields, values);
    return readResult(analysis, subject, keyOf(analysis, subject, values));
}

Answer measured(const core::Analysis& analysis, core::AnalysisSubject& subject,
                const core::OptionValues& given, const core::AnalysisWatch& watch) {
    core::checkOptions(analysis.fields, given);
    auto values = given;
    // Unless they are asked for: the program may not say how a model gets fresh weights.
    if (analysis.field("untrained") &&
        (isWithoutFresh(subject) || (subject.other && isWithoutFresh(*subject.other))))
        values.try_emplace("untrained", std::int64_t{0});
    const auto key = keyOf(analysis, subject, values);
    if (auto kept = readResult(analysis, subject, key)) return std::move(*kept);
    if (!key) return core::runnerOf(analysis).run(subject, values, watch);
    std::map<std::string, std::vector<std::int64_t>> read;
    Answer result;
    {
        const ReadExamples noted(subject);
        result = core::runnerOf(analysis).run(subject, values, watch);
        read = noted.all();
    }
    keep(analysis, subject, *key, read, result);
    return result;
}

}  // namespace relascope::serve
