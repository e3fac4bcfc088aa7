// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of sets of objects: what is read of them, what is refused, and a training on one.
#include "datasets/readers/set_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "datasets/registry.h"
#include "support/temporary_folder.h"
#include "types/data_kind.h"

namespace relascope::datasets {
namespace {

std::string whyNot(const std::string& text) {
    try {
        parseSetTable(text, "own.csv");
    } catch (const FileError& error) {
        return std::string(error.what()).substr(std::string("own.csv: ").size());
    }
    return "";
}

// Shapes and sizes; the answer says whether two objects have the same shape.
std::string figures(int sets) {
    std::string text = "set,label,shape,size\n";
    for (int k = 0; k < sets; ++k)
        for (int o = 0; o < 2; ++o)
            text += std::to_string(k) + (k % 2 ? ",same," : ",different,") +
                    (k % 2 || o ? "circle," : "square,") + std::to_string(k * 10 + o) + ".5\n";
    return text;
}

}  // namespace

TEST(SetTable, WordsBecomeBitsAndNumbersAreScaled) {
    const auto table = parseSetTable(
        "set,shape,size,label\n7,circle,1,yes\n7,square,2,yes\nb,circle,4,no\nb,disc,5,no\n",
        "own.csv");
    EXPECT_EQ(table->sets(), 2);
    EXPECT_EQ(table->objects, 2);
    ASSERT_EQ(table->width, 4);
    EXPECT_EQ(table->classNames, (std::vector<std::string>{"no", "yes"}));
    EXPECT_EQ(table->answers, (std::vector<std::int32_t>{1, 0}));
    // circle, disc, square; the sizes have the mean 3 and the variance 2.5.
    const float unit = std::sqrt(2.5f);
    const std::vector<float> expected = {1, 0, 0, -2 / unit, 0, 0, 1, -1 / unit,
                                         1, 0, 0, 1 / unit,  0, 1, 0, 2 / unit};
    for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(table->numbers[k], expected[k], 1e-6) << k;
    EXPECT_EQ(table->words[1], "square, 2");
    EXPECT_EQ(table->features, (std::vector<std::string>{"shape = circle", "shape = disc",
                                                         "shape = square", "size"}));
    const std::vector<ObjectFacts::Fact> facts = {{"shape", false, {"circle", "disc", "square"}},
                                                  {"size", true, {}, 1}};
    EXPECT_EQ(table->about.facts, facts);
    EXPECT_EQ(table->facts, (std::vector<std::int32_t>{0, 0, 2, 1, 0, 3, 1, 4}));
}

TEST(SetTable, ShorterSetsEndWithEmptyPlaces) {
    const auto table =
        parseSetTable("example;x;class\n1;0.5;2\n1;1.5;2\n2;2.5;10\n1;3.5;2\n", "own.csv");
    EXPECT_EQ(table->objects, 3);
    ASSERT_EQ(table->width, 2);
    EXPECT_EQ(table->classNames, (std::vector<std::string>{"2", "10"})) << "by value";
    const std::vector<float> exists = {1, 1, 1, 1, 0, 0};
    for (std::size_t place = 0; place < 6; ++place)
        EXPECT_EQ(table->numbers[place * 2 + 1], exists[place]) << place;
    EXPECT_EQ(table->words[4], "");
    EXPECT_TRUE(table->about.facts.empty()) << "halves are no categories";
    const auto sets = setsOf(table, 0, 2, "all");
    EXPECT_EQ(sets->objectFacts(), nullptr);
    std::set<std::size_t> named;
    for (int k = 0; k < 2; ++k) {
        const auto sample = sets->sample(k);
        named.insert(static_cast<std::size_t>(
            std::count(sample.source.labels.begin(), sample.source.labels.end(), "nothing")));
    }
    EXPECT_EQ(named, (std::set<std::size_t>{0, 2}));
}

TEST(SetTable, RefusesWithTheLineAndTheColumn) {
    EXPECT_NE(whyNot("example,i,j,size\n0,1,1,3\n").find("one column 'label'"), std::string::npos)
        << "a table of attributes";
    EXPECT_EQ(whyNot("set,label,x\n"), "has no rows");
    EXPECT_EQ(whyNot("set,label,x\n1,a,2\n1,b,2\n"),
              "line 3: set '1' has the answer 'b' here and 'a' in line 2");
    EXPECT_EQ(whyNot("set,label,x\n1,a,2\n1,a,\n"), "line 3, column x: is empty");
    EXPECT_EQ(whyNot("set,label,x\n1,a,2\n2,a,NA\n3,a,1\n"), "line 3, column x: has no value");
    EXPECT_EQ(whyNot("set,label,x\n1,,2\n"), "line 2, column label: is empty");
    EXPECT_EQ(whyNot("set,label,x\n,a,2\n"), "line 2, column set: is empty");
    std::string many = "set,label,x\n";
    for (int k = 0; k < 100; ++k)
        many += std::to_string(k) + ",a," + (k == 50 ? "1.2.3" : std::to_string(k)) + "\n";
    EXPECT_EQ(whyNot(many),
              "line 52, column x: '1.2.3' is not a number, and the column has more than 64 "
              "different words");
    std::string numbers = "set,label,x\n";
    for (int k = 0; k < 2000; ++k)
        numbers += std::to_string(k) + "," + std::to_string(k) + ".5,1\n";
    EXPECT_NE(whyNot(numbers).find("more than 1000 different answers"), std::string::npos);
    std::string large = "set,label,x\n";
    for (int k = 0; k < 600; ++k) large += "1,a,1\n";
    EXPECT_NE(whyNot(large).find("has more than 512 objects"), std::string::npos);
}

TEST(SetTable, NumbersOfTwoMeaningsAreRefusedAndWordsAreNot) {
    const std::string rows = "set;label;x\n1;a;1.234\n2;b;2.345\n";
    EXPECT_NE(whyNot(rows).find("line 2, column x: '1.234' may have a decimal point or one of"),
              std::string::npos)
        << whyNot(rows);
    EXPECT_EQ(parseSetTable(rows + "3;a;0.5\n", "own.csv")->width, 1);
    EXPECT_EQ(parseSetTable(rows + "3;a;2,5\n", "own.csv")->width, 1);
    const auto words = parseSetTable(rows + "3;a;none\n", "own.csv");
    EXPECT_EQ(words->features, (std::vector<std::string>{"x = 1.234", "x = 2.345", "x = none"}));
}

TEST(SetTable, ComposedAndDecomposedLettersAreOneWord) {
    const auto table = parseSetTable(
        "set,label,x\n1,K\xc3\xa4se,\xc3\xa4\n2,Ka\xcc\x88se,a\xcc\x88\n3,b,b\n", "own.csv");
    EXPECT_EQ(table->classNames, (std::vector<std::string>{"K\xc3\xa4se", "b"}));
    EXPECT_EQ(table->answers, (std::vector<std::int32_t>{0, 0, 1}));
    EXPECT_EQ(table->width, 2);
}

TEST(SetTable, ReadingIsStopped) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(parseSetTable(figures(3), "own.csv", {}, stop.get_token()), Cancelled);
    EXPECT_THROW(parseSetTable(figures(3), "own.csv", [](double) { return false; }), Cancelled);
}

