// SPDX-License-Identifier: GPL-3.0-or-later
// Hypotheses about the objects of real data: figures of Relational Games, a table of sets in its
// own units, tokens of a text with the classes of a file; and what is the same for all pairs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/pairs/pair_objects.h"
#include "datasets/readers/set_table.h"
#include "datasets/registry.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

/// Objects 0, 1, ... of the first examples of data.
PairObjects firstObjects(std::size_t examples, std::size_t objects) {
    PairObjects all;
    all.shape = {examples, objects, false, false};
    for (std::size_t e = 0; e < examples; ++e) all.examples.push_back(static_cast<std::int64_t>(e));
    for (std::size_t k = 0; k < objects; ++k) all.positions.push_back(static_cast<std::int64_t>(k));
    all.noun = "examples";
    return all;
}

TEST(HypothesisData, OfFiguresAreTheAttributesThatTheySpellOut) {
    auto options = presetOptions("relational-games-occurs", "dat");
    options.data.train_size = 8, options.data.validation_size = 40, options.data.test_size = 2;
    const auto data = openData(options.data).validation;
    auto objects = firstObjects(40, 9);
    objects.columns = 3;
    const auto all = attributesOf(
        objects, options.model, *data, {},
        {{"same(colour) and same(shape); same(shape) and not same(colour)", "label = occurs"}, {}});
    const auto named = [&](const std::string& name) {
        return std::any_of(all.all.begin(), all.all.end(),
                           [&](const auto& one) { return one.name == name && one.hypothesis; });
    };
    // The same on all pairs as an attribute of the data: one, by both names.
    EXPECT_TRUE(named("same object = same(colour) and same(shape)"));
    EXPECT_TRUE(named("same(shape) and not same(colour)"));
    EXPECT_TRUE(named("label = occurs"));
    EXPECT_THROW(attributesOf(objects, options.model, *data, {}, {{"i = i"}, {}}), OptionError);
    EXPECT_THROW(attributesOf(objects, options.model, *data, {}, {{"same(colour)"}, "classes.csv"}),
                 OptionError)
        << "images have no tokens";
    const auto words = hypothesisWordsOf(*data);
    for (const char* word : {"same(colour)", "same row", "label = occurs"})
        EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
}

TEST(HypothesisData, OfTablesAreInTheUnitsOfTheFile) {
    const auto table = parseSetTable(
        "set,shape,size,weight,label\n"
        "a,circle,11,0.3,yes\na,square,12,0.1,yes\n"
        "b,circle,14,2.5,no\nb,circle,11,2.5,no\n",
        "own.csv");
    const auto data = setsOf(table, 0, 2, "own");
    EXPECT_EQ(data->objectNumbers(), (std::vector<std::string>{"size", "weight"}));
    auto objects = firstObjects(2, 2);
    const auto terms = hypothesisTerms(objects, *data, {});
    ASSERT_EQ(terms.facts.size(), 3u);
    EXPECT_EQ(terms.facts[0].values, (std::vector<std::string>{"circle", "square"}));
    PairAttributes attributes;
    addHypotheses(attributes, objects, *data,
                  {{"near(weight, 0.2) and size(i) < size(j)", "shape(i) = circle and size(j) = 11",
                    "weight(i) = 0.3"},
                   {}});
    ASSERT_EQ(attributes.all.size(), 3u);
    // In the order of the data, which is not that of the file.
    for (std::size_t e = 0; e < 2; ++e) {
        std::vector<double> numbers(4);
        data->readObjectNumbers(static_cast<std::int64_t>(e), numbers);
        const bool first = numbers[0] == 11.0;  // set a
        EXPECT_EQ(numbers, first ? (std::vector<double>{11, 0.3F, 12, 0.1F})
                                 : (std::vector<double>{14, 2.5, 11, 2.5}));
        const auto truth = [&](std::size_t a, std::size_t i, std::size_t j) {
            return attributes.all[a].truth[(e * 2 + i) * 2 + j];
        };
        EXPECT_EQ(truth(0, 0, 1), first ? kPairYes : kPairNo);
        EXPECT_EQ(truth(0, 1, 0), first ? kPairNo : kPairYes);
        EXPECT_EQ(truth(1, 0, 1), first ? kPairNo : kPairYes);
        EXPECT_EQ(truth(2, 0, 1), first ? kPairYes : kPairNo);
    }
}

TEST(HypothesisData, OfTextsNameTokensAndTheClassesOfAFile) {
    testing_support::TemporaryFolder folder("hypothesis-text");
    std::filesystem::create_directories(folder.path());
    std::string text;
    for (int k = 0; k < 400; ++k) text += "a cat.\n";
    std::ofstream(folder / "text.txt") << text;
    std::ofstream(folder / "classes.csv") << "token,class\na,vowel\nc,consonant\nt,consonant\n";
    auto options = presetOptions("text");
    options.data.path = folder / "text.txt", options.data.tokenizer = "characters";
    options.data.context = 16;
    options.data.train_size = 8, options.data.validation_size = 4;
    const auto data = openData(options.data).validation;
    auto objects = firstObjects(2, 8);
    objects.positions.clear(), objects.starts = {0, 3};
    const auto count = [&](const std::string& hypothesis, const std::string& classes) {
        PairAttributes all;
        addHypotheses(all, objects, *data, {{hypothesis}, classes});
        return std::count(all.all.at(0).truth.begin(), all.all.at(0).truth.end(), kPairYes);
    };
    // By the text itself: of 8 characters from place 0 and from place 3 those that are such
    // letters.
    const auto letters = [&](const std::string& of) {
        std::int64_t found = 0;
        for (std::int64_t e = 0; e < 2; ++e) {
            std::vector<std::int64_t> ids(17);
            dynamic_cast<const TokenDataset&>(*data).read(e, ids);
            const auto& tokenizer = *dynamic_cast<const TokenDataset&>(*data).tokenizer();
            for (std::int64_t k = 0; k < 8; ++k)
                found += of.find(tokenizer.piece(static_cast<std::int32_t>(
                             ids[static_cast<std::size_t>(objects.starts[e] + k)]))) !=
                         std::string::npos;
        }
        return 8 * found;
    };
    EXPECT_EQ(count("token(j) = c", {}), letters("c"));
    EXPECT_EQ(count("class(i) = letter", {}), letters("act"));
    EXPECT_EQ(count("class(i) = consonant", folder / "classes.csv"), letters("ct"));
    EXPECT_EQ(count("i = 3", {}), 8 + 8);  // place 3 is object 3 of the first, 0 of the second
    EXPECT_THROW(count("class(i) = noun", folder / "classes.csv"), OptionError);
}

}  // namespace
}  // namespace relascope
