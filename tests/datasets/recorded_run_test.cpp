// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that another program recorded: they are listed with what it says of its model, and refuse
// what needs one; an atlas of their captures has the numbers of an atlas of the model itself.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/atlas/answer.h"
#include "analysis/atlas/atlas.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/run_analysis.h"
#include "analysis/scan/scan.h"
#include "files/safetensors.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "support/recorded_run.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"
#include "train/execute_run.h"

namespace relascope {
namespace {

using namespace testing_support;

/// A run of one step that captures 24 inputs, and the same as another program would record it.
struct Recorded {
    StepRun run;
    std::string path;
    Recorded() : run(options()), path(run.file("recorded")) { recordRun(run.path(), path); }

    static RunOptions options() {
        auto o = smallDual(2, 40);
        o.train.capture_samples = 24;
        return o;
    }
    core::AnalysisSubject captured(std::int64_t step = -1) const {
        core::AnalysisSubject subject;
        subject.captured = std::make_shared<const core::CapturedMaps>(path, step);
        subject.path = subject.run = path;
        subject.data = subject.captured->data();
        return subject;
    }
};

core::OptionValues plain() {
    return {{"untrained", std::int64_t{0}}, {"use_examples", std::int64_t{0}}};
}

std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(RecordedRun, IsListedWithWhatItsProgramSays) {
    const Recorded recorded;
    const auto info = core::readRunInfo(recorded.path);
    EXPECT_TRUE(info.recorded);
    EXPECT_EQ(info.variant, "mine");
    EXPECT_EQ(info.model, "ViT of 2 layers");
    EXPECT_EQ(info.metric, "accuracy");
    const std::vector<std::pair<std::string, std::string>> said = {{"model.name", "mine"},
                                                                   {"model.depth", "2"},
                                                                   {"model.adam.lr", "0.001"},
                                                                   {"data.name", "own images"}};
    EXPECT_EQ(info.options, said);
    EXPECT_FALSE(core::readMetrics(recorded.path).empty());
    EXPECT_EQ(core::loadCapture(recorded.path + "/captures", 0, 3).maps,
              core::loadCapture(recorded.run.path() + "/captures", 0, 3).maps);
}

/// Version 0.7 of the package for Python wrote any architecture as if it were one of ours.
TEST(RecordedRun, OpensWhateverItsArchitectureIsCalled) {
    using Json = nlohmann::ordered_json;
    const Recorded recorded;
    const auto file = recorded.path + "/run.json";
    Json run = Json::parse(core::readTextFile(file, 1 << 24));
    for (const Json& model : {Json{{"architecture", "resnet18"}, {"layers", 18}},
                              Json{{"architecture", "PrediNet"}, {"layers", 18}},
                              Json{{"architecture", 18}, {"layers", 18}}}) {
        run["options"]["model"] = model;
        core::writeTextFile(file, run.dump());
        const auto info = core::readRunInfo(recorded.path);
        EXPECT_TRUE(info.recorded);
        const auto name = model["architecture"];
        EXPECT_EQ(info.options[0].second, name.is_string() ? name.get<std::string>() : name.dump());
        EXPECT_EQ(info.options[1], std::pair(std::string("model.layers"), std::string("18")));
    }
    run["options"]["data"].erase("kind");  // then it is a run of ours
    core::writeTextFile(file, run.dump());
    EXPECT_THROW(core::readRunInfo(recorded.path), Error);
}

TEST(RecordedRun, RefusesWhatNeedsAModel) {
    const Recorded recorded;
    const auto options = core::readRunOptions(recorded.path);
    for (const auto& sentence :
         {refusal([&] { core::OpenedModel(recorded.path, "", "cpu"); }),
          refusal([&] { core::RunFolder::open(recorded.path); }),
          refusal([&] { core::capturesOf(core::analysisNamed("scan"), recorded.path, ""); })})
        EXPECT_NE(sentence.find("was recorded by another program"), std::string::npos) << sentence;
    EXPECT_NE(refusal([&] { datasets::openData(options.data); }).find("captured inputs"),
              std::string::npos);
    EXPECT_NE(refusal([&] { options.check(); }).find("recorded by another"), std::string::npos);
    // A run of ours is asked nothing of its captures.
    EXPECT_EQ(core::capturesOf(core::analysisNamed("atlas"), recorded.run.path(), ""), nullptr);
}

TEST(RecordedRun, OfAModelOfOursHasItsWeights) {
    const Recorded recorded;
    const auto file = recorded.path + "/run.json";
    auto run = nlohmann::ordered_json::parse(core::readTextFile(file, 1 << 24));
    const auto own = nlohmann::ordered_json::parse(
        core::readTextFile(recorded.run.path() + "/run.json", 1 << 24));
    run["options"]["model"] = own["options"]["model"];
    core::writeTextFile(file, run.dump());
    EXPECT_FALSE(core::readRunInfo(recorded.path).recorded);
    core::OpenedModel theirs(recorded.path, "1", "cpu"), ours(recorded.run.path(), "1", "cpu");
    const auto sample = recorded.run.splits().validation->sample(2);
    EXPECT_EQ(theirs.probe(sample, {}).probabilities, ours.probe(sample, {}).probabilities);
}

TEST(RecordedRun, SaysAnythingOfItsModelWithoutHarm) {
    const Recorded recorded;
    const auto file = recorded.path + "/run.json";
    const auto written = nlohmann::ordered_json::parse(core::readTextFile(file, 1 << 24));
    for (const char* settings :
         {"null", "[1, 2]", "\"text\"", "{\"a\": {\"b\": [1, {\"c\": null}]}}", "{\"x\": 1e400}",
          "{\"\\u0000\": \"\\ud800\"}"}) {
        auto run = written;
        const auto value = nlohmann::ordered_json::parse(settings, nullptr, false);
        if (!value.is_discarded()) run["options"]["model"]["settings"] = value;
        run["options"]["train"] = settings;
        core::writeTextFile(
            file, run.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        EXPECT_NO_THROW(core::readRunInfo(recorded.path)) << settings;
    }
}

TEST(AtlasOfCaptures, HasTheNumbersOfTheModelOnTheSameInputs) {
    const Recorded recorded;
    // The captured inputs are the first of validation: the atlas of the model sees the same.
    auto subject = recorded.captured();
    const auto captured = core::relationAtlasOf(
        core::runnerOf(core::analysisNamed("atlas")).run(subject, plain(), {}));
    core::OpenedModel model(recorded.run.path(), "", "cpu");
    core::AnalysisSubject own;
    own.model = &model;
    own.path = own.run = recorded.run.path();
    own.device = "cpu";
    own.data = recorded.run.splits().validation;
    const auto& maps = *subject.captured;
    const auto objects = maps.objects(24);
    core::PairReading reading;
    reading.maps = core::pairMaps(model.points(own.data->sample(0)), objects.whole, true, true);
    reading.shape = objects.shape, reading.examples = objects.examples;
    reading.positions = objects.positions;
    const auto values = model.readPairs(own.data, {}, reading);
    const auto asked = maps.maps(objects, true, true);
    ASSERT_EQ(asked.size(), reading.maps.size());
    core::PairReading same = reading;
    same.maps = asked;
    const auto found = maps.read(same, maps.step());
    for (std::size_t m = 0; m < asked.size(); ++m) {
        const auto at =
            std::find_if(reading.maps.begin(), reading.maps.end(), [&](const auto& one) {
                return one.layer == asked[m].layer && one.head == asked[m].head &&
                       one.index == asked[m].index &&
                       one.name.find("sensory") == asked[m].name.find("sensory");
            });
        ASSERT_NE(at, reading.maps.end()) << asked[m].name;
        const auto& of = values.values[static_cast<std::size_t>(at - reading.maps.begin())];
        ASSERT_EQ(of.size(), found.values[m].size());
        for (std::size_t k = 0; k < of.size(); ++k)
            ASSERT_NEAR(of[k], found.values[m][k], 1e-5) << asked[m].name << " " << k;
    }
    ASSERT_EQ(captured.relations.size(), asked.size());
    EXPECT_EQ(captured.examples, 24);
    EXPECT_EQ(captured.noun, "images");
    EXPECT_GT(captured.permutations, 0);
    EXPECT_TRUE(captured.relations.front().use.empty());
    EXPECT_NE(captured.remark.find("captures"), std::string::npos);
    EXPECT_FALSE(captured.attributes.empty());
    EXPECT_GT(captured.relations.front().symmetry, 1e6)
        << "the relations of this model are symmetric";
}

TEST(AtlasOfCaptures, FollowsCapturedSteps) {
    const Recorded recorded;
    auto subject = recorded.captured();
    auto values = plain();
    values["along"] = true;
    const auto atlas = core::relationAtlasOf(
        core::runnerOf(core::analysisNamed("atlas")).run(subject, values, {}));
    ASSERT_EQ(atlas.steps.size(), subject.captured->steps().size());
    EXPECT_EQ(atlas.steps.front().step, 0);
    EXPECT_TRUE(atlas.initial);
    EXPECT_NE(refusal([&] { recorded.captured(7); }).find("was not captured"), std::string::npos);
}

/// A capture of 3 inputs of 4 objects with one relation, and an attribute.
void writeCapture(const std::string& folder, std::vector<core::TensorToWrite> more,
                  std::map<std::string, std::string> metadata = {}) {
    std::vector<float> relation(3 * 16), probabilities(3, 1.0F);
    std::vector<std::int64_t> labels(3), tokens = {1, 2, 1, 3, 2, 2, 3, 1, 3, 1, 3, 3};
    for (std::size_t k = 0; k < relation.size(); ++k)
        relation[k] = std::sin(static_cast<float>(3 * k % 17));
    const auto bytes = [](const auto& values) {
        return std::span(reinterpret_cast<const std::uint8_t*>(values.data()),
                         values.size() * sizeof(values[0]));
    };
    more.push_back({"relation/0", "F32", {3, 1, 4, 4}, bytes(relation)});
    more.push_back({"probabilities", "F32", {3, 1}, bytes(probabilities)});
    more.push_back({"labels", "I64", {3}, bytes(labels)});
    more.push_back({"images", "U8", {3, 0, 0, 3}, {}});
    more.push_back({"tokens", "I64", {3, 4}, bytes(tokens)});
    metadata.insert({{"step", "5"},
                     {"layers", "1"},
                     {"grid_rows", "0"},
                     {"grid_columns", "0"},
                     {"class_token", "0"},
                     {"layer_0", "block 1"},
                     {"layer_0_rows", "0"},
                     {"layer_0_columns", "0"},
                     {"side_0", "objects"}});
    core::writeSafetensors(folder + "/captures/step-5.safetensors", std::move(more), metadata);
}

TEST(AtlasOfCaptures, ReadsAttributesOfPairs) {
    const Recorded recorded;
    std::filesystem::remove_all(recorded.path + "/captures");
    std::filesystem::create_directories(recorded.path + "/captures");
    std::vector<std::uint8_t> near(3 * 16);
    std::vector<float> distance(3 * 16);
    for (std::size_t k = 0; k < near.size(); ++k) {
        near[k] = static_cast<std::uint8_t>((k * 7 + k / 5) % 2);
        distance[k] = static_cast<float>(k * 5 % 9);
    }
    const auto bytes = [](const auto& values) {
        return std::span(reinterpret_cast<const std::uint8_t*>(values.data()),
                         values.size() * sizeof(values[0]));
    };
    writeCapture(recorded.path, {{"attribute/near", "U8", {3, 4, 4}, near},
                                 {"attribute/distance", "F32", {3, 4, 4}, bytes(distance)}});
    const auto subject = recorded.captured();
    const auto objects = subject.captured->objects(10);
    EXPECT_EQ(objects.shape.objects, 4U);
    const auto attributes = subject.captured->attributes(objects, "");
    std::vector<std::string> names;
    for (const auto& one : attributes.all) names.push_back(one.name);
    for (const char* name : {"near", "distance", "large distance", "same token"})
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    const auto& first = *std::find_if(attributes.all.begin(), attributes.all.end(),
                                      [](const auto& one) { return one.name == "near"; });
    const auto e = static_cast<std::size_t>(objects.examples[1]);
    EXPECT_EQ(first.truth[16 + 6], near[16 * e + 6]);
    // Of another shape: one sentence with the tensor and what is expected.
    writeCapture(recorded.path, {{"attribute/near", "U8", {3, 16}, near}});
    const auto wrong = refusal([&] {
        const auto other = recorded.captured();
        other.captured->attributes(other.captured->objects(10), "");
    });
    EXPECT_NE(wrong.find("attribute/near"), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("3 x 4 x 4"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace relascope
