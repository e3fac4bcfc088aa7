// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/job_door.h"
#include "app/cli/launched_ranks.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "checkpoint/start_from.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "options/field_text.h"
#include "options/run_settings.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "train/devices.h"
#include "train/execute_run.h"
#include "train/rank_run.h"
#include "types/suggest.h"
#include "types/text_piece.h"
#include "wire/device_queue.h"
#include "wire/start_run.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Prints the events of a run.
class Reporter {
public:
    void operator()(const TrainEvent& event) {
        if (const auto* point = std::get_if<MetricPoint>(&event)) {
            if (point->split == Split::Validation)
                m_validation = "validation " + scoreText(point->values);
            char text[32];
            std::snprintf(text, sizeof text, "loss %.4f", point->value("loss"));
            if (point->split == Split::Train) m_loss = text;
        } else if (const auto* p = std::get_if<Progress>(&event)) {
            char text[96];
            const bool tokens = p->tokensPerSecond > 0;
            std::snprintf(text, sizeof text, "step %lld of %lld  epoch %.1f  %.0f %s/s  ",
                          static_cast<long long>(p->step), static_cast<long long>(p->totalSteps),
                          p->epoch, tokens ? p->tokensPerSecond : p->examplesPerSecond,
                          tokens ? "tokens" : "examples");
            m_line.show(static_cast<double>(p->step) /
                            static_cast<double>(std::max<std::int64_t>(1, p->totalSteps)),
                        text + m_loss + "  " + m_validation);
        } else if (const auto* note = std::get_if<Note>(&event)) {
            if (note->level != Note::Level::Checkpoint && note->level != Note::Level::Sample)
                m_line.say((note->level == Note::Level::Warning ? "warning: " : "") + note->text);
        } else if (const auto* failed = std::get_if<Failed>(&event)) {
            m_line.say("failed: " + failed->message);
        }
    }

    void warn(const std::string& text) { say("warning: " + text); }
    void say(const std::string& text) { m_line.say(text); }

private:
    ProgressLine m_line;
    std::string m_loss, m_validation;
};

struct Outcome {
    core::TrainResult result;
    std::string path;
    int exit = 0;
};

// Trains one run after another, with a door for windows.
class Trainer {
public:
    /// `queues`: a run waits while another training uses one of its devices.
    Trainer(bool queues, const std::stop_token& signals)
        : m_queues(queues),
          m_job(signals, [this](const std::string& warning) { m_reporter.warn(warning); }) {}

    wire::RunDoor* door() { return m_job.door(); }
    bool isStopping() const { return m_job.stop().stop_requested() || m_job.control.stopping(); }

    Outcome train(core::RunRequest request) {
        const core::DataOpener open = [this](const RunOptions& options, std::stop_token token) {
            return datasets::openRunData(
                options,
                [this](double fraction) {
                    if (door()) door()->preparing(fraction);
                    return true;
                },
                std::move(token));
        };
        request.door = m_job.socket();
        if (door()) door()->begin(request.path);
        Outcome outcome;
        outcome.path = request.path;
        try {
            const auto devices = takeDevices(request);
            outcome.result = core::executeRun(
                request, open, m_job.control,
                [&](TrainEvent event) {
                    m_reporter(event);
                    if (door()) door()->take(std::move(event));
                },
                m_job.stop());
        } catch (const Cancelled&) {
            if (request.started) core::RunFolder::discardStart(request.path);
            throw;
        } catch (const std::exception& error) {
            if (door()) door()->failed(userMessage(error));
            throw;
        }
        m_job.control.endRun();
        const auto state = outcome.result.info.state;
        outcome.exit = state == RunState::Failed        ? kExitFailed
                       : state == RunState::Interrupted ? kExitInterrupted
                                                        : 0;
        return outcome;
    }

private:
    // Claims the devices of a run; waits for those in use if m_queues, otherwise claims only the
    // free ones.
    std::optional<wire::DeviceClaim> takeDevices(const core::RunRequest& request) {
        std::optional<wire::DeviceClaim> devices;
        try {
            devices.emplace(core::resolveDevices(request.options.train.device),
                            folderName(request.path));
        } catch (const Error&) {
            return devices;  // errors are reported when the devices are used
        }
        if (devices->take() || !m_queues) return devices;
        // The run folder is opened first, so that others see the run wait and find its door.
        std::optional<core::RunFolder> folder;
        if (request.started || request.resume) {
            folder.emplace(core::RunFolder::open(request.path));
            folder->setDoor(request.door);
        }
        m_reporter.say("waits for " + devices->heldByOther());
        devices->wait([&](const std::string& held) {
            if (door()) door()->waiting(held);
            return !isStopping() && !m_job.control.begins();
        });
        if (isStopping()) throw Cancelled();
        return devices;
    }

