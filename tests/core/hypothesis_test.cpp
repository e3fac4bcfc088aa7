// SPDX-License-Identifier: GPL-3.0-or-later
// Hypotheses of one's own: what is read, what they say of pairs, and what errors name.
#include "analysis/pairs/hypothesis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "analysis/atlas/hypothesis_sentences.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

/// Four objects of one example: a blue one of size 3, a red one of size 3, a red one of size 1, and
/// an empty place, in a grid of two columns; as tokens "the", "cat", "sees", "the" from place 10
/// on.
class HypothesisOf : public ::testing::Test {
protected:
    HypothesisOf() {
        terms.facts = {{"colour", false, {"blue", "red"}}, {"size", true}};
        terms.columns = 2, terms.tokens = true;
        terms.classes = {"article", "noun", "verb"}, terms.labels = {"none", "occurs"};
        const double nan = std::nan("");
        values.objects = 4;
        values.facts = {0, 3, 1, 3, 1, 1, nan, nan};
        values.tokens = {"the", "cat", "sees", "the"};
        values.classes = {"article", "noun", "verb", "article"};
        values.starts = {10}, values.labels = {1};
    }
    /// For each pair i, j in order "y", "n", or "." where it is left out.
    std::string truth(const std::string& text) const {
        const auto all = parseHypotheses(text, terms);
        EXPECT_EQ(all.size(), 1u) << text;
        const auto attribute = attributeOf(all.at(0), {1, 4, false, false}, terms, values);
        EXPECT_EQ(attribute.name, all[0].text);
        EXPECT_TRUE(attribute.hypothesis);
        std::string letters;
        for (const auto one : attribute.truth)
            letters += one == kPairYes ? 'y' : one == kPairNo ? 'n' : '.';
        return letters;
    }
    std::string error(const std::string& text) const {
        try {
            parseHypotheses(text, terms);
        } catch (const OptionError& problem) {
            EXPECT_EQ(problem.field(), "hypothesis");
            return problem.message();
        }
        return "none";
    }
    HypothesisTerms terms;
    HypothesisValues values;
};

TEST_F(HypothesisOf, FactsLeaveOutEmptyPlaces) {
    EXPECT_EQ(truth("same(colour)"), "ynn.nyy.nyy.....");
    EXPECT_EQ(truth("not same(colour)"), "nyy.ynn.ynn.....");
    EXPECT_EQ(truth("same(colour) and same(size)"), "ynn.nyn.nny.....");
    EXPECT_EQ(truth("same(colour) and not same(size)"), "nnn.nny.nyn.....");
    EXPECT_EQ(truth("same(colour) or same(size)"), "yyn.yyy.nyy.....");
    EXPECT_EQ(truth("less(size)"), "nnn.nnn.yyn.....");
    EXPECT_EQ(truth("greater(size)"), "nny.nny.nnn.....");
    EXPECT_EQ(truth("near(size, 1)"), "yyn.yyn.nny.....");
    EXPECT_EQ(truth("near(size, 2)"), "yyy.yyy.yyy.....");
    EXPECT_EQ(truth("colour(i) = red"), "nnn.yyy.yyy.....");
    EXPECT_EQ(truth("colour(j) != \"red\""), "ynn.ynn.ynn.....");
    EXPECT_EQ(truth("size(i) - size(j) = 2"), "nny.nny.nnn.....");
    // "or" binds less than "and", and parentheses bind most.
    EXPECT_EQ(truth("same(size) or same(colour) and less(size)"), "yyn.yyn.nyy.....");
    EXPECT_EQ(truth("(same(size) or same(colour)) and less(size)"), "nnn.nnn.nyn.....");
    // A pair with an empty place says nothing, also where the other half would decide.
    EXPECT_EQ(truth("same(colour) or same row"), "yyn.yyy.nyy.....");
}

