// SPDX-License-Identifier: GPL-3.0-or-later
// The abstract rule tasks: glyphs that differ, rules that hold, and what is held out.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "datasets/registry.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Glyph = std::vector<std::uint8_t>;

DataOptions options(const std::string& task, std::int64_t held) {
    DataOptions o;
    o.kind = "rules";
    o.task = task;
    o.held_out = held;
    o.train_size = 600, o.validation_size = 60, o.test_size = 600;
    return o;
}

// The glyphs of a problem, and its label.
std::pair<std::vector<Glyph>, std::int64_t> read(const ImageDataset& data, std::int64_t index) {
    const auto& info = data.info();
    std::vector<std::uint8_t> pixels(data.pixelBytes());
    const auto label = data.read(index, pixels);
    const auto width = static_cast<std::size_t>(info.width);
    std::vector<Glyph> row(width / 32);
    for (std::size_t place = 0; place < row.size(); ++place)
        for (std::size_t y = 0; y < 32; ++y) {
            const auto* from = &pixels[y * width + place * 32];
            row[place].insert(row[place].end(), from, from + 32);
        }
    return {row, label};
}

std::set<Glyph> glyphsOf(const ImageDataset& data) {
    std::set<Glyph> seen;
    for (std::int64_t i = 0; i < data.size(); ++i)
        for (const auto& glyph : read(data, i).first) seen.insert(glyph);
    return seen;
}

// Held-out glyphs of the published experiments; 95 leave five for training.
class Rules : public testing::TestWithParam<std::tuple<const char*, std::int64_t>> {};

TEST_P(Rules, HoldInEveryProblem) {
    const auto [task, held] = GetParam();
    const auto splits = openData(options(task, held));
    for (const char* split : {"train", "test"}) {
        SCOPED_TRACE(split);
        const auto data = asImages(splits.find(split));
        std::map<std::int64_t, int> labels;
        for (std::int64_t i = 0; i < data->size(); ++i) {
            const auto [x, label] = read(*data, i);
            ++labels[label];
            if (x.size() == 2) {
                EXPECT_EQ(x[0] == x[1], label == 1);
            } else if (x.size() == 6) {
                const bool same = x[0] == x[1];
                const auto right = static_cast<std::size_t>(2 + 2 * label),
                           wrong = static_cast<std::size_t>(4 - 2 * label);
                EXPECT_EQ(x[right] == x[right + 1], same);
                EXPECT_NE(x[wrong] == x[wrong + 1], same);
            } else {
                const auto& answer = x[static_cast<std::size_t>(5 + label)];
                EXPECT_EQ(std::set<Glyph>(x.begin() + 5, x.end()).size(), 4U) << "four choices";
                if (std::string(task) == "identity-rules") {
                    EXPECT_EQ(x[0] == x[1], x[3] == x[4]);
                    EXPECT_EQ(x[2] == x[0], answer == x[3]);
                    EXPECT_EQ(x[2] == x[1], answer == x[4]);
                } else {
                    const std::set<Glyph> first(x.begin(), x.begin() + 3);
                    EXPECT_EQ(first.size(), 3U);
                    EXPECT_EQ(std::set<Glyph>({x[3], x[4], answer}), first);
                }
            }
        }
        const auto classes = static_cast<int>(data->info().classNames.size());
        EXPECT_EQ(static_cast<int>(labels.size()), classes);
        for (const auto& [label, count] : labels) EXPECT_GT(count, 600 / classes * 2 / 3);
    }
}

INSTANTIATE_TEST_SUITE_P(, Rules,
                         testing::Combine(testing::Values("same-different", "matching",
                                                          "distribution-of-three",
                                                          "identity-rules"),
                                          testing::Values(0, 50, 85, 95)));

TEST(RulesData, TestOnGlyphsThatTrainingNeverShows) {
    for (const std::int64_t held : {50, 85, 95}) {
        const auto splits = openData(options("matching", held));
        const auto trained = glyphsOf(*asImages(splits.train)),
                   watched = glyphsOf(*asImages(splits.validation)),
                   tested = glyphsOf(*asImages(splits.find("test")));
        EXPECT_EQ(trained.size(), static_cast<std::size_t>(100 - held));
        EXPECT_EQ(tested.size(), static_cast<std::size_t>(held));
        for (const auto& glyph : tested) EXPECT_EQ(trained.count(glyph) + watched.count(glyph), 0U);
    }
    const auto all = openData(options("matching", 0));
    EXPECT_EQ(glyphsOf(*asImages(all.train)), glyphsOf(*asImages(all.find("test"))));
}

TEST(RulesData, HaveAHundredGlyphsThatDiffer) {
    const auto seen = glyphsOf(*asImages(openData(options("matching", 0)).train));
    ASSERT_EQ(seen.size(), 100U);
    for (auto a = seen.begin(); a != seen.end(); ++a)
        for (auto b = std::next(a); b != seen.end(); ++b) {
            int apart = 0;
            for (std::size_t i = 0; i < a->size(); ++i) apart += std::abs((*a)[i] - (*b)[i]) > 127;
            EXPECT_GE(apart, 24) << "pixels of 1024";
        }
}

TEST(RulesData, RefuseTooFewHeldOutGlyphs) {
    EXPECT_THROW(openData(options("matching", 3)), OptionError);
    EXPECT_THROW(openData(options("matching", 96)), OptionError);
}

}  // namespace
}  // namespace relascope