    bool m_queues;
    Reporter m_reporter;
    JobDoor m_job;
};

Json outcomeJson(const Outcome& o) {
    const auto& info = o.result.info;
    Json json = {{"split", "validation"}, {"step", info.kept.step}};
    for (const auto& [key, value] : info.kept.values) json[key] = finiteJson(value);
    json["best_seen"] = {{"metric", info.metric},
                         {"value", finiteJson(info.best(info.metric))},
                         {"step", info.bestStep},
                         {"evaluations", info.evaluations}};
    json["run"] = o.path;
    json["steps"] = info.step;
    json["seconds"] = info.seconds;
    json["state"] = runStateName(info.state);
    Json results = Json::array();
    for (const auto& result : info.results) {
        Json one = {{"split", result.split}, {"examples", result.examples}};
        for (const auto& [key, value] : result.values) one[key] = finiteJson(value);
        results.push_back(std::move(one));
    }
    json["results"] = results;
    return json;
}

int finish(const std::vector<Outcome>& outcomes, bool json) {
    int exit = 0;
    Json all = Json::array();
    for (const auto& o : outcomes) {
        exit = std::max(exit, o.exit);
        all.push_back(outcomeJson(o));
        if (!json)
            print("%s: %s after %lld steps, %.1f s, %s\n", plainName(o.path).c_str(),
                  runStateName(o.result.info.state), static_cast<long long>(o.result.info.step),
                  o.result.info.seconds, keptText(o.result.info).c_str());
        if (!json)
            for (const auto& result : o.result.info.results)
                print("  %s, %lld examples: loss %.4f, %s\n", result.split.c_str(),
                      static_cast<long long>(result.examples), result.value("loss"),
                      scoreText(result.values).c_str());
    }
    if (json) std::cout << (all.size() == 1 ? all[0] : Json({{"runs", all}})).dump(2) << "\n";
    return exit;
}

core::EditChoice editChoice(const TrainArguments& a) {
    if (a.edits.empty()) return {};
    return [&a](const std::vector<PointInfo>& points) {
        return core::editsNamed(a.edits, points, core::EditUse::Train);
    };
}

core::RunRequest resumeRequest(const TrainArguments& a, const std::string& device) {
    const auto isOther = [](const std::string& setting) {
        return !setting.starts_with("train.batch_size=") && !setting.starts_with("train.keep_mib=");
    };
    const bool others = std::any_of(a.settings.begin(), a.settings.end(), isOther);
    if (!a.preset.empty() || !a.model.empty() || others || !a.data.empty() || a.seed >= 0 ||
        !a.out.empty() || !a.initFrom.empty())
        throw OptionError("--resume",
                          "with --resume, all options except --epochs, --steps, --device, --edit, "
                          "--set train.batch_size and --set train.keep_mib are "
                          "read from the run; remove the others");
    RunOptions options = core::readRunOptions(a.resume);
    if (a.epochs > 0) options.train.epochs = a.epochs, options.train.steps = 0;
    if (a.steps > 0) options.train.steps = a.steps;
    if (!device.empty()) options.train.device = device;
    for (const auto& setting : a.settings)
        core::setOption(options, setting.substr(0, setting.find('=')),
                        setting.substr(setting.find('=') + 1));
    if (!a.settings.empty()) options.check();
    core::RunRequest request{a.resume, options};
    request.resume = true;
    return request;
}

// A request for each seed.
std::vector<core::RunRequest> newRequests(const TrainArguments& a, const std::string& device) {
    core::RunSettings settings{a.preset, a.model, a.settings, a.data,        device,
                               a.epochs, a.steps, a.seed,     a.captureEvery};
    if (!a.initFrom.empty())
        settings.begin = [&a](RunOptions& o) { core::startFrom(o, a.initFrom); };
    const RunOptions options = core::runOptions(settings);
    const bool several = options.train.seeds.size() > 1;
    if (several && !a.out.empty()) core::makeDirectories(a.out);
    std::vector<core::RunRequest> requests;
    for (const auto seed : options.train.seeds) {
        const std::string path = a.out.empty()
                                     ? core::freshRunPath(core::defaultRunsFolder(), options, seed)
                                 : several ? a.out + "/seed-" + std::to_string(seed)
                                           : a.out;
        requests.push_back({path, options, seed});
    }
    return requests;
}

// The requests of a window, from RUN/start.json.
std::vector<core::RunRequest> startedRequests(const std::string& run,
                                              const wire::StartRequest& start) {
    if (!start.resume.empty()) {
        core::RunRequest request{start.resume, start.options};
        request.resume = true;
        return {request};
    }
    std::vector<core::RunRequest> requests;
    for (const auto seed : start.options.train.seeds) {
        requests.push_back({wire::pathOfSeed(run, start, seed), start.options, seed});
        requests.back().started = requests.size() == 1;
    }
    return requests;
}

