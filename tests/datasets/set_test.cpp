// SPDX-License-Identifier: GPL-3.0-or-later
// SET: the cards, the triples and the pairs.
#include "datasets/generators/set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "datasets/generators/cards.h"
#include "datasets/registry.h"
#include "support/rooms.h"

namespace relascope {
namespace {

DataOptions options(const char* task = "sets") {
    DataOptions o;
    o.kind = "set", o.task = task;
    o.train_size = o.validation_size = o.test_size = 0;
    o.set_input = "relations";
    return o;
}
const SetTriples& triples(const DatasetPtr& data) {
    return dynamic_cast<const SetTriples&>(*data);
}
template <std::size_t N>
std::array<int, N> sorted(std::array<int, N> cards) {
    std::sort(cards.begin(), cards.end());
    return cards;
}

// A table that says itself whose vector it is.
std::shared_ptr<const CardTable> plainTable(std::int64_t width = 5) {
    auto table = std::make_shared<CardTable>();
    table->width = width;
    for (int card = 0; card < kCards; ++card)
        for (std::int64_t d = 0; d < width; ++d)
            table->vectors.push_back(static_cast<float>(card) + 0.1F * static_cast<float>(d));
    return table;
}

// The rule of the game, attribute by attribute.
bool follows(const std::array<int, 3>& c) {
    for (int a = 0; a < kCardAttributes; ++a) {
        const std::set<int> values = {cardValue(c[0], a), cardValue(c[1], a), cardValue(c[2], a)};
        if (values.size() == 2) return false;
    }
    return true;
}

double inkOf(const Image& image) {
    double sum = 0;
    for (const auto byte : image.pixels) sum += 255.0 - byte;
    return sum;
}

TEST(Cards, MakeAThousandAndEightySets) {
    int sets = 0;
    for (int a = 0; a < kCards; ++a)
        for (int b = a + 1; b < kCards; ++b) {
            const int c = thirdCard(a, b);
            EXPECT_NE(c, a);
            EXPECT_NE(c, b);
            EXPECT_TRUE(follows({a, b, c}));
            EXPECT_TRUE(isSet(a, b, c) && isSet(c, a, b) && isSet(b, c, a));
            for (int other = b + 1; other < kCards; ++other) {
                EXPECT_EQ(isSet(a, b, other), follows({a, b, other}));
                sets += isSet(a, b, other);
            }
        }
    EXPECT_EQ(sets, 1080);
    EXPECT_FALSE(isSet(4, 4, 4));
    for (int card = 0; card < kCards; ++card)
        EXPECT_EQ(cardOf({cardValue(card, 0), cardValue(card, 1), cardValue(card, 2),
                          cardValue(card, 3)}),
                  card);
    EXPECT_EQ(cardWord(cardOf({1, 0, 1, 1})), "2 red striped squiggles");
    EXPECT_EQ(cardWord(0), "1 red solid oval");
}

TEST(Cards, LookLikeWhatTheyAre) {
    std::set<std::vector<std::uint8_t>> distinct;
    std::set<std::string> words;
    double least = 1e9;
    for (int card = 0; card < kCards; ++card) {
        const auto& image = cardPicture(card);
        ASSERT_EQ(image.pixels.size(), 70u * 50u * 3u);
        distinct.insert(image.pixels);
        words.insert(cardWord(card));
        for (int other = 0; other < card; ++other) {
            double apart = 0;
            for (std::size_t i = 0; i < image.pixels.size(); ++i)
                apart += std::abs(image.pixels[i] - cardPicture(other).pixels[i]);
            least = std::min(least, apart);
        }
        const auto at = [&](int attribute, int value) {
            std::array<int, kCardAttributes> v = {cardValue(card, 0), cardValue(card, 1),
                                                  cardValue(card, 2), cardValue(card, 3)};
            v[static_cast<std::size_t>(attribute)] = value;
            return inkOf(cardPicture(cardOf(v)));
        };
        EXPECT_LT(at(0, 0), at(0, 1));  // more symbols, more ink
        EXPECT_LT(at(0, 1), at(0, 2));
        EXPECT_GT(at(2, 0), at(2, 1));  // solid, striped, open
        EXPECT_GT(at(2, 1), at(2, 2));
        std::array<double, 3> light{};  // which of red, green and blue is taken away least
        for (std::size_t i = 0; i < image.pixels.size(); ++i) light[i % 3] += image.pixels[i];
        const auto brightest = std::max_element(light.begin(), light.end()) - light.begin();
        EXPECT_EQ(brightest, cardValue(card, 1)) << cardWord(card);
    }
    EXPECT_EQ(distinct.size(), 81u);
    EXPECT_EQ(words.size(), 81u);
    EXPECT_GT(least, 20000.0) << "summed over 10,500 bytes";
    const auto pair = cardPairPicture(3, 70);
    EXPECT_EQ(pair.pixels.size(), static_cast<std::size_t>(pair.width * pair.height * 3));
    EXPECT_EQ(pair.pixels[pair.index(25, 16, 0)],
              cardPicture(3).pixels[pair.channels * (25 * 70 + 16)]);
    EXPECT_THROW(cardPicture(81), std::out_of_range);
}

TEST(SetTriples, AreHalfSetsDrawnUniformly) {
    const SetTriples data(plainTable(), 3, {"all", 0, SetTriples::kPool});
    EXPECT_EQ(data.shape(), (ObjectDataset::Shape{3, 5, 1}));
    std::map<std::array<int, 3>, int> sets, others;
    std::map<int, int> firstCards;
    int ordered = 0, firstHalf = 0, shared = 0;
    std::vector<float> objects(15);
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto cards = data.cards(i);
        ASSERT_TRUE(cards[0] != cards[1] && cards[1] != cards[2] && cards[0] != cards[2]);
        float label = -1;
        data.read(i, objects, {&label, 1});
        ASSERT_EQ(label, follows(cards) ? 1.0F : 0.0F);
        for (std::size_t o = 0; o < 15; ++o)
            ASSERT_EQ(objects[o],
                      static_cast<float>(cards[o / 5]) + 0.1F * static_cast<float>(o % 5));
        ++(label == 1.0F ? sets : others)[sorted(cards)];
        firstHalf += i < 5000 && label == 1.0F;
        ++firstCards[cards[0]];
        ordered += std::is_sorted(cards.begin(), cards.end());
        if (label == 0.0F) shared += cardValue(cards[0], 2) == cardValue(cards[1], 2);
    }
    int count = 0;
    double chi = 0;
    for (const auto& [cards, n] : sets) {
        count += n;
        chi += (n - 5000.0 / 1080) * (n - 5000.0 / 1080) / (5000.0 / 1080);
    }
    chi += (1080.0 - static_cast<double>(sets.size())) * 5000.0 / 1080;  // those never drawn
    EXPECT_EQ(count, 5000);
    EXPECT_GT(sets.size(), 1050u);
    EXPECT_NEAR(chi, 1079.0, 5 * std::sqrt(2 * 1079.0));
    EXPECT_NEAR(firstHalf, 2500, 200) << "in no order";
    // 5000 draws of 84,240: 4855 different ones are to be expected.
    EXPECT_NEAR(static_cast<double>(others.size()), 4855.0, 60.0);
    EXPECT_NEAR(shared / 5000.0, 0.326, 0.03);
    EXPECT_NEAR(ordered / 10000.0, 1.0 / 6, 0.02);
    ASSERT_EQ(firstCards.size(), 81u);
    for (const auto& [card, n] : firstCards) EXPECT_NEAR(n, 10000.0 / 81, 65.0) << card;
}

TEST(SetTriples, AreNamedByTheSeed) {
    const SetSplit split{"train", 100, 300};
    const SetTriples one(plainTable(), 3, split), same(plainTable(), 3, split),
        other(plainTable(), 4, split), all(plainTable(), 3, {"all", 0, 1000});
    int equal = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
        ASSERT_EQ(one.cards(i), same.cards(i));
        ASSERT_EQ(one.cards(i), all.cards(100 + i));
        equal += one.cards(i) == other.cards(i);
    }
    EXPECT_LT(equal, 5);
    EXPECT_THROW(one.cards(300), std::out_of_range);
    EXPECT_EQ(one.sample(7).origin, "train 7");
}