TEST(SetTable, SplitsAreDisjointAndSizesOfZeroTakeAll) {
    testing_support::TemporaryFolder folder{"set-table"};
    std::filesystem::create_directories(folder.path());
    DataOptions o;
    o.kind = "object-sets";
    o.path = folder / "own.csv";
    std::ofstream(o.path) << figures(40);
    o.train_size = o.validation_size = o.test_size = 0;
    const auto splits = openData(o);
    EXPECT_EQ(splits.train->size(), 28);
    EXPECT_EQ(splits.validation->size(), 6);
    ASSERT_EQ(splits.tests.size(), 1U);
    EXPECT_EQ(splits.tests[0].second->size(), 6);
    std::multiset<std::string> seen;
    for (const auto& name : splits.names())
        for (std::int64_t k = 0; k < splits.find(name)->size(); ++k)
            seen.insert(splits.find(name)->sample(k).source.labels[0]);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 40U);
    EXPECT_EQ(seen.size(), 40U);
    const auto imported = openImported(o);
    ASSERT_EQ(imported.size(), 1U);
    EXPECT_EQ(imported[0].second->size(), 40);
    o.validation_size = 41;
    EXPECT_THROW(openData(o), OptionError);
    o.validation_size = 34;
    EXPECT_THROW(openData(o), OptionError);
}

}  // namespace relascope::datasets
