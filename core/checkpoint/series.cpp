// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/series.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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
#include "run/run_lines.h"
#include "text/tokenizer.h"
#include "types/lower_case.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using SeriesJson = nlohmann::ordered_json;

constexpr std::uint64_t kMostStepFile = 1u << 16;
constexpr std::int64_t kMostStep = 1'000'000'000'000'000;
constexpr const char* kSeriesFact = "series";
constexpr const char* kSeparators = "-_./";
constexpr std::size_t kGroupsNamed = 12;

/// What numbers count steps by, the surest first; any other word (v, seed, stage, fp) counts no
/// steps.
const std::vector<std::vector<std::string>> kStepWords = {
    {"step", "steps", "globalstep"},
    {"iter", "iters", "iteration", "iterations", "update", "updates"},
    {"checkpoint", "ckpt", "chckpt", "chkpt", "chck", "chk"},
    {"epoch"},
    {"tokens", "token", "tok", "words", "word", "samples", "examples"}};
constexpr std::size_t kCounters = 3;  ///< from there on words count what goes with the steps

/// A word with a number in a name: "step-1.5M".
struct NumberInName {
    std::size_t begin = 0, end = 0;  ///< within the name
    std::string word;                ///< in lower case; may be empty
    double number = 0.0;
    bool unit = false;

    std::size_t surety() const {
        for (std::size_t k = 0; k < kStepWords.size(); ++k)
            if (std::find(kStepWords[k].begin(), kStepWords[k].end(), word) != kStepWords[k].end())
                return k;
        return kStepWords.size();
    }
    bool isWhole() const { return number == std::floor(number) && number <= double(kMostStep); }
};

std::vector<NumberInName> numbersIn(const std::string& name) {
    const auto isDigit = [&](std::size_t at) {
        return at < name.size() && name[at] >= '0' && name[at] <= '9';
    };
    const auto isLetter = [&](std::size_t at) {
        return at < name.size() && ((name[at] | 32) >= 'a' && (name[at] | 32) <= 'z');
    };
    const auto isSeparator = [&](std::size_t at) {
        return std::string_view(kSeparators).find(name[at]) != std::string_view::npos;
    };
    std::vector<NumberInName> all;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (!isDigit(at)) continue;
        NumberInName found;
        auto end = at;
        while (isDigit(end)) ++end;
        if (end < name.size() && name[end] == '.' && isDigit(end + 1))
            for (++end; isDigit(end);) ++end;
        std::from_chars(name.data() + at, name.data() + end, found.number);
        if (isLetter(end) && !isLetter(end + 1)) {
            static const std::map<char, double> units = {
                {'k', 1e3}, {'m', 1e6}, {'b', 1e9}, {'t', 1e12}};
            if (const auto unit = units.find(static_cast<char>(name[end] | 32));
                unit != units.end())
                found.number = std::round(found.number * unit->second * 1e3) / 1e3,
                found.unit = true, ++end;
        }
        auto begin = at > 0 && isSeparator(at - 1) && at > 1 && isLetter(at - 2) ? at - 1 : at;
        const auto wordEnd = begin;
        while (begin > 0 && isLetter(begin - 1)) --begin;
        if (begin > 0 && isDigit(begin - 1)) begin = wordEnd;  // the unit of the number before
        found.word = lowerCase(name.substr(begin, wordEnd - begin));
        found.begin = wordEnd == begin ? at : begin, found.end = end;
        at = end - 1;
        // A number within a word, as in fp16x2, is none.
        if (end == name.size() || isSeparator(end)) all.push_back(std::move(found));
    }
    return all;
}

struct NumberedName {
    std::string word, group;
    std::int64_t step = 0;
};

