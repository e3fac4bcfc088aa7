// SPDX-License-Identifier: GPL-3.0-or-later
// Pairwise order: every pair once, in one of the parts.
#include "datasets/generators/pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "datasets/registry.h"
#include "support/rooms.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

DataOptions options(const char* task = "order") {
    DataOptions o;
    o.kind = "pairs", o.task = task;
    o.train_size = o.validation_size = o.test_size = 0;
    return o;
}
const Pairs& pairs(const DatasetPtr& data) {
    return dynamic_cast<const Pairs&>(*data);
}

TEST(Pairs, AreEveryPairOnceInThreeParts) {
    for (const char* task : {"order", "sorting-order"}) {
        const auto splits = openData(options(task));
        const std::int64_t objects = std::string(task) == "order" ? 64 : 48,
                           all = objects * (objects - 1);
        EXPECT_EQ(splits.train->size(), all / 2);
        EXPECT_EQ(splits.validation->size(), all * 15 / 100);
        EXPECT_EQ(splits.names(), (std::vector<std::string>{"train", "validation", "test"}));
        std::set<std::pair<std::int64_t, std::int64_t>> seen;
        std::vector<float> both(static_cast<std::size_t>(2 * pairs(splits.train).shape().width));
        for (const auto& name : splits.names()) {
            const auto& data = pairs(splits.find(name));
            int before = 0;
            for (std::int64_t i = 0; i < data.size(); ++i) {
                const auto [first, second] = data.pair(i);
                ASSERT_NE(first, second);
                seen.insert({first, second});
                float label = -1;
                data.read(i, both, {&label, 1});
                ASSERT_EQ(label, first < second ? 1.0f : 0.0f);
                before += label == 1.0f;
            }
            EXPECT_NEAR(before / static_cast<double>(data.size()), 0.5, 0.08) << name;
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(all));
        EXPECT_EQ(splits.train->info().classNames, (std::vector<std::string>{"after", "before"}));
    }
}

TEST(Pairs, ShowTheVectorsOfTheirObjects) {
    auto o = options();
    o.objects = 1000, o.dim = 8, o.train_size = 4000, o.validation_size = 10, o.test_size = 10;
    const auto splits = openData(o);
    const auto& data = pairs(splits.train);
    EXPECT_EQ(data.shape(), (ObjectDataset::Shape{2, 8, 1}));
    const auto objects = randomObjects(1000, 8, 0);
    double sum = 0, square = 0;
    std::vector<float> both(16);
    float label = 0;
    for (std::int64_t i = 0; i < 4000; ++i) {
        data.read(i, both, {&label, 1});
        const auto [first, second] = data.pair(i);
        ASSERT_TRUE(
            std::equal(both.begin(), both.begin() + 8, objects.vectors.begin() + first * 8));
        ASSERT_TRUE(std::equal(both.begin() + 8, both.end(), objects.vectors.begin() + second * 8));
    }
    for (const float x : objects.vectors) sum += x, square += x * x;
    EXPECT_NEAR(sum / 8000, 0.0, 0.05);
    EXPECT_NEAR(square / 8000, 1.0, 0.07);
    const auto sample = data.sample(5);
    EXPECT_EQ(sample.source.labels[0], "object " + std::to_string(data.pair(5).first + 1));
    EXPECT_EQ(sample.label, data.pair(5).first < data.pair(5).second);
    EXPECT_TRUE(sample.source.pictures.empty());
}

TEST(Pairs, OfSortingAreItsObjectsInItsOrder) {
    auto o = options("sorting-order");
    o.seed = 8;
    const auto splits = openData(o);
    const auto& data = pairs(splits.train);
    const SortingObjects objects(8);
    for (std::int64_t i = 0; i < 200; ++i) {
        const auto sample = data.sample(i);
        const auto first = static_cast<int>(data.pair(i).first),
                   second = static_cast<int>(data.pair(i).second);
        ASSERT_EQ(sample.label, objects.place(first) < objects.place(second) ? 1 : 0);
        ASSERT_TRUE(
            std::ranges::equal(std::span(sample.source.vectors).first(12), objects.vector(first)));
        ASSERT_EQ(sample.source.labels[1], SortingObjects::word(second));
        ASSERT_EQ(sample.source.pictures[0], SortingObjects::picture(first));
    }
}

TEST(Pairs, RefuseWhatCannotBe) {
    const auto fieldOf = [](const DataOptions& o) {
        try {
            openData(o);
        } catch (const OptionError& error) {
            return error.field();
        }
        return std::string();
    };
    auto o = options();
    o.objects = 100000, o.dim = 100000;
    EXPECT_EQ(fieldOf(o), "data.objects");
    o.dim = 2;
    EXPECT_EQ(fieldOf(o), "") << "ten thousand million pairs need no table";
    o.objects = 3;
    EXPECT_EQ(fieldOf(o), "data.objects");
    o = options();
    o.train_size = 2017;
    EXPECT_EQ(fieldOf(o), "data.train_size");
    o.kind = "paris";
    EXPECT_EQ(fieldOf(o), "data.kind");
    o = options("ordre");
    EXPECT_EQ(fieldOf(o), "data.task");
}

TEST(Registry, OpensTheStageBeforeARun) {
    RunOptions o;
    o.data = options("sorting-order");
    o.data.kind = "sorting", o.data.task = "argsort", o.data.train_size = 20;
    EXPECT_EQ(openRunData(o).pretraining, nullptr);
    o.train.pretrain = "data.kind=pairs data.task=sorting-order data.train_size=0";
    const auto splits = openRunData(o);
    EXPECT_EQ(splits.train->info().task, "argsort");
    EXPECT_EQ(splits.train->size(), 20);
    ASSERT_NE(splits.pretraining, nullptr);
    EXPECT_EQ(splits.pretraining->train->info().task, "sorting-order");
    EXPECT_EQ(splits.pretraining->train->size(), 1128);
    EXPECT_EQ(splits.pretraining->pretraining, nullptr);
}

TEST(Registry, ListsEveryTaskThatItOpens) {
    for (const auto& entry : listDatasets()) {
        const auto& tasks = tasksOf(entry.kind);
        EXPECT_TRUE(tasks.empty() ? entry.name.empty()
                                  : std::ranges::find(tasks, entry.name) != tasks.end())
            << entry.kind << " " << entry.name;
        EXPECT_GT(entry.help.size(), 20u) << entry.name;
    }
}

}  // namespace
}  // namespace relascope
