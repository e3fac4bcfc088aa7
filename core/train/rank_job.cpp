// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/rank_job.h"

#include <ATen/Context.h>
#include <torch/utils.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "edit/edit_json.h"
#include "options/options_json.h"
#include "train/training_edits.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const auto& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

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
    job.options = runOptionsFromJson(ranks.fromLeader(runOptionsToJson(job.options)));
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
    const auto list = editsFrom(job.ranks->fromLeader(textOf(edits)));
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
    json = Json::parse(job.ranks->fromLeader(json.dump()));
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

}  // namespace relascope::core
