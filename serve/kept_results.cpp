// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/kept_results.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/open_model.h"
#include "files/atomic_file.h"
#include "files/crc32.h"
#include "files/safetensors.h"
#include "interventions/edit_json.h"
#include "options/builtin_resources.h"
#include "wire/figures.h"

namespace relascope::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kFormat = "relascope-result/1";
constexpr const char* kTensor = "result";
constexpr std::int64_t kComparedExamples = 64;

// Examples of the split, evenly spread: data of another file, or that are made in another way.
std::uint32_t examplesCrc(const core::Dataset& data) {
    std::uint32_t crc = 0;
    const auto add = [&crc](const auto& numbers) {
        if (!numbers.empty())
            crc = core::crc32Of(crc, numbers.data(), numbers.size() * sizeof(numbers[0]));
    };
    const auto count = std::min(kComparedExamples, data.size());
    for (std::int64_t k = 0; k < count; ++k) {
        const auto sample = data.sample(k * data.size() / count);
        add(sample.image.pixels);
        for (const auto* side : {&sample.source, &sample.target})
            add(side->tokens), add(side->vectors);
        crc = core::crc32Of(crc, &sample.label, sizeof sample.label);
    }
    return crc;
}

std::string editsText(EditList edits) {
    std::erase_if(edits.edits, [](const Edit& edit) { return !edit.enabled; });
    edits.name.clear(), edits.model.clear();
    return edits.edits.empty() ? "" : core::editsToJson(edits);
}

/// What a result depends on, as text. None for results that are not kept: without a run, and where
/// an option or an edit names what may change unseen.
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
                       {"examples", examplesCrc(*subject.data)},
                       {"options", core::optionsToJson(analysis, values)},
                       {"training_edits", editsText(subject.model->trainingEdits())},
                       {"edits", editsText(edits)}};
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

core::AnalysisResult readResult(const core::Analysis& analysis, const std::string& path,
                                const std::string& key) {
    const core::SafetensorsFile file(path);
    const auto& facts = file.header().metadata;
    const auto is = [&](const char* name, const std::string& value) {
        const auto at = facts.find(name);
        return at != facts.end() && at->second == value;
    };
    const auto* entry = file.find(kTensor);
    if (!is("format", kFormat) || !is("key", key) || !entry || entry->dtype != "U8" ||
        entry->bytes() > wire::kMostMessage)
        return {};
    wire::Bytes bytes(entry->bytes());
    file.read(*entry, bytes);
    if (!is("crc32", std::to_string(core::crc32Of(0, bytes.data(), bytes.size())))) return {};
    return wire::analysisResultFromJson(analysis.name, wire::parseMessage(bytes));
}

core::AnalysisResult readResult(const core::Analysis& analysis,
                                const core::AnalysisSubject& subject,
                                const std::optional<std::string>& key) try {
    if (!key) return {};
    const auto path = fileOf(analysis, subject) + ".safetensors";
    std::error_code error;
    return std::filesystem::exists(path, error) ? readResult(analysis, path, *key)
                                                : core::AnalysisResult();
} catch (const std::exception&) {
    return {};
}

void keep(const core::Analysis& analysis, const core::AnalysisSubject& subject,
          const std::string& key, const core::AnalysisResult& result) try {
    const auto path = fileOf(analysis, subject);
    core::makeDirectories(subject.run + "/" + analysis.name);
    const auto bytes = wire::Json::to_cbor(wire::analysisResultToJson(analysis.name, result));
    core::writeSafetensors(
        path + ".safetensors", {{kTensor, "U8", {static_cast<std::int64_t>(bytes.size())}, bytes}},
        {{"format", kFormat},
         {"key", key},
         {"crc32", std::to_string(core::crc32Of(0, bytes.data(), bytes.size()))}});
    OrderedJson all = {
        {"format", kFormat}, {"step", subject.model->step()}, {"key", OrderedJson::parse(key)}};
    all.update(analysis.json(result));
    core::writeTextFile(path + ".json",
                        all.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
} catch (const Error&) {
    // It is measured again the next time.
}

}  // namespace

core::AnalysisResult keptResult(const core::Analysis& analysis, core::AnalysisSubject& subject,
                                const core::OptionValues& values) {
    core::checkOptions(analysis.fields, values);
    return readResult(analysis, subject, keyOf(analysis, subject, values));
}

core::AnalysisResult measured(const core::Analysis& analysis, core::AnalysisSubject& subject,
                              const core::OptionValues& values, const core::AnalysisWatch& watch) {
    core::checkOptions(analysis.fields, values);
    const auto key = keyOf(analysis, subject, values);
    if (auto result = readResult(analysis, subject, key); result.has_value()) return result;
    auto result = core::runnerOf(analysis).run(subject, values, watch);
    if (key) keep(analysis, subject, *key, result);
    return result;
}

}  // namespace relascope::serve
