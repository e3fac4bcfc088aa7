// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/utils.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "interventions/edit_json.h"
#include "options/device_list.h"
#include "options/options_json.h"
#include "ranks/child_ranks.h"
#include "ranks/rank_group.h"
#include "run/run_folder.h"
#include "train/devices.h"
#include "train/rank_job.h"
#include "train/rank_run.h"
#include "train/training_edits.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

EditList editsFrom(const std::string& text) {
    return text.empty() ? EditList{} : editsFromJson(text, "the edits of rank 0");
}

std::string textOf(const EditList& edits) {
    return edits.edits.empty() ? "" : editsToJson(edits);
}

// Good bits from numbers that differ little (Steele, Lea and Flood 2014, SplitMix64).
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

}  // namespace

std::string ranksText(int ranks) {
    return ranks == 1 ? "one process" : std::to_string(ranks) + " ranks";
}

Ranks ranksOf(const TrainJob& job) {
    if (!job.ranks) return {};
    const auto& names = job.ranks->names();
    const auto& own = names[static_cast<std::size_t>(job.ranks->rank())].machine;
    const auto here = std::count_if(names.begin(), names.end(),
                                    [&](const auto& name) { return name.machine == own; });
    return {job.ranks->size(), job.device.is_cpu() ? here : 1};
}

void setRankFacts(TrainJob& job) {
    if (!job.ranks) {
        if (!job.folder.fact("ranks").empty()) job.folder.setFact("ranks", "1");
        return;
    }
    std::vector<std::string> devices, machines;
    std::set<std::string> known;
    for (const auto& name : job.ranks->names()) {
        devices.push_back(name.device);
        if (known.insert(name.machine).second) machines.push_back(name.machine);
    }
    job.folder.setFact("ranks", std::to_string(job.ranks->size()));
    job.folder.setFact("rank_devices", joined(devices));
    job.folder.setFact("machines", joined(machines));
    job.folder.info().device = joined(devices);
}

void shareOptions(TrainJob& job) {
    if (!job.ranks) return;
    auto& ranks = *job.ranks;
    job.options = runOptionsFromJson(ranks.broadcast(runOptionsToJson(job.options)));
    job.folder.setOptions(job.options);
    checkRanks(job.options, ranks.size());
    const auto rows = ranks.gather({static_cast<double>(job.data.train->size()),
                                    static_cast<double>(job.data.validation->size())});
    for (std::size_t r = 1; r < rows.size(); ++r)
        if (rows[r] != rows[0])
            throw Error("the data of the ranks differ: " + ranks.nameOf(static_cast<int>(r)) +
                        " has " + std::to_string(static_cast<std::int64_t>(rows[r][0])) +
                        " training examples, rank 0 " +
                        std::to_string(static_cast<std::int64_t>(rows[0][0])) +
                        "; give all machines the same files");
}

void shareWeights(TrainJob& job, const EditList& edits) {
    if (!job.ranks) return;
    for (const auto& entry : stateOf(*job.model))
        if (entry.aliasOf.empty()) job.ranks->takeFromLeader(entry.tensor);
    const auto list = editsFrom(job.ranks->broadcast(textOf(edits)));
    if (!job.leads()) job.edits = trainingSession(job, list);
}

void shareState(TrainJob& job) {
    if (!job.ranks) return;
    Json json = {{"state", Json::parse(trainStateToJson(job.state))},
                 {"total_steps", job.totalSteps},
                 {"stopped_early", job.stoppedEarly},
                 {"last_evaluated", job.lastEvaluated},
                 {"has_next_edits", job.nextEdits.has_value()},
                 {"next_edits", textOf(job.nextEdits.value_or(EditList{}))},
                 {"options", runOptionsToJson(job.options)}};
    json = Json::parse(job.ranks->broadcast(json.dump()));
    if (!job.leads()) {
        job.state = trainStateFromJson(json.at("state").dump(), "the state of rank 0");
        job.totalSteps = json.at("total_steps");
        job.stoppedEarly = json.at("stopped_early");
        job.lastEvaluated = json.at("last_evaluated");
        job.options = runOptionsFromJson(json.at("options"));
        job.folder.setOptions(job.options);
        job.folder.info().totalSteps = job.totalSteps;
        if (json.at("has_next_edits")) job.nextEdits = editsFrom(json.at("next_edits"));
    }
    shareWeights(job, job.state.edits);
    job.optimizer->shareState(*job.ranks);
}

std::vector<double> weightsChecksum(const TrainJob& job) {
    const torch::NoGradGuard noGrad;
    std::vector<torch::Tensor> sums;
    for (const auto& parameter : job.optimizer->parameters())
        sums.push_back(parameter.detach().view(torch::kInt).sum(torch::kLong));
    const auto all = torch::stack(sums).cpu();
    const auto* numbers = all.const_data_ptr<std::int64_t>();
    std::uint64_t checksum = 0;
    for (std::int64_t i = 0; i < all.numel(); ++i)
        checksum = mixed(checksum ^ static_cast<std::uint64_t>(numbers[i]));
    return {static_cast<double>(checksum >> 32), static_cast<double>(checksum & 0xffffffffU)};
}

void requireEqualChecksums(const TrainJob& job, const std::vector<std::vector<double>>& rows,
                           std::size_t column) {
    for (std::size_t r = 1; r < rows.size(); ++r)
        if (!std::equal(rows[r].begin() + static_cast<std::ptrdiff_t>(column), rows[r].end(),
                        rows[0].begin() + static_cast<std::ptrdiff_t>(column)))
            throw Error("the weights of " + job.ranks->nameOf(static_cast<int>(r)) +
                        " differ from those of rank 0 at step " + std::to_string(job.state.step) +
                        ": a device computes wrongly, or the ranks run different programs; resume "
                        "from the last checkpoint");
}

Share shareOf(std::int64_t size, int rank, int ranks) {
    return {size * rank / ranks, size * (rank + 1) / ranks};
}

Batch slicedBatch(const Batch& batch, const Share& share) {
    Batch part = batch;
    for (auto* tensor : {&part.inputs, &part.targets, &part.targetIn, &part.mixed})
        if (tensor->defined()) *tensor = tensor->slice(0, share.first, share.last);
    return part;
}

void seedRank(const TrainJob& job) {
    const auto seed = mixed(mixed(mixed(static_cast<std::uint64_t>(job.folder.info().seed)) ^
                                  static_cast<std::uint64_t>(job.state.step)) ^
                            static_cast<std::uint64_t>(job.ranks->rank()));
    for (const auto& device : {torch::Device(torch::kCPU), job.device}) {
        auto generator = at::globalContext().defaultGenerator(device);
        generator.set_current_seed(seed);
    }
}

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

// Writes the notes of a rank other than 0; nothing where the folder is not on this machine.
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
        const auto said = Json::parse(ranks.broadcast(""));
        if (said.at("do") == "end") {
            ranks.any(false);
            return;
        }
        followRun(ranks, said, open);
    }
}

bool isLost(const RankGroup& ranks) {
    return ranks.isLost();
}

void endRanks(RankGroup& ranks) {
    if (ranks.isLost()) return;
    try {
        ranks.broadcast(Json({{"do", "end"}}).dump());
        ranks.any(false);        // so that none closes before all have read it
    } catch (const RankLost&) {  // the run has ended before
    }
}

void beginRanks(RankGroup* ranks, RunFolder& folder, const RunOptions& options) {
    if (!ranks) return;
    std::error_code ignored;
    ranks->broadcast(Json({{"do", "run"},
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
