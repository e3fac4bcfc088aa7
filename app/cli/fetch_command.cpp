// SPDX-License-Identifier: GPL-3.0-or-later
// fetch: models of the hub, by name, into its cache.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "app/cli/cli.h"
#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "checkpoint/adapter.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/series.h"
#include "files/command_line.h"
#include "hub/hub_cache.h"
#include "hub/hub_fetch.h"
#include "run/run_folder.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct FetchArguments {
    std::string model;
    bool list = false, cached = false, lines = false, revisions = false, json = false;
};

using Json = nlohmann::ordered_json;

std::string megabytes(std::int64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
    return text;
}

std::string progressText(const core::HubProgress& p) {
    std::string text = megabytes(p.done) + " of " + megabytes(p.total);
    if (p.rate > 0.0) {
        const auto left = static_cast<double>(p.total - p.done) / p.rate;
        text += ", " + megabytes(static_cast<std::int64_t>(p.rate)) + "/s, " +
                std::to_string(static_cast<long long>(left) + 1) + " s left";
    }
    return text;
}

/// `lines`: prints the progress as lines of JSON to stdout, for the window.
std::string fetched(const core::HubModel& model, bool lines = false) {
    const auto stop = stopOnSignals();
    ProgressLine line;
    auto path = core::fetchHubModel(model, [&](const core::HubProgress& p) {
        if (lines)
            std::cout << Json{{"done", p.done}, {"total", p.total}, {"rate", p.rate}}.dump()
                      << std::endl;
        else if (p.total > 0)
            line.show(static_cast<double>(p.done) / static_cast<double>(p.total), progressText(p));
        return !stop.stop_requested();
    });
    line.done();
    return path;
}

core::HubModel modelOf(const std::string& text) {
    const bool prefixed = text.starts_with(core::kHubPrefix);
    return core::hubModel(prefixed ? text.substr(std::string(core::kHubPrefix).size()) : text);
}

/// The revisions of a model on the hub; where it does not answer, those of the cache, if it has
/// some.
std::vector<core::HubRevision> revisionsOf(const std::string& name,
                                           const std::function<bool()>& wanted) {
    try {
        return core::listHubRevisions(name, wanted);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        auto cached = core::cachedRevisions(name);
        if (cached.empty()) throw;
        std::cerr << plainName(error.what()) << "; the " << cached.size()
                  << " revisions of the cache are taken\n";
        return cached;
    }
}

std::vector<core::NamedSteps> groupsAmong(const std::vector<core::HubRevision>& revisions) {
    std::vector<std::string> names;
    for (const auto& one : revisions) names.push_back(one.name);
    return core::groupsOfSteps(names);
}

/// Where a group is opened: "hub:ORG/NAME@stage1-*".
std::string placeOfGroup(const std::string& name, const core::NamedSteps& group, bool first) {
    return core::kHubPrefix + name + "@" + (first || group.group.empty() ? "" : group.group + "-") +
           core::kAllRevisions;
}

/// The group of steps that a model names, without their sizes; says which others there are, and
/// what is left out.
std::vector<core::SeriesStep> seriesOnHub(const core::HubModel& model,
                                          const std::vector<core::HubRevision>& revisions) {
    const auto groups = groupsAmong(revisions);
    const auto* group = core::groupNamed(groups, model);
    if (!group) {
        std::string all;
        for (const auto& one : revisions) all += (all.empty() ? "" : ", ") + one.name;
        throw Error(model.name + " has no two revisions that are steps of one training" +
                    (core::seriesGroup(model.revision).empty()
                         ? ", such as chck_1M and chck_10M"
                         : " called " + core::seriesGroup(model.revision)) +
                    "; it has " + (groups.empty() ? all.substr(0, 300) : core::groupsText(groups)));
    }
    if (groups.size() > 1)
        std::cerr << plainName(model.name)
                  << " has several series: " << plainName(core::groupsText(groups)) << "; "
                  << plainName(group->group) << " is opened, another one as "
                  << core::shellText({placeOfGroup(
                         model.name, groups[group == &groups.front() ? 1 : 0], false)})
                  << "\n";
    for (const auto& name : group->leftOut)
        std::cerr << plainName(name) << " is left out: another revision has its number\n";
    std::map<std::string, std::string> commits;
    for (const auto& one : revisions) commits[one.name] = one.commit;
    std::vector<core::SeriesStep> steps;
    for (const auto& [step, revision] : group->steps)
        steps.push_back(
            {step, revision, core::kHubPrefix + model.name + "@" + commits[revision], 0});
    return steps;
}