std::optional<NumberedName> numbered(const std::string& name) {
    const auto numbers = numbersIn(name);
    const auto sure =
        std::min_element(numbers.begin(), numbers.end(),
                         [](const auto& a, const auto& b) { return a.surety() < b.surety(); });
    if (sure == numbers.end() || sure->surety() == kStepWords.size() || !sure->isWhole()) return {};
    NumberedName found{sure->word, {}, static_cast<std::int64_t>(sure->number)};
    // What goes with the step is no part of the group: tokens4B, 3T.
    std::string rest;
    std::size_t from = 0;
    for (const auto& one : numbers) {
        const auto surety = one.surety();
        const bool counts = &one == &*sure || (surety >= kCounters && surety < kStepWords.size()) ||
                            (one.word.empty() && one.unit);
        if (!counts) continue;
        rest += name.substr(from, one.begin - from) + "-";
        from = one.end;
    }
    rest += name.substr(from);
    for (std::size_t at = 0; at < rest.size();) {
        const auto begin = rest.find_first_not_of(kSeparators, at);
        if (begin == std::string::npos) break;
        const auto end = std::min(rest.find_first_of(kSeparators, begin), rest.size());
        found.group += (found.group.empty() ? "" : "-") + rest.substr(begin, end - begin);
        at = end;
    }
    return found;
}

}  // namespace

std::vector<NamedSteps> groupsOfSteps(const std::vector<std::string>& names) {
    std::map<std::pair<std::string, std::string>, NamedSteps> byGroup;
    for (const auto& name : names) {
        const auto found = numbered(name);
        if (!found) continue;
        auto& group = byGroup[{found->group, found->word}];
        group.group = found->group;
        const auto same = std::find_if(group.steps.begin(), group.steps.end(),
                                       [&](const auto& one) { return one.first == found->step; });
        if (same == group.steps.end())
            group.steps.emplace_back(found->step, name);
        else
            group.leftOut.push_back(name);
    }
    std::erase_if(byGroup, [](const auto& one) { return one.second.steps.size() < 2; });
    std::vector<NamedSteps> groups;
    for (auto& one : byGroup) {
        const auto& key = one.first;  // clang 14 captures no structured binding
        auto& group = one.second;
        std::sort(group.steps.begin(), group.steps.end());
        // Among several a group without another word is called by that of its steps.
        const bool same = std::count_if(byGroup.begin(), byGroup.end(), [&](const auto& other) {
                              return other.first.first == key.first;
                          }) > 1;
        if (byGroup.size() > 1 && (same || key.first.empty()))
            group.group += (key.first.empty() ? "" : "-") + key.second;
        groups.push_back(group);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.steps.size() > b.steps.size(); });
    return groups;
}

std::string groupsText(const std::vector<NamedSteps>& groups) {
    std::string text;
    for (std::size_t k = 0; k < std::min(groups.size(), kGroupsNamed); ++k)
        text += (k == 0 ? "" : ", ") + groups[k].group + (groups[k].group.empty() ? "(" : " (") +
                std::to_string(groups[k].steps.size()) + " steps)";
    if (groups.size() > kGroupsNamed)
        text += " and " + std::to_string(groups.size() - kGroupsNamed) + " more";
    return text;
}

const NamedSteps* groupNamed(const std::vector<NamedSteps>& groups, const HubModel& model) {
    const auto wanted = seriesGroup(model.revision);
    if (wanted.empty()) return groups.empty() ? nullptr : &groups.front();
    for (const auto& one : groups)
        if (one.group == wanted) return &one;
    return nullptr;
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

std::string seriesTitle(const HubModel& model) {
    const auto group = seriesGroup(model.revision);
    return group.empty() ? model.name : model.name + ", " + group;
}

std::string openSeries(const HubModel& model) {
    const auto folder = hubSeriesFolder(model);
    if (isRunFolder(folder)) return folder;
    std::vector<std::string> names;
    std::map<std::string, std::string> commits;
    for (const auto& one : cachedRevisions(model.name))
        names.push_back(one.name), commits[one.name] = one.commit;
    const auto groups = groupsOfSteps(names);
    std::vector<SeriesStep> steps;
    std::string opened;
    if (const auto* group = groupNamed(groups, model))
        for (const auto& [step, revision] : group->steps) {
            steps.push_back({step, revision, kHubPrefix + model.name + "@" + commits[revision], 0});
            if (!placeOf(steps.back()).empty()) opened = steps.back().checkpoint;
        }
    if (opened.empty()) return hubPath(kHubPrefix + model.text());  // which says what to fetch
    makeSeries(folder, seriesTitle(model), steps, opened);
    return folder;
}

void requirePoints(const std::string& run) {
    if (isSeries(run) && readMetrics(run).empty())
        throw FileError(run,
                        "is a series of checkpoints of another program and has no points: what it "
                        "measured while it trained is not among them; 'along' and the option "
                        "--along of analyses measure its steps");
}

}  // namespace relascope::core