TEST_F(HypothesisOf, PlacesAreThoseOfTheGridAndOfTheText) {
    EXPECT_EQ(truth("same row"), "yynnyynnnnyynnyy");
    EXPECT_EQ(truth("same column"), "ynynnynyynynnyny");
    EXPECT_EQ(truth("row(i) = 1 and column(j) = 0"), "nnnnnnnnynynynyn");
    EXPECT_EQ(truth("adjacent"), "nyyyynyyyynyyyyn");
    EXPECT_EQ(truth("j - i = 1"), "nynnnnynnnnynnnn");
    EXPECT_EQ(truth("abs(j - i) >= 3"), "nnnynnnnnnnnynnn");
    EXPECT_EQ(truth("i = 10"), "yyyynnnnnnnnnnnn");  // places of a text count in its window
    EXPECT_EQ(truth("i + 1 < j"), "nnyynnnynnnnnnnn");
    EXPECT_EQ(truth("-i > -j"), "nyyynnyynnnynnnn");
    terms.columns = 0;
    EXPECT_EQ(truth("adjacent"), "nynnynynnynynnyn");
    EXPECT_EQ(error("same row"), "column 6: the objects of these data have no rows and columns");
}

TEST_F(HypothesisOf, TokensClassesAndLabels) {
    EXPECT_EQ(truth("token(j) = \"the\""), "ynnyynnyynnyynny");
    EXPECT_EQ(truth("token(j) = ' the'"), "ynnyynnyynnyynny");
    EXPECT_EQ(truth("token(i) = token(j)"), "ynnynynnnnynynny");
    EXPECT_EQ(truth("class(i) = verb and class(j) = noun"), "nnnnnnnnnynnnnnn");
    EXPECT_EQ(truth("label = occurs"), "yyyyyyyyyyyyyyyy");
    EXPECT_EQ(truth("label != occurs or i = j"), "ynnnnynnnnynnnny");
    values.labels = {-1};
    EXPECT_EQ(truth("label = occurs"), "................");
}

TEST_F(HypothesisOf, NumbersOfFilesAreNearlyThemselves) {
    values.facts = {0, 0.3F, 0, 0.1F, 0, 0.2F, 0, 0.25F};
    EXPECT_EQ(truth("near(size, 0.2)"), std::string(16, 'y'));
    EXPECT_EQ(truth("size(i) = 0.3"), "yyyynnnnnnnnnnnn");
}

TEST_F(HypothesisOf, SeveralArePartedBySemicolons) {
    const auto all = parseHypotheses(" same(colour) ; token(j) = \";\" ;", terms);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text, "same(colour)");
    EXPECT_EQ(all[1].text, "token(j) = \";\"");
    EXPECT_TRUE(parseHypotheses("", terms).empty());
}

TEST_F(HypothesisOf, ErrorsNameThePlaceAndTheNearestName) {
    EXPECT_EQ(error("same(coluor)"), "column 6: unknown fact 'coluor'; did you mean 'colour'?");
    EXPECT_EQ(error("less(colour)"), "column 6: 'colour' has no order; those with one are 'size'");
    EXPECT_EQ(error("colour(i) < red"), "column 11: 'colour' has no order; compare with = or !=");
    EXPECT_EQ(error("colour(i) = rad"),
              "column 13: unknown value of colour 'rad'; did you mean 'red'?");
    EXPECT_EQ(error("class(i) = vreb"),
              "column 12: unknown value of class 'vreb'; did you mean 'verb'?");
    EXPECT_EQ(error("same(colour) same(size)"),
              "column 14: 'and', 'or', ';' or the end expected, not 'same'");
    EXPECT_EQ(error("same(colour"), "column 12: ')' expected before the end");
    EXPECT_EQ(error("near(size, x)"), "column 12: a number expected");
    EXPECT_EQ(error("\u00e4 = 2 and #"), "column 11: '#' has no meaning here");
    EXPECT_EQ(error("sane(colour)"),
              "column 1: unknown name 'sane'; did you mean 'same' or 'size'?");
    EXPECT_NE(error("sise = 2").find("did you mean"), std::string::npos) << error("sise = 2");
    EXPECT_EQ(error("token(j) = \"the"), "column 12: this \" is not closed");
    EXPECT_NE(error(std::string(200, '(')).find("too many parentheses"), std::string::npos);
    EXPECT_NE(error(std::string(5000, ' ') + "i = j").find("at most 4000"), std::string::npos);
    terms = {};
    EXPECT_EQ(error("same(colour)"),
              "column 6: nothing is known of the objects of these data but their places");
    EXPECT_EQ(error("token(i) = a").substr(0, 39), "column 1: the objects of these data are");
    EXPECT_EQ(error("label = a"), "column 1: the examples of these data have no labels");
}

