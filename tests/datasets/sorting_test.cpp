// SPDX-License-Identifier: GPL-3.0-or-later
// The sorting task against what the paper says of it.
#include "datasets/generators/sorting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "datasets/registry.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Objects = SortingObjects;

DataOptions options() {
    DataOptions o;
    o.kind = "sorting", o.task = "argsort", o.seed = 3;
    o.train_size = o.validation_size = o.test_size = 0;
    return o;
}
const Sorting& sorting(const DatasetPtr& data) {
    return dynamic_cast<const Sorting&>(*data);
}
struct Read {
    std::vector<float> vectors;
    std::vector<std::int64_t> answer;
    bool operator==(const Read&) const = default;
};
Read readOf(const Sorting& data, std::int64_t index) {
    const auto shape = data.shape();
    Read r{std::vector<float>(static_cast<std::size_t>(shape.source * shape.width)),
           std::vector<std::int64_t>(static_cast<std::size_t>(shape.target))};
    data.read(index, r.vectors, {}, r.answer);
    return r;
}

TEST(SortingObjects, AreEveryPairOfTwoGaussianAttributes) {
    double sum = 0, square = 0;
    int n = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Objects objects(seed);
        for (int object = 0; object < Objects::kCount; ++object) {
            const auto v = objects.vector(object), sameA = objects.vector(object / 12 * 12),
                       sameB = objects.vector(object % 12);
            ASSERT_EQ(v.size(), 12u);
            ASSERT_TRUE(std::equal(v.begin(), v.begin() + 4, sameA.begin()));
            ASSERT_TRUE(std::equal(v.begin() + 4, v.end(), sameB.begin() + 4));
        }
        for (int a = 0; a < 4; ++a)
            for (const float x : objects.vector(a * 12).first(4)) sum += x, square += x * x, ++n;
        for (int b = 0; b < 12; ++b)
            for (const float x : objects.vector(b).subspan(4)) sum += x, square += x * x, ++n;
    }
    EXPECT_EQ(n, 200 * (16 + 96));
    EXPECT_NEAR(sum / n, 0.0, 0.03);
    EXPECT_NEAR(square / n, 1.0, 0.04);
    EXPECT_FALSE(std::ranges::equal(Objects(1).vector(0), Objects(2).vector(0)));
}

TEST(SortingObjects, ArePermutedInEveryWayButTheFirst) {
    std::map<std::string, int> orders;
    for (std::uint64_t seed = 0; seed < 2300; ++seed) {
        const Objects plain(seed), permuted(seed, true);
        ASSERT_TRUE(std::ranges::equal(plain.vector(17), permuted.vector(17)));
        std::set<int> places;
        for (int object = 0; object < Objects::kCount; ++object) {
            ASSERT_EQ(plain.place(object), object);
            ASSERT_EQ(permuted.place(object) % 12, object % 12) << "B's order stays";
            places.insert(permuted.place(object));
        }
        ASSERT_EQ(places.size(), 48u);
        ++orders[permuted.order()];
    }
    EXPECT_EQ(orders.size(), 23u);
    EXPECT_EQ(orders.count("A1 < A2 < A3 < A4"), 0u);
    for (const auto& [order, count] : orders) EXPECT_NEAR(count, 100, 50) << order;
}

TEST(Sorting, AnswersWithTheArgsort) {
    for (const char* task : {"argsort", "permuted-argsort"}) {
        auto o = options();
        o.task = task;
        const auto splits = openData(o);
        const auto& data = sorting(splits.train);
        EXPECT_EQ(data.shape(), (SequenceDataset::Shape{10, 12, 0, 10, 11, 10, -1, -1}));
        int descents = 0;
        for (std::int64_t i = 0; i < 500; ++i) {
            const auto objects = data.sequence(i);
            const auto r = readOf(data, i);
            ASSERT_EQ(std::set<int>(objects.begin(), objects.end()).size(), 10u);
            std::vector<int> places;
            for (const auto position : r.answer) {
                const int object = objects.at(static_cast<std::size_t>(position));
                places.push_back(data.objects(i).place(object));
                if (places.size() > 1) {
                    ASSERT_LT(places[places.size() - 2], places.back());
                }
                descents += object / 12 < objects[static_cast<std::size_t>(r.answer[0])] / 12;
                const auto vector = data.objects(i).vector(object);
                ASSERT_TRUE(std::equal(vector.begin(), vector.end(),
                                       r.vectors.begin() + position * Objects::kWidth));
            }
        }
        // In the permuted order, some object of a smaller A comes later.
        EXPECT_EQ(descents == 0, std::string(task) == "argsort");
    }
}

