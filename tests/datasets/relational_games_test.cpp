// SPDX-License-Identifier: GPL-3.0-or-later
// The generator against every fact measured on the real files.
#include "datasets/generators/relational_games.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "support/rooms.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

constexpr int kCount = 10000;

RelationalGames games(const std::string& task, FigureFamily family = FigureFamily::Pentos,
                      std::uint64_t seed = 1) {
    RelationalGamesOptions o;
    o.task = task;
    o.family = family;
    o.size = kCount;
    o.seed = seed;
    return RelationalGames(o);
}

std::vector<int> occupied(const Scene& scene) {
    std::vector<int> cells;
    for (int i = 0; i < 9; ++i)
        if (scene.cells[static_cast<std::size_t>(i)]) cells.push_back(i);
    return cells;
}
const Figure& at(const Scene& scene, int cell) {
    return *scene.cells[static_cast<std::size_t>(cell)];
}
bool isLine(const std::vector<int>& c) {
    static const std::set<std::vector<int>> lines = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                                     {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
    return lines.count(c) > 0;
}

TEST(Figures, AreTheConnectedSetsOfTheBox) {
    EXPECT_EQ(figureShapes(FigureFamily::Pentos).size(), 49u);
    EXPECT_EQ(figureShapes(FigureFamily::Hexos).size(), 48u);
    const std::set<std::array<std::uint8_t, 3>> colours(figureColours().begin(),
                                                        figureColours().end());
    EXPECT_EQ(colours.size(), 25u);
    EXPECT_EQ(colours.count({64, 64, 64}) + colours.count({192, 192, 192}), 0u);
}

TEST(Images, AreDrawnAsTheRealOnesAre) {
    for (const auto family : {FigureFamily::Pentos, FigureFamily::Hexos, FigureFamily::Stripes}) {
        const auto data = games("between", family);
        std::vector<std::uint8_t> pixels(data.pixelBytes());
        for (int i = 0; i < 500; ++i) {
            data.read(i, pixels);
            const auto scene = data.scene(i);
            for (int y = 0; y < 36; ++y)
                for (int x = 0; x < 36; ++x) {
                    const auto* p = &pixels[static_cast<std::size_t>((y * 36 + x) * 3)];
                    const auto& cell = scene.cells[static_cast<std::size_t>(y / 12 * 3 + x / 12)];
                    const int row = y % 12 - 1, column = x % 12 - 1;
                    const bool inBox = row >= 0 && row < 9 && column >= 0 && column < 9;
                    const bool filled =
                        cell && inBox && (cell->units >> (row / 3 * 3 + column / 3) & 1);
                    if (!filled)
                        ASSERT_TRUE(p[0] == 0 && p[1] == 0 && p[2] == 0);
                    else
                        for (int c = 0; c < 3; ++c)
                            ASSERT_TRUE(p[c] == 64 || p[c] == 144 || p[c] == 192);
                }
        }
    }
}

TEST(Images, DependOnSeedAndIndexAlone) {
    const auto a = games("occurs"), b = games("occurs"),
               other = games("occurs", FigureFamily::Pentos, 2);
    EXPECT_EQ(a.sample(77), b.sample(77));
    int equal = 0;
    for (int i = 0; i < 100; ++i) equal += a.sample(i).image == other.sample(i).image;
    EXPECT_EQ(equal, 0);
}

TEST(Labels, AreHalfAndHalf) {
    for (const auto& task : {"same", "occurs", "xoccurs", "between", "match_pattern"}) {
        const auto data = games(task);
        int positive = 0, first = 0;
        for (int i = 0; i < kCount; ++i)
            positive += data.scene(i).label, first += i % 2 == 0 ? data.scene(i).label : 0;
        EXPECT_EQ(positive, kCount / 2) << task;
        EXPECT_NEAR(first, kCount / 4, 200) << task << ": the order within pairs is random";
    }
}

TEST(Between, HasTheMeasuredStatistics) {
    for (const auto family : {FigureFamily::Pentos, FigureFamily::Hexos, FigureFamily::Stripes}) {
        const auto data = games("between", family);
        int offLine = 0, negatives = 0, middleEqual = 0;
        std::map<std::pair<bool, bool>, int> kinds;
        for (int i = 0; i < kCount; ++i) {
            const auto scene = data.scene(i);
            const auto cells = occupied(scene);
            ASSERT_EQ(cells.size(), 3u);
            if (scene.label) {
                ASSERT_TRUE(isLine(cells));
                ASSERT_EQ(at(scene, cells[0]), at(scene, cells[2]));
            } else {
                ++negatives;
                if (!isLine(cells)) {
                    ++offLine;
                    continue;
                }
                const auto a = at(scene, cells[0]), b = at(scene, cells[2]);
                ASSERT_FALSE(a == b);
                const bool shape =
                    family == FigureFamily::Stripes ? a.second == b.second : a.units == b.units;
                ++kinds[{shape, a.colour == b.colour}];
            }
            middleEqual += at(scene, cells[1]) == at(scene, cells[0]) ||
                           at(scene, cells[1]) == at(scene, cells[2]);
        }
        EXPECT_NEAR(offLine / double(negatives), 0.22, 0.02);
        const double third = (negatives - offLine) / 3.0;
        const std::pair<bool, bool> shapeOnly{true, false}, colourOnly{false, true},
            neither{false, false};
        EXPECT_NEAR(kinds[shapeOnly], third, 110);
        EXPECT_NEAR(kinds[colourOnly], third, 110);
        EXPECT_NEAR(kinds[neither], third, 110);
        EXPECT_LT(middleEqual, 60);  // about one in a thousand; stripes have 625 kinds, pentos 1225
    }
}

TEST(Between, MatchesTheRealSample) {
    // Shares of lines, colours, and symmetric figures, counted in the 5000 real hexomino images.
    const auto data = games("between", FigureFamily::Hexos);
    std::map<std::uint16_t, int> shapes;
    std::map<int, int> colours;
    int middleRow = 0, lines = 0;
    for (int i = 0; i < kCount; ++i) {
        const auto scene = data.scene(i);
        const auto cells = occupied(scene);
        for (const int c : cells) ++shapes[at(scene, c).units], ++colours[at(scene, c).colour];
        if (isLine(cells)) ++lines, middleRow += cells == std::vector<int>{3, 4, 5};
    }
    EXPECT_EQ(shapes.size(), 48u);
    EXPECT_EQ(colours.size(), 25u);
    EXPECT_NEAR(middleRow / double(lines), 2.0 / 9.0, 0.015);
    int often = 0;
    for (const auto& [units, n] : shapes)
        often += n > 1.5 * 3.0 * kCount / 64;  // twice as often as the rest
    EXPECT_EQ(often, 16);
}

TEST(Same, TwoObjectsSameOrNot) {
    const auto data = games("same");
    for (int i = 0; i < kCount; ++i) {
        const auto scene = data.scene(i);
        const auto cells = occupied(scene);
        ASSERT_EQ(cells.size(), 2u);
        ASSERT_EQ(at(scene, cells[0]) == at(scene, cells[1]), scene.label == 1);
    }
}

// How two figures differ: "colour", "shape", "both" or "same".
std::string difference(const Figure& a, const Figure& b) {
    if (a == b) return "same";
    return a.units == b.units ? "colour" : a.colour == b.colour ? "shape" : "both";
}

void expectThirds(const std::map<std::string, int>& kinds, double tolerance) {
    double all = 0;
    for (const auto& [kind, count] : kinds) all += count;
    for (const auto* kind : {"colour", "shape", "both"})
        EXPECT_NEAR(kinds.count(kind) ? kinds.at(kind) / all : 0.0, 1.0 / 3.0, tolerance) << kind;
}

TEST(Occurs, OneOfTheThreeIsSetApartFromTheTop) {
    // Two figures drawn freely differ in both; what is more comes from the one set apart.
    const auto data = games("occurs");
    int near = 0, negatives = 0;
    std::map<std::string, int> kinds;
    for (int i = 0; i < kCount; ++i) {
        const auto scene = data.scene(i);
        if (scene.label) continue;
        ++negatives;
        bool found = false;
        for (int c = 6; c < 9; ++c) {
            const auto kind = difference(at(scene, c), at(scene, 1));
            if (kind == "both") continue;
            ++kinds[kind];
            found = true;
        }
        near += found;
    }
    // 2/3 by the law, and two free figures that share a colour (.04) or a shape (.025).
    EXPECT_NEAR(near / double(negatives), 2.0 / 3.0 + (1.0 / 3.0) * 0.125, 0.03);
    EXPECT_NEAR(kinds["colour"] / double(negatives), 1.0 / 3.0 + 2 * 0.025, 0.04);
    EXPECT_NEAR(kinds["shape"] / double(negatives), 1.0 / 3.0 + 2 * 0.04, 0.04);
}

TEST(XOccurs, TheThreeAreSetApartAsLettersAre) {
    const auto data = games("xoccurs");
    std::map<std::string, int> replaced;
    int first = 0, negatives = 0;
    for (int i = 0; i < kCount; ++i) {
        const auto scene = data.scene(i);
        int closest = 0;
        for (int c = 6; c < 9; ++c)
            if (scene.label && difference(at(scene, c), at(scene, 1)) == "same")
                first += c == 6;
            else if (!scene.label && difference(at(scene, c), at(scene, 1)) != "both")
                ++closest;
        if (!scene.label) ++negatives, ++replaced[closest > 0 ? "near" : "far"];
    }
    EXPECT_NEAR(first / (kCount / 2.0), 1.0 / 3.0, 0.03) << "the place is random";
    // One object set apart from the top and, of B and C, at least one: near misses are the rule.
    EXPECT_GT(replaced["near"] / double(negatives), 0.85);
}

TEST(MatchPattern, LettersAreSetApartAsInTheRealFiles) {
    for (const auto family : {FigureFamily::Pentos, FigureFamily::Hexos}) {
        const auto data = games("match_pattern", family);
        std::map<std::string, int> ab, ac, bc, pairs;
        for (int i = 0; i < kCount; ++i) {
            const auto scene = data.scene(i);
            for (const int c : {0, 6}) {
                const auto &a = at(scene, c), &b = at(scene, c + 1), &third = at(scene, c + 2);
                const bool three = !(a == b) && !(b == third) && !(a == third);
                if (three) {
                    ++ab[difference(a, b)], ++ac[difference(a, third)], ++bc[difference(b, third)];
                } else if (!(a == b && b == third)) {
                    ++pairs[difference(a, a == b ? third : b)];
                }
            }
        }
        expectThirds(pairs, 0.02);  // measured: .33, .34, .33
        expectThirds(ab, 0.03);
        for (auto* kinds : {&ac, &bc}) {  // measured: .52 and .55 differ in both
            const double all = (*kinds)["both"] + (*kinds)["shape"] + (*kinds)["colour"];
            EXPECT_NEAR((*kinds)["both"] / all, 0.54, 0.03);
            EXPECT_NEAR((*kinds)["shape"] / all, 0.23, 0.03);
            EXPECT_NEAR((*kinds)["colour"] / all, 0.23, 0.03);
        }
    }
}

TEST(Occurs, TopIsAmongTheBottomThree) {
    for (const bool exclusive : {false, true}) {
        const auto data = games(exclusive ? "xoccurs" : "occurs");
        int absent = 0;
        for (int i = 0; i < kCount; ++i) {
            const auto scene = data.scene(i);
            ASSERT_EQ(occupied(scene), (std::vector<int>{1, 6, 7, 8}));
            int found = 0;
            for (int c = 6; c < 9; ++c) found += at(scene, c) == at(scene, 1);
            const bool distinct = !(at(scene, 6) == at(scene, 7)) &&
                                  !(at(scene, 6) == at(scene, 8)) &&
                                  !(at(scene, 7) == at(scene, 8));
            ASSERT_EQ(found > 0, scene.label == 1);
            ASSERT_TRUE(distinct || !exclusive) << "the three differ in negatives too";
            absent += found == 0;
        }
        EXPECT_EQ(absent, kCount / 2);
    }
}

TEST(MatchPattern, RowsFollowTheirPatterns) {
    const auto data = games("match_pattern");
    const auto pattern = [](const Scene& s, int c) {
        const bool ab = at(s, c) == at(s, c + 1), bc = at(s, c + 1) == at(s, c + 2),
                   ac = at(s, c) == at(s, c + 2);
        return ab && bc ? "AAA" : ab ? "AAB" : bc ? "ABB" : ac ? "ABA" : "ABC";
    };
    std::map<std::string, int> seen;
    for (int i = 0; i < kCount; ++i) {
        const auto scene = data.scene(i);
        ASSERT_EQ(occupied(scene), (std::vector<int>{0, 1, 2, 6, 7, 8}));
        const std::string top = pattern(scene, 0), bottom = pattern(scene, 6);
        ASSERT_EQ(top == bottom, scene.label == 1);
        for (int a = 0; a < 3; ++a)
            for (int b = 6; b < 9; ++b) ASSERT_FALSE(at(scene, a) == at(scene, b));
        ++seen[top];
    }
    EXPECT_EQ(seen.size(), 5u);
    for (const auto& [name, count] : seen) EXPECT_NEAR(count / double(kCount), 0.2, 0.02) << name;
    RelationalGamesOptions o;
    o.task = "match_pattern";
    o.patterns = {"AAA", "ABC"};
    EXPECT_NO_THROW(RelationalGames(o).scene(3));
    o.patterns = {"ABC"};
    EXPECT_THROW(RelationalGames{o}, OptionError);
}

TEST(Registry, OpensEveryTaskAndKeepsPartsApart) {
    DataOptions o;
    o.train_size = 50, o.validation_size = 30, o.test_size = 20;
    for (const auto& task : tasksOf("relational-games")) {
        o.task = task;
        const auto splits = openData(o);
        EXPECT_EQ(splits.train->size(), 50);
        EXPECT_EQ(splits.names(),
                  (std::vector<std::string>{"train", "validation", "pentos", "hexos", "stripes"}));
        EXPECT_NE(splits.train->sample(0).image, splits.validation->sample(0).image);
        EXPECT_NE(splits.find("pentos")->sample(0).image, splits.validation->sample(0).image);
    }
    EXPECT_FALSE(openData(o).trainEpoch);
    o.streaming = true;
    const auto streamed = openData(o);
    EXPECT_EQ(streamed.trainEpoch(0)->sample(0).image, streamed.train->sample(0).image);
    EXPECT_NE(streamed.trainEpoch(1)->sample(0).image, streamed.train->sample(0).image);
    const auto entries = listDatasets();
    EXPECT_EQ(std::count_if(entries.begin(), entries.end(),
                            [](const auto& entry) { return entry.kind == "relational-games"; }),
              5);
    EXPECT_THROW(requireFit(openData(o).train->info(), 3, 32, 32, 2), OptionError);
}

}  // namespace
}  // namespace relascope