/// The size of a step that is here.
std::uint64_t sizeHere(const std::vector<core::SeriesStep>& steps) {
    std::uint64_t size = 0;
    std::error_code error;
    for (const auto& step : steps)
        if (const auto place = core::placeOf(step); !place.empty() && size == 0)
            for (std::filesystem::recursive_directory_iterator it(place, error), end;
                 !error && it != end; it.increment(error)) {
                std::error_code other;
                const auto bytes = std::filesystem::file_size(it->path(), other);
                if (!other) size += bytes;
            }
    return size;
}

/// The run of all revisions that are steps of one training. One of them must be here for it, the
/// last is fetched where none is; the others when they are looked at.
std::string fetchedSeries(const core::HubModel& model, bool lines) {
    const auto stop = stopOnSignals();
    const auto wanted = [&] { return !stop.stop_requested(); };
    auto steps = seriesOnHub(model, revisionsOf(model.name, wanted));
    std::string opened;
    for (const auto& step : steps)
        if (!core::placeOf(step).empty()) opened = step.checkpoint;
    // A revision without weights is no reason to leave the others.
    std::uint64_t size = 0;
    while (opened.empty()) {
        const auto last = steps.back();
        try {
            size = static_cast<std::uint64_t>(
                core::listHubModel(modelOf(last.checkpoint), wanted).bytes());
            std::cerr << last.name << " is fetched now, " << megabytes(std::int64_t(size))
                      << "; the other " << steps.size() - 1
                      << " steps, about as large, when they are looked at\n";
            fetched(modelOf(last.checkpoint), lines);
            opened = last.checkpoint;
        } catch (const core::NoWeights& error) {
            std::cerr << plainName(last.name) << " is left out: " << plainName(error.what())
                      << "\n";
            steps.pop_back();
            if (steps.empty()) throw;
        }
    }
    if (size == 0) size = sizeHere(steps);
    for (auto& step : steps) step.bytes = size;
    const auto folder = core::hubSeriesFolder(model);
    core::makeSeries(folder, core::seriesTitle(model), steps, opened);
    return folder;
}

int printRevisions(const std::string& name, bool json) {
    const auto stop = stopOnSignals();
    const auto wanted = [&] { return !stop.stop_requested(); };
    const auto revisions = revisionsOf(name, wanted);
    const auto groups = groupsAmong(revisions);
    struct Place {
        std::size_t group = 0;
        std::int64_t step = -1;  ///< it is none
        bool operator<(const Place& other) const {
            return std::pair(step >= 0 ? group + 1 : 0, step) <
                   std::pair(other.step >= 0 ? other.group + 1 : 0, other.step);
        }
    };
    std::map<std::string, Place> places;
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const auto& [step, revision] : groups[g].steps) places[revision] = {g, step};
    auto ordered = revisions;  // what is no step first, steps by their groups and numbers
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](const auto& a, const auto& b) { return places[a.name] < places[b.name]; });
    Json all = Json::array();
    for (const auto& one : ordered) {
        const auto& place = places[one.name];
        const bool here = core::findCachedModel({name, one.commit}).has_value();
        if (json)
            all.push_back({{"revision", one.name},
                           {"commit", one.commit},
                           {"step", place.step < 0 ? Json() : Json(place.step)},
                           {"series", place.step < 0 ? Json() : Json(groups[place.group].group)},
                           {"cached", here}});
        else
            print("%-24s %.12s  %14s  %s\n", plainName(one.name).c_str(), one.commit.c_str(),
                  place.step < 0 ? "" : ("step " + std::to_string(place.step)).c_str(),
                  here ? "cached" : "");
    }
    if (json) std::cout << all.dump(2) << "\n";
    for (std::size_t g = 0; g < groups.size() && !json; ++g)
        print("%zu of them are steps of one training: open %s\n", groups[g].steps.size(),
              core::shellText({placeOfGroup(name, groups[g], g == 0)}).c_str());
    return 0;
}

int printCache(bool json) {
    Json all = Json::array();
    for (const auto& model : core::cachedModels()) {
        if (json)
            all.push_back({{"model", model.name}, {"commit", model.commit}, {"path", model.path}});
        else
            print("%-50s %.12s  %s\n", plainName(model.name).c_str(), model.commit.c_str(),
                  model.path.c_str());
    }
    if (json) std::cout << all.dump(2) << "\n";
    return 0;
}