TEST(Sorting, HasAPoolOfUniformSequencesWithoutRepeats) {
    for (const int length : {2, 10, 13}) {
        auto o = options();
        o.length = length;
        const auto splits = openData(o);
        const std::int64_t pool = Sorting::poolSize(length);
        EXPECT_EQ(pool, length == 2 ? 48 * 47 : 100000);
        EXPECT_EQ(splits.train->size(), pool * 7 / 10);
        EXPECT_EQ(splits.validation->size(), pool / 10);
        std::set<std::vector<int>> seen;
        std::vector<std::vector<int>> at(static_cast<std::size_t>(length), std::vector<int>(48));
        for (const char* split : {"train", "validation", "test"}) {
            const auto& data = sorting(splits.find(split));
            for (std::int64_t i = 0; i < data.size(); ++i) {
                const auto s = data.sequence(i);
                for (std::size_t k = 0; k < s.size(); ++k) ++at[k][static_cast<std::size_t>(s[k])];
                seen.insert(s);
            }
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(pool)) << "parts share no sequence";
        const double expected = static_cast<double>(pool) / 48;
        for (const auto& counts : at)
            for (const int count : counts)
                EXPECT_NEAR(count, expected, length == 2 ? 0 : 5 * std::sqrt(expected));
    }
}

TEST(Sorting, TestsLongerSequencesWithOneVocabulary) {
    auto o = options();
    o.longest = 15, o.train_size = 100, o.validation_size = 50, o.test_size = 30;
    const auto splits = openData(o);
    EXPECT_EQ(splits.names(),
              (std::vector<std::string>{"train", "validation", "test", "length-11", "length-12",
                                        "length-13", "length-14", "length-15"}));
    for (const auto& [name, data] : splits.tests) {
        const auto shape = sorting(data).shape();
        EXPECT_EQ(data->size(), 30);
        EXPECT_EQ(shape.source, name == "test" ? 10 : std::stoi(name.substr(7)));
        EXPECT_EQ(shape.target, shape.source);
        EXPECT_EQ(shape.targetVocabulary, 16);
        EXPECT_EQ(shape.start, 15);
    }
    // Not the training sequences with more behind them.
    const auto longer = sorting(splits.find("length-11")).sequence(0),
               trained = sorting(splits.train).sequence(0);
    EXPECT_FALSE(std::equal(trained.begin(), trained.end(), longer.begin()));
}

