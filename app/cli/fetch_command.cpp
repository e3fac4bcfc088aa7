// SPDX-License-Identifier: GPL-3.0-or-later
// fetch: models of the hub, by name, into its cache.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
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
#include "hub/hub_cache.h"
#include "hub/hub_fetch.h"
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

/// Steps of a training among the revisions of a model, without their sizes.
std::vector<core::SeriesStep> seriesOnHub(const std::string& name,
                                          const std::vector<core::HubRevision>& revisions) {
    std::vector<std::string> names;
    std::map<std::string, std::string> commits;
    for (const auto& one : revisions) names.push_back(one.name), commits[one.name] = one.commit;
    std::vector<core::SeriesStep> steps;
    for (const auto& [step, revision] : core::stepsAmong(names))
        steps.push_back({step, revision, core::kHubPrefix + name + "@" + commits[revision], 0});
    return steps;
}

/// The run of all revisions that are steps of one training. One of them must be here for it, the
/// last is fetched where none is; the others when they are looked at.
std::string fetchedSeries(const std::string& name, bool lines) {
    const auto stop = stopOnSignals();
    const auto wanted = [&] { return !stop.stop_requested(); };
    const auto revisions = core::listHubRevisions(name, wanted);
    auto steps = seriesOnHub(name, revisions);
    if (steps.empty()) {
        std::string all;
        for (const auto& one : revisions) all += (all.empty() ? "" : ", ") + one.name;
        throw Error(name +
                    " has no two revisions that are steps of one training, such as chck_1M "
                    "and chck_10M; it has " +
                    all.substr(0, 300));
    }
    const auto opened = std::find_if(steps.rbegin(), steps.rend(),
                                     [](const auto& step) { return !core::placeOf(step).empty(); });
    const auto& first = opened == steps.rend() ? steps.back() : *opened;
    const auto model = modelOf(first.checkpoint);
    const auto size = static_cast<std::uint64_t>(core::listHubModel(model, wanted).bytes());
    if (opened == steps.rend()) {
        std::cerr << first.name << " is fetched now, " << megabytes(std::int64_t(size))
                  << "; the other " << steps.size() - 1
                  << " steps, about as large, when they are looked at\n";
        fetched(model, lines);
    }
    for (auto& step : steps) step.bytes = size;
    const auto folder = core::hubSeriesFolder(name);
    core::makeSeries(folder, name, steps, first.checkpoint);
    return folder;
}

int printRevisions(const std::string& name, bool json) {
    const auto stop = stopOnSignals();
    const auto wanted = [&] { return !stop.stop_requested(); };
    const auto revisions = core::listHubRevisions(name, wanted);
    const auto steps = seriesOnHub(name, revisions);
    Json all = Json::array();
    std::map<std::string, std::int64_t> numbers;
    for (const auto& step : steps) numbers[step.name] = step.step;
    auto ordered = revisions;  // what is no step first, steps by their numbers
    std::stable_sort(ordered.begin(), ordered.end(), [&](const auto& a, const auto& b) {
        const auto of = [&](const auto& one) {
            const auto found = numbers.find(one.name);
            return found == numbers.end() ? -1 : found->second;
        };
        return of(a) < of(b);
    });
    for (const auto& one : ordered) {
        const auto step = numbers.find(one.name);
        const bool here = core::findCachedModel({name, one.commit}).has_value();
        if (json)
            all.push_back({{"revision", one.name},
                           {"commit", one.commit},
                           {"step", step == numbers.end() ? Json() : Json(step->second)},
                           {"cached", here}});
        else
            print("%-24s %.12s  %14s  %s\n", plainName(one.name).c_str(), one.commit.c_str(),
                  step == numbers.end() ? "" : ("step " + std::to_string(step->second)).c_str(),
                  here ? "cached" : "");
    }
    if (json)
        std::cout << all.dump(2) << "\n";
    else if (!steps.empty())
        print("%zu of them are steps of one training: open hub:%s@*\n", steps.size(),
              plainName(name).c_str());
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
    const auto path = model.revision == core::kAllRevisions ? fetchedSeries(model.name, a.lines)
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
                       "are steps of one training");
    command.add_flag("--list", a.list, "print the files and their sizes; fetch nothing");
    command.add_flag("--lines", a.lines, "print progress and result as lines of JSON");
    command.add_flag("--revisions", a.revisions,
                     "print branches and tags, with the steps that they are; fetch nothing");
    command.add_flag("--cached", a.cached, "print the models of the cache; fetch nothing");
}

}  // namespace

void checkpointOption(CLI::App& command, std::string& path, const char* help, const char* name) {
    command.add_option(name, path, std::string(help) + ", or hub:ORG/NAME[@REVISION]")->required();
    const auto fetches = std::make_shared<bool>(false);
    const auto adapter = std::make_shared<std::string>();
    command.add_option("--adapter", *adapter, "folder of a LoRA adapter to merge while opening");
    command.add_flag("--fetch", *fetches, "fetch a model of the hub that is not in its cache");
    command.callback([&path, fetches, adapter] {
        const auto withAdapter = [&] {
            if (!adapter->empty()) path = core::adaptedFolder(path, core::hubPath(*adapter));
        };
        if (!path.starts_with(core::kHubPrefix)) return withAdapter();
        const auto model = modelOf(path);
        if (model.revision == core::kAllRevisions) {
            path = *fetches ? fetchedSeries(model.name, false) : core::hubPath(path);
            return;
        }
        path = *fetches && !core::findCachedModel(model) ? fetched(model) : core::hubPath(path);
        std::cerr << model.name << ", commit " << std::filesystem::path(path).filename().string()
                  << "\n";
        withAdapter();
    });
}

void otherOption(CLI::App& command, std::string& path, const char* help) {
    command.add_option("other", path, help)->transform([](const std::string& given) {
        return given.starts_with(core::kHubPrefix) ? core::hubPath(given) : given;
    });
}

void fetchWhatIsLookedAt() {
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