int fetch(const FetchArguments& a, const Call&) {
    if (a.cached) return printCache(a.json);
    if (a.model.empty()) throw OptionError("model", "give ORG/NAME, or --cached for the cache");
    const auto model = modelOf(a.model);
    if (a.revisions) return printRevisions(model.name, a.json);
    if (a.list) {
        const auto stop = stopOnSignals();
        const auto listing = core::listHubModel(model, [&] { return !stop.stop_requested(); });
        Json files = Json::array();
        for (const auto& file : listing.files) {
            files.push_back({{"name", file.name}, {"bytes", file.size}});
            if (!a.json)
                print("%12s  %s\n", megabytes(file.size).c_str(), plainName(file.name).c_str());
        }
        if (a.json)
            std::cout
                << Json{{"model", model.name}, {"commit", listing.commit}, {"files", files}}.dump(2)
                << "\n";
        else
            print("%12s  in all, commit %s\n", megabytes(listing.bytes()).c_str(),
                  listing.commit.c_str());
        return 0;
    }
    const auto path = core::isSeriesRevision(model.revision) ? fetchedSeries(model, a.lines)
                                                             : fetched(model, a.lines);
    if (a.json || a.lines)
        std::cout << Json{{"model", model.text()}, {"path", path}}.dump(a.lines ? -1 : 2) << "\n";
    else
        print("%s\n", path.c_str());
    return 0;
}

void fetchOptions(CLI::App& command, FetchArguments& a) {
    command.add_option("model", a.model,
                       "ORG/NAME, ORG/NAME@REVISION, or ORG/NAME@* for a run of all revisions that "
                       "are steps of one training, ORG/NAME@GROUP-* of a group of them");
    command.add_flag("--list", a.list, "print the files and their sizes; fetch nothing");
    command.add_flag("--lines", a.lines, "print progress and result as lines of JSON");
    command.add_flag("--revisions", a.revisions,
                     "print branches and tags, with the steps that they are; fetch nothing");
    command.add_flag("--cached", a.cached, "print the models of the cache; fetch nothing");
}

}  // namespace

std::string hubPlaceOf(const std::string& given) {
    if (!given.starts_with(core::kHubPrefix)) return given;
    const auto model = modelOf(given);
    return core::isSeriesRevision(model.revision) ? core::openSeries(model) : core::hubPath(given);
}

void checkpointOption(CLI::App& command, std::string& path, const char* help, const char* name,
                      std::shared_ptr<bool> fetches) {
    command.add_option(name, path, std::string(help) + ", or hub:ORG/NAME[@REVISION]")->required();
    if (!fetches) fetches = std::make_shared<bool>(false);
    const auto adapter = std::make_shared<std::string>();
    command.add_option("--adapter", *adapter, "folder of a LoRA adapter to merge while opening");
    command.add_flag("--fetch", *fetches, "fetch a model of the hub that is not in its cache");
    command.callback([&path, fetches, adapter] {
        const auto withAdapter = [&] {
            if (!adapter->empty()) path = core::adaptedFolder(path, core::hubPath(*adapter));
        };
        if (!path.starts_with(core::kHubPrefix)) return withAdapter();
        const auto model = modelOf(path);
        if (core::isSeriesRevision(model.revision)) {
            path = *fetches ? fetchedSeries(model, false) : core::openSeries(model);
            return;
        }
        path = *fetches && !core::findCachedModel(model) ? fetched(model) : core::hubPath(path);
        std::cerr << model.name << ", commit " << std::filesystem::path(path).filename().string()
                  << "\n";
        withAdapter();
    });
}

void otherOption(CLI::App& command, std::string& path, const char* help) {
    command.add_option("other", path, help)->transform(hubPlaceOf);
}

void followSeries(const std::string& run, bool fetches) {
    if (!core::isRunFolder(run) || !core::isSeries(run)) return;
    const auto kept = core::KeptWeights(run).steps();
    std::uint64_t bytes = 0;
    std::vector<core::KeptStep> missing;
    for (const auto& step : kept)
        if (!step.here) missing.push_back(step), bytes = std::max(bytes, step.bytes);
    if (missing.empty()) return;
    const auto size = bytes > 0 ? ", about " + megabytes(static_cast<std::int64_t>(bytes)) + " each"
                                : std::string();
    if (!fetches) {
        std::cerr
            << kept.size() - missing.size() << " of " << kept.size()
            << " steps are on this machine, and these are followed; --fetch fetches the others"
            << size << "\n";
        return;
    }
    std::cerr << missing.size() << " of " << kept.size() << " steps are fetched" << size << "\n";
    for (const auto& step : missing) {
        try {
            fetched(modelOf(step.checkpoint));
        } catch (const core::NoWeights& error) {
            std::cerr << plainName(step.name) << " is left out: " << plainName(error.what())
                      << "\n";
        }
    }
}

void fetchRevisionsOnDemand() {
    core::setModelFetcher([](const std::string& model, const std::stop_token& stop,
                             const std::function<bool(double)>& progress) {
        return core::fetchHubModel(core::hubModel(model), [&](const core::HubProgress& p) {
            const double all = static_cast<double>(std::max<std::int64_t>(1, p.total));
            return !stop.stop_requested() &&
                   (!progress || progress(static_cast<double>(p.done) / all));
        });
    });
}

Command fetchCommand() {
    return commandOf("fetch", "fetches a model from the hub by its name, as Python's client does",
                     fetchOptions, fetch);
}

}  // namespace relascope::cli