TEST(Sorting, DisturbsObjectsInFiveTrials) {
    auto o = options();
    o.corruptions = true, o.test_size = 50;
    const auto splits = openData(o);
    EXPECT_EQ(splits.tests.size(), 1u + 15u + 11u);
    ASSERT_TRUE(splits.find("linear-0.1") && splits.find("linear-1.5"));
    ASSERT_TRUE(splits.find("noise-0.0") && splits.find("noise-1.0"));
    const auto& plain = sorting(splits.find("test"));
    for (const auto& [name, data] : splits.tests) {
        const auto& disturbed = sorting(data);
        const bool linear = name[0] == 'l';
        const double strength = name == "test" ? 0.0 : std::stod(name.substr(name.find('-') + 1));
        double square = 0;
        std::set<const Objects*> trials;
        for (std::int64_t i = 0; i < 50; ++i) {
            ASSERT_EQ(disturbed.sequence(i), plain.sequence(i));
            ASSERT_EQ(readOf(disturbed, i).answer, readOf(plain, i).answer);
            trials.insert(&disturbed.objects(i));
        }
        EXPECT_EQ(trials.size(), name == "test" ? 1u : 5u);
        EXPECT_EQ(&disturbed.objects(0), &disturbed.objects(9)) << "a trial is a range";
        double crossed = 0, length = 0;
        for (const Objects* trial : trials)
            for (int a = 1; a < 4; ++a)
                for (int b = 1; b < 12; ++b)
                    for (std::size_t k = 0; k < 12; ++k) {
                        const int object = a * 12 + b;
                        const double x = trial->vector(object)[k],
                                     was = plain.objects(0).vector(object)[k];
                        square += linear ? x * x : (x - was) * (x - was);
                        length += was * was;
                        // Linear maps keep that A and B add up; noise does not.
                        crossed =
                            std::max(crossed, std::abs(x - trial->vector(a * 12)[k] -
                                                       trial->vector(b)[k] + trial->vector(0)[k]));
                    }
        const double n = 33.0 * 12.0 * static_cast<double>(trials.size());
        if (linear)
            // |Phi o|^2 is 12 s^2 |o|^2 on the average; five matrices are few.
            EXPECT_NEAR(square / (length * 12 * strength * strength), 1.0, 0.5) << name;
        else
            EXPECT_NEAR(square / n, strength * strength, 0.1 * strength * strength) << name;
        EXPECT_EQ(crossed < 1e-4, linear || strength == 0.0) << name;
    }
}

TEST(Sorting, ShowsObjectsAsWordsAndPictures) {
    const auto splits = openData(options());
    const auto& data = sorting(splits.validation);
    const auto sample = data.sample(4);
    const auto read = readOf(data, 4);
    EXPECT_EQ(sample.source.size(), 10);
    EXPECT_EQ(sample.source.vectors, read.vectors);
    EXPECT_EQ(sample.label, -1);
    EXPECT_EQ(sample.origin, "validation 4");
    ASSERT_EQ(sample.target.tokens.size(), 10u);
    EXPECT_EQ(sample.target.tokens[0], 10);
    EXPECT_TRUE(std::equal(sample.target.tokens.begin() + 1, sample.target.tokens.end(),
                           read.answer.begin()));
    EXPECT_EQ(sample.target.labels[0], "start");
    EXPECT_EQ(std::stoi(sample.target.labels[3]), read.answer[2] + 1);
    const int object = data.sequence(4)[2];
    EXPECT_EQ(sample.source.labels[2],
              "A" + std::to_string(object / 12 + 1) + " B" + std::to_string(object % 12 + 1));
    std::set<std::vector<std::uint8_t>> pictures;
    for (int i = 0; i < Objects::kCount; ++i) {
        const auto picture = Objects::picture(i);
        EXPECT_EQ(picture.width * picture.height * picture.channels, 28 * 28 * 3);
        pictures.insert(picture.pixels);
    }
    EXPECT_EQ(pictures.size(), 48u) << "every object looks its own";
}

TEST(Sorting, ReadsTheSameFromEveryThread) {
    const auto splits = openData(options());
    const auto& data = sorting(splits.train);
    std::vector<std::vector<Read>> all(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : all)
            threads.emplace_back([&mine, &data] {
                for (std::int64_t i = 0; i < 300; ++i) mine.push_back(readOf(data, 7 * i));
            });
    }
    for (const auto& mine : all) EXPECT_EQ(mine, all[0]);
    EXPECT_EQ(readOf(sorting(openData(options()).train), 70), all[0][10]);
    auto other = options();
    other.seed = 4;
    EXPECT_NE(sorting(openData(other).train).sequence(0), data.sequence(0));
}

TEST(Sorting, RefusesMoreThanThereIs) {
    auto o = options();
    o.train_size = 70001;
    try {
        openData(o);
        FAIL() << "70001 sequences";
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "data.train_size");
        EXPECT_NE(error.message().find("70000"), std::string::npos) << error.message();
    }
    o = options();
    o.length = 49;
    EXPECT_THROW(openData(o), OptionError);
    const auto data = openData(options());
    EXPECT_THROW(sorting(data.train).sequence(70000), std::out_of_range);
    EXPECT_THROW(sorting(data.train).sequence(-1), std::out_of_range);
}

}  // namespace
}  // namespace relascope
