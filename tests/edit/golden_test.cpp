// SPDX-License-Identifier: GPL-3.0-or-later
// Edits against the numbers of the published implementation, and its list of hook points.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "interventions/edited_run.h"
#include "support/rooms.h"

namespace relascope {
namespace {

const std::string kFolder = std::string(RELASCOPE_FIXTURES) + "/golden";

std::vector<std::string> cases() {
    std::vector<std::string> names;
    for (const std::string folder :
         {"interventions/", "public-interventions/", "families-interventions/"})
        for (const auto& entry : std::filesystem::directory_iterator(kFolder + "/" + folder))
            if (std::filesystem::exists(entry.path() / "edit.json"))
                names.push_back(folder + entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

class GoldenEdit : public testing::TestWithParam<std::string> {};

TEST_P(GoldenEdit, EveryStoredTensorAgrees) {
    const bool isPublic = GetParam().starts_with("public"),
               isFamily = GetParam().starts_with("families");
    const auto models = isPublic ? "/public" : isFamily ? "/families" : "";
    const auto report = verifyFolder(kFolder + "/" + GetParam(), "cpu",
                                     isPublic || isFamily ? kFolder + models : "");
    EXPECT_TRUE(report.ok);
    EXPECT_GE(report.lines.size(), 1u);
    for (const auto& line : report.lines)
        EXPECT_TRUE(line.ok) << line.name << " abs " << line.absolute << " rel " << line.relative
                             << " " << line.note;
}

INSTANTIATE_TEST_SUITE_P(Published, GoldenEdit, testing::ValuesIn(cases()), [](const auto& info) {
    auto name = info.param;
    for (auto& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

TEST(GoldenEdits, AreAllThere) {
    EXPECT_EQ(cases().size(), 49u);
}

ModelInput goldenInput(const std::string& folder, const ModelOptions& options) {
    auto io = readTensors(folder + "/io.safetensors");
    switch (options.input()) {
        case InputKind::Images:
            return io.at("input/images");
        case InputKind::Tokens:
            return io.at("input/tokens");
        case InputKind::Pairs:
            return {io.at("input/source"), io.at("input/target_in")};
        default:
            return io.at("input/objects");
    }
}

// The points of every model with their axes and shapes, in the order of the forward pass.
void expectPoints(const std::string& of, const std::string& models, std::size_t count) {
    std::ifstream file(kFolder + of + "/points.json");
    const auto wanted = nlohmann::ordered_json::parse(file);
    ASSERT_EQ(wanted.size(), count);
    for (const auto& [name, points] : wanted.items()) {
        const auto folder = kFolder + models + "/" + name;
        const auto source = CheckpointSource::open(folder);
        const auto options = checkpointModel(*source);
        auto model = makeModel(options);
        const auto ours = pointsOf(*model, goldenInput(folder, options));
        std::size_t last = 0;
        std::string lastModule;
        for (const auto& [point, info] : points.items()) {
            const auto found = std::find_if(ours.begin(), ours.end(),
                                            [&](const auto& p) { return p.name == point; });
            ASSERT_NE(found, ours.end()) << name << " has no " << point;
            auto axes = info["axes"].get<std::vector<std::string>>();
            // Scores of classes are along "dim" here, as those of words (interventions.md).
            std::replace(axes.begin(), axes.end(), std::string("class"), std::string("dim"));
            EXPECT_EQ(found->axes, axes) << name << point;
            EXPECT_EQ(found->shape, info["shape"].get<std::vector<std::int64_t>>())
                << name << " " << point;
            // Modules follow one another as there; projections within one may be made together.
            const auto module = point.substr(0, point.rfind('.'));
            const auto at = static_cast<std::size_t>(found - ours.begin());
            if (module != lastModule) {
                EXPECT_GE(at, last) << name << " " << point << " out of order";
                last = at, lastModule = module;
            }
        }
    }
}

TEST(HookPoints, AreThoseOfThePublishedImplementation) {
    expectPoints("/interventions", "", 18);
}

TEST(HookPoints, AreThoseOfPublicFamilies) {
    expectPoints("/public-interventions", "/public", 13);
    expectPoints("/families-interventions", "/families", 29);
}

}  // namespace
}  // namespace relascope