TEST_F(HypothesisOf, CompletionOffersWhatCanBeRead) {
    terms.facts.push_back({"rank in A", true});
    for (const auto& word : hypothesisWords(terms)) {
        if (word == "and" || word == "or" || word == "not" || word.ends_with("= \"")) continue;
        EXPECT_EQ(error(word), "none") << word;
    }
}

TEST(HypothesisClasses, AreReadFromATable) {
    testing_support::TemporaryFolder folder("classes");
    std::filesystem::create_directories(folder.path());
    const auto file = folder / "classes.csv";
    std::ofstream(file) << "token,class\n the,article\ncat,noun\n";
    const auto classes = readTokenClasses(file);
    EXPECT_EQ(classes.at("the"), "article");
    EXPECT_EQ(plainToken(" the"), "the");
    EXPECT_EQ(plainToken(" "), " ");
    std::ofstream(file) << "token,kind\nthe,article\n";
    EXPECT_THROW(readTokenClasses(file), FileError);
    std::ofstream(file) << "token,class\nthe,article\nthe,noun\n";
    EXPECT_THROW(readTokenClasses(file), FileError);
}

RelationAtlas atlasWith(double auc, double other) {
    RelationAtlas atlas;
    atlas.attributes = {{"same shape"}, {"same(colour) and same(shape)", false, {}, true}};
    atlas.untrainedModels = 8;
    for (const char* name : {"layer 1 relation 1", "layer 1 relation 2"}) {
        RelationAtlas::Relation map;
        map.name = name;
        for (const double value : {other, auc}) {
            RelationAtlas::Fit fit;
            fit.auc = value, fit.low = value - 0.01, fit.high = value + 0.01, fit.p = 0.005;
            fit.untrained = 0.5, fit.untrainedLow = 0.4, fit.untrainedHigh = 0.55;
            map.fits.push_back(fit);
        }
        atlas.relations.push_back(std::move(map));
        auc = 0.5, other = 0.5;
    }
    return atlas;
}

TEST(HypothesisSentences, StandBesideTheBestThatWasFound) {
    EXPECT_EQ(
        hypothesisSentences(atlasWith(0.87, 0.96)),
        std::vector<std::string>{
            "Your hypothesis *same(colour) and same(shape)*: layer 1 relation 1 has AUC 0.870 "
            "[0.860, 0.880] (untrained 0.40 to 0.55); the best that was found there is "
            "*same shape* (0.960)."});
    // The numbers turn with the word.
    EXPECT_EQ(
        hypothesisSentences(atlasWith(0.05, 0.2)),
        std::vector<std::string>{
            "Your hypothesis *not (same(colour) and same(shape))*: layer 1 relation 1 has AUC "
            "0.950 [0.940, 0.960] (untrained 0.45 to 0.60); the best that was found there "
            "is *not same shape* (0.800), less than your own."});
    auto none = atlasWith(0.55, 0.96);
    EXPECT_EQ(
        hypothesisSentences(none),
        std::vector<std::string>{
            "Your hypothesis *same(colour) and same(shape)*: layer 1 relation 1 has AUC 0.550 "
            "[0.540, 0.560] (untrained 0.40 to 0.55), at most of all maps: no map is shown "
            "to tell it (p 0.005)."});
    // What places decide has no AUC within a place.
    auto places = atlasWith(0.9, 0.8);
    double plain = 0.55;
    for (auto& map : places.relations) {
        map.fits[1].auc = std::nan(""), map.fits[1].plainAuc = plain;
        plain = 0.7;
    }
    ASSERT_EQ(hypothesisSentences(places).size(), 1u);
    EXPECT_TRUE(hypothesisSentences(places)[0].ends_with(
        "cannot be told from what it tells of places; over all pairs layer 1 relation 2 has AUC "
        "0.700."))
        << hypothesisSentences(places)[0];
    none.attributes[1].hypothesis = false;
    EXPECT_TRUE(hypothesisSentences(none).empty());
}

}  // namespace
}  // namespace relascope