// The lock that a process started by a window has inherited (wire/start_run.h). Its ranks do not
// inherit it, and it is released before windows learn that the job has ended, as they may resume
// the run.
class InheritedLock {
public:
    explicit InheritedLock(bool isStarted) : m_file(isStarted ? wire::kInheritedLock : -1) {
        if (m_file >= 0) fcntl(m_file, F_SETFD, FD_CLOEXEC);
    }
    ~InheritedLock() {
        if (m_file >= 0) close(m_file);
    }
    InheritedLock(const InheritedLock&) = delete;
    InheritedLock& operator=(const InheritedLock&) = delete;

private:
    int m_file;
};

int train(const TrainArguments& a, const Call&) {
    // A rank other than 0 leaves signals to rank 0.
    if (isOtherRank(a.rendezvous)) return followAsRank(a);
    std::optional<wire::StartRequest> start;
    if (!a.start.empty()) {
        // Ended before the user's other programs if memory is short.
        std::ofstream("/proc/self/oom_score_adj") << 300;
        start = wire::readStart(a.start);
    }
    const int threads = start ? start->threads : a.threads;
    beginComputing(threads);
    const auto stop = stopOnSignals();
    const auto launched = joinLaunchedRanks(a);
    const auto device = launched ? a.device : deviceArgument(a);
    auto requests = start              ? startedRequests(a.start, *start)
                    : a.resume.empty() ? newRequests(a, device)
                                       : std::vector{resumeRequest(a, device)};
    Trainer trainer(start ? start->queue : a.queue, stop);
    const InheritedLock inherited(start.has_value());
    if (start && start->endsWithWindow && trainer.door()) trainer.door()->endWithFirst();
    std::vector<Outcome> outcomes;
    for (auto& request : requests) {
        request.edits = editChoice(a);
        request.ranks.threads = threads;
        request.ranks.timeout = std::chrono::seconds(a.rankTimeout);
        request.ranks.restarts = a.restarts;
        request.ranks.launched = launched.get();
        outcomes.push_back(trainer.train(request));
        if (outcomes.back().exit == kExitInterrupted || trainer.isStopping() ||
            (launched && core::isLost(*launched)))
            break;
    }
    if (launched) core::endRanks(*launched);
    return finish(outcomes, a.json);
}

void trainOptions(CLI::App& command, TrainArguments& a) {
    command.add_option("preset", a.preset, "experiment, as listed by `presets`");
    command.add_option("--model", a.model, "one of the preset's models");
    command.add_option("--set", a.settings, "KEY=VALUE for any option: model.d_model=64")
        ->take_all();
    command.add_option("--data", a.data, ".npz images, or text files and token shards");
    command.add_option(
        "--init-from", a.initFrom,
        "checkpoint to continue training from: a folder, a file, a run, or hub:ORG/NAME");
    command.add_option("--epochs", a.epochs, "total epochs")->check(CLI::Range(1, 1000000));
    command.add_option("--steps", a.steps, "total steps")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}));
    command.add_option("--seed", a.seed, "one seed instead of the preset's")
        ->check(CLI::NonNegativeNumber);
    // An empty variable of a script is not the same as no option.
    const CLI::Validator named(
        [](const std::string& text) {
            return text.empty() ? "is empty; leave it out or name one" : "";
        },
        "");
    command.add_option("--device", a.device, "auto, cpu, cuda:0")->check(named);
    command.add_option("--out", a.out, "run folder");
    command.add_option("--capture-every", a.captureEvery, "steps between captures")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--resume", a.resume, "run folder to resume");
    command.add_flag("--queue", a.queue,
                     "waits while another training of this user uses one of its devices");
    command.add_option("--start", a.start, "")->group("");  // used by the window
    command
        .add_option("--edit", a.edits,
                    kEditHelp + ": trains with these edits from the next step on")
        ->take_all();
    command.add_option("--threads", a.threads, "CPU threads")->check(CLI::Range(0, 1024));
    command
        .add_option("--ranks", a.ranks, "processes on this machine that train one model together")
        ->check(CLI::Range(1, 1024));
    command.add_option("--devices", a.devices, "a rank for each: cuda:0,cuda:1 or cpu,cpu")
        ->check(named);
    command
        .add_option("--rendezvous", a.rendezvous,
                    "HOST:PORT of rank 0, for ranks of several machines")
        ->check(named);
    command.add_option("--restarts", a.restarts, "how often a run that lost a rank is resumed")
        ->check(CLI::Range(0, 1000));
    command
        .add_option("--rank-timeout", a.rankTimeout,
                    "seconds after which a rank that does not answer is lost")
        ->check(CLI::Range(1, 86400));
}

}  // namespace

Command trainCommand() {
    return commandOf("train", "trains a preset, or resumes a run", trainOptions, train);
}

}  // namespace relascope::cli
