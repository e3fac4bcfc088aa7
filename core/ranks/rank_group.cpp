// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/rank_group.h"

#include <torch/utils.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "ranks/communicator.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kLossNoticeTimeout =
    std::chrono::milliseconds(2000);  // the time for messages of the others about a loss

std::string machineName() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

std::string reasonKey(int rank) {
    return "reason/" + std::to_string(rank);
}
std::string hereKey(int rank) {
    return "here/" + std::to_string(rank);
}

torch::Tensor bytesOf(const std::string& text) {
    auto bytes = torch::empty({static_cast<std::int64_t>(text.size())}, torch::kUInt8);
    std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
    return bytes;
}

std::string textOf(const torch::Tensor& bytes) {
    return {static_cast<const char*>(bytes.const_data_ptr()),
            static_cast<std::size_t>(bytes.numel())};
}

}  // namespace

RankGroup::RankGroup(const RankPlace& place, const std::string& device, ProcessEnd processEnd)
    : m_place(place), m_processEnd(std::move(processEnd)) {
    // Writing to a rank that is gone would end this process; it is to be an error.
    std::signal(SIGPIPE, SIG_IGN);
    m_store = openRankStore(place);
    waitForAll();
    m_host = makeGlooCommunicator(*m_store, place);
    const auto own = Json({{"machine", machineName()},
                           {"device", device},
                           {"process", getpid()},
                           {"options", place.options}});
    bool cuda = false, cpu = false;
    std::vector<std::vector<std::string>> options;
    for (const auto& text : gatherTexts(own.dump())) {
        const auto json = Json::parse(text);
        m_names.push_back({json.at("machine"), json.at("device"), json.at("process")});
        (m_names.back().device == "cpu" ? cpu : cuda) = true;
        options.push_back(json.at("options"));
    }
    if (!place.meetingFile.empty()) unlink(place.meetingFile.c_str());
    requireSameOptions(options);
    if (cuda && cpu)
        throw OptionError("--devices",
                          "some ranks compute on the CPU and some on GPUs; give all the same kind");
    if (cuda)
        m_device =
            makeNcclCommunicator(*m_host, device, place.timeout, [this] { return lossNow(); });
}

RankGroup::~RankGroup() = default;

// All ranks compare the same lists, so that all end with the same sentence.
void RankGroup::requireSameOptions(const std::vector<std::vector<std::string>>& options) const {
    const auto only = [](const auto& list, const auto& other) {
        std::string text;
        for (const auto& option : list)
            if (std::find(other.begin(), other.end(), option) == other.end())
                text += (text.empty() ? "" : " ") + option;
        return text.empty() ? "nothing else" : "'" + text.substr(0, 200) + "'";
    };
    for (std::size_t r = 1; r < options.size(); ++r) {
        if (options[r].empty() || options[0].empty() || options[r] == options[0]) continue;
        throw Error(nameOf(static_cast<int>(r)) + " was given " + only(options[r], options[0]) +
                    ", and rank 0 " + only(options[0], options[r]) +
                    "; start all ranks with the same options");
    }
}

// gloo would wait for its whole timeout for a process that has ended already.
void RankGroup::waitForAll() {
    m_store->set(hereKey(rank()), "here");
    if (!leads()) return;
    const auto until = std::chrono::steady_clock::now() + m_place.timeout;
    for (int r = 1; r < size(); ++r) {
        while (!m_store->find(hereKey(r))) {
            const auto who = "rank " + std::to_string(r) + " cannot take part: ";
            if (const auto reason = m_store->find(reasonKey(r))) throw Error(who + *reason);
            if (m_processEnd)
                if (const auto end = m_processEnd(r); !end.empty()) throw Error(who + end);
            if (std::chrono::steady_clock::now() > until)
                throw Error(who + "it has not joined within " +
                            std::to_string(m_place.timeout.count()) +
                            " s; all ranks must be started, and reach " + m_place.host +
                            " at port " + std::to_string(m_place.port));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}

void RankGroup::refuse(const RankPlace& place, const std::string& reason) {
    try {
        openRankStore(place)->set(reasonKey(place.rank), reason);
    } catch (const std::exception&) {  // rank 0 finds out by its timeout
    }
}

std::string RankGroup::nameOf(int rank) const {
    const auto& name = m_names.at(static_cast<std::size_t>(rank));
    return "rank " + std::to_string(rank) + " (" + name.machine + ", " + name.device + ")";
}

std::vector<std::vector<double>> RankGroup::gather(const std::vector<double>& own) {
    const auto count = static_cast<std::int64_t>(own.size());
    auto all = torch::empty({size() * count}, torch::kDouble);
    m_host->allGather(all, torch::tensor(own, torch::kDouble));
    std::vector<std::vector<double>> rows;
    const auto* numbers = all.const_data_ptr<double>();
    for (int r = 0; r < size(); ++r, numbers += count) rows.emplace_back(numbers, numbers + count);
    return rows;
}

bool RankGroup::any(bool own) {
    const auto rows = gather({own ? 1.0 : 0.0});
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row[0] != 0.0; });
}