TEST(SetTriples, ShowTheirCards) {
    const SetTriples data(plainTable(), 3, {"test", 0, 10});
    const auto sample = data.sample(2);
    const auto cards = data.cards(2);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(sample.source.labels[i], cardWord(cards[i]));
        EXPECT_EQ(sample.source.pictures[i], cardPicture(cards[i]));
    }
    EXPECT_EQ(sample.source.size(), 3);
    EXPECT_EQ(sample.label, follows(cards) ? 1 : 0);
    EXPECT_EQ(data.info().classNames, (std::vector<std::string>{"no SET", "SET"}));
}

TEST(SetTriples, OfPartsAreApartWhereAsked) {
    for (const char* split : {"draws", "triples"}) {
        auto o = options();
        o.set_split = split;
        const auto splits = openData(o);
        EXPECT_EQ(splits.names(), (std::vector<std::string>{"train", "validation", "test"}));
        EXPECT_EQ(splits.train->size(), 7000);
        EXPECT_EQ(splits.validation->size(), 1000);
        EXPECT_EQ(splits.find("test")->size(), 2000);
        std::map<std::array<int, 3>, std::set<std::string>> where;
        for (const auto& name : splits.names()) {
            const auto& data = triples(splits.find(name));
            int sets = 0;
            for (std::int64_t i = 0; i < data.size(); ++i) {
                where[sorted(data.cards(i))].insert(name);
                sets += follows(data.cards(i));
            }
            EXPECT_NEAR(sets / static_cast<double>(data.size()), 0.5, 0.05) << name;
        }
        int several = 0, setsSeen = 0;
        for (const auto& [cards, splits] : where) {
            several += splits.size() > 1;
            setsSeen += follows(cards);
        }
        if (std::string(split) == "triples") {
            EXPECT_EQ(several, 0);
        } else {
            EXPECT_GT(several, 500);
        }
        EXPECT_GT(setsSeen, 1000);
    }
}

