// SPDX-License-Identifier: GPL-3.0-or-later
// Examples as they are shown, their labels, selections of them, and what is counted of many.
#include "datasets/examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "datasets/registry.h"
#include "datasets/statistics.h"
#include "support/rooms.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

DataOptions small(const std::string& kind, const std::string& task) {
    DataOptions o;
    o.kind = kind;
    o.task = task;
    o.train_size = 60, o.validation_size = 40, o.test_size = 20;
    return o;
}

TEST(Examples, SortingAnswersWithAnOrder) {
    const auto splits = openData(small("sorting", "argsort"));
    const DataExample shown = exampleOf(*splits.validation, 3);
    ASSERT_EQ(shown.order.size(), 10U);
    EXPECT_EQ(std::set<int>(shown.order.begin(), shown.order.end()).size(), 10U);
    const auto& words = shown.sample.source.labels;
    EXPECT_TRUE(shown.answer.starts_with(words[static_cast<std::size_t>(shown.order[0])] + ", "));
    const auto names = tokenNames(*splits.validation);
    ASSERT_EQ(names.size(), 11U);
    EXPECT_EQ(names.back(), "start");
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 11U);
}

TEST(Examples, QuestionsHaveAnswersInCharacters) {
    const auto splits = openData(small("math", "algebra__linear_1d"));
    const DataExample shown = exampleOf(*splits.train, 0);
    std::string question;
    for (const auto& piece : shown.sample.source.labels) question += piece;
    EXPECT_TRUE(question.starts_with("Solve ")) << question;
    ASSERT_FALSE(shown.answer.empty());
    EXPECT_EQ(std::to_string(std::stoi(shown.answer)), shown.answer);
    const auto names = tokenNames(*splits.train);
    ASSERT_EQ(names.size(), 85U);
    EXPECT_NE(std::find(names.begin(), names.end(), "7"), names.end());
    EXPECT_NE(std::find(names.begin(), names.end(), "end"), names.end());
}

TEST(Examples, LabelsOfPairsAreRead) {
    const auto data = openData(small("pairs", "order")).validation;
    EXPECT_EQ(data->info().classNames.size(), 2U);
    LabelReader labelOf(data);
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(labelOf(i), data->sample(i).label) << i;
}

TEST(Examples, ChosenOnesAreADataSetOfTheSameKind) {
    const auto data = openData(small("pairs", "order")).validation;
    const auto indices =
        std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{4, 1});
    const auto picked = pickedOf(data, indices, 2);
    ASSERT_TRUE(picked);
    EXPECT_EQ(picked->size(), 2);
    EXPECT_EQ(picked->sample(0).source.vectors, data->sample(4).source.vectors);
    EXPECT_TRUE(pickedOf(openData(small("sorting", "argsort")).train, nullptr, 3));
}

TEST(Examples, AreCountedByLabelAndLength) {
    const auto always = [] { return true; };
    const auto pairs = small("pairs", "order");
    const auto data = openData(pairs).validation;
    const auto labels = countExamples(*data, pairs, 30, always);
    EXPECT_EQ(labels.counted, 30);
    EXPECT_EQ(labels.what, "class");
    ASSERT_EQ(labels.bars.size(), 2U);
    std::int64_t ones = 0;
    for (std::int64_t i = 0; i < 30; ++i) ones += data->sample(i).label;
    EXPECT_EQ(labels.bars[1].second, ones);
    EXPECT_EQ(labels.bars[0].second, 30 - ones);
    EXPECT_EQ(labels.rows.front(), std::pair(std::string("Pairs"), std::string("40")));
    EXPECT_THROW(countExamples(*data, pairs, 30, [] { return false; }), Cancelled);

    const auto math = small("math", "algebra__linear_1d");
    const auto lengths = countExamples(*openData(math).train, math, 1000, always);
    EXPECT_EQ(lengths.counted, 60);
    EXPECT_EQ(lengths.what, "answer length");
    std::int64_t all = 0;
    for (const auto& [name, count] : lengths.bars) all += count;
    EXPECT_EQ(all, 60);
}

}  // namespace
}  // namespace relascope