std::string RankGroup::broadcast(const std::string& text) {
    auto length = torch::full({1}, static_cast<std::int64_t>(text.size()), torch::kLong);
    m_host->broadcast(length, 0);
    auto bytes =
        leads() ? bytesOf(text) : torch::empty({length.item<std::int64_t>()}, torch::kUInt8);
    if (bytes.numel() > 0) m_host->broadcast(bytes, 0);
    return textOf(bytes);
}

std::vector<std::string> RankGroup::gatherTexts(const std::string& own) {
    const auto lengths = gather({static_cast<double>(own.size())});
    std::int64_t longest = 1;
    for (const auto& row : lengths) longest = std::max(longest, static_cast<std::int64_t>(row[0]));
    auto padded = own;
    padded.resize(static_cast<std::size_t>(longest));
    auto all = torch::empty({size() * longest}, torch::kUInt8);
    m_host->allGather(all, bytesOf(padded));
    std::vector<std::string> texts;
    texts.reserve(lengths.size());
    for (int r = 0; r < size(); ++r)
        texts.push_back(
            textOf(all.slice(0, r * longest, (r + 1) * longest))
                .substr(0, static_cast<std::size_t>(lengths[static_cast<std::size_t>(r)][0])));
    return texts;
}

void RankGroup::takeFromLeader(const torch::Tensor& tensor) {
    const torch::NoGradGuard noGrad;
    auto values = tensor.detach();
    auto flat = values.is_contiguous() ? values.view(-1) : values.contiguous().view(-1);
    (values.is_cpu() ? host() : device()).broadcast(flat, 0);
    if (!values.is_contiguous()) values.copy_(flat.view(values.sizes()));
}

void RankGroup::leave(const std::string& reason) {
    if (std::exchange(m_lost, true)) return;  // the first reason is the cause
    try {
        m_store->set(reasonKey(rank()), reason);
    } catch (const std::exception&) {  // rank 0 is gone, and the store with it
    }
}

std::string RankGroup::lossNow() {
    for (int r = 0; r < size(); ++r) {
        if (r == rank()) continue;
        if (m_processEnd)
            if (auto end = m_processEnd(r); !end.empty()) return end;
        if (const auto reason = m_store->find(reasonKey(r)))
            return reason->empty() ? nameOf(r) + " has left" : *reason;
    }
    return "";
}

std::string RankGroup::describeLoss(const std::string& seen, std::int64_t step) {
    m_lost = true;
    const auto at = kWasLost + std::to_string(step) + ": ";
    std::vector<bool> silent(static_cast<std::size_t>(size()), true);
    silent[static_cast<std::size_t>(rank())] = false;
    const auto until = std::chrono::steady_clock::now() + kLossNoticeTimeout;
    try {
        while (std::chrono::steady_clock::now() < until) {
            for (int r = 0; r < size(); ++r) {
                if (r == rank()) continue;
                if (m_processEnd)
                    if (const auto end = m_processEnd(r); !end.empty()) return nameOf(r) + at + end;
                const auto reason = m_store->find(reasonKey(r));
                if (!reason) continue;
                // Empty: it saw the loss of another itself.
                if (!reason->empty()) return nameOf(r) + at + *reason;
                silent[static_cast<std::size_t>(r)] = false;
            }
            if (std::none_of(silent.begin(), silent.end(), [](bool s) { return s; })) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    } catch (const RankLost&) {
        return nameOf(0) + at + seen;
    }
    for (int r = 0; r < size(); ++r)
        if (silent[static_cast<std::size_t>(r)]) return nameOf(r) + at + seen;
    return "the connection of the ranks" + at + seen;
}

}  // namespace relascope::core
