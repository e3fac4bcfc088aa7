// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/rank_run.h"

#include <ATen/Parallel.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "options/device_list.h"
#include "options/options_json.h"
#include "ranks/child_ranks.h"
#include "ranks/rank_group.h"
#include "run/run_folder.h"
#include "train/devices.h"
#include "train/rank_benchmark.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string deviceOfRank(const RankPlace& place, const std::string& wanted) {
    const auto list = deviceList(wanted);
    const auto local = static_cast<std::size_t>(place.localRank);
    if (list.size() > 1) {
        if (local >= list.size())
            throw OptionError("--devices", "names " + std::to_string(list.size()) +
                                               " devices, and this machine has rank " +
                                               std::to_string(local + 1) + " of its own");
        return resolveDevice(list[local]);
    }
    const auto first = resolveDevice(list[0]);
    if (list[0] != "auto" || first == "cpu") return first;
    return resolveDevice("cuda:" + std::to_string(local));
}

// Threads of LibTorch in a scope, of this thread.
class ThreadsScope {
public:
    explicit ThreadsScope(int threads) : m_before(at::get_num_threads()) {
        at::set_num_threads(threads);
    }
    ~ThreadsScope() { at::set_num_threads(m_before); }
    ThreadsScope(const ThreadsScope&) = delete;
    ThreadsScope& operator=(const ThreadsScope&) = delete;

private:
    int m_before;
};

// Writes what a rank that is not 0 notes; nothing where the folder is not on this machine.
class RankLog {
public:
    RankLog(const std::string& run, int rank) {
        std::error_code ignored;
        if (run.empty() || !fs::is_directory(run, ignored)) return;
        fs::create_directory(run + "/ranks", ignored);
        m_file.open(run + "/ranks/" + std::to_string(rank) + ".log", std::ios::app);
    }
    void say(const std::string& text) {
        if (m_file) m_file << text << std::endl;
    }

private:
    std::ofstream m_file;
};

void followRun(RankGroup& ranks, const Json& run, const DataOpener& open) {
    const RunOptions options = runOptionsFromJson(run.at("options"));
    RankLog log(run.at("path"), ranks.rank());
    log.say(ranks.nameOf(ranks.rank()) + ", process " +
            std::to_string(ranks.names()[static_cast<std::size_t>(ranks.rank())].process) + ", " +
            std::to_string(threadCount()) + " threads");
    try {
        const DataSplits data = open(options, {});
        auto folder = RunFolder::ofOtherProcess(options, run.at("seed"));
        Control control;
        const auto result = train(
            folder, data, control,
            [&](const TrainEvent& event) {
                if (const auto* note = std::get_if<Note>(&event))
                    log.say("step " + std::to_string(note->step) + ": " + note->text);
                if (const auto* failed = std::get_if<Failed>(&event)) log.say(failed->message);
            },
            {}, {}, &ranks);
        log.say(std::string(runStateName(result.info.state)) + " " + result.info.message);
        if (ranks.isLost()) throw RankLost(result.info.message);
    } catch (const RankLost& lost) {
        log.say(lost.what());
        ranks.leave("");
        throw;
    } catch (const std::exception& error) {
        log.say(userMessage(error));
        ranks.leave(userMessage(error));
        throw;
    }
}

}  // namespace

std::shared_ptr<RankGroup> joinRanks(RankPlace place, const std::string& wanted) {
    if (place.rank == 0 && place.listening < 0) listenAt(place);
    std::string device;
    try {
        device = deviceOfRank(place, wanted);
    } catch (const std::exception& error) {
        RankGroup::refuse(place, userMessage(error));
        throw;
    }
    return std::make_shared<RankGroup>(place, device);
}

void followRuns(RankGroup& ranks, const DataOpener& open) {
    for (;;) {
        const auto said = Json::parse(ranks.fromLeader(""));
        if (said.at("do") == "end") {
            ranks.any(false);
            return;
        }
        if (said.at("do") == "bench")
            followRankBenchmark(ranks, said.dump());
        else
            followRun(ranks, said, open);
    }
}

bool isLost(const RankGroup& ranks) {
    return ranks.isLost();
}

void endRanks(RankGroup& ranks) {
    if (ranks.isLost()) return;
    try {
        ranks.fromLeader(Json({{"do", "end"}}).dump());
        ranks.any(false);        // so that none closes before all have read it
    } catch (const RankLost&) {  // the run has ended before
    }
}

void beginRanks(RankGroup* ranks, RunFolder& folder, const RunOptions& options) {
    if (!ranks) return;
    std::error_code ignored;
    ranks->fromLeader(Json({{"do", "run"},
                            {"path", fs::absolute(folder.path(), ignored).string()},
                            {"seed", folder.info().seed},
                            {"options", runOptionsToJson(options)}})
                          .dump());
}

TrainResult withRanks(const RunRequest& request, const EventSink& sink, const std::stop_token& stop,
                      const std::function<TrainResult(const RunRequest&, RankGroup*)>& run) {
    const auto& how = request.ranks;
    if (how.launched) return run(request, how.launched);
    const auto devices = deviceList(request.options.train.device);
    if (devices.size() < 2) return run(request, nullptr);
    const auto program = how.program.empty() ? rankProgram() : how.program;
    const auto count = static_cast<int>(devices.size());
    const int threads = how.threads > 0 ? how.threads : std::max(1, threadCount() / count);
    const ThreadsScope scope(threads);
    auto now = request;
    for (int left = how.restarts;; --left) {
        RankPlace place;
        place.size = count;
        place.timeout = how.timeout;
        place.key = randomKey();
        listenAt(place);
        bool lost = false;
        TrainResult result;
        {
            ChildRanks children(place, devices, threads, program);
            RankGroup ranks(place, resolveDevice(devices[0]),
                            [&children](int rank) { return children.endOf(rank); });
            try {
                result = run(now, &ranks);
            } catch (const RankLost& loss) {  // before the first step
                throw Error(ranks.describeLoss(loss.what(), 0));
            } catch (const std::exception& error) {
                ranks.leave(userMessage(error));
                throw;
            }
            lost = ranks.isLost();
            endRanks(ranks);
        }
        if (!lost || left <= 0 || stop.stop_requested()) return result;
        sink(Note{Note::Level::Warning, result.info.step,
                  result.info.message + "; the run is resumed"});
        now.path = result.info.path;
        now.resume = true;
        now.edits = {};
    }
}

}  // namespace relascope::core
