// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/series.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/family_form.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/start_from.h"
#include "files/atomic_file.h"
#include "files/memory.h"
#include "hub/hub_cache.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "text/tokenizer.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using SeriesJson = nlohmann::ordered_json;

constexpr std::uint64_t kMostStepFile = 1u << 16;
constexpr std::int64_t kMostStep = 1'000'000'000'000;
constexpr const char* kSeriesFact = "series";

struct NumberedName {
    std::string word;
    std::int64_t step = 0;
};

std::optional<NumberedName> numbered(const std::string& name) {
    const auto digit = std::find_if(name.begin(), name.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    const std::string word(name.begin(), digit);
    if (word.empty() || digit == name.end()) return {};
    const char* end = name.data() + name.size();
    NumberedName found{word, 0};
    const auto [rest, error] =
        std::from_chars(name.data() + (digit - name.begin()), end, found.step);
    if (error != std::errc()) return {};
    const std::string unit(rest, static_cast<std::size_t>(end - rest));
    const std::map<std::string, std::int64_t> units = {
        {"", 1}, {"K", 1'000}, {"M", 1'000'000}, {"B", 1'000'000'000}};
    const auto factor = units.find(unit);
    if (factor == units.end() || found.step > kMostStep / factor->second) return {};
    found.step *= factor->second;
    return found;
}

}  // namespace

std::vector<std::pair<std::int64_t, std::string>> stepsAmong(
    const std::vector<std::string>& names) {
    std::map<std::string, std::map<std::int64_t, std::string>> byWord;
    for (const auto& name : names)
        if (const auto found = numbered(name)) byWord[found->word].emplace(found->step, name);
    const auto most = std::max_element(
        byWord.begin(), byWord.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == byWord.end() || most->second.size() < 2) return {};
    return {most->second.begin(), most->second.end()};
}

std::string seriesStepPath(const std::string& weightsFolder, std::int64_t step) {
    return weightsFolder + "/step-" + std::to_string(step) + ".json";
}

std::int64_t seriesFileStep(const std::string& name) {
    constexpr std::string_view begin = "step-", end = ".json";
    if (!name.starts_with(begin) || !name.ends_with(end) ||
        name.size() <= begin.size() + end.size())
        return -1;
    std::int64_t step = -1;
    const char* last = name.data() + name.size() - end.size();
    const auto [rest, error] = std::from_chars(name.data() + begin.size(), last, step);
    return error == std::errc() && rest == last && step >= 0 && step <= kMostStep ? step : -1;
}

SeriesStep readSeriesStep(const std::string& weightsFolder, std::int64_t step) {
    const auto path = seriesStepPath(weightsFolder, step);
    SeriesStep found{step, {}, {}, 0};
    try {
        const auto json = SeriesJson::parse(readTextFile(path, kMostStepFile));
        found.name = json.at("name").get<std::string>();
        found.checkpoint = json.at("checkpoint").get<std::string>();
        found.bytes = json.value("bytes", std::uint64_t{0});
    } catch (const SeriesJson::exception& error) {
        throw FileError(path, std::string("is damaged: ") + error.what());
    }
    if (found.checkpoint.starts_with(kHubPrefix))
        hubModel(found.checkpoint.substr(std::string_view(kHubPrefix).size()));
    else if (!fs::path(found.checkpoint).is_absolute())
        throw FileError(path, "'checkpoint' is '" + found.checkpoint.substr(0, 200) +
                                  "'; it is a whole path, or hub:ORG/NAME@COMMIT");
    return found;
}

std::string placeOf(const SeriesStep& step) {
    if (!step.checkpoint.starts_with(kHubPrefix)) return step.checkpoint;
    const auto model = hubModel(step.checkpoint.substr(std::string_view(kHubPrefix).size()));
    const auto cached = findCachedModel(model);
    return cached ? cached->path : std::string();
}

bool isSeries(const std::string& run) {
    for (const auto& [key, value] : readRunFacts(run))
        if (key == kSeriesFact) return true;
    return false;
}

void makeSeries(const std::string& folder, const std::string& title,
                const std::vector<SeriesStep>& steps, const std::string& opened) {
    if (steps.empty()) throw FileError(folder, "would be a series without a step");
    RunOptions options = presetOptions("text");
    startFrom(options, opened);
    if (options.model.input() != InputKind::Tokens)
        throw OptionError("model", opened + " is no language model; only those open as a series");
    const bool known = isRunFolder(folder);
    if (known && !isSeries(folder))
        throw FileError(folder, "is a run of this program; move it away");
    auto run = known ? RunFolder::open(folder) : RunFolder::create(folder, options);
    if (!known) {
        auto& info = run.info();
        info.variant = title;
        info.state = RunState::Done;
        info.metric = "perplexity";
        info.parameters = parameterCount(options.model);
        run.setFact(kSeriesFact, title);
        const auto start = openStart(opened);
        writeFamilyForm(*start.source, options.model, {}, folder);
        if (const auto tokenizer = start.tokenizer(); tokenizer)
            writeTokenizer(*tokenizer, folder + "/tokenizer.json");
        writeRunLabels(folder, {title, {}, false});
    }
    run.info().step = run.info().totalSteps = steps.back().step;
    run.info().message = std::to_string(steps.size()) + " checkpoints of another program";
    if (steps.back().bytes > 0)
        run.info().message = std::to_string(steps.size()) + " checkpoints of about " +
                             byteText(steps.back().bytes) + " fetched when they are looked at";
    makeDirectories(keptFolder(folder));
    for (const auto& step : steps)
        writeTextFile(
            seriesStepPath(keptFolder(folder), step.step),
            SeriesJson{{"name", step.name}, {"checkpoint", step.checkpoint}, {"bytes", step.bytes}}
                    .dump() +
                "\n");
    run.saveInfo();
}

}  // namespace relascope::core
