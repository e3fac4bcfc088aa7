// SPDX-License-Identifier: GPL-3.0-or-later
// The card network: what it learns, and that a seed names what it learns.
#include "train/card_network.h"
#include "support/rooms.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <set>

namespace relascope {
namespace {

// Nine cards: a square in one of three places, in one of three colours.
CardPictures nineCards(bool blank = false) {
    CardPictures cards;
    cards.height = cards.width = 36;
    cards.attributes = 2, cards.values = 3;
    for (int card = 0; card < 9; ++card) {
        cards.answers.insert(cards.answers.end(), {card / 3, card % 3});
        for (int y = 0; y < 36; ++y)
            for (int x = 0; x < 36; ++x)
                for (int c = 0; c < 3; ++c) {
                    const int left = 3 + 11 * (card / 3);
                    const bool inside =
                        !blank && x >= left && x < left + 8 && y >= 12 && y < 24 && c == card % 3;
                    cards.pixels.push_back(inside ? 20 : 255);
                }
    }
    return cards;
}

CardNetworkOptions few(std::int64_t embedding = 8) {
    CardNetworkOptions options;
    options.embedding = embedding;
    options.examples = 200;
    options.epochs = 6;
    return options;
}

TEST(CardNetwork, TellsEveryAttribute) {
    std::vector<double> fractions;
    const auto table = trainCardNetwork(nineCards(), few(), [&](double fraction) {
        fractions.push_back(fraction);
        return true;
    });
    EXPECT_EQ(table.width, 8);
    EXPECT_EQ(table.accuracy, 1.0);
    EXPECT_GE(table.epochs, 6);
    ASSERT_EQ(table.vectors.size(), 72u);
    std::set<std::vector<float>> distinct;
    for (std::size_t card = 0; card < 9; ++card)
        distinct.insert({table.vectors.begin() + static_cast<std::ptrdiff_t>(8 * card),
                         table.vectors.begin() + static_cast<std::ptrdiff_t>(8 * card + 8)});
    EXPECT_EQ(distinct.size(), 9u);
    for (const float x : table.vectors) EXPECT_LE(std::abs(x), 1.0F);
    EXPECT_GT(fractions.size(), 40u);
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_GE(fractions.front(), 0.0);
    EXPECT_LT(fractions.back(), 1.0);
}

TEST(CardNetwork, IsTheSameOnAnyNumberOfThreads) {
    const int threads = at::get_num_threads();
    const auto table = trainCardNetwork(nineCards(), few());
    EXPECT_EQ(at::get_num_threads(), threads);
    at::set_num_threads(threads == 1 ? 2 : 1);
    const auto again = trainCardNetwork(nineCards(), few());
    at::set_num_threads(threads);
    EXPECT_EQ(table.vectors, again.vectors);
    auto other = few();
    other.seed = 1;
    EXPECT_NE(table.vectors, trainCardNetwork(nineCards(), other).vectors);
}

TEST(CardNetwork, LeavesARunsGeneratorAlone) {
    torch::manual_seed(5);
    const auto plain = torch::rand({4});
    torch::manual_seed(5);
    trainCardNetwork(nineCards(), few());
    EXPECT_TRUE(torch::equal(plain, torch::rand({4})));
}

TEST(CardNetwork, StopsWhenAskedTo) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(trainCardNetwork(nineCards(), few(), {}, stop.get_token()), Cancelled);
    int asked = 0;
    EXPECT_THROW(trainCardNetwork(nineCards(), few(), [&](double) { return ++asked < 3; }),
                 Cancelled);
    EXPECT_EQ(asked, 3);
}

TEST(CardNetwork, SaysWhenItCannotTell) {
    auto options = few();
    options.epochs = 1;
    try {
        trainCardNetwork(nineCards(true), options);  // nothing on them
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "data.embedding");
        EXPECT_NE(std::string(error.what()).find("33 %"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace relascope