TEST(SetTriples, AsBitsSayWhatPairsShare) {
    const auto splits = openData(options());
    const auto& data = triples(splits.train);
    EXPECT_EQ(data.shape(), (ObjectDataset::Shape{3, 4, 1}));
    std::array<float, 12> bits{};
    float label = 0;
    for (std::int64_t i = 0; i < 500; ++i) {
        data.read(i, bits, {&label, 1});
        const auto c = data.cards(i);
        const std::array<std::array<int, 2>, 3> pairs = {
            {{c[0], c[1]}, {c[0], c[2]}, {c[1], c[2]}}};
        bool alike = true;
        for (std::size_t pair = 0; pair < 3; ++pair)
            for (std::size_t a = 0; a < 4; ++a) {
                const bool same = cardValue(pairs[pair][0], static_cast<int>(a)) ==
                                  cardValue(pairs[pair][1], static_cast<int>(a));
                ASSERT_EQ(bits[4 * pair + a], same ? 1.0F : 0.0F);
                alike = alike && bits[4 * pair + a] == bits[a];
            }
        ASSERT_EQ(alike, label == 1.0F) << "a SET is where all pairs share the same";
    }
    const auto sample = data.sample(1);
    EXPECT_EQ(sample.source.labels[2], "cards 2 and 3");
    EXPECT_EQ(sample.source.pictures[2], cardPairPicture(data.cards(1)[1], data.cards(1)[2]));
    auto o = options();
    o.train_size = 7001;
    try {
        openData(o);
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "data.train_size");
    }
}

TEST(CardPairs, AreEveryPairOnce) {
    std::set<std::array<int, 2>> seen;
    const CardPairs data(plainTable(), 3, {"all", 0, CardPairs::kPool});
    EXPECT_EQ(data.shape(), (ObjectDataset::Shape{2, 5, 4}));
    EXPECT_EQ(data.info().targets, TargetKind::MultiLabel);
    EXPECT_EQ(data.info().classNames,
              (std::vector<std::string>{"number", "colour", "pattern", "shape"}));
    std::array<float, 10> objects{};
    std::array<float, 4> bits{}, sums{};
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto cards = data.cards(i);
        ASSERT_NE(cards[0], cards[1]);
        seen.insert(cards);
        data.read(i, objects, bits);
        ASSERT_EQ(objects[0], static_cast<float>(cards[0]));
        ASSERT_EQ(objects[5], static_cast<float>(cards[1]));
        for (std::size_t a = 0; a < 4; ++a) {
            const int attribute = static_cast<int>(a);
            ASSERT_EQ(bits[a], cardValue(cards[0], attribute) == cardValue(cards[1], attribute));
            sums[a] += bits[a];
        }
    }
    EXPECT_EQ(seen.size(), 6480u);
    for (const float sum : sums) EXPECT_EQ(sum, 6480.0F * 26 / 80);
    EXPECT_EQ(data.sample(9).source.labels[1], cardWord(data.cards(9)[1]));
    EXPECT_EQ(data.sample(9).source.pictures[0], cardPicture(data.cards(9)[0]));
}

// The only test that trains the network on the cards themselves.
TEST(CardTable, IsTrainedOnceAndTellsEveryAttribute) {
    auto o = options("attributes");
    o.embedding = 32;
    EXPECT_THROW(openData(o, [](double) { return false; }), Cancelled);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(openData(o, {}, stop.get_token()), Cancelled);
    int told = 0;
    const auto pairs = openData(o, [&](double) { return ++told, true; });
    EXPECT_GT(told, 10);
    told = 0;
    o.task = "sets", o.set_input = "embedding";
    const auto sets = openData(o, [&](double) { return ++told, true; });
    EXPECT_EQ(told, 0) << "kept";
    const auto table = cardTable(32, 0);
    EXPECT_EQ(table, cardTable(32, 0));
    EXPECT_EQ(table->accuracy, 1.0);
    EXPECT_EQ(table->vectors.size(), 81u * 32u);
    std::vector<float> objects(96);
    float label = 0;
    triples(sets.train).read(0, objects, {&label, 1});
    const auto card = triples(sets.train).cards(0)[1];
    EXPECT_TRUE(
        std::equal(objects.begin() + 32, objects.begin() + 64, table->vectors.begin() + card * 32));
    EXPECT_EQ(pairs.train->size(), 4536);
}

}  // namespace
}  // namespace relascope
