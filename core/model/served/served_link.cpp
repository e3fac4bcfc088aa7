// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/served/served_link.h"

#include <atomic>
#include <utility>

#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::size_t kMostTokenRows = 1'000'000;

std::vector<std::int64_t> withoutPadding(std::span<const std::int64_t> tokens) {
    while (!tokens.empty() && tokens.back() < 0) tokens = tokens.first(tokens.size() - 1);
    return {tokens.begin(), tokens.end()};
}

using OpenServed = std::function<ServedLinkPtr(const std::string&)>;
struct ServedDoors {
    std::mutex mutex;
    OpenServed open;
    std::atomic<std::uint64_t> number = 0;  ///< of `open`
};
ServedDoors& servedDoors() {
    static ServedDoors doors;
    return doors;
}

}  // namespace

void ServedTokenRows::note(std::span<const std::int64_t> tokens, const std::string& split,
                           std::int64_t index) {
    const std::lock_guard lock(m_mutex);
    if (m_rows.size() >= kMostTokenRows) return;
    auto& place = m_rows[withoutPadding(tokens)].try_emplace(split, Place{index, -1}).first->second;
    if (place.index != index) place.other = index;
}

ServedTokenRows::Places ServedTokenRows::find(std::span<const std::int64_t> tokens) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_rows.find(withoutPadding(tokens));
    return found == m_rows.end() ? Places() : found->second;
}

void setServedLinks(std::function<ServedLinkPtr(const std::string& door)> open) {
    auto& doors = servedDoors();
    const std::lock_guard lock(doors.mutex);
    doors.open = std::move(open);
    ++doors.number;
}

ServedLinkPtr servedLink(const std::string& door) {
    // A model and its data share one; those of other threads must not wait within its passes.
    thread_local std::map<std::pair<std::uint64_t, std::string>, std::weak_ptr<ServedLink>> links;
    auto& doors = servedDoors();
    auto& kept = links[{doors.number, door}];
    if (auto link = kept.lock()) return link;
    OpenServed open;
    {
        const std::lock_guard lock(doors.mutex);
        open = doors.open;
    }
    if (!open) throw Error("This program opens no models that other programs serve.");
    auto link = open(door);
    kept = link;
    return link;
}

}  // namespace relascope::core
