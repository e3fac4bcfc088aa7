// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/card_table.h"

#include <chrono>
#include <map>
#include <mutex>

#include "datasets/generators/cards.h"

namespace relascope::datasets {
namespace {

core::CardPictures allCards() {
    core::CardPictures cards;
    cards.height = kCardHeight, cards.width = kCardWidth;
    cards.attributes = kCardAttributes, cards.values = kCardValues;
    for (int card = 0; card < kCards; ++card) {
        const auto& pixels = cardPicture(card).pixels;
        cards.pixels.insert(cards.pixels.end(), pixels.begin(), pixels.end());
        for (int a = 0; a < kCardAttributes; ++a) cards.answers.push_back(cardValue(card, a));
    }
    return cards;
}

}  // namespace

std::shared_ptr<const core::CardTable> cardTable(std::int64_t width, std::uint64_t seed,
                                                 const core::ProgressCallback& progress,
                                                 std::stop_token stop) {
    static std::mutex reading;
    static std::map<std::pair<std::int64_t, std::uint64_t>, std::shared_ptr<const core::CardTable>>
        known;
    const auto find = [&] {
        const std::lock_guard lock(reading);
        const auto found = known.find({width, seed});
        return found == known.end() ? nullptr : found->second;
    };
    if (auto table = find()) return table;
    static std::timed_mutex making;  // one at a time
    std::unique_lock turn(making, std::defer_lock);
    while (!turn.try_lock_for(std::chrono::milliseconds(50)))
        if (stop.stop_requested() || (progress && !progress(0.0))) throw Cancelled();
    if (auto table = find()) return table;
    core::CardNetworkOptions options;
    options.embedding = width;
    options.seed = seed;
    auto table = std::make_shared<const core::CardTable>(
        core::trainCardNetwork(allCards(), options, progress, std::move(stop)));
    const std::lock_guard lock(reading);
    return known[{width, seed}] = std::move(table);
}

}  // namespace relascope::datasets
